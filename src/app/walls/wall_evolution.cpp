// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/wall_evolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "app/job/run_services.hpp"
#include "app/output/wall_surface.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "eb/mineral_choice.hpp"
#include "eb/moving/piece_speeds.hpp"

namespace karst {

namespace {

/// A step changes what a piece does by less than this part of it, whatever the trend.
constexpr double most_change = 0.5;
/// Of what a piece owes, at most so much of a cell's width is made up for in a step.
constexpr double most_made_up = 0.1;

/// As the deck asks, for one position of the walls of many.
Config config_of_step(const Config& config) {
  Config of_step = config;
  of_step.flow.estimate_error = of_step.flow.uncertainty = false;
  of_step.output.wall = false;
  return of_step;
}

JobResult result_of(const Job& job, const JobContext& run) {
  const std::unique_ptr<Process> process = job.start(run);
  process->step(0.0);
  return process->report();
}

using PartKey = std::tuple<int, std::int64_t, MineralNumber>;

/// Flux into each mineral of each piece [C m/s], by component.
using FluxOf = std::map<std::string, std::map<PartKey, double>>;

FluxOf fluxes(const Exchanges& exchanges) {
  FluxOf all;
  for (const auto& [component, rates] : exchanges.wall_rates)
    for (const MineralFlux& r : rates) all[component][{r.level, r.row, r.mineral}] = r.flux;
  return all;
}

/// [m/s]
double speed_of(const MovingMineral& mineral, const std::vector<ComponentDeck>& components, const FluxOf& flux,
                const PartKey& part) {
  double speed = mineral.speed;
  if (mineral.molar_volume > 0.0 && !components.empty()) {
    const std::string& component = mineral.component.empty() ? components[0].name : mineral.component;
    if (const auto of = flux.find(component); of != flux.end())
      if (const auto at = of->second.find(part); at != of->second.end())
        speed += mineral.molar_volume * mineral.moles * at->second;
  }
  return speed;
}

void find_speeds(const JobContext& run, std::span<const MineralMotion> minerals, const FluxOf& flux, SteadyState& s) {
  const Geometry& geometry = run.geometry();
  const double h = run.grid.cell_width();
  s.speed = wall_rows(geometry.levels);
  s.moving = wall_rows(geometry.levels);
  for (const WallPlace& p : wall_places(geometry, *run.ground->numbering())) {
    const double width = std::ldexp(1.0, -p.level);
    double moved = 0.0, area = 0.0;
    for_each_mineral(geometry.levels[p.level], p.row, [&](MineralNumber m, double a) {
      if (minerals[m].deck == nullptr) return;
      const MovingPart part{
          p.level, p.row, m, a * width * width,
          speed_of(*minerals[m].deck, run.config.transport.components, flux, {p.level, p.row, m}) / h};
      moved += part.area * part.speed;
      area += part.area;
      s.parts.push_back(part);
    });
    if (area == 0.0) continue;
    s.speed[p.level][p.row] = moved / p.area;
    s.moving[p.level][p.row] = area / p.area;
    s.largest_speed = std::max(s.largest_speed, std::abs(moved / p.area));
  }
  s.largest_speed = run.comm.max(s.largest_speed);
}

/// By the trend since the step before, as far as it goes.
double extrapolated(double now, double before, double dt, double dt_before) {
  if (dt_before == 0.0) return now;
  const double most = most_change * std::abs(now);
  return now + std::clamp(0.5 * dt / dt_before * (now - before), -most, most);
}

WallPieces pieces_of(const Geometry& geometry) { return {geometry.grid, geometry.levels}; }

/// Of each piece, the part of its area that may move.
WallRows moving_parts(const Geometry& geometry, std::span<const MineralMotion> minerals) {
  WallRows parts = wall_rows(geometry.levels);
  for (std::size_t l = 0; l < parts.size(); ++l)
    for (std::int64_t row = 0; row < std::ssize(parts[l]); ++row)
      for_each_mineral(geometry.levels[l], row, [&](MineralNumber m, double a) {
        if (minerals[m].deck != nullptr) parts[l][row] += a / geometry.levels[l].moments[row].wall_area;
      });
  return parts;
}

/// In parts of at most wall_courant_number corners, as speeds of pieces are known at the owners of corners of now.
std::int64_t move(const JobContext& run, const WallMotion& motion) {
  MovingWalls& walls = *run.walls;
  const Geometry& geometry = run.geometry();
  double fastest = 0.0;
  for (const auto& level : motion.speed)
    for (const double v : level) fastest = std::max(fastest, std::abs(v));
  fastest = run.comm.max(fastest);
  const double most = std::ldexp(wall_courant_number, -walls.displacement.level());
  const double parts = std::max(1.0, std::ceil(fastest * motion.dt / most - 1e-9));
  if (walls.displacement.blocks().layout().n_boxes() == 0)
    add_boxes_at_walls(run.comm, walls.before, walls.displacement);
  std::int64_t no_foot = 0;
  for (double done = 0.0; done < parts; ++done) {
    const WallSpeed speed = speed_of_pieces(run.comm, geometry.grid, geometry.levels, motion.speed, walls.displacement);
    no_foot += move_wall(run.comm, walls.before, speed, 0.0, motion.dt / parts, walls.displacement).no_foot;
  }
  return no_foot;
}

}  // namespace

std::vector<MineralMotion> mineral_motions(const JobContext& run) {
  const std::vector<MovingMineral>& deck = run.config.walls.minerals;
  std::vector<MineralMotion> all;
  for (const MineralWall& mineral : run.geometry().report.minerals) {
    auto found = std::ranges::find(deck, mineral.name, &MovingMineral::name);
    if (found == deck.end() && mineral.name != surroundings)
      found = std::ranges::find(deck, std::string(), &MovingMineral::name);
    all.push_back({mineral.name, found == deck.end() ? nullptr : &*found});
  }
  return all;
}

SteadyState solve_steady_state(const JobContext& run, std::span<const MineralMotion> minerals) {
  const Timer timer("steady state");
  const Config config = config_of_step(run.config);
  RunServices services{.solves_in_a_step = true};
  services.exchanges.taken = {ExchangeName::flow, ExchangeName::wall_rates};
  const JobContext here{
      .comm = run.comm, .config = config, .grid = run.grid, .ground = run.ground, .services = services};
  SteadyState state;
  for (const Job& job : {flow_job(), transport_job()})
    if (job.word.is_asked(config)) state.results.push_back(result_of(job, here));
  find_speeds(run, minerals, fluxes(services.exchanges), state);
  return state;
}

void dissolve(const Comm& comm, const SteadyState& now, double dt, EvolutionState& state) {
  std::vector<double> volume(state.dissolved.size(), 0.0);
  for (const MovingPart& part : now.parts) {
    const double gone = part.area * part.speed * dt;
    volume[part.mineral] += gone;
    state.owed[part.level][part.row] += gone;
  }
  comm.sum(std::span(volume));
  for (std::size_t m = 0; m < volume.size(); ++m) state.dissolved[m] += volume[m];
}

WallMotion motion_of(const JobContext& run, const SteadyState& now, double dt, const EvolutionState& state) {
  WallMotion motion{wall_rows(run.geometry().levels), dt};
  for (const WallPlace& p : wall_places(run.geometry(), *run.ground->numbering())) {
    if (now.moving[p.level][p.row] == 0.0) continue;
    const double most = std::ldexp(most_made_up, -p.level);
    const double rest = std::clamp(state.owed[p.level][p.row] / p.area, -most, most);
    motion.speed[p.level][p.row] =
        extrapolated(now.speed[p.level][p.row], state.before[p.level][p.row], dt, state.dt) + rest / dt;
  }
  return motion;
}

namespace {

/// Takes from what the minerals have dissolved, in these parts.
void take(double volume, std::vector<double>& dissolved) {
  double all = 0.0;
  for (const double d : dissolved) all += std::abs(d);
  for (double& d : dissolved) d -= all > 0.0 ? volume * std::abs(d) / all : 0.0;
}

}  // namespace

void settle(const JobContext& run, EvolutionState& state) {
  take(sum_of(run.comm, state.owed), state.dissolved);
  for (auto& level : state.owed) std::ranges::fill(level, 0.0);
}

void move_to_next_ground(JobContext& run, const WallMotion& motion, std::span<const MineralMotion> minerals,
                         EvolutionState& state) {
  const Timer timer("moving walls");
  move(run, motion);
  const std::shared_ptr<const Ground> ground = run.make_ground(run.flagged(), costs_at_start(run.config.run));
  const Geometry &was = run.geometry(), &is = ground->geometry();
  WallTransfer transfer = transfer_to_moved_walls(run.comm, pieces_of(was), state.before, state.owed, pieces_of(is),
                                                  moving_parts(is, minerals), run.walls->displacement);
  state.before = std::move(transfer.means);
  state.owed = std::move(transfer.owed);
  state.moved += transfer.moved;
  take(transfer.lost, state.dissolved);  // more than there was: the last of a grain
  run.ground = ground;
}

double sum_of(const Comm& comm, const WallRows& rows) {
  double sum = 0.0;
  for (const auto& level : rows)
    for (const double v : level) sum += v;
  return comm.sum(sum);
}

}  // namespace karst
