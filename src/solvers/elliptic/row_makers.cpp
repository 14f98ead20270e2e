// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/row_makers.hpp"

namespace karst {
namespace {

/// Rings of neighbours that a row may look at: an orphan at the end of a chain of three, the gradient at its neighbour
/// from that one's neighbours and theirs.
constexpr int rings = 7;

/// Irregular VoFs so near to the end of a box that their rows may read VoFs of other ranks.
std::vector<VofName> near_other_ranks(const LevelGraph& graph) {
  constexpr int reach = rings;
  std::vector<VofName> names;
  for (const int b : graph.halo_plan().boundary) {
    const BoxGraph box = graph.box(b);
    const Box inner = box.cells.grown(-reach);
    for (int r = 0; r < box.n_irregular; ++r)
      if (!inner.contains(box.cells.cell(box.row_cell[r]))) names.push_back(vof_name(box.box, box.row_vof[r]));
  }
  return names;
}

}  // namespace

RowMakers::RowMakers(const Composite& composite, const EllipticProblem& problem, WallForm form) {
  const std::size_t n = composite.n_levels();
  numbers_.reserve(n);  // the look-ups and makers point at each other's elements
  vofs_.reserve(n);
  betas_.reserve(n);
  makers_.reserve(n);
  for (std::size_t l = 0; l < n; ++l) {
    const LevelGeometry& level = composite.level(static_cast<int>(l));
    const Comm& comm = composite.comm();
    numbers_.push_back(composite.numbering().global_numbers(comm, level.graph, static_cast<int>(l)));
    VofLookup& vofs = vofs_.emplace_back(level, composite.numbering(), numbers_[l]);
    vofs.fetch(comm, near_other_ranks(level.graph), rings);
    if (n > 1 && comm.size() > 1) vofs.fetch(comm, at_level_boundary(vofs), 3);
    if (!problem.face_beta.empty()) betas_.emplace_back(comm, vofs, problem.face_beta[l]);
    makers_.emplace_back(vofs, problem, problem.face_beta.empty() ? nullptr : &betas_[l], form);
  }
}

}  // namespace karst
