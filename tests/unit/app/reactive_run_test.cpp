// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/reactive_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include "app/deck/reactive_plan.hpp"
#include "app/output/plot_file.hpp"
#include "app/transport/transport_job.hpp"
#include "base/file/json.hpp"
#include "support/csv_file.hpp"
#include "support/errors.hpp"
#include "support/job_cases.hpp"
#include "support/reactive_decks.hpp"

namespace karst::reactive_run_test {
namespace {

using test::calcite;
using test::config_of;
using test::error_of;
using test::has;
using test::waters;

const std::string box =
    test::sphere_solid({3, 3, 3}, 2, "grain") + test::cells_along_x({12, 6, 6}) + test::creeping_flow + R"(
[time]
end_pore_volumes = 0.5
[transport]
diffusivity = 0.2
[output]
plot = ["fraction", "chemistry"]
)";
constexpr const char* slow_calcite = R"(
[[chemistry.mineral]]
phase = "Calcite"
wall = "grain"
rates = ["1e-13"]
)";

/// A file of results.
struct Table {
  explicit Table(const std::string& path) {
    std::ifstream file(path);
    std::string line, word;
    std::getline(file, line);
    std::istringstream head(line);
    while (std::getline(head, word, ',')) names.push_back(word);
    while (std::getline(file, line)) {
      rows.emplace_back();
      std::istringstream words(line);
      while (std::getline(words, word, ',')) rows.back().push_back(word.empty() ? NAN : std::stod(word));
    }
  }
  double at(std::size_t row, const std::string& name) const {
    return rows.at(row).at(std::ranges::find(names, name) - names.begin());
  }
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;
};

/// A run of the deck.
struct DeckRun : test::JobCase {
  DeckRun(const Comm& of, const std::string& text)
      : JobCase(test::diffusion_grid({12, 6, 6}, {false, true, true}, 8), *test::grains({{{3.0, 3.0, 3.0}, 2.0}}), of) {
    config = config_of(text);
    config.flow.tolerance = 1e-10;
    services.exchanges.taken = {ExchangeName::flow};
    check_jobs(context);
    run_job(flow_job(), context);
    result = run_job(transport_job(), context);
    auto [names, values] = test::read_csv(services.files.path("chemistry.csv"));
    header = std::move(names);
    rows = std::move(values);
  }
  double at(const std::vector<double>& row, const std::string& name) const {
    std::istringstream words(header);
    std::string word;
    for (const double value : row)
      if (std::getline(words, word, ',') && word == name) return value;
    ADD_FAILURE() << "no column " << name << " in " << header;
    return NAN;
  }
  JobResult result;
  std::string header;
  std::vector<std::vector<double>> rows;
};

// Elements and charge balance in every step (verification.md G4), the mineral that goes is the calcium that comes, and
// lines are the same on any ranks, as far as flow and diffusion are solved.
TEST(ReactiveRunMpi, AGrainDissolves) {
  const PetscSession petsc;
  const Comm world = Comm::world();
  const std::string deck = box + waters + calcite;
  const DeckRun run(world, deck);
  ASSERT_GT(run.rows.size(), 5U);
  for (const auto& row : run.rows) {
    for (const char* element : {"H", "Ca", "C(4)", "Na", "Cl"})
      EXPECT_LT(run.at(row, std::string(element) + "_imbalance"), 1e-12);
    EXPECT_LT(run.at(row, "charge_imbalance"), 1e-12);
  }
  const auto& end = run.rows.back();
  EXPECT_GT(run.at(end, "Calcite_dissolved_mol"), 0.0);
  EXPECT_LE(run.at(end, "Ca_content_mol"), run.at(end, "Calcite_dissolved_mol") * (1.0 + 1e-9));
  EXPECT_GT(run.at(end, "Ca_content_mol"), 0.1 * run.at(end, "Calcite_dissolved_mol"));
  const auto json = run.result.json["chemistry"];
  EXPECT_NEAR(json["minerals"][0]["rate_mol_s"].get<double>(), run.at(end, "Calcite_rate_mol_s"),
              1e-9 * run.at(end, "Calcite_rate_mol_s"));
  EXPECT_NEAR(json["minerals"][0]["area_m2"].get<double>(), run.geometry.report.wall_area, 1e-9);
  std::vector<std::string> names;
  for (const JobComponent& c : run.result.components) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"pH", "saturation_index_Calcite"}));
  EXPECT_EQ(n_fields(run.config), std::ssize(names));
  EXPECT_TRUE(has(run.result.text, "over that of a well-mixed fluid"));
  if (world.size() == 1) return;
  const DeckRun alone(Comm::self(), deck);
  ASSERT_EQ(alone.rows.size(), run.rows.size());
  for (std::size_t i = 0; i < run.rows.size(); ++i)
    EXPECT_NEAR(alone.rows[i][1], run.rows[i][1], 1e-7 * std::abs(alone.rows[i][1]));
}

/// in - out + released + by_walls = stored, cumulative, to this fraction of the largest.
void ledger_closes(const DeckRun& run, double tolerance) {
  for (const auto& row : run.rows)
    for (const std::string element : {"H", "Ca", "C(4)", "Na", "Cl"}) {
      const auto mol = [&](const char* what) { return run.at(row, element + '_' + what + "_mol"); };
      const double in = mol("in"), out = mol("out"), released = mol("released"), stored = mol("stored");
      EXPECT_NEAR(in - out + released, stored,
                  tolerance * std::max({std::abs(in), std::abs(out), std::abs(released), std::abs(stored)}))
          << element;
    }
}

// What becomes of each element over the run: calcium that is released is the calcite that is dissolved, on walls that
// react in turn and within the step; with sorbents, what the exchanger gives.
TEST(ReactiveRun, LedgerOfElementsClosesAloneByDay) {
  const PetscSession petsc;
  std::string coupled = waters;
  coupled.replace(coupled.find("[chemistry]\n"), 12, "[chemistry]\nwalls = \"coupled\"\n");
  for (const std::string& deck : {std::string(waters), coupled}) {
    const DeckRun run(Comm::world(), box + deck + calcite);
    ledger_closes(run, 1e-12);
    const auto& end = run.rows.back();
    EXPECT_NEAR(run.at(end, "Ca_released_mol"), run.at(end, "Calcite_dissolved_mol"),
                1e-9 * run.at(end, "Calcite_dissolved_mol"));  // digits of its column
    EXPECT_NEAR(run.at(end, "Cl_stored_mol"), run.at(end, "Cl_in_mol") - run.at(end, "Cl_out_mol"),
                1e-12 * run.at(end, "Cl_in_mol"));
    EXPECT_NEAR(run.at(end, "pore_volumes"), 0.5, 1e-9);
  }
}

// The solutions of a run.
TEST(ReactiveRun, WatersAreDescribed) {
  const Config config = config_of(box + waters + calcite);
  const std::vector<RunWater>& all = config.reactive->waters;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].use, "initial");
  EXPECT_EQ(all[1].use, "inlet");
  EXPECT_NEAR(all[0].ph, 8.0, 1e-9);
  EXPECT_NEAR(all[1].ph, 3.0, 1e-9);
  EXPECT_NEAR(all[1].ionic_strength, 1e-2 + 1e-3 / 0.9, 1e-4);
  EXPECT_TRUE(std::isnan(all[0].inorganic_carbon));
  EXPECT_NEAR(all[1].inorganic_carbon, 1e-3, 1e-12);
  EXPECT_NEAR(all[1].alkalinity, -1e-3 / 0.9, 2e-4);  // less H+ over its activity coefficient
  EXPECT_TRUE(std::isnan(all[0].saturation.at(0)));   // no calcium
}

// For the balance of ranks: what a step takes beside cells, by boxes. Of the limiter, where reactions begin; of walls,
// in the box with the grain, not in the one behind it.
TEST(ReactiveRunMpi, TellsItsWorkByBoxes) {
  const PetscSession petsc;
  const Comm world = Comm::world();
  const DeckRun run(world, box + waters + calcite);
  const std::unique_ptr<Process> transport = transport_job().start(run.context);
  transport->begin();
  Clock clock = transport->clock();
  clock.limit(transport->longest_step());
  transport->step(clock.dt());
  std::vector<BoxWork> kinds;
  transport->add_work(kinds);
  ASSERT_EQ(kinds.size(), 2U);
  const Layout& layout = run.geometry.levels[0].graph.layout();
  const auto [first, last] = layout.owned(world.rank());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    ASSERT_EQ(kinds[k].amount.size(), 1U);
    ASSERT_EQ(std::ssize(kinds[k].amount[0]), last - first);
    std::array<double, 2> sum{};  // with the grain, behind it
    for (std::int64_t b = first; b < last; ++b) sum[layout.box(b).lo[0] > 5 ? 1 : 0] += kinds[k].amount[0][b - first];
    EXPECT_TRUE(kinds[k].seconds > 0.0 || sum[0] + sum[1] == 0.0) << k;
    world.sum(std::span(sum));
    EXPECT_GT(sum[0], 0.0) << k;
    EXPECT_TRUE(k == 0 || sum[1] == 0.0) << sum[1];
  }
}

// The same water everywhere, which hardly changes while it flows past: it is well mixed, and its pH is that of the
// deck.
TEST(ReactiveRunMpi, SlowMineralInOneWaterIsWellMixed) {
  const PetscSession petsc;
  std::string one = std::string(waters) + slow_calcite;
  one.replace(one.find("inlet = \"acid\""), 14, "inlet = \"water\"");
  const DeckRun run(Comm::world(), box + one);
  const auto& end = run.rows.back();
  EXPECT_NEAR(run.at(end, "Calcite_over_well_mixed"), 1.0, 1e-6);
  EXPECT_NEAR(run.at(end, "pH_outlet"), 8.0, 1e-6);
  EXPECT_NEAR(run.at(end, "pH_mean"), 8.0, 1e-6);
}

// What the page shows is what chemistry.csv has, and begins with the water of the deck.
TEST(ReactiveRunMpi, HistoryAndPageShowWaterAndRates) {
  const PetscSession petsc;
  const DeckRun run(Comm::world(), box + waters + calcite);
  auto summary = run.result.json;
  const auto& chemistry = summary["chemistry"];
  const auto& history = chemistry["history"];
  const auto& end = run.rows.back();
  ASSERT_EQ(history["time_s"].size(), run.rows.size() + 1);
  EXPECT_NEAR(history["pH_mean"][0].get<double>(), 8.0, 1e-9);
  EXPECT_TRUE(history["rate_mol_s"][0][0].is_null());
  const auto last_is = [&](const Json& values, const char* column) {
    ASSERT_EQ(values.size(), run.rows.size() + 1) << column;
    EXPECT_NEAR(values.back().get<double>(), run.at(end, column), 1e-9 * std::abs(run.at(end, column))) << column;
  };
  last_is(history["pH_outlet"], "pH_outlet");
  last_is(history["saturation_index_outlet"][0], "Calcite_saturation_index_outlet");
  last_is(history["rate_mol_s"][0], "Calcite_rate_mol_s");
  last_is(history["well_mixed_rate_mol_s"][0], "Calcite_well_mixed_mol_s");
  EXPECT_NEAR(run.at(end, "Calcite_over_well_mixed"),
              run.at(end, "Calcite_rate_mol_s") / run.at(end, "Calcite_well_mixed_mol_s"), 1e-9);
  EXPECT_LT(run.at(end, "Calcite_over_well_mixed"), 1.0);
  EXPECT_LT(run.at(end, "pH_mean"), 8.0);
  summary["flow"] = {};
  const PagePart page = transport_page(summary, run.result.figures);
  std::string html;
  for (const std::string& card : page.cards) html += card;
  for (const char* part :
       {"Solutions", "Elements from the beginning to the end", "Rates of dissolution", "total [mol/kgw]",
        "Saturation index", "Rate over the well-mixed rate", "Imbalance of a step", "Minerals"})
    EXPECT_TRUE(has(html, part)) << part;
  EXPECT_FALSE(has(html, "Rates of precipitation"));
  EXPECT_TRUE(has(run.result.text, "at the outlet, at the end [mol/kgw]"));
  EXPECT_EQ(has(html, "Planes through the middle, one scale for all times"), run.comm.rank() == 0);
  EXPECT_EQ(page.tiles.at(0).name, "pH at the outlet");
}

constexpr const char* in_every_cell = R"(
[[chemistry.exchange]]
site = "X"
amount = 5e-3
[[chemistry.surface]]
sites = ["Hfo_w 1e-3"]
area = 600
mass = 0.4
[[chemistry.equilibrium]]
phase = "Calcite"
amount = 1e-4
)";

constexpr const char* two_probes = R"(
[[output.probe]]
name = "behind"
position = [9.3, 3.2, 2.9]
[[output.probe]]
name = "beside"
position = [4.9, 5.1, 1.2]
)";

/// The least and the largest value of a field in all cells.
std::array<double, 2> range_of(const DeckRun& run, const std::string& field) {
  std::array<double, 2> most{-INFINITY, -INFINITY};  // of -values, of values
  const LevelGeometry& level = run.geometry.levels[0];
  std::vector<float> cells;
  for (int b = 0; b < level.graph.n_local(); ++b) {
    cells.resize(level.graph.box(b).cells.count());
    for (const JobComponent& c : run.result.components) {
      if (c.name != field) continue;
      c.fill(0, b, cells);
      for (const float v : cells)
        if (!std::isnan(v)) most = {std::max(most[0], -double{v}), std::max(most[1], double{v})};
    }
  }
  run.comm.max(std::span(most));
  return {-most[0], most[1]};
}

// Probes see all fields of plotfiles: the same value in one water that stays as it is, else one between those of cells.
TEST(ReactiveRunMpi, ProbesSeeTheFieldsOfPlotfiles) {
  const PetscSession petsc;
  constexpr double of_float = 1e-6;
  for (const bool uniform : {true, false}) {
    std::string chemistry = uniform ? std::string(waters) + slow_calcite
                                    : std::string(waters) + slow_calcite + "name = \"grain\"\n" + in_every_cell;
    if (uniform) {
      chemistry.replace(chemistry.find("inlet = \"acid\""), 14, "inlet = \"water\"\nspecies = [\"H+\"]");
      chemistry.replace(chemistry.find("\"Cl 1e-2\"]"), 10, "\"Cl 1e-2\", \"Ca 1e-3\", \"C(4) 1e-3\"]");
    }
    const DeckRun run(Comm::world(), box + chemistry + two_probes);
    const Json chemistry_json = run.result.json["chemistry"], history = chemistry_json["history"];
    ASSERT_EQ(run.result.components.size(), uniform ? 3U : 8U);
    for (std::size_t f = 0; f < run.result.components.size(); ++f) {
      const std::string& field = run.result.components[f].name;
      const auto [least, largest] = range_of(run, field);
      const double room = of_float * std::max(std::abs(least), std::abs(largest));
      EXPECT_TRUE(!uniform || largest - least <= room) << field << " " << least << " " << largest;
      for (std::size_t p = 0; p < 2; ++p) {
        const Json probe = chemistry_json["probes"][p];
        const double at_end = run.at(run.rows.back(), field + "_at_" + probe["name"].get<std::string>());
        EXPECT_GE(at_end, least - room) << field;
        EXPECT_LE(at_end, largest + room) << field;
        EXPECT_NEAR(probe[field].get<double>(), at_end, 1e-9 * std::abs(at_end)) << field;
        const Json values = history[p == 0 ? "probe_0" : "probe_1"][f];
        EXPECT_EQ(values.size(), history["time_s"].size());
        EXPECT_EQ(values.back().get<double>(), probe[field].get<double>());
      }
    }
    auto summary = run.result.json;
    summary["flow"] = {};
    std::string html;
    for (const std::string& card : transport_page(summary, run.result.figures).cards) html += card;
    for (const char* part : {"pH at probes", "Saturation index of ", "beside"}) EXPECT_TRUE(has(html, part)) << part;
  }
}

// Beside a mineral on walls the water meets an exchanger, a surface and calcite in every cell: what it loses they gain.
TEST(ReactiveRunMpi, CellsSorbAndComeToEquilibrium) {
  const PetscSession petsc;
  const Comm world = Comm::world();
  const std::string deck = box + waters + slow_calcite + "name = \"grain\"\n" + in_every_cell;
  const DeckRun run(world, deck);
  for (const auto& row : run.rows)
    for (const char* element : {"H", "Ca", "C(4)", "Na", "Cl"})
      EXPECT_LT(run.at(row, std::string(element) + "_imbalance"), 1e-12) << element;
  ledger_closes(run, 1e-12);
  const auto &begin = run.rows.front(), &end = run.rows.back();
  // Calcium is calcite's alone, and most of it takes the place of sodium.
  const double calcium = run.at(end, "Ca_content_mol") + run.at(end, "Ca_sorbed_mol");
  EXPECT_LE(calcium, run.at(end, "Calcite_dissolved_mol") * (1.0 + 1e-9));
  EXPECT_GT(calcium, 0.9 * run.at(end, "Calcite_dissolved_mol"));
  EXPECT_GT(run.at(end, "Ca_sorbed_mol"), 0.8 * calcium);
  EXPECT_LT(run.at(end, "Na_sorbed_mol"), run.at(begin, "Na_sorbed_mol"));
  EXPECT_NEAR(run.at(end, "Cl_sorbed_mol"), 0.0, 1e-15 * run.at(end, "Cl_content_mol"));
  std::vector<std::string> names;
  for (const JobComponent& c : run.result.components) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"pH", "saturation_index_grain", "saturation_index_Calcite",
                                             "mineral_Calcite", "sorbed_H", "sorbed_Na", "sorbed_C(4)", "sorbed_Ca"}));
  EXPECT_EQ(n_fields(run.config), std::ssize(names));  // as counted before the run
  const auto json = run.result.json["chemistry"];
  EXPECT_TRUE(json["minerals"][1]["area_m2"].is_null());
  EXPECT_TRUE(json["minerals"][1]["in_equilibrium"].get<bool>());
  if (world.size() == 1) return;
  const DeckRun alone(Comm::self(), deck);
  ASSERT_EQ(alone.rows.size(), run.rows.size());
  for (std::size_t i = 0; i < run.rows.size(); ++i)
    EXPECT_NEAR(alone.at(alone.rows[i], "Ca_sorbed_mol"), run.at(run.rows[i], "Ca_sorbed_mol"),
                1e-7 * run.at(run.rows[i], "Ca_sorbed_mol"));
}

// Its checkpoint has nothing without entries, which no file can hold.
TEST(ReactiveRunMpi, AnExchangerWithoutMineralsHasAState) {
  const PetscSession petsc;
  const DeckRun run(Comm::world(), box + waters + "[[chemistry.exchange]]\nsite = \"X\"\namount = 1e-3\n");
  const std::unique_ptr<Process> transport = transport_job().start(run.context);
  transport->begin();
  for (const StateItem& item : transport->state().items) EXPECT_GT(item.components, 0) << item.name;
}

// A line of transport.csv is the state after the reactions, that of chemistry.csv, and its balance closes with what
// walls and cells gave: (c - c before) V = (inflow - outflow - wall + made) dt. Walls in turn, coupled, and beside what
// sorbs and comes to equilibrium in every cell.
TEST(ReactiveRunMpi, TransportTellsTheStateAfterReactionsAndABalanceThatCloses) {
  const PetscSession petsc;
  std::string coupled = std::string(waters) + calcite;
  coupled.insert(coupled.find("inlet"), "walls = \"coupled\"\n");
  const std::string cells = std::string(waters) + slow_calcite + "name = \"grain\"\n" + in_every_cell;
  for (const auto& [chemistry, wall] : {std::pair<std::string, std::string>{std::string(waters) + calcite, "Calcite"},
                                        {coupled, "Calcite"},
                                        {cells, "grain"}}) {
    const DeckRun run(Comm::world(), box + chemistry);
    const Table transport(run.services.files.path("transport.csv")),
        reactions(run.services.files.path("chemistry.csv"));
    ASSERT_EQ(transport.rows.size(), reactions.rows.size());
    const double water = run.config.reactive->water;
    const double volume = reactions.at(0, "Cl_content_mol") / (water * transport.at(0, "Cl_mean"));
    double from_wall = 0.0;
    for (const std::string element : {"H", "Na", "Cl", "C(4)", "Ca"})
      for (std::size_t n = 1; n < transport.rows.size(); ++n) {
        const auto of = [&](const char* what) { return transport.at(n, element + what); };
        const double content = volume * of("_mean"), before = volume * transport.at(n - 1, element + "_mean");
        EXPECT_NEAR(reactions.at(n, element + "_content_mol") / water, content, 1e-9 * std::abs(content)) << element;
        const double moved = of("_inflow_C_m3_s") - of("_outflow_C_m3_s") - of("_wall_C_m3_s") + of("_made_C_m3_s");
        EXPECT_NEAR(content - before, moved * transport.at(n, "dt_s"), 1e-9 * (std::abs(content) + std::abs(before)))
            << element << " " << n;
        EXPECT_LT(of("_imbalance"), 1e-12) << element;
        EXPECT_LE(of("_min"), of("_mean") + 1e-15) << element;
        EXPECT_GE(of("_max"), of("_mean") - 1e-15) << element;
        if (element == "Ca") from_wall -= of("_wall_C_m3_s") * transport.at(n, "dt_s") * water;
      }
    const double dissolved =
        reactions.at(reactions.rows.size() - 1, wall + "_dissolved_mol") - reactions.at(0, wall + "_dissolved_mol");
    EXPECT_GT(dissolved, 0.0);
    EXPECT_NEAR(from_wall, dissolved, 1e-8 * dissolved);
    const auto end = run.result.json;
    for (const Json& c : end["transport"]["components"])
      EXPECT_NEAR(c["mean"].get<double>(),
                  transport.at(transport.rows.size() - 1, c["name"].get<std::string>() + "_mean"),
                  1e-9 * std::abs(c["mean"].get<double>()));
  }
}

// Without minerals solutions mix and nothing reacts; a tracer goes beside them.
TEST(ReactiveRun, WatersMixBesideATracer) {
  const PetscSession petsc;
  const DeckRun run(Comm::self(), box + waters + "[[transport.component]]\nname = \"tracer\"\ninlet = 1\n");
  EXPECT_TRUE(has(run.header, "Cl_content_mol")) << run.header;
  ASSERT_EQ(run.config.reactive->first, 1U);
  EXPECT_LT(run.at(run.rows.back(), "charge_imbalance"), 1e-12);
}

// Totals that react, sorb or are there from the beginning have no residence time of the water; a tracer has.
TEST(ReactiveRun, OnlyWhatStaysInTheWaterHasAResidenceTime) {
  const PetscSession petsc;
  std::string deck = box + waters + "[[transport.component]]\nname = \"tracer\"\ninlet = 1\n" + in_every_cell;
  deck.replace(deck.find("end_pore_volumes = 0.5"), 22, "end_pore_volumes = 3.0");
  const DeckRun run(Comm::self(), deck);
  for (const Json& c : run.result.json["transport"]["components"])
    EXPECT_EQ(c["breakthrough"].is_null(), c["name"].get<std::string>() != "tracer") << c["name"].get<std::string>();
}

// Fields of amounts have their unit; what is the same everywhere and always is told and not drawn.
TEST(ReactiveRun, AmountsHaveAUnitAndUniformFieldsAreNotDrawn) {
  const PetscSession petsc;
  std::string one = std::string(waters) + slow_calcite;
  one.replace(one.find("inlet = \"acid\""), 14, "inlet = \"water\"\nspecies = [\"CO2\"]");
  std::string deck = box + one;
  deck.replace(deck.find("\"chemistry\"]"), 12, "\"concentration\", \"chemistry\"]");
  const DeckRun run(Comm::self(), deck);
  for (const JobComponent& c : run.result.components)
    EXPECT_EQ(unit_of(run.config, c), c.name == "pH" || c.name.starts_with("saturation_index") ? "1" : "mol/kgw")
        << c.name;
  EXPECT_FALSE(run.result.figures.contains("transport Cl end"));
  EXPECT_TRUE(run.result.figures.contains("transport Ca end"));
  auto summary = run.result.json;
  summary["flow"] = {};
  std::string html;
  for (const std::string& card : transport_page(summary, run.result.figures).cards) html += card;
  EXPECT_TRUE(has(html, "Not drawn"));
  EXPECT_TRUE(has(html, "concentration of Cl"));
}

// Cations less anions over both, in per cent, as PHREEQC prints it.
TEST(ReactiveRun, WaterWithoutChargeBalanceIsTold) {
  std::string off = waters;
  off.replace(off.find("\"Na 1e-2 charge\", \"Cl 1e-2\""), 27, "\"Na 1e-2\", \"Cl 1.02e-2\"");
  const Config config = config_of(box + off);
  const std::vector<RunWater>& all = config.reactive->waters;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "water");
  EXPECT_NEAR(all[0].charge_error, 100.0 * (1e-2 - 1.02e-2) / (1e-2 + 1.02e-2), 0.01);  // 1e-6 mol/kgw of OH- besides
  EXPECT_NEAR(all[1].charge_error, 0.0, 1e-9);
  ASSERT_EQ(config.reactive->warnings.size(), 1U);
  EXPECT_TRUE(has(config.reactive->warnings[0], "solution water: charge imbalance of -0.99"))
      << config.reactive->warnings[0];
}

TEST(ReactiveRun, MistakesOfADeckAreToldTogether) {
  const auto told = [](const std::string& text, std::initializer_list<const char*> parts) {
    const std::string error = error_of([&] { config_of(text); });
    for (const char* part : parts) EXPECT_TRUE(has(error, part)) << part << "\n" << error;
  };
  const std::string good = box + waters, mineral = "[[chemistry.mineral]]\nphase = \"Calcite\"\n";
  EXPECT_EQ(error_of([&] { config_of(good + calcite); }), "");
  told(good + mineral, {"chemistry.mineral[0].rates: missing", "chemistry.mineral[0].wall: missing"});
  told(good + mineral + "rates = [\"1\"]\narea = 1\n", {"chemistry.mineral[0].amount: missing"});
  told(good + mineral + "rates = [\"1 Ny+ 1\"]\nwall = \"all\"\narea = 2\n", {"area: given together with wall", "Ny+"});
  told(good + "[[chemistry.mineral]]\nphase = \"Calcit\"\nwall = \"all\"\nrates = [\"1\"]\n", {"Calcit", "Calcite"});
  told(good + "[[chemistry.mineral]]\nphase = \"CO2(g)\"\nwall = \"all\"\nrates = [\"1\"]\n", {"is a gas"});
  told(good + "[[chemistry.exchange]]\nname = \"clay\"\n",
       {"exchange[0].site: missing", "exchange[0].amount: missing"});
  told(good + "[[chemistry.exchange]]\nsite = \"Y\"\namount = 1\n", {"Y: site Y is not in database"});
  told(good + "[[chemistry.surface]]\nsites = [\"Hfo_w\"]\n", {"is not a site", "surface[0].area: missing"});
  told(good + "[[chemistry.surface]]\nsites = [\"X 1\"]\nelectrostatics = \"none\"\narea = 1\n",
       {"surface[0].area: given with electrostatics"});
  told(good + "[[chemistry.surface]]\nsites = [\"X 1\"]\nelectrostatics = \"none\"\n", {"X is a site of an exchanger"});
  told(good + "[[chemistry.equilibrium]]\nindex = 1\n", {"equilibrium[0].phase: missing"});
  told(good + "[[chemistry.equilibrium]]\nphase = \"Calcit\"\n", {"Calcit", "did you mean Calcite"});
  std::string other = good;
  other.replace(other.find("\"acid\""), 6, "\"acids\"");
  told(other, {"chemistry.inlet: \"acids\" is no solution", "did you mean \"acid\""});
  told(box + "[chemistry]\ndatabase = \"x.dat\"\n[[chemistry.solution]]\npH = 7\n", {"x.dat"});
  told(box + "[[chemistry.solution]]\npH = 1\ntotals = [\"Cl 0.01\", \"Na 0.1 charge\"]\n", {"no composition"});
  std::string one_wrong = good;
  one_wrong.replace(one_wrong.find("\"C(4) 1e-3\""), 11, "\"Zz 1e-3\"");
  const std::string error = error_of([&] { config_of(one_wrong); });
  EXPECT_TRUE(has(error, "chemistry.solution[1]: ")) << error;
  EXPECT_FALSE(has(error, "chemistry.solution[0]")) << error;
  told(box + "[[chemistry.solution]]\ntotals = [\"Ca -1\"]\n", {"cannot be negative"});
  told(box + "[[chemistry.solution]]\ntotals = [\"Ca 1 lb/L\"]\n", {"lb/L"});
  told(box + "[chemistry]\ninitial = \"a\"\n", {"chemistry.initial: given without"});
  told(good + "[[transport.component]]\nname = \"Cl\"\n[[transport.wall]]\nrate = 1\n",
       {"is an element of the solutions", "transport.wall[0].component: missing"});
  const std::string times =
      std::string(waters).replace(std::string(waters).find("inlet"), 0, "times = [1]\nskip = 1\n");
  told(box + times, {"chemistry.times: a batch reaction belongs", "chemistry.skip"});
  const std::string little = std::string(waters).replace(std::string(waters).find("inlet"), 0, "skip = 1e-9\n");
  told(box + little, {"chemistry.skip: 1e-09: totals of the last solve are stored to 6e-8"});
  Config config = config_of(good + calcite);
  config.chemistry.minerals[0].wall = "grains";
  Geometry geometry;
  geometry.report.minerals.push_back({"grain", 1.0});
  const std::vector<std::string> found = chemistry_mistakes(config, geometry);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(has(found[0], "did you mean \"grain\"")) << found[0];
}

}  // namespace
}  // namespace karst::reactive_run_test
