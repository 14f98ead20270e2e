// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/solids.hpp"

#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "eb/link/level_builder.hpp"
#include "eb/shapes/combine.hpp"

namespace karst {

namespace {

/// [h] Gaps between grains that nearly touch would be cut on the finest lattice otherwise, at several times the cost of
/// the fluid; that of the fluid closes them.
constexpr double finest_feature = 0.25;

/// Of each mineral in a box of cut solid.
std::vector<double> volumes_in(const PieceBox& box, const LevelSet& level_set, std::size_t n_minerals) {
  const Box& cells = box.cut.cells;
  std::vector<double> volumes(n_minerals, 0.0);
  const auto phi = local_level_set(level_set, cells, 0);
  for (int c = 0; c < box.n_cells(); ++c)
    if (box.kind(c) == CellKind::regular) phi->add_wall(to_vec(cells.cell(c)) + Vec3::all(0.5), 1.0, volumes);
  for (const Piece& piece : box.cut.pieces)
    phi->add_wall(to_vec(cells.cell(piece.cell)) + Vec3::all(0.5) + piece.centroid, piece.kappa, volumes);
  return volumes;
}

std::vector<double> mineral_volumes(const PieceBoxes& boxes, const Components& solids, const LevelSet& level_set) {
  std::vector<double> volumes(level_set.minerals().size(), 0.0);
  if (volumes.size() == 1) {
    for (const Component& c : solids.all) volumes[0] += c.volume;
    return volumes;
  }
  std::vector<std::vector<double>> of_box(boxes.n_own());
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t i) {
    of_box[i] = volumes_in(boxes.box(static_cast<int>(i)), level_set, volumes.size());
  });
  for (const auto& some : of_box)
    for (std::size_t m = 0; m < volumes.size(); ++m) volumes[m] += some[m];
  boxes.comm().sum(std::span(volumes));
  return volumes;
}

}  // namespace

Solids find_solids(const Comm& comm, const Domain& domain, int box_size, const LevelSet& level_set) {
  const Timer timer("connected solids");
  const std::unique_ptr<LevelSet> solid = complement_of(level_set), sampled = complement_of(level_set, finest_feature);
  const auto not_refined = [](std::int64_t) { return RefinedOctants(); };
  BuiltLayout built;
  {
    const Timer layout_timer("layout");
    const auto fetch = [&](std::span<const Box> cells) { level_set.fetch(comm, 0, cells); };
    built = build_layout(comm, domain, box_size, weight_of_box(*solid, 0), {}, 0, fetch);
  }
  std::vector<BoxPieces> cut;
  {
    const Timer cut_timer("cut cells");
    const auto [first, last] = built.layout.owned(comm.rank());
    std::vector<Box> own;
    for (std::int64_t b = first; b < last; ++b) own.push_back(built.layout.box(b));
    level_set.fetch(comm, 0, own);
    cut = cut_own_boxes(built.layout, comm.rank(), *sampled, 0, not_refined);
  }
  const PieceBoxes boxes(comm, built.layout, 0, std::move(cut), not_refined);
  const LabelledParts all = label_parts(boxes);
  const std::array<Flags, 3> passes = passages(boxes, nullptr, &all);
  const FactsByLabel facts =
      collect_facts(boxes, all.parts, all.label, {.ends = true, .passes = &passes, .places = true});
  Solids solids{components_of(boxes, all.parts, all.label, facts), {}};
  solids.volumes = mineral_volumes(boxes, solids.components, level_set);
  return solids;
}

}  // namespace karst
