// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/body_forces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/flow_kernels.hpp"
#include "ins/upscale/wall_drag.hpp"

namespace karst {
namespace {

// What cells belong to; bodies count from 1.
constexpr float whole = 0.0F, without_body = -1.0F, other_wall = -2.0F;

/// Across the sides of a VoF, walls or not.
std::array<std::uint16_t, 6> slots_of(const BoxGraph& graph, std::uint16_t vof) {
  const auto after = std::ranges::upper_bound(graph.runs, vof, {}, &Run::first);
  if (after != graph.runs.begin())
    if (const Run& run = *std::prev(after); vof < run.first + run.length) return run.neighbours(vof - run.first);
  const std::size_t n = graph.n_irregular;
  const auto irregular = graph.row_vof.first(n), regular = graph.row_vof.subspan(n);
  const auto at = std::ranges::lower_bound(irregular, vof);
  if (at != irregular.end() && *at == vof) return graph.neighbours[at - irregular.begin()];
  return graph.neighbours[n + (std::ranges::lower_bound(regular, vof) - regular.begin())];
}

/// Velocities of the no-slip ends that a row meets.
WallVelocities walls_at_ends(const BoxGraph& graph, const FlowRow& row, const StokesDrive& drive) {
  WallVelocities of_wall{};
  const std::array<std::uint16_t, 6> slots = slots_of(graph, row.vof);
  for (std::size_t s = 0; s < 6; ++s)
    if (graph.name(slots[s]) == domain_face) of_wall[s] = drive.of_wall[s];
  return of_wall;
}

/// Friction on a no-slip end, per area.
Vec3 friction_on_end(const Quad* x, const BoxGraph& graph, const FlowRow& row, std::size_t s,
                     const StokesDrive& drive) {
  return slope_towards(x, row, static_cast<int>(s), to_side, walls_at_ends(graph, row, drive));
}

/// The minerals of a level and what is known of its cells.
class LevelBodies {
 public:
  /// @param rows  of the level; the rate of change stays in units of h0
  LevelBodies(const StokesOperator& op, const LevelValues& u, const StokesDrive& drive, const Advection* advection,
              const std::vector<int>& body_of, const MomentumRows& rows)
      : op_(op),
        u_(u),
        graph_(op.geometry().graph),
        drive_(drive),
        advection_(advection),
        body_of_(body_of),
        rows_(rows),
        per_rate_(std::ldexp(1.0, -2 * op.geometry().level)),
        label_(graph_, 1, Purpose::buffers) {
    label_.fill(whole);
    for (int b = 0; b < graph_.n_local(); ++b) label_walls(b);
    fill_halo(op.comm(), graph_, label_);
    for (int pass = 0; pass < 2; ++pass) {  // a whole cell knows of a wall by way of the cut one beside it
      for (int b = 0; b < graph_.n_local(); ++b) label_beside(b);
      fill_halo(op.comm(), graph_, label_);
    }
  }

  /// Of an own VoF: a body from 1 on, or 0 and less: none.
  int body(int b, std::uint16_t vof) const { return static_cast<int>(std::max(label_.box(b)[vof], 0.0F)); }
  /// Stress on an own VoF from a coarser level, in units of the level.
  Vec3 stress(const StokesOperator::LevelGhost& g) const {
    const VofMoments* m = moments_of(g.box, graph_.box(g.box), g.vof);
    return stress(g.box, {g.vof, g.slot, g.side}, m == nullptr ? 1.0 : m->aperture[g.side]);
  }

  /// In units of the level, without what comes in from a finer one.
  void add(int b, std::vector<BodyForce>& forces) const {
    const BoxGraph graph = graph_.box(b);
    for (const FlowRow& row : op_.rows().of(b)) {
      const float label = label_.box(b)[row.vof];
      if (label <= 0.0F) continue;
      BodyForce& force = forces[static_cast<std::size_t>(label) - 1];
      const VofMoments* m = moments_of(b, graph, row.vof);
      force.friction += (m == nullptr ? 1.0 : m->kappa) * (drive_.force - rate(b, row.vof)) - carried(b, row.vof) -
                        through_faces(b, graph, row, m);
      if (m == nullptr || m->wall_area == 0.0) continue;
      const kernels::Four slope = kernels::row_gradient(u_.x.box(b).data(), row, {});
      double pressure = u_.x.box(b)[row.vof].v[kernels::p];
      for (std::size_t d = 0; d < 3; ++d) pressure += slope[d] * m->wall_centroid.v[d];
      const Vec3 on_wall = -pressure * m->wall;
      force.pressure += on_wall;
      force.friction -= on_wall;
      force.wall_area += m->wall_area;
    }
    for (const FlowExtra& face : op_.rows().extra_of(b)) {
      const float label = label_.box(b)[face.vof];
      if (label > 0.0F && label_.box(b)[face.neighbour] != label)
        forces[static_cast<std::size_t>(label) - 1].friction -=
            stress(b, {face.vof, face.neighbour, face.side}, double{face.area});
    }
  }

 private:
  std::size_t own(int b, std::uint16_t vof) const { return graph_.vof_begin(b) + vof; }
  /// ∂u/∂t
  Vec3 rate(int b, std::uint16_t vof) const {
    if (rows_.rate.empty()) return {};
    const std::array<float, 3>& r = rows_.rate[own(b, vof)];
    return per_rate_ * Vec3{double{r[0]}, double{r[1]}, double{r[2]}};
  }
  /// What a cell passes on of its momentum, less what is passed on to it: where cells of a body meet both are the same.
  Vec3 carried(int b, std::uint16_t vof) const {
    if (rows_.advection.empty()) return {};
    const std::size_t v = own(b, vof);
    const std::array<double, 4>& r = rows_.advection[v].v;
    return 1.0 / advection_->per_volume(v) * Vec3{r[0], r[1], r[2]};
  }

  const VofMoments* moments_of(int b, const BoxGraph& graph, std::uint16_t vof) const {
    const auto irregular = graph.row_vof.first(graph.n_irregular);
    const auto at = std::ranges::lower_bound(irregular, vof);
    if (at == irregular.end() || *at != vof) return nullptr;
    return &op_.geometry().box(b).moments[at - irregular.begin()];
  }

  /// Momentum rows that balance it as whole cells do, but for the ends of the domain.
  static bool is_whole(const BoxGraph& graph, const FlowRow& row) {
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t low = 2 * d, high = low + 1;
      const auto same = [&](std::size_t s) { return row.viscous[s] == 1.0F && std::abs(row.gradient[s]) == 0.5F; };
      const auto at_end = [&](std::size_t s) { return graph.name(slots_of(graph, row.vof)[s]) == domain_face; };
      if (same(low) && same(high)) continue;
      if (!(at_end(low) && row.slot[high] != graph.closed()) && !(at_end(high) && row.slot[low] != graph.closed()))
        return false;
    }
    return row.edge[0] == 0.0F && row.edge[1] == 0.0F && row.edge[2] == 0.0F;
  }

  void label_walls(int b) {
    const BoxGraph graph = graph_.box(b);
    const LevelGeometry& level = op_.geometry();
    const std::span<float> label = label_.box(b);
    for (const FlowRow& row : op_.rows().of(b)) label[row.vof] = is_whole(graph, row) ? whole : without_body;
    const std::size_t first = level.moments_begin[b];
    for (int r = 0; r < graph.n_irregular; ++r) {
      const VofMoments& m = level.moments[first + r];
      const MineralNumber mineral = level.mineral.size() == 0 ? MineralNumber{0} : level.mineral[first + r];
      const int body = m.wall_area > 0.0 ? body_of_.at(mineral) : -1;
      label[graph.row_vof[r]] = body >= 0           ? static_cast<float>(body + 1)
                                : m.wall_area > 0.0 ? other_wall
                                                    : without_body;
    }
  }

  /// Cells without a wall of their own whose rows know of one.
  void label_beside(int b) {
    const BoxGraph graph = graph_.box(b);
    const std::span<float> label = label_.box(b);
    for (const FlowRow& row : op_.rows().of(b)) {
      if (label[row.vof] != without_body) continue;
      for (const std::uint16_t n : slots_of(graph, row.vof))
        if (n < label.size()) label[row.vof] = std::max(label[row.vof], label[n] > 0.0F ? label[n] : without_body);
    }
    for (const ExtraFace& e : graph.extra)
      if (label[e.vof] == without_body && e.neighbour < label.size() && label[e.neighbour] > 0.0F)
        label[e.vof] = label[e.neighbour];
  }

  /// Σ of the stress on the faces that do not lead to another cell of its body, and on ends that are walls.
  Vec3 through_faces(int b, const BoxGraph& graph, const FlowRow& row, const VofMoments* m) const {
    Vec3 sum;
    const std::array<std::uint16_t, 6> slots = slots_of(graph, row.vof);
    for (std::size_t s = 0; s < 6; ++s) {
      const double area = m == nullptr ? 1.0 : m->aperture[s];
      if (area == 0.0 || slots[s] == graph.closed()) continue;
      const bool end = graph.name(slots[s]) == domain_face;
      if (end && is_wall(op_.sides()[s]))
        sum += area * on_wall_end(b, graph, row, s);
      else if (row.area[s] > 0.0F && (end || label_.box(b)[row.slot[s]] != label_.box(b)[row.vof]))
        sum += end ? stress_on_end(b, row, s, area) : stress(b, {row.vof, row.slot[s], s}, area);
    }
    return sum;
  }

  /// Friction and pressure on a no-slip end, per area.
  Vec3 on_wall_end(int b, const BoxGraph& graph, const FlowRow& row, std::size_t s) const {
    const Quad* x = u_.x.box(b).data();
    const double out = s % 2 == 1 ? 1.0 : -1.0;
    Vec3 force = friction_on_end(x, graph, row, s, drive_);
    force.v[s / 2] += out * (x[row.vof].v[kernels::p] + out * to_side * kernels::row_gradient(x, row, {})[s / 2]);
    return force;
  }

  /// A face between two cells.
  struct Face {
    std::size_t vof, neighbour, side;
  };
  /// α (p n - ∂u/∂n)
  Vec3 stress(int b, const Face& face, double area) const {
    const Quad &here = u_.x.box(b)[face.vof], &there = u_.x.box(b)[face.neighbour];
    Vec3 sum;
    for (std::size_t c = 0; c < 3; ++c) sum.v[c] = -area * (there.v[c] - here.v[c]);
    sum.v[face.side / 2] += (face.side % 2 == 1 ? 0.5 : -0.5) * area * (here.v[kernels::p] + there.v[kernels::p]);
    return sum;
  }
  Vec3 stress_on_end(int b, const FlowRow& row, std::size_t s, double area) const {
    const Quad* x = u_.x.box(b).data();
    const Quad &here = x[row.vof], &there = x[row.slot[s]];
    const double out = s % 2 == 1 ? 1.0 : -1.0, distance = gives_velocity(op_.sides()[s]) ? to_side : 1.0;
    Vec3 sum;
    for (std::size_t c = 0; c < 3; ++c) sum.v[c] = -area * (there.v[c] - here.v[c]) / distance;
    sum.v[s / 2] += out * area * (here.v[kernels::p] + out * to_side * kernels::row_gradient(x, row, {})[s / 2]);
    return sum;
  }

  const StokesOperator& op_;
  const LevelValues& u_;
  const LevelGraph& graph_;
  StokesDrive drive_;
  const Advection* advection_;
  const std::vector<int>& body_of_;
  MomentumRows rows_;
  double per_rate_;  // h_l²
  FloatField label_;
};

}  // namespace

std::vector<BodyForce> body_forces(StokesLevels& op, const FlowValues& u, const StokesDrive& drive,
                                   const std::vector<int>& body_of, const MomentumRows& rows) {
  const int n = body_of.empty() ? 0 : std::max(0, 1 + *std::ranges::max_element(body_of));
  std::vector<BodyForce> all(n);
  std::vector<LevelBodies> levels;
  std::vector<Advection> advection;
  levels.reserve(op.n_levels());
  advection.reserve(op.n_levels());
  for (int l = 0; l < op.n_levels(); ++l) {
    const double h = StokesLevels::width(l);
    if (!rows.advection.empty()) advection.emplace_back(op.level(l));
    const std::size_t begin = op.begin(l);
    const MomentumRows here{rows.advection.empty() ? rows.advection : rows.advection.subspan(begin),
                            rows.rate.empty() ? rows.rate : rows.rate.subspan(begin)};
    levels.emplace_back(op.level(l), u.level(l), on_level(drive, op.sides(), h),
                        advection.empty() ? nullptr : &advection.back(), body_of, here);
    std::vector<BodyForce> forces(all.size());
    for (int b = 0; b < op.level(l).geometry().graph.n_local(); ++b) levels[l].add(b, forces);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].pressure += h * forces[i].pressure;
      all[i].friction += h * forces[i].friction;
      all[i].wall_area += h * h * forces[i].wall_area;
    }
  }
  if (op.n_levels() > 1) {
    std::vector<Vec3> carried(op.coupling().n_fluxes());
    op.coupling().hand_back(
        std::span(carried),
        [&](int l, std::size_t ghost) { return levels[l].stress(op.level(l).level_ghosts()[ghost]); },
        [&](int l, int box, std::size_t vof, const Vec3& in) {
          if (const int body = levels[l].body(box, static_cast<std::uint16_t>(vof)); body > 0)
            all[body - 1].friction += StokesLevels::width(l + 1) * in;
        });
  }
  for (BodyForce& f : all) {
    std::array<double, 7> sums{f.pressure[0], f.pressure[1], f.pressure[2], f.friction[0],
                               f.friction[1], f.friction[2], f.wall_area};
    op.comm().sum(std::span(sums));
    f = {{sums[0], sums[1], sums[2]}, {sums[3], sums[4], sums[5]}, sums[6]};
  }
  return all;
}

EndFriction end_friction(const StokesLevels& op, const FlowValues& u, const StokesDrive& drive, int side) {
  std::array<double, 4> sum{};
  for (int l = 0; l < op.n_levels(); ++l) {
    const StokesOperator& level = op.level(l);
    const double h = StokesLevels::width(l);
    for (int b = 0; b < level.geometry().graph.n_local(); ++b) {
      const BoxGraph graph = level.geometry().graph.box(b);
      const auto irregular = graph.row_vof.first(graph.n_irregular);
      for (const FlowRow& row : level.rows().of(b)) {
        if (graph.name(slots_of(graph, row.vof)[side]) != domain_face) continue;
        const auto at = std::ranges::lower_bound(irregular, row.vof);
        const double area = at == irregular.end() || *at != row.vof
                                ? 1.0
                                : level.geometry().box(b).moments[at - irregular.begin()].aperture[side];
        const Vec3 friction = friction_on_end(u.level(l).x.box(b).data(), graph, row, side, drive);
        for (std::size_t d = 0; d < 3; ++d) sum[d] += h * area * friction.v[d];
        sum[3] += h * h * area;
      }
    }
  }
  op.comm().sum(std::span(sum));
  return {{sum[0], sum[1], sum[2]}, sum[3]};
}

}  // namespace karst
