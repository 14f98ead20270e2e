// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/advection_levels.hpp"

#include <algorithm>

#include "ins/operator/advection_kernels.hpp"

namespace karst {
namespace {

constexpr double of_coarse_face = 0.25;  ///< a fine face

Vec3 velocity(const Quad& q) { return {q.v[0], q.v[1], q.v[2]}; }

}  // namespace

AdvectionLevels::AdvectionLevels(StokesLevels& op) : op_(&op) {
  levels_.reserve(op.n_levels());
  for (int l = 0; l < op.n_levels(); ++l) levels_.emplace_back(op.level(l));
  if (op.n_levels() > 1) carried_ = Array<Carried>(op.coupling().n_fluxes(), Purpose::solver);
}

StokesDrive AdvectionLevels::here(int l, const StokesDrive& drive) const {
  return on_level(drive, op_->sides(), StokesLevels::width(l));
}

/// What goes through fine faces, handed to the coarse cells behind them.
/// @param carried  Carried(level, its level ghost) of a fine face
/// @param gained   momentum(level, box, VoF, Carried) that the coarse cell gains
template <class Make, class Gained>
void AdvectionLevels::hand_back(double factor, std::span<Quad> y, Make&& carried, Gained&& gained) {
  if (op_->n_levels() == 1) return;
  op_->coupling().hand_back(
      carried_.span(), [&](int l, std::size_t ghost) { return carried(l, op_->level(l).level_ghosts()[ghost]); },
      [&](int l, int box, std::size_t vof, const Carried& c) {
        const std::size_t v = op_->level(l).geometry().graph.vof_begin(box) + vof;
        const Vec3 all = gained(l, box, vof, c);
        const double part = -of_coarse_face * factor * StokesLevels::width(l) * levels_[l].per_volume(v);
        Quad& to = op_->part(l, y)[v];
        for (std::size_t d = 0; d < 3; ++d) to.v[d] += part * all.v[d];
      });
}

void AdvectionLevels::add(double factor, FlowValues& u, const StokesDrive& drive, std::span<Quad> y) {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].add(factor * StokesLevels::width(l), u.level(l), here(l, drive), op_->part(l, y));
  hand_back(
      factor, y,
      [&](int l, const StokesOperator::LevelGhost& g) {
        const double flux = op_->level(l).level_flux(u.level(l), g, here(l, drive).force);
        const kernels::PresentCarrying w(levels_[l], u.level(l), g.box, factor * StokesLevels::width(l));
        return Carried{flux, 0.0, kernels::through(g, w, w.cells, flux, w.excess(g, flux))};
      },
      [&](int l, int box, std::size_t vof, const Carried& c) {
        return c.momentum - c.flux * velocity(u.level(l).x.box(box)[vof]);
      });
}

void AdvectionLevels::set_base(double inertia, FlowValues& u, const StokesDrive& drive, std::span<BaseFlow> to) const {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].set_base(inertia * StokesLevels::width(l), u.level(l), here(l, drive), to[l]);
}

void AdvectionLevels::add_linearised(double factor, std::span<const BaseFlow> u, FlowValues& v, std::span<Quad> y) {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].add_linearised(factor * StokesLevels::width(l), u[l], v.level(l), op_->part(l, y));
  hand_back(
      factor, y,
      [&](int l, const StokesOperator::LevelGhost& g) {
        const double flux = op_->level(l).level_flux(v.level(l), g, {}), carrying = levels_[l].flux_through(g, u[l]);
        const kernels::ChangeOfCarrying change(levels_[l], v.level(l), u[l], g.box, factor * StokesLevels::width(l));
        return Carried{
            flux, carrying,
            kernels::through(g, change.kept, change.cells, carrying, change.bounds.excess(carrying)) +
                kernels::through(g, change, kernels::KeptCarried(u[l], g.box), flux, change.excess(g, flux))};
      },
      [&](int l, int box, std::size_t vof, const Carried& c) {
        const kernels::Four base = kernels::KeptCarried(u[l], box).at(vof);
        return c.momentum - c.carrying * velocity(v.level(l).x.box(box)[vof]) -
               c.flux * Vec3{base[0], base[1], base[2]};
      });
}

double AdvectionLevels::combine(const std::array<Past, 2>& flows, std::span<BaseFlow> to) const {
  double largest = 0.0;
  for (int l = 0; l < op_->n_levels(); ++l) {
    std::array<Advection::Past, 2> here;
    for (std::size_t i = 0; i < 2; ++i)
      here[i] = {flows[i].weight, flows[i].flow->faces.data() + op_->begin(l), flows[i].flow->fluxes[l].data()};
    largest = std::max(largest, levels_[l].combine(here, to[l].fluxes) / StokesLevels::width(l));
  }
  return largest;
}

void AdvectionLevels::set_carrying(double inertia, FlowValues& w, const StokesDrive& drive,
                                   std::span<BaseFlow> to) const {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].set_carrying(inertia * StokesLevels::width(l), w.level(l), here(l, drive), to[l]);
}

void AdvectionLevels::add_carried(double factor, std::span<const BaseFlow> w, FlowValues& v, const StokesDrive& drive,
                                  std::span<Quad> y) {
  for (int l = 0; l < op_->n_levels(); ++l)
    levels_[l].add_carried(factor * StokesLevels::width(l), w[l], v.level(l), here(l, drive), op_->part(l, y));
  hand_back(
      factor, y,
      [&](int l, const StokesOperator::LevelGhost& g) {
        const double carrying = levels_[l].flux_through(g, w[l]);
        const kernels::CarryingBounds bounds(factor * StokesLevels::width(l));
        return Carried{0.0, carrying,
                       kernels::through(g, kernels::KeptCarrying(w[l], g.box), kernels::PresentCells(v.level(l), g.box),
                                        carrying, bounds.excess(carrying))};
      },
      [&](int l, int box, std::size_t vof, const Carried& c) {
        return c.momentum - c.carrying * velocity(v.level(l).x.box(box)[vof]);
      });
}

std::int64_t AdvectionLevels::bytes() const {
  auto sum = static_cast<std::int64_t>(carried_.bytes());
  for (const Advection& level : levels_) sum += level.bytes();
  return sum;
}

}  // namespace karst
