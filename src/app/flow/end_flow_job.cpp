// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>

#include <algorithm>

#include "app/flow/flow_job.hpp"
#include "app/job/run_services.hpp"
#include "app/job/solve_progress.hpp"
#include "app/output/field_view.hpp"
#include "app/output/page_values.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/vof_values.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "ins/upscale/end_flow.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

/// Of the two ways an end moves the fluid, what results call it.
bool by_lids(const FlowOptions& options) { return !options.lids.empty(); }

/// Mean over the lid [Pa].
double shear_stress(const EndFriction& drag) { return drag.area > 0.0 ? norm(drag.force) / drag.area : 0.0; }

Json of_inlet(const FlowInlet& inlet, const EndFlow& flow) {
  return {{"side", side_name(inlet.side)},         {"axis", axis_names[inlet.side / 2]},
          {"inlet_velocity_m_s", inlet.velocity},  {"flow_rate_m3_s", flow.flow_rate},
          {"inlet_open_area_m2", flow.open_area},  {"outflow_over_inflow_less_1", flow.imbalance},
          {"pressure_drop_Pa", flow.pressure_drop}};
}

Json of_lids(const FlowOptions& options, const EndFlow& flow) {
  Json one{{"axis", axis_names[options.axes.at(0)]}, {"lids", Json::array()}};
  for (std::size_t i = 0; i < options.lids.size(); ++i) {
    const EndFriction& drag = flow.drags[i];
    one["lids"].push_back({{"side", side_name(options.lids[i].side)},
                           {"velocity_m_s", options.lids[i].velocity},
                           {"area_m2", drag.area},
                           {"friction_force_N", drag.force},
                           {"shear_stress_Pa", shear_stress(drag)}});
  }
  return one;
}

Json json_of(const FlowOptions& options, const FluidOptions& fluid, const EndFlow& flow) {
  Json json, one = by_lids(options) ? of_lids(options, flow) : of_inlet(options.inlets.at(0), flow);
  json["reynolds"] = flow.reynolds;
  one["darcy_velocity_m_s"] = flow.darcy_velocity;
  one["largest_speed_m_s"] = flow.largest_speed;
  if (!by_lids(options)) one["tortuosity"] = flow.tortuosity;
  one["mass_relative"] = flow.divergence;
  one["repairs"] = repairs_json(flow.counts);
  if (options.model == FlowModel::steady)
    one["inertia"] = {{"newton_steps", flow.newton_steps},
                      {"drives_between", flow.drives_between},
                      {"cell_reynolds", flow.cell_reynolds}};
  if (!flow.forces.empty()) one["bodies"] = forces_json(flow.forces, options, fluid);
  json[by_lids(options) ? "lid_flow" : "inlet_flow"] = one;
  return json;
}

std::vector<JobComponent> components_of(const JobContext& run, int axis, const EndFlow& flow) {
  auto kept = std::make_shared<KeptFlow>(kept_flow(axis, flow.solution));
  append_homes(*run.ground->joined(), *kept);
  return flow_components(run.ground, {kept}, Drives::one);
}

std::vector<std::string> warnings_of(const EndFlow& flow, const FlowOptions& options) {
  Messages all;
  if (flow.cell_reynolds > largest_cell_reynolds)
    all.add(
        "flow: cell Reynolds number {:.3g}: above {:.0f} the cells do not resolve the inertial effects; use finer "
        "cells",
        flow.cell_reynolds, largest_cell_reynolds);
  if (options.model == FlowModel::stokes && flow.reynolds > largest_creeping_reynolds)
    all.add(
        "flow: Reynolds number {:.3g}: at this velocity inertia matters, which Stokes flow neglects; {} (use "
        "flow.model = \"steady\")",
        flow.reynolds, by_lids(options) ? "the flow field is different" : "the pressure drop is too small");
  if (flow.divergence > largest_divergence)
    all.add("flow: mass is conserved only to {:.1e}; a smaller flow.tolerance helps", flow.divergence);
  return all;
}

SolveReport report_of(const EndFlow& flow, const FlowOptions& options) {
  const bool steady = options.model == FlowModel::steady;
  SolveReport solve = solve_report(end_solve_name(options, options.model), steady ? "newton, gmres" : "gmres",
                                   flow_preconditioner, flow);
  if (steady) solve.iterations += flow.slow_iterations;
  return solve;
}

std::string text_of_inlet(const FlowOptions& options, const EndFlow& flow) {
  const FlowInlet& inlet = options.inlets.at(0);
  return fmt::format(
      "{} flow from the inlet on {} to the opposite face\n"
      "  flow rate                         {:.6g} m3/s (outflow differs by {:.1e})\n"
      "  mean velocity at the inlet        {:.6g} m/s, over its open area of {:.6g} m2\n"
      "  Darcy velocity                    {:.6g} m/s, per cross-section of the whole sample\n"
      "  pressure drop, inlet to outlet    {:.5g} Pa\n"
      "  largest speed                     {:.5g} m/s\n"
      "  tortuosity of the flow            {:.4g}\n"
      "  Reynolds number                   {:.3g}\n",
      options.model == FlowModel::steady ? "Steady" : "Stokes", side_name(inlet.side), flow.flow_rate, flow.imbalance,
      flow.flow_rate / flow.open_area, flow.open_area, flow.darcy_velocity[inlet.side / 2], flow.pressure_drop,
      flow.largest_speed, flow.tortuosity, flow.reynolds);
}

std::string text_of_lids(const FlowOptions& options, const EndFlow& flow) {
  std::string text = fmt::format("{} lid-driven flow\n", options.model == FlowModel::steady ? "Steady" : "Stokes");
  const auto row = [&](const std::string& name, const Vec3& v, const char* unit) {
    text += fmt::format("  {:<33} {} {}\n", name, triple_text(v), unit);
  };
  for (std::size_t i = 0; i < options.lids.size(); ++i) {
    const std::string side = side_name(options.lids[i].side);
    row("velocity of the lid on " + side, options.lids[i].velocity, "m/s");
    row("friction on it", flow.drags[i].force, "N");
    text += fmt::format("    per area                        {:.5g} Pa\n", shear_stress(flow.drags[i]));
  }
  row("Darcy velocity", flow.darcy_velocity, "m/s");
  return text + fmt::format(
                    "  largest speed                     {:.5g} m/s\n"
                    "  Reynolds number                   {:.3g}, of the fastest lid and the size along its "
                    "normal\n",
                    flow.largest_speed, flow.reynolds);
}

std::string text_of(const FlowOptions& options, const FluidOptions& fluid, const EndFlow& flow) {
  std::string text = by_lids(options) ? text_of_lids(options, flow) : text_of_inlet(options, flow);
  if (options.model == FlowModel::steady)
    text += fmt::format("  steps of Newton's method          {}, with {} slower flows in between\n", flow.newton_steps,
                        flow.drives_between);
  for (std::size_t i = 0; i < flow.forces.size(); ++i) {
    const Vec3 force = flow.forces[i].total(), pressure = flow.forces[i].pressure;
    text += fmt::format("  force on {:<24} {} N, of which pressure {}\n", options.bodies[i].name, triple_text(force),
                        triple_text(pressure));
    if (const auto c = force_coefficients(force, options.bodies[i], options, fluid))
      text += fmt::format("    coefficients                    {}, of which pressure {}\n", triple_text(*c, 6),
                          triple_text(*force_coefficients(pressure, options.bodies[i], options, fluid)));
  }
  if (by_lids(options)) return text;
  if (options.reservoir > 0)
    text += fmt::format(
        "  (reservoirs of {} cells before and behind the sample are part of the pressure drop, the largest "
        "speed and the tortuosity)\n",
        options.reservoir);
  return text + "  (no permeability: next to the inlet the given velocity determines the flow, not the pores)\n";
}

}  // namespace

std::array<std::pair<const char*, Vec3>, 3> parts_of(const BodyForce& force) {
  return {{{"force", force.total()}, {"pressure_force", force.pressure}, {"friction_force", force.friction}}};
}

Json forces_json(std::span<const BodyForce> forces, const FlowOptions& options, const FluidOptions& fluid) {
  Json all = Json::array();
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const BodyForce& f = forces[i];
    Json one;
    one["name"] = options.bodies[i].name;
    one["wall_area_m2"] = f.wall_area;
    for (const auto& [part, force] : parts_of(f)) {
      one[fmt::format("{}_N", part)] = force;
      if (const auto c = force_coefficients(force, options.bodies[i], options, fluid))
        one[fmt::format("{}_coefficient", part)] = *c;
    }
    all.push_back(one);
  }
  return all;
}

std::string forces_card(const Json& bodies) {
  std::vector<std::vector<std::string>> rows{{"", "force x, y, z [N]", "coefficients"}};
  const auto vector = [](const Json& v) {
    return fmt::format("{:.4g}, {:.4g}, {:.4g}", v[0].get<double>(), v[1].get<double>(), v[2].get<double>());
  };
  const std::array<std::pair<const char*, const char*>, 3> parts{
      {{"force", ""}, {"pressure_force", ", pressure"}, {"friction_force", ", friction"}}};
  for (const Json& body : bodies)
    for (const auto& [key, words] : parts) {
      const std::string coefficient = fmt::format("{}_coefficient", key);
      rows.push_back({escape_html(name_of(body)) + words, vector(body.at(fmt::format("{}_N", key))),
                      body.contains(coefficient) ? vector(body.at(coefficient)) : "–"});
    }
  return card("Forces on bodies", table_box(html_table(rows)),
              "Momentum balance of the fluid around each body; pressure is that on its wall, friction the rest.");
}

JobResult run_end_flow(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  const int axis = options.axes.at(0);
  SolveProgress progress(context, "flow", options.tolerance);
  Exchanges& exchanges = context.services.exchanges;
  const bool taken = exchanges.is_taken(ExchangeName::flow);
  EndFlow flow = solve_end_flow(
      context.ground->composite(), options, context.config.fluid, sample_of(context, context.grid.cell_width()),
      [&](const std::string& name, int n, double residual) { progress.iteration(name, n, residual); }, taken);
  progress.solved(report_of(flow, options));
  if (taken) exchanges.flow.fluxes = SteadyFluxes{axis, flow.darcy_velocity[axis], std::move(*flow.fluxes)};
  JobResult result;
  result.text = text_of(options, context.config.fluid, flow);
  result.headline = by_lids(options)
                        ? fmt::format("Friction on the lid on {}: {} per area\n", side_name(options.lids[0].side),
                                      format_si(shear_stress(flow.drags[0]), "Pa"))
                        : fmt::format("Flow rate along {}: {:.4g} m3/s, pressure drop {}\n", axis_names[axis],
                                      flow.flow_rate, format_si(flow.pressure_drop, "Pa"));
  result.json = json_of(options, context.config.fluid, flow);
  if (context.sample) result.json["inlet_flow"]["reservoir_cells"] = options.reservoir;
  result.solves = progress.rows();
  result.balances.push_back({"mass_relative", std::max(flow.divergence, flow.imbalance)});
  result.warnings = warnings_of(flow, options);
  result.components = components_of(context, axis, flow);
  draw_flow(context.comm, result.json, view_of(context, result.components), result.figures);
  result.components = asked_of(context.config, std::move(result.components));
  return result;
}

std::vector<std::string> end_flow_mistakes(const JobContext& context) {
  return end_mistakes(context.config.flow, context.geometry(), context.grid.cell_width());
}

namespace {

std::vector<PageTile> inlet_tiles(const Json& flow) {
  return {
      {"Flow rate", with_unit(number(flow, "flow_rate_m3_s"), "m³/s"), "from the inlet on " + html_of(flow.at("side"))},
      {"Pressure drop", format_si(number(flow, "pressure_drop_Pa"), "Pa"),
       std::string("difference of the means over the open areas of inlet and outlet") +
           (flow.contains("reservoir_cells") ? ", with the reservoirs" : "")},
      {"Largest speed", format_si(number(flow, "largest_speed_m_s"), "m/s"),
       "inlet " + format_si(number(flow, "inlet_velocity_m_s"), "m/s")}};
}

std::vector<PageTile> lid_tiles(const Json& flow, double reynolds) {
  std::vector<PageTile> tiles;
  for (const Json& lid : flow.at("lids")) {
    const Json& v = lid.at("velocity_m_s");
    const double speed = std::hypot(v[0].get<double>(), v[1].get<double>(), v[2].get<double>());
    tiles.push_back({"Friction on " + html_of(lid.at("side")), format_si(number(lid, "shear_stress_Pa"), "Pa"),
                     "per area of the lid, which moves at " + format_si(speed, "m/s")});
  }
  tiles.push_back(
      {"Reynolds number", fmt::format("{:.4g}", reynolds), "of the fastest lid, over the size along its normal"});
  tiles.push_back({"Largest speed", format_si(number(flow, "largest_speed_m_s"), "m/s"), "of the fluid"});
  return tiles;
}

}  // namespace

PagePart end_flow_page(const Json& summary, const Figures& figures) {
  PagePart page;
  const bool lids = summary.contains("lid_flow");
  if (!lids && !summary.contains("inlet_flow")) return page;
  const Json& flow = summary.at(lids ? "lid_flow" : "inlet_flow");
  page.tiles = lids ? lid_tiles(flow, number(summary, "reynolds")) : inlet_tiles(flow);
  if (summary.contains("porosity")) page.tiles.push_back(porosity_tile(summary));
  if (flow.contains("bodies")) page.cards.push_back(forces_card(flow.at("bodies")));
  add_flow_card("Flow field", axis_name(flow), figures, page.cards);
  return page;
}

}  // namespace karst
