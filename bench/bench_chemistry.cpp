// SPDX-License-Identifier: BSD-3-Clause
// Speciation and kinetics in microseconds of processor time per cell and step: `bench_chemistry DATABASE [THREADS]`. A
// thousand cells with different states, one after another, as in a transient run: totals change from step to step by up
// to the given fraction (cold: each step starts without a previous state). Prints lines of JSON; bench/phreeqc_rm.py
// does the same with PhreeqcRM in the same run and writes a table.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/comm/parallel.hpp"
#include "base/file/json.hpp"
#include "transport/reactive/reaction_step.hpp"

namespace {

using namespace karst;

constexpr int cells = 1000, steps = 20;
constexpr double dt = 10.0;  // s

/// Elements beside H and O, and minerals of one square metre per kilogram of water each.
struct Case {
  std::vector<std::string> elements, minerals;
};
const std::vector<Case> cases{
    {{"Ca", "C(4)"}, {"Calcite"}},
    {{"Ca", "C(4)", "Na", "Cl", "Mg"}, {"Calcite", "Dolomite"}},
    {{"Ca", "C(4)", "Na", "Cl", "Mg", "K", "S(6)", "Si", "Al", "Sr", "Ba"}, {"Calcite", "Dolomite", "Gypsum"}}};
constexpr double rate = 1e-6;  // mol/m²/s

/// Of all threads [s].
double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A cell from step to step; where its next solve begins is kept as the march keeps it.
struct Cell {
  std::vector<double> totals, extent;
  std::vector<float> start;
};

struct Buffers {
  Speciation state;
  std::vector<SolutionCondition> conditions;
  ReactionWorkspace reaction;
  std::vector<double> share, most;
  std::int64_t iterations = 0;
  int failed = 0;
};

/// pH 7.5, a millimole of each element.
Speciation first_state(const ChemicalSystem& system) {
  std::vector<SolutionCondition> conditions{{SolutionCondition::Kind::activity, -7.5 * std::log(10.0)}};
  for (int p = 1; p < system.n_primaries; ++p) conditions.push_back({SolutionCondition::Kind::total, 1e-3});
  SpeciationWorkspace work;
  Speciation state = cold_start(system, conditions);
  speciate(system, conditions, state, work);
  return state;
}

void speciate_cell(const ReactiveMedium& medium, bool cold, Cell& cell, Buffers& b) {
  b.conditions.clear();
  for (const double total : cell.totals) b.conditions.push_back({SolutionCondition::Kind::total, total});
  if (cold) b.state = cold_start(medium.system, b.conditions);
  b.failed += speciate(medium.system, b.conditions, b.state, b.reaction.speciation) ? 0 : 1;
}

void react_cell(const ReactiveMedium& medium, bool cold, Cell& cell, Buffers& b) {
  if (cold) b.state = medium.start;
  if (cold) cell.extent.assign(cell.extent.size(), 0.0);
  b.failed += solve_reaction(medium, {cell.totals, b.share, b.most, cell.extent}, b.state, b.reaction) ? 0 : 1;
}

/// Bytes that the march keeps per cell that reacts, beside its totals (reaction_step.hpp), with minerals that end in
/// every cell, or such that do not on walls.
double bytes_per_cell(const ReactiveMedium& medium, bool walls) {
  ReactiveSites sites;
  sites.n_minerals = medium.minerals.size();
  sites.volume.assign(cells, 0);
  sites.area.assign(sites.n_minerals * (walls ? cells : 1), 1.0);
  sites.amount.assign(sites.n_minerals, walls ? std::numeric_limits<double>::infinity() : 1.0);
  sites.film_time.assign(walls ? cells : 0, 1.0);
  sites.special.assign(walls ? cells : 0, 0);
  sites.along.assign(walls ? cells : 0, Vec3{});
  return static_cast<double>(sites.bytes() + start_reaction(medium, sites).bytes()) / cells;
}

ReactiveMedium medium_of(const Database& database, const Case& c) {
  ChemicalSystem system = make_system(database, c.elements, 298.15);
  std::vector<SurfaceReaction> minerals;
  for (const std::string& phase : c.minerals)
    minerals.push_back(make_surface_reaction(system, {phase, phase, 1.0, 1e3, {fmt::format("{}", rate)}}));
  Speciation start = first_state(system);
  return make_medium(std::move(system), std::move(minerals), std::move(start));
}

/// @param spread  relative change of each total from step to step
void measure(const ReactiveMedium& medium, bool kinetics, bool cold, double spread) {
  std::vector<double> first;
  for (int p = 0; p < medium.system.n_primaries; ++p) first.push_back(total_of(medium.system, medium.start, p));
  const std::size_t n_minerals = medium.minerals.size();
  std::vector<float> start(medium.n_basis() + 2);
  keep_start(medium.start, start.data());
  std::vector<Cell> all(cells, {first, std::vector<double>(n_minerals, 0.0), start});
  std::vector<Buffers> buffers(n_threads());
  for (Buffers& b : buffers) {
    b.state = medium.start;
    b.share.assign(n_minerals, dt);
    b.most.assign(n_minerals, 1e3);
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  double time = 0.0;
  for (int step = 0; step <= steps; ++step) {  // the first one fills buffers and is not counted
    for (Cell& cell : all)
      for (std::size_t p = 0; p < first.size(); ++p) cell.totals[p] = first[p] * (1.0 + spread * unit(random));
    if (step == 1)
      for (Buffers& b : buffers) b.iterations = 0;
    const double begin = processor_time();
    parallel_for(cells, [&](std::int64_t i) {
      Buffers& b = buffers[thread_number()];
      Cell& cell = all[i];
      begin_at(cell.start.data(), b.state);
      kinetics ? react_cell(medium, cold, cell, b) : speciate_cell(medium, cold, cell, b);
      keep_start(b.state, cell.start.data());
      b.iterations += b.state.iterations;
    });
    if (step > 0) time += processor_time() - begin;
  }
  std::int64_t iterations = 0;
  int failed = 0;
  for (const Buffers& b : buffers) {
    iterations += b.iterations;
    failed += b.failed;
  }
  constexpr double solves = 1.0 * cells * steps;
  const Json line{{"what", kinetics ? "kinetics" : "speciation"},
                  {"primaries", medium.system.n_primaries},
                  {"species", static_cast<int>(medium.system.species.size())},
                  {"minerals", static_cast<int>(n_minerals)},
                  {"cold", cold},
                  {"change", spread},
                  {"threads", n_threads()},
                  {"us", 1e6 * time / solves},
                  {"newton_steps", static_cast<double>(iterations) / solves},
                  {"failed", failed},
                  {"bytes", bytes_per_cell(medium, false)},
                  {"bytes_walls", bytes_per_cell(medium, true)}};
  fmt::print("{}\n", line.dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return fmt::print(stderr, "bench_chemistry DATABASE [THREADS]\n"), 1;
  const Database database = read_database(argv[1]);
  set_n_threads(argc == 3 ? std::atoi(argv[2]) : 1);
  for (const Case& c : cases) {
    const ReactiveMedium medium = medium_of(database, c);
    for (const bool kinetics : {false, true}) {
      for (const double spread : {1e-4, 1e-2, 0.3}) measure(medium, kinetics, false, spread);
      measure(medium, kinetics, true, 1e-2);
    }
  }
}
