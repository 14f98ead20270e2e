// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/pieces_at_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "grid/questions.hpp"

namespace karst {

std::int64_t block_at(const CornerBlocks& blocks, const Vec3& x) {
  const Domain& domain = blocks.layout().domain();
  Index c;
  for (int d = 0; d < 3; ++d) {
    c[d] = static_cast<int>(std::floor(x[d]));
    if (!domain.periodic[d]) c[d] = std::clamp(c[d], 0, domain.cells[d] - 1);
  }
  return blocks.layout().find_cell(c);
}

std::vector<NearPiece> pieces_here(const Comm& comm, const WallPieces& walls, const WallRows& values,
                                   const WallRows& owed, const Displacement& displacement) {
  const int scale = 1 << displacement.level();
  std::map<int, ByteWriter> sent;
  for (std::size_t l = 0; l < walls.levels.size(); ++l) {
    const LevelGeometry& level = walls.levels[l];
    const double h = std::ldexp(1.0, displacement.level() - level.level);
    for (int own = 0; own < level.graph.n_local(); ++own) {
      const BoxGraph graph = level.graph.box(own);
      const auto moments = level.box(own).moments;
      for (int r = 0; r < graph.n_irregular; ++r) {
        const Index cell = graph.cells.cell(graph.row_cell[r]);
        if (!(moments[r].wall_area > 0.0)) continue;
        if (level.level + 1 < walls.grid.n_levels() && walls.grid.cell_is_refined(level.level, cell)) continue;
        const std::int64_t row = level.moments_begin[own] + r;
        const NearPiece piece{h * (to_vec(cell) + Vec3::all(0.5) + moments[r].wall_centroid),
                              h * h * moments[r].wall_area,
                              values[l][row],
                              owed[l][row],
                              comm.rank(),
                              static_cast<int>(l),
                              row,
                              (1.0 / moments[r].wall_area) * moments[r].wall,
                              h};
        const Index coarse{cell[0] >> l, cell[1] >> l, cell[2] >> l};
        for_ranks_around(displacement.blocks(), coarse, scale, [&](int rank) { sent[rank].put(piece); });
      }
    }
  }
  std::vector<NearPiece> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) { here.push_back(in.get<NearPiece>()); });
  return here;
}

}  // namespace karst
