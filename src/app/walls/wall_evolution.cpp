// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/wall_evolution.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "app/deck/reactive_plan.hpp"
#include "app/output/wall_surface.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "eb/mineral_choice.hpp"
#include "eb/moving/piece_speeds.hpp"
#include "eb/moving/wall_smoothing.hpp"

namespace karst {

namespace {

/// A step changes what a piece does by less than this part of it, whatever the trend.
constexpr double most_change = 0.5;
/// Of what a piece owes, at most so much of a cell's width is made up for in a step.
constexpr double most_made_up = 0.1;
/// So many cells is a wall taken to be behind at most: a linear profile goes on that far.
constexpr double most_behind = 1.0;
/// Passes along growing walls (decision 083): of how far they move, over about four cells, and of what they owe.
constexpr int passes_of_motion = 16, passes_of_owed = 8;
constexpr const char* walls_item = "walls";

/// The speed that a mineral of pieces has, which are asked for in the order in which they stand.
class SpeedOf {
 public:
  SpeedOf(const MineralMotion& mineral, const Exchanges& exchanges)
      : given_(mineral.deck->speed), volume_(mineral.driver ? mineral.driver->volume : 0.0) {
    if (!mineral.driver) return;
    const auto& all = mineral.by_chemistry ? exchanges.dissolution : exchanges.wall_rates;
    if (const auto of = all.find(mineral.driver->name); of != all.end()) rates_ = of->second;
  }
  /// [m/s]
  double at(int level, std::int64_t row, MineralNumber m) {
    const auto key = [](const MineralFlux& r) { return std::tuple(r.level, r.row, r.mineral); };
    const std::tuple wanted(level, row, m);
    while (next_ < rates_.size() && key(rates_[next_]) < wanted) ++next_;
    const bool found = next_ < rates_.size() && key(rates_[next_]) == wanted;
    return given_ + (found ? volume_ * rates_[next_].flux : 0.0);
  }

 private:
  double given_, volume_;
  std::span<const MineralFlux> rates_{};  ///< by level, row, mineral
  std::size_t next_ = 0;
};

/// Finds what moves its walls.
void find_driver(const Config& config, MineralMotion& motion) {
  const MovingMineral& deck = *motion.deck;
  motion.molar_volume = deck.molar_volume;
  motion.by_chemistry = moved_by_chemistry(config, deck);
  if (motion.by_chemistry) {
    const std::vector<MineralDeck>& minerals = config.chemistry.minerals;
    for (std::size_t i = 0; i < minerals.size(); ++i) {
      if (minerals[i].deposit || !lies_on(minerals[i], motion.name)) continue;
      if (!(deck.molar_volume > 0.0)) motion.molar_volume = molar_volume_of(*config.reactive, i);
      motion.driver = WallDriver{minerals[i].options.name, motion.molar_volume};
    }
  } else if (const auto& components = config.transport.components; deck.molar_volume > 0.0 && !components.empty()) {
    motion.driver =
        WallDriver{deck.component.empty() ? components[0].name : deck.component, deck.molar_volume * deck.moles};
  }
}

/// Deposits of [chemistry], in its order.
void add_deposits(const Config& config, std::vector<MineralMotion>& all) {
  const std::vector<MineralDeck>& minerals = config.chemistry.minerals;
  for (std::size_t i = 0; i < minerals.size() && config.reactive != nullptr; ++i) {
    if (!minerals[i].deposit) continue;
    const std::string& name = minerals[i].options.name;
    const double volume = molar_volume_of(*config.reactive, i);
    all.push_back({.name = name,
                   .by_chemistry = true,
                   .driver = WallDriver{name, volume},
                   .molar_volume = volume,
                   .deposit = true});
  }
}

/// By the trend since the step before, as far as it goes.
double extrapolated(double now, double before, double dt, double dt_before) {
  if (dt_before == 0.0) return now;
  const double most = most_change * std::abs(now);
  return now + std::clamp(0.5 * dt / dt_before * (now - before), -most, most);
}

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

/// Takes from what the minerals of the geometry have dissolved, in these parts; from that of deposits where these alone
/// have.
/// @param n  minerals of the geometry
void take(double volume, std::size_t n, std::vector<double>& dissolved) {
  const auto of = [](std::span<const double> part) {
    double all = 0.0;
    for (const double d : part) all += std::abs(d);
    return all;
  };
  std::span<double> from = std::span(dissolved).first(n);
  if (!(of(from) > 0.0)) from = dissolved;
  const double all = of(from);
  for (double& d : from) d -= all > 0.0 ? volume * std::abs(d) / all : 0.0;
}

/// What no wall nearby could take, as where the last of a grain has gone at once, is owed by all that may owe: by their
/// parts of what they did in the last step, where none has moved by their areas. Returns what is left: all, where there
/// are none. Collective.
double spread(const JobContext& run, double lost, const WallRows& takes, EvolutionState& evolution) {
  if (lost == 0.0) return 0.0;
  const std::vector<WallPlace> places = wall_places(run.geometry(), *run.ground->numbering());
  for (const bool by_speed : {true, false}) {
    const auto weight = [&](const WallPlace& p) {
      return takes[p.level][p.row] * p.area * (by_speed ? std::abs(evolution.before[p.level][p.row]) : 1.0);
    };
    double all = 0.0;
    for (const WallPlace& p : places) all += weight(p);
    all = run.comm.sum(all);
    if (!(all > 0.0)) continue;
    for (const WallPlace& p : places) evolution.owed[p.level][p.row] += lost * weight(p) / all;
    return 0.0;
  }
  return lost;
}

/// A mineral whose wall is moved by what it takes of a component.
struct Driven {
  double given = 0.0;                     ///< part of its speed [h0/s]
  double slope = 0.0;                     ///< of the component at the wall, per speed beyond that [C s/h0²]
  std::vector<double>* slopes = nullptr;  ///< WallsBehind::slope of the component; nullptr: none moves it
};

std::vector<Driven> driven_by_components(std::span<const MineralMotion> minerals,
                                         std::span<const ComponentDeck> components, double h, WallsBehind& behind) {
  std::vector<Driven> all(minerals.size());
  for (std::size_t m = 0; m < minerals.size(); ++m) {
    const MineralMotion& mineral = minerals[m];
    if (mineral.deck == nullptr || !mineral.driver || mineral.by_chemistry) continue;
    const double d = std::ranges::find(components, mineral.driver->name, &ComponentDeck::name)->diffusivity;
    if (d > 0.0)
      all[m] = {mineral.deck->speed / h, h * h / (mineral.driver->volume * d), &behind.slope[mineral.driver->name]};
  }
  return all;
}

/// Adds what deposits do and cover.
void add_deposits(const JobContext& run, std::span<const MineralMotion> minerals, const Exchanges& exchanges,
                  std::span<const WallPlace> places, WallSpeeds& s) {
  const Geometry& geometry = run.geometry();
  const double h = run.grid.cell_width();
  s.covering.assign(minerals.size(), 0.0);
  s.lying.assign(minerals.size(), 0.0);
  for (std::size_t d = 0; d < minerals.size(); ++d) {
    if (!minerals[d].deposit) continue;
    const auto found = exchanges.deposits.find(minerals[d].name);
    if (found == exchanges.deposits.end()) continue;
    auto place = places.begin();
    for (const DepositOnWall& on : found->second) {
      place = std::ranges::find_if(place, places.end(),
                                   [&](const WallPlace& p) { return p.level == on.level && p.row == on.row; });
      const double volume = minerals[d].molar_volume / h, left = volume * on.amount * place->area;
      const MovingPart part{on.level, on.row, static_cast<MineralNumber>(d), place->area, volume * on.flux, left};
      s.parts.push_back(part);
      s.speed[on.level][on.row] += part.speed;
      s.moving[on.level][on.row] = 1.0;
      s.covering[d] += on.part * place->area;
      s.lying[d] += left;
      for_each_mineral(geometry.levels[on.level], on.row, [&](MineralNumber m, double a) {
        const double width = std::ldexp(1.0, -on.level), of_piece = a * width * width / place->area;
        s.covering[m] -= of_piece * on.part * place->area;
        s.lying[m] -= of_piece * left;
      });
    }
  }
  run.comm.sum(std::span(s.covering));
  run.comm.sum(std::span(s.lying));
}

/// What dissolves in a time, as far as `limit` lets it: [mineral] on all ranks [h0³].
template <class Limit>
std::vector<double> dissolve_parts(const Comm& comm, std::span<MovingPart> parts, double dt, EvolutionState& state,
                                   Limit&& limit) {
  std::vector<double> volume(state.dissolved.size(), 0.0);
  for (MovingPart& part : parts) {
    const double gone = limit(part, part.area * part.speed * dt);
    volume[part.mineral] += gone;
    state.owed[part.level][part.row] += gone;
  }
  comm.sum(std::span(volume));
  for (std::size_t m = 0; m < volume.size(); ++m) state.dissolved[m] += volume[m];
  return volume;
}

/// Pieces whose walls may owe: those that move, and those that a deposit lies on; a little where one might lie.
void add_deposit_walls(const JobContext& run, std::span<const WallRows> deposits, WallRows& takes) {
  constexpr double little = 1e-6;
  const Geometry& geometry = run.geometry();
  const std::vector<MineralDeck>& deck = run.config.chemistry.minerals;
  std::vector<bool> bears;
  for (const MineralWall& wall : geometry.report.minerals)
    bears.push_back(
        std::ranges::any_of(deck, [&](const MineralDeck& m) { return m.deposit && lies_on(m, wall.name); }));
  for (std::size_t l = 0; l < takes.size(); ++l)
    for (std::int64_t row = 0; row < std::ssize(takes[l]); ++row) {
      if (std::ranges::any_of(deposits, [&](const WallRows& d) { return d[l][row] > 0.0; })) takes[l][row] = 1.0;
      if (takes[l][row] > 0.0) continue;
      for_each_mineral(geometry.levels[l], row, [&](MineralNumber m, double) {
        if (bears[m]) takes[l][row] = little;
      });
    }
}

/// Evens out amounts of pieces where walls grow, so that the noise of single pieces does not: growth that diffusion
/// limits is unstable, faster the shorter a wave (Mullins & Sekerka, J. Appl. Phys. 34 (1963) 323). Collective.
/// Speeds that are given alone are even, and stay so.
/// @param speed  < 0: the piece grows
void smooth_growth(const JobContext& run, const WallRows& speed, int passes, WallRows& amounts) {
  if (std::ranges::none_of(mineral_motions(run), [](const MineralMotion& m) { return m.driver.has_value(); })) return;
  WallRows grows = wall_rows(run.geometry().levels);
  bool any = false;
  for (const WallPlace& p : wall_places(run.geometry(), *run.ground->numbering()))
    if (speed[p.level][p.row] < 0.0) grows[p.level][p.row] = 1.0, any = true;
  if (!run.comm.any(any)) return;
  smooth_along_walls(run.comm, wall_pieces_of(run.geometry()), grows, passes, run.walls->displacement, amounts);
}

/// Of each piece that moves, smooth where the wall grows. Collective.
WallRows smooth_distance(const JobContext& run, const WallRows& distance) {
  WallRows volume = distance;
  const std::vector<WallPlace> places = wall_places(run.geometry(), *run.ground->numbering());
  for (const WallPlace& p : places) volume[p.level][p.row] *= p.area;
  smooth_growth(run, distance, passes_of_motion, volume);
  WallRows smooth = distance;
  for (const WallPlace& p : places)
    if (distance[p.level][p.row] < 0.0) smooth[p.level][p.row] = volume[p.level][p.row] / p.area;
  return smooth;
}

/// The state of a process, with this one in place of its own.
State with_evolution(const JobContext& run, const EvolutionState& evolution, const State& state) {
  State moved = state_of(run, evolution);
  Json numbers = state.numbers;
  numbers.update(moved.numbers);
  moved.numbers = std::move(numbers);
  return moved;
}

/// Of the unknowns of another ground of the run.
EvolutionState evolution_on(const Comm& comm, const Ground& ground, const State& state) {
  EvolutionState evolution;
  const Geometry& geometry = ground.geometry();
  evolution.before = wall_rows(geometry.levels);
  evolution.owed = wall_rows(geometry.levels);
  fail_together(comm, [&] {
    const Json& numbers = state.numbers;
    evolution.time = numbers.at("time");
    evolution.dt = numbers.at("dt");
    evolution.trend = numbers.at("trend");
    evolution.dissolved = numbers.at("dissolved").get<std::vector<double>>();
    evolution.moved = numbers.at("moved");
    evolution.carried_away = numbers.at("carried_away").get<std::vector<double>>();
    std::vector<double> rows(2 * set_of(state, unknowns_of(geometry, *ground.numbering()).name).size);
    take_item(state, walls_item, 2, rows);
    for (const WallPlace& p : wall_places(geometry, *ground.numbering())) {
      evolution.before[p.level][p.row] = rows[2 * p.unknown];
      evolution.owed[p.level][p.row] = rows[2 * p.unknown + 1];
    }
  });
  return evolution;
}

}  // namespace

std::vector<MineralMotion> mineral_motions(const JobContext& run) {
  const std::vector<MovingMineral>& deck = run.config.walls.minerals;
  std::vector<MineralMotion> all;
  for (const MineralWall& mineral : run.geometry().report.minerals) {
    auto found = std::ranges::find(deck, mineral.name, &MovingMineral::name);
    if (found == deck.end() && mineral.name != surroundings)
      found = std::ranges::find(deck, std::string(), &MovingMineral::name);
    MineralMotion& motion = all.emplace_back(MineralMotion{mineral.name, found == deck.end() ? nullptr : &*found});
    if (motion.deck == nullptr) continue;
    find_driver(run.config, motion);
    if (motion.by_chemistry && !motion.driver && motion.deck->speed == 0.0) motion.deck = nullptr;  // bears deposits
  }
  if (run.config.walls.asked()) add_deposits(run.config, all);
  return all;
}

WallSpeeds wall_speeds(const JobContext& run, std::span<const MineralMotion> minerals, const Exchanges& exchanges) {
  const Geometry& geometry = run.geometry();
  const double h = run.grid.cell_width();
  std::vector<std::optional<SpeedOf>> speed(minerals.size());
  for (std::size_t m = 0; m < minerals.size(); ++m)
    if (minerals[m].deck != nullptr) speed[m].emplace(minerals[m], exchanges);
  WallSpeeds s;
  s.speed = wall_rows(geometry.levels);
  s.moving = wall_rows(geometry.levels);
  const std::vector<WallPlace> places = wall_places(run.geometry(), *run.ground->numbering());
  for (const WallPlace& p : places) {
    const double width = std::ldexp(1.0, -p.level);
    double moved = 0.0, area = 0.0;
    for_each_mineral(geometry.levels[p.level], p.row, [&](MineralNumber m, double a) {
      if (minerals[m].deck == nullptr) return;
      const MovingPart part{p.level, p.row, m, a * width * width, speed[m]->at(p.level, p.row, m) / h};
      moved += part.area * part.speed;
      area += part.area;
      s.parts.push_back(part);
    });
    if (area == 0.0) continue;
    s.speed[p.level][p.row] = moved / p.area;
    s.moving[p.level][p.row] = area / p.area;
  }
  add_deposits(run, minerals, exchanges, places, s);
  for (const WallPlace& p : places) s.largest = std::max(s.largest, std::abs(s.speed[p.level][p.row]));
  s.largest = run.comm.max(s.largest);
  return s;
}

EvolutionState begin_evolution(const JobContext& run, std::size_t n_minerals) {
  const auto& levels = run.geometry().levels;
  return {.before = wall_rows(levels),
          .owed = wall_rows(levels),
          .dissolved = std::vector<double>(n_minerals, 0.0),
          .carried_away = std::vector<double>(n_minerals, 0.0)};
}

void dissolve(const Comm& comm, const WallSpeeds& now, double dt, EvolutionState& state) {
  std::vector<MovingPart> parts = now.parts;
  dissolve_parts(comm, parts, dt, state, [](MovingPart&, double wanted) { return wanted; });
}

void dissolve_as_left(const Comm& comm, std::span<const MineralMotion> minerals, WallSpeeds& now, double dt,
                      EvolutionState& state) {
  const std::vector<double> volume = dissolve_parts(comm, now.parts, dt, state, [](MovingPart& part, double wanted) {
    const double gone = std::min(wanted, part.left);
    part.left = std::max(0.0, part.left - gone);
    return gone;
  });
  for (std::size_t m = 0; m < now.lying.size(); ++m)
    if (minerals[m].deposit) now.lying[m] -= volume[m];
}

WallMotion motion_of(const JobContext& run, const WallSpeeds& now, double dt, Trend trend,
                     const EvolutionState& state) {
  WallMotion motion{wall_rows(run.geometry().levels)};
  const double dt_before = trend == Trend::linear ? state.trend : 0.0;
  for (const WallPlace& p : wall_places(run.geometry(), *run.ground->numbering())) {
    if (now.moving[p.level][p.row] == 0.0) continue;
    const double most = std::ldexp(dt_before > 0.0 ? most_made_up : 1.0, -p.level);
    motion.distance[p.level][p.row] =
        std::clamp(state.owed[p.level][p.row] / p.area, -most, most) +
        dt * extrapolated(now.speed[p.level][p.row], state.before[p.level][p.row], dt, dt_before);
  }
  return motion;
}

WallsBehind walls_behind(const JobContext& run, std::span<const MineralMotion> minerals, const EvolutionState& state) {
  const double h = run.grid.cell_width();
  const Geometry& geometry = run.geometry();
  const std::vector<ComponentDeck>& components = run.config.transport.components;
  WallsBehind behind;
  const std::vector<Driven> driven = driven_by_components(minerals, components, h, behind);
  for (const WallPlace& p : wall_places(geometry, *run.ground->numbering())) {
    const LevelGeometry& level = geometry.levels[p.level];
    bool moves = false;
    for_each_mineral(level, p.row, [&](MineralNumber m, double) { moves = moves || driven[m].slopes != nullptr; });
    const double speed = state.before[p.level][p.row];
    if (!moves || speed == 0.0) continue;
    const double most = std::ldexp(most_behind, -p.level);
    behind.unknown.push_back(p.unknown);
    behind.distance.push_back(std::clamp(state.owed[p.level][p.row] / p.area, -most, most));
    behind.speed.push_back(speed);
    for (auto& [name, slopes] : behind.slope) slopes.push_back(0.0);
    for_each_mineral(level, p.row, [&](MineralNumber m, double a) {
      const Driven& d = driven[m];
      if (d.slopes != nullptr) d.slopes->back() += std::ldexp(a, -2 * p.level) / p.area * d.slope * (speed - d.given);
    });
  }
  return behind;
}

double grown_step(double longest, double before) {
  constexpr double first = 0.25, growth = 2.0;
  return before > 0.0 ? std::min(longest, growth * before) : first * longest;
}

void settle(const JobContext& run, EvolutionState& state) {
  take(sum_of(run.comm, state.owed), run.geometry().report.minerals.size(), state.dissolved);
  for (auto& level : state.owed) std::ranges::fill(level, 0.0);
}

State state_of(const JobContext& run, const EvolutionState& evolution) {
  State state;
  const CompositeNumbering& numbering = *run.ground->numbering();
  VofSet unknowns = unknowns_of(run.geometry(), numbering);
  Array<double> rows(2 * unknowns.size, Purpose::buffers, 0.0);
  for (const WallPlace& p : wall_places(run.geometry(), numbering)) {
    rows[2 * p.unknown] = evolution.before[p.level][p.row];
    rows[2 * p.unknown + 1] = evolution.owed[p.level][p.row];
  }
  add_owned(state, {walls_item, "h0/s, h0^3", ItemKind::amount, 2, unknowns.name}, std::move(rows));
  add_set(state, std::move(unknowns));
  state.numbers = {{"time", evolution.time},   {"dt", evolution.dt},
                   {"trend", evolution.trend}, {"dissolved", evolution.dissolved},
                   {"moved", evolution.moved}, {"carried_away", evolution.carried_away}};
  return state;
}

EvolutionState evolution_of(const JobContext& run, const State& state) {
  return evolution_on(run.comm, *run.ground, state);
}

/// In parts of at most wall_courant_number corners, as speeds of pieces are known at the owners of corners of now.
void move_by(const JobContext& run, const WallMotion& motion) {
  MovingWalls& walls = *run.walls;
  const Geometry& geometry = run.geometry();
  double farthest = 0.0;
  for (const auto& level : motion.distance)
    for (const double d : level) farthest = std::max(farthest, std::abs(d));
  farthest = run.comm.max(farthest);
  const double most = std::ldexp(wall_courant_number, -walls.displacement.level());
  const double parts = std::max(1.0, std::ceil(farthest / most - 1e-9));
  if (walls.displacement.blocks().layout().n_boxes() == 0)
    add_boxes_at_walls(run.comm, walls.before, walls.displacement);
  const WallRows distance = smooth_distance(run, motion.distance);
  WallSpeed speed;
  std::int64_t known_for = 0;  // boxes: they are only added, and keep their owners unless some are
  for (double done = 0.0; done < parts; ++done) {
    const std::int64_t boxes = walls.displacement.blocks().layout().n_boxes();
    if (boxes != known_for)
      speed = speed_of_pieces(run.comm, geometry.grid, geometry.levels, distance, walls.displacement);
    known_for = boxes;
    move_wall(run.comm, walls.before, speed, 0.0, 1.0 / parts, walls.displacement);
  }
}

State on_moved_walls(const JobContext& run, const Ground& before, std::span<const WallRows> deposits,
                     const State& state) {
  EvolutionState evolution = evolution_on(run.comm, before, state);
  const Geometry &was = before.geometry(), &is = run.geometry();
  WallRows takes = moving_parts(is, mineral_motions(run));
  if (!deposits.empty()) add_deposit_walls(run, deposits, takes);
  WallTransfer transfer = transfer_to_moved_walls(run.comm, wall_pieces_of(was), evolution.before, evolution.owed,
                                                  wall_pieces_of(is), takes, run.walls->displacement);
  evolution.before = std::move(transfer.means);
  evolution.owed = std::move(transfer.owed);
  smooth_growth(run, evolution.before, passes_of_owed, evolution.owed);
  evolution.moved += transfer.moved;
  // Of the last of all grains: more, or less, than there was.
  take(spread(run, transfer.lost, takes, evolution), is.report.minerals.size(), evolution.dissolved);
  return with_evolution(run, evolution, state);
}

State on_walls_carried_away(const JobContext& run, const Ground& before, const State& state) {
  EvolutionState evolution = evolution_on(run.comm, before, state);
  const Geometry &was = before.geometry(), &is = run.geometry();
  WallTransfer transfer =
      transfer_to_moved_walls(run.comm, wall_pieces_of(was), evolution.before, evolution.owed, wall_pieces_of(is),
                              moving_parts(is, mineral_motions(run)), run.walls->displacement, CellChanges::not_owed);
  evolution.before = std::move(transfer.means);
  evolution.owed = std::move(transfer.owed);
  const double growth = (is.report.porosity - was.report.porosity) * static_cast<double>(domain_of(is).box().count());
  std::vector<double> less;
  for (std::size_t m = 0; m < is.report.minerals.size(); ++m)
    less.push_back(was.report.minerals[m].volume.value() - is.report.minerals[m].volume.value());
  const double all = std::accumulate(less.begin(), less.end(), 0.0);
  for (std::size_t m = 0; m < less.size() && all != 0.0; ++m)
    evolution.carried_away[m] += (growth - transfer.lost) * less[m] / all;
  return with_evolution(run, evolution, state);
}

double sum_of(const Comm& comm, const WallRows& rows) {
  double sum = 0.0;
  for (const auto& level : rows)
    for (const double v : level) sum += v;
  return comm.sum(sum);
}

}  // namespace karst
