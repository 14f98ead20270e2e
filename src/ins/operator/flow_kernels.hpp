// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the Stokes operator on one box: x holds (u, v, w, p) or (ũ, ṽ, w̃, p) over all slots, as Quad or
// FloatQuad. Numbers are double precision between load and store.
#pragma once

#include "grid/field.hpp"
#include "ins/operator/float_quad.hpp"
#include "ins/operator/flow_rows.hpp"
#include "ins/operator/time_term.hpp"

namespace karst::kernels {

/// Four numbers in one vector register.
using Four = double __attribute__((vector_size(32)));

inline Four load(const Quad& q) { return Four{q.v[0], q.v[1], q.v[2], q.v[3]}; }
inline void store(const Four& f, Quad& q) { q = {{f[0], f[1], f[2], f[3]}}; }
using FloatFour = float __attribute__((vector_size(16)));
inline Four load(const FloatQuad& q) {
  return __builtin_convertvector(FloatFour{q.v[0], q.v[1], q.v[2], q.v[3]}, Four);
}
inline void store(const Four& f, FloatQuad& q) {
  const FloatFour g = __builtin_convertvector(f, FloatFour);
  q = {{g[0], g[1], g[2], g[3]}};
}
/// A number as x holds it.
template <class Q>
using NumberOf = typename decltype(Q::v)::value_type;
inline Four all(double a) { return Four{a, a, a, a}; }
template <class Q>
inline Four velocity(const Q& q) {
  return Four{double{q.v[0]}, double{q.v[1]}, double{q.v[2]}, 0.0};
}
inline constexpr std::size_t p = 3;  ///< place of the pressure

/// f(vof, slots) for every own VoF in runs and regular rows; slots across the six sides.
template <class F>
inline void for_plain(const BoxGraph& graph, F&& f) {
  for (const Run& run : graph.runs)
    for (int t = 0; t < run.length; ++t) f(run.first + t, run.neighbours(t));
  for (std::size_t r = graph.n_irregular; r < graph.row_vof.size(); ++r)
    f(std::size_t{graph.row_vof[r]}, graph.neighbours[r]);
}

/// ∂p - f in regular surroundings, 0 in the fourth place.
template <class Q>
inline Four plain_gradient(const Q* x, const std::array<std::uint16_t, 6>& n, const Vec3& f) {
  const auto at = [x, &n](std::size_t side) { return double{x[n[side]].v[p]}; };
  return 0.5 * (Four{at(1), at(3), at(5), 0.0} - Four{at(0), at(2), at(4), 0.0}) - Four{f.v[0], f.v[1], f.v[2], 0.0};
}

template <class Q>
inline Four row_gradient(const Q* x, const FlowRow& row, const Vec3& f) {
  const double at = double{x[row.vof].v[p]};
  Four g{-f.v[0], -f.v[1], -f.v[2], 0.0};
  for (std::size_t d = 0; d < 3; ++d)
    g[d] += double{row.gradient[2 * d]} * (double{x[row.slot[2 * d]].v[p]} - at) +
            double{row.gradient[2 * d + 1]} * (double{x[row.slot[2 * d + 1]].v[p]} - at);
  return g;
}

/// (Δ u_d - ∂²_d u_d) / 24 - ∂²_d u_d / 8: difference between the mean of u_d over a face of direction d and the mean
/// of its values at the two cell centres.
/// @param laplacian  of the three components
template <class Q>
inline Four curvature(const Q* x, std::size_t v, const std::array<std::uint16_t, 6>& n, const Four& laplacian) {
  Four c{};
  for (std::size_t d = 0; d < 3; ++d)
    c[d] =
        laplacian[d] / 24.0 - (double{x[n[2 * d]].v[d]} + double{x[n[2 * d + 1]].v[d]} - 2.0 * double{x[v].v[d]}) / 6.0;
  return c;
}

/// Flux out of v through an open face towards a side.
template <class Q>
inline double flux_out(const Q* x, const float* t, std::size_t v, std::size_t n, std::size_t side, double f,
                       double area, double bend) {
  const double mean = 0.5 * (double{x[v].v[side / 2]} + double{x[n].v[side / 2]});
  const double jump = double{x[n].v[p]} - double{x[v].v[p]} - (side % 2 == 1 ? f : -f);  // of p - f·x
  return area * ((side % 2 == 1 ? mean : -mean) - 0.5 * (double{t[v]} + double{t[n]}) * jump) - bend * jump;
}

/// A face of a VoF.
struct OpenFace {
  std::size_t vof, neighbour, side;
  double area, bend;
};

/// The same with a rate of change in time.
/// @param time  a > 0
template <class Q>
inline double flux_out(const Q* x, const float* t, const OpenFace& face, double f, const LevelTime& time) {
  const auto& [v, n, side, area, bend] = face;
  if (area == 0.0) return 0.0;
  const double along_pressure = area * 0.5 * (double{t[v]} + double{t[n]}) + bend;
  const double numerator = flux_out(x, t, v, n, side, f, area, bend) + along_pressure * time.face(v, side);
  return numerator * area / (area + time.shift * along_pressure);
}

/// The same out of a plain VoF towards the low and the high sides of the three directions, 0 in the fourth place.
struct PlainFluxes {
  Four low, high;
};
template <bool unsteady, class Q>
inline PlainFluxes plain_fluxes(const Q* x, const float* t, std::size_t v, const std::array<std::uint16_t, 6>& n,
                                const Vec3& force, const LevelTime& time) {
  const double at = double{x[v].v[p]};
  const Four here = velocity(x[v]), pressure{at, at, at, 0.0};
  const Four f{force.v[0], force.v[1], force.v[2], 0.0};
  const auto towards = [&](std::size_t high, double out) {
    const std::size_t a = n[high], b = n[2 + high], c = n[4 + high];
    const Four along = 0.5 * (all(double{t[v]}) + Four{double{t[a]}, double{t[b]}, double{t[c]}, 0.0});
    const Four jump = Four{double{x[a].v[p]}, double{x[b].v[p]}, double{x[c].v[p]}, 0.0} - pressure - all(out) * f;
    Four flux =
        all(0.5 * out) * (here + Four{double{x[a].v[0]}, double{x[b].v[1]}, double{x[c].v[2]}, 0.0}) - along * jump;
    if constexpr (unsteady) {
      if (time.has_past) flux += along * Four{time.face(v, high), time.face(v, 2 + high), time.face(v, 4 + high), 0.0};
      flux /= all(1.0) + all(time.shift) * along;
    }
    return flux;
  };
  return {towards(0, -1.0), towards(1, 1.0)};
}

/// ∂u/∂t of an own VoF, 0 in the fourth place.
inline Four change(const LevelTime& time, std::size_t v, const Four& at) {
  const auto of_velocity = [](double a) { return Four{a, a, a, 0.0}; };
  Four c = of_velocity(time.shift) * at;
  if (time.has_past)
    for (std::size_t i = 0; i < 2; ++i) c -= of_velocity(time.weight[i]) * load(time.past[i].cells[v]);
  return c;
}

/// Terms of the flux through an extra face, out of its VoF v.
struct ExtraFlux {
  double mean;      ///< of the velocity of the two cells
  double steady;    ///< contribution of pressure and viscosity
  double together;  ///< (t_v + t_n) / 2
  double along;     ///< mean velocity along the step; 0 where ∂u/∂t of the cells is not in `steady`
};
/// @param x  u and p
/// @param w  ũ and p
template <class Q>
inline ExtraFlux extra_parts(const Q* x, const Q* w, const float* t, const FlowExtra& e, const Vec3& f) {
  const std::size_t d = e.side / 2U, v = e.vof, n = e.neighbour;
  const double mean = 0.5 * (double{x[v].v[d]} + double{x[n].v[d]});
  double here = 0.0, there = 0.0, force = 0.0;  // along the step: t ∇p of both, minus f
  double along = 0.0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double step = e.step[c];
    here += step * (double{w[v].v[c]} - double{x[v].v[c]});
    there += step * (double{w[n].v[c]} - double{x[n].v[c]});
    force += step * f.v[c];
    along += step * 0.5 * (double{x[v].v[c]} + double{x[n].v[c]});
  }
  const double tv = double{t[v]}, tn = double{t[n]};
  if ((e.curved & 1U) != 0) here = (e.curved & 2U) != 0 ? -tv * force : there * tv / tn;
  if ((e.curved & 2U) != 0) there = (e.curved & 1U) != 0 ? -tn * force : here * tn / tv;
  const double steady = 0.5 * (here + there) - 0.5 * (tv + tn) * (double{x[n].v[p]} - double{x[v].v[p]} - force);
  return {e.side % 2 == 1 ? mean : -mean, steady, 0.5 * (tv + tn), e.curved == 3U ? 0.0 : along};
}

/// Flux out of the VoF of an extra face.
template <class Q>
inline double flux_out(const Q* x, const Q* w, const float* t, const FlowExtra& e, const Vec3& f) {
  const ExtraFlux flux = extra_parts(x, w, t, e, f);
  return double{e.area} * (flux.mean + flux.steady);
}

/// Contribution of a face between cells that are not neighbours to their mean velocity. Its momentum is that along the
/// step,
///   v + (mean velocity along the step),
/// which depends on the pressure between the two cells.
/// @param i  of the face among those of the level
inline double extra_velocity(const ExtraFlux& flux, const LevelTime& time, std::size_t i) {
  return (flux.steady - flux.together * (time.shift * flux.along - time.extra(i))) / (1.0 + time.shift * flux.together);
}

}  // namespace karst::kernels
