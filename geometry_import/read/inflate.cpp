// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>

#include "geometry_import/read/image_text.hpp"

namespace karst {

struct InflatedFile::Stream {
  z_stream z{};
  bool ended = false;  ///< the current member has, and its check sum was right
  std::array<char, 1 << 16> input;
};

namespace {
constexpr int gzip_or_zlib = 15 + 32;  // windowBits of inflateInit2: up to 32 KiB of history, the format is detected
}

InflatedFile::InflatedFile(const std::string& path, std::int64_t start)
    : path_(path),
      compressed_(std::max<std::int64_t>(0, bytes_in(path) - start)),
      file_(path, std::ios::binary),
      stream_(std::make_unique<Stream>()) {
  require(file_.is_open(), "{}: cannot be opened for reading", path);
  require(inflateInit2(&stream_->z, gzip_or_zlib) == Z_OK, "{}: not enough memory to decompress it", path);
  file_.seekg(start);
}

InflatedFile::~InflatedFile() { inflateEnd(&stream_->z); }

void InflatedFile::refill() {
  z_stream& z = stream_->z;
  if (z.avail_in > 0) return;
  file_.read(stream_->input.data(), static_cast<std::streamsize>(stream_->input.size()));
  z.next_in = reinterpret_cast<Bytef*>(stream_->input.data());
  z.avail_in = static_cast<uInt>(file_.gcount());
}

/// Fills what it can; fewer only at the end of all members (gzip writes one after the other when files are joined).
std::size_t InflatedFile::some(std::span<char> bytes) {
  z_stream& z = stream_->z;
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    refill();
    if (z.avail_in == 0 && stream_->ended) break;
    if (stream_->ended) {
      require(inflateReset2(&z, gzip_or_zlib) == Z_OK, "{}: cannot be decompressed", path_);
      stream_->ended = false;
    }
    const std::size_t most = std::min<std::size_t>(bytes.size() - filled, 1u << 30);
    z.next_out = reinterpret_cast<Bytef*>(bytes.data() + filled);
    z.avail_out = static_cast<uInt>(most);
    const bool no_more = z.avail_in == 0;
    const int result = inflate(&z, Z_NO_FLUSH);
    const std::size_t made = most - z.avail_out;
    filled += made;
    read_ += static_cast<std::int64_t>(made);
    stream_->ended = result == Z_STREAM_END;
    require(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR,
            "{}: its compressed voxels are damaged after {} bytes: {}", path_, read_,
            z.msg ? z.msg : "not in the format of gzip or zlib");
    require(!(no_more && made == 0) || stream_->ended, "{}: ends early: its compressed voxels stop after {} bytes",
            path_, read_);
  }
  return filled;
}

void InflatedFile::read(std::span<char> bytes) {
  const std::size_t found = some(bytes);
  require(found == bytes.size(), "{}: ends early: {} more bytes are needed, but decompression gives {}", path_,
          bytes.size(), found);
}

std::vector<char> InflatedFile::read(std::int64_t count) {
  require_plausible(count, compressed_, path_);
  std::vector<char> bytes(count);
  read(std::span(bytes));
  return bytes;
}

void InflatedFile::finish() {
  char more = 0;
  require(some({&more, 1}) == 0,
          "{}: too long: decompressed it has more than the {} bytes required by its size and type", path_, read_ - 1);
}

void inflate_block(std::span<const char> compressed, std::span<char> bytes, const std::string& path) {
  // Both lengths are below 2^32: blocks of VTI files state theirs.
  uLongf made = bytes.size();
  uLong taken = compressed.size();
  const int result = uncompress2(reinterpret_cast<Bytef*>(bytes.data()), &made,
                                 reinterpret_cast<const Bytef*>(compressed.data()), &taken);
  require(result == Z_OK && made == bytes.size() && taken == compressed.size(),
          "{}: a compressed block of {} bytes is damaged: {} bytes were expected from it", path, compressed.size(),
          bytes.size());
}

std::int64_t check_inflated(std::span<const char> compressed, const std::string& path) {
  z_stream z{};
  std::array<Bytef, 1 << 15> made;
  require(inflateInit(&z) == Z_OK, "{}: not enough memory to decompress it", path);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));  // zlib does not write there
  z.avail_in = static_cast<uInt>(std::min<std::size_t>(compressed.size(), UINT_MAX));
  int result = Z_OK;
  while (result == Z_OK) {
    z.next_out = made.data();
    z.avail_out = static_cast<uInt>(made.size());
    result = inflate(&z, Z_NO_FLUSH);
  }
  const auto bytes = static_cast<std::int64_t>(z.total_out);
  inflateEnd(&z);
  require(result == Z_STREAM_END, "{}: a compressed piece of {} bytes is damaged", path, compressed.size());
  return bytes;
}

void require_plausible(std::int64_t bytes, std::int64_t compressed, const std::string& path) {
  require(bytes / 1032 <= compressed, "{}: ends early: {} bytes of voxels do not fit into {} compressed bytes", path,
          bytes, compressed);
}

}  // namespace karst
