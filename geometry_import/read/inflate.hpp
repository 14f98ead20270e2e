// SPDX-License-Identifier: BSD-3-Clause
// Compressed voxels through zlib, with their check sums. Inside geometry_import only.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace karst {

/// Reads what gzip or zlib wrote into a file. Not for use by several threads at a time.
class InflatedFile {
 public:
  /// @param start  where the compressed bytes begin
  InflatedFile(const std::string& path, std::int64_t start);
  ~InflatedFile();
  InflatedFile(const InflatedFile&) = delete;
  InflatedFile& operator=(const InflatedFile&) = delete;

  /// The next bytes. Throws Error when there are fewer, or when they are damaged.
  /// @param[out] bytes  all of them are filled
  void read(std::span<char> bytes);
  /// The next bytes. Before memory is taken: Throws Error when so many cannot be in a file of this size.
  std::vector<char> read(std::int64_t count);
  /// Throws Error unless all bytes have been read, their check sum is right and nothing comes after them.
  void finish();

 private:
  struct Stream;
  std::size_t some(std::span<char> bytes);
  void refill();
  std::string path_;
  std::int64_t compressed_ = 0, read_ = 0;
  std::ifstream file_;
  std::unique_ptr<Stream> stream_;
};

/// A piece that zlib compressed. Throws Error unless it gives as many bytes as fit, and its check sum is right.
/// @param[out] bytes  all of them are filled
void inflate_block(std::span<const char> compressed, std::span<char> bytes, const std::string& path);

/// Throws Error unless the piece is what zlib writes, to its end, with the right check sum.
/// @return bytes that it gives
std::int64_t check_inflated(std::span<const char> compressed, const std::string& path);

/// Throws Error when zlib cannot have made `compressed` bytes from `bytes`: it writes at least one for 1032.
void require_plausible(std::int64_t bytes, std::int64_t compressed, const std::string& path);

}  // namespace karst
