// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/piece_speeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/core/error.hpp"
#include "base/math/eight.hpp"
#include "eb/moving/near_pieces.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

constexpr double near_reach = 1.75, far_reach = 2.5;  // in widths of the cells of the pieces

/// Of a point of the domain, also of its sides, where feet beyond it are moved to.
bool is_on_side(const Domain& domain, const Vec3& x) {
  for (int d = 0; d < 3; ++d)
    if (!domain.periodic[d] && (x[d] <= 0.0 || x[d] >= domain.cells[d])) return true;
  return false;
}

/// In which directions a point has pieces on one side alone, as the domain ends on the other.
struct OneSided {
  /// @param reach  of the pieces [spacings]
  OneSided(const Domain& domain, const Vec3& x, double reach) {
    for (int d = 0; d < 3; ++d) {
      const bool at_low = x[d]<reach, at_high = x[d]> domain.cells[d] - reach;
      along[d] = !domain.periodic[d] && at_low != at_high;
      any |= along[d];
    }
  }
  std::array<bool, 3> along{};
  bool any = false;
};

/// A mean of pieces that stand on one side of x is the value half a spacing away. A line through the values, fitted
/// with the weights of the mean, leads back to x: by their range at most, as it is an extrapolation.
/// @param around  around(f) calls f(piece, weight) for the pieces that are near
template <class Around>
double at_side(Around&& around, const Vec3& x, const OneSided& sides, const NearPieces::Mean& near) {
  constexpr double least_spread = 0.01;  // of the places: there is no line through a single layer of pieces
  const double mean = near.sum / near.weight;
  Vec3 place;
  double least = mean, most = mean;
  around([&](const auto& p, double w) {
    place += (w / near.weight) * (p.at - x);
    least = std::min(least, p.value);
    most = std::max(most, p.value);
  });
  Vec3 spread, rise;
  around([&](const auto& p, double w) {
    for (int d = 0; d < 3; ++d) {
      const double away = p.at[d] - x[d] - place[d];
      spread[d] += w * away * away;
      rise[d] += w * away * (p.value - mean);
    }
  });
  double value = mean;
  for (int d = 0; d < 3; ++d)
    if (sides.along[d] && spread[d] > least_spread * near.weight) value -= rise[d] / spread[d] * place[d];
  const double beyond = most - least;
  return std::clamp(value, least - beyond, most + beyond);
}

/// The mean, or at a side of the domain where a line leads to.
template <class Around>
double mean_or_line(const NearPieces& pieces, Around&& around, const Vec3& x, const NearPieces::Mean& near) {
  if (!OneSided(pieces.domain(), x, near_reach * pieces.widest()).any) return near.sum / near.weight;
  double width = 1.0;
  around([&](const auto& p, double) { width = std::max(width, p.width); });
  const OneSided sides(pieces.domain(), x, near_reach * width);
  return sides.any ? at_side(around, x, sides, near) : near.sum / near.weight;
}

/// Of a point in spacings of the corners.
double speed_at(const NearPieces& pieces, const Vec3& x) {
  const NearPieces::Mean near = pieces.mean(x, near_reach);
  const auto around = [&](auto&& f) {
    pieces.around(x, near_reach, [&](std::size_t i, double w) { f(pieces.all()[i], w); });
  };
  if (near.weight > 0.0) return mean_or_line(pieces, around, x, near);
  const NearPieces::Mean far = pieces.mean(x, is_on_side(pieces.domain(), x) ? wall_reach_at_sides : far_reach);
  return far.weight > 0.0 ? far.sum / far.weight : 0.0;
}

/// Of many points. Those in the same cube of 2³ cells, where a wall leads through about thirty, have the same pieces
/// around them: these are looked for once, and eight points have their means side by side.
class SpeedsAt {
 public:
  SpeedsAt(const NearPieces& pieces, double scale) : pieces_(pieces), scale_(scale) {}

  void find(std::span<const Vec3> at, std::span<double> of) {
    in_cubes_.clear();
    for (std::size_t i = 0; i < at.size(); ++i)
      in_cubes_.push_back({key_of(cube_of(scale_ * at[i])), static_cast<std::uint32_t>(i)});
    std::ranges::sort(in_cubes_, {}, &InCube::cube);
    for (auto first = in_cubes_.begin(); first != in_cubes_.end();) {
      auto last = std::find_if(first, in_cubes_.end(), [&](const InCube& p) { return p.cube != first->cube; });
      const bool listed = list(cube_of(scale_ * at[first->point]));
      for (; first != last; first += std::min<std::ptrdiff_t>(at_once, last - first)) {
        const std::span<const InCube> some(first, std::min<std::ptrdiff_t>(at_once, last - first));
        Means near;
        if (listed) find_means(at, some, near);
        for (std::size_t i = 0; i < some.size(); ++i) {
          const std::size_t point = some[i].point;
          const Vec3 x = scale_ * at[point];
          of[point] = near.weight[i] > 0.0 ? of_listed(x, {near.weight[i], near.sum[i]}) : speed_at(pieces_, x);
        }
      }
    }
  }

 private:
  struct InCube {
    std::uint64_t cube;
    std::uint32_t point;
  };
  struct Piece {
    Vec3 at;
    double area, value, width, square_of_end;
  };
  /// NearPieces::Mean of eight points.
  struct Means {
    Eight weight{}, sum{};
  };

  static constexpr double width = 2.0;  ///< of a cube
  static constexpr std::ptrdiff_t at_once = 8;

  static Index cube_of(const Vec3& x) {
    Index c;
    for (int d = 0; d < 3; ++d) c[d] = static_cast<int>(std::floor(x[d] / width));
    return c;
  }
  static std::uint64_t key_of(const Index& cube) {
    constexpr std::int64_t most = 1 << 20;
    std::uint64_t key = 0;
    for (int d = 0; d < 3; ++d) key = key << 21 | static_cast<std::uint64_t>(cube[d] + most);
    return key;
  }
  /// The pieces around a cube; false where images of pieces are to be told apart.
  bool list(const Index& cube) {
    const Vec3 low = width * to_vec(cube);
    listed_.clear();
    return pieces_.around_all(low, low + Vec3::all(width), near_reach, [&](const NearPiece& p) {
      const double end = near_reach * p.width;
      listed_.push_back({p.at, p.area, p.value, p.width, end * end});
    });
  }
  /// As NearPieces::mean(), to the last bit.
  void find_means(std::span<const Vec3> at, std::span<const InCube> points, Means& all) const {
    Triple<Eight> x{};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3 place = scale_ * at[points[i].point];
      for (int d = 0; d < 3; ++d) x[d][i] = place[d];
    }
    for (const Piece& p : listed_) {
      const Eight rx = p.at[0] - x[0], ry = p.at[1] - x[1], rz = p.at[2] - x[2];
      const Eight left = 1.0 - (rx * rx + ry * ry + rz * rz) / p.square_of_end;
      const Eight part = left < 0.0 ? Eight{} : left;
      const Eight weight = p.area * part * part;
      all.weight += weight;
      all.sum += weight * p.value;
    }
  }

  /// As speed_at().
  double of_listed(const Vec3& x, const NearPieces::Mean& near) const {
    const auto around = [&](auto&& f) {
      for (const Piece& p : listed_)
        if (const double weight = NearPieces::weight(p.at - x, p.area, p.square_of_end); weight > 0.0) f(p, weight);
    };
    return mean_or_line(pieces_, around, x, near);
  }

  const NearPieces& pieces_;
  double scale_;
  std::vector<InCube> in_cubes_;
  std::vector<Piece> listed_;
};

/// Walls of a box that no finer level covers, in spacings of the corners.
std::vector<NearPiece> pieces_of_box(const GridHierarchy& grid, const LevelGeometry& level, int own,
                                     std::span<const double> speed, double scale) {
  std::vector<NearPiece> pieces;
  const double h = scale * std::ldexp(1.0, -level.level);
  const BoxGraph graph = level.graph.box(own);
  const auto moments = level.box(own).moments;
  for (std::size_t r = 0; r < moments.size(); ++r) {
    const Index cell = graph.cells.cell(graph.row_cell[r]);
    if (!(moments[r].wall_area > 0.0)) continue;
    if (level.level + 1 < grid.n_levels() && grid.cell_is_refined(level.level, cell)) continue;
    pieces.push_back({.at = h * (to_vec(cell) + Vec3::all(0.5) + moments[r].wall_centroid),
                      .area = h * h * moments[r].wall_area,
                      .value = speed[level.moments_begin[own] + static_cast<std::int64_t>(r)],
                      .width = h});
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
      const std::vector<NearPiece> pieces = pieces_of_box(grid, levels[l], own, speed[l], scale);
      if (pieces.empty()) continue;
      Box around = levels[l].graph.box(own).cells;
      const double h = scale * std::ldexp(1.0, -levels[l].level);
      const int reach = static_cast<int>(h) * displacement_reach;
      for (int d = 0; d < 3; ++d) {
        around.lo[d] = static_cast<int>(std::floor(h * around.lo[d])) - reach;
        around.hi[d] = static_cast<int>(std::ceil(h * around.hi[d])) + reach;
      }
      std::set<int> ranks;
      blocks.for_parts(around, [&](std::int64_t box, const Box&, const Index&) {
        if (box >= 0) ranks.insert(blocks.layout().owner(box));
      });
      for (const int rank : ranks) sent[rank].put_vector(pieces);
    }
  }
  std::vector<NearPiece> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
    const auto pieces = in.get_vector<NearPiece>();
    here.insert(here.end(), pieces.begin(), pieces.end());
  });
  const auto table = std::make_shared<const NearPieces>(blocks.layout().domain(), std::move(here));
  return
      [table, scale](std::span<const Vec3> at, double, std::span<double> of) { SpeedsAt(*table, scale).find(at, of); };
}

}  // namespace karst
