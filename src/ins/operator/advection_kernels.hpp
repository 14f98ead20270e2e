// SPDX-License-Identifier: BSD-3-Clause
// Flux of advected momentum through one face (advection.hpp).
#pragma once

#include <algorithm>
#include <cmath>

#include "ins/operator/advection.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst::kernels {

/// Bounds beyond which advection would produce more energy than friction dissipates where cells do not resolve the
/// flow.
struct CarryingBounds {
  /// @param inertia  in units of the level
  explicit CarryingBounds(double inertia)
      : most(static_cast<float>(most_reynolds / std::abs(inertia))),
        most_flux(most_between_levels / std::abs(inertia)) {}

  double within(double value) const { return std::clamp(value, -double{most}, double{most}); }
  bool reached(double kept) const { return std::abs(kept) >= double{most}; }

  /// Part of a flux between levels beyond its bound, which advects the upwind velocity.
  double excess(double flux) const { return std::max(std::abs(flux) - most_flux, 0.0); }
  /// Derivative of excess() with respect to the flux.
  double change_of_excess(double flux, double change) const {
    return std::abs(flux) <= most_flux ? 0.0 : flux > 0.0 ? change : -change;
  }

  /// Largest inertia W where a row of cells ends at a wall, and inertia K. Ends are stable below 12 √θ, θ: distance of
  /// the wall in cell widths, at least 1/2 here; half of this is a margin for geometries that are not rows.
  static constexpr double most_reynolds = 4.0;
  /// Largest inertia |F| that advects the mean of a fine cell and its ghost, which is not a value of the coarse cell
  /// behind.
  static constexpr double most_between_levels = 20.0;
  float most;
  double most_flux;
};

inline Four three(const float* v) { return Four{double{v[0]}, double{v[1]}, double{v[2]}, 0.0}; }

/// Cells of a flow on a box, in the layout of the operator's values: the advected flow.
struct PresentCells {
  PresentCells(const LevelValues& u, int b)
      : x(u.x.box(b).data()),
        second{u.curvature.box(b, 0).data(), u.curvature.box(b, 1).data(), u.curvature.box(b, 2).data()} {}
  const Quad* x;
  std::array<const Quad*, 3> second;

  Four at(std::size_t v) const { return velocity(x[v]); }
  Four along(std::size_t v, std::size_t d) const { return velocity(second[d][v]); }  ///< ∂²_d u
};

/// The same as the advecting flow.
struct PresentCarrying {
  PresentCarrying(const Advection& advection, const LevelValues& u, int b, double inertia)
      : cells(u, b), aperture(advection.aperture().box(b).data()), bounds(inertia) {}
  PresentCells cells;
  const Values<3>* aperture;
  CarryingBounds bounds;
  double through(std::size_t v, std::size_t d) const {
    const double a = double{aperture[v].v[d]};
    return a < 0.0 ? bounds.within(-a * cells.x[v].v[d]) : a * cells.x[v].v[d];
  }
  double curved(std::size_t v, std::size_t d) const { return bounds.within(cells.second[d][v].v[3]); }
  double excess(const StokesOperator::LevelGhost&, double flux) const { return bounds.excess(flux); }
};

/// Advecting velocity of a stored flow.
struct KeptCarrying {
  KeptCarrying(const BaseFlow& flow, int b) : cells(flow.carrying.box(b).data()) {}
  const Values<6>* cells;
  double through(std::size_t v, std::size_t d) const { return double{cells[v].v[d]}; }
  double curved(std::size_t v, std::size_t d) const { return double{cells[v].v[3 + d]}; }
};

/// Change of the advecting velocity: 0 where the stored value is at its bound.
struct ChangeOfCarrying {
  ChangeOfCarrying(const Advection& of, const LevelValues& u, const BaseFlow& about, int b, double inertia)
      : cells(u, b),
        kept(about, b),
        bounds(inertia),
        advection(of),
        base(about),
        aperture(of.aperture().box(b).data()) {}
  PresentCells cells;
  KeptCarrying kept;
  CarryingBounds bounds;
  const Advection& advection;
  const BaseFlow& base;
  const Values<3>* aperture;
  double through(std::size_t v, std::size_t d) const {
    const double a = double{aperture[v].v[d]};
    return a < 0.0 && bounds.reached(kept.through(v, d)) ? 0.0 : std::abs(a) * cells.x[v].v[d];
  }
  double curved(std::size_t v, std::size_t d) const {
    return bounds.reached(kept.curved(v, d)) ? 0.0 : cells.second[d][v].v[3];
  }
  double excess(const StokesOperator::LevelGhost& g, double flux) const {
    return bounds.change_of_excess(advection.flux_through(g, base), flux);
  }
};

/// Advected velocity of a stored flow.
struct KeptCarried {
  KeptCarried(const BaseFlow& flow, int b) : cells(flow.carried.box(b).data()) {}
  const Values<12>* cells;
  Four at(std::size_t v) const { return three(cells[v].v.data()); }
  Four along(std::size_t v, std::size_t d) const { return three(cells[v].v.data() + 3 + 3 * d); }
};

/// δ, the correction of an open face to fourth order, out of v.
template <class Carrying, class Carried>
Four beyond_means(const Carrying& w, const Carried& u, const OpenFace& face) {
  const auto& [v, n, side, area, bend] = face;
  const std::size_t d = side / 2;
  const double out = side % 2 == 1 ? 1.0 : -1.0;
  const double here = out * w.through(v, d), there = out * w.through(n, d);
  const double curved = out * area * (w.curved(v, d) + w.curved(n, d));
  return all(-1.0 / 12.0) *
             (all(here) * u.along(v, d) + all(there) * u.along(n, d) + all(there - here) * (u.at(n) - u.at(v))) -
         all(curved / 96.0) * (u.at(n) + u.at(v));
}

/// F (u_n - u) / 2 + δ of all faces of a cell whose faces are fully open: the terms of δ with W and ∂² of the cell
/// itself cancel between the two faces of a direction.
template <class Carrying, class Carried, class Fluxes>
Four carried_by_plain(const Carrying& w, const Carried& u, std::size_t v, const std::array<std::uint16_t, 6>& n,
                      const Fluxes& fluxes) {
  const Four here = u.at(v);
  Four sum{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t low = n[2 * d], high = n[2 * d + 1];
    const double at = w.through(v, d), below = w.through(low, d), above = w.through(high, d);
    const double curved = w.curved(v, d), curved_below = w.curved(low, d), curved_above = w.curved(high, d);
    sum +=
        all(0.5 * double{fluxes[2 * d + 1]} - (above - at) / 12.0 - (curved_above + curved) / 96.0) *
            (u.at(high) - here) +
        all(0.5 * double{fluxes[2 * d]} + (below - at) / 12.0 + (curved_below + curved) / 96.0) * (u.at(low) - here) +
        all(below / 12.0) * u.along(low, d) - all(above / 12.0) * u.along(high, d) -
        all((curved_above - curved_below) / 48.0) * here;
  }
  return sum;
}

/// Momentum flux through a fine face out of its VoF.
/// @param excess  CarryingBounds::excess() of the flux, or its change
template <class Carrying, class Carried>
Vec3 through(const StokesOperator::LevelGhost& g, const Carrying& w, const Carried& u, double flux, double excess) {
  const OpenFace face{g.vof, g.slot, g.side, double{g.area}, double{g.bend}};
  const Four out =
      all(0.5 * (flux + excess)) * u.at(g.vof) + all(0.5 * (flux - excess)) * u.at(g.slot) + beyond_means(w, u, face);
  return {out[0], out[1], out[2]};
}

}  // namespace karst::kernels
