// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_faces.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// A coarse cell under the fine level.
struct CoveredCell {
  Index cell;
  int side;
};

/// θ of the wall from the flow cell there towards the side, no_wall without one.
double wall_from(const FlowLookup& coarse, const CoveredCell& at) {
  const LevelGraph& graph = coarse.graph();
  const BoxGraph box = graph.box(graph.local(graph.layout().find_cell(at.cell)));
  double theta = no_wall;
  for_each_vof(box, [&](int vof, int cell) {
    const VofName v = vof_name(box.box, vof);
    if (cell != box.cells.offset(at.cell) || !coarse.is_flow_cell(v)) return;
    if (const VofCenter* center = coarse.vofs().center(v); center != nullptr) theta = center->wall_distance[at.side];
  });
  return theta;
}

/// Closes the faces behind which there is no coarse flow cell. The wall is where the coarse cell over the fine one has
/// it, or else between the ghost and the coarse cell centre behind. Returns their number. Collective.
std::int64_t close_others(const Comm& comm, const FlowLookup& coarse, FlowLookup& fine,
                          const std::vector<LevelFace>& faces) {
  constexpr double nearest = 0.5, farthest = 1.5, between = 1.25;  // fine cells
  const Layout& layout = coarse.graph().layout();
  std::map<int, std::vector<const LevelFace*>> of_rank;
  std::int64_t n = 0;
  for (const LevelFace& f : faces) {
    if (is_linked(f)) continue;
    ++n;
    fine.close(f.vof, f.face.side, between);
    const Index cell = fine.vofs().cell(f.vof);
    if (const std::int64_t box = layout.find_cell({cell[0] / 2, cell[1] / 2, cell[2] / 2}); box >= 0)
      of_rank[layout.owner(box)].push_back(&f);
  }
  const auto question = [&](const LevelFace* f, ByteWriter& w) {
    const Index cell = fine.vofs().cell(f->vof);
    w.put(CoveredCell{{cell[0] / 2, cell[1] / 2, cell[2] / 2}, f->face.side});
  };
  const auto answer = [&](ByteReader& in, ByteWriter& w) { w.put(wall_from(coarse, in.get<CoveredCell>())); };
  ask_ranks_per_item(comm, of_rank, question, answer, [&](const LevelFace* f, ByteReader& in) {
    if (const double theta = in.get<double>(); theta <= 1.0)
      fine.close(f->vof, f->face.side, std::clamp(2.0 * theta - 0.5, nearest, farthest));
  });
  return n;
}

}  // namespace

std::vector<LevelFace> find_flow_faces(const Comm& comm, std::span<const LevelFace> all, FlowLookup& coarse,
                                       FlowLookup& fine, LevelFaceCounts& counts) {
  const auto crosses = [&](VofName v, const ListedFace& f) {
    return f.primary && fine.is_flow_cell(v) && fine.wall_on(v, f.side) > 1.0;
  };
  const auto row = [&](VofName v) { return coarse.is_flow_cell(v) ? coarse.vofs().number(v) : no_unknown; };
  const auto walls = [&](VofName v, int side) { return coarse.wall_on(v, side); };
  std::vector<LevelFace> faces;
  for (const LevelFace& f : all)
    if (crosses(f.vof, f.face)) faces.push_back(f);
  look_behind(comm, {coarse.vofs(), row, walls}, faces);
  std::map<int, ByteWriter> to_owner;
  std::array<std::int64_t, 2> sums{0, close_others(comm, coarse, fine, faces)};
  for (const LevelFace& f : faces) {
    if (!is_linked(f)) continue;
    ++sums[0];
    to_owner[coarse.graph().layout().owner(box_of(f.behind.vof))].put(CoarseSide{f.behind.vof, f.place.side});
  }
  send_to_ranks(comm, std::move(to_owner), [&](ByteReader& in, int) {
    const auto at = in.get<CoarseSide>();
    coarse.open_to_finer(at.vof, at.side);
  });
  comm.sum(std::span(sums));
  counts.faces += sums[0];
  counts.closed += sums[1];
  return faces;
}

}  // namespace karst
