// SPDX-License-Identifier: BSD-3-Clause
#include "app/plot_file.hpp"

#include "base/timer.hpp"
#include "base/version.hpp"

namespace karst {

PlotSize write_plot(const JobContext& run, const Source& source, const std::string& path,
                    const std::vector<JobComponent>& of_jobs) {
  Timer timer("plotfile");
  const std::vector<PlotComponent> of_geometry = plot_components(run.config.output.plot);
  if (of_geometry.empty() && of_jobs.empty()) return {};
  PlotDescription plot;
  plot.title = run.config.title;
  plot.version = version_and_git_id();
  plot.cell_width = run.grid.cell_width();
  for (const LevelGeometry& level : run.geometry.levels) plot.levels.push_back(&level.graph.layout());
  for (const PlotComponent& c : of_geometry) plot.components.push_back(c.name);
  for (const JobComponent& c : of_jobs) plot.components.push_back(c.name);
  plot.fill = [&](int level, std::int64_t box, int component, std::span<float> cells) {
    const auto c = static_cast<std::size_t>(component);
    if (c < of_geometry.size())
      fill_plot_component(run.geometry, *source.level_set, plot.cell_width, of_geometry[c], level, box, cells);
    else
      of_jobs[c - of_geometry.size()].fill(level, box, cells);
  };
  return write_plotfile(run.comm, path, plot);
}

FieldView view_of(const JobContext& run, std::vector<JobComponent> of_jobs) {
  FieldView view;
  view.cells = run.grid.cells;
  view.cell_width = run.grid.cell_width();
  for (const LevelGeometry& level : run.geometry.levels) {
    view.boxes.emplace_back();
    for (int b = 0; b < level.graph.n_local(); ++b) view.boxes.back().push_back(level.graph.box(b).cells);
  }
  for (const JobComponent& c : of_jobs) view.components.push_back(c.name);
  view.fill = [components = std::move(of_jobs)](int level, std::size_t box, std::size_t component,
                                                std::span<float> cells) {
    components[component].fill(level, static_cast<std::int64_t>(box), cells);
  };
  view.threads_may_fill = true;
  return view;
}

}  // namespace karst
