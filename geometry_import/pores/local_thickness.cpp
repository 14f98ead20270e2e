// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/pores/local_thickness.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/comm/parallel.hpp"
#include "geometry_import/pores/inscribed_ball.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

/// Centre and radius [1/64 voxel]; voxel centres are at multiples of 64.
struct Ball {
  Index center;
  int radius;
};

constexpr int unit_shift = std::bit_width(unsigned{distance_unit}) - 1;
static_assert(1 << unit_shift == distance_unit);

/// 0 below coarse_radius, 1 below twice of it, ...
int level_of(int radius) { return std::bit_width(static_cast<unsigned>(radius / (coarse_radius * distance_unit))); }

/// Radius the ball of a neighbour must have to hold all the voxel centres of a ball.
class Holding {
 public:
  Holding() {
    // Of the centres y with |y|² = m the largest |y - e|², then of those up to m.
    constexpr int reach = coarse_radius, most = reach * reach;
    std::array<std::vector<int>, 3> farthest;
    for (auto& f : farthest) f.assign(most + 1, 0);
    for (int z = -reach; z <= reach; ++z)
      for (int y = -reach; y <= reach; ++y)
        for (int x = -reach; x <= reach; ++x) {
          const Index p{x, y, z};
          if (dot(p, p) > most) continue;
          for (int kind = 0; kind < 3; ++kind) {
            const Index apart = p - Index{1, kind > 0, kind > 1};
            int& f = farthest[kind][dot(p, p)];
            f = std::max(f, dot(apart, apart));
          }
        }
    for (int kind = 0; kind < 3; ++kind) {
      std::vector<int>& f = farthest[kind];
      for (std::size_t m = 1; m < f.size(); ++m) f[m] = std::max(f[m], f[m - 1]);
      for (int r = 0; r <= coarse_radius * distance_unit; ++r)
        needed_[kind].push_back(
            static_cast<int>(std::ceil(distance_unit * std::sqrt(double(f[r * r / (distance_unit * distance_unit)])))));
    }
  }
  /// @param kind  0, 1, 2: the neighbour is across a face, an edge, a corner
  int needed(int radius, int kind) const {
    if (radius < coarse_radius * distance_unit) return std::min(radius + slope[kind], needed_[kind][radius]);
    return radius + slope[kind];
  }

 private:
  static constexpr std::array<int, 3> slope{54, 76, 93};  ///< 0.85 times the way to the neighbour
  std::array<std::vector<int>, 3> needed_;
};

class LocalThickness {
 public:
  LocalThickness(const Comm& comm, Slabs<std::uint16_t>& distance)
      : comm_(comm), image_(distance), own_(distance.own()), distance_(distance, reach + 2) {}
  void run();

 private:
  static constexpr int reach = coarse_radius + 1;  ///< planes a ball that is painted on the voxels goes
  using Coarse = std::vector<Ball>;
  enum class Balls { fine, coarse };  ///< radius below coarse_radius, or not
  std::vector<Ball> balls_of_plane(int z, Balls which) const;
  bool held_by_neighbour(const Index& x, int radius) const;
  std::vector<Coarse> coarse_balls() const;
  std::vector<Ball> exchanged(const Coarse& mine, int level) const;
  void paint_coarse(int level, const std::vector<Ball>& balls);
  void paint_fine();
  void paint_plane(int z, const std::vector<std::vector<Ball>>& balls);

  const Comm& comm_;
  Slabs<std::uint16_t>& image_;
  ImageWindow own_;
  DistancePlanes distance_;
  Holding holding_;
};

bool LocalThickness::held_by_neighbour(const Index& x, int radius) const {
  const Index& n = own_.image;
  for (int dz = -1; dz <= 1; ++dz) {
    const std::uint16_t* plane = distance_.plane(x[2] + dz);
    if (!plane) continue;
    for (int dy = -1; dy <= 1; ++dy) {
      if (x[1] + dy < 0 || x[1] + dy >= n[1]) continue;
      const std::uint16_t* row = plane + std::int64_t{x[1] + dy} * n[0];
      for (int i = std::max(0, x[0] - 1); i <= std::min(n[0] - 1, x[0] + 1); ++i) {
        const int kind = (dz != 0) + (dy != 0) + (i != x[0]) - 1;
        if (kind >= 0 && row[i] >= holding_.needed(radius, kind)) return true;
      }
    }
  }
  return false;
}

/// Balls around and next to the voxels of a plane.
std::vector<Ball> LocalThickness::balls_of_plane(int z, Balls which) const {
  const bool coarse = which == Balls::coarse;
  constexpr int limit = coarse_radius * distance_unit;
  std::vector<Ball> balls;
  const auto add = [&](const Ball& b) {
    if ((b.radius >= limit) == coarse) balls.push_back(b);
  };
  const std::uint16_t* d = distance_.plane(z);
  for (int y = 0; y < own_.image[1]; ++y)
    for (int x = 0; x < own_.image[0]; ++x, ++d) {
      if (*d == 0 || (coarse ? *d < limit - distance_unit : *d >= limit)) continue;
      const Index voxel{x, y, z};
      if (held_by_neighbour(voxel, *d)) continue;
      const std::optional<InscribedBall> between = ball_between(distance_, voxel);
      const bool holds =
          between && between->radius - *d >= 0.9 * std::sqrt(double(dot(between->offset, between->offset)));
      if (!holds) add({voxel * distance_unit, *d});
      if (between) add({voxel * distance_unit + between->offset, between->radius});
    }
  return balls;
}

/// Cells of a row, or rows of a plane, whose centres are at most `half` from a place, [first, last) of n.
struct Covered {
  int first, last;
};
/// @param place  from the centre of cell 0 [1/64 voxel]
/// @param shift  cells are 2^shift wide [1/64 voxel]
inline Covered covered(int place, std::int64_t square, int shift, int n) {
  const int half = static_cast<int>(std::sqrt(static_cast<double>(square)));
  const int low = place - half, high = place + half;
  return {low <= 0 ? 0 : (low + (1 << shift) - 1) >> shift, high < 0 ? 0 : std::min(n, (high >> shift) + 1)};
}

constexpr int block = 16;  ///< cells that a vector of the processor holds
using Radii = std::uint16_t __attribute__((vector_size(2 * block)));

/// Ones with zeros on both sides: a block from place block - k on has ones but in the first k, from place 2 block - k
/// on in the first k alone.
constexpr std::array<std::uint16_t, 3 * block> ones_between = [] {
  std::array<std::uint16_t, 3 * block> mask{};
  for (int i = block; i < 2 * block; ++i) mask[i] = 0xffff;
  return mask;
}();

inline Radii load_radii(const std::uint16_t* from) {
  Radii v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

/// Raises the cells of a block that are not solid to those radii.
inline void raise(std::uint16_t* cells, Radii radius) {
  const Radii old = load_radii(cells), asked = radius & static_cast<Radii>(old != 0);
  const Radii now = old > asked ? old : asked;
  std::memcpy(cells, &now, sizeof(now));
}

/// The same for the cells [first, last) of a row of n.
inline void raise(std::uint16_t* row, int first, int last, int n, Radii radius) {
  if (n < block) {
    for (int i = first; i < last; ++i) row[i] = row[i] != 0 ? std::max(row[i], radius[0]) : row[i];
    return;
  }
  for (; first + block <= last; first += block) raise(row + first, radius);
  if (first >= last) return;
  const int begin = std::min(first, n - block);
  raise(row + begin, radius & load_radii(ones_between.data() + block - (first - begin)) &
                         load_radii(ones_between.data() + 2 * block - (last - begin)));
}

/// Raises the radius of the pore cells of a plane [ny][nx] whose centres are in the ball.
/// @param square  r² - (distance of the plane from the centre)² >= 0, all in 1/64 voxel
/// @param origin  centre of cell 0 along an axis [1/64 voxel]
void paint_section(const Ball& ball, std::int64_t square, int origin, int shift, int nx, int ny, std::uint16_t* plane) {
  const Radii radius = static_cast<std::uint16_t>(ball.radius) - Radii{};
  const int x = ball.center[0] - origin, y = ball.center[1] - origin;
  const Covered rows = covered(y, square, shift, ny);
  for (int j = rows.first; j < rows.last; ++j) {
    const std::int64_t apart = (std::int64_t{j} << shift) - y;
    const Covered cells = covered(x, square - apart * apart, shift, nx);
    raise(plane + std::int64_t{j} * nx, cells.first, cells.last, nx, radius);
  }
}

std::int64_t square_left(const Ball& ball, std::int64_t z) {
  return std::int64_t{ball.radius} * ball.radius - (z - ball.center[2]) * (z - ball.center[2]);
}

void LocalThickness::paint_plane(int z, const std::vector<std::vector<Ball>>& balls) {
  for (int from = std::max(z - reach, distance_.held().first); from < std::min(z + reach + 1, distance_.held().last);
       ++from)
    for (const Ball& ball : balls[from - distance_.held().first])
      if (const std::int64_t square = square_left(ball, std::int64_t{z} * distance_unit); square >= 0)
        paint_section(ball, square, 0, unit_shift, own_.image[0], own_.image[1], image_.plane(z).data());
}

/// Some planes at a time, with the balls of the planes around them; those of planes behind are no longer needed, and
/// planes ahead still hold the distance where balls are looked for.
void LocalThickness::paint_fine() {
  const int together = std::max(4, n_threads());
  const ImageWindow held = distance_.held();
  std::vector<std::vector<Ball>> balls(held.planes());
  int found = std::max(held.first, own_.first - reach);
  for (int z = own_.first; z < own_.last; z += together) {
    const int last = std::min(own_.last, z + together), ahead = std::min(held.last, last + reach);
    parallel_for_dynamic(ahead - found, [&](std::int64_t p) {
      balls[found - held.first + p] = balls_of_plane(found + static_cast<int>(p), Balls::fine);
    });
    found = std::max(found, ahead);
    parallel_for_dynamic(last - z, [&](std::int64_t p) { paint_plane(z + static_cast<int>(p), balls); });
    for (int behind = std::max(held.first, z - reach); behind < last - reach; ++behind)
      balls[behind - held.first] = std::vector<Ball>();  // = {} would keep the memory
  }
}

/// The largest ball of each coarse cell, of equals that of the lowest centre.
std::vector<Ball> one_per_cell(const std::vector<Ball>& balls, int level) {
  const auto key = [&](const Ball& b) {
    const int width = distance_unit << level;
    return std::tuple(b.center[2] / width, b.center[1] / width, b.center[0] / width, -b.radius, b.center[2],
                      b.center[1], b.center[0]);
  };
  std::vector<Ball> sorted = balls;
  std::sort(sorted.begin(), sorted.end(), [&](const Ball& a, const Ball& b) { return key(a) < key(b); });
  const auto end = std::unique(sorted.begin(), sorted.end(), [&](const Ball& a, const Ball& b) {
    const auto p = key(a), q = key(b);
    return std::get<0>(p) == std::get<0>(q) && std::get<1>(p) == std::get<1>(q) && std::get<2>(p) == std::get<2>(q);
  });
  sorted.erase(end, sorted.end());
  return sorted;
}

/// Those of this rank, by level. Reduced every few planes, so that few are held.
std::vector<LocalThickness::Coarse> LocalThickness::coarse_balls() const {
  constexpr int together = 32;
  std::vector<Coarse> balls(level_of(largest_distance) + 1);
  for (int z = own_.first; z < own_.last; z += together) {
    const int last = std::min(own_.last, z + together);
    std::vector<std::vector<Ball>> found(last - z);
    parallel_for_dynamic(last - z,
                         [&](std::int64_t p) { found[p] = balls_of_plane(z + static_cast<int>(p), Balls::coarse); });
    for (const std::vector<Ball>& of_plane : found)
      for (const Ball& b : of_plane) balls[level_of(b.radius)].push_back(b);
    for (std::size_t level = 1; level < balls.size(); ++level)
      balls[level] = one_per_cell(balls[level], static_cast<int>(level));
  }
  return balls;
}

/// The balls of all ranks that reach this slab, or whose coarse cell holds a ball that does. Collective.
std::vector<Ball> LocalThickness::exchanged(const Coarse& mine, int level) const {
  std::vector<Message> out;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const std::int64_t first = slab_begin(own_.image, rank, comm_.size()),
                       last = slab_begin(own_.image, rank + 1, comm_.size());
    if (first == last) continue;
    std::vector<Ball> there;
    for (const Ball& b : mine) {
      const std::int64_t far = b.radius + 2 * (std::int64_t{distance_unit} << level);
      if (b.center[2] + far >= first * distance_unit && b.center[2] - far <= last * distance_unit) there.push_back(b);
    }
    if (there.empty()) continue;
    const auto bytes = std::as_bytes(std::span(there));
    out.push_back({rank, std::vector<std::byte>(bytes.begin(), bytes.end())});
  }
  std::vector<Ball> all;
  for (const Message& m : comm_.sparse_exchange(out)) {
    const std::size_t before = all.size();
    all.resize(before + m.bytes.size() / sizeof(Ball));
    std::memcpy(all.data() + before, m.bytes.data(), m.bytes.size());
  }
  return one_per_cell(all, level);
}

void LocalThickness::paint_coarse(int level, const std::vector<Ball>& balls) {
  if (balls.empty() || own_.planes() == 0) return;
  const int width = distance_unit << level, origin = (width - distance_unit) / 2;
  const int nx = ((own_.image[0] - 1) >> level) + 1, ny = ((own_.image[1] - 1) >> level) + 1;
  const int low = own_.first >> level, planes = ((own_.last - 1) >> level) - low + 1;
  const std::int64_t plane = std::int64_t{nx} * ny;
  parallel_for_dynamic(planes, [&](std::int64_t p) {
    std::vector<std::uint16_t> cells(plane, 1);
    const std::int64_t z = origin + (low + p) * width;
    bool any = false;
    for (const Ball& ball : balls)
      if (const std::int64_t square = square_left(ball, z); square >= 0) {
        paint_section(ball, square, origin, unit_shift + level, nx, ny, cells.data());
        any = true;
      }
    if (!any) return;
    const int begin = static_cast<int>((low + p) << level);
    for (int zz = std::max(begin, own_.first); zz < std::min(begin + (1 << level), own_.last); ++zz)
      for (int y = 0; y < own_.image[1]; ++y) {
        std::uint16_t* row = image_.plane(zz).data() + std::int64_t{y} * own_.image[0];
        const std::uint16_t* cell = cells.data() + std::int64_t{y >> level} * nx;
        for (int x = 0; x < own_.image[0]; ++x)
          row[x] = row[x] == 0 ? std::uint16_t{0} : std::max(row[x], cell[x >> level]);
      }
  });
}

void LocalThickness::run() {
  std::vector<Coarse> coarse = coarse_balls();
  paint_fine();
  for (int level = 1; level < static_cast<int>(coarse.size()); ++level)
    paint_coarse(level, exchanged(coarse[level], level));
}

}  // namespace

void local_thickness(const Comm& comm, Slabs<std::uint16_t>& distance) { LocalThickness(comm, distance).run(); }

std::vector<std::int64_t> radius_counts(const Comm& comm, const Slabs<std::uint16_t>& radius) {
  std::vector<std::int64_t> count(largest_distance + 1, 0);
  for (const std::uint16_t r : radius.values()) ++count[r];
  count[0] = 0;
  comm.sum(std::span(count));
  return count;
}

SizeDistribution size_distribution(std::vector<std::int64_t> of_radius, double bound) {
  SizeDistribution s;
  s.bound = bound;
  std::int64_t total = 0, wide = 0;
  const auto limit = static_cast<std::size_t>(0.5 * bound * distance_unit);
  if (bound > 0 && of_radius.size() > limit) {
    for (std::size_t r = limit; r < of_radius.size(); ++r) wide += of_radius[r];
    of_radius.resize(limit);
    of_radius.push_back(wide);
  }
  const auto diameter = [](std::size_t radius) { return 2.0 * double(radius) / distance_unit; };
  for (std::size_t r = 0; r < of_radius.size(); ++r) {
    if (of_radius[r] == 0) continue;
    if (total == 0) s.smallest = diameter(r);
    s.largest = diameter(r);
    total += of_radius[r];
    s.mean += diameter(r) * double(of_radius[r]);
  }
  if (total == 0) return s;
  s.mean /= double(total);
  s.share_bound = double(wide) / double(total);
  s.bin_width = 1;
  while (s.largest >= 64 * s.bin_width) s.bin_width *= 2;
  s.share.assign(std::int64_t(s.largest / s.bin_width) + 1, 0.0);
  std::int64_t below = 0;
  std::array<std::pair<double*, double>, 3> parts{{{&s.tenth, 0.1}, {&s.median, 0.5}, {&s.ninetieth, 0.9}}};
  for (std::size_t r = 0; r < of_radius.size(); ++r) {
    if (of_radius[r] == 0) continue;
    s.share[std::int64_t(diameter(r) / s.bin_width)] += double(of_radius[r]) / double(total);
    const std::int64_t up_to = below + of_radius[r];
    for (const auto& [value, part] : parts)
      if (double(below) < part * double(total) && double(up_to) >= part * double(total)) *value = diameter(r);
    below = up_to;
  }
  return s;
}

}  // namespace karst
