// SPDX-License-Identifier: BSD-3-Clause
// Flow across the faces between two levels. Momentum: the values that a cell needs from the other level are ghosts,
// values of polynomials of degree 3 (least squares) through the unknowns around them:
//
//   fine ghosts    (across the face, one fine cell) through unknowns of both levels, and the points where their grid
//                  lines meet the wall (velocity 0);
//   covered cells  (coarse ones under the fine level, next to coarse unknowns) the value for which the coarse row has
//                  the stress of the four fine faces; near walls, from a polynomial through the same points.
//
// Next to frictionless domain faces the points are mirrored: tangential velocities and pressures are even, the normal
// velocity is odd. Where the extrapolation would be too far, the degree is lower. Continuity: the flux through the face
// is that of the fine faces, for both levels. Its Rhie-Chow term computes ∂p at the ghost with the pressure one cell
// further out, which also comes from a polynomial.
#pragma once

#include <array>
#include <vector>

#include "base/comm/parallel.hpp"
#include "fields/remote_values.hpp"
#include "ins/operator/flow_faces.hpp"
#include "ins/operator/stokes_operator.hpp"

namespace karst {

class LevelCoupling {
 public:
  LevelCoupling() = default;
  /// @param faces  per pair of levels, [l]: between l and l + 1
  /// Collective.
  LevelCoupling(const Comm& comm, const CompositeNumbering& numbering,
                const std::vector<std::unique_ptr<FlowLookup>>& lookups,
                const std::vector<std::vector<LevelFace>>& faces,
                std::span<const std::unique_ptr<StokesOperator>> levels);

  /// Sets x of covered cells and of fine ghosts, and the pressures beyond them, from the unknowns. Allocates nothing.
  /// Collective.
  template <class Q>
  void fill(std::span<BasicLevelValues<Q>> levels);
  /// The same for one number per cell, a length in cells of its level, with the value of the nearest unknown.
  void fill_lengths(std::span<FloatField> levels);
  /// Adds the fluxes of the fine faces to the coarse rows: to y of each level and to LevelValues::along. To be called
  /// after the passes of all levels. Allocates nothing. Collective.
  /// @param u, y  per level
  template <class Q>
  void return_fluxes(std::span<const std::unique_ptr<StokesOperator>> levels, std::span<BasicLevelValues<Q>> u,
                     std::span<const std::span<Q>> y, std::span<const StokesDrive> drives,
                     std::span<const LevelTime> times);
  /// Transfers values from the fine faces to the coarse cells behind them, face by face. Allocates nothing. Collective.
  /// @param carried  scratch, n_fluxes()
  /// @param from     (level, index among its level_ghosts()) -> T
  /// @param to       (coarse level, box, VoF, T)
  template <class T, class From, class To>
  void hand_back(std::span<T> carried, From&& from, To&& to) {
    parallel_for(std::ssize(exits_), [&](std::int64_t i) {
      const auto [level, ghost] = exits_[i];
      carried[i] = from(int{level}, ghost);
    });
    flux_exchange_.exchange(carried);
    for (const Entrance& e : entrances_) to(int{e.level}, int{e.box}, e.vof, carried[e.value]);
  }
  /// f(fine level, index among its level_ghosts(), coarse VoF) for every own face with a flux.
  template <class F>
  void for_faces(F&& f) const {
    for (std::size_t i = 0; i < exits_.size(); ++i) f(int{exits_[i].first}, exits_[i].second, behind_[i]);
  }
  std::size_t n_fluxes() const { return fluxes_.size(); }  ///< own fluxes, and those of other ranks that enter here
  std::int64_t bytes() const;

 private:
  struct Source {  // a value in the field of a level
    std::int32_t level;
    std::int64_t at;
  };
  struct Term {
    std::int32_t source;           // in pool_
    std::array<double, 4> weight;  // of velocities and pressure
    double beyond;
  };
  struct Target {
    std::int32_t level;
    std::int32_t ghost;  // of the level's level_ghosts(); -1: a covered cell
    std::int64_t at;     // slot in the field
    std::int64_t begin, end;
    std::int32_t nearest;  // in pool_
  };
  struct Entrance {  // of a flux into a coarse cell
    std::int32_t level, box, vof, side, value;
    Vec3 at;  // middle of the fine face, from the cell centre, in coarse cells
  };
  struct OpenTarget;
  struct Builder;
  template <class T, class F>
  void gather(std::span<T> pool, F&& value_at);
  void number_sources(const Comm& comm, const CompositeNumbering& numbering, const std::vector<OpenTarget>& open,
                      std::span<const std::unique_ptr<StokesOperator>> levels);

  std::vector<Source> own_, sent_;  // own sources; those of other ranks, in the order in which they are sent
  RemoteUnknowns remote_;
  Array<Quad> pool_;  // of own_, then of remote_
  std::vector<Target> targets_;
  std::vector<Term> terms_;
  std::vector<std::pair<std::int32_t, std::int32_t>> exits_;  // level and ghost of each own flux
  std::vector<VofName> behind_;                               // coarse VoF of each own flux
  std::vector<Entrance> entrances_;                           // by level, box, VoF
  ListExchange flux_exchange_;
  Array<double> fluxes_;
};

}  // namespace karst
