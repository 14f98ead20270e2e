// SPDX-License-Identifier: BSD-3-Clause
// Headers and voxels written as text, read strictly: a number is a number up to its last letter. Inside geometry_import
// only.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

/// Without blanks, tabs and ends of lines before and behind.
std::string_view trimmed(std::string_view text);

std::string lower_case(std::string_view text);

/// Pieces between blanks, tabs and ends of lines.
std::vector<std::string_view> words_of(std::string_view text);

/// The number that the whole text is; nothing when there is more or less, or when T cannot hold it.
template <class T>
std::optional<T> number_of(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Exactly `count` numbers. Throws Error that names the file and the field.
template <class T>
std::vector<T> numbers_of(std::string_view text, std::size_t count, const std::string& path, std::string_view field) {
  std::vector<T> values;
  for (const std::string_view word : words_of(text)) {
    const auto value = number_of<T>(word);
    require(value.has_value(), "{}: {} is \"{}\"; {} numbers are needed", path, field, text, count);
    values.push_back(*value);
  }
  require(values.size() == count, "{}: {} is \"{}\"; {} numbers are needed", path, field, text, count);
  return values;
}

/// Sizes of an image of two or three dimensions, x first; two make one plane. Throws Error unless all are 1 or more.
Index image_size(std::string_view text, std::size_t dimensions, const std::string& path, std::string_view field);

/// Widths of the voxels, x first, negative where the file states a direction; in z that of x when there are two. Throws
/// Error unless all are finite and not 0.
Vec3 voxel_widths(std::string_view text, std::size_t dimensions, const std::string& path, std::string_view field);

/// Throws Error unless the vectors of the voxels' axes are at right angles to 1e-3: else the voxels are sheared.
void require_right_angles(std::span<const Vec3> axes, const std::string& path, std::string_view field);

/// Sets width_doubt unless the lengths of the vectors are 1, or the widths given, to 1e-3.
void doubt_lengths(ImageInfo& info, std::span<const Vec3> axes, const Vec3& widths, std::string_view field);

/// Metres of a unit of length by its usual names (m, cm, mm, um, nm, ...); 0 when it is none of them.
double metres_of(std::string_view unit);

/// Voxels as numbers between blanks. Throws Error unless there are as many as `count`, each one that the type can hold.
/// @return native values, count · bytes_of(type)
std::vector<char> voxels_of_text(std::string_view text, std::size_t count, VoxelType type, const std::string& path);

/// Bytes from `start` up to `end` of a file. Throws Error when it cannot be read so far.
std::string bytes_between(const std::string& path, std::int64_t start, std::int64_t end);

/// Size of a file. Throws Error when there is none.
std::int64_t bytes_in(const std::string& path);

/// Data file that a header names, beside it. Throws Error when there is no such file.
std::string file_beside(const std::string& header, std::string_view name);

/// The names that `name%03d.raw first last step` stands for; the step may be left out. Throws Error when it is of
/// another form.
std::vector<std::string> counted_files(std::string_view text, const std::string& path);

}  // namespace karst
