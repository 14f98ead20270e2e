// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/chemistry_deck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/core/error.hpp"
#include "base/file/program_path.hpp"
#include "chemistry/rate_parameters.hpp"
#include "chemistry/reactant.hpp"
#include "eb/shapes/formula.hpp"

namespace karst {

namespace {

bool increases(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::ranges::greater_equal{}) == values.end();
}

void read_solution(Reader& in, SolutionOptions& s) {
  in.text("name", s.name, "name of the solution in tables");
  in.number("temperature", s.temperature, "\u00b0C",
            "temperature: of equilibrium constants, activity coefficients, rates with an activation energy and the "
            "density of water; fluid.viscosity, fluid.density and transport.diffusivity are those of the deck, "
            "whatever it is",
            0.0, 100.0);
  in.number_or_formula("pH", s.ph, "-",
                       "a number; \"charge\": the pH that balances the charge; or a phase and its saturation index, "
                       "from which the pH follows, \"Calcite 0\"");
  in.text("units", s.units,
          "units of totals without their own: mol, mmol, umol, g, mg, ug, eq, meq per kgw (kilogram of water), kgs (of "
          "solution) or L; ppt, ppm, ppb by weight");
  in.number("density", s.density, "kg/L", "density of the solution, for units per litre", 0.5, 3.0);
  in.texts("totals", s.totals,
           "one text per element: name and amount, then as needed its units, \"as HCO3\" (the formula to which grams "
           "refer), \"charge\" (the amount balances the charge), or a phase and its saturation index (for a gas log10 "
           "of its partial pressure in atm), from which the amount follows: \"Ca 412 ppm\", \"Cl 0.1 charge\", "
           "\"Alkalinity 2e-3\", \"C(4) 1e-3 CO2(g) -3.4\"; valences are separate elements: \"S(6)\", \"S(-2)\"");
  for (const std::string& total : s.totals) in.attempt("totals", [&] { parse_total(total); });
}

void read_mineral(Reader& in, MineralDeck& deck, ChemistryUse use) {
  MineralOptions& m = deck.options;
  in.text("name", m.name, "name of the mineral in tables (default: its phase)");
  in.text("phase", m.phase, "phase of the database");
  in.text("wall", deck.wall,
          "`karst run`: the walls covered by it, a mineral of the geometry or \"all\"; default: it is in every cell, "
          "as in a porous medium, with area and amount");
  in.number("fraction", deck.fraction, "-",
            "fraction of the area of these walls that reacts as this mineral; above 1: a rough wall", 0.0, 1e6);
  in.flag("deposit", deck.deposit,
          "`karst run`: it is a deposit on these walls, whatever they are made of: there is none at the beginning, it "
          "precipitates with their area (times fraction), and it dissolves as far as there is some at the place. The "
          "database must give its molar volume");
  in.number("cover", deck.cover, "m",
            "thickness of a deposit at which it covers the wall: the minerals below react with the part 1 - "
            "thickness / cover of their area, and not at all below a thicker one; a large number: they react as if "
            "it were not there",
            1e-12, 1e300);
  in.number("area", m.area, "m2/kgw", "surface area per kilogram of water, in a batch reactor or in every cell", 0.0,
            1e300);
  in.number("amount", m.amount, "mol/kgw", "amount of the mineral, in a batch reactor or in every cell", 0.0, 1e300);
  in.texts(
      "rates", m.rates,
      "parallel reaction paths, whose sum times (1 - saturation ratio) is the rate of dissolution per surface area: k "
      "at 25 C [mol/m2/s], then species and the exponents of their activities (for a gas its fugacity in atm), then Ea "
      "and an activation energy [kJ/mol]: \"0.89 H+ 1\", \"6.6e-7 Ea 23.5\", \"3.3e-4 CO2(g) 1\"; or \"database\": the "
      "paths in chemistry.rates, else in the database (\"database PK\", \"database HERMANSKA\": of this compilation)");
  if (m.phase.empty()) in.mistake("phase", "missing; expected: a phase of the database, \"Calcite\"");
  if (m.rates.empty()) in.mistake("rates", "missing; a mineral without a rate does not react");
  if (m.name.empty()) m.name = m.phase;
  if (use == ChemistryUse::speciate) {
    if (m.area <= 0.0) in.mistake("area", "missing, or 0: a mineral without a surface does not react");
    in.need({"amount"},
            "missing; give the amount of the mineral per kilogram of water, or 0 if it can only precipitate");
    return in.refuse({"wall", "fraction", "deposit", "cover"}, "a batch reactor has no wall; only `karst run` uses it");
  }
  if (deck.wall.empty() && m.area <= 0.0)
    in.mistake("wall",
               "missing, and there is no area, so the mineral is nowhere; expected: wall = \"all\", a mineral of the "
               "geometry, or an area per kilogram of water");
  if (deck.wall.empty() && m.area > 0.0 && !in.given("amount"))
    in.mistake("amount", "missing; give the amount of the mineral per kilogram of water");
  if (deck.wall.empty()) return in.refuse({"fraction", "deposit", "cover"}, "given without wall; remove it");
  if (!deck.deposit) in.refuse({"cover"}, "given without deposit = true; remove it");
  if (deck.deposit && !(deck.fraction > 0.0)) in.mistake("fraction", "0; a deposit needs a surface to precipitate on");
  in.refuse({"area", "amount"},
            "given together with wall, whose area and amount are those of the geometry. Remove one of them");
}

void read_exchange(Reader& in, SorbentOptions& s) {
  std::string site;
  double amount = 0.0;
  in.text("name", s.name, "name of the exchanger in tables (default: its site)");
  in.text("site", site, "site from EXCHANGE_MASTER_SPECIES in the database: \"X\"");
  in.number("amount", amount, "mol/kgw",
            "equivalents of sites per kilogram of water, in a batch reactor or in every cell; initially in equilibrium "
            "with the solution",
            0.0, 1e300);
  if (site.empty()) in.mistake("site", "missing; expected: a site of the database, \"X\"");
  if (!(amount > 0.0)) in.mistake("amount", "missing, or 0; give the equivalents per kilogram of water");
  if (s.name.empty()) s.name = site;
  s.sites = {fmt::format("{} {:.17g}", site, amount > 0.0 ? amount : 1.0)};
}

void read_surface(Reader& in, SorbentOptions& s) {
  enum class Electrostatics : std::uint8_t { none, diffuse_layer } electrostatics = Electrostatics::diffuse_layer;
  double area = 0.0, mass = 0.0;
  s.surface = true;
  in.text("name", s.name, "name of the surface in tables (default: its first site up to _)");
  in.texts("sites", s.sites,
           "sites from SURFACE_MASTER_SPECIES in the database and their amounts [mol/kgw], in a batch reactor or in "
           "every cell: [\"Hfo_w 2e-4\", \"Hfo_s 5e-6\"]; initially in equilibrium with the solution");
  in.word<Electrostatics>(
      "electrostatics", electrostatics,
      {{"diffuse-layer", Electrostatics::diffuse_layer,
        "surface potential with a diffuse layer (Dzombak and Morel 1990), whose ions are not counted"},
       {"none", Electrostatics::none, "no potential (-no_edl in PHREEQC)"}},
      "electrostatic model of the surface charge");
  in.number("area", area, "m2/g", "specific area, for the surface potential", 0.0, 1e300);
  in.number("mass", mass, "g/kgw", "grams per kilogram of water, for the surface potential", 0.0, 1e300);
  s.charged = electrostatics == Electrostatics::diffuse_layer;
  s.area = area * mass;
  if (s.sites.empty()) in.mistake("sites", "missing; expected: sites of the database and amounts, [\"Hfo_w 2e-4\"]");
  for (const std::string& text : s.sites) in.attempt("sites", [&] { parse_site(text); });
  if (s.name.empty() && !s.sites.empty()) s.name = s.sites.front().substr(0, s.sites.front().find_first_of("_ "));
  if (!s.charged) return in.refuse({"area", "mass"}, "given with electrostatics = \"none\", which does not use it");
  for (const auto& [key, value] : {std::pair{"area", area}, {"mass", mass}})
    if (!(value > 0.0))
      in.mistake(key, "missing, or 0: a charged surface needs its area, unless electrostatics = \"none\"");
}

void read_equilibrium(Reader& in, EquilibriumOptions& e) {
  enum class Way : std::uint8_t { both, dissolve, precipitate } way = Way::both;
  e.amount = 10.0;
  in.text("name", e.name, "name of the phase in tables (default: the phase)");
  in.text("phase", e.phase, "mineral or gas of the database");
  in.number("index", e.index, "-", "saturation index at equilibrium; for a gas log10 of its partial pressure in atm",
            -1e3, 1e3);
  in.number("amount", e.amount, "mol/kgw",
            "amount per kilogram of water, in a batch reactor or in every cell; 0: none, but it may form", 0.0, 1e300);
  in.word<Way>("only", way,
               {{"both", Way::both, "it dissolves and precipitates"},
                {"dissolve", Way::dissolve, "it never precipitates"},
                {"precipitate", Way::precipitate, "it never dissolves"}},
               "restricts it to one direction");
  if (e.phase.empty()) in.mistake("phase", "missing; expected: a phase of the database, \"Calcite\" or \"CO2(g)\"");
  if (e.name.empty()) e.name = e.phase;
  e.dissolves = way != Way::precipitate;
  e.precipitates = way != Way::dissolve;
}

void read_titration(Reader& in, TitrationDeck& deck) {
  constexpr int usual_steps = 20, most_steps = 100000;
  double end = 0.0;
  int steps = usual_steps;
  in.texts("chemistry.titration.reactants", deck.reactants,
           "`karst speciate`: the titrant added to each solution in steps, formulas or phases and their amounts in a "
           "mole of it: [\"HCl\"], [\"NaCl 0.5\", \"CaCl2 0.25\"]; sorbents and equilibrium phases respond");
  in.numbers("chemistry.titration.amounts", deck.amounts, "mol/kgw",
             "`karst speciate`: cumulative amount after each step; instead of end and steps", 0.0, 1e3);
  in.number("chemistry.titration.end", end, "mol/kgw", "`karst speciate`: cumulative amount after the last step", 0.0,
            1e3);
  in.integer("chemistry.titration.steps", steps, "-",
             "`karst speciate`: number of equal steps, from nothing added to the end", 1, most_steps);
  const bool listed = in.given("chemistry.titration.amounts");
  if (listed)
    in.refuse({"chemistry.titration.end", "chemistry.titration.steps"},
              "given together with amounts; remove one of them");
  if (deck.reactants.empty() && (listed || in.given("chemistry.titration.end")))
    in.mistake("chemistry.titration.reactants", "missing; give what is added, such as \"HCl\"");
  if (!deck.reactants.empty() && !listed && !(end > 0.0))
    in.mistake("chemistry.titration.end", "missing; give the cumulative amount");
  if (!listed)
    for (int k = 0; k <= steps && end > 0.0; ++k) deck.amounts.push_back(end * k / steps);
  if (!increases(deck.amounts)) return in.mistake("chemistry.titration.amounts", "must increase");
  for (const std::string& text : deck.reactants)
    in.attempt("chemistry.titration.reactants", [&] { parse_reactant(text); });
}

void check_batch(Reader& in, const ChemistryDeck& deck) {
  if (deck.times.empty() != deck.minerals.empty())
    in.mistake(deck.times.empty() ? "chemistry.times" : "chemistry.mineral",
               deck.times.empty() ? "missing: the minerals react over these times"
                                  : "missing: nothing reacts over these times");
  if (!increases(deck.times)) in.mistake("chemistry.times", "must increase");
}

InflowDeck read_inflow(Reader& in) {
  InflowDeck inflow;
  in.text("solution", inflow.solution, "the solution that enters; required");
  in.text("where", inflow.where,
          "where it enters: a condition on x, y, z [m] from the low corner of the domain, in the syntax of the "
          "expression of geometry.solid, such as \"y < 0.5e-3\"; at each place of the inlet the condition of exactly "
          "one table must hold; required");
  if (in.documenting()) return inflow;
  if (inflow.where.empty())
    in.mistake("where", "missing; expected: a condition, such as \"y < 0.5e-3\"");
  else
    in.attempt("where", [&] { const Formula formula(inflow.where); });
  return inflow;
}

/// What `karst run` alone uses.
void read_run(Reader& in, ChemistryDeck& deck) {
  in.text("chemistry.initial", deck.initial,
          "`karst run`: the initial solution in the pores; may be omitted if there is only one solution");
  in.text("chemistry.inlet", deck.inlet,
          "`karst run`: the solution at the inlet; may be omitted if there is only one solution");
  in.tables(
      "chemistry.inflow",
      "`karst run`: instead of chemistry.inlet, a solution that enters through a part of the inlet; one table for "
      "each",
      [&](Reader& item) { deck.inflows.push_back(read_inflow(item)); });
  if (!deck.inflows.empty())
    in.refuse({"chemistry.inlet"}, "given together with [[chemistry.inflow]]; remove one of them");
  in.texts("chemistry.species", deck.species,
           "`karst run`: species whose molality [mol/kgw] is written to plotfiles with the field chemistry: [\"CO2\"]");
  in.word<WallCoupling>(
      "chemistry.walls", deck.walls,
      {{"as-needed", WallCoupling::as_needed,
        "coupled in steps with D dt / h² above 0.3, operator splitting in shorter ones"},
       {"in-turn", WallCoupling::in_turn, "operator splitting: second order in short steps, inaccurate in long ones"},
       {"coupled", WallCoupling::coupled, "coupled within the step: exact in the steady state for any step"}},
      "`karst run`: coupling of the reactions of minerals on walls with transport");
  in.number("chemistry.skip", deck.skip, "-",
            "`karst run`: cells whose totals have changed by less than this relative amount keep the rates of their "
            "last solve; 1e-7 or more, or 0: all cells are solved in every step",
            0.0, 1e-2);
  if (deck.skip > 0.0 && deck.skip < 1e-7)
    in.mistake("chemistry.skip", "{:g}: totals of the last solve are stored to 6e-8; expected: 0, or 1e-7 to 0.01",
               deck.skip);
}

/// What the engine phreeqcrm does not do.
void check_engine(Reader& in, const ChemistryDeck& deck) {
  if (deck.engine == ChemistryEngine::karst) return;
  if (!has_phreeqc())
    in.mistake("chemistry.engine",
               "\"phreeqcrm\": Karst was built without it; tools/build_phreeqcrm.sh builds PhreeqcRM, and the CMake "
               "option KARST_PHREEQCRM includes it");
  const auto alone = [&](bool asked, const char* what) {
    if (asked)
      in.mistake("chemistry.engine",
                 "\"phreeqcrm\" together with {}, which only the engine karst supports; use \"karst\"", what);
  };
  alone(!deck.sorbents.empty(), "exchangers or surfaces");
  alone(!deck.titration.reactants.empty(), "a titration");
  alone(std::ranges::any_of(deck.minerals, [](const MineralDeck& m) { return !m.wall.empty(); }),
        "minerals on walls, with diffusion films");
  for (const char* key : {"chemistry.skip", "chemistry.walls"}) alone(in.given(key), key);
}

/// Solutions, minerals, sorbents and equilibria.
void read_parts(Reader& in, ChemistryDeck& deck, ChemistryUse use) {
  in.tables("chemistry.solution", "a solution; one table for each", [&](Reader& item) {
    SolutionOptions s;
    s.name = deck.solutions.empty() ? "1" : std::to_string(deck.solutions.size() + 1);
    read_solution(item, s);
    if (std::ranges::find(deck.solutions, s.name, &SolutionOptions::name) != deck.solutions.end())
      item.mistake("name", "another solution has this name already");
    if (s.name.find_first_of(",\"\n") != std::string::npos)
      item.mistake("name", "commas, quotes and line breaks cannot be written to the tables; remove them");
    deck.solutions.push_back(std::move(s));
  });
  std::vector<std::string> names;  // of columns
  const auto say_name = [&](Reader& item, const std::string& name) {
    if (std::ranges::find(names, name) != names.end())
      item.mistake("name", "\"{}\": another mineral or equilibrium has this name already, which columns bear", name);
    names.push_back(name);
  };
  in.tables("chemistry.mineral",
            "a mineral that reacts with the solutions, in `karst speciate` with each of them over chemistry.times; one "
            "table for each",
            [&](Reader& item) {
              read_mineral(item, deck.minerals.emplace_back(), use);
              say_name(item, deck.minerals.back().options.name);
            });
  const auto read_sorbents = [&](const char* key, const char* help, void (*read_one)(Reader&, SorbentOptions&)) {
    in.tables(key, help, [&](Reader& item) {
      SorbentOptions s;
      read_one(item, s);
      if (std::ranges::find(deck.sorbents, s.name, &SorbentOptions::name) != deck.sorbents.end())
        item.mistake("name", "another exchanger or surface has this name already");
      deck.sorbents.push_back(std::move(s));
    });
  };
  read_sorbents("chemistry.exchange",
                "an exchanger in contact with the solutions, in `karst run` in every cell; one table for each",
                read_exchange);
  read_sorbents(
      "chemistry.surface",
      "a surface that forms complexes, in contact with the solutions, in `karst run` in every cell; one table for each",
      read_surface);
  in.tables("chemistry.equilibrium",
            "a mineral or gas in instantaneous equilibrium with the solutions, in `karst run` in every cell; one table "
            "for each",
            [&](Reader& item) {
              read_equilibrium(item, deck.equilibria.emplace_back());
              say_name(item, deck.equilibria.back().name);
            });
}

/// Path of a database: beside the deck, or the one of this name that Karst brings along (beside an installed program in
/// ../share/karst/databases, else in the folder it was built from). Throws Error when there is none, naming the places.
std::string database_path(const std::string& name, const std::string& deck_directory) {
  namespace fs = std::filesystem;
  const fs::path installed = program_path().parent_path().parent_path() / "share/karst/databases";
  const fs::path built = KARST_DATABASES;
  const fs::path beside = fs::path(deck_directory) / name;
  for (const fs::path& path : {beside, installed / name, built / name})
    if (fs::exists(path)) return path.string();
  throw Error(fmt::format("there is no {}, and no file {} included with Karst ({}, {})", beside.string(), name,
                          installed.string(), built.string()));
}

}  // namespace

void read(Reader& in, ChemistryDeck& deck, ChemistryUse use) {
  in.changes_answers_of("chemistry", {"transport"});
  const bool run = use == ChemistryUse::run;
  if (!run) in.text("title", deck.title, "a line that describes the case");
  in.word<ChemistryEngine>("chemistry.engine", deck.engine,
                           {{"karst", ChemistryEngine::karst, "Karst's own"},
                            {"phreeqcrm", ChemistryEngine::phreeqcrm,
                             "PHREEQC (PhreeqcRM), where Karst was built with it (CMake option KARST_PHREEQCRM): "
                             "solutions, and minerals and phases in equilibrium in a batch reactor or in every cell"}},
                           "solver of solutions and reactions");
  in.text("chemistry.database", deck.database,
          "file in PHREEQC's format, relative to the deck; phreeqc.dat is included with Karst");
  in.texts("chemistry.additions", deck.additions,
           "files in PHREEQC's format, relative to the deck, with further elements, species and phases: "
           "[\"mine.dat\"]; read after the database, so that their definitions replace those of the database");
  in.text("chemistry.rates", deck.rates,
          "file with RATE_PARAMETERS_PK or RATE_PARAMETERS_HERMANSKA in PHREEQC's format, relative to the deck, for "
          "minerals with rates = [\"database\"]; palandri-kharaka.dat is included with Karst");
  read_parts(in, deck, use);
  in.numbers("chemistry.times", deck.times, "s", "`karst speciate`: output times of the batch reaction", 1e-9, 1e300);
  read_titration(in, deck.titration);
  read_run(in, deck);
  check_engine(in, deck);
  if (in.documenting()) {
    deck = {};
    return;
  }
  if (run) {
    in.refuse({"chemistry.times"}, "a batch reaction belongs to `karst speciate`; `karst run` has [time]");
    in.refuse({"chemistry.titration.reactants", "chemistry.titration.amounts", "chemistry.titration.end",
               "chemistry.titration.steps"},
              "a titration belongs to `karst speciate`; remove it");
    if (!deck.asked())
      in.refuse(
          {"chemistry.engine", "chemistry.database", "chemistry.additions", "chemistry.rates", "chemistry.mineral",
           "chemistry.exchange", "chemistry.surface", "chemistry.equilibrium", "chemistry.initial", "chemistry.inlet",
           "chemistry.inflow", "chemistry.species", "chemistry.walls", "chemistry.skip"},
          "given without a [[chemistry.solution]], so nothing can react");
    return;
  }
  in.refuse({"chemistry.initial", "chemistry.inlet", "chemistry.inflow", "chemistry.species", "chemistry.walls",
             "chemistry.skip"},
            "belongs to `karst run`; remove it");
  check_batch(in, deck);
  if (deck.solutions.empty())
    in.mistake("chemistry.solution", "missing; `karst speciate` needs at least one [[chemistry.solution]]");
}

std::string ChemistryDeck::databases() const {
  return additions.empty() ? database : fmt::format("{}, {}", database, fmt::join(additions, ", "));
}

std::optional<Database> read_database_of(Reader& in, ChemistryDeck& deck) {
  std::vector<DatabaseRate> rates;
  if (!deck.rates.empty())
    in.attempt("chemistry.rates", [&] { rates = read_rates(database_path(deck.rates, in.directory())); });
  std::optional<Database> database;
  in.attempt("chemistry.database", [&] { database = read_database(database_path(deck.database, in.directory())); });
  if (database && !deck.additions.empty()) {
    const std::string path = database->name;
    database.reset();
    in.attempt("chemistry.additions", [&] {
      std::vector<std::string> additions;
      for (const std::string& name : deck.additions) additions.push_back(database_path(name, in.directory()));
      database = read_database(path, additions);
    });
  }
  if (!database) return database;
  std::ranges::copy(database->rates, std::back_inserter(rates));
  const auto known = [&](const char* list, std::size_t i, const std::string& phase) {
    return phase.empty() ||  // noted where it was read
           in.attempt(fmt::format("chemistry.{}[{}].phase", list, i), [&] { require_usable_phase(*database, phase); });
  };
  for (std::size_t m = 0; m < deck.minerals.size(); ++m) {
    MineralOptions& mineral = deck.minerals[m].options;
    if (!known("mineral", m, mineral.phase) ||
        !in.attempt(fmt::format("chemistry.mineral[{}].rates", m), [&] { take_rates(rates, mineral); }))
      mineral.rates.clear();
  }
  for (std::size_t e = 0; e < deck.equilibria.size(); ++e)
    if (!known("equilibrium", e, deck.equilibria[e].phase)) deck.equilibria[e].phase.clear();
  std::erase_if(deck.equilibria, [](const EquilibriumOptions& e) { return e.phase.empty(); });
  return database;
}

std::optional<PhreeqcFiles> phreeqc_files(const ChemistryDeck& deck, const std::string& deck_directory) {
  if (deck.engine == ChemistryEngine::karst) return std::nullopt;
  PhreeqcFiles files{database_path(deck.database, deck_directory), {}};
  for (const std::string& name : deck.additions) files.additions.push_back(database_path(name, deck_directory));
  return files;
}

}  // namespace karst
