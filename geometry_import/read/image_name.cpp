// SPDX-License-Identifier: BSD-3-Clause
// Names of images: extensions, patterns of stacks, data sets in files, the order of slices.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "geometry_import/read/file_kind.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

struct Extension {
  std::string_view text;
  SelfDescribing format;
};
constexpr std::array<Extension, 15> extensions{{{".tif", SelfDescribing::tiff},
                                                {".tiff", SelfDescribing::tiff},
                                                {".png", SelfDescribing::png},
                                                {".npy", SelfDescribing::numpy},
                                                {".h5", SelfDescribing::hdf5},
                                                {".hdf5", SelfDescribing::hdf5},
                                                {".nxs", SelfDescribing::hdf5},
                                                {".mha", SelfDescribing::meta_image},
                                                {".mhd", SelfDescribing::meta_image},
                                                {".nrrd", SelfDescribing::nrrd},
                                                {".nhdr", SelfDescribing::nrrd},
                                                {".nii", SelfDescribing::nifti},
                                                {".nii.gz", SelfDescribing::nifti},
                                                {".hdr", SelfDescribing::nifti},
                                                {".vti", SelfDescribing::vti}}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Length of %d, %4d or %04d at the start of the text; 0 when there is none.
std::size_t counter_length(std::string_view text) {
  if (text.empty() || text[0] != '%') return 0;
  std::size_t end = 1;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end < text.size() && text[end] == 'd' ? end + 1 : 0;
}

/// Digits a counter asks for at least.
std::size_t counter_width(std::string_view counter) {
  std::size_t width = 0;
  for (const char c : counter)
    if (is_digit(c)) width = std::min<std::size_t>(10 * width + (c - '0'), 1000);
  return std::max<std::size_t>(width, 1);
}

bool matches_from(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t n = 0; n <= name.size(); ++n)
      if (matches_from(pattern.substr(1), name.substr(n))) return true;
    return false;
  }
  if (const std::size_t length = counter_length(pattern); length > 0) {
    std::size_t digits = 0;
    while (digits < name.size() && is_digit(name[digits])) ++digits;
    return digits >= counter_width(pattern.substr(0, length)) &&
           matches_from(pattern.substr(length), name.substr(digits));
  }
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         matches_from(pattern.substr(1), name.substr(1));
}

/// The digits at the start of the text without leading zeros; the text goes on behind them.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

std::optional<SelfDescribing> format_of(const std::string& path) {
  const std::optional<FileKind> kind = kind_of_file(path);
  return kind && kind->format ? kind->format : format_named(path);
}

std::optional<SelfDescribing> format_named(const std::string& path) {
  const std::string lower = lower_case(path);
  const auto found =
      std::find_if(extensions.begin(), extensions.end(), [&](auto& e) { return lower.ends_with(e.text); });
  if (found == extensions.end()) return {};
  return found->format;
}

bool matches(const std::string& pattern, const std::string& name) { return matches_from(pattern, name); }

bool is_pattern(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return false;
  if (path.find_first_of("*?") != std::string::npos) return true;
  for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at + 1))
    if (counter_length(std::string_view(path).substr(at)) > 0) return true;
  return false;
}

bool natural_less(const std::string& left, const std::string& right) {
  std::string_view a = left, b = right;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view m = take_number(a), n = take_number(b);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return left < right;
}

std::pair<std::string, std::string> split_array(const std::string& path) {
  for (std::size_t at = path.find(':'); at != std::string::npos; at = path.find(':', at + 1)) {
    const std::string file = path.substr(0, at);
    if (format_of(file) == SelfDescribing::hdf5 || is_read_by_python(file)) return {file, path.substr(at + 1)};
  }
  return {path, ""};
}

bool describes_itself(const std::string& path) {
  std::error_code ignored;
  return format_of(split_array(path).first).has_value() || is_pattern(path) || fs::is_directory(path, ignored);
}

bool image_exists(const std::string& path) {
  std::error_code ignored;
  return is_pattern(path) || fs::exists(split_array(path).first, ignored);
}

std::string image_name(const std::string& path) {
  const auto [file, data] = split_array(path);
  fs::path name(file);
  if (!name.has_filename()) name = name.parent_path();
  return name.filename().string() + (data.empty() ? "" : ":" + data);
}

}  // namespace karst
