// SPDX-License-Identifier: BSD-3-Clause
// A stack: one TIFF or PNG file per z-plane, in the order of the number in their names.
#include <algorithm>
#include <cctype>
#include <climits>
#include <filesystem>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/file_kind.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

bool is_slice(const std::string& name) {
  const auto format = format_named(name);
  return !name.starts_with('.') && (format == SelfDescribing::tiff || format == SelfDescribing::png);
}

/// What a folder without slices holds instead, where its files tell.
std::string others_in(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (const auto kind = kind_of_file(entry.path().string()); kind && !kind->format)
      return fmt::format(", but {}, which is {}: {}", entry.path().filename().string(), kind->name, kind->advice);
  }
  return "";
}

/// Names of the slices in the folder, sorted. With a pattern every file it stands for must be a slice.
std::vector<std::string> names_of_slices(const fs::path& folder, const std::string& pattern, const std::string& path) {
  require(!is_pattern(folder.string()), "{}: only file names may be a pattern, not folders", path);
  std::error_code failure;
  fs::directory_iterator entries(folder.empty() ? "." : folder, failure);
  require(!failure, "{}: the folder cannot be read ({})", path, failure.message());
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !(pattern.empty() ? is_slice(name) : matches(pattern, name))) continue;
    require(is_slice(name), "{}: the pattern also matches {}; slices must be .tif, .tiff or .png files", path, name);
    names.push_back(name);
  }
  require(!names.empty(), "{}: {}", path,
          pattern.empty() ? "the folder contains no slices (.tif, .tiff, .png)" + others_in(folder)
                          : "there is no such file");
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

/// A name as numbers and the text between them.
struct Parsed {
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
};

Parsed parse(const std::string& name) {
  constexpr std::size_t most_digits = 18;
  Parsed p;
  p.texts.emplace_back();
  const auto digit = [&](std::size_t n) {
    return n < name.size() && std::isdigit(static_cast<unsigned char>(name[n]));
  };
  for (std::size_t n = 0; n < name.size();) {
    std::size_t end = n;
    while (digit(end) && end - n < most_digits) ++end;
    if (end > n) {
      p.numbers.push_back(std::stoll(name.substr(n, end - n)));
      p.texts.emplace_back();
      n = end;
    } else {
      p.texts.back() += name[n++];
    }
  }
  return p;
}

/// Throws Error unless the last number that differs between the names counts the slices in equal steps.
void check_numbers(const std::vector<std::string>& names, const std::string& path) {
  const Parsed first = parse(names.front());
  std::vector<Parsed> all;
  std::size_t counter = first.numbers.size();
  for (const std::string& name : names) {
    all.push_back(parse(name));
    const Parsed& p = all.back();
    require(p.texts == first.texts,
            "{}: {} and {} differ in more than a number; select the slices by a pattern such as "
            "slice_*.tif",
            path, names.front(), name);
    for (std::size_t n = 0; n < p.numbers.size(); ++n)
      if (p.numbers[n] != first.numbers[n] && (counter == first.numbers.size() || n > counter)) counter = n;
  }
  if (names.size() == 1) return;
  require(counter < first.numbers.size(), "{}: {} and {} have the same number", path, names[0], names[1]);
  std::int64_t step = LLONG_MAX;
  for (std::size_t n = 1; n < names.size(); ++n) {
    const std::int64_t between = all[n].numbers[counter] - all[n - 1].numbers[counter];
    require(between > 0, "{}: the order of {} and {} does not follow from their numbers", path, names[n - 1], names[n]);
    step = std::min(step, between);
  }
  std::string missing;
  std::int64_t count = 0;
  constexpr std::int64_t most = 5;
  for (std::size_t n = 1; n < names.size(); ++n) {
    const std::int64_t last = all[n].numbers[counter];
    for (std::int64_t m = all[n - 1].numbers[counter] + step; m < last && count < most; m += step, ++count)
      missing += fmt::format("{}{} (after {})", count > 0 ? ", " : "", m, names[n - 1]);
  }
  require(missing.empty(),
          "{}: slices are missing between the numbers {} and {}: {}{}; the numbers must increase in equal steps", path,
          all.front().numbers[counter], all.back().numbers[counter], missing, count == most ? ", ..." : "");
}

std::unique_ptr<ImageFile> open_slice(const std::string& file) {
  require_readable(file, {});
  return format_of(file) == SelfDescribing::png ? open_png(file) : open_tiff(file);
}

class StackImage : public ImageFile {
 public:
  StackImage(ImageInfo description, std::vector<std::string> files)
      : ImageFile(std::move(description)), files_(std::move(files)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    const std::string& file = files_[z];
    const auto slice = open_slice(file);
    const ImageInfo& s = slice->info();
    require(s.size == Index(info().size[0], info().size[1], 1) && s.type == info().type,
            "{}: has changed since the stack was opened", file);
    slice->read_plane(0, values);
    if (s.black && !info().black) turn_white(values, *s.black, file);
  }

  std::vector<std::string> files_;
};

/// Throws Error unless the slice is one plane and like the first.
void check_slice(const ImageInfo& slice, const ImageInfo& first) {
  require(slice.size[2] == 1, "{}: contains {} planes; each slice of a stack must be a single plane", slice.path,
          slice.size[2]);
  require(slice.format == first.format && slice.size == first.size && slice.type == first.type,
          "{}: is {} x {} pixels of {} ({}), the first slice {} is {} x {} of {} ({}); all must be equal", slice.path,
          slice.size[0], slice.size[1], name_of(slice.type), slice.format, first.path, first.size[0], first.size[1],
          name_of(first.type), first.format);
}

/// What the slices say about themselves, as the stack says it: widths that differ are doubted, values in which 0 is
/// white are turned where those of others are not.
ImageInfo merged(const std::vector<ImageInfo>& slices, const std::string& path) {
  ImageInfo info = slices.front();
  info.path = path;
  info.format = fmt::format("stack of {} {} files", slices.size(), info.format);
  info.size[2] = static_cast<int>(slices.size());
  std::size_t white = 0;
  for (const ImageInfo& s : slices) {
    white += s.black.has_value();
    if (info.labels_only.empty()) info.labels_only = s.labels_only;
    for (const std::string& note : s.notes)
      if (std::find(info.notes.begin(), info.notes.end(), note) == info.notes.end()) info.notes.push_back(note);
    const bool alike = s.spacing.has_value() == info.spacing.has_value() &&
                       (!s.spacing || norm(*s.spacing - *info.spacing) <= 1e-3 * norm(*info.spacing));
    if (!alike && info.width_doubt.empty())
      info.width_doubt = fmt::format("the slices {} and {} have different pixel widths", slices.front().path, s.path);
  }
  if (white == 0 || white == slices.size()) return info;
  info.black.reset();
  info.notes.push_back(
      fmt::format("in {} of the {} slices 0 is white: their values are inverted, as 0 is black in the others", white,
                  slices.size()));
  return info;
}

}  // namespace

std::unique_ptr<ImageFile> open_stack(const std::string& path) {
  const bool pattern = is_pattern(path);
  const fs::path folder = pattern ? fs::path(path).parent_path() : fs::path(path);
  const std::vector<std::string> names =
      names_of_slices(folder, pattern ? fs::path(path).filename().string() : "", path);
  check_numbers(names, path);
  require(names.size() <= INT_MAX, "{}: {} slices; at most {}", path, names.size(), INT_MAX);
  std::vector<std::string> files;
  std::vector<ImageInfo> slices;
  for (const std::string& name : names) {
    files.push_back((folder / name).string());
    slices.push_back(open_slice(files.back())->info());
    check_slice(slices.back(), slices.front());
  }
  return std::make_unique<StackImage>(merged(slices, path), std::move(files));
}

}  // namespace karst
