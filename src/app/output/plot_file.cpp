// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/plot_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>

#include "app/deck/plot_extent.hpp"
#include "app/deck/reactive_plan.hpp"
#include "app/job/moving_walls.hpp"
#include "app/output/plot_reduction.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/version.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// Boxes of another ground have other numbers.
void require_ground(const JobContext& run, const std::vector<JobComponent>& components) {
  for (const JobComponent& c : components)
    require(c.ground != nullptr && c.ground->id() == run.ground->id(), "{} is on ground {}, not on ground {}", c.name,
            c.ground ? c.ground->id() : 0, run.ground->id());
}

BlockValue block_value(PlotField field) {
  switch (field) {
    case PlotField::fraction:
    case PlotField::distance:
      return BlockValue::mean;
    case PlotField::wall_area:
      return BlockValue::sum;
    case PlotField::wall_normal:
      return BlockValue::wall_direction;
    case PlotField::mineral:
      return BlockValue::wall_majority;
    default:
      return BlockValue::fluid_mean;
  }
}

/// What output.region_lo, output.region_hi and output.coarsening leave of it. Collective.
PlotDescription reduced(const JobContext& run, const PlotDescription& all,
                        const std::vector<PlotComponent>& of_geometry) {
  PlotDescription plot = all;
  const OutputOptions& output = run.config.output;
  if (const auto region = plotted_region(output, run.grid, run.sample_low()))
    plot = plot_within(plot, run.comm.rank(), *region);
  if (output.coarsening == 1 || plot.levels[0]->n_boxes() == 0) return plot;
  std::vector<BlockValue> values(component_names(plot.arrays).size(), BlockValue::fluid_mean);
  for (std::size_t c = 0; c < of_geometry.size(); ++c) values[c] = block_value(of_geometry[c].field);
  const auto n = static_cast<int>(values.size());
  return plot_coarsened(run.comm, plot, output.coarsening, values, {.fraction = n, .wall_area = n + 1});
}

}  // namespace

std::string unit_of(const Config& config, const JobComponent& component) {
  const auto begins = [&](const char* word) { return component.name.starts_with(word); };
  bool amount = false;
  if (component.field == PlotField::chemistry) amount = begins("molality_") || begins("mineral_") || begins("sorbed_");
  if (component.field == PlotField::concentration && config.reactive != nullptr)
    for (const std::string& element : config.reactive->medium.system.elements)
      amount = amount || component.name == concentration_name(element);
  return amount ? unit_of_amounts : std::string(word_of(component.field).unit);
}

PlotSize write_plot(const JobContext& run, const Source& source, const std::string& path,
                    const std::vector<JobComponent>& of_jobs, double time) {
  Timer timer("plotfile");
  const std::vector<PlotComponent> of_geometry = plot_components(run.config.output.plot);
  if ((of_geometry.empty() && of_jobs.empty()) || run.geometry().levels[0].graph.layout().n_boxes() == 0) return {};
  require_ground(run, of_jobs);
  PlotDescription plot;
  plot.title = run.config.title;
  plot.version = version_and_git_id();
  plot.cell_width = run.grid.cell_width();
  plot.time = time;
  for (const LevelGeometry& level : run.geometry().levels) plot.levels.push_back(&level.graph.layout());
  auto add = [&, next = 0](PlotField field, const std::string& name, const std::string& unit) mutable {
    const bool is_vector = word_of(field).is_vector;
    if (is_vector && next++ % 3 > 0) return;  // its first component brings the others
    plot.arrays.push_back({is_vector ? name.substr(0, name.size() - 2) : name, unit, is_vector});
  };
  for (const PlotComponent& c : of_geometry) add(c.field, c.name, std::string(word_of(c.field).unit));
  for (const JobComponent& c : of_jobs) add(c.field, c.name, unit_of(run.config, c));
  const LevelSet* walls = source.level_set.get();
  if (run.walls) {
    walls = &run.walls->now;
    for (const LevelGeometry& level : run.geometry().levels) {  // their displacement has owners of its own
      std::vector<Box> boxes;
      for (int b = 0; b < level.graph.n_local(); ++b) boxes.push_back(level.graph.box(b).cells);
      walls->fetch(run.comm, level.level, boxes);
    }
  }
  plot.chombo = run.config.output.yt;
  plot.parts = run.config.output.files;
  plot.compression = run.config.output.compression;
  const std::array<PlotComponent, 2> weights{{{"", PlotField::fraction, 0}, {"", PlotField::wall_area, 0}}};
  const auto n_geometry = std::ssize(of_geometry), n_all = n_geometry + std::ssize(of_jobs);
  plot.fill = [&, h = plot.cell_width](int level, std::int64_t box, int component, std::span<float> cells) {
    if (component >= n_geometry && component < n_all) return of_jobs[component - n_geometry].fill(level, box, cells);
    const PlotComponent& c = component < n_geometry ? of_geometry[component] : weights.at(component - n_all);
    fill_plot_component(run.geometry(), *walls, h, c, level, box, cells);
  };
  plot.hide = [&](int level, std::int64_t box, std::span<std::uint8_t> cells) {
    fill_hidden(run.geometry(), level, box, cells);
  };
  plot = reduced(run, plot, of_geometry);
  if (plot.levels[0]->n_boxes() == 0) return {};
  plot.fill = [fill = plot.fill](int level, std::int64_t box, int component, std::span<float> cells) {
    fill(level, box, component, cells);
    std::ranges::replace_if(
        cells, [](float v) { return std::isnan(v); }, 0.0F);
  };
  const PlotSize size = write_plotfile(run.comm, path, plot);
  if (run.walls) walls->drop_cache();
  return size;
}

std::string told_parts(const JobContext& run, const PlotSize& size) {
  const int files = run.config.output.files;
  std::string text;
  if (size.parts > 1) text = fmt::format("; values in {} parts beside it", size.parts);
  if (size.parts < files) text += fmt::format("; output.files = {}, but each rank writes at most one", files);
  return text;
}

namespace {

void fill_fraction(const BoxGraph& box, const BoxMoments& moments, std::span<const JoinedPart> joined,
                   std::span<float> cells) {
  const auto n_irregular = static_cast<std::size_t>(box.n_irregular);
  std::vector<double> kappa(cells.size(), 0.0);
  for_each_vof(box, [&](int, int cell) { kappa[cell] += 1.0; });
  for (std::size_t r = 0; r < n_irregular; ++r) kappa[box.row_cell[r]] += moments.moments[r].kappa - 1.0;
  for (const JoinedPart& part : joined) kappa[part.cell] += double{part.kappa};
  std::transform(kappa.begin(), kappa.end(), cells.begin(),
                 [](double x) { return static_cast<float>(std::clamp(x, 0.0, 1.0)); });
}

void fill_distance(const LevelSet& level_set, const Box& box, double scale, double cell_width, std::span<float> cells) {
  const auto corner = [&](const Index& c) { return Vec3{c[0] * scale, c[1] * scale, c[2] * scale}; };
  const auto phi = level_set.local(corner(box.lo), corner(box.hi));
  const auto row = static_cast<std::size_t>(box.size(0));
  std::vector<Vec3> x(row);
  std::vector<double> values(row);
  auto out = cells.begin();
  for (int k = box.lo[2]; k < box.hi[2]; ++k)
    for (int j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::size_t i = 0; i < row; ++i)
        x[i] = scale * Vec3{box.lo[0] + static_cast<double>(i) + 0.5, j + 0.5, k + 0.5};
      phi->evaluate(x, values);
      out = std::transform(values.begin(), values.end(), out,
                           [&](double v) { return static_cast<float>(v * cell_width); });
    }
}

void fill_wall_area(const BoxGraph& box, const BoxMoments& moments, double h, std::span<float> cells) {
  std::vector<double> area(cells.size(), 0.0);
  for (std::int64_t r = 0; r < box.n_irregular; ++r) area[box.row_cell[r]] += moments.moments[r].wall_area;
  std::transform(area.begin(), area.end(), cells.begin(), [&](double a) { return static_cast<float>(a * h * h); });
}

void fill_mineral(const LevelGeometry& level, const BoxGraph& box, std::int64_t first_row, std::span<float> cells) {
  std::map<std::pair<std::uint16_t, MineralNumber>, double> area;  // by cell
  for (int r = 0; r < box.n_irregular; ++r)
    for_each_mineral(level, first_row + r, [&](MineralNumber mineral, double of_mineral) {
      area[{box.row_cell[r], mineral}] += of_mineral;
    });
  std::ranges::fill(cells, 0.0F);
  std::vector<double> most(cells.size(), 0.0);
  for (const auto& [at, of_mineral] : area) {
    const auto& [cell, mineral] = at;
    if (!(of_mineral > most[cell])) continue;
    most[cell] = of_mineral;
    cells[cell] = static_cast<float>(mineral) + 1.0F;
  }
}

void fill_wall_normal(const BoxGraph& box, const BoxMoments& moments, int direction, std::span<float> cells) {
  std::vector<Vec3> wall(cells.size());
  for (std::int64_t r = 0; r < box.n_irregular; ++r) wall[box.row_cell[r]] += moments.moments[r].wall;
  std::transform(wall.begin(), wall.end(), cells.begin(), [&](const Vec3& w) {
    const double length = norm(w);
    return length > 0.0 ? static_cast<float>(w[direction] / length) : 0.0F;
  });
}

std::span<const JoinedPart> parts_in(const LevelGeometry& level, int box) {
  const auto [first, last] = level.joined_in(box);
  return level.joined.span().subspan(first, last - first);
}

}  // namespace

void fill_plot_component(const Geometry& geometry, const LevelSet& level_set, double cell_width,
                         const PlotComponent& component, int level, std::int64_t box, std::span<float> cells) {
  const LevelGeometry& at = geometry.levels[level];
  const BoxGraph graph = at.graph.box(static_cast<int>(box));
  const BoxMoments moments = at.box(static_cast<int>(box));
  const double scale = std::ldexp(1.0, -level);
  switch (component.field) {
    case PlotField::fraction:
      fill_fraction(graph, moments, parts_in(at, static_cast<int>(box)), cells);
      break;
    case PlotField::distance:
      fill_distance(level_set, graph.cells, scale, cell_width, cells);
      break;
    case PlotField::wall_area:
      fill_wall_area(graph, moments, scale * cell_width, cells);
      break;
    case PlotField::mineral:
      fill_mineral(at, graph, at.moments_begin[box], cells);
      break;
    case PlotField::wall_normal:
      fill_wall_normal(graph, moments, component.direction, cells);
      break;
    case PlotField::velocity:
    case PlotField::speed:
    case PlotField::pressure:
    case PlotField::concentration:
    case PlotField::chemistry:
      assert(false && "a field of a job");
  }
}

void fill_hidden(const Geometry& geometry, int level, std::int64_t box, std::span<std::uint8_t> cells) {
  const LevelGeometry& at = geometry.levels[level];
  const BoxGraph graph = at.graph.box(static_cast<int>(box));
  std::ranges::fill(cells, cell_is_solid);
  const auto closed_on_all_sides = [&](const std::array<std::uint16_t, 6>& slots) {
    return std::ranges::all_of(slots, [&](int slot) { return slot == graph.closed(); });
  };
  const auto pieces = at.box(static_cast<int>(box));
  const auto irregular = graph.row_vof.first(graph.n_irregular);
  for_each_vof(graph, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
    if (closed_on_all_sides(slots)) {  // nothing comes there, and what it holds is of the beginning
      const auto row = std::ranges::lower_bound(irregular, static_cast<std::uint16_t>(vof));
      if (row != irregular.end() && *row == vof && !pieces.centers.empty() &&
          !pieces.centers[row - irregular.begin()].inside)
        return;
    }
    cells[cell] = 0;
  });
  for (const JoinedPart& part : parts_in(at, static_cast<int>(box)))
    if (part.home != no_face) cells[part.cell] = 0;
  if (level + 1 == geometry.grid.n_levels()) return;
  const Layout& layout = at.graph.layout();
  const Index finer = 2 * layout.lattice_position(graph.box);
  std::array<bool, 8> covered{};
  for_each_cell(Box{Index{}, Index::all(2)}, [&](const Index& octant) {
    covered[octant[0] + 2 * octant[1] + 4 * octant[2]] = geometry.grid.is_refined(level, finer + octant);
  });
  const int width = layout.box_size() / 2;
  std::size_t i = 0;
  for_each_cell(graph.cells, [&](const Index& cell) {
    std::size_t octant = 0;
    for (int d = 0; d < 3; ++d) octant |= (cell[d] - graph.cells.lo[d] >= width ? std::size_t{1} : 0U) << d;
    if (covered[octant]) cells[i] |= cell_is_covered;
    ++i;
  });
}

FieldView view_of(const JobContext& run, std::vector<JobComponent> of_jobs) {
  require_ground(run, of_jobs);
  FieldView view;
  view.cells = run.grid.cells;
  view.cell_width = run.grid.cell_width();
  for (const LevelGeometry& level : run.geometry().levels) {
    view.boxes.emplace_back();
    for (int b = 0; b < level.graph.n_local(); ++b) view.boxes.back().push_back(level.graph.box(b).cells);
  }
  for (const JobComponent& c : of_jobs) view.components.push_back(c.name);
  // As a plotfile would have it, so that pictures made of either are the same.
  const auto& plotted = run.config.output.plot;
  if (std::ranges::find(plotted, PlotField::fraction) != plotted.end()) view.components.emplace_back("fraction");
  view.fill = [components = std::move(of_jobs), ground = run.ground](int level, std::size_t box, std::size_t component,
                                                                     std::span<float> cells) {
    const LevelGeometry& at = ground->geometry().levels[level];
    const int b = static_cast<int>(box);
    if (component < components.size())
      components[component].fill(level, b, cells);
    else
      fill_fraction(at.graph.box(b), at.box(b), parts_in(at, b), cells);
    std::vector<std::uint8_t> hidden(cells.size());
    fill_hidden(ground->geometry(), level, b, hidden);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if ((hidden[i] & cell_is_solid) != 0) cells[i] = std::numeric_limits<float>::quiet_NaN();
  };
  view.threads_may_fill = true;
  return view;
}

}  // namespace karst
