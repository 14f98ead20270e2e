// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "app/job/run_services.hpp"
#include "app/output/field_view.hpp"
#include "app/output/plot_file.hpp"
#include "base/core/text.hpp"
#include "io/grid_file.hpp"

namespace karst {

namespace {

constexpr double round_off = 1e-12;  ///< of times that are sums of steps, relative

/// One is written at the first step that has come to each multiple of `every`.
bool is_due(const SliceOptions& slice, const FilesInTime::Series& series, double time) {
  const double multiple = std::floor(time / slice.every * (1.0 + round_off));
  const double last = series.files.empty() ? 0.0 : series.files.back().time;
  return multiple > std::floor(last / slice.every * (1.0 + round_off));
}

Layer layer_of(const JobContext& run, const SliceOptions& slice) {
  const int n = run.grid.cells[slice.axis];
  if (slice.kind == SliceKind::mean) return {slice.axis, 0, n};
  const double place = slice.at < 0.0 ? 0.5 * n : slice.at / run.grid.cell_width() + run.sample_low()[slice.axis];
  const int cell = std::clamp(static_cast<int>(place), 0, n - 1);
  return {slice.axis, cell, cell + 1};
}

/// Of all fields; a vector's three components become one array.
GridValues values_of(const JobContext& run, const FieldView& view, const std::vector<JobComponent>& fields,
                     const Layer& layer) {
  const double h = run.grid.cell_width();
  GridValues grid;
  grid.cells = run.grid.cells;
  grid.cells[layer.direction] = 1;
  grid.spacing = Vec3::all(h);
  grid.spacing[layer.direction] = h * (layer.end - layer.first);
  grid.origin[layer.direction] = h * layer.first;
  for (std::size_t c = 0; c < fields.size(); ++c) {
    const PlotWord& word = word_of(fields[c].field);
    const std::string& name = fields[c].name;
    const std::size_t component = word.is_vector ? static_cast<std::size_t>(name.back() - 'x') : 0;
    const PlaneValues plane = layer_mean(run.comm, view, {&c, 1}, layer);
    if (component == 0)
      grid.arrays.push_back({word.is_vector ? name.substr(0, name.size() - 2) : name,
                             unit_of(run.config, fields[c]),
                             word.is_vector ? 3 : 1,
                             {}});
    GridArray& array = grid.arrays.back();
    const auto n = array.components;
    array.values.resize(n * plane.values.size());
    for (std::size_t i = 0; i < plane.values.size(); ++i)
      array.values[n * i + component] = static_cast<float>(plane.values[i]);
  }
  return grid;
}

}  // namespace

void read(Reader& in, std::vector<SliceOptions>& slices) {
  constexpr double longest = 1e30, shortest = 1e-30, farthest = 1e6;
  std::set<std::string> names;
  const auto read_slice = [&](Reader& item) {
    SliceOptions slice;
    item.text("name", slice.name, "name in the file names slice_NAME_0001.vti ...; default: x, y or z, its axis");
    item.word("axis", slice.axis, {{"x", 0, ""}, {"y", 1, ""}, {"z", 2, ""}},
              "normal of the plane, or direction of the mean");
    item.word("kind", slice.kind,
              {{"plane", SliceKind::plane, "the layer of cells at a position"},
               {"mean", SliceKind::mean, "mean over the fluid along the axis"}},
              "how the fields of output.plot are reduced to a plane, on cells of level 0");
    item.number("at", slice.at, "m",
                "position of a plane, from the low face of the domain (with flow.reservoir: of the sample); default: "
                "the middle",
                0.0, farthest);
    item.number("every", slice.every, "s",
                "time between slices: each is written at the first step that reaches the next multiple; required",
                shortest, longest);
    if (item.documenting()) return;
    if (!item.given("every")) item.mistake("every", "missing: give the time between slices");
    if (slice.kind == SliceKind::mean && item.given("at")) item.mistake("at", "a mean has no position; remove it");
    if (slice.name.empty()) slice.name = axis_names[slice.axis];
    if (slice.name.find_first_of("/ ") != std::string::npos)
      item.mistake("name", "is used in file names: use no spaces or slashes");
    if (!names.insert(slice.name).second)
      item.mistake("name", "\"{}\" is the name of two slices; rename one of them", slice.name);
    slices.push_back(slice);
  };
  in.tables("output.slice", "transient runs: a slice through the fields of output.plot, small and written often",
            read_slice);
}

std::vector<std::string> slice_mistakes(const JobContext& run) {
  Messages found;
  const std::vector<SliceOptions>& slices = run.config.output.slices;
  for (std::size_t i = 0; i < slices.size(); ++i)
    if (slices[i].at > run.sample_grid().size[slices[i].axis])
      found.add("output.slice[{}].at: {:g} m along {}, beyond the {}, which ends at {:g} m", i, slices[i].at,
                axis_names[slices[i].axis], run.sample ? "sample" : "domain", run.sample_grid().size[slices[i].axis]);
  return found;
}

void write_slices(const JobContext& run, FilesInTime& files, double time,
                  const std::function<std::vector<JobComponent>()>& fields) {
  const ResultFiles& results = run.services.files;
  if (!results.written()) return;
  std::optional<std::vector<JobComponent>> all;
  for (const SliceOptions& slice : run.config.output.slices) {
    FilesInTime::Series& series = files.slices[slice.name];
    if (!is_due(slice, series, time)) continue;
    if (!all) all = fields();
    series.files.push_back({fmt::format("slice_{}_{:04}.vti", slice.name, series.files.size() + 1), time});
    GridValues grid = values_of(run, view_of(run, *all), *all, layer_of(run, slice));
    grid.time = time;
    write_grid(run.comm, results.path(series.files.back().name), grid);
    write_series(run, slice_series(slice.name), series);
  }
}

}  // namespace karst
