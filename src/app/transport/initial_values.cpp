// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/initial_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "eb/described_level_set.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

namespace {

constexpr int samples = 16;                  ///< of a formula along each direction
constexpr std::int64_t places_at_once = 64;  ///< where a thread evaluates a formula

const ComponentDeck& deck_of(const JobContext& run, std::size_t component) {
  return run.config.transport.components[component];
}

bool applies(const RegionDeck& region, const ComponentDeck& component) {
  return region.component.empty() || region.component == component.name;
}

std::unique_ptr<LevelSet> shape_of(const JobContext& run, std::size_t region) {
  return make_region(run.config.transport.regions[region].shape, fmt::format("transport.region[{}]", region),
                     run.config.geometry.directory, run.grid.cell_width(), run.sample_grid().size,
                     run.sample_grid().periodic);
}

/// One value per cell of level 0 of the sample. Throws Error where it is no such array.
std::unique_ptr<ImageFile> open_array(const JobContext& run, const ComponentDeck& deck) {
  const std::string path = (std::filesystem::path(run.config.geometry.directory) / deck.initial_file).string();
  const Index cells = run.sample_grid().cells;
  require(!deck.initial_file_type_given || !describes_itself(path),
          "{}: states the type of its values itself; remove initial_file_type", path);
  auto array = describes_itself(path)
                   ? open_image(path)
                   : open_image(path, RawLayout{.size = cells, .type = voxel_type_named(deck.initial_file_type)});
  const Index size = array->info().size;
  require(size == cells,
          "{}: {} x {} x {} values, but the {} has {} x {} x {} cells; one per cell of level 0 is needed", path,
          size[0], size[1], size[2], run.sample ? "sample" : "grid", cells[0], cells[1], cells[2]);
  return array;
}

/// A number between the bounds stays there when it is rounded to the precision of arrays.
double lower(const std::array<double, 2>& bounds) {
  return std::min(bounds[0], static_cast<double>(static_cast<float>(bounds[0])));
}
double upper(const std::array<double, 2>& bounds) {
  return std::max(bounds[1], static_cast<double>(static_cast<float>(bounds[1])));
}

/// What is wrong everywhere: in the middle of lattice cells, wherever fluid is. What is wrong in some places may lie in
/// the solid; it is told when the values are set.
std::string wrong_everywhere(const JobContext& run, const std::string& text,
                             const std::optional<std::array<double, 2>>& bounds) {
  const Formula formula(text);
  int infinite = 0, outside = 0;
  Vec3 at;
  double value = 0.0;
  for_each_cell(Box{Index{}, Index::all(samples)}, [&](const Index& c) {
    Vec3 x;
    for (int d = 0; d < 3; ++d) x[d] = run.sample_grid().size[d] * (c[d] + 0.5) / samples;
    const double f = value_in(formula, x);
    if (!std::isfinite(f) && infinite++ == 0) at = x;
    if (!std::isfinite(f) && infinite == 1) value = f;
    if (bounds && (f < (*bounds)[0] || f > (*bounds)[1]) && outside++ == 0) value = f;
  });
  constexpr int all = samples * samples * samples;
  if (infinite == all)
    return fmt::format("\"{}\" is {} at ({:g}, {:g}, {:g}) m; it must be finite everywhere in the fluid", text, value,
                       at[0], at[1], at[2]);
  if (outside == all)
    return fmt::format("initial values outside the given bounds: \"{}\" is {:g}, bounds = [{:g}, {:g}]", text, value,
                       (*bounds)[0], (*bounds)[1]);
  return {};
}

}  // namespace

double value_in(const Formula& formula, const Vec3& x) {
  double value = 0.0;
  Vec3 slope;
  formula.evaluate({&x, 1}, {&value, 1}, {&slope, 1});
  return value;
}

InitialValues::InitialValues(const JobContext& run, std::size_t component, int outlet)
    : run_(run),
      low_(run.sample_low()),
      cells_(run.sample_grid().cells),
      component_(component),
      outlet_(outlet),
      formula_(deck_of(run, component).initial) {
  const auto& regions = run.config.transport.regions;
  const Vec3 high = to_vec(run.grid.cells);
  for (std::size_t r = 0; r < regions.size(); ++r)
    if (applies(regions[r], deck_of(run, component)))
      regions_.push_back({shape_of(run, r)->local(-1.0 * low_, high - low_), Formula(regions[r].initial)});
  if (deck_of(run, component).initial_file.empty() || outlet < 0) return;
  const int d = outlet / 2;
  on_outlet_.assign(std::int64_t{cells_[(d + 1) % 3]} * cells_[(d + 2) % 3], 0.0F);
}

double InitialValues::in_regions(const Vec3& x, double otherwise) const {
  for (auto region = regions_.rbegin(); region != regions_.rend(); ++region)
    if ((*region->shape)(x) <= 0.0) return value_in(region->value, run_.grid.cell_width() * x);
  return otherwise;
}

Index InitialValues::cell_of(const Vec3& x) const {
  Index cell;
  for (int d = 0; d < 3; ++d) cell[d] = std::clamp(static_cast<int>(std::floor(x[d])), 0, cells_[d] - 1);
  return cell;
}

std::int64_t InitialValues::place_on_outlet(const Index& cell) const {
  const int d = outlet_ / 2, a = (d + 1) % 3, b = (d + 2) % 3;
  return std::int64_t{cell[b]} * cells_[a] + cell[a];
}

double InitialValues::at(const Vec3& place) const {
  const Vec3 x = place - low_;
  const bool array = !deck_of(run_, component_).initial_file.empty();
  if (array && on_outlet_.empty()) return in_regions(x, 0.0);  // nothing flows in there
  return in_regions(
      x, array ? double{on_outlet_[place_on_outlet(cell_of(x))]} : value_in(formula_, run_.grid.cell_width() * x));
}

void InitialValues::fill(const Comm& comm, const ScalarGrid& grid, std::span<double> values) {
  const double h = run_.grid.cell_width();
  if (!deck_of(run_, component_).initial_file.empty())
    fail_together(comm, [&] { read_array(grid, values); });
  else
    parallel_for((grid.n_own + places_at_once - 1) / places_at_once, [&](std::int64_t part) {
      const std::int64_t first = part * places_at_once, n = std::min<std::int64_t>(places_at_once, grid.n_own - first);
      std::array<Vec3, places_at_once> x, slope;
      for (std::int64_t i = 0; i < n; ++i) x[i] = h * (grid.centroid[first + i] - low_);
      formula_.evaluate(std::span(x).first(n), values.subspan(first, n), std::span(slope).first(n));
    });
  if (regions_.empty()) return;
  parallel_for(grid.n_own, [&](std::int64_t i) { values[i] = in_regions(grid.centroid[i] - low_, values[i]); });
}

/// Plane by plane, those alone in which own volumes lie. These are sorted by plane first.
void InitialValues::read_array(const ScalarGrid& grid, std::span<double> values) {
  const auto array = open_array(run_, deck_of(run_, component_));
  const Index n = cells_;
  const auto cell = [&](std::size_t v) { return cell_of(grid.centroid[v] - low_); };
  std::vector<std::int64_t> begin(n[2] + 1, 0);
  std::vector<std::int32_t> order(grid.n_own);
  for (std::size_t v = 0; v < order.size(); ++v) ++begin[cell(v)[2] + 1];
  for (std::size_t z = 1; z < begin.size(); ++z) begin[z] += begin[z - 1];
  std::vector<std::int64_t> next(begin);
  for (std::size_t v = 0; v < order.size(); ++v) order[next[cell(v)[2]]++] = static_cast<std::int32_t>(v);
  std::vector<float> plane(std::int64_t{n[0]} * n[1]);
  std::vector<bool> wanted(n[2]);
  for (std::size_t z = 0; z < wanted.size(); ++z) wanted[z] = begin[z] < begin[z + 1];
  for (const BoundaryFace& face : grid.boundary)
    if (face.side == outlet_) wanted[cell_of(face.at - low_)[2]] = true;
  for (int z = 0; z < n[2]; ++z) {
    if (!wanted[z]) continue;
    array->read_plane(z, plane);
    for (auto k = begin[z]; k < begin[z + 1]; ++k) {
      const auto v = order[k];
      const Index c = cell(v);
      values[v] = plane[std::int64_t{c[1]} * n[0] + c[0]];
    }
    keep_outlet(z, plane);
  }
}

void InitialValues::keep_outlet(int z, std::span<const float> plane) {
  if (on_outlet_.empty()) return;
  Box cells{Index{0, 0, z}, Index{cells_[0], cells_[1], z + 1}};
  const int d = outlet_ / 2, last = outlet_ % 2 == 0 ? 0 : cells_[d] - 1;
  if (d == 2 && z != last) return;
  cells.lo[d] = last;
  cells.hi[d] = last + 1;
  for_each_cell(cells,
                [&](const Index& c) { on_outlet_[place_on_outlet(c)] = plane[std::int64_t{c[1]} * cells_[0] + c[0]]; });
}

std::vector<std::shared_ptr<InitialValues>> initial_values(const JobContext& run, int outlet) {
  std::vector<std::shared_ptr<InitialValues>> all;
  for (std::size_t i = 0; i < run.config.transport.components.size(); ++i)
    all.push_back(std::make_shared<InitialValues>(run, i, outlet));
  return all;
}

std::vector<std::string> initial_mistakes(const JobContext& run, std::size_t component) {
  const ComponentDeck& deck = deck_of(run, component);
  Messages found;
  const auto note = [&](const std::string& key, const std::string& text) {
    if (!text.empty()) found.add("{}: {}", key, text);
  };
  const std::string key = fmt::format("transport.component[{}]", component);
  if (deck.initial_file.empty()) {
    note(key + ".initial", wrong_everywhere(run, deck.initial, deck.bounds));
  } else {
    found.attempt([&] { open_array(run, deck); }, key + ".initial_file: ");
  }
  const auto& regions = run.config.transport.regions;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    if (!applies(regions[r], deck)) continue;
    note(fmt::format("transport.region[{}].initial", r), wrong_everywhere(run, regions[r].initial, deck.bounds));
    found.attempt([&] { shape_of(run, r); });
  }
  return found;
}

std::vector<std::string> region_mistakes(const JobContext& run, const ScalarGrid& grid) {
  const auto& regions = run.config.transport.regions;
  const Vec3 low = run.sample_low();
  const Vec3 high = to_vec(run.grid.cells);
  std::vector<std::int64_t> volumes(regions.size(), 0);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const auto shape = shape_of(run, r)->local(-1.0 * low, high - low);
    volumes[r] = static_cast<std::int64_t>(
        parallel_sum(grid.n_own, [&](std::int64_t i) { return (*shape)(grid.centroid[i] - low) <= 0.0 ? 1.0 : 0.0; }));
  }
  run.comm.sum(std::span(volumes));
  Messages found;
  for (std::size_t r = 0; r < regions.size(); ++r)
    if (volumes[r] == 0)
      found.add(
          "transport.region[{}]: the centre of no fluid cell lies in it, so its initial value would hold nowhere: it "
          "is outside of the domain (0 to {:g} x {:g} x {:g} m), in the solid or smaller than a cell; check its place "
          "and size (in metres)",
          r, run.sample_grid().size[0], run.sample_grid().size[1], run.sample_grid().size[2]);
  return found;
}

void require_initial(const JobContext& run, std::size_t component, std::span<const double> values) {
  const ComponentDeck& deck = deck_of(run, component);
  std::array<std::int64_t, 2> wrong{};  // not finite, outside
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (const double c : values) {
    if (!std::isfinite(c)) {
      ++wrong[0];
      continue;
    }
    least = std::min(least, c);
    largest = std::max(largest, c);
    if (deck.bounds && (c < lower(*deck.bounds) || c > upper(*deck.bounds))) ++wrong[1];
  }
  run.comm.sum(std::span(wrong));
  require(wrong[0] == 0, "transport.component[{}].initial: \"{}\" is not finite in {} cells of the fluid", component,
          deck.initial, wrong[0]);
  least = -run.comm.max(-least);
  largest = run.comm.max(largest);
  require(wrong[1] == 0,
          "transport.component[{}]: initial values outside the given bounds in {} cells of the fluid: they go from "
          "{:g} to {:g}, bounds = [{:g}, {:g}]; change the initial values (initial, initial_file, "
          "[[transport.region]]) or the bounds",
          component, wrong[1], least, largest, deck.bounds ? (*deck.bounds)[0] : 0.0,
          deck.bounds ? (*deck.bounds)[1] : 0.0);
}

}  // namespace karst
