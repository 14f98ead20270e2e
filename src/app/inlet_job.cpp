// SPDX-License-Identifier: BSD-3-Clause
#include "app/inlet_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/flow_handover.hpp"
#include "app/kept_flow.hpp"
#include "app/plot_file.hpp"
#include "app/solve_progress.hpp"
#include "base/format.hpp"
#include "ins/upscale/inlet_flow.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

using Json = nlohmann::ordered_json;

constexpr double largest_creeping_reynolds = 1.0;  ///< as for permeabilities (flow_job.cpp)
constexpr double largest_divergence = 1e-4;
constexpr std::array<const char*, 6> side_names{"-x", "+x", "-y", "+y", "-z", "+z"};

FlowSample sample_of(const JobContext& run) {
  const double h = run.grid.cell_width();
  return {h, run.geometry.report.connected_porosity, run.geometry.report.specific_surface / h};
}

std::string json_of(const FlowInlet& inlet, const InletFlow& flow) {
  Json json, one;
  json["reynolds"] = flow.reynolds;
  one["side"] = side_names[static_cast<std::size_t>(inlet.side)];
  one["axis"] = std::string(1, "xyz"[inlet.side / 2]);
  one["inlet_velocity_m_s"] = inlet.velocity;
  one["flow_rate_m3_s"] = flow.flow_rate;
  one["outflow_over_inflow_less_1"] = flow.imbalance;
  one["pressure_drop_Pa"] = flow.pressure_drop;
  one["darcy_velocity_m_s"] = {flow.darcy_velocity[0], flow.darcy_velocity[1], flow.darcy_velocity[2]};
  one["largest_speed_m_s"] = flow.largest_speed;
  one["tortuosity"] = flow.tortuosity;
  one["mass_relative"] = flow.divergence;
  one["repairs"] = {{"cells_without_flow", flow.counts.orphans},
                    {"closed_area_share", flow.counts.closed_area / (flow.counts.open_area + flow.counts.extra_area)},
                    {"walls_half_way", flow.counts.walls_half_way}};
  json["inlet_flow"] = one;
  return json.dump();
}

std::vector<JobComponent> components_of(const JobContext& run, int axis, const InletFlow& flow) {
  const auto joined = std::make_shared<const JoinedCells>(
      run.comm, run.geometry, std::make_shared<const CompositeNumbering>(run.comm, run.geometry));
  auto kept = std::make_shared<KeptFlow>();
  kept->axis = axis;
  for (const Quad& q : flow.solution) {
    std::array<float, 4>& value = kept->values.emplace_back();
    for (std::size_t c = 0; c < 4; ++c) value[c] = static_cast<float>(q.v[c]);
  }
  append_homes(*joined, *kept);
  return flow_components(run.geometry, joined, {kept}, false);
}

std::vector<std::string> warnings_of(const InletFlow& flow) {
  std::vector<std::string> all;
  if (flow.reynolds > largest_creeping_reynolds)
    all.push_back(
        fmt::format("flow: Reynolds number {:.3g}: with this velocity inertia matters, which Stokes flow leaves "
                    "out; the pressure drop is too small",
                    flow.reynolds));
  if (flow.divergence > largest_divergence)
    all.push_back(
        fmt::format("flow: cells keep their volume only to {:.1e}; a smaller flow.tolerance helps", flow.divergence));
  return all;
}

SolveReport solve_report(const InletFlow& flow) {
  SolveReport solve;
  solve.name = "stokes from the inlet";
  solve.method = "gmres";
  solve.preconditioner = "graph multigrid, local permeability";
  solve.iterations = flow.iterations;
  solve.true_residual = flow.relative_residual;
  solve.seconds = flow.seconds;
  solve.setup_seconds = flow.setup_seconds;
  return solve;
}

}  // namespace

JobResult run_inlet_flow(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  const FlowInlet& inlet = options.inlets.at(0);
  const int axis = inlet.side / 2;
  SolveProgress progress(context, "flow", options.tolerance);
  FlowHandover* handover = context.handover;
  InletFlow flow = solve_inlet_flow(
      context.comm, context.geometry, options, context.config.fluid, sample_of(context),
      [&](int n, double residual) { progress.iteration("stokes from the inlet", n, residual); }, handover != nullptr);
  progress.solved(solve_report(flow));
  if (handover != nullptr) handover->inlet = InletFluxes{axis, flow.darcy_velocity[axis], std::move(*flow.fluxes)};
  JobResult result;
  result.text = fmt::format(
      "Stokes flow from the inlet on {} to the opposite end\n"
      "  flow rate                         {:.6g} m3/s (outflow off by {:.1e})\n"
      "  Darcy velocity                    {:.6g} m/s, per cross-section of the whole sample\n"
      "  pressure drop, inlet to outlet    {:.5g} Pa\n"
      "  largest speed                     {:.5g} m/s\n"
      "  tortuosity of the flow            {:.4g}\n"
      "  Reynolds number                   {:.3g}\n"
      "  (no permeability: next to the inlet fluid goes as it is told, not as the pores let it)\n",
      side_names[static_cast<std::size_t>(inlet.side)], flow.flow_rate, flow.imbalance, flow.darcy_velocity[axis],
      flow.pressure_drop, flow.largest_speed, flow.tortuosity, flow.reynolds);
  result.headline = fmt::format("Flow rate along {}: {:.4g} m3/s, pressure drop {}\n", "xyz"[axis], flow.flow_rate,
                                format_si(flow.pressure_drop, "Pa"));
  result.json = json_of(inlet, flow);
  result.solves = progress.rows();
  result.balances.push_back({"mass_relative", std::max(flow.divergence, flow.imbalance)});
  result.warnings = warnings_of(flow);
  result.components = components_of(context, axis, flow);
  draw_inlet_flow(context.comm, Json::parse(result.json), view_of(context, result.components), result.figures);
  std::erase_if(result.components,
                [&](const JobComponent& c) { return std::ranges::count(context.config.output.plot, c.field) == 0; });
  return result;
}

std::vector<std::string> inlet_flow_mistakes(const JobContext& context) {
  return inlet_mistakes(context.config.flow, context.geometry, context.grid.cell_width());
}

PagePart inlet_flow_page(const Json& summary, const Figures& figures) {
  PagePart page;
  const Json& flow = summary.at("inlet_flow");
  const auto axis = flow.at("axis").get<std::string>();
  const auto number = [&](const char* key) { return flow.at(key).get<double>(); };
  page.tiles = {{"Flow rate", fmt::format("{:.4g}<span class=\"unit\">m³/s</span>", number("flow_rate_m3_s")),
                 fmt::format("from the inlet on {}", flow.at("side").get<std::string>())},
                {"Pressure drop", format_si(number("pressure_drop_Pa"), "Pa"),
                 "mean over the open area of the inlet less that of the outlet"},
                {"Largest speed", format_si(number("largest_speed_m_s"), "m/s"),
                 fmt::format("inlet {}", format_si(number("inlet_velocity_m_s"), "m/s"))}};
  if (summary.contains("porosity")) page.tiles.push_back(porosity_tile(summary));
  std::string pictures;
  for (const char* kind : {"view", "slice"})
    if (const auto figure = figures.find(fmt::format("flow {} {}", axis, kind)); figure != figures.end())
      pictures += figure->second;
  if (!pictures.empty())
    page.cards.push_back(card("Flow field", fmt::format("<div class=\"slices\" style=\"--n:2\">{}</div>\n", pictures),
                              "In the slice gray is solid, or a pore that was removed."));
  return page;
}

void draw_inlet_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures) {
  if (!summary.contains("inlet_flow")) return;
  const auto axis = std::string("xyz").find(summary.at("inlet_flow").at("axis").get<std::string>());
  add_flow_figures(comm, view, {static_cast<int>(axis), "", 0}, figures);
}

}  // namespace karst
