// SPDX-License-Identifier: BSD-3-Clause
// Figures of the chemistry as text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/reaction/reactive_quantities.hpp"
#include "app/reaction/reactive_run.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

constexpr double largest_imbalance = 1e-11;  ///< of a step; round-off is below
constexpr double much_error = 0.05;          ///< of what has dissolved
constexpr double long_step = 0.5;    ///< D dt / h² from which on splitting takes 1 % of the flux into fast walls
constexpr double round_off = 1e-13;  ///< of what is in the water: a mineral that dissolves less stands still

double relative_error(const MineralLine& m) { return m.dissolved != 0.0 ? m.time_error / std::abs(m.dissolved) : 0.0; }

/// Some hundred steps, from the beginning on: [time], and per mineral or element [time].
Json history_json(const std::vector<ReactiveLine>& lines) {
  Json json;
  for (const ReactiveLine& line : lines) {
    each_of_time(line, OverTime{json});
    each_of_water(line, OverTime{json});
    each_of_step(line, OverTime{json});
  }
  ReactiveLine one;  // the lists of minerals are there without minerals, too
  one.minerals.resize(1);
  one.outlet.saturation = one.mean.saturation = {0.0};
  each_of_mineral(one, 0, [&](const Quantity& q, const auto&) {
    if (q.in(shown::history)) json[q.key()] = Json::array();
  });
  add_histories(lines, lines.front().minerals.size(), json,
                [](const ReactiveLine& l, std::size_t m, OverTime f) { each_of_mineral(l, m, f); });
  add_histories(lines, lines.front().imbalance.size(), json,
                [](const ReactiveLine& l, std::size_t p, OverTime f) { each_of_element(l, p, Sorbents::none, f); });
  return json;
}

/// The solutions of the run side by side.
std::string waters_text(const ReactivePlan& plan) {
  constexpr int label_width = 44;
  std::size_t width = 14;
  for (const RunWater& w : plan.waters) width = std::max(width, w.name.size() + 2);
  TextRows rows("solution");
  for (const RunWater& w : plan.waters) {
    const auto column = rows.column(w.name);
    each_of_solution(w, column);
    for (std::size_t m = 0; m < w.saturation.size(); ++m)
      each_of_solution(w, m, plan.reactions()[m].mineral.name, column);
  }
  return rows.text(label_width, static_cast<int>(width));
}

/// What has become of each element, side by side.
std::string ledger_text(const ReactiveLine& line, const std::vector<std::string>& elements, bool moves) {
  constexpr int label_width = 44, width = 14;
  TextRows rows("element (H: H+ in excess over water)");
  for (std::size_t p = 0; p < elements.size(); ++p) each_of_ledger(line, p, moves, rows.column(elements[p]));
  return rows.text(label_width, width);
}

std::string index_text(double index) { return fmt::format("{:.4f}", std::abs(index) < 5e-5 ? 0.0 : index); }

}  // namespace

std::string ReactiveRun::text() const {
  std::string text = "Chemistry\n";
  const auto row = [&](const std::string& name, const auto& value) {
    text += fmt::format("  {:<44} {:>13}\n", name, value);
  };
  const auto number = [](double x) { return fmt::format("{:.5g}", x); };
  row("engine", engine());
  row("  threads", n_threads());
  text += waters_text(plan_);
  for (const auto& [name, water] :
       {std::pair{"at the outlet", &past_.line.outlet}, {"of the mean composition", &past_.line.mean}})
    if (std::isfinite(water->ph)) row(fmt::format("pH {}, at the end", name), fmt::format("{:.4f}", water->ph));
  for (std::size_t m = 0; m < past_.line.minerals.size(); ++m) {
    const MineralLine& line = past_.line.minerals[m];
    const std::string& mineral = plan_.reactions()[m].mineral.name;
    const bool at_once = plan_.reactions()[m].at_once();
    if (!at_once) row(mineral + ", area [m2]", number(area_[m]));
    row(mineral + ", rate at the end [mol/s]", number(line.rate));
    if (!at_once) row(mineral + ",   per area [mol/m2/s]", number(line.rate / area_[m]));
    if (!at_once) row(mineral + ",   over that of a well-mixed fluid", number(line.ratio()));
    row(mineral + ", saturation index at the outlet", index_text(past_.line.outlet.saturation[m]));
    row(mineral + ",   of the mean composition", index_text(past_.line.mean.saturation[m]));
    row(mineral + ", dissolved [mol]", number(line.dissolved));
    if (const double v = molar_volume_of(plan_, m); v > 0.0)
      row(mineral + ",   volume [m3]", number(v * line.dissolved));
    if (std::isfinite(line.amount)) row(mineral + ",   amount at the end [mol]", number(line.amount));
    if (!at_once)
      row(mineral + ",   error of steps and cells, estimated [mol]", fmt::format("{:.2g}", line.time_error));
  }
  for (std::size_t p = 0; p < past_.line.sorbed.size(); ++p)
    if (sorbs(p)) row(plan_.medium.system.elements[p] + ", sorbed at the end [mol]", number(past_.line.sorbed[p]));
  text += ledger_text(past_.line, plan_.medium.system.elements, walls_move());
  const double solved = static_cast<double>(past_.worst.solved), all = solved + static_cast<double>(past_.worst.kept);
  row("largest imbalance of an element in a step",
      fmt::format("{:.1e}", *std::ranges::max_element(past_.worst.imbalance)));
  row("  of charge", fmt::format("{:.1e}", past_.worst.charge_imbalance));
  if (past_.longest > 0.0) row("D dt / h2 of the longest step", fmt::format("{:.2g}", past_.longest));
  if (all > 0.0) row("fraction of reacting cells solved", fmt::format("{:.1f} %", 100.0 * solved / all));
  return text;
}

std::string ReactiveRun::headline() const {
  std::string text;
  if (std::isfinite(past_.line.outlet.ph))
    text += fmt::format("pH at the outlet after {}: {:.2f}\n", format_si(past_.line.time, "s"), past_.line.outlet.ph);
  for (std::size_t m = 0; m < run_.config.chemistry.minerals.size(); ++m)
    text += fmt::format("Rate of {}: {:.4g} mol/s, {:.3g} of that of a well-mixed fluid\n",
                        plan_.reactions()[m].mineral.name, past_.line.minerals[m].rate, past_.line.minerals[m].ratio());
  return text;
}

Json ReactiveRun::json() const {
  Json minerals = Json::array(), elements = Json::array();
  for (std::size_t m = 0; m < past_.line.minerals.size(); ++m) {
    const MineralLine& line = past_.line.minerals[m];
    const bool at_once = plan_.reactions()[m].at_once();
    Json& mineral = minerals.push_back({{"name", plan_.reactions()[m].mineral.name},
                                        {"in_equilibrium", at_once},
                                        {"area_m2", at_once ? Json(nullptr) : Json(area_[m])}});
    each_of_mineral(past_.line, m, ToJson{mineral, shown::json});
    mineral["rate_mol_m2_s"] = line.rate / area_[m];
    mineral["dissolved_m3"] =
        molar_volume_of(plan_, m) > 0.0 ? Json(molar_volume_of(plan_, m) * line.dissolved) : Json(nullptr);
  }
  for (std::size_t p = 0; p < past_.line.content.size(); ++p) {
    Json& element = elements.push_back({{"name", plan_.medium.system.elements[p]}});
    each_of_element(past_.line, p, sorbents(), ToJson{element, shown::json});
    each_of_ledger(past_.line, p, walls_move(), ToJson{element, shown::json});
    element["largest_imbalance"] = past_.worst.imbalance[p];
  }
  Json pictures = Json::array();
  for (std::size_t f = 0; f < drawn_fields().size() && !past_.pictures.empty(); ++f) {
    const auto [low, high] = picture_ranges()[f];
    pictures.push_back({{"field", drawn_fields()[f]}, {"range", {low, high}}});
  }
  Json solutions = Json::array();
  for (const RunWater& w : plan_.waters) {
    Json& solution = solutions.push_back({{"name", w.name}});
    each_of_solution(w, ToJson{solution, shown::json});
    solution["minerals"] = Json::array();
    for (std::size_t m = 0; m < w.saturation.size(); ++m) {
      Json& mineral = solution["minerals"].push_back({{"name", plan_.reactions()[m].mineral.name}});
      each_of_solution(w, m, "", ToJson{mineral, shown::json});
    }
  }
  Json json{{"engine", engine()},
            {"solutions", solutions},
            {"threads", n_threads()},
            {"database", run_.config.chemistry.databases()},
            {"minerals", minerals},
            {"elements", elements},
            {"largest_charge_imbalance", past_.worst.charge_imbalance},
            {"largest_diffusion_number", past_.longest},
            {"coupled_steps", coupled_.counts.steps - coupled_.counts.in_turn},
            {"steps_without_coupled_solution", coupled_.counts.in_turn},
            {"coupled_iterations", coupled_.counts.iterations},
            {"solved", past_.worst.solved},
            {"kept", past_.worst.kept},
            {"speciations", past_.worst.speciations},
            {"pictures", pictures},
            {"history", history_json(past_.history)}};
  each_of_water(past_.line, ToJson{json, shown::json});
  each_of_step(past_.line, ToJson{json, shown::json});
  probed_.add_to(json, past_.history);
  return {{"chemistry", json}};
}

std::vector<Balance> ReactiveRun::balances() const {
  std::vector<Balance> all;
  for (std::size_t p = 0; p < past_.worst.imbalance.size(); ++p)
    all.push_back({fmt::format("chemistry_{}_relative", plan_.medium.system.elements[p]), past_.worst.imbalance[p]});
  all.push_back({"chemistry_charge_relative", past_.worst.charge_imbalance});
  return all;
}

std::vector<std::string> ReactiveRun::warnings() const {
  Messages all = plan_.warnings;
  double dissolved_in_water = 0.0;  // [mol]
  for (const double amount : past_.line.content) dissolved_in_water += std::abs(amount);
  for (std::size_t m = 0; m < past_.line.minerals.size(); ++m)
    if (relative_error(past_.line.minerals[m]) > much_error &&
        std::abs(past_.line.minerals[m].dissolved) > round_off * dissolved_in_water)
      all.add("chemistry, {}: rates change so much {} that the dissolved amount may be off by {:.0f} %; {} help",
              plan_.reactions()[m].mineral.name,
              crossing_ > step_ ? "while the flow crosses a cell" : "from step to step",
              100.0 * relative_error(past_.line.minerals[m]),
              crossing_ > step_ ? "finer cells" : "shorter steps (time.dt)");
  if (past_.longest > long_step)
    all.add(
        "chemistry: D dt / h² is {:.2g} in the longest step; with operator splitting walls react to diffusion only in "
        "the next step, so fast minerals react {} too slowly; time.dt = {:.3g} reduces this to 0.1 %",
        past_.longest, past_.longest > 3.0 ? "several tens of percent" : "some percent",
        0.3 * finest_width() * finest_width() / run_.config.transport.diffusivity,
        coupled_.counts.in_turn > 0 ? fmt::format(" ({} steps found no coupled solution)", coupled_.counts.in_turn)
                                    : "");
  if (const double worst = *std::ranges::max_element(past_.worst.imbalance); worst > largest_imbalance)
    all.add("chemistry: a step gained or lost {:.1e} of an element", worst);
  return all;
}

}  // namespace karst
