// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/plot_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/deck/reactive_plan.hpp"
#include "app/job/moving_walls.hpp"
#include "app/output/plot_fields.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/version.hpp"

namespace karst {

namespace {

/// Boxes of another ground have other numbers.
void require_ground(const JobContext& run, const std::vector<JobComponent>& components) {
  for (const JobComponent& c : components)
    require(c.ground != nullptr && c.ground->id() == run.ground->id(), "{} is on ground {}, not on ground {}", c.name,
            c.ground ? c.ground->id() : 0, run.ground->id());
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
  plot.fill = [&](int level, std::int64_t box, int component, std::span<float> cells) {
    if (component < std::ssize(of_geometry))
      fill_plot_component(run.geometry(), *walls, plot.cell_width, of_geometry[component], level, box, cells);
    else
      of_jobs[component - of_geometry.size()].fill(level, box, cells);
    std::ranges::replace_if(
        cells, [](float v) { return std::isnan(v); }, 0.0F);
  };
  plot.hide = [&](int level, std::int64_t box, std::span<std::uint8_t> cells) {
    fill_hidden(run.geometry(), level, box, cells);
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
  view.fill = [components = std::move(of_jobs), ground = run.ground](int level, std::size_t box, std::size_t component,
                                                                     std::span<float> cells) {
    components[component].fill(level, static_cast<std::int64_t>(box), cells);
    std::vector<std::uint8_t> hidden(cells.size());
    fill_hidden(ground->geometry(), level, static_cast<std::int64_t>(box), hidden);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if ((hidden[i] & cell_is_solid) != 0) cells[i] = std::numeric_limits<float>::quiet_NaN();
  };
  view.threads_may_fill = true;
  return view;
}

}  // namespace karst
