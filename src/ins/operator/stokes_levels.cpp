// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/stokes_levels.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "fields/face_field.hpp"
#include "grid/halo_exchange.hpp"

namespace karst {

StokesLevels::StokesLevels(std::shared_ptr<const Composite> composite, const FlowSides& sides)
    : composite_(std::move(composite)) {
  const Comm& comm = composite_->comm();
  const Geometry& geometry = composite_->geometry();
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
        std::make_unique<StokesOperator>(composite_, static_cast<int>(l), sides, make_flow_rows(comm, *lookups[l])));
    begin_.push_back(begin_.back() + levels_[l]->n_own());
  }
  drives_.resize(n);
  times_.resize(n);
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

template <class Q>
BasicFlowValues<Q>::BasicFlowValues(const StokesLevels& op) {
  levels.reserve(op.n_levels());
  for (int l = 0; l < op.n_levels(); ++l) levels.emplace_back(op.level(l));
}

template <class Q>
void BasicFlowValues<Q>::drop_means() {
  for (BasicLevelValues<Q>& level : levels) level.mean = {};
}

template <class Q>
void BasicFlowValues<Q>::make_means(const StokesLevels& op) {
  for (int l = 0; l < op.n_levels(); ++l)
    if (level(l).mean.n_components() == 0)
      level(l).mean = BasicField<Q>(op.level(l).geometry().graph, 1, Purpose::solver);
}

template <class Q>
Vec3 BasicFlowValues<Q>::flow() const {
  Vec3 sum;
  for (int l = 0; l < std::ssize(levels); ++l) sum += std::pow(StokesLevels::width(l), 3) * level(l).flow();
  return sum;
}

template <class Q>
std::int64_t BasicFlowValues<Q>::bytes() const {
  std::int64_t sum = 0;
  for (const BasicLevelValues<Q>& level : levels) sum += level.bytes();
  return sum;
}

template struct BasicFlowValues<Quad>;
template struct BasicFlowValues<FloatQuad>;

PastFlow::PastFlow(const StokesLevels& op)
    : cells(op.n_vofs(), Purpose::solver, {}), faces(op.n_vofs(), Purpose::solver, {}) {
  for (int l = 0; l < op.n_levels(); ++l) {
    extra.emplace_back(op.level(l).rows().extra.size(), Purpose::solver, 0.0);
    fluxes.emplace_back(op.level(l).rows().extra.size(), Purpose::solver, 0.0F);
    ghosts.emplace_back(op.level(l).level_ghosts().size(), Purpose::solver, 0.0);
  }
}

std::int64_t PastFlow::bytes() const {
  std::size_t sum = cells.bytes() + faces.bytes();
  for (const Array<double>& level : extra) sum += level.bytes();
  for (const Array<float>& level : fluxes) sum += level.bytes();
  for (const Array<double>& level : ghosts) sum += level.bytes();
  return static_cast<std::int64_t>(sum);
}

/// In units of the level: h_l² / ν.
LevelTime StokesLevels::on_level(int l, const TimeTerm& time) const {
  const double square = width(l) * width(l);
  LevelTime here;
  here.shift = square * time.shift;
  here.has_past = time.past[0] != nullptr;
  if (!here.has_past) return here;
  for (std::size_t i = 0; i < 2; ++i) {
    const PastFlow& past = *(time.past[i] != nullptr ? time.past[i] : time.past[0]);
    here.weight[i] = square * time.weight[i];
    here.past[i] = {past.cells.data() + begin(l), past.faces.data() + begin(l), past.extra[l].data(),
                    past.ghosts[l].data()};
  }
  return here;
}

void StokesLevels::keep(const FlowValues& u, const StokesDrive& drive, const TimeTerm& time, PastFlow& to) const {
  for_boxes([&](int l, int b, std::size_t first, std::size_t) {
    std::ranges::copy(u.level(l).x.own(b), to.cells.begin() + first);
  });
  for (int l = 0; l < n_levels(); ++l)
    level(l).face_velocities(u.level(l), width(l) * width(l) * drive.force, on_level(l, time),
                             to.faces.span().subspan(begin(l), begin(l + 1) - begin(l)), to.extra[l].span(),
                             to.fluxes[l].span());
  keep_ghosts(u, to);
}

/// Of values whose ghosts are filled.
void StokesLevels::keep_ghosts(const FlowValues& u, PastFlow& to) const {
  for (int l = 1; l < n_levels(); ++l) {
    const auto ghosts = level(l).level_ghosts();
    for (std::size_t i = 0; i < ghosts.size(); ++i)
      to.ghosts[l][i] = u.level(l).x.box(ghosts[i].box)[ghosts[i].slot].v[ghosts[i].side / 2U];
  }
}

void StokesLevels::find_ghosts(FlowValues& scratch, PastFlow& of) {
  if (n_levels() == 1) return;
  for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    std::ranges::copy(of.cells.span().subspan(first, n), scratch.level(l).x.own(b).begin());
  });
  coupling_.fill(std::span(scratch.levels));
  keep_ghosts(scratch, of);
}

template <class Q>
void StokesLevels::apply(BasicFlowValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive, const TimeTerm& time) {
  if (n_levels() == 1) return level(0).apply(u.level(0), y, drive, on_level(0, time));
  coupling_.fill(std::span(u.levels));
  std::vector<std::span<Q>> parts;
  for (int l = 0; l < n_levels(); ++l) {
    parts.push_back(y.subspan(begin(l), begin(l + 1) - begin(l)));
    drives_[l] = karst::on_level(drive, sides(), width(l));
    times_[l] = on_level(l, time);
    level(l).momentum_pass(u.levels[l], parts[l], drives_[l], times_[l]);
  }
  for (std::size_t i = 0; i < levels_.size(); ++i)
    levels_[i]->continuity_pass(u.levels[i], parts[i], drives_[i], times_[i]);
  coupling_.return_fluxes(levels_, std::span(u.levels), std::span<const std::span<Q>>(parts), drives_, times_);
}

template <class Q>
void StokesLevels::pressure_gradient(BasicFlowValues<Q>& u, std::span<std::array<float, 3>> gradient) {
  if (n_levels() > 1) coupling_.fill(std::span(u.levels));
  for (int l = 0; l < n_levels(); ++l)
    level(l).pressure_gradient(u.level(l), gradient.subspan(begin(l), begin(l + 1) - begin(l)));
}

template void StokesLevels::apply(FlowValues&, std::span<Quad>, const StokesDrive&, const TimeTerm&);
template void StokesLevels::apply(FloatFlowValues&, std::span<FloatQuad>, const StokesDrive&, const TimeTerm&);
template void StokesLevels::pressure_gradient(FlowValues&, std::span<std::array<float, 3>>);
template void StokesLevels::pressure_gradient(FloatFlowValues&, std::span<std::array<float, 3>>);

/// @param extra    (level, box, FlowExtra) out of its VoF, in units of the level
/// @param through  (level, LevelGhost) out of the fine VoF, likewise
template <class Extra, class Through>
void StokesLevels::list_others(FaceField& fluxes, Extra&& extra, Through&& through) const {
  for (int l = 0; l < n_levels(); ++l) {
    const StokesOperator& op = level(l);
    const double h2 = width(l) * width(l);
    std::ranges::fill(fluxes.extra(l), 0.0);
    if (l > 0) std::ranges::fill(fluxes.coarse_fine(l - 1), 0.0);
    parallel_for(op.geometry().graph.n_local(), [&](std::int64_t i) {
      const int b = static_cast<int>(i);
      const BoxGraph graph = op.geometry().graph.box(b);
      // Both lists are by VoF and in the same order; that of the flow lacks closed faces.
      double* to = fluxes.extra(l).data() + op.geometry().extra_begin[b];
      auto face = graph.extra.begin();
      for (const FlowExtra& e : op.rows().extra_of(b)) {
        face = std::find(face, graph.extra.end(), ExtraFace{e.vof, e.neighbour, e.side});
        to[face++ - graph.extra.begin()] = h2 * extra(l, b, e);
      }
      if (l == 0) return;
      for_level_ghosts(l, b, [&](const StokesOperator::LevelGhost& g, std::size_t place) {
        fluxes.coarse_fine(l - 1)[place] = h2 * through(l, g);
      });
    });
  }
}

/// Calls f(LevelGhost, its place in Composite::coarse_fine()) for those of a box.
template <class F>
void StokesLevels::for_level_ghosts(int l, int box, F&& f) const {
  const auto faces = composite_->coarse_fine(l - 1);
  const auto begin = faces.begin() + composite_->coarse_fine_begin(l - 1, box),
             end = faces.begin() + composite_->coarse_fine_begin(l - 1, box + 1);
  for (const StokesOperator::LevelGhost& g : level(l).level_ghosts_of(box)) {
    const VofName v = vof_name(level(l).geometry().graph.first_box() + box, g.vof);
    auto face = std::lower_bound(begin, end, v, [](const LevelFace& at, VofName name) { return at.vof < name; });
    while (face->face.side != g.side || !face->face.primary) ++face;
    assert(face != end && face->vof == v);
    f(g, face - faces.begin());
  }
}

void StokesLevels::face_fluxes(const FlowValues& u, const Vec3& force, FaceField& fluxes) const {
  require(fluxes.composite() == composite_, "face fluxes: the field is on another grid than the flow");
  const auto here = [&](int l) { return width(l) * width(l) * force; };
  for (int l = 0; l < n_levels(); ++l)
    level(l).face_fluxes(u.level(l), here(l), width(l) * width(l), fluxes.primary(l));
  list_others(
      fluxes, [&](int l, int b, const FlowExtra& e) { return level(l).extra_flux(u.level(l), b, e, here(l)); },
      [&](int l, const StokesOperator::LevelGhost& g) { return level(l).level_flux(u.level(l), g, here(l)); });
}

void StokesLevels::face_fluxes(const FlowValues& u, const Vec3& force, const TimeTerm& time, FaceField& fluxes) const {
  require(fluxes.composite() == composite_, "face fluxes: the field is on another grid than the flow");
  const auto here = [&](int l) { return width(l) * width(l) * force; };
  for (int l = 0; l < n_levels(); ++l)
    level(l).face_fluxes(u.level(l), here(l), on_level(l, time), width(l) * width(l), fluxes.primary(l));
  list_others(
      fluxes,
      [&](int l, int b, const FlowExtra& e) {
        return double{level(l).extra_flux(u.level(l), b, e, here(l), on_level(l, time))};
      },
      [&](int l, const StokesOperator::LevelGhost& g) {
        const double area = double{g.area}, out = level(l).level_flux(u.level(l), g, here(l), on_level(l, time));
        return area > 0.0 ? area * (out / area) : 0.0;
      });
}

void StokesLevels::face_fluxes(const PastFlow& flow, FaceField& fluxes) const {
  require(fluxes.composite() == composite_, "face fluxes: the field is on another grid than the flow");
  const auto faces_of = [&](int l) { return std::span<const std::array<double, 6>>(flow.faces).subspan(begin(l)); };
  for (int l = 0; l < n_levels(); ++l) level(l).face_fluxes(faces_of(l), width(l) * width(l), fluxes.primary(l));
  list_others(
      fluxes,
      [&](int l, int b, const FlowExtra& e) {
        const FlowRows& rows = level(l).rows();
        const std::size_t place = rows.extra_begin[b] + (&e - rows.extra_of(b).data());
        return double{flow.fluxes[l][place]};
      },
      [&](int l, const StokesOperator::LevelGhost& g) {
        const std::size_t vof = level(l).geometry().graph.vof_begin(g.box) + g.vof;
        return double{g.area} * faces_of(l)[vof][g.side];
      });
}

void StokesLevels::fill_lengths(std::span<FloatField> lengths) {
  if (n_levels() > 1) coupling_.fill_lengths(lengths);
  for (int l = 0; l < n_levels(); ++l) fill_halo(comm(), level(l).geometry().graph, lengths[l]);
}

std::int64_t StokesLevels::bytes() const {
  std::int64_t sum = composite_->bytes() + coupling_.bytes();
  for (const auto& level : levels_) sum += level->bytes();
  return sum;
}

}  // namespace karst
