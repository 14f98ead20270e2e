// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/tiff_extents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/image_text.hpp"

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
    parts_.push_back({0, big_file_ ? 16 : 8});
    while (next != 0) next = read(next);
  }

  void check() {
    std::vector<Extent> all = voxels_;
    all.insert(all.end(), parts_.begin(), parts_.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());  // pages may share what is alike
    for (std::size_t n = 1; n < all.size(); ++n)
      require(all[n - 1].start + all[n - 1].bytes <= all[n].start,
              "{}: is damaged: bytes {} to {} belong to two of its strips, tiles, pages or tags", path_, all[n].start,
              all[n - 1].start + all[n - 1].bytes - 1);
    const std::int64_t left = size_ - total(all);
    const std::int64_t slack =
        1024 + 64 * pages_;  // directories that were replaced by new ones, and gaps between pages
    require(beside_ || left < std::max(slack, total(voxels_) / std::max<std::int64_t>(1, pages_)),
            "{}: {} of its {} bytes belong to none of its {} pages: pages are missing or the file is damaged; save it "
            "again with one page per plane",
            path_, left, size_, pages_);
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
    for (int n = 0; n < width; ++n) value = value << 8 | b[big_endian_ ? n : width - 1 - n];
    return value > std::uint64_t{1} << 60 ? -1 : static_cast<std::int64_t>(value);
  }

  Entry entry(std::int64_t at) {
    constexpr std::array<int, 19> widths{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    Entry e;
    e.tag = static_cast<int>(number(at, 2));
    const std::int64_t type = number(at + 2, 2);
    e.width = type < static_cast<std::int64_t>(widths.size()) ? widths[type] : 0;
    e.count = number(at + 4, big_file_ ? 8 : 4);
    const int room = big_file_ ? 8 : 4;
    require(e.count >= 0 && e.count <= size_, "{}: is damaged: its tag {} has {} entries", path_, e.tag, e.count);
    e.start = at + 4 + room;
    if (e.count * e.width > room) {
      e.start = number(e.start, room);
      parts_.push_back({e.start, e.count * e.width});
    }
    return e;
  }

  /// The first number of an entry; `otherwise` when the page has no such tag.
  std::int64_t first(const std::map<int, Entry>& page, int tag, std::int64_t otherwise) {
    const auto found = page.find(tag);
    return found == page.end() || found->second.width == 0 ? otherwise
                                                           : number(found->second.start, found->second.width);
  }

  /// Reads the directory at a place; where the next one is, 0 for none.
  std::int64_t read(std::int64_t at) {
    constexpr std::array<int, 4> beside{330, 34665, 34853, 40965};  // SubIFDs, Exif, GPS, interoperability
    const int wide = big_file_ ? 8 : 2, each = big_file_ ? 20 : 12, link = big_file_ ? 8 : 4;
    const std::int64_t entries = number(at, wide);
    require(entries > 0 && entries < 4096 && ++pages_ < 1 << 24, "{}: is damaged: a page of {} tags", path_, entries);
    parts_.push_back({at, wide + each * entries + link});
    std::map<int, Entry> page;
    for (std::int64_t n = 0; n < entries; ++n) {
      const Entry e = entry(at + wide + each * n);
      require(page.emplace(e.tag, e).second, "{}: is damaged: a page has the tag {} twice", path_, e.tag);
      beside_ = beside_ || std::find(beside.begin(), beside.end(), e.tag) != beside.end();
    }
    constexpr std::array<std::pair<int, const char*>, 5> makers{{{33628, "MetaMorph (STK)"},
                                                                 {33629, "MetaMorph (STK)"},
                                                                 {33630, "MetaMorph (STK)"},
                                                                 {33631, "MetaMorph (STK)"},
                                                                 {34412, "Zeiss (LSM)"}}};
    for (const auto& [tag, maker] : makers)
      require(
          !page.contains(tag),
          "{}: is a TIFF of {}, which describes its planes in private tags; save it as plain TIFF, for instance with "
          "Fiji (File > Save As > Tiff)",
          path_, maker);
    read_strips(page);
    return number(at + wide + each * entries, link);
  }

  /// Strips or tiles of a page.
  void read_strips(const std::map<int, Entry>& page) {
    enum {
      nz = 32997,
      tile_nz = 32998,
      nx = 256,
      ny = 257,
      bits = 258,
      samples = 277,
      compression = 259,
      strips = 273,
      strip_bytes = 279,
      tile_nx = 322,
      tile_ny = 323
    };
    const bool tiled = page.contains(tile_nx);
    const auto offsets = page.find(tiled ? 324 : strips), lengths = page.find(tiled ? 325 : strip_bytes);
    if (offsets == page.end() || lengths == page.end()) return;  // libtiff says what is missing, or makes it up
    const Entry &o = offsets->second, &l = lengths->second;
    require(o.count == l.count && o.width > 0 && l.width > 0,
            "{}: is damaged: a page has {} offsets of strips or tiles but {} lengths", path_, o.count, l.count);
    std::int64_t found = 0;
    for (std::int64_t n = 0; n < o.count; ++n) {
      const std::int64_t length = number(l.start + n * l.width, l.width);
      if (length != 0) voxels_.push_back({number(o.start + n * o.width, o.width), length});
      found += length;
    }
    if (first(page, compression, 1) != 1) return;
    const std::int64_t depth = first(page, tiled ? tile_nz : nz, 1), pixel = first(page, bits, 1);
    const double across = std::ceil(static_cast<double>(first(page, tiled ? tile_nx : nx, 0) * pixel) / 8),
                 down = static_cast<double>(first(page, tiled ? tile_ny : ny, 0) * depth);
    const double needed = across * down * (tiled ? static_cast<double>(o.count) : 1);
    // Fewer than 8 bits are what a page has that does not say how many: it is held to its bytes.
    const bool exact = pixel < 8 && first(page, samples, 1) == 1;
    require(exact ? static_cast<double>(found) == needed : static_cast<double>(found) >= needed,
            "{}: page {} needs {} bytes for its uncompressed pixels of {} bits; it has {}", path_, pages_ - 1, needed,
            pixel, found);
  }

  std::string path_;
  std::ifstream file_;
  std::int64_t size_ = 0, pages_ = 0;
  bool big_endian_ = false, big_file_ = false, beside_ = false;
  std::vector<Extent> voxels_, parts_;  ///< parts: the file's first bytes, directories, arrays of tags
};

}  // namespace

void check_tiff_extents(const std::string& path) { Directories(path).check(); }

}  // namespace karst
