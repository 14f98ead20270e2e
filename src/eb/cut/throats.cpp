// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/throats.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "grid/hierarchy.hpp"
#include "grid/morton.hpp"

namespace karst {

namespace {

constexpr int per_cell = 4;         // samples of a ray
constexpr double behind = 1.5;      // the centre of a cell that a wall cuts: cells from which a ray begins
using Samples = std::vector<Vec3>;  // points

/// Centre of a cell, and those of its faces.
std::array<Vec3, 7> middle_and_faces(const Index& cell, double h) {
  std::array<Vec3, 7> x;
  for (int d = 0; d < 3; ++d) x[0][d] = h * (cell[d] + 0.5);
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side) {
      Vec3& face = x[1 + 2 * static_cast<std::size_t>(d) + static_cast<std::size_t>(side)];
      face = x[0];
      face[d] += side == 0 ? -0.5 * h : 0.5 * h;
    }
  return x;
}

bool leaves(const Domain& domain, const Vec3& x, double h) {
  for (int d = 0; d < 3; ++d)
    if (!domain.periodic[d] && (x[d] < 0.0 || x[d] > h * domain.cells[d])) return true;
  return false;
}

/// A ray through the middle of a cell along the normal: the cells from wall to wall, where that is narrow.
class Ray {
 public:
  Ray(const Domain& domain, double h, int n_cells)
      : domain_(domain), h_(h), n_cells_(n_cells), x_(per_cell * (n_cells + 4) + 1), phi_(x_.size()) {}
  /// @param visit  gets each cell once
  template <class Visit>
  void follow(const LocalLevelSet& phi, const Vec3& middle, const Vec3& normal, Visit&& visit) {
    const double step = h_ / per_cell;
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = middle + (step * static_cast<double>(i) - behind * h_) * normal;
    phi.evaluate(x_, phi_);
    const auto crossing = [&](std::size_t i) {  // between samples i - 1 and i, in samples
      return static_cast<double>(i) - phi_[i] / (phi_[i] - phi_[i - 1]);
    };
    const auto last_begin = static_cast<std::size_t>(2.0 * behind * per_cell);
    std::size_t begin = 1;
    while (begin <= last_begin && !(phi_[begin - 1] <= 0.0 && phi_[begin] > 0.0)) ++begin;
    if (begin > last_begin) return;
    std::size_t end = begin + 1;
    while (end < x_.size() && phi_[end] > 0.0) ++end;
    if (end == x_.size() || !(crossing(end) - crossing(begin) < per_cell * n_cells_)) return;
    for (std::size_t i = begin; i < end; ++i)
      if (leaves(domain_, x_[i], h_)) return;
    Index last{-1 << 30, 0, 0};
    for (std::size_t i = begin; i < end; ++i) {
      Index cell;
      for (int d = 0; d < 3; ++d) cell[d] = static_cast<int>(std::floor(x_[i][d] / h_));
      if (cell != last) visit(cell);
      last = cell;
    }
  }

 private:
  const Domain& domain_;
  double h_;
  int n_cells_;
  Samples x_;
  std::vector<double> phi_;
};

}  // namespace

void for_each_throat_cell(const LevelSet& level_set, const Domain& domain, int level, int n_cells, const Box& cells,
                          const std::function<void(const Index& cell)>& visit) {
  const double h = std::ldexp(1.0, -level), margin = h * reach_of_throats(n_cells);
  Vec3 lo, hi;
  for (int d = 0; d < 3; ++d) lo[d] = h * cells.lo[d], hi[d] = h * cells.hi[d];
  const std::unique_ptr<LocalLevelSet> phi = level_set.local(lo - Vec3::all(margin), hi + Vec3::all(margin));
  if (phi->signs(lo, hi).one_kind()) return;
  Ray ray(domain, h, n_cells);
  std::array<double, 7> f;
  for_each_cell(cells, [&](const Index& cell) {
    const std::array<Vec3, 7> x = middle_and_faces(cell, h);
    phi->evaluate(x, f);
    const auto is_fluid = [](double value) { return value > 0.0; };
    const auto n_fluid = std::ranges::count_if(f, is_fluid);
    if (n_fluid == 0 || n_fluid == std::ssize(f)) return;
    Vec3 slope{f[2] - f[1], f[4] - f[3], f[6] - f[5]};
    if (const double size = norm(slope); size > 0.0) ray.follow(*phi, x[0], (1.0 / size) * slope, visit);
  });
}

void ThroatBoxes::find(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, int level,
                       std::span<const Box> boxes) {
  const std::size_t l = level;
  if (l < keys_.size()) return;
  keys_.resize(l + 1);
  const Domain domain = domain_on_level(grid.domain(), level), finer = domain.refined();
  for (const Refinement& r : grid.refine) {
    if (r.where != Refinement::Where::throat || r.level <= level) continue;
    std::vector<std::vector<std::uint64_t>> of_box(boxes.size());
    parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) {
      std::vector<std::uint64_t>& keys = of_box[b];
      for_each_throat_cell(level_set, domain, level, r.cells, boxes[b], [&](const Index& cell) {
        for (const std::uint64_t key : boxes_over(finer, grid.box, Box{cell, cell + Index::all(1)}.grown(r.buffer)))
          if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
      });
    });
    std::vector<std::uint64_t> mine;
    for (const auto& keys : of_box) mine.insert(mine.end(), keys.begin(), keys.end());
    const std::vector<std::uint64_t> all = comm.all_gather<std::uint64_t>(mine);
    keys_[l].insert(keys_[l].end(), all.begin(), all.end());
  }
  std::ranges::sort(keys_[l]);
  keys_[l].erase(std::ranges::unique(keys_[l]).begin(), keys_[l].end());
}

bool ThroatBoxes::meets(const GridOptions& grid, int level, const Box& octant) const {
  const int half = grid.box / 2;
  const Index finer{octant.lo[0] / half, octant.lo[1] / half, octant.lo[2] / half};
  return std::ranges::binary_search(keys_.at(level), morton_encode(finer));
}

}  // namespace karst
