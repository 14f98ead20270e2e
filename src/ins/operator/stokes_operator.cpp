// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/stokes_operator.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/core/items_of.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/face_weight.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst {
namespace {

constexpr float plain_t = 1.0F / 6.0F;
constexpr float most_taken = 0.75F;  ///< of the rest of a face's conductance, by the bend
/// The same towards a coarser level: the velocity of a ghost does not answer to its pressure, which leaves half of
/// that.
constexpr float most_taken_at_levels = 0.4F;

/// The open part of a face on an end of the domain, joined pieces included: its area, and its centroid from the centre
/// of the cell.
FaceArea face_on_end(const BoxGraph& graph, const BoxMoments& moments, std::uint16_t vof, std::size_t side) {
  FaceArea face{1.0, {}};
  face.at.v[side / 2] = side % 2 == 1 ? 0.5 : -0.5;
  const auto irregular = graph.row_vof.first(graph.n_irregular);
  const auto at = std::ranges::lower_bound(irregular, vof);
  if (at == irregular.end() || *at != vof) return face;
  const VofMoments& m = moments.moments[at - irregular.begin()];
  face.area = m.aperture[side];
  std::size_t axis = 0;
  for (std::size_t e = 0; e < 3; ++e)
    if (e != side / 2) face.at.v[e] = double{m.face_centroid[side][axis++]};
  for (const ExtraFace& piece : items_of(graph.extra, vof, &ExtraFace::vof)) {
    if (piece.side != side || graph.name(piece.neighbour) != domain_face) continue;
    const ExtraFaceMoments& more = moments.extra[&piece - graph.extra.data()];
    const Vec3 centroid{double{more.centroid[0]}, double{more.centroid[1]}, double{more.centroid[2]}};
    face.at = (1.0 / (face.area + more.aperture)) * (face.area * face.at + more.aperture * centroid);
    face.area += more.aperture;
  }
  return face;
}

/// Mean over a face that is open in part, about its centroid: Gauss' two points each way over the whole face give the
/// bend.
double mean_over(const EndProfile& profile, const Vec3& centre, std::size_t normal, const FaceArea& face) {
  const double apart = 0.5 / std::sqrt(3.0);
  const std::size_t first = (normal + 1) % 3, second = (normal + 2) % 3;
  double whole = 0.0;
  for (const double a : {-apart, apart})
    for (const double b : {-apart, apart}) {
      Vec3 x = centre;
      x.v[first] += a;
      x.v[second] += b;
      whole += 0.25 * profile(x);
    }
  if (face.area == 1.0) return whole;
  Vec3 x = centre;
  for (const std::size_t e : {first, second}) x.v[e] += face.at.v[e];
  return profile(x) + std::min(face.area, 1.0) * (whole - profile(centre));
}

}  // namespace

template <class Q>
BasicLevelValues<Q>::BasicLevelValues(const StokesOperator& op)
    : x(op.geometry().graph, 1, Purpose::solver),
      mean(op.geometry().graph, 1, Purpose::solver),
      beyond(op.level_ghosts().size()),
      along(op.geometry().graph.n_local()) {}

template <class Q>
Vec3 BasicLevelValues<Q>::flow() const {
  Vec3 sum;
  for (const Vec3& box : along) sum += box;
  return sum;
}

template <class Q>
std::int64_t BasicLevelValues<Q>::bytes() const {
  return static_cast<std::int64_t>(x.bytes() + mean.bytes() + curvature.bytes() + beyond.size() * sizeof(double) +
                                   along.size() * sizeof(Vec3));
}

StokesOperator::StokesOperator(std::shared_ptr<const Composite> composite, int level, const FlowSides& sides,
                               FlowRows rows)
    : composite_(std::move(composite)),
      geometry_(&composite_->level(level)),
      sides_(sides),
      rows_(std::move(rows)),
      t_(geometry_->graph, 1, Purpose::solver),
      halo_(comm(), geometry_->graph),
      float_halo_(comm(), geometry_->graph),
      plain_(n_own(), Purpose::solver, std::uint8_t{1}) {
  find_ghosts();
  const LevelGraph& graph = geometry_->graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    std::ranges::fill(t_.own(b), plain_t);
    for (const FlowRow& row : rows_.of(b)) {
      t_.box(b)[row.vof] = 1.0F / row.mean_diagonal();
      plain_[graph.vof_begin(b) + row.vof] = 0;
    }
    for (const std::uint16_t v : rows_.still_in(b)) t_.box(b)[v] = 0.0F;
    for (const std::uint16_t v : covered_in(b)) plain_[graph.vof_begin(b) + v] = 0;
  }
  fill_halo(comm(), graph, t_);
  for (int b = 0; b < graph.n_local(); ++b)
    for (auto i = ghost_begin_[b]; i < ghost_begin_[b + 1]; ++i) {
      const Ghost& g = ghosts_[i];
      // No momentum of its own where the flux is given: t_v + t_n = 0, so that it is that of the end at any time.
      t_.box(b)[g.slot] = gives_velocity(sides_[g.side]) ? -t_.box(b)[g.vof] : t_.box(b)[g.vof];
    }
  for (const LevelGhost& g : level_ghosts_) t_.box(g.box)[g.slot] = t_.box(g.box)[g.vof];
  limit_bends();
  for (int side = 0; side < 6; ++side)
    if (gives_velocity(sides_[side])) set_profile(side, 1.0, [](const Vec3&) { return 1.0; });
}

/// A face whose flux would grow against the pressure difference makes pressure unstable: where planes say little about
/// the walls (contacts, at the ends of the domain above all) the bend may take this much of the rest.
void StokesOperator::limit_bends() {
  parallel_for(geometry_->graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const float* t = t_.box(b).data();
    const BoxGraph graph = geometry_->graph.box(b);
    const std::size_t first_ghost = graph.n_own + graph.halo.n_vofs(), end = first_ghost + graph.halo.n_coarse();
    const auto least = [&](float area, std::size_t v, std::size_t n) {
      const float most = n >= first_ghost && n < end ? most_taken_at_levels : most_taken;
      return -most * area * 0.5F * (t[v] + t[n]);
    };
    const std::size_t first = rows_.begin[b];
    for (std::size_t r = 0; r < rows_.of(b).size(); ++r) {
      FlowRow& row = rows_.rows[first + r];
      for (std::size_t s = 0; s < 6; ++s)
        if (row.area[s] > 0.0F) row.bend[s] = std::max(row.bend[s], least(row.area[s], row.vof, row.slot[s]));
    }
  });
  for (LevelGhost& g : level_ghosts_) {
    const float* t = t_.box(g.box).data();
    g.bend = std::max(g.bend, -most_taken_at_levels * g.area * 0.5F * (t[g.vof] + t[g.slot]));
  }
}

std::array<double, 2> StokesOperator::set_profile(int side, double width, const EndProfile& profile) {
  std::array<double, 2> sums{};
  for (int b = 0; b < geometry_->graph.n_local(); ++b) {
    const std::size_t first = ghost_begin_[b], end = ghost_begin_[b + 1];
    if (first == end) continue;
    const BoxGraph graph = geometry_->graph.box(b);
    std::vector<Index> cells(graph.n_own);
    for_each_vof(graph, [&](int vof, int cell) { cells[vof] = graph.cells.cell(cell); });
    for (std::size_t i = first; i < end; ++i) {
      Ghost& g = ghosts_[i];
      if (g.side != side) continue;
      const FaceArea face = face_on_end(graph, geometry_->box(b), g.vof, side);
      const auto in_level = [&](const Vec3& x) { return profile(width * x); };
      Vec3 centre = Vec3::all(0.5);
      for (int d = 0; d < 3; ++d) centre[d] += cells[g.vof][d];
      centre.v[side / 2] += side % 2 == 1 ? 0.5 : -0.5;
      const auto row = std::ranges::lower_bound(rows_.of(b), g.vof, {}, &FlowRow::vof);
      const bool has_row = row != rows_.of(b).end() && row->vof == g.vof && row->area[side] > 0.0F;
      const double mean = mean_over(in_level, centre, side / 2, face);
      g.point = in_level(centre);
      g.mean = mean * (has_row ? face.area / double{row->area[side]} : 1.0);
      const bool covered = !has_row && !is_plain(geometry_->graph.vof_begin(b) + g.vof);
      if (covered || t_.box(b)[g.vof] == 0.0F) continue;  // under a finer level, or without flow
      sums[0] += width * width * face.area * mean;
      sums[1] += width * width * face.area;
    }
  }
  return sums;
}

void StokesOperator::find_ghosts() {
  ghost_begin_ = level_ghost_begin_ = end_wall_begin_ = {0};
  for (int b = 0; b < geometry_->graph.n_local(); ++b) {
    const BoxGraph graph = geometry_->graph.box(b);
    if (graph.halo.n_domain() > 0)
      for_each_face(graph, [&](int vof, int side, int slot) {
        if (graph.name(slot) == domain_face)
          ghosts_.push_back(
              {static_cast<std::uint16_t>(slot), static_cast<std::uint16_t>(vof), static_cast<std::uint8_t>(side)});
      });
    ghost_begin_.push_back(std::ssize(ghosts_));
    if (graph.halo.n_coarse() > 0) find_level_ghosts(b, graph);
    level_ghost_begin_.push_back(std::ssize(level_ghosts_));
    if (graph.halo.n_domain() > 0) find_end_walls(b, graph);
    end_wall_begin_.push_back(std::ssize(end_walls_));
  }
}

/// Where the grid line of a flow cell meets the end and no solid before it.
void StokesOperator::find_end_walls(int box, const BoxGraph& graph) {
  const std::span<const FlowRow> rows = rows_.of(box);
  for_each_face(graph, [&](int vof, int side, int slot) {
    if (graph.name(slot) != domain_face || !is_wall(sides_[side])) return;
    const auto row = std::ranges::lower_bound(rows, vof, {}, &FlowRow::vof);
    if (row == rows.end() || row->vof != vof || row->slot[side] != graph.closed() || row->theta[side] != 0.5F) return;
    const float other = row->theta[side ^ 1U];
    const float across =
        row->slot[side ^ 1U] == graph.closed() ? std::max(other, static_cast<float>(least_theta)) : other;
    end_walls_.push_back(
        {static_cast<std::uint16_t>(vof), static_cast<std::uint8_t>(side), 2.0F / ((0.5F + across) * 0.5F)});
  });
}

/// Across the open sides of flow cells.
void StokesOperator::find_level_ghosts(int box, const BoxGraph& graph) {
  const std::span<const FlowRow> rows = rows_.of(box);
  for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
    if (std::ranges::none_of(slots, [&](int slot) { return graph.name(slot) == coarse_face; })) return;
    const auto v = static_cast<std::uint16_t>(vof);
    if (std::ranges::binary_search(rows_.still_in(box), v) || std::ranges::binary_search(covered_in(box), v)) return;
    const auto row = std::ranges::lower_bound(rows, v, {}, &FlowRow::vof);
    const bool plain = row == rows.end() || row->vof != v;
    for (std::size_t s = 0; s < 6; ++s) {
      if (graph.name(slots[s]) != coarse_face || (!plain && row->slot[s] != slots[s])) continue;
      const std::size_t o = s ^ 1U;
      LevelGhost g{box, slots[s], v, slots[o], static_cast<std::uint8_t>(s), 1.0F, 0.0F, 0.5F, -0.5F};
      if (s % 2 == 0) std::swap(g.here, g.there);
      if (!plain) {
        g.opposite = row->slot[o];
        g.area = row->area[s];
        g.bend = row->bend[s];
        g.here = row->gradient[s];
        g.there = row->gradient[o];
      }
      level_ghosts_.push_back(g);
    }
  });
}

/// ũ of the ghosts: the differences ũ - u of their VoFs, but for the gradients and the rates of change, which are their
/// own: as a -> ∞ only with these the flux is that of the difference of pressures across the face alone.
template <class Q>
void StokesOperator::fill_level_ghosts(int box, BasicLevelValues<Q>& u, const LevelTime& time) const {
  using Number = kernels::NumberOf<Q>;
  const Q* x = u.x.box(box).data();
  Q* w = u.mean.box(box).data();
  const LevelTime here = of_box(time, box);
  for (auto i = level_ghost_begin_[box]; i < level_ghost_begin_[box + 1]; ++i) {
    const LevelGhost& g = level_ghosts_[i];
    const std::size_t d = g.side / 2U;
    const double at = double{x[g.vof].v[kernels::p]}, t = double{t_.box(box)[g.vof]};
    const double own = double{g.here} * (double{x[g.slot].v[kernels::p]} - at) +
                       double{g.there} * (double{x[g.opposite].v[kernels::p]} - at);
    const double ghost = (g.side % 2 == 1 ? 0.5 : -0.5) * (u.beyond[i] - at);
    w[g.slot] = x[g.slot];
    w[g.slot].v[d] += static_cast<Number>(double{w[g.vof].v[d]} - double{x[g.vof].v[d]} + t * (ghost - own));
    if (time.shift > 0.0)
      w[g.slot].v[d] += static_cast<Number>(
          t * (time.ghost(i, double{x[g.slot].v[d]}) - kernels::change(here, g.vof, kernels::load(x[g.vof]))[d]));
  }
}

/// Its lists begin at the box's own VoFs and extra faces.
LevelTime StokesOperator::of_box(const LevelTime& time, int box) const {
  LevelTime here = time;
  if (time.has_past)
    for (LevelTime::Past& past : here.past) {
      past.cells += geometry_->graph.vof_begin(box);
      past.faces += geometry_->graph.vof_begin(box);
      past.extra += rows_.extra_begin[box];
    }
  return here;
}

template <class Q>
double StokesOperator::level_flux(const BasicLevelValues<Q>& u, const LevelGhost& g, const Vec3& force,
                                  const LevelTime& time) const {
  const Q* w = u.mean.box(g.box).data();
  const float* t = t_.box(g.box).data();
  const double f = force.v[g.side / 2U], area = double{g.area}, bend = double{g.bend};
  if (time.shift == 0.0) return kernels::flux_out(w, t, g.vof, g.slot, g.side, f, area, bend);
  return kernels::flux_out(w, t, {g.vof, g.slot, g.side, area, bend}, f, of_box(time, g.box));
}

void StokesOperator::face_velocities(const LevelValues& u, const Vec3& force, const LevelTime& time,
                                     std::span<std::array<double, 6>> faces, std::span<double> extra,
                                     std::span<float> fluxes) const {
  using namespace kernels;
  parallel_for(geometry_->graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const LevelTime here = of_box(time, b);
    const Quad *x = u.x.box(b).data(), *w = u.mean.box(b).data();
    const float* t = t_.box(b).data();
    std::array<double, 6>* to = faces.data() + geometry_->graph.vof_begin(b);
    const auto set = [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const auto& weight) {
      std::array<double, 6> out{};
      for (std::size_t s = 0; s < 6; ++s)
        if (const auto [area, bend] = weight(s); area > 0.0)
          out[s] = flux_out(w, t, {v, n[s], s, area, bend}, force.v[s / 2], here) / area;
      to[v] = out;
    };
    for_plain(geometry_->graph.box(b), [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      if (is_plain(geometry_->graph.vof_begin(b) + v)) set(v, n, [](std::size_t) { return std::pair(1.0, 0.0); });
    });
    for (const FlowRow& row : rows_.of(b))
      set(row.vof, row.slot, [&](std::size_t s) { return std::pair(double{row.area[s]}, double{row.bend[s]}); });
    double* of_extra = extra.data() + rows_.extra_begin[b];
    float* through = fluxes.data() + rows_.extra_begin[b];
    std::size_t e = 0;
    for (const FlowExtra& face : rows_.extra_of(b)) {
      const ExtraFlux flux = extra_parts(x, w, t, face, force);
      const double more = extra_velocity(flux, here, e);
      through[e] = static_cast<float>(double{face.area} * (flux.mean + more));
      of_extra[e++] = more + flux.along;
    }
  });
}

template <class Q>
void StokesOperator::fill_ghosts(int box, Q* x, const EndGhosts& ends, double Ghost::*profile) const {
  for (auto i = ghost_begin_[box]; i < ghost_begin_[box + 1]; ++i) {
    const Ghost& g = ghosts_[i];
    const EndGhost& end = ends[g.side];
    for (std::size_t c = 0; c < 4; ++c)
      x[g.slot].v[c] =
          static_cast<kernels::NumberOf<Q>>(end.factor[c] * double{x[g.vof].v[c]} + g.*profile * end.offset[c]);
  }
}

template <bool unsteady, class Q>
void StokesOperator::momentum(int box, BasicLevelValues<Q>& u, const Vec3& force, const LevelTime& time, Q* y) const {
  using namespace kernels;
  const BoxGraph graph = geometry_->graph.box(box);
  const Q* x = u.x.box(box).data();
  const float* t = t_.box(box).data();
  Q* w = u.mean.box(box).data();
  for_plain(graph, [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
    const Four sum =
        (load(x[n[0]]) + load(x[n[1]])) + ((load(x[n[2]]) + load(x[n[3]])) + (load(x[n[4]]) + load(x[n[5]])));
    const Four at = load(x[v]), minus = all(6.0) * at - sum;
    Four g = plain_gradient(x, n, force);
    if constexpr (unsteady) g += change(time, v, at);
    store(minus + g, y[v]);
    store(at + all(double{t[v]}) * g + curvature(x, v, n, -minus), w[v]);
  });
  for (const FlowRow& row : rows_.of(box)) {
    const Four at = load(x[row.vof]);
    Four g = row_gradient(x, row, force);
    if constexpr (unsteady) g += change(time, row.vof, at);
    Four minus = (all(double{row.diagonal}) + Four{row.edge[0], row.edge[1], row.edge[2], 0.0}) * at;
    for (std::size_t s = 0; s < 6; ++s) minus -= all(double{row.viscous[s]}) * load(x[row.slot[s]]);
    store(minus + g, y[row.vof]);
    Four mean = at + all(double{t[row.vof]}) * g;
    if (row.curved != 0) mean += curvature(x, row.vof, row.slot, -minus);
    store(mean, w[row.vof]);
  }
  for (const std::uint16_t v : rows_.still_in(box)) {
    y[v] = x[v];
    w[v] = {};
  }
  for (const std::uint16_t v : covered_in(box)) y[v] = w[v] = {};
}

/// Returns Σ over the sides of each direction of half the flux along it.
template <bool unsteady, class Q>
Vec3 StokesOperator::continuity(int box, const BasicLevelValues<Q>& u, const Vec3& force, const LevelTime& time,
                                Q* y) const {
  using namespace kernels;
  using Number = NumberOf<Q>;
  const BoxGraph graph = geometry_->graph.box(box);
  const Q* w = u.mean.box(box).data();
  const float* t = t_.box(box).data();
  Vec3 along;
  const std::uint8_t* plain = plain_.data() + geometry_->graph.vof_begin(box);
  for_plain(graph, [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
    const auto [low, high] = plain_fluxes<unsteady>(w, t, v, n, force, time);
    const Four out = low + high;
    y[v].v[p] = static_cast<Number>(-(out[0] + out[1] + out[2]));
    if (plain[v] != 0)
      for (std::size_t d = 0; d < 3; ++d) along.v[d] += 0.5 * (high[d] - low[d]);
  });
  for (const FlowRow& row : rows_.of(box)) {
    double out = 0.0;
    for (std::size_t s = 0; s < 6; ++s) {
      const double area = double{row.area[s]}, bend = double{row.bend[s]}, f = force.v[s / 2];
      double flux;
      if constexpr (unsteady)
        flux = flux_out(w, t, {row.vof, row.slot[s], s, area, bend}, f, time);
      else
        flux = flux_out(w, t, row.vof, row.slot[s], s, f, area, bend);
      out += flux;
      along.v[s / 2] += s % 2 == 1 ? 0.5 * flux : -0.5 * flux;
    }
    y[row.vof].v[p] = static_cast<Number>(-out);
  }
  const Q* x = u.x.box(box).data();
  [[maybe_unused]] std::size_t i = 0;  // of the extra face
  for (const FlowExtra& e : rows_.extra_of(box)) {
    double out;
    if constexpr (unsteady) {
      const ExtraFlux parts = extra_parts(x, w, t, e, force);
      out = double{e.area} * (parts.mean + extra_velocity(parts, time, i++));
    } else {
      out = flux_out(x, w, t, e, force);
    }
    y[e.vof].v[p] -= static_cast<Number>(out);
    for (std::size_t d = 0; d < 3; ++d) along.v[d] += 0.5 * out * e.step[d];
  }
  for (const std::uint16_t v : rows_.still_in(box)) y[v].v[p] = x[v].v[p];
  for (const std::uint16_t v : covered_in(box)) y[v] = {};
  return along;
}

template <class Q>
void StokesOperator::move_end_walls(int box, const StokesDrive& drive, Q* y) const {
  for (const EndWall& wall : end_walls_of(box))
    for (std::size_t d = 0; d < 3; ++d)
      y[wall.vof].v[d] -= static_cast<kernels::NumberOf<Q>>(double{wall.viscous} * drive.of_wall[wall.side].v[d]);
}

template <class Q>
void StokesOperator::momentum_pass(BasicLevelValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive,
                                   const LevelTime& time) const {
  const EndGhosts ends = end_ghosts(sides_, GhostOf::momentum, drive);
  halo_of<Q>().for_boxes(u.x, [&](int b) {
    fill_ghosts(b, u.x.box(b).data(), ends, &Ghost::point);
    Q* to = y.data() + geometry_->graph.vof_begin(b);
    if (time.shift > 0.0)
      momentum<true, Q>(b, u, drive.force, of_box(time, b), to);
    else
      momentum<false, Q>(b, u, drive.force, time, to);
    move_end_walls(b, drive, to);
  });
}

template <class Q>
void StokesOperator::continuity_pass(BasicLevelValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive,
                                     const LevelTime& time) const {
  const EndGhosts ends = end_ghosts(sides_, GhostOf::fluxes, drive);
  halo_of<Q>().for_boxes(u.mean, [&](int b) {
    fill_ghosts(b, u.mean.box(b).data(), ends, &Ghost::mean);
    fill_level_ghosts(b, u, time);
    Q* to = y.data() + geometry_->graph.vof_begin(b);
    u.along[b] = time.shift > 0.0 ? continuity<true, Q>(b, u, drive.force, of_box(time, b), to)
                                  : continuity<false, Q>(b, u, drive.force, time, to);
  });
}

template <class Q>
void StokesOperator::pressure_gradient(BasicLevelValues<Q>& u, std::span<std::array<float, 3>> gradient) const {
  using namespace kernels;
  const EndGhosts ends = end_ghosts(sides_, GhostOf::momentum, {});
  halo_of<Q>().for_boxes(u.x, [&](int b) {
    fill_ghosts(b, u.x.box(b).data(), ends, &Ghost::point);
    const BoxGraph graph = geometry_->graph.box(b);
    const Q* x = u.x.box(b).data();
    std::array<float, 3>* g = gradient.data() + geometry_->graph.vof_begin(b);
    const auto set = [g](std::size_t v, const Four& of) {
      for (std::size_t d = 0; d < 3; ++d) g[v][d] = static_cast<float>(of[d]);
    };
    for_plain(graph, [&](std::size_t v, const std::array<std::uint16_t, 6>& n) { set(v, plain_gradient(x, n, {})); });
    for (const FlowRow& row : rows_.of(b)) set(row.vof, row_gradient(x, row, {}));
    for (const std::uint16_t v : rows_.still_in(b)) g[v] = {};
    for (const std::uint16_t v : covered_in(b)) g[v] = {};
  });
}

/// @param flux_of  a box: a function of an open face of an own VoF, the flux out through it [velocity h²]
template <class Flux>
void StokesOperator::list_primary(double unit, Field& fluxes, Flux&& flux_of) const {
  using namespace kernels;
  fluxes.fill(0.0);
  parallel_for(geometry_->graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const BoxGraph graph = geometry_->graph.box(b);
    const int first_coarse = graph.n_own + graph.halo.n_vofs(), first_domain = first_coarse + graph.halo.n_coarse();
    const auto flux = flux_of(b);
    const auto set = [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const auto& weight) {
      for (std::size_t s = 0; s < 6; ++s) {
        const bool coarse = n[s] >= first_coarse && n[s] < first_domain;
        const bool end = n[s] >= first_domain && n[s] < graph.closed();
        if (coarse || (s % 2 == 1 && !end)) continue;
        const auto [area, bend] = weight(s);
        const double out = area > 0.0 ? unit * flux(OpenFace{v, n[s], s, area, bend}) : 0.0;
        fluxes.box(b, static_cast<int>(s / 2))[s % 2 == 1 ? n[s] : v] = s % 2 == 1 ? out : -out;
      }
    };
    const std::uint8_t* plain = plain_.data() + geometry_->graph.vof_begin(b);
    for_plain(graph, [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      if (plain[v] != 0) set(v, n, [](std::size_t) { return std::pair(1.0, 0.0); });
    });
    for (const FlowRow& row : rows_.of(b))
      set(row.vof, row.slot, [&](std::size_t s) { return std::pair(double{row.area[s]}, double{row.bend[s]}); });
  });
}

void StokesOperator::face_fluxes(const LevelValues& u, const Vec3& force, double unit, Field& fluxes) const {
  list_primary(unit, fluxes, [&](int b) {
    return [&force, w = u.mean.box(b).data(), t = t_.box(b).data()](const kernels::OpenFace& face) {
      return kernels::flux_out(w, t, face.vof, face.neighbour, face.side, force.v[face.side / 2], face.area, face.bend);
    };
  });
}

void StokesOperator::face_fluxes(const LevelValues& u, const Vec3& force, const LevelTime& time, double unit,
                                 Field& fluxes) const {
  list_primary(unit, fluxes, [&](int b) {
    return [&force, w = u.mean.box(b).data(), t = t_.box(b).data(),
            here = of_box(time, b)](const kernels::OpenFace& face) {
      return face.area * (kernels::flux_out(w, t, face, force.v[face.side / 2], here) / face.area);
    };
  });
}

void StokesOperator::face_fluxes(std::span<const std::array<double, 6>> velocities, double unit, Field& fluxes) const {
  list_primary(unit, fluxes, [&](int b) {
    return [velocity = velocities.data() + geometry_->graph.vof_begin(b)](const kernels::OpenFace& face) {
      return face.area * velocity[face.vof][face.side];
    };
  });
}

double StokesOperator::extra_flux(const LevelValues& u, int box, const FlowExtra& face, const Vec3& force) const {
  return kernels::flux_out(u.x.box(box).data(), u.mean.box(box).data(), t_.box(box).data(), face, force);
}

float StokesOperator::extra_flux(const LevelValues& u, int box, const FlowExtra& face, const Vec3& force,
                                 const LevelTime& time) const {
  const kernels::ExtraFlux flux =
      kernels::extra_parts(u.x.box(box).data(), u.mean.box(box).data(), t_.box(box).data(), face, force);
  const double more = kernels::extra_velocity(flux, of_box(time, box), &face - rows_.extra_of(box).data());
  return static_cast<float>(double{face.area} * (flux.mean + more));
}

std::int64_t StokesOperator::bytes() const {
  return static_cast<std::int64_t>(rows_.rows.bytes() + rows_.extra.bytes() + 2 * rows_.still.size() +
                                   ghosts_.size() * sizeof(Ghost) + level_ghosts_.size() * sizeof(LevelGhost) +
                                   end_walls_.size() * sizeof(EndWall) + t_.bytes() + plain_.bytes());
}

template struct BasicLevelValues<Quad>;
template struct BasicLevelValues<FloatQuad>;
template void StokesOperator::momentum_pass(BasicLevelValues<Quad>&, std::span<Quad>, const StokesDrive&,
                                            const LevelTime&) const;
template void StokesOperator::momentum_pass(BasicLevelValues<FloatQuad>&, std::span<FloatQuad>, const StokesDrive&,
                                            const LevelTime&) const;
template void StokesOperator::continuity_pass(BasicLevelValues<Quad>&, std::span<Quad>, const StokesDrive&,
                                              const LevelTime&) const;
template void StokesOperator::continuity_pass(BasicLevelValues<FloatQuad>&, std::span<FloatQuad>, const StokesDrive&,
                                              const LevelTime&) const;
template void StokesOperator::pressure_gradient(BasicLevelValues<Quad>&, std::span<std::array<float, 3>>) const;
template void StokesOperator::pressure_gradient(BasicLevelValues<FloatQuad>&, std::span<std::array<float, 3>>) const;
template double StokesOperator::level_flux(const BasicLevelValues<Quad>&, const LevelGhost&, const Vec3&,
                                           const LevelTime&) const;
template double StokesOperator::level_flux(const BasicLevelValues<FloatQuad>&, const LevelGhost&, const Vec3&,
                                           const LevelTime&) const;

}  // namespace karst
