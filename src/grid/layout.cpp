// SPDX-License-Identifier: BSD-3-Clause
#include "grid/layout.hpp"

#include <cassert>

#include "base/core/error.hpp"
#include "grid/morton.hpp"

namespace karst {
namespace {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr int floor_div(int a, int b) { return a >= 0 ? a / b : -ceil_div(-a, b); }
constexpr int wrap(int a, int n) { return a - floor_div(a, n) * n; }

}  // namespace

Index step_across(const Domain& domain, const Index& from, const Index& to, int side) {
  Index result = to - from;
  for (int d = 0; d < 3; ++d) {
    if (!domain.periodic[d]) continue;
    const int n = domain.cells[d];
    if (2 * result[d] > n) result[d] -= n;
    if (2 * result[d] < -n) result[d] += n;
    if (d != direction_of(side) || n > 2) continue;  // both ways are equally short: the side decides
    if (n == 1 || result[d] != 0) result[d] = is_high(side) ? 1 : -1;
  }
  return result;
}

Layout::Layout(const Domain& domain, int box_size, std::vector<std::uint64_t> keys,
               std::vector<std::int64_t> rank_begin)
    : domain_(domain), box_size_(box_size), keys_(std::move(keys)), rank_begin_(std::move(rank_begin)) {
  require(box_size >= 1, "layout: the box size is {}; it must be at least 1", box_size);
  for (int d = 0; d < 3; ++d) {
    require(domain.cells[d] >= 1, "layout: the domain has {} cells in direction {}; at least 1 is needed",
            domain.cells[d], d);
    require(ceil_div(domain.cells[d], box_size) <= morton_max + 1,
            "layout: {} boxes in direction {}; at most {} can be named, use larger boxes",
            ceil_div(domain.cells[d], box_size), d, morton_max + 1);
  }
  assert(std::adjacent_find(keys_.begin(), keys_.end(), std::greater_equal<>()) == keys_.end());
  assert(!rank_begin_.empty() && rank_begin_.front() == 0 && rank_begin_.back() == n_boxes());
  assert(std::is_sorted(rank_begin_.begin(), rank_begin_.end()));
}

Index Layout::lattice_position(std::int64_t b) const { return morton_decode(keys_[b]); }

Box Layout::box(std::int64_t b) const {
  const Index lo = lattice_position(b) * box_size_;
  return intersect({lo, lo + Index::all(box_size_)}, domain_.box());
}

std::int64_t Layout::find(Index p) const {
  const Index size = lattice_size();
  for (int d = 0; d < 3; ++d) {
    if (p[d] >= 0 && p[d] < size[d]) continue;
    if (!domain_.periodic[d]) return -1;
    p[d] = wrap(p[d], size[d]);
  }
  const std::uint64_t key = morton_encode(p);
  const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
  return at != keys_.end() && *at == key ? at - keys_.begin() : -1;
}

std::int64_t Layout::find_cell(Index c) const {
  for (int d = 0; d < 3; ++d) {
    if (domain_.periodic[d]) c[d] = wrap(c[d], domain_.cells[d]);
    if (c[d] < 0 || c[d] >= domain_.cells[d]) return -1;
    c[d] /= box_size_;
  }
  return find(c);
}

int Layout::owner(std::int64_t b) const {
  return static_cast<int>(std::upper_bound(rank_begin_.begin(), rank_begin_.end(), b) - rank_begin_.begin()) - 1;
}

std::pair<std::int64_t, std::int64_t> Layout::owned(int rank) const {
  return {rank_begin_[rank], rank_begin_[rank + 1]};
}

Layout coarsened(const Layout& fine) {
  require(fine.box_size() % 2 == 0, "layout: boxes of {} cells cannot be coarsened; the size must be even",
          fine.box_size());
  Domain domain = fine.domain();
  for (int d = 0; d < 3; ++d) domain.cells[d] = ceil_div(domain.cells[d], 2);
  std::vector<std::int64_t> rank_begin{0};
  for (int r = 0; r < fine.n_ranks(); ++r) rank_begin.push_back(fine.owned(r).second);
  return Layout(domain, fine.box_size() / 2, fine.keys(), std::move(rank_begin));
}

}  // namespace karst
