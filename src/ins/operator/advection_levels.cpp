// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/advection_levels.hpp"

namespace karst {
namespace {

constexpr double of_coarse_face = 0.25;  ///< a fine face

Vec3 velocity(const Quad& q) { return {q.v[0], q.v[1], q.v[2]}; }

/// ū of a fine face.
Vec3 mean(const Quad* x, const StokesOperator::LevelGhost& g) {
  return 0.5 * (velocity(x[g.vof]) + velocity(x[g.slot]));
}

}  // namespace

AdvectionLevels::AdvectionLevels(StokesLevels& op) : op_(&op) {
  levels_.reserve(op.n_levels());
  for (int l = 0; l < op.n_levels(); ++l) levels_.emplace_back(op.level(l));
  if (op.n_levels() > 1) carried_ = Array<Carried>(op.coupling().n_fluxes(), Purpose::solver);
}

StokesDrive AdvectionLevels::here(int l, const StokesDrive& drive) const {
  return on_level(drive, op_->sides(), StokesLevels::width(l));
}

void AdvectionLevels::add(double factor, const FlowValues& u, const StokesDrive& drive, std::span<Quad> y) {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].add(factor * StokesLevels::width(l), u.level(l), here(l, drive), op_->part(l, y));
  if (op_->n_levels() == 1) return;
  op_->coupling().hand_back(
      carried_.span(),
      [&](int l, std::size_t ghost) {
        const StokesOperator& level = op_->level(l);
        const StokesOperator::LevelGhost& g = level.level_ghosts()[ghost];
        const double flux = level.level_flux(u.level(l), g, here(l, drive).force);
        return Carried{flux, 0.0, flux * mean(u.level(l).x.box(g.box).data(), g)};
      },
      [&](int l, int box, std::size_t vof, const Carried& c) {
        const auto v = static_cast<std::size_t>(op_->level(l).geometry().graph.vof_begin(box)) + vof;
        const Vec3 gained = c.momentum - c.flux * velocity(u.level(l).x.box(box)[vof]);
        const double part = -of_coarse_face * factor * StokesLevels::width(l) * levels_[l].per_volume(v);
        Quad& to = op_->part(l, y)[v];
        for (std::size_t d = 0; d < 3; ++d) to.v[d] += part * gained.v[d];
      });
}

void AdvectionLevels::keep(const FlowValues& u, const StokesDrive& drive) {
  for (int l = 0; l < op_->n_levels(); ++l) levels_[l].keep(u.level(l), here(l, drive));
}

void AdvectionLevels::add_linearised(double factor, const FlowValues& u, std::span<Quad> y) {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].add_linearised(factor * StokesLevels::width(l), u.level(l), op_->part(l, y));
  if (op_->n_levels() == 1) return;
  op_->coupling().hand_back(
      carried_.span(),
      [&](int l, std::size_t ghost) {
        const StokesOperator& level = op_->level(l);
        const Advection& about = levels_[l];
        const StokesOperator::LevelGhost& g = level.level_ghosts()[ghost];
        const double flux = level.level_flux(u.level(l), g, {});
        const double kept =
            about.kept_flux(static_cast<std::size_t>(level.geometry().graph.vof_begin(g.box)) + g.vof, g.side);
        return Carried{flux, kept,
                       kept * mean(u.level(l).x.box(g.box).data(), g) + flux * mean(about.flow().box(g.box).data(), g)};
      },
      [&](int l, int box, std::size_t vof, const Carried& c) {
        const Advection& about = levels_[l];
        const auto v = static_cast<std::size_t>(op_->level(l).geometry().graph.vof_begin(box)) + vof;
        const Vec3 gained =
            c.momentum - c.kept * velocity(u.level(l).x.box(box)[vof]) - c.flux * velocity(about.flow().box(box)[vof]);
        const double part = -of_coarse_face * factor * StokesLevels::width(l) * about.per_volume(v);
        Quad& to = op_->part(l, y)[v];
        for (std::size_t d = 0; d < 3; ++d) to.v[d] += part * gained.v[d];
      });
}

std::vector<const Advection*> AdvectionLevels::levels() const {
  std::vector<const Advection*> all;
  for (const Advection& level : levels_) all.push_back(&level);
  return all;
}

std::int64_t AdvectionLevels::bytes() const {
  auto sum = static_cast<std::int64_t>(carried_.bytes());
  for (const Advection& level : levels_) sum += level.bytes();
  return sum;
}

}  // namespace karst
