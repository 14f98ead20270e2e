// SPDX-License-Identifier: BSD-3-Clause
// What carried momentum passes through one face (advection.hpp).
#pragma once

#include <cmath>

#include "ins/operator/advection.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst::kernels {

/// Face Reynolds number up to which all of beyond_means() counts: the energy it makes on the smallest scales is a third
/// of that times what friction takes there at worst (docs/decisions/043).
inline constexpr double resolved_reynolds = 6.0;

inline Four velocity(const Quad& q) { return Four{q.v[0], q.v[1], q.v[2], 0.0}; }

/// Velocities of a box and their second differences, as values of the operator have them.
struct PresentCells {
  PresentCells(const LevelValues& u, int b)
      : x(u.x.box(b).data()),
        second{u.curvature.box(b, 0).data(), u.curvature.box(b, 1).data(), u.curvature.box(b, 2).data()} {}
  const Quad* x;
  std::array<const Quad*, 3> second;
  Four at(std::size_t v) const { return velocity(x[v]); }
  Four along(std::size_t v, std::size_t d) const { return velocity(second[d][v]); }
  double laplacian(std::size_t v, std::size_t d) const { return second[d][v].v[3]; }
};

/// The same of a flow that is kept.
struct KeptCells {
  KeptCells(const BaseFlow& w, int b) : kept(w.cells.box(b).data()) {}
  const Values<12>* kept;
  Four three(std::size_t v, std::size_t first) const {
    const std::array<float, 12>& k = kept[v].v;
    return Four{double{k[first]}, double{k[first + 1]}, double{k[first + 2]}, 0.0};
  }
  Four at(std::size_t v) const { return three(v, 0); }
  Four along(std::size_t v, std::size_t d) const { return three(v, 3 + 3 * d); }
  double laplacian(std::size_t v, std::size_t d) const {
    const std::array<float, 12>& k = kept[v].v;
    return double{k[3 + d]} + double{k[6 + d]} + double{k[9 + d]};
  }
};

/// What makes a face of fourth order, out of v: of w, which carries, the flux, and its cells.
template <class Carrying, class Carried>
Four beyond_means(const Carrying& w, const Carried& u, const OpenFace& face, double flux) {
  const auto& [v, n, side, area, bend] = face;
  const std::size_t d = side / 2;
  const double out = side % 2 == 1 ? area : -area;
  const double step = out * (w.at(n)[d] - w.at(v)[d]);
  const double curved = out * (w.laplacian(v, d) + w.laplacian(n, d));
  return all(-flux / 12.0) * (u.along(v, d) + u.along(n, d)) - all(step / 12.0) * (u.at(n) - u.at(v)) -
         all(curved / 96.0) * (u.at(n) + u.at(v));
}

/// Share of beyond_means() that counts: all of it where friction outweighs the energy that it may make on the smallest
/// scales, whatever u is.
/// @param w        the flow that decides, with its flux
/// @param inertia  in units of the level
template <class Deciding>
double resolved(const Deciding& w, const OpenFace& face, double flux, double inertia) {
  const auto& [v, n, side, area, bend] = face;
  const std::size_t d = side / 2;
  const double reynolds = std::abs(inertia) * (std::abs(flux) + area * std::abs(w.at(n)[d] - w.at(v)[d]) +
                                               0.25 * area * std::abs(w.laplacian(v, d) + w.laplacian(n, d)));
  return reynolds > resolved_reynolds ? resolved_reynolds / reynolds : 1.0;
}

/// What passes through a fine face out of its VoF.
template <class Carrying, class Carried, class Deciding>
Vec3 through(const StokesOperator::LevelGhost& g, const Carrying& w, const Carried& u, double flux,
             const Deciding& deciding, double deciding_flux, double inertia) {
  const OpenFace face{g.vof, g.slot, g.side, double{g.area}, double{g.bend}};
  const Four out = all(0.5 * flux) * (u.at(g.vof) + u.at(g.slot)) +
                   all(resolved(deciding, face, deciding_flux, inertia)) * beyond_means(w, u, face, flux);
  return {out[0], out[1], out[2]};
}

}  // namespace karst::kernels
