// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_sampler.hpp"

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "io/plotfile.hpp"

namespace karst {

namespace {

int offset_in(const Box& box, const Index& c) {
  const Index n = box.size();
  return ((c[2] - box.lo[2]) * n[1] + c[1] - box.lo[1]) * n[0] + c[0] - box.lo[0];
}

Index child(const Index& cell, int octant) {
  return {2 * cell[0] + (octant & 1), 2 * cell[1] + (octant >> 1 & 1), 2 * cell[2] + (octant >> 2)};
}
Index parent(const Index& cell) { return {cell[0] >> 1, cell[1] >> 1, cell[2] >> 1}; }

}  // namespace

PlotSampler::PlotSampler(const std::string& path, const std::vector<std::string>& components,
                         std::array<bool, 3> periodic)
    : reader_(path), path_(path), periodic_(periodic), levels_(reader_.n_levels()) {
  const std::vector<std::string>& there = reader_.components();
  for (const std::string& name : components) {
    const auto at = std::ranges::find(there, name);
    require(at != there.end(), "{}: contains no {}, only {}", path, name, join(there, ", "));
    components_.push_back(at - there.begin());
  }
  for (int l = 0; l < reader_.n_levels(); ++l)
    for (const Box& box : reader_.boxes(l))
      for (int d = 0; d < 3; ++d) box_size_[d] = std::max(box_size_[d], box.size()[d]);
  for (int l = 0; l < reader_.n_levels(); ++l)
    for (std::size_t b = 0; b < reader_.boxes(l).size(); ++b)
      levels_[l].box_at[lattice_key(reader_.boxes(l)[b].lo)] = b;
  sample_.weighted.resize(components_.size());
}

std::int64_t PlotSampler::lattice_key(const Index& cell) const {
  constexpr int bits = 21;
  std::int64_t key = 0;
  for (int d = 0; d < 3; ++d) key = key << bits | (cell[d] / box_size_[d]);
  return key;
}

/// nullptr: no such box, or the cell lies outside of it.
const PlotSampler::Values* PlotSampler::box_with(int level, const Index& cell) {
  Level& here = levels_[level];
  const auto found = here.box_at.find(lattice_key(cell));
  if (found == here.box_at.end()) return nullptr;
  const auto [entry, is_new] = here.read.try_emplace(found->second);
  Values& box = entry->second;
  if (is_new) {
    box.cells = reader_.boxes(level)[found->second];
    const std::size_t n = box.cells.count();
    box.values.resize(n * components_.size());
    box.hidden.resize(n);
    reader_.read_hidden(level, found->second, box.hidden);
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const std::span<float> of_component = std::span(box.values).subspan(c * n, n);
      reader_.read(level, found->second, components_[c], of_component);
      require(std::ranges::all_of(of_component, [](float v) { return std::isfinite(v); }),
              "{}: {} is not finite somewhere in box {} of level {}", path_, reader_.components()[components_[c]],
              found->second, level);
    }
  }
  return box.cells.contains(cell) ? &box : nullptr;
}

/// Finest level whose cell at a place is not covered.
int PlotSampler::level_at(const Vec3& x) {
  for (int l = reader_.n_levels() - 1; l > 0; --l) {
    Index cell;
    for (int d = 0; d < 3; ++d) cell[d] = static_cast<int>(std::floor(std::ldexp(x[d], l)));
    if (box_with(l, cell) != nullptr) return l;
  }
  return 0;
}

/// Adds a cell to the sample; false where there is no fluid.
bool PlotSampler::add(double weight, int level, const Index& cell) {
  const Values* box = box_with(level, cell);
  if (box == nullptr) return level > 0 && add(weight, level - 1, parent(cell));
  const std::size_t n = box->cells.count(), i = offset_in(box->cells, cell);
  if ((box->hidden[i] & cell_is_covered) != 0) {
    bool any = false;
    for (int octant = 0; octant < 8; ++octant) any |= add(0.125 * weight, level + 1, child(cell, octant));
    return any;
  }
  if ((box->hidden[i] & cell_is_solid) != 0) return false;
  sample_.fluid += weight;
  for (std::size_t c = 0; c < components_.size(); ++c) sample_.weighted[c] += weight * double{box->values[c * n + i]};
  return true;
}

const PlotSampler::Sample& PlotSampler::at(const Vec3& x) {
  sample_.fluid = 0.0;
  std::ranges::fill(sample_.weighted, 0.0);
  const int level = level_at(x);
  Index low;
  Vec3 part;
  for (int d = 0; d < 3; ++d) {
    const int n = reader_.cells()[d] << level;
    const double place = std::ldexp(x[d], level) - 0.5;
    low[d] = static_cast<int>(std::floor(place));
    if (!periodic_[d]) low[d] = std::clamp(low[d], 0, std::max(0, n - 2));
    part[d] = n == 1 ? 0.0 : place - low[d];
  }
  for (int corner = 0; corner < 8; ++corner) {
    Index cell;
    double weight = 1.0;
    for (int d = 0; d < 3; ++d) {
      const int n = reader_.cells()[d] << level, high = corner >> d & 1;
      weight *= high != 0 ? part[d] : 1.0 - part[d];
      cell[d] = (low[d] + high + n) % n;
    }
    if (weight != 0.0) add(weight, level, cell);
  }
  return sample_;
}

}  // namespace karst
