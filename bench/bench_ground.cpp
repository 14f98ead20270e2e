// SPDX-License-Identifier: BSD-3-Clause
// Price of a change of ground: the jobs of a deck go three steps through time, then their ground changes to the same
// boxes, to a finer level in an eighth of the domain, to another twentieth of these boxes, and back, with a step after
// each. Seconds of the slowest rank by phase, of ten steps on each ground, and the largest memory of a rank before and
// since. Before these, the set-up of these jobs, and on several ranks the price of other owners: a rank that is twice
// as slow, and as before. In the end a refined eighth moves every ten steps, so that about one in twenty of the boxes
// with unknowns is new each time (Ketton 128³: the mean of four moves): that fraction, and the fraction of the time
// that goes into changes of ground.
//   bench_ground DECK [threads = 1] [moves = 4]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "app/deck/session.hpp"
#include "app/deck/source.hpp"
#include "app/job/run_services.hpp"
#include "app/run/change_ground.hpp"
#include "app/run/simulation.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/file/run_guarded.hpp"
#include "clock.hpp"
#include "grid/morton.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/shared_directory.hpp"

namespace {

using namespace karst;

Config config_of(const char* deck) {
  Reader in = Reader::from_file(deck);
  Config config = read_config(in);
  in.finish();
  return config;
}

void step(const Together& all, Clock& clock) {
  make_step(all, clock);
  clock.advance();
  for (const auto& process : all) process->record(clock);
}

void print_timers(const Comm& comm) {
  for (const TimerRow& row : collect_timers(comm))
    if (row.max >= 0.01) fmt::print("  {:{}}{}: {:.2f} s\n", "", 2 * row.depth, row.name, row.max);
}

/// Of a change of ground and of the steps after it.
struct Seconds {
  double change = 0.0, steps = 0.0;
  double new_boxes = 0.0;  ///< fraction of the boxes with unknowns that had none before
};

/// Keys of the own boxes with unknowns, by level.
std::vector<std::vector<std::uint64_t>> boxes_with_unknowns(const Composite& grid) {
  std::vector<std::vector<std::uint64_t>> all(grid.n_levels());
  for (int l = 0; l < grid.n_levels(); ++l)
    for (int b = 0; b < grid.graph(l).n_local(); ++b)
      if (grid.numbering().box_end(l, b) > grid.numbering().box_begin(l, b))
        all[l].push_back(grid.graph(l).layout().keys()[grid.graph(l).first_box() + b]);
  return all;
}

/// Owners stay in this program.
double fraction_new(const Comm& comm, const std::vector<std::vector<std::uint64_t>>& before,
                    const std::vector<std::vector<std::uint64_t>>& now) {
  double n = 0.0, n_new = 0.0;
  for (std::size_t l = 0; l < now.size(); ++l)
    for (const std::uint64_t key : now[l]) {
      ++n;
      n_new += l < before.size() && std::ranges::binary_search(before[l], key) ? 0.0 : 1.0;
    }
  return comm.sum(n_new) / comm.sum(n);
}

double peak_mb(const Comm& comm) { return comm.max(1e-6 * static_cast<double>(arena::peak_resident_set())); }

constexpr int n_steps = 10;  ///< after each change

/// change(name, flagged boxes) -> Seconds
/// @param boxes  of level 0; of level 1 there are twice as many
template <class Change>
void go_through_changes(const Index& boxes, int n_moves, Change&& change) {
  std::vector<std::uint64_t> eighth;
  for_each_cell({Index{}, boxes}, [&](const Index& at) { eighth.push_back(morton_encode(at)); });
  std::ranges::sort(eighth);
  change("the same boxes", {});
  change("a finer level in an eighth", {eighth});
  // Octets of fine boxes at the end of the list go to coarse boxes behind it.
  std::vector<std::uint64_t> other = eighth;
  const std::size_t moved = std::max<std::size_t>(8, eighth.size() / 160 * 8);
  for (std::size_t i = eighth.size() - moved; i < eighth.size(); ++i) other[i] += moved;
  change("a twentieth of them elsewhere", {other});
  change("back", {});
  if (n_moves < 1) return;
  // Boxes leave the front of the list and others come behind its end.
  std::vector<std::uint64_t> window = eighth;
  change("a finer level in an eighth again", {window});
  Seconds sum;
  for (int i = 0; i < n_moves; ++i) {
    for (std::uint64_t& box : window) box += std::max<std::size_t>(1, eighth.size() / 16);
    const Seconds took = change("which moves", {window});
    sum.change += took.change;
    sum.steps += took.steps;
    sum.new_boxes += took.new_boxes / n_moves;
  }
  fmt::print("changes of ground: {:.1f} % of {:.2f} s, {:.1f} % of the boxes new in each\n",
             100.0 * sum.change / (sum.change + sum.steps), sum.change + sum.steps, 100.0 * sum.new_boxes);
}

void run(const Comm& comm, const Config& config, int n_moves) {
  const test::SharedDirectory folder(comm);
  const Source source = open_source(comm, config, folder.path() + "/image.h5");
  RunServices services;
  services.files.path = [&](const std::string& name) { return folder.path() + "/" + name; };
  RunSeconds seconds;
  KeptBoxes kept;
  const auto first_ground =
      std::make_shared<const Ground>(comm, build(comm, config, source, source.grid, seconds, {}, {&kept, nullptr}));
  JobContext context{comm, config, source.grid, first_ground, services};
  check_jobs(context);
  const std::vector<Job> asked = asked_jobs(config);
  services.exchanges.taken = taken_by(asked, config);
  std::size_t first = 0;
  for (std::size_t n = 0; first < asked.size(); first += n) {
    n = n_together(std::span(asked).subspan(first), config);
    if (first + n == asked.size()) break;
    run_job(asked[first], context);
  }
  const std::span<const Job> together = std::span(asked).subspan(first);
  std::optional<Checkpoint> from;
  const double begun = now();
  Together all = begin_together(context, together, from);
  fmt::print("set-up: {:.2f} s\n", comm.max(now() - begun));
  Clock clock = all.front()->clock();
  for (int i = 0; i < 3; ++i) step(all, clock);
  fmt::print("at most {:.0f} MB before\n", peak_mb(comm));
  context.make_ground = [&](const GridOptions& grid, const BoxCosts& costs) {
    Geometry geometry = build_geometry(comm, grid, *source.level_set, config.geometry.keep, ControlVolumes::home_cells,
                                       costs, {&kept, &context.geometry()});
    geometry.report = context.geometry().report;
    return std::make_shared<const Ground>(comm, std::move(geometry));
  };
  for (const double slowness : {2.0, 1.0}) {
    if (comm.size() == 1) break;
    BoxCosts costs;
    costs.slowness.assign(comm.size(), 1.0);
    costs.slowness.back() = slowness;
    const double before = now();
    change_owners(context, together, costs, all, clock);
    fmt::print("other owners: {:.2f} s\n", comm.max(now() - before));
    for (int i = 0; i < 3; ++i) step(all, clock);
  }
  go_through_changes(
      lattice_size(source.grid.domain(), source.grid.box), n_moves, [&](const char* name, const FlaggedBoxes& flagged) {
        reset_timers();
        const auto boxes = boxes_with_unknowns(*context.ground->composite());
        const double start = now();
        change_levels(context, together, flagged, all, clock);
        const double changed = now();
        fmt::print("{}: {:.2f} s, at most {:.0f} MB since the start\n", name, comm.max(changed - start), peak_mb(comm));
        print_timers(comm);
        const double steps = now();
        for (int i = 0; i < n_steps; ++i) step(all, clock);
        const Seconds took{comm.max(changed - start), comm.max(now() - steps),
                           fraction_new(comm, boxes, boxes_with_unknowns(*context.ground->composite()))};
        fmt::print("  {} steps: {:.2f} s\n", n_steps, took.steps);
        return took;
      });
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [&](const Comm& comm) {
    require(argc > 1, "bench_ground DECK [threads] [moves]");
    const PetscSession petsc;
    set_n_threads(argc > 2 ? std::atoi(argv[2]) : 1);
    run(comm, config_of(argv[1]), argc > 3 ? std::atoi(argv[3]) : 4);
  });
}
