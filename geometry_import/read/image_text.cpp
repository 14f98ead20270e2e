// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/image_text.hpp"

#include <array>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/core/text.hpp"

namespace karst {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

/// Reads word by word into native values; the number of those that were read, or where a word is no such value.
template <class T>
std::size_t read_words(std::string_view text, std::span<char> native, const std::string& path) {
  std::size_t n = 0;
  const std::size_t count = native.size() / sizeof(T);
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos; ++n) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = text.find_first_not_of(blanks, end);
    if (n >= count) continue;  // counted for the message
    const auto value = number_of<T>(word);
    require(value.has_value(), "{}: value {} of the voxels is \"{}\", which is not a number of its type", path, n,
            word.substr(0, 40));
    std::memcpy(&native[n * sizeof(T)], &*value, sizeof(T));
  }
  return n;
}

std::size_t read_text(std::string_view text, std::span<char> native, VoxelType type, const std::string& path) {
  switch (type) {
    case VoxelType::uint8:
      return read_words<std::uint8_t>(text, native, path);
    case VoxelType::int8:
      return read_words<std::int8_t>(text, native, path);
    case VoxelType::uint16:
      return read_words<std::uint16_t>(text, native, path);
    case VoxelType::int16:
      return read_words<std::int16_t>(text, native, path);
    case VoxelType::uint32:
      return read_words<std::uint32_t>(text, native, path);
    case VoxelType::int32:
      return read_words<std::int32_t>(text, native, path);
    case VoxelType::uint64:
      return read_words<std::uint64_t>(text, native, path);
    case VoxelType::int64:
      return read_words<std::int64_t>(text, native, path);
    case VoxelType::float32:
      return read_words<float>(text, native, path);
    case VoxelType::float64:
      return read_words<double>(text, native, path);
  }
  return 0;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

Index image_size(std::string_view text, std::size_t dimensions, const std::string& path, std::string_view field) {
  const std::vector<int> n = numbers_of<int>(text, dimensions, path, field);
  const Index size{n[0], n[1], dimensions == 3 ? n[2] : 1};
  require(size[0] > 0 && size[1] > 0 && size[2] > 0, "{}: {} is \"{}\"; all sizes must be 1 to {}", path, field, text,
          INT_MAX);
  return size;
}

Vec3 voxel_widths(std::string_view text, std::size_t dimensions, const std::string& path, std::string_view field) {
  const std::vector<double> w = numbers_of<double>(text, dimensions, path, field);
  for (const double width : w)
    require(width != 0 && std::isfinite(width), "{}: {} is \"{}\"; widths must be finite and not 0", path, field, text);
  return {w[0], w[1], dimensions == 3 ? w[2] : w[0]};
}

void require_right_angles(std::span<const Vec3> axes, const std::string& path, std::string_view field) {
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const Vec3 &a = axes[d], &b = axes[(d + 1) % axes.size()];
    require(axes.size() < 2 || std::abs(dot(a, b)) <= 1e-3 * norm(a) * norm(b),
            "{}: the axes of its voxels ({}) are not at right angles (sheared voxels); resample the image", path,
            field);
  }
}

void doubt_lengths(ImageInfo& info, std::span<const Vec3> axes, const Vec3& widths, std::string_view field) {
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const double stated = std::abs(widths[static_cast<int>(d)]), found = norm(axes[d]);
    if (std::abs(found - stated) <= 1e-3 * stated) continue;
    info.width_doubt = fmt::format("its widths are {:.6g} in {}, but according to its {} {:.6g} times that", stated,
                                   axis_names[d], field, found / stated);
    return;
  }
}

double metres_of(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double metres;
  };
  // Symbols as they are, words in small letters and without the s of several.
  constexpr std::array<Unit, 26> units{{{"m", 1},
                                        {"cm", 1e-2},
                                        {"mm", 1e-3},
                                        {"um", 1e-6},
                                        {"µm", 1e-6},
                                        {"\xb5m", 1e-6},
                                        {"\\u00B5m", 1e-6},
                                        {"\\u00b5m", 1e-6},
                                        {"μm", 1e-6},
                                        {"nm", 1e-9},
                                        {"pm", 1e-12},
                                        {"Å", 1e-10},
                                        {"in", 0.0254},
                                        {"meter", 1},
                                        {"metre", 1},
                                        {"centimeter", 1e-2},
                                        {"centimetre", 1e-2},
                                        {"millimeter", 1e-3},
                                        {"millimetre", 1e-3},
                                        {"micron", 1e-6},
                                        {"micrometer", 1e-6},
                                        {"micrometre", 1e-6},
                                        {"nanometer", 1e-9},
                                        {"nanometre", 1e-9},
                                        {"angstrom", 1e-10},
                                        {"inch", 0.0254}}};
  std::string word = lower_case(trimmed(unit));
  if (word.size() > 4 && word.ends_with('s')) word.pop_back();
  for (const Unit& u : units)
    if (u.name == trimmed(unit) || (u.name.size() > 3 && u.name == word)) return u.metres;
  return 0;
}

std::vector<char> voxels_of_text(std::string_view text, std::size_t count, VoxelType type, const std::string& path) {
  // A number and the blank behind it are two bytes: a text too short is known before memory is taken for its voxels.
  require(count <= text.size() / 2 + 1, "{}: ends early: {} voxels as text need {} bytes, there are {}", path, count,
          2 * count - 1, text.size());
  std::vector<char> native(count * bytes_of(type));
  const std::size_t found = read_text(text, native, type, path);
  require(found >= count, "{}: ends early: {} voxels are needed, its text contains {} numbers", path, count, found);
  require(found == count, "{}: too long: {} voxels are needed, its text contains {} numbers", path, count, found);
  return native;
}

std::string bytes_between(const std::string& path, std::int64_t start, std::int64_t end) {
  std::ifstream file(path, std::ios::binary);
  const std::int64_t found = bytes_in(path);
  require(file.is_open() && start >= 0 && start <= end && end <= found,
          "{}: bytes {} to {} are needed, the file has {}", path, start, end, found);
  std::string bytes(end - start, '\0');
  file.seekg(start);
  file.read(bytes.data(), end - start);
  require(file.gcount() == end - start, "{}: reading {} bytes from byte {} on gave {}", path, end - start, start,
          file.gcount());
  return bytes;
}

std::int64_t bytes_in(const std::string& path) {
  std::error_code failure;
  const auto found = static_cast<std::int64_t>(std::filesystem::file_size(path, failure));
  require(!failure, "{}: cannot be read ({})", path, failure.message());
  return found;
}

std::string file_beside(const std::string& header, std::string_view name) {
  std::string file = (std::filesystem::path(header).parent_path() / name).string();
  std::error_code failure;
  require(std::filesystem::is_regular_file(file, failure), "{}: its data file {} cannot be read ({})", header, name,
          failure ? failure.message() : "no such file");
  return file;
}

std::vector<std::string> counted_files(std::string_view text, const std::string& path) {
  const std::vector<std::string_view> words = words_of(text);
  const std::string_view name = words.empty() ? "" : words[0];
  const std::size_t percent = name.find('%'), d = name.find('d', percent);
  const auto number = [&](std::size_t n) { return number_of<int>(words.size() > n ? words[n] : n == 3 ? "1" : ""); };
  const auto first = number(1), last = number(2), step = number(3);
  const bool counts = words.size() <= 4 && first && last && step && *first >= 0 && *step > 0 && *first <= *last;
  const bool named = percent != std::string_view::npos && d != std::string_view::npos;
  const std::string_view digits = named ? name.substr(percent + 1, d - percent - 1) : "";
  const auto width = number_of<int>(digits.empty() ? "0" : digits);
  require(counts && named && width && *width >= 0 && *width < 20 && (*last - *first) / *step < 1 << 20,
          "{}: its list of data files is \"{}\"; the form must be `name%03d.raw first last step`", path, text);
  std::vector<std::string> files;
  for (std::int64_t n = *first; n <= *last; n += *step)
    files.push_back(std::string(name.substr(0, percent)) +
                    (digits.starts_with('0') ? fmt::format("{:0{}}", n, *width) : fmt::format("{:{}}", n, *width)) +
                    std::string(name.substr(d + 1)));
  return files;
}

}  // namespace karst
