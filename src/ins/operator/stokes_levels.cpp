// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/stokes_levels.hpp"

#include <cmath>

#include "base/parallel.hpp"
#include "grid/halo_exchange.hpp"

namespace karst {

StokesLevels::StokesLevels(const Comm& comm, const Geometry& geometry, const FlowSides& sides)
    : comm_(comm), composite_(composite_on(comm, geometry)) {
  const std::size_t n = geometry.levels.size();
  std::vector<std::unique_ptr<FlowLookup>> lookups;
  for (const LevelGeometry& level : geometry.levels)
    lookups.push_back(std::make_unique<FlowLookup>(comm, level, numbering(), sides));
  std::vector<std::vector<LevelFace>> faces;
  for (std::size_t l = 0; l + 1 < n; ++l)
    faces.push_back(find_flow_faces(comm, composite_->coarse_fine(static_cast<int>(l)), *lookups[l], *lookups[l + 1],
                                    face_counts_));
  for (std::size_t l = 0; l < n; ++l) {
    levels_.push_back(
        std::make_unique<StokesOperator>(comm, geometry.levels[l], sides, make_flow_rows(comm, *lookups[l])));
    begin_.push_back(begin_.back() + levels_[l]->n_own());
    unknowns_begin_.push_back(unknowns_begin_.back() + levels_[l]->n_own() - std::ssize(levels_[l]->rows().covered));
  }
  parts_.resize(n);
  drives_.resize(n);
  if (n == 1) return;
  coupling_ = LevelCoupling(comm, numbering(), lookups, faces, levels_);
  find_stretches();
}

void StokesLevels::find_stretches() {
  for (int l = 0; l < n_levels(); ++l) {
    const LevelGraph& graph = level(l).geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b)
      for (int v = 0; v < graph.box(b).n_own; ++v) {
        const std::int64_t unknown = numbering().number(l, b, v), vof = begin(l) + graph.vof_begin(b) + v;
        if (unknown < 0) continue;
        const bool continues = !stretches_.empty() && stretches_.back().level == l &&
                               vof - stretches_.back().vof == unknown - stretches_.back().unknown;
        if (!continues) stretches_.push_back({unknown, vof, l});
      }
  }
}

FlowCounts StokesLevels::counts() const {
  FlowCounts sum;
  for (int l = 0; l < n_levels(); ++l) {
    const FlowCounts& c = level(l).rows().counts;
    const double area = width(l) * width(l);
    sum.flow_cells += c.flow_cells;
    sum.rows += c.rows;
    sum.orphans += c.orphans;
    sum.walls += c.walls;
    sum.walls_half_way += c.walls_half_way;
    sum.open_area += area * c.open_area;
    sum.extra_area += area * c.extra_area;
    sum.closed_area += area * c.closed_area;
  }
  return sum;
}

void StokesLevels::apply(std::span<Quad> y, const StokesDrive& drive) {
  if (n_levels() == 1) return level(0).apply(y, drive);
  coupling_.fill(levels_);
  for (int l = 0; l < n_levels(); ++l) {
    const auto i = static_cast<std::size_t>(l);
    parts_[i] = part(l, y);
    drives_[i] = drive;
    drives_[i].force = width(l) * width(l) * drive.force;
    for (double& p : drives_[i].pressure) p *= width(l);
    level(l).momentum_pass(parts_[i], drives_[i]);
  }
  for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i]->continuity_pass(parts_[i], drives_[i]);
  coupling_.return_fluxes(levels_, parts_, drives_);
}

void StokesLevels::pressure_gradient(std::span<std::array<float, 3>> gradient) {
  if (n_levels() > 1) coupling_.fill(levels_);
  for (int l = 0; l < n_levels(); ++l)
    level(l).pressure_gradient(
        gradient.subspan(static_cast<std::size_t>(begin(l)), static_cast<std::size_t>(begin(l + 1) - begin(l))));
}

Vec3 StokesLevels::local_flow() const {
  Vec3 sum;
  for (int l = 0; l < n_levels(); ++l) sum += std::pow(width(l), 3) * level(l).local_flow();
  return sum;
}

std::vector<Field> StokesLevels::face_fluxes(const Vec3& force) const {
  std::vector<Field> fluxes;
  for (int l = 0; l < n_levels(); ++l) {
    fluxes.emplace_back(level(l).geometry().graph, 3);
    level(l).face_fluxes(width(l) * width(l) * force, fluxes.back());
  }
  coupling_.for_each_flux([&](int l, int box, int vof, int side, double out) {
    const BoxGraph graph = level(l).geometry().graph.box(box);
    const auto rows = level(l).rows().of(box);
    const auto row = std::ranges::lower_bound(rows, vof, {}, &FlowRow::vof);
    const int slot = is_high(side) ? row->slot[static_cast<std::size_t>(side)] : vof;
    if (slot != graph.closed())
      fluxes[static_cast<std::size_t>(l)].box(box, direction_of(side))[static_cast<std::size_t>(slot)] +=
          is_high(side) ? out : -out;
  });
  for (int l = 1; l < n_levels(); ++l)
    for (int d = 0; d < 3; ++d)
      for (std::int64_t i = 0; i < fluxes[static_cast<std::size_t>(l)].n_slots(); ++i)
        fluxes[static_cast<std::size_t>(l)].data(d)[i] *= width(l) * width(l);
  return fluxes;
}

void StokesLevels::fill_lengths(std::span<FloatField> lengths) {
  if (n_levels() > 1) coupling_.fill_lengths(lengths);
  for (int l = 0; l < n_levels(); ++l)
    fill_halo(comm_, level(l).geometry().graph, lengths[static_cast<std::size_t>(l)]);
}

std::int64_t StokesLevels::bytes() const {
  std::int64_t sum = composite_->bytes() + coupling_.bytes();
  for (const auto& level : levels_) sum += level->bytes();
  return sum;
}

}  // namespace karst
