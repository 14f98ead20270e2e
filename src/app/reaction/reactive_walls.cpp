// SPDX-License-Identifier: BSD-3-Clause
// What walls give off and bear: for walls that move, and while time passes without steps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/output/wall_surface.hpp"
#include "app/reaction/reactive_run.hpp"
#include "base/math/no_number.hpp"
#include "eb/mineral_choice.hpp"

namespace karst {

std::vector<std::vector<double>> covered_parts(const Config& config, const Geometry& geometry) {
  std::vector<std::vector<double>> parts;
  for (const MineralWall& wall : geometry.report.minerals) {
    parts.emplace_back();
    for (const MineralDeck& m : config.chemistry.minerals)
      parts.back().push_back(lies_on(m, wall.name) ? m.fraction : 0.0);
  }
  return parts;
}

void ReactiveRun::leave_dissolution(double dt, Exchanges& exchanges) const {
  exchanges.dissolution.clear();
  exchanges.deposits.clear();
  if (taken_.empty()) return;
  const ReactiveSites& sites = places_.front().sites;
  const std::vector<double>& amount = places_.front().state.amount;
  const std::vector<std::vector<double>> parts = covered_parts(run_.config, run_.geometry());
  const std::vector<std::string> names = mineral_names();
  for (const WallPlace& p : wall_places(run_.geometry(), *run_.ground->numbering())) {
    const auto site = std::ranges::lower_bound(sites.volume, p.unknown);
    if (site == sites.volume.end() || *site != p.unknown) continue;
    const std::size_t s = site - sites.volume.begin();
    const LevelGeometry& level = run_.geometry().levels[p.level];
    const double h = Composite::width(p.level), water = moles_ * grid_.volume[p.unknown],
                 area = p.area * cell_width_ * cell_width_;
    for (std::size_t m = 0; m < sites.n_minerals; ++m) {
      double covered = 0.0, below = 0.0;
      for_each_mineral(level, p.row, [&](MineralNumber g, double a) {
        covered += a * h * h * parts.at(g)[m];
        if (parts.at(g)[m] > 0.0) below += a * h * h;
      });
      if (covered == 0.0) continue;
      const std::size_t i = s * sites.n_minerals + m;
      const double moles = water * taken_[i];
      if (sites.has_deposits() && sites.covers[m] > 0.0) {
        exchanges.deposits[names[m]].push_back({p.level, p.row, moles / (dt * area), water * amount[i] / area,
                                                covered_by(sites, amount, s, m) * below / p.area});
        continue;
      }
      const double per_covered = moles / (dt * covered * cell_width_ * cell_width_);
      for_each_mineral(level, p.row, [&](MineralNumber g, double a) {
        if (parts.at(g)[m] > 0.0)
          exchanges.dissolution[names[m]].push_back({p.level, p.row, g, a * h * h, parts.at(g)[m] * per_covered});
      });
    }
  }
}

double ReactiveRun::mean_rate(const Place& place, std::size_t i) const {
  return place.walls ? taken_[i] / step_ : place.state.rate[i];
}

/// That a mineral ends there, and is one of those of the place.
bool ReactiveRun::ends_at(const Place& place, std::size_t mineral) const {
  const std::vector<MineralDeck>& deck = run_.config.chemistry.minerals;
  const bool of_walls = mineral < deck.size() && !deck[mineral].wall.empty();
  return of_walls == place.walls && std::isfinite(place.sites.amount[mineral]);
}

/// Less what is yet to be counted of time that has passed, as `dissolved` has it.
void ReactiveRun::find_amounts() {
  for (MineralLine& m : past_.line.minerals) m.amount = no_number;
  for (const Place& place : places_)
    for (std::size_t m = 0; m < place.sites.n_minerals; ++m) {
      if (!ends_at(place, m)) continue;
      double sum = 0.0;
      for (std::size_t s = 0; s < place.sites.size(); ++s)
        sum += grid_.volume[place.sites.volume[s]] * place.state.amount[s * place.sites.n_minerals + m];
      const double buried = place.state.buried.empty() ? 0.0 : place.state.buried[m];
      past_.line.minerals[m].amount =
          moles_ * (run_.comm.sum(sum) + buried) - (past_.provisional.empty() ? 0.0 : past_.provisional[m]);
    }
}

double ReactiveRun::thickness_at(std::size_t volume, std::size_t mineral) const {
  const Place& walls = places_.front();
  const auto site = std::ranges::lower_bound(walls.sites.volume, static_cast<std::int32_t>(volume));
  if (site == walls.sites.volume.end() || *site != static_cast<std::int32_t>(volume)) return no_number;
  const std::size_t i = (site - walls.sites.volume.begin()) * walls.sites.n_minerals + mineral;
  if (!(walls.sites.bare[i] > 0.0)) return no_number;
  const double area = walls.sites.bare[i] / run_.config.chemistry.minerals[mineral].fraction;
  return walls.state.amount[i] * molar_volume_of(plan_, mineral) / area;
}

/// What dissolves of each mineral in a time as in the last step [mol], as far as there is some, is taken from it.
std::vector<double> ReactiveRun::pass(double time) {
  std::vector<double> moles;
  for (const MineralLine& m : past_.line.minerals) moles.push_back(time * m.rate);
  for (Place& place : places_)
    for (std::size_t m = 0; m < place.sites.n_minerals; ++m) {
      if (!ends_at(place, m)) continue;
      double missing = 0.0;
      for (std::size_t s = 0; s < place.sites.size(); ++s) {
        const std::size_t i = s * place.sites.n_minerals + m;
        double& amount = place.state.amount[i];
        const double wanted = time * mean_rate(place, i), gone = std::min(wanted, std::max(0.0, amount));
        missing += grid_.volume[place.sites.volume[s]] * (wanted - gone);
        amount = left_after(amount, gone);
      }
      moles[m] -= moles_ * run_.comm.sum(missing);
    }
  return moles;
}

/// What minerals release while the water stands still, as it does while time passes, leaves through the outlet.
/// @param moles  [mineral]
void ReactiveRun::release(std::span<const double> moles) {
  ElementLedger& ledger = past_.line.ledger;
  for (std::size_t m = 0; m < moles.size(); ++m)
    for (std::size_t p = 0; p < ledger.released.size(); ++p) {
      const double released = moles[m] * plan_.reactions()[m].brought[p];
      ledger.released[p] += released;
      ledger.out[p] += released;
    }
}

/// By the trapezoidal rule: half with the rates before it, half with those after it, once count_passed() is called.
void ReactiveRun::skip(double time) {
  count_passed();
  if (!(time > 0.0)) return;
  past_.passed = time;
  const std::vector<double> first = pass(0.5 * time);
  std::vector<double> passed;  // of each mineral
  for (std::size_t m = 0; m < first.size(); ++m) {
    MineralLine& mineral = past_.line.minerals[m];
    past_.provisional.push_back(0.5 * time * mineral.rate);
    mineral.dissolved += first[m] + past_.provisional.back();
    passed.push_back(first[m] + past_.provisional.back());
  }
  release(passed);
  ElementLedger& ledger = past_.line.ledger;
  for (std::size_t p = 0; p < ledger.in.size(); ++p) {
    ledger.in[p] += time * ledger.inflow[p];
    ledger.out[p] += time * ledger.inflow[p];
  }
  find_amounts();
}

void ReactiveRun::count_passed() {
  if (past_.provisional.empty()) return;
  std::vector<double> second = pass(0.5 * past_.passed);
  for (std::size_t m = 0; m < second.size(); ++m)
    past_.line.minerals[m].dissolved += (second[m] -= past_.provisional[m]);
  release(second);
  past_.provisional.clear();
  past_.passed = 0.0;
  find_amounts();
}

double ReactiveRun::longest_skip() const {
  constexpr double most_change = 0.25;  // of what covers a wall
  double longest = std::numeric_limits<double>::infinity();
  for (const Place& place : places_) {
    const ReactiveSites& sites = place.sites;
    const std::size_t n = sites.n_minerals;
    for (std::size_t s = 0; s < sites.size() && sites.ends(); ++s) {
      double growth = 0.0;  // of the cover [1/s]
      bool any_below = false;
      for (std::size_t m = 0; m < n; ++m) {
        const std::size_t i = s * n + m;
        if (sites.has_deposits() && sites.covers[m] == 0.0) any_below = any_below || sites.bare[i] > 0.0;
        if (!ends_at(place, m)) continue;
        const double rate = mean_rate(place, i);
        if (rate > 0.0) longest = std::min(longest, std::max(0.0, place.state.amount[i]) / rate - 0.5 * past_.passed);
        if (sites.has_deposits() && sites.bare[i] > 0.0) growth -= rate / (sites.bare[i] * sites.covers[m]);
      }
      if (!any_below || growth == 0.0) continue;
      const double beyond = cover_of(sites, place.state.amount, s) - 1.0;
      if (growth > 0.0 && beyond >= 0.0) continue;
      longest = std::min(longest, (std::max(0.0, beyond) + most_change) / std::abs(growth));
    }
  }
  return std::max(0.0, run_.comm.min(longest));
}

}  // namespace karst
