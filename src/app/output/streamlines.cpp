// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/streamlines.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

constexpr double step = 0.35;      // [cubes]
constexpr double stagnant = 1e-3;  // of the speed where a line begins

Vec3 velocity(const FieldLattice& lattice, const Vec3& x) {
  std::array<int, 3> low{}, high{};
  std::array<double, 3> part{};
  for (int d = 0; d < 3; ++d) {
    const double at = std::clamp(x[d] - 0.5, 0.0, lattice.size[d] - 1.0);
    low[d] = static_cast<int>(at);
    high[d] = std::min(low[d] + 1, lattice.size[d] - 1);
    part[d] = at - low[d];
  }
  Vec3 v;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1.0;
    std::array<int, 3> at{};
    for (std::size_t d = 0; d < 3; ++d) {
      const bool up = (corner >> d & 1U) != 0;
      at[d] = up ? high[d] : low[d];
      weight *= up ? part[d] : 1.0 - part[d];
    }
    const auto& value = lattice.at(at[0], at[1], at[2]);
    for (std::size_t c = 0; c < 3; ++c) v.v[c] += weight * double{value[c]};
  }
  return v;
}

bool inside(const FieldLattice& lattice, const Vec3& x) {
  for (int d = 0; d < 3; ++d)
    if (!(x[d] >= 0.0 && x[d] <= lattice.size[d])) return false;
  return true;
}

/// Fast enough to have a direction; not where the velocity overflows.
bool moves(double speed, double least) { return speed > least && std::isfinite(speed); }

/// From a point on, downstream (sense 1) or upstream (-1); the midpoint rule along the unit velocity.
Streamline follow(const FieldLattice& lattice, Vec3 x, double sense) {
  Streamline line;
  const double least = stagnant * norm(velocity(lattice, x));
  const int most = 8 * (lattice.size[0] + lattice.size[1] + lattice.size[2]);
  for (int n = 0; n < most && inside(lattice, x); ++n) {
    const Vec3 v = velocity(lattice, x);
    const double speed = norm(v);
    if (!moves(speed, least)) break;
    line.points.push_back(x);
    line.speed.push_back(speed);
    const Vec3 middle = velocity(lattice, x + (0.5 * sense * step / speed) * v);
    const double there = norm(middle);
    if (!moves(there, least)) break;
    x += (sense * step / there) * middle;
  }
  return line;
}

Box layer(const FieldLattice& lattice, int axis, int plane) {
  Box box{Index{}, lattice.size};
  box.lo[axis] = plane;
  box.hi[axis] = plane + 1;
  return box;
}

/// Where lines begin in the plane of cubes: each at an equal share of the flow forward.
std::vector<Vec3> seeds(const FieldLattice& lattice, int axis, int plane, int wanted) {
  struct Cell {
    Index at;
    double flow;  // Σ up to and with it
  };
  std::vector<Cell> cells;
  const auto flow_at = [&](const Index& at) { return double{lattice.at(at[0], at[1], at[2])[axis]}; };
  double total = 0.0, sum = 0.0;
  for_each_cell(layer(lattice, axis, plane), [&](const Index& at) { total += flow_at(at); });
  for_each_cell(layer(lattice, axis, plane), [&](const Index& at) {
    const double flow = total < 0.0 ? -flow_at(at) : flow_at(at);
    if (!(flow > 0.0 && std::isfinite(flow))) return;
    sum += flow;
    cells.push_back({at, sum});
  });
  std::vector<Vec3> points;
  for (int n = 0; n < wanted && sum > 0.0; ++n) {
    const double share = (n + 0.5) / wanted * sum;
    const auto cell = std::ranges::lower_bound(cells, share, {}, &Cell::flow);
    Vec3 x;
    for (int d = 0; d < 3; ++d) {
      const double golden =
          d == (axis + 1) % 3 ? 0.754877666 : 0.569840291;  // spreads points within a plane (Roberts 2018)
      x[d] = cell->at[d] + (d == axis ? 0.5 : std::fmod(0.5 + n * golden, 1.0));
    }
    points.push_back(x);
  }
  return points;
}

}  // namespace

std::vector<Streamline> streamlines(const FieldLattice& lattice, int axis, double low, double high, int wanted) {
  const int plane = std::clamp(static_cast<int>(0.5 * (low + high)), 0, lattice.size[axis] - 1);
  const std::vector<Vec3> points = seeds(lattice, axis, plane, wanted);
  std::vector<Streamline> lines(points.size());
  parallel_for_dynamic(std::ssize(points), [&](std::int64_t n) {
    Streamline& line = lines[n];
    const Vec3& seed = points[n];
    line = follow(lattice, seed, -1.0);
    const Streamline after = follow(lattice, seed, 1.0);
    std::ranges::reverse(line.points);
    std::ranges::reverse(line.speed);
    const std::size_t skip = line.points.empty() ? 0 : 1;  // the seed is there already
    for (std::size_t i = skip; i < after.points.size(); ++i) {
      line.points.push_back(after.points[i]);
      line.speed.push_back(after.speed[i]);
    }
  });
  std::erase_if(lines, [](const Streamline& line) { return line.points.size() <= 1; });
  return lines;
}

}  // namespace karst
