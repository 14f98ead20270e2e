// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/tiff_extents.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "geometry_import/image_text.hpp"

namespace karst {
namespace {

struct Extent {
  std::int64_t start, bytes;
  auto operator<=>(const Extent&) const = default;
};

/// One entry of a directory: a tag and an array of numbers or letters.
struct Entry {
  int tag = 0, width = 0;  ///< width: of a number [bytes]
  std::int64_t count = 0, start = 0;
};

class Directories {
 public:
  explicit Directories(const std::string& path) : path_(path), file_(path, std::ios::binary), size_(bytes_in(path)) {
    std::array<char, 4> mark{};
    file_.read(mark.data(), 4);
    big_endian_ = mark[0] == 'M';
    big_file_ = mark[big_endian_ ? 3 : 2] == 43;
    std::int64_t next = number(big_file_ ? 8 : 4, big_file_ ? 8 : 4);
    others_ = big_file_ ? 16 : 8;
    while (next != 0) next = read(next);
  }

  void check() {
    const std::int64_t pages = static_cast<std::int64_t>(directories_.size()), stored = total(voxels_);
    std::vector<Extent> all = voxels_;
    all.insert(all.end(), directories_.begin(), directories_.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());  // strips that are alike may be written once
    for (std::size_t n = 1; n < all.size(); ++n)
      require(all[n - 1].start + all[n - 1].bytes <= all[n].start,
              "{}: is damaged: bytes {} to {} belong to two of its strips, tiles or pages", path_, all[n].start,
              all[n - 1].start + all[n - 1].bytes - 1);
    const std::int64_t left = size_ - total(all) - others_;
    constexpr std::int64_t slack = 1024;  // old directories that programs leave behind when they write new ones
    require(
        beside_ || left < std::max(slack, stored / std::max<std::int64_t>(1, pages)),
        "{}: {} of its {} bytes belong to none of its {} pages: pages are missing or it is damaged; save it again with "
        "a page for each plane",
        path_, left, size_, pages);
  }

 private:
  static std::int64_t total(const std::vector<Extent>& extents) {
    std::int64_t sum = 0;
    for (const Extent& e : extents) sum += e.bytes;
    return sum;
  }

  /// The number at a place; -1 for what a file cannot have.
  std::int64_t number(std::int64_t at, int width) {
    std::array<unsigned char, 8> b{};
    file_.clear();
    file_.seekg(at);
    file_.read(reinterpret_cast<char*>(b.data()), width);
    require(file_.gcount() == width, "{}: ends early, at byte {}", path_, size_);
    std::uint64_t value = 0;
    for (int n = 0; n < width; ++n) value = value << 8 | b[static_cast<std::size_t>(big_endian_ ? n : width - 1 - n)];
    return value > std::uint64_t{1} << 60 ? -1 : static_cast<std::int64_t>(value);
  }

  Entry entry(std::int64_t at) {
    constexpr std::array<int, 19> widths{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    Entry e;
    e.tag = static_cast<int>(number(at, 2));
    const std::int64_t type = number(at + 2, 2);
    e.width = type < static_cast<std::int64_t>(widths.size()) ? widths[static_cast<std::size_t>(type)] : 0;
    e.count = number(at + 4, big_file_ ? 8 : 4);
    const int room = big_file_ ? 8 : 4;
    require(e.count >= 0 && e.count <= size_, "{}: is damaged: its tag {} has {} entries", path_, e.tag, e.count);
    e.start = at + 4 + room;
    if (e.count * e.width > room) {
      e.start = number(e.start, room);
      others_ += e.count * e.width;
    }
    return e;
  }

  /// Reads the directory at a place; where the next one is, 0 for none.
  std::int64_t read(std::int64_t at) {
    constexpr int strip_offsets = 273, strip_bytes = 279, tile_offsets = 324, tile_bytes = 325;
    const int wide = big_file_ ? 8 : 2, each = big_file_ ? 20 : 12, link = big_file_ ? 8 : 4;
    const std::int64_t entries = number(at, wide);
    require(entries > 0 && entries < 4096 && directories_.size() < 1u << 24, "{}: is damaged: a page of {} tags", path_,
            entries);
    directories_.push_back({at, wide + each * entries + link});
    Entry offsets, bytes;
    std::set<int> tags;
    for (std::int64_t n = 0; n < entries; ++n) {
      const Entry e = entry(at + wide + each * n);
      require(tags.insert(e.tag).second, "{}: is damaged: a page has the tag {} twice", path_, e.tag);
      if (e.tag == strip_offsets || e.tag == tile_offsets) offsets = e;
      if (e.tag == strip_bytes || e.tag == tile_bytes) bytes = e;
      beside_ = beside_ || e.tag == 330 || e.tag == 34665 || e.tag == 34853 || e.tag == 40965;  // SubIFDs, Exif, GPS
    }
    require(offsets.count == bytes.count, "{}: is damaged: a page has {} places of strips or tiles and {} lengths",
            path_, offsets.count, bytes.count);
    for (std::int64_t n = 0; n < offsets.count && offsets.width > 0 && bytes.width > 0; ++n)
      if (const std::int64_t length = number(bytes.start + n * bytes.width, bytes.width); length != 0)
        voxels_.push_back({number(offsets.start + n * offsets.width, offsets.width), length});
    return number(at + wide + each * entries, link);
  }

  std::string path_;
  std::ifstream file_;
  std::int64_t size_ = 0, others_ = 0;  ///< others: the file's first bytes and the arrays of tags
  bool big_endian_ = false, big_file_ = false, beside_ = false;
  std::vector<Extent> voxels_, directories_;
};

}  // namespace

void check_tiff_extents(const std::string& path) { Directories(path).check(); }

}  // namespace karst
