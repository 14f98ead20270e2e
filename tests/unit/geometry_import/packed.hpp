// SPDX-License-Identifier: BSD-3-Clause
// Bytes as gzip, zlib, base64 and hexadecimal digits write them, and in another order.
#pragma once

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace karst::test {

template <class T>
std::string bytes_of_value(T value, bool big_endian = false) {
  std::string b(sizeof(T), '\0');
  std::memcpy(b.data(), &value, sizeof(T));
  if (big_endian) std::reverse(b.begin(), b.end());
  return b;
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool big_endian = false) {
  std::string bytes;
  for (const T v : values) bytes += bytes_of_value(v, big_endian);
  return bytes;
}

/// @param window  15 for zlib, 31 for gzip
inline std::string packed(const std::string& bytes, int window) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
inline std::string zlib(const std::string& bytes) { return packed(bytes, 15); }
inline std::string gzip(const std::string& bytes) { return packed(bytes, 31); }

inline std::string base64(const std::string& bytes) {
  constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t n = 0; n < bytes.size(); n += 3) {
    std::uint32_t bits = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - n);
    for (std::size_t b = 0; b < 3; ++b) bits = bits << 8 | (b < have ? static_cast<unsigned char>(bytes[n + b]) : 0u);
    for (std::size_t b = 0; b < 4; ++b) out += b <= have ? letters[bits >> (18 - 6 * b) & 63] : '=';
  }
  return out;
}

inline std::string hex(const std::string& bytes) {
  std::string out;
  for (std::size_t n = 0; n < bytes.size(); ++n)
    out += fmt::format("{:02x}{}", static_cast<unsigned char>(bytes[n]), n % 35 == 34 ? "\n" : "");
  return out;
}

/// A compressed array of VTK: numbers of blocks, bytes in each, bytes in the last when it is shorter, compressed bytes
/// of each; then the blocks.
/// @tparam H  type of the numbers
/// @return numbers, blocks
template <class H>
std::pair<std::string, std::string> vtk_blocks(const std::string& bytes, std::size_t size, bool big_endian = false) {
  std::string counts, blocks;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::string z = zlib(bytes.substr(at, size));
    counts += bytes_of_value(static_cast<H>(z.size()), big_endian);
    blocks += z;
  }
  std::string head;
  for (const std::size_t n : {(bytes.size() + size - 1) / size, size, bytes.size() % size})
    head += bytes_of_value(static_cast<H>(n), big_endian);
  return {head + counts, blocks};
}

}  // namespace karst::test
