// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/piece_speeds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "base/core/error.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

constexpr double near_reach = 1.75, far_reach = 2.5, reach_at_sides = 7.0;  // in spacings of the corners

/// Place in spacings of the corners.
struct WallPiece {
  Vec3 at;
  double area, speed;
};

/// Pieces by cells of the lattice of s.
class PieceTable {
 public:
  PieceTable(const Domain& domain, double scale, std::vector<WallPiece> pieces)
      : domain_(domain), scale_(scale), pieces_(std::move(pieces)) {
    std::ranges::sort(pieces_, [&](const WallPiece& a, const WallPiece& b) {
      const std::int64_t in_a = cell_of(a.at), in_b = cell_of(b.at);
      return in_a != in_b ? in_a < in_b : a.at < b.at;  // the same order on any number of ranks
    });
    slots_.assign(std::bit_ceil(2 * pieces_.size() + 1), -1);
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (i == 0 || cell_of(pieces_[i].at) != cell_of(pieces_[i - 1].at)) {
        std::size_t slot = hash(cell_of(pieces_[i].at));
        while (slots_[slot] >= 0) slot = (slot + 1) % slots_.size();
        slots_[slot] = static_cast<std::int32_t>(i);
      }
  }

  /// Of a point [h0].
  double at(const Vec3& place) const {
    const Vec3 x = scale_ * place;
    const Mean near = mean(x, 2, near_reach);
    if (near.weight > 0.0) return near.sum / near.weight;
    const Mean far = is_on_side(x) ? mean(x, 7, reach_at_sides) : mean(x, 3, far_reach);
    return far.weight > 0.0 ? far.sum / far.weight : 0.0;
  }

 private:
  struct Mean {
    double weight = 0.0, sum = 0.0;
  };
  /// Of the domain, where feet beyond it are moved to.
  bool is_on_side(const Vec3& x) const {
    for (int d = 0; d < 3; ++d)
      if (!domain_.periodic[d] && (x[d] <= 0.0 || x[d] >= domain_.cells[d])) return true;
    return false;
  }
  std::int64_t cell_of(const Vec3& x) const {
    Index c;
    for (int d = 0; d < 3; ++d) {
      const int n = domain_.cells[d], i = static_cast<int>(std::floor(x[d]));
      c[d] = domain_.periodic[d] ? (i % n + n) % n : std::clamp(i, 0, n - 1);
    }
    return domain_.box().offset(c);
  }
  std::size_t hash(std::int64_t cell) const {
    return (static_cast<std::uint64_t>(cell) * 0x9e3779b97f4a7c15U >> 20) % slots_.size();
  }
  /// Number of the first piece of a cell; -1: none.
  std::int32_t first_in(std::int64_t cell) const {
    std::size_t slot = hash(cell);
    while (slots_[slot] >= 0 && cell_of(pieces_[slots_[slot]].at) != cell) slot = (slot + 1) % slots_.size();
    return slots_[slot];
  }
  Vec3 nearest_image(Vec3 r) const {
    for (int d = 0; d < 3; ++d)
      if (domain_.periodic[d]) r[d] -= domain_.cells[d] * std::round(r[d] / domain_.cells[d]);
    return r;
  }
  Mean mean(const Vec3& x, int cells, double reach) const {
    Mean all;
    const Index middle{static_cast<int>(std::floor(x[0])), static_cast<int>(std::floor(x[1])),
                       static_cast<int>(std::floor(x[2]))};
    Box around{middle - Index::all(cells), middle + Index::all(cells + 1)};
    for (int d = 0; d < 3; ++d) {
      const int n = domain_.cells[d];
      if (!domain_.periodic[d])
        around.lo[d] = std::clamp(around.lo[d], 0, n - 1), around.hi[d] = std::clamp(around.hi[d], 1, n);
      else if (around.size(d) > n)
        around.lo[d] = 0, around.hi[d] = n;
    }
    for_each_cell(around, [&](const Index& c) {
      const std::int64_t cell = cell_of(to_vec(c));
      const std::int32_t first = first_in(cell);
      for (std::size_t i = first; first >= 0 && i < pieces_.size() && cell_of(pieces_[i].at) == cell; ++i) {
        const Vec3 r = nearest_image(pieces_[i].at - x);
        const double part = 1.0 - dot(r, r) / (reach * reach);
        if (part <= 0.0) continue;
        const double weight = pieces_[i].area * part * part;
        all.weight += weight;
        all.sum += weight * pieces_[i].speed;
      }
    });
    return all;
  }

  Domain domain_;
  double scale_;
  std::vector<WallPiece> pieces_;  ///< cell by cell
  std::vector<std::int32_t> slots_;
};

/// Walls of a box that no finer level covers, in spacings of the corners.
std::vector<WallPiece> pieces_of_box(const GridHierarchy& grid, const LevelGeometry& level, int own,
                                     std::span<const double> speed, double scale) {
  std::vector<WallPiece> pieces;
  const double h = scale * std::ldexp(1.0, -level.level);
  const BoxGraph graph = level.graph.box(own);
  const auto moments = level.box(own).moments;
  for (std::size_t r = 0; r < moments.size(); ++r) {
    const Index cell = graph.cells.cell(graph.row_cell[r]);
    if (!(moments[r].wall_area > 0.0)) continue;
    if (level.level + 1 < grid.n_levels() && grid.cell_is_refined(level.level, cell)) continue;
    pieces.push_back({h * (to_vec(cell) + Vec3::all(0.5) + moments[r].wall_centroid), h * h * moments[r].wall_area,
                      speed[level.moments_begin[own] + static_cast<std::int64_t>(r)]});
  }
  return pieces;
}

}  // namespace

WallSpeed speed_of_pieces(const Comm& comm, const GridHierarchy& grid, std::span<const LevelGeometry> levels,
                          std::span<const std::vector<double>> speed, const Displacement& displacement) {
  const CornerBlocks& blocks = displacement.blocks();
  const double scale = std::ldexp(1.0, displacement.level());
  std::map<int, ByteWriter> sent;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    require(speed[l].size() == levels[l].moments.size(), "moving wall: {} speeds for {} pieces of wall on level {}",
            speed[l].size(), levels[l].moments.size(), l);
    for (int own = 0; own < levels[l].graph.n_local(); ++own) {
      const std::vector<WallPiece> pieces = pieces_of_box(grid, levels[l], own, speed[l], scale);
      if (pieces.empty()) continue;
      Box around = levels[l].graph.box(own).cells;
      for (int d = 0; d < 3; ++d) {
        const double h = scale * std::ldexp(1.0, -levels[l].level);
        around.lo[d] = static_cast<int>(std::floor(h * around.lo[d])) - displacement_reach;
        around.hi[d] = static_cast<int>(std::ceil(h * around.hi[d])) + displacement_reach;
      }
      std::set<int> ranks;
      blocks.for_parts(around, [&](std::int64_t box, const Box&, const Index&) {
        if (box >= 0) ranks.insert(blocks.layout().owner(box));
      });
      for (const int rank : ranks) sent[rank].put_vector(pieces);
    }
  }
  std::vector<WallPiece> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
    const auto pieces = in.get_vector<WallPiece>();
    here.insert(here.end(), pieces.begin(), pieces.end());
  });
  const auto table = std::make_shared<const PieceTable>(blocks.layout().domain(), scale, std::move(here));
  return [table](std::span<const Vec3> at, double, std::span<double> of) {
    for (std::size_t i = 0; i < at.size(); ++i) of[i] = table->at(at[i]);
  };
}

}  // namespace karst
