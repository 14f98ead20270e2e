// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/vti_data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "base/core/error.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"

namespace karst {
namespace {

/// How a file writes its binary arrays: numbers that count bytes come before them.
struct Writing {
  bool big_endian = false;
  std::size_t width = 4;  ///< of such a number [bytes]
  bool zlib = false;
};

Writing writing_of(const XmlElement& root, const std::string& path) {
  Writing w;
  const std::string& order = root.attribute("byte_order", path);
  require(order == "LittleEndian" || order == "BigEndian",
          "{}: byte_order is \"{}\"; LittleEndian or BigEndian is needed", path, order);
  w.big_endian = order == "BigEndian";
  const bool first = root.has("version") && root.attribute("version", path) == "0.1";  // UInt32 is its default
  const std::string type = root.has("header_type") || !first ? root.attribute("header_type", path) : "UInt32";
  require(type == "UInt32" || type == "UInt64", "{}: header_type is \"{}\"; UInt32 or UInt64 is needed", path, type);
  w.width = type == "UInt32" ? 4 : 8;
  const std::string compressor = root.has("compressor") ? root.attribute("compressor", path) : "";
  require(compressor.empty() || compressor == "vtkZLibDataCompressor",
          "{}: is compressed by {}; only vtkZLibDataCompressor is supported; save it with this one or uncompressed",
          path, compressor);
  w.zlib = !compressor.empty();
  return w;
}

/// The n-th number before an array; 2^62 for what is larger.
std::int64_t count_at(std::string_view bytes, std::size_t n, const Writing& w) {
  std::uint64_t value = 0;
  for (std::size_t b = 0; b < w.width; ++b) {
    const std::size_t place = w.big_endian ? w.width - 1 - b : b;
    value |= std::uint64_t{static_cast<unsigned char>(bytes[n * w.width + b])} << 8 * place;
  }
  return static_cast<std::int64_t>(std::min(value, std::uint64_t{1} << 62));
}

/// Bytes written as base64. Pieces that end with = may follow each other, as a compressed array does its numbers.
std::string bytes_of_base64(std::string_view text, const std::string& path) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int, 256> digit{};
  digit.fill(-1);
  for (std::size_t n = 0; n < letters.size(); ++n) digit[static_cast<unsigned char>(letters[n])] = static_cast<int>(n);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0, padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int d = digit[static_cast<unsigned char>(c)];
    padding += c == '=';
    require((d >= 0 && padding == 0) || (c == '=' && count >= 2), "{}: its base64 text is damaged after {} bytes", path,
            bytes.size());
    bits = bits << 6 | static_cast<std::uint32_t>(std::max(d, 0));
    if (++count < 4) continue;
    for (int b = 0; b < 3 - padding; ++b) bytes += static_cast<char>(bits >> (16 - 8 * b) & 0xff);
    const std::uint32_t unused = padding == 0 ? 0 : padding == 1 ? 0xff : 0xffff;
    require((bits & unused) == 0, "{}: its base64 text is damaged after {} bytes", path, bytes.size());
    bits = 0;
    count = padding = 0;
  }
  require(count == 0, "{}: ends early: its base64 text stops in the middle, after {} bytes", path, bytes.size());
  return bytes;
}

/// A compressed array: numbers of blocks, of bytes in each, in the last when it is shorter, of compressed bytes in
/// each; then the blocks.
/// @param[out] used  bytes that the array takes
std::vector<char> inflated(std::string_view bytes, std::int64_t needed, const Writing& w, const std::string& path,
                           std::size_t& used) {
  const auto size = static_cast<std::int64_t>(bytes.size()), width = static_cast<std::int64_t>(w.width);
  require(size >= 3 * width, "{}: ends early: its compressed array has {} bytes", path, size);
  const std::int64_t blocks = count_at(bytes, 0, w), block = count_at(bytes, 1, w), last = count_at(bytes, 2, w);
  require(
      blocks > 0 && blocks <= (size - 3 * width) / width && block > 0 && block < std::int64_t{1} << 32 &&
          last < block && needed == (last > 0 ? (blocks - 1) * block + last : blocks * block),
      "{}: {} bytes of voxels are needed, its compressed array has {} blocks of {} bytes, the last of {}, in {} bytes",
      path, needed, blocks, block, last > 0 ? last : block, size);
  require_plausible(needed, size, path);
  std::vector<char> voxels(needed);
  std::int64_t from = (3 + blocks) * width;
  for (std::int64_t n = 0; n < blocks; ++n) {
    const std::int64_t length = count_at(bytes, 3 + n, w);
    require(length <= size - from, "{}: ends early: block {} of its compressed array needs {} bytes, {} are left", path,
            n, length, size - from);
    const std::int64_t made = n + 1 == blocks && last > 0 ? last : block;
    inflate_block(bytes.substr(from, length), std::span(voxels).subspan(n * block, made), path);
    from += length;
  }
  used = from;
  return voxels;
}

/// The voxels of an array as the file writes it, numbers first.
/// @param[out] used  bytes that the array takes
std::vector<char> decoded(std::string_view bytes, std::int64_t needed, const Writing& w, const std::string& path,
                          std::size_t& used) {
  if (w.zlib) return inflated(bytes, needed, w, path, used);
  require(bytes.size() >= w.width, "{}: ends early: its array has {} bytes", path, bytes.size());
  const std::int64_t stated = count_at(bytes, 0, w), found = static_cast<std::int64_t>(bytes.size() - w.width);
  require(stated == needed && found >= needed, "{}: {} bytes of voxels are needed; its array should have {} and has {}",
          path, needed, stated, found);
  used = w.width + needed;
  return {bytes.begin() + static_cast<std::ptrdiff_t>(w.width), bytes.begin() + static_cast<std::ptrdiff_t>(used)};
}

/// Values between the tags of an array, without the remarks that VTK puts beside them.
std::string inline_values(const XmlElement& array, const std::string& path) {
  require(array.children.size() == array.all("InformationKey").size(), "{}: its array has elements in it", path);
  std::string text = bytes_between(path, array.start, array.end);
  const std::string close = "</InformationKey>";
  for (std::size_t open = text.find('<'); open != std::string::npos; open = text.find('<')) {
    const std::size_t end = text.find(close, open);
    require(end != std::string::npos, "{}: its array has comments or empty elements in it", path);
    text.erase(open, end + close.size() - open);
  }
  return text;
}

/// Part of the file that a section of appended arrays takes, behind its `_`.
struct Section {
  std::int64_t start = 0, end = 0;
  bool base64 = false;
};

Section section_of(const XmlElement& root, const std::string& path) {
  const auto found = root.all("AppendedData");
  require(found.size() == 1, "{}: has {} elements AppendedData; its array needs exactly one", path, found.size());
  Section s;
  const std::string& encoding = found[0]->attribute("encoding", path);
  require(encoding == "raw" || encoding == "base64",
          "{}: its appended data have the encoding \"{}\"; raw or base64 is needed", path, encoding);
  s.base64 = encoding == "base64";
  const std::int64_t bytes = bytes_in(path), content = found[0]->start;
  const std::string front = bytes_between(path, content, std::min(bytes, content + 256));
  const std::size_t mark = front.find_first_not_of(" \t\r\n");
  require(mark != std::string::npos && front[mark] == '_', "{}: its appended data do not begin with _", path);
  s.start = content + static_cast<std::int64_t>(mark) + 1;
  const std::int64_t tail = std::max(s.start, bytes - 256);
  const std::string back = bytes_between(path, tail, bytes);
  const std::size_t close = back.rfind("</AppendedData>");
  std::string behind;
  for (const std::string_view word : words_of(close == std::string::npos ? "" : std::string_view(back).substr(close)))
    behind += word;
  require(behind == "</AppendedData></VTKFile>",
          "{}: ends early: its last tags, </AppendedData> and </VTKFile>, are missing", path);
  s.end = tail + static_cast<std::int64_t>(close);
  return s;
}

void collect_offsets(const XmlElement& e, const std::string& path, std::vector<std::int64_t>& offsets) {
  if (e.has("offset")) offsets.push_back(numbers_of<std::int64_t>(e.attribute("offset", path), 1, path, "offset")[0]);
  for (const XmlElement& child : e.children) collect_offsets(child, path, offsets);
}

/// Throws Error unless only blanks follow what was used.
void check_used(std::string_view bytes, std::size_t used, const std::string& path) {
  require(trimmed(bytes.substr(used)).empty(), "{}: too long: {} bytes follow its voxels in their array", path,
          bytes.size() - used);
}

std::unique_ptr<ImageFile> open_appended(ImageInfo info, RawLayout layout, const XmlElement& root,
                                         const XmlElement& array) {
  const std::string path = info.path;
  const Writing w = writing_of(root, path);
  const Section section = section_of(root, path);
  std::vector<std::int64_t> offsets;
  collect_offsets(root, path, offsets);
  std::sort(offsets.begin(), offsets.end());
  const std::int64_t own = numbers_of<std::int64_t>(array.attribute("offset", path), 1, path, "offset")[0];
  require(offsets.front() == 0 && std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end() &&
              offsets.back() < section.end - section.start,
          "{}: its arrays are at offset {} up to {} of {} bytes; the first must be 0, and no two the same", path,
          offsets.front(), offsets.back(), section.end - section.start);
  const auto next = std::upper_bound(offsets.begin(), offsets.end(), own);
  const bool last = next == offsets.end();
  const std::int64_t start = section.start + own, end = last ? section.end : section.start + *next;
  const std::int64_t needed = voxel_bytes(layout), width = static_cast<std::int64_t>(w.width);
  layout.big_endian = w.big_endian;
  if (section.base64 || w.zlib) {
    std::string bytes = bytes_between(path, start, end);
    if (section.base64) bytes = bytes_of_base64(bytes, path);
    std::size_t used = 0;
    std::vector<char> voxels = decoded(bytes, needed, w, path, used);
    if (last || section.base64) check_used(bytes, used, path);
    return hold_voxels(std::move(info), layout, std::move(voxels));
  }
  const std::string count = bytes_between(path, start, std::min(end, start + width));
  const std::int64_t stated = count.size() == w.width ? count_at(count, 0, w) : 0;
  require(stated == needed && end - start - width >= needed,
          "{}: ends early or is damaged: {} bytes of voxels are needed; its array should have {} and has space for {}",
          path, needed, stated, end - start - width);
  layout.skip_bytes = start + width;
  if (last) {
    // Without a check sum a lost byte shows only here: the blanks before </AppendedData> would be taken for voxels.
    const std::string behind = bytes_between(path, layout.skip_bytes + needed, end);
    check_used(behind, 0, path);
    require(behind.starts_with('\n') || behind.starts_with("\r\n"),
            "{}: its voxels are followed by </AppendedData> instead of a line end: bytes may be missing", path);
  }
  return open_voxels(std::move(info), path, layout, BehindVoxels::anything);
}

}  // namespace

std::unique_ptr<ImageFile> open_vti_array(ImageInfo info, RawLayout layout, const XmlElement& root,
                                          const XmlElement& array) {
  const std::string path = info.path;
  const std::string& format = array.attribute("format", path);
  require(format == "ascii" || format == "binary" || format == "appended",
          "{}: its array has the format \"{}\"; ascii, binary or appended is needed", path, format);
  if (format == "appended") return open_appended(std::move(info), layout, root, array);
  require(!array.has("offset"), "{}: its array of format {} has an offset", path, format);
  const std::string values = inline_values(array, path);
  const std::int64_t needed = voxel_bytes(layout);
  if (format == "ascii") {
    layout.big_endian = std::endian::native == std::endian::big;
    const std::size_t count = needed / bytes_of(layout.type);
    return hold_voxels(std::move(info), layout, voxels_of_text(values, count, layout.type, path));
  }
  const Writing w = writing_of(root, path);
  layout.big_endian = w.big_endian;
  const std::string bytes = bytes_of_base64(values, path);
  std::size_t used = 0;
  std::vector<char> voxels = decoded(bytes, needed, w, path, used);
  check_used(bytes, used, path);
  return hold_voxels(std::move(info), layout, std::move(voxels));
}

}  // namespace karst
