// SPDX-License-Identifier: BSD-3-Clause
// What carried momentum passes through one face (advection.hpp).
#pragma once

#include "ins/operator/advection.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst::kernels {

inline Four velocity(const Quad& q) { return Four{q.v[0], q.v[1], q.v[2], 0.0}; }
inline Four three(const float* v) { return Four{double{v[0]}, double{v[1]}, double{v[2]}, 0.0}; }

/// Cells of a flow on a box as the operator's values have them. It may carry and be carried.
struct PresentCells {
  PresentCells(const Advection& advection, const LevelValues& u, int b)
      : x(u.x.box(b).data()),
        second{u.curvature.box(b, 0).data(), u.curvature.box(b, 1).data(), u.curvature.box(b, 2).data()},
        aperture(advection.aperture().box(b).data()) {}
  const Quad* x;
  std::array<const Quad*, 3> second;
  const Values<3>* aperture;

  Four at(std::size_t v) const { return velocity(x[v]); }
  Four along(std::size_t v, std::size_t d) const { return velocity(second[d][v]); }  ///< ∂²_d u
  double through(std::size_t v, std::size_t d) const { return double{aperture[v].v[d]} * x[v].v[d]; }
  double curved(std::size_t v, std::size_t d) const { return second[d][v].v[3]; }
};

/// Of a kept flow, what carries.
struct KeptCarrying {
  KeptCarrying(const BaseFlow& flow, int b) : cells(flow.carrying.box(b).data()) {}
  const Values<6>* cells;
  double through(std::size_t v, std::size_t d) const { return double{cells[v].v[d]}; }
  double curved(std::size_t v, std::size_t d) const { return double{cells[v].v[3 + d]}; }
};

/// Of a kept flow, what is carried.
struct KeptCarried {
  KeptCarried(const BaseFlow& flow, int b) : cells(flow.carried.box(b).data()) {}
  const Values<12>* cells;
  Four at(std::size_t v) const { return three(cells[v].v.data()); }
  Four along(std::size_t v, std::size_t d) const { return three(cells[v].v.data() + 3 + 3 * d); }
};

/// δ, what makes an open face of fourth order, out of v.
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

/// What passes through a fine face out of its VoF.
template <class Carrying, class Carried>
Vec3 through(const StokesOperator::LevelGhost& g, const Carrying& w, const Carried& u, double flux) {
  const OpenFace face{g.vof, g.slot, g.side, double{g.area}, double{g.bend}};
  const Four out = all(0.5 * flux) * (u.at(g.vof) + u.at(g.slot)) + beyond_means(w, u, face);
  return {out[0], out[1], out[2]};
}

}  // namespace karst::kernels
