// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/labels.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

constexpr double largest_exact = 16777216.0;  // 2^24: larger integers are rounded by float

}  // namespace

LabelMap LabelMap::of_pore(double value) {
  LabelMap map;
  map.entries_ = {{static_cast<float>(value), pore_label}};
  map.names_ = {"pore", "solid"};
  map.pore_ = value;
  map.others_are_solid_ = true;
  return map;
}

namespace {

/// What may be meant: "Pore", "pores".
std::string nearest_to_pore(const std::vector<NamedValue>& values) {
  std::vector<std::string> names, small;
  for (const NamedValue& v : values) {
    names.push_back(v.name);
    small.push_back(v.name);
    std::ranges::transform(small.back(), small.back().begin(), [](unsigned char c) { return std::tolower(c); });
  }
  const auto found = std::ranges::find(small, nearest("pore", small));
  return found == small.end() ? "" : fmt::format(" (\"{}\" is there)", names[found - small.begin()]);
}

}  // namespace

LabelMap::LabelMap(const std::vector<NamedValue>& values) {
  std::vector<NamedValue> sorted = values;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  std::vector<std::string> wrong;
  const auto pores = std::count_if(sorted.begin(), sorted.end(), [](const auto& v) { return v.name == "pore"; });
  if (pores != 1)
    wrong.push_back(fmt::format("{} of the labels is named \"pore\"; exactly one must be, the pore space{}",
                                pores == 0 ? "none" : "more than one", pores == 0 ? nearest_to_pore(values) : ""));
  if (sorted.size() < 2 || sorted.size() > most_solids + 1)
    wrong.push_back(
        fmt::format("{} labels given; allowed are the pore and 1 to {} solid phases", sorted.size(), most_solids));
  names_ = {"pore"};
  for (const NamedValue& v : sorted) {
    if (!(std::abs(v.value) < largest_exact))
      wrong.push_back(fmt::format("label {} = {}: the value must be below 2^24", v.name, v.value));
    if (v.name.empty()) wrong.push_back(fmt::format("the label of the value {} has no name", v.value));
    if (!entries_.empty() && !(entries_.back().value < static_cast<float>(v.value)))
      wrong.push_back(
          fmt::format("the value {} has two names (\"{}\"); each value must have one name", v.value, v.name));
    const bool is_pore = v.name == "pore";
    if (!is_pore && !v.name.empty() && std::find(names_.begin(), names_.end(), v.name) != names_.end())
      wrong.push_back(fmt::format("two values have the name \"{}\"; each name must have one value", v.name));
    entries_.push_back({static_cast<float>(v.value), is_pore ? pore_label : static_cast<int>(names_.size())});
    if (is_pore) {
      pore_ = v.value;
    } else {
      names_.push_back(v.name);
    }
  }
  require(wrong.empty(), "{}", join(wrong, "\n"));
}

std::string LabelMap::text() const {
  std::vector<std::string> parts;
  for (const Entry& e : entries_) parts.push_back(fmt::format("{} = {}", names_[e.label], e.value));
  return join(parts);
}

int LabelMap::label(float value) const {
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), value, [](const Entry& e, float v) { return e.value < v; });
  if (at != entries_.end() && at->value == value) return at->label;
  return others_are_solid_ ? 1 : -1;
}

std::vector<NamedValue> read_label_names(const std::string& path) {
  std::ifstream file(path);
  require(file.good(), "labels: there is no file {}", path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> twice;  // of which the parser would keep the last
  for (const std::vector<std::string>& name : names_given_twice(text))
    if (name.size() == 2 && name[0] == "labels")
      twice.push_back(fmt::format("{}: two values have the name \"{}\"; each name must have one value", path, name[1]));
  require(twice.empty(), "{}", join(twice, "\n"));
  const Json json = Json::parse_or_null(text);
  const char* form = "{\"labels\": {\"pore\": 0, \"quartz\": 1}}";
  require(json.contains("labels") && json["labels"].is_object(), "{}: is not a file of labels; the required form is {}",
          path, form);
  const Json& labels = json["labels"];
  std::vector<NamedValue> values;
  for (const std::string& name : labels.names()) {
    const Json& value = labels[name];
    require(value.is_number(), "{}: the label \"{}\" has the value {}; a number is needed", path, name, value.dump());
    values.push_back({name, value.get<double>()});
  }
  return values;
}

LabelTally::LabelTally()
    : smallest(std::numeric_limits<double>::infinity()),
      largest(-std::numeric_limits<double>::infinity()),
      first_unknown(std::numeric_limits<std::int64_t>::max()) {}

LabelTally LabelTally::over_ranks(const Comm& comm) const {
  LabelTally all;
  all.smallest = comm.min(smallest);
  all.largest = comm.max(largest);
  all.unknown = comm.sum(unknown);
  all.first_unknown = comm.min(first_unknown);
  const double mine =
      first_unknown == all.first_unknown ? double{unknown_value} : -std::numeric_limits<double>::infinity();
  all.unknown_value = static_cast<float>(comm.max(mine));
  const std::vector<float> own(values.begin(), values.end());
  for (const float v : comm.all_gather(std::span<const float>(own)))
    if (all.values.size() < most_values) all.values.insert(v);
  return all;
}

namespace {

void label_row(const LabelMap& map, std::span<const float> values, const std::uint8_t* inside, std::int64_t first,
               std::uint8_t* labels, LabelTally& tally) {
  float last = std::numeric_limits<float>::quiet_NaN();
  int label = 1;
  for (std::size_t x = 0; x < values.size(); ++x) {
    labels[x] = 1;
    if (inside && !inside[x]) continue;
    if (values[x] != last) {
      last = values[x];
      label = map.label(last);
      tally.smallest = std::min(tally.smallest, double{last});
      tally.largest = std::max(tally.largest, double{last});
      if (tally.values.size() < LabelTally::most_values) tally.values.insert(last);
    }
    if (label >= 0) {
      labels[x] = static_cast<std::uint8_t>(label);
      continue;
    }
    ++tally.unknown;
    if (first + static_cast<std::int64_t>(x) >= tally.first_unknown) continue;
    tally.first_unknown = first + static_cast<std::int64_t>(x);
    tally.unknown_value = last;
  }
}

}  // namespace

void label_values(const LabelMap& map, const ImageWindow& window, std::span<const float> values,
                  std::span<const std::uint8_t> inside, std::span<std::uint8_t> labels, LabelTally& tally) {
  const std::int64_t row = window.row(), ny = window.image[1];
  std::vector<LabelTally> of_plane(window.planes());
  parallel_for(window.planes(), [&](std::int64_t p) {
    for (std::int64_t y = 0; y < ny; ++y) {
      const std::int64_t start = p * window.plane() + y * row;
      label_row(map, values.subspan(start, row), inside.empty() ? nullptr : inside.data() + y * row,
                window.first * window.plane() + start, labels.data() + start, of_plane[p]);
    }
  });
  for (const LabelTally& t : of_plane) {
    tally.smallest = std::min(tally.smallest, t.smallest);
    tally.largest = std::max(tally.largest, t.largest);
    tally.unknown += t.unknown;
    if (t.first_unknown < tally.first_unknown) tally.unknown_value = t.unknown_value;
    tally.first_unknown = std::min(tally.first_unknown, t.first_unknown);
    for (const float v : t.values)
      if (tally.values.size() < LabelTally::most_values) tally.values.insert(v);
  }
}

void require_known(const LabelTally& tally, const LabelMap& map, const Index& voxels, const std::string& file) {
  if (tally.unknown == 0) return;
  const std::int64_t row = voxels[0], plane = row * voxels[1], at = tally.first_unknown;
  throw Error(fmt::format(
      "{}: {} voxels have values without a name; the first, at ({}, {}, {}), has the value {}. Names are given for "
      "{}: give names for the others, too",
      file, tally.unknown, at % row, at % plane / row, at / plane, tally.unknown_value, map.text()));
}

std::vector<double> label_volumes(const Comm& comm, const Slabs<std::uint8_t>& labels, const SourceLattice& lattice) {
  constexpr std::int64_t n_labels = 256;
  const ImageWindow& own = labels.own();
  const int nx = own.image[0], ny = own.image[1];
  std::vector<double> of_plane(n_labels * own.image[2], 0.0);
  parallel_for(own.planes(), [&](std::int64_t p) {
    const int z = own.first + static_cast<int>(p);
    double* const to = of_plane.data() + z * n_labels;
    const std::uint8_t* label = labels.plane(z).data();
    for (int y = 0; y < ny; ++y) {
      const double width = lattice.width_of(2, z) * lattice.width_of(1, y);
      for (int x = 0; x < nx; ++x) to[*label++] += width * lattice.width_of(0, x);
    }
  });
  comm.sum(std::span(of_plane));  // one rank adds to each plane: exact
  std::vector<double> volumes(n_labels, 0.0);
  for (std::size_t n = 0; n < of_plane.size(); ++n) volumes[n % n_labels] += of_plane[n];
  return volumes;
}

std::vector<PhaseShare> phase_shares(std::span<const std::string> names, std::span<const double> volumes) {
  double all = 0;
  for (std::size_t l = 0; l < outside_label; ++l) all += volumes[l];
  std::vector<PhaseShare> shares;
  for (std::size_t l = 0; l < names.size(); ++l) shares.push_back({names[l], static_cast<int>(l), volumes[l] / all});
  return shares;
}

}  // namespace karst
