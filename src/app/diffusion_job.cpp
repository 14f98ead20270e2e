// SPDX-License-Identifier: BSD-3-Clause
// Job `diffusion`: effective diffusivity, formation factor and tortuosity of the pore space.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/job.hpp"
#include "app/solve_progress.hpp"
#include "app/vof_values.hpp"
#include "geometry_import/report_text.hpp"
#include "transport/effective_diffusivity.hpp"

namespace karst {

namespace {

using Json = nlohmann::ordered_json;
using Columns = std::vector<DiffusionColumn>;

constexpr std::array<const char*, 3> axes{"x", "y", "z"};
const char* name_of(const DiffusionColumn& c) { return axes[static_cast<std::size_t>(c.axis)]; }

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Entries that would need the solve of another axis are not known.
std::string known(double value, const char* form, const char* otherwise) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : otherwise;
}

/// Rows e, columns d; null in the columns of axes that were not asked for.
Json tensor_json(const Columns& columns, double factor) {
  Json rows = Json::array();
  for (int e = 0; e < 3; ++e) {
    Json row = Json::array({nullptr, nullptr, nullptr});
    for (const DiffusionColumn& c : columns) row[static_cast<std::size_t>(c.axis)] = finite(factor * c.tensor[e]);
    rows.push_back(row);
  }
  return rows;
}

template <class F>
Json per_axis_json(const Columns& columns, F&& value) {
  Json all = Json::array({nullptr, nullptr, nullptr});
  for (const DiffusionColumn& c : columns) all[static_cast<std::size_t>(c.axis)] = value(c);
  return all;
}

std::string json_of(const Columns& columns, double diffusivity) {
  Json json;
  json["diffusivity_m2_s"] = diffusivity;
  json["effective_diffusivity_m2_s"] = tensor_json(columns, diffusivity);
  json["relative_diffusivity"] = tensor_json(columns, 1.0);
  json["formation_factor"] =
      per_axis_json(columns, [](const DiffusionColumn& c) { return finite(c.formation_factor); });
  json["tortuosity"] = per_axis_json(columns, [](const DiffusionColumn& c) { return finite(c.tortuosity); });
  return json.dump();
}

std::string text_of(const Columns& columns, double diffusivity) {
  std::string text = "Effective diffusivity, per cross-section of the whole sample\n";
  const auto row = [&](const std::string& name, auto&& value) {
    text += fmt::format("  {:<34}", name);
    for (const DiffusionColumn& c : columns) text += fmt::format("{:>14}", value(c));
    text += '\n';
  };
  using Column = const DiffusionColumn&;
  row("gradient along", [](Column c) { return std::string(name_of(c)); });
  row("effective diffusivity [m2/s]", [&](Column c) { return fmt::format("{:.5g}", diffusivity * c.tensor[c.axis]); });
  row("  over that of the fluid", [](Column c) { return fmt::format("{:.6g}", c.tensor[c.axis]); });
  for (int e = 0; e < 3; ++e)
    row(fmt::format("  mean flux along {}, likewise", axes[static_cast<std::size_t>(e)]),
        [e](Column c) { return e == c.axis ? std::string("") : known(c.tensor[e], "{:.3g}", "-"); });
  row("formation factor", [](Column c) { return c.connected ? fmt::format("{:.6g}", c.formation_factor) : "no path"; });
  row("tortuosity", [](Column c) { return c.connected ? fmt::format("{:.5g}", c.tortuosity) : "no path"; });
  row("inflow - outflow, relative", [](Column c) { return fmt::format("{:.1e}", c.imbalance()); });
  return text;
}

/// Of the two planes through the axis, across the narrower direction.
int across(const Index& cells, int axis) {
  const int a = (axis + 2) % 3, b = (axis + 1) % 3;
  return cells[b] < cells[a] ? b : a;
}

std::string pictures(const JobContext& run, const CompositeNumbering& numbering, const Columns& columns) {
  std::string figures;
  for (const DiffusionColumn& c : columns) {
    if (!c.connected) continue;
    const int direction = across(run.grid.cells, c.axis);
    const PlaneValues plane = middle_plane(run.comm, run.geometry, numbering, c.concentration.span(), direction);
    if (run.comm.rank() == 0)
      figures += plane_figure(plane, 0.0, 1.0,
                              fmt::format("gradient along {}; {} to the right, {} upwards", name_of(c),
                                          axes[direction == 0 ? 1 : 0], axes[direction == 2 ? 1 : 2]));
  }
  return fmt::format("<div class=\"slices\" style=\"grid-template-columns:repeat({},minmax(0,1fr))\">{}</div>\n",
                     columns.size(), figures);
}

/// "x 23.4 · y 25.1": one number per axis.
template <class F>
std::string listed(const Columns& columns, F&& value) {
  std::string text;
  for (const DiffusionColumn& c : columns)
    text += fmt::format("{}{}\u00a0{}", text.empty() ? "" : " · ", name_of(c), c.connected ? value(c) : "–");
  return text;
}

PagePart page_of(const JobContext& run, const CompositeNumbering& numbering, const Columns& columns) {
  const double diffusivity = run.config.diffusion.diffusivity;
  using Column = const DiffusionColumn&;
  PagePart page;
  page.tiles = {{"Formation factor", listed(columns, [](Column c) { return number_text(c.formation_factor, 4); }),
                 "D₀ / D<sub>eff</sub>; the same for the conductivity of a brine in an insulating rock"},
                {"D<sub>eff</sub> / D₀", listed(columns, [](Column c) { return number_text(c.tensor[c.axis], 4); }),
                 fmt::format("D₀ = {:.3g} m²/s; per cross-section of the whole sample", diffusivity)},
                {"Tortuosity", listed(columns, [](Column c) { return number_text(c.tortuosity, 3); }),
                 "porosity of the connected pores × formation factor"},
                {"Porosity", percent_text(run.geometry.report.porosity),
                 fmt::format("in connected pores: {}", percent_text(run.geometry.report.connected_porosity))}};
  std::vector<std::vector<std::string>> tensor{{"mean flux along"}}, solves{{""}};
  for (const DiffusionColumn& c : columns) tensor[0].push_back(fmt::format("gradient along {}", name_of(c)));
  solves[0].insert(solves[0].end(), tensor[0].begin() + 1, tensor[0].end());
  for (int e = 0; e < 3; ++e) {
    tensor.push_back({axes[static_cast<std::size_t>(e)]});
    for (const DiffusionColumn& c : columns) tensor.back().push_back(known(diffusivity * c.tensor[e], "{:.4g}", "–"));
  }
  const auto row = [&](const char* name, auto&& value) {
    solves.push_back({name});
    for (const DiffusionColumn& c : columns) solves.back().push_back(c.connected ? value(c) : "–");
  };
  row("boundaries", [](Column c) { return std::string(c.periodic ? "periodic" : "c = 1 and 0, sides sealed"); });
  row("iterations", [](Column c) { return fmt::format("{}", c.solve.iterations); });
  row("relative residual", [](Column c) { return fmt::format("{:.1e}", c.solve.true_residual); });
  row("inflow - outflow, relative", [](Column c) { return fmt::format("{:.1e}", c.imbalance()); });
  page.cards = {
      card("Effective diffusivity [m²/s]", html_table(tensor),
           "Mean flux over the whole sample, solid included, per mean gradient. Entries off the diagonal: the sample "
           "leads part of the flux sideways."),
      card("Concentration", pictures(run, numbering, columns),
           "Planes through the middle; gray is solid, or a pore that was removed. The concentration falls by 1 along "
           "the axis."),
      card("Solves", html_table(solves))};
  return page;
}

std::vector<std::string> warnings_of(const Columns& columns) {
  std::vector<std::string> all;
  constexpr double large = 1e-3;
  for (const DiffusionColumn& c : columns) {
    if (!c.connected)
      all.push_back(
          fmt::format("diffusion: no pore leads along {}: the effective diffusivity is 0 there, and there is "
                      "no formation factor",
                      name_of(c)));
    else if (c.imbalance() > large)
      all.push_back(
          fmt::format("diffusion {}: inflow and outflow differ by {:.1e}; a smaller diffusion.tolerance brings "
                      "them together",
                      name_of(c), c.imbalance()));
  }
  return all;
}

std::vector<JobComponent> components_of(const JobContext& run, std::shared_ptr<const CompositeNumbering> numbering,
                                        const std::shared_ptr<const Columns>& columns) {
  std::vector<JobComponent> components;
  if (std::ranges::count(run.config.output.plot, PlotField::concentration) == 0) return components;
  for (std::size_t i = 0; i < columns->size(); ++i) {
    if (!(*columns)[i].connected) continue;
    components.push_back(
        {PlotField::concentration, fmt::format("concentration_{}", name_of((*columns)[i])),
         [&geometry = run.geometry, numbering, columns, i](int level, std::int64_t box, std::span<float> cells) {
           fill_cells(geometry, *numbering, level, box, cells,
                      [&](std::size_t v) { return (*columns)[i].concentration[v]; });
         }});
  }
  return components;
}

JobResult run(const JobContext& context) {
  const DiffusionOptions& options = context.config.diffusion;
  SolveProgress progress(context.comm, options.tolerance);
  DiffusionWatch watch;
  watch.iteration = [&](const std::string& solve, int n, double residual) { progress.iteration(solve, n, residual); };
  watch.solved = [&](const SolveReport& solve) { progress.solved(solve); };
  const auto columns =
      std::make_shared<const Columns>(effective_diffusivity(context.comm, context.geometry, options, watch));
  const auto numbering = std::make_shared<const CompositeNumbering>(context.comm, context.geometry);
  JobResult result;
  result.text = text_of(*columns, options.diffusivity);
  result.json = json_of(*columns, options.diffusivity);
  result.solves = progress.rows();
  for (const DiffusionColumn& c : *columns)
    if (c.connected) result.balances.push_back({fmt::format("diffusion_{}_relative", name_of(c)), c.imbalance()});
  result.warnings = warnings_of(*columns);
  result.components = components_of(context, numbering, columns);
  result.page = page_of(context, *numbering, *columns);
  return result;
}

}  // namespace

Job diffusion_job() {
  return {"diffusion",
          "[diffusion] with axes = [\"x\", \"y\", \"z\"]: effective diffusivity and formation factor",
          [](const Config& config) { return !config.diffusion.axes.empty(); },
          [](const JobContext& context) { return mistakes(context.config.diffusion, context.geometry); },
          run,
          [](const JobContext&) { return std::int64_t{0}; },
          [](const Config&) { return 350.0; }};
}

}  // namespace karst
