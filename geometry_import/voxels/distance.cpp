// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/distance.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

// A squared distance d² to a centre of offset o is kept as 65536 d² + 65535 - o: the smallest is the nearest one, the
// deepest of several. Exact in a double for images up to 2^16 voxels wide.
constexpr double scale = 65536;
constexpr double nothing = std::numeric_limits<double>::infinity();

double key_of(double distance, std::uint16_t offset) { return scale * distance * distance + (scale - 1 - offset); }

/// Plane and offset of a solid voxel as one number; -1 for none.
using SolidVoxel = std::int64_t;
constexpr SolidVoxel none = -1;
SolidVoxel solid_voxel(int z, std::uint16_t offset) { return std::int64_t{z} * 65536 + offset; }
int plane_of(SolidVoxel s) { return static_cast<int>(s >> 16); }
std::uint16_t offset_of(SolidVoxel s) { return static_cast<std::uint16_t>(s & 65535); }

/// For every column the nearest solid voxel of the ranks before this one (direction 1) or after it (-1): `map` holds
/// that of this rank, which is replaced. log2(ranks) rounds: after round k it is that of 2^k ranks. Collective.
void nearest_of_others(const Comm& comm, int direction, Array<SolidVoxel>& map) {
  Array<SolidVoxel> sent(map.size(), Purpose::buffers), came(map.size(), Purpose::buffers);
  // First to the next rank, without one's own; then what came is passed on and completed.
  const auto round = [&](int step) {
    std::copy(map.begin(), map.end(), sent.begin());
    std::fill(came.begin(), came.end(), none);
    const int to = comm.rank() + step * direction, from = comm.rank() - step * direction;
    Exchange exchange(comm, 7);
    if (from >= 0 && from < comm.size()) exchange.receive(from, std::as_writable_bytes(came.span()));
    if (to >= 0 && to < comm.size()) exchange.send(to, std::as_bytes(sent.span()));
    while (exchange.wait_any() >= 0) {
    }
    exchange.wait_sends();
  };
  round(1);
  std::swap(map, came);
  for (int step = 1; step < comm.size(); step *= 2) {
    round(step);
    for (std::size_t i = 0; i < map.size(); ++i)
      if (map[i] == none) map[i] = came[i];
  }
}

/// Lower envelope of the parabolas scale (x - i)² + key[i] of one row.
class Row {
 public:
  explicit Row(int n) : origin_(n + 2), start_(n + 2), height_(n + 2) {}
  /// key[x] <- min over i. Solid voxels, which have d² = 0, keep theirs and part the row.
  void transform(double* key, int n) {
    for (int x = 0; x < n;) {
      if (key[x] < scale) {
        ++x;
        continue;
      }
      int end = x + 1;
      while (end < n && key[end] >= scale) ++end;
      gap(key, x, end, n);
      x = end + 1;
    }
  }

 private:
  /// The voxels [first, last) between two solid ones or ends of the row.
  void gap(double* key, int first, int last, int n) {
    top_ = -1;
    for (int i = std::max(0, first - 1); i <= std::min(last, n - 1); ++i)
      if (key[i] != nothing) add(i, key[i], first, last);
    if (top_ < 0) return;
    int k = 0;
    for (int x = first; x < last; ++x) {
      while (k < top_ && start_[k + 1] <= x) ++k;
      const double d = x - origin_[k];
      key[x] = scale * d * d + height_[k];
    }
  }
  void add(int i, double height, int first, int last) {
    int start = first;
    while (top_ >= 0) {
      // First x where parabola i is below the top one. The quotient is at least 2^-33 away from an integer or equal to
      // it, so rounding does not matter.
      const double other = origin_[top_], apart = i - other;
      const double crossing = (height - height_[top_] + scale * apart * (i + other)) / (2 * scale * apart);
      start = crossing < first ? first : crossing >= last ? last : static_cast<int>(crossing) + 1;
      if (start > start_[top_]) break;
      --top_;
    }
    if (top_ < 0) start = first;
    if (start >= last) return;
    ++top_;
    origin_[top_] = i;
    start_[top_] = start;
    height_[top_] = height;
  }

  int top_ = -1;
  std::vector<int> origin_, start_;  ///< of parabola k, which is lowest from start on
  std::vector<double> height_;
};

/// Nearest in the plane of the keys along z: first along y, a few columns at a time, then along x.
void transform_plane(int nx, int ny, std::span<double> key) {
  constexpr int columns = 8;
  Row row(std::max(nx, ny));
  std::vector<double> turned(ny * columns);
  for (int x = 0; x < nx; x += columns) {
    const int m = std::min(columns, nx - x);
    for (int y = 0; y < ny; ++y)
      for (int c = 0; c < m; ++c) turned[c * std::int64_t{ny} + y] = key[std::int64_t{y} * nx + x + c];
    for (int c = 0; c < m; ++c) row.transform(turned.data() + c * std::int64_t{ny}, ny);
    for (int y = 0; y < ny; ++y)
      for (int c = 0; c < m; ++c) key[std::int64_t{y} * nx + x + c] = turned[c * std::int64_t{ny} + y];
  }
  for (int y = 0; y < ny; ++y) row.transform(key.data() + std::int64_t{y} * nx, nx);
}

std::uint16_t distance_of(double key) {
  if (key == nothing) return largest_distance;
  const double square = std::floor(key / scale), offset = scale - 1 - (key - scale * square);
  const double distance = std::floor(distance_unit * std::sqrt(square) + 0.5) - offset;
  return static_cast<std::uint16_t>(std::clamp(distance, 1.0, double{largest_distance}));
}

class WallDistance {
 public:
  WallDistance(const Comm& comm, const Slabs<std::uint8_t>& labels, Slabs<std::uint16_t>& distance)
      : comm_(comm),
        labels_(labels),
        distance_(distance),
        own_(labels.own()),
        below_(own_.plane(), Purpose::buffers, none),
        above_(own_.plane(), Purpose::buffers, none) {}
  void run() {
    look_at_own();
    nearest_of_others(comm_, 1, below_);
    nearest_of_others(comm_, -1, above_);
    look_up();
    const int together = n_threads();
    Array<double> keys(own_.plane() * std::min(together, std::max(1, own_.planes())), Purpose::buffers);
    for (int z = own_.first; z < own_.last; z += together) {
      const int last = std::min(own_.last, z + together);
      look_down(z, last, keys.span());
      parallel_for(last - z, [&](std::int64_t p) {
        finish(z + static_cast<int>(p), keys.span().subspan(p * own_.plane(), own_.plane()));
      });
    }
  }

 private:
  /// Row y of the slab: f(x) for its voxels.
  template <class F>
  void for_rows(F&& f) {
    const int nx = own_.image[0];
    parallel_for(own_.image[1], [&](std::int64_t y) { f(y * nx, (y + 1) * nx); });
  }
  void look_at_own();
  void look_up();
  void look_down(int first, int last, std::span<double> keys);
  void finish(int z, std::span<double> key);

  const Comm& comm_;
  const Slabs<std::uint8_t>& labels_;
  Slabs<std::uint16_t>& distance_;
  ImageWindow own_;
  Array<SolidVoxel> below_, above_;  ///< nearest solid voxel of the column, [ny][nx]
};

/// The highest solid voxel of each column of this slab, for the ranks after it, and the lowest, for those before it.
void WallDistance::look_at_own() {
  for_rows([&](std::size_t begin, std::size_t end) {
    for (int z = own_.first; z < own_.last; ++z) {
      const std::uint8_t* label = labels_.plane(z).data();
      const std::uint16_t* offset = std::as_const(distance_).plane(z).data();
      for (std::size_t i = begin; i < end; ++i) {
        if (label[i] == 0) continue;
        below_[i] = solid_voxel(z, offset[i]);
        if (above_[i] == none) above_[i] = below_[i];
      }
    }
  });
}

/// Leaves in every pore voxel the number of planes to the solid voxel above, 0 for none.
void WallDistance::look_up() {
  for_rows([&](std::size_t begin, std::size_t end) {
    std::vector<int> solid(end - begin);
    for (std::size_t i = begin; i < end; ++i) solid[i - begin] = above_[i] == none ? 0 : plane_of(above_[i]);
    for (int z = own_.last - 1; z >= own_.first; --z) {
      const std::uint8_t* label = labels_.plane(z).data();
      std::uint16_t* planes = distance_.plane(z).data();
      for (std::size_t i = begin; i < end; ++i) {
        int& s = solid[i - begin];
        if (label[i] != 0) {
          s = z;
        } else {
          planes[i] = static_cast<std::uint16_t>(s > z ? s - z : 0);
        }
      }
    }
  });
}

/// Keys along z of the planes [first, last), which follow those before.
void WallDistance::look_down(int first, int last, std::span<double> keys) {
  for_rows([&](std::size_t begin, std::size_t end) {
    for (int z = first; z < last; ++z) {
      const std::uint8_t* label = labels_.plane(z).data();
      const std::uint16_t* distance = std::as_const(distance_).plane(z).data();
      double* key = keys.data() + (z - first) * own_.plane();
      for (std::size_t i = begin; i < end; ++i) {
        if (label[i] != 0) {
          below_[i] = solid_voxel(z, distance[i]);
          key[i] = key_of(0, distance[i]);
          continue;
        }
        key[i] = nothing;
        if (below_[i] != none) key[i] = key_of(z - plane_of(below_[i]), offset_of(below_[i]));
        if (distance[i] == 0) continue;
        const int solid = z + distance[i];
        const std::uint16_t offset = solid >= own_.last ? offset_of(above_[i]) : distance_.plane(solid)[i];
        key[i] = std::min(key[i], key_of(distance[i], offset));
      }
    }
  });
}

void WallDistance::finish(int z, std::span<double> key) {
  transform_plane(own_.image[0], own_.image[1], key);
  const std::uint8_t* label = labels_.plane(z).data();
  std::uint16_t* distance = distance_.plane(z).data();
  for (std::size_t i = 0; i < key.size(); ++i) distance[i] = label[i] == 0 ? distance_of(key[i]) : std::uint16_t{0};
}

}  // namespace

void wall_distance(const Comm& comm, const Slabs<std::uint8_t>& labels, Slabs<std::uint16_t>& distance) {
  assert(labels.voxels() == distance.voxels());
  WallDistance(comm, labels, distance).run();
}

}  // namespace karst
