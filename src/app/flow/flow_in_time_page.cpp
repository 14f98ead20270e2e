// SPDX-License-Identifier: BSD-3-Clause
// The history of a flow: as lines of a file, as JSON and on the page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "app/flow/flow_job.hpp"
#include "app/flow/flow_quantities.hpp"
#include "app/flow/periodic_state.hpp"
#include "app/output/curve_chart.hpp"
#include "app/output/page_values.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "ins/upscale/end_flow.hpp"

namespace karst {

namespace {

/// A number of the states over the time, in both halves of a chart.
struct Line {
  std::string key, name, colour, dash;
};

/// Power of 1000 in whose multiples numbers up to this size are short.
int thousands(double largest) {
  return largest > 0.0 && std::isfinite(largest) ? static_cast<int>(std::floor(std::log10(largest) / 3.0 + 1e-9)) : 0;
}

/// "10⁻⁶ m/s"
std::string unit_of(int power, const std::string& unit) {
  if (power == 0) return unit;
  static constexpr std::array<const char*, 10> raised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string exponent = power < 0 ? "⁻" : "";
  for (const char digit : std::to_string(3 * std::abs(power))) exponent += raised[digit - '0'];
  return "10" + exponent + " " + unit;
}

struct ChartLabels {
  std::string title, label, unit;
};

/// A card with numbers of the states over the time.
std::string chart(const Json& history, const ChartLabels& quantity, const std::vector<Line>& lines,
                  const std::string& note) {
  const Curve time = curve_of(history.at("time_s"));
  double largest = 0.0;
  for (const Line& line : lines)
    for (const double v : curve_of(history.at(line.key))) largest = std::max(largest, std::abs(v));
  const int power = thousands(largest), power_of_time = thousands(time.empty() ? 0.0 : time.back());
  const auto scaled = [](Curve y, int by) {
    for (double& v : y) v *= std::pow(1000.0, -by);
    return y;
  };
  CurveChart chart(quantity.title, fmt::format("time [{}]", unit_of(power_of_time, "s")),
                   fmt::format("{} [{}]", quantity.label, unit_of(power, quantity.unit)), scaled(time, power_of_time));
  for (const Line& line : lines)
    chart.add(line.name, line.colour, scaled(curve_of(history.at(line.key)), power), line.dash);
  return chart.html_from_zero(note);
}

}  // namespace

std::string history_header(const FlowHistory& history) {
  const ForceHistory& forces = history.forces;
  FlowState any;  // with as many lids, bodies and probes
  any.drags.resize(forces.options.lids.size());
  any.forces.resize(forces.options.bodies.size());
  any.probes.resize(history.probes.size());
  return csv_head("", history, any);
}

std::string history_line(const FlowHistory& history, const FlowState& s) { return csv_line("", history, s); }

std::optional<Oscillation> oscillation_of(const FlowHistory& history) {
  constexpr double least_drive = 1e-3;  // of its largest value
  if (history.boundaries == "lids") return {};
  const auto state = periodic_state(history.time, history.velocity);
  if (!state) return {};
  Oscillation found{*state, 0.0};
  double largest = 0.0;
  for (const double g : history.gradient) largest = std::max(largest, std::abs(g));
  if (const std::complex<double> drive = fourier_amplitude(*state, history.time, history.gradient);
      history.reservoir == 0 && std::abs(drive) > least_drive * largest)
    found.permeability = history.viscosity * fourier_amplitude(*state, history.time, history.velocity) / drive;
  return found;
}

namespace {

/// Velocity and pressure per probe.
std::vector<std::string> probe_charts(const Json& flow) {
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < flow.at("probes").size(); ++i) {
    const auto name = name_of(flow.at("probes")[i]);
    const std::string key = fmt::format("probe_{}_", i);
    charts.push_back(chart(flow.at("history"), {"Velocity at " + name, "velocity", "m/s"},
                           {{key + "x", "along x", chart_orange, ""},
                            {key + "y", "along y", chart_blue, "7 3"},
                            {key + "z", "along z", chart_green, "7 3"}},
                           "Every step is in history.csv."));
    charts.push_back(
        chart(flow.at("history"), {"Pressure at " + name, "pressure", "Pa"}, {{key + "p", "", chart_orange, ""}}, ""));
  }
  return charts;
}

std::string force_key(std::size_t body, int axis) { return fmt::format("body_{}_{}", body, axis_names[axis]); }

/// The coefficient, or the force of a body without an area.
Vec3 charted(const ForceHistory& history, const BodyForce& force, std::size_t body) {
  const auto c = force_coefficients(force.total(), history.options.bodies[body], history.options, history.fluid);
  return c.value_or(force.total());
}

/// A chart per body.
std::vector<std::string> force_charts(const Json& flow) {
  static constexpr std::array<const char*, 3> drive_first{chart_orange, chart_blue, chart_green};
  constexpr double least = 1e-6;  ///< of the largest, to be drawn
  std::vector<std::string> charts;
  const Json& history = flow.at("history");
  for (std::size_t i = 0; i < flow.at("bodies").size(); ++i) {
    const Json& body = flow.at("bodies")[i];
    std::array<double, 3> size{};
    for (int d = 0; d < 3; ++d)
      for (const double v : history.at(force_key(i, d)).get<std::vector<double>>())
        size[d] = std::max(size[d], std::abs(v));
    std::vector<Line> lines;
    for (int d = 0; d < 3; ++d)
      if (size[d] > least * *std::ranges::max_element(size))
        lines.push_back({force_key(i, d), fmt::format("along {}", axis_names[d]), drive_first[d], d == 0 ? "" : "7 3"});
    const bool coefficients = body.contains("force_coefficient");
    charts.push_back(
        chart(history, {"Force on " + name_of(body), coefficients ? "coefficient" : "force", coefficients ? "-" : "N"},
              lines, "history.csv has pressure and friction separately, and every step."));
  }
  return charts;
}

}  // namespace

std::string history_text(const FlowHistory& history) {
  const FlowState& end = history.states.back();
  const bool lids = history.boundaries == "lids";
  std::string text =
      fmt::format("{} flow {}: {} steps to {}, {} iterations\n", history.inertia ? "Navier-Stokes" : "Unsteady Stokes",
                  lids ? std::string("between moving walls") : fmt::format("along {}", axis_names[history.axis]),
                  history.time.size(), format_si(end.time, "s"), history.iterations);
  if (lids)
    text += fmt::format("  at the end: largest speed {:.5g} m/s, Darcy velocity along {} {:.5g} m/s\n",
                        end.largest_speed, axis_names[history.axis], end.darcy_velocity[history.axis]);
  else
    text +=
        fmt::format("  at the end: pressure gradient {:.5g} Pa/m, Darcy velocity {:.5g} m/s, flow rate {:.5g} m³/s\n",
                    end.gradient, end.darcy_velocity[history.axis], end.flow_rate);
  if (history.reservoir > 0)
    text += fmt::format(
        "  with reservoirs of {} cells before and behind the sample: gradient and energies are those of "
        "the domain\n",
        history.reservoir);
  text += fmt::format("  kinetic energy {:.4g} J/m³, power of the {} {:.4g} W/m³ = dissipation {:.4g} + growth {:.4g}",
                      end.kinetic_energy, lids ? "lids" : "drive", end.power, end.dissipation, end.growth);
  if (history.inertia) text += fmt::format(" + advection {:.4g}", end.advection);
  text += fmt::format(" + pressure coupling {:.4g} + time scheme {:.4g}\n", end.pressure_coupling, end.time_scheme);
  if (const auto found = oscillation_of(history)) {
    text += fmt::format("  periodic with {:.4g} Hz: Darcy velocity {:.4g} m/s, amplitude {:.4g} m/s\n",
                        found->state.frequency(), found->state.mean, found->state.amplitude);
    if (std::abs(found->permeability) > 0.0)
      text += fmt::format("  dynamic permeability {:.4g} m², the flow {:.1f}° behind the driving force\n",
                          std::abs(found->permeability), degrees_behind(found->permeability));
  }
  return text + forces_in_time_text(forces_in_time_json(history.forces, history.time, end.forces));
}

Json history_json(const FlowHistory& history) {
  const FlowState& end = history.states.back();
  Json flow{{"axis", axis_names[history.axis]}, {"boundaries", history.boundaries}, {"inertia", history.inertia},
            {"steps", history.time.size()},     {"iterations", history.iterations}, {"end_s", end.time}};
  if (history.reservoir > 0) flow["reservoir_cells"] = history.reservoir;
  each_quantity(history, end, ToJson{flow, shown::json});
  for (const FlowState& s : history.states) each_quantity(history, s, OverTime{flow["history"]});
  if (const auto found = oscillation_of(history)) {
    Json& state = flow["periodic_state"];
    state = {{"frequency_Hz", found->state.frequency()},
             {"darcy_velocity_mean_m_s", found->state.mean},
             {"darcy_velocity_amplitude_m_s", found->state.amplitude}};
    if (const std::complex<double> k = found->permeability; std::abs(k) > 0.0) {
      state["dynamic_permeability_m2"] = {{"real", k.real()}, {"imaginary", k.imag()}, {"magnitude", std::abs(k)}};
      state["degrees_behind_the_drive"] = degrees_behind(k);
    }
  }
  history.probes.add_to(flow, history.states);
  if (!end.forces.empty()) flow["bodies"] = forces_in_time_json(history.forces, history.time, end.forces);
  for (std::size_t i = 0; i < end.forces.size(); ++i)
    for (const FlowState& s : history.states)
      for (int d = 0; d < 3; ++d)
        flow["history"][force_key(i, d)].push_back(charted(history.forces, s.forces[i], i)[d]);
  return {{"flow_in_time", flow}};
}

std::vector<std::string> history_warnings(const JobContext& run, const FlowHistory& history, int failures,
                                          double largest_velocity) {
  Messages found;
  const char* axis = axis_names[history.axis];
  if (failures > 0)
    found.add("flow {}: {} steps failed and were repeated with half the step length: see history.csv", axis, failures);
  if (history.inertia) return found;
  // 4 / surface: hydraulic diameter / porosity
  const double surface = run.sample_report().specific_surface / run.grid.cell_width();
  const FluidOptions& fluid = run.config.fluid;
  const double reynolds = surface > 0.0 ? fluid.density * largest_velocity * 4.0 / surface / fluid.viscosity : 0.0;
  if (reynolds > largest_creeping_reynolds)
    found.add(
        "flow {}: largest Reynolds number {:.3g}: inertia matters there, which creeping flow neglects, so the "
        "velocities are too large; use flow.model = \"navier-stokes\"",
        axis, reynolds);
  return found;
}

namespace {

void add_tiles(const Json& flow, PagePart& page) {
  const auto boundaries = flow.value("boundaries", "");
  const std::string end = format_si(number(flow, "end_s"), "s");
  if (boundaries == "lids") {
    page.tiles = {{"Largest speed at the end", format_si(number(flow, "largest_speed_m_s"), "m/s"), "at " + end},
                  {"Dissipation at the end", with_unit(number(flow, "dissipation_W_m3"), "W/m³"),
                   "by friction, per volume of the sample"}};
  } else {
    const auto velocity = flow.at("darcy_velocity_m_s")[axis_of(flow)].get<double>();
    page.tiles = {{"Darcy velocity at the end", format_si(velocity, "m/s"),
                   fmt::format("along {}, at {}; flow rate over the whole cross-section", axis_name(flow), end)},
                  {"Pressure gradient at the end", with_unit(number(flow, "pressure_gradient_Pa_m"), "Pa/m"),
                   std::string(boundaries == "inlet" ? "mean pressure on the inlet minus that on the outlet, per length"
                                                     : "pressure drop per length") +
                       (flow.contains("reservoir_cells") ? " of the domain, with its reservoirs" : "")}};
  }
  page.tiles.push_back(
      {"Steps", fmt::format("{}", flow.at("steps").get<int>()),
       fmt::format("{:.1f} iterations per step", number(flow, "iterations") / std::max(1.0, number(flow, "steps")))});
  if (!flow.contains("periodic_state")) return;
  const Json& state = flow.at("periodic_state");
  page.tiles.push_back(
      {"Frequency", with_unit(number(state, "frequency_Hz"), "Hz"),
       "of the Darcy velocity, amplitude " + format_si(number(state, "darcy_velocity_amplitude_m_s"), "m/s")});
  if (state.contains("dynamic_permeability_m2"))
    page.tiles.push_back({"Dynamic permeability",
                          with_unit(number(state.at("dynamic_permeability_m2"), "magnitude"), "m²"),
                          fmt::format("at this frequency; the flow is {:.1f}° behind the driving force",
                                      number(state, "degrees_behind_the_drive"))});
}

/// Where the power of what drives goes.
std::string power_chart(const Json& history, const std::string& boundaries, bool carries) {
  const bool inlet = boundaries == "inlet", lids = boundaries == "lids", ends = inlet || boundaries == "pressures";
  std::vector<Line> powers{{"power_W_m3",
                            inlet  ? "pressure drop times flow rate"
                            : lids ? "power of the lids"
                                   : "power of the driving force",
                            chart_orange, ""},
                           {"dissipation_W_m3", "dissipation", chart_blue, "7 3"},
                           {"kinetic_energy_growth_W_m3", "increase of the kinetic energy", chart_green, ""},
                           {"pressure_coupling_W_m3", "pressure coupling", "#7b5ea7", "2 3"}};
  if (carries) powers.push_back({"advection_W_m3", "advection", chart_brown, "2 3"});
  return chart(
      history, {"Power", "per volume of the sample", "W/m³"}, powers,
      std::string("The power is the sum of the others and of the dissipation of the time scheme. ") +
          (carries && ends
               ? "Pressure coupling is a discretisation error; advection is the net outflow through inlet and outlet."
           : carries ? "Pressure coupling and advection are discretisation errors."
                     : "Pressure coupling is a discretisation error."));
}

/// Of the whole flow over the time.
void add_charts(const Json& flow, PagePart& page) {
  const Json& history = flow.at("history");
  const std::string axis = axis_name(flow);
  const auto boundaries = flow.value("boundaries", "");
  const bool inlet = boundaries == "inlet", lids = boundaries == "lids";
  std::vector<std::string> charts;
  const ChartLabels what = lids ? ChartLabels{"Largest speed", "largest speed", "m/s"}
                                : ChartLabels{"Darcy velocity", "Darcy velocity along " + axis, "m/s"};
  charts.push_back(chart(history, what, {{lids ? "largest_speed_m_s" : "darcy_velocity_m_s", "", chart_blue, ""}},
                         "Every step is in history.csv."));
  if (!lids)
    charts.push_back(chart(
        history, {inlet ? "Pressure" : "Drive", "pressure gradient along " + axis, "Pa/m"},
        {{"pressure_gradient_Pa_m", "", chart_orange, ""}},
        inlet ? "Mean pressure on the inlet minus that on the outlet, per length." : "Pressure drop per length."));
  charts.push_back(power_chart(history, boundaries, flow.value("inertia", false)));
  charts.push_back(chart(history, {"Kinetic energy", "per volume of the sample", "J/m³"},
                         {{"kinetic_energy_J_m3", "", chart_green, ""}}, ""));
  page.cards.push_back(pairs_html(charts));
  if (flow.value("inertia", false))
    page.cards.push_back(pairs_html({chart(history, {"Step length", "dt", "s"}, {{"dt_s", "", chart_blue, ""}}, ""),
                                     chart(history, {"CFL number", "CFL", "-"}, {{"cfl", "", chart_orange, ""}},
                                           "Largest fraction of its volume that a cell exchanges in a step.")}));
}

}  // namespace

PagePart flow_in_time_page(const Json& summary, const Figures& figures) {
  PagePart page;
  const Json& flow = summary.at("flow_in_time");
  add_tiles(flow, page);
  if (summary.contains("porosity")) page.tiles.push_back(porosity_tile(summary));
  add_charts(flow, page);
  if (flow.contains("bodies")) {
    page.cards.push_back(pairs_html(force_charts(flow)));
    page.cards.push_back(forces_card(flow.at("bodies")));
  }
  if (flow.contains("probes")) page.cards.push_back(pairs_html(probe_charts(flow)));
  if (const auto figure = figures.find("flow moving"); figure != figures.end())
    page.cards.push_back(card("Animation of the flow", figure->second, "Also in animation_speed.png."));
  PictureRow stills(figures);
  for (int i = 1; i <= n_stills; ++i) stills.add(fmt::format("flow still {}", i));
  stills.add_card("Speed at several times", "The plane through the middle; gray: solid, or a removed pore.",
                  page.cards);
  add_flow_card("Flow field at the end", axis_name(flow), figures, page.cards);
  return page;
}

PlaneLook speed_look(const PlaneFrames& frames, double cell_width, double begin, double end) {
  double most = 0.0;
  for (const std::vector<float>& values : frames.values)
    for (const float v : values)
      if (std::isfinite(v)) most = std::max(most, double{v});
  const ScaledUnit unit = scaled_unit(most, "m/s");
  return {.high = most > 0.0 ? most : 1.0,
          .quantity = fmt::format("speed [{}]", unit.name),
          .unit = unit.factor,
          .cell_width = cell_width,
          .caption = fmt::format("Speed in the plane in the middle of {}, {} to {}, animation",
                                 axis_names[frames.plane.direction], format_si(begin, "s"), format_si(end, "s"))};
}

}  // namespace karst
