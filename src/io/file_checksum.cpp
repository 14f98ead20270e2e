// SPDX-License-Identifier: BSD-3-Clause
#include "io/file_checksum.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"

namespace karst {

namespace {

constexpr std::int64_t buffer_bytes = std::int64_t{1} << 20;

std::int64_t size_of(const std::string& path) {
  std::error_code problem;
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  require(!problem, "{}: cannot be read: {}", path, problem.message());
  return static_cast<std::int64_t>(size);
}

/// Of the bytes [begin, end).
std::uint32_t checksum_between(const std::string& path, std::int64_t begin, std::int64_t end) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(begin);
  std::vector<char> buffer(std::min(buffer_bytes, std::max<std::int64_t>(end - begin, 0)));
  uLong sum = crc32(0, nullptr, 0);
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t n = std::min(buffer_bytes, end - at);
    file.read(buffer.data(), n);
    require(file.gcount() == n, "{}: cannot be read beyond byte {}", path, at + file.gcount());
    sum = crc32(sum, reinterpret_cast<const Bytef*>(buffer.data()), static_cast<uInt>(n));
    at += n;
  }
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

std::uint32_t checksum_of(const std::string& path, std::int64_t begin) {
  return checksum_between(path, begin, size_of(path));
}

std::uint32_t checksum_of(const Comm& comm, const std::string& path, std::int64_t begin) {
  std::int64_t bytes = 0;
  std::uint32_t own = 0;
  fail_together(comm, [&] {
    const std::int64_t all = std::max<std::int64_t>(size_of(path) - begin, 0);
    const std::int64_t first = all * comm.rank() / comm.size(), last = all * (comm.rank() + 1) / comm.size();
    own = checksum_between(path, begin + first, begin + last);
    bytes = last - first;
  });
  // The sums of the parts, put together in their order.
  std::vector<std::int64_t> parts(2 * comm.size(), 0);
  parts[2 * comm.rank()] = own;
  parts[2 * comm.rank() + 1] = bytes;
  comm.sum(std::span<std::int64_t>(parts));
  uLong sum = crc32(0, nullptr, 0);
  for (std::size_t i = 0; i < parts.size(); i += 2)
    sum = crc32_combine(sum, static_cast<uLong>(parts[i]), static_cast<z_off_t>(parts[i + 1]));
  return static_cast<std::uint32_t>(sum);
}

}  // namespace karst
