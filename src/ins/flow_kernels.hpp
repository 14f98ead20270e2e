// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the Stokes operator on one box: x holds (u, v, w, p) or (ũ, ṽ, w̃, p) over all slots.
#pragma once

#include "grid/field.hpp"
#include "ins/flow_rows.hpp"

namespace karst::kernels {

/// Four numbers that a processor works on at once.
typedef double Four __attribute__((vector_size(32)));

inline Four load(const Quad& q) { return Four{q.v[0], q.v[1], q.v[2], q.v[3]}; }
inline void store(const Four& f, Quad& q) { q = {{f[0], f[1], f[2], f[3]}}; }
inline Four all(double a) { return Four{a, a, a, a}; }
inline constexpr std::size_t p = 3;  ///< place of the pressure

/// f(vof, slots) for every own VoF in runs and regular rows; slots across the six sides.
template <class F>
inline void for_plain(const BoxGraph& graph, F&& f) {
  for (const Run& run : graph.runs)
    for (int t = 0; t < run.length; ++t) f(static_cast<std::size_t>(run.first + t), run.neighbours(t));
  for (std::size_t r = static_cast<std::size_t>(graph.n_irregular); r < graph.row_vof.size(); ++r)
    f(std::size_t{graph.row_vof[r]}, graph.neighbours[r]);
}

/// ∂p in regular surroundings, 0 in the fourth place.
inline Four plain_gradient(const Quad* x, const std::array<std::uint16_t, 6>& n) {
  return 0.5 *
         (Four{x[n[1]].v[p], x[n[3]].v[p], x[n[5]].v[p], 0.0} - Four{x[n[0]].v[p], x[n[2]].v[p], x[n[4]].v[p], 0.0});
}

inline Four row_gradient(const Quad* x, const FlowRow& row) {
  const double at = x[row.vof].v[p];
  Four g{};
  for (std::size_t d = 0; d < 3; ++d)
    g[d] = double{row.gradient[2 * d]} * (x[row.slot[2 * d]].v[p] - at) +
           double{row.gradient[2 * d + 1]} * (x[row.slot[2 * d + 1]].v[p] - at);
  return g;
}

/// Flux through an open face towards a side: out of v, over w.
inline double flux_out(const Quad* x, const float* t, std::size_t v, std::size_t n, std::size_t side) {
  const double mean = 0.5 * (x[v].v[side / 2] + x[n].v[side / 2]);
  return (side % 2 == 1 ? mean : -mean) - 0.5 * (double{t[v]} + double{t[n]}) * (x[n].v[p] - x[v].v[p]);
}

}  // namespace karst::kernels
