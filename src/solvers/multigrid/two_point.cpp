// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/two_point.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "grid/halo_exchange.hpp"

namespace karst {
namespace {

constexpr float least_line = 1e-4F;  ///< θ of a wall on a grid line

Vec3 position(const LevelGeometry& geometry, const Index& cell, const Vec3& in_cell) {
  const Vec3 lattice{static_cast<double>(cell[0]), static_cast<double>(cell[1]), static_cast<double>(cell[2])};
  return std::ldexp(1.0, -geometry.level) * (lattice + Vec3::all(0.5) + in_cell);
}

/// Conductance of the wall per unit of a_w, over β, in units of h.
double conductance(const Condition& condition, double d, double beta, double h) {
  switch (condition.kind) {
    case BoundaryKind::dirichlet:
      return 1.0 / d;
    case BoundaryKind::robin:
      return condition.rate > 0.0 ? 1.0 / (d + beta / (condition.rate * h)) : 0.0;
    case BoundaryKind::neumann:
      return 0.0;
  }
  return 0.0;
}

/// 1 - s / w of a face at the end of the domain, s = area / (h / (2 β) + 1 / rate), w = β area / h.
double factor_of(const Condition& condition, double beta, double h) {
  return 1.0 - conductance(condition, 0.5, beta, h);
}

class Maker {
 public:
  Maker(const Comm& comm, const LevelGeometry& geometry, const EllipticProblem& problem, WallForm form)
      : geometry_(geometry), problem_(problem), form_(form), h_(std::ldexp(1.0, -geometry.level)) {
    if (form == WallForm::lines) find_inside(comm);
    const bool variable = !problem.face_beta.empty();
    level_.geometry = &geometry;
    if (variable) level_.face_beta = &problem.face_beta[geometry.level];
    level_.face_weight = static_cast<float>(variable ? h_ : problem.beta * h_);
    level_.regular_shift = static_cast<float>(problem.a * h_ * h_ * h_);
    level_.weight = Array<std::array<float, 6>>(geometry.moments.size(), Purpose::solver);
    level_.shift = Array<float>(geometry.moments.size(), Purpose::solver);
    level_.extra = Array<float>(geometry.extra.size(), Purpose::solver);
    level_.ghost_begin.push_back(0);
    for (int b = 0; b < geometry.graph.n_local(); ++b)
      level_.ghost_begin.push_back(level_.ghost_begin.back() + geometry.graph.box(b).halo.n_domain());
    level_.ghost_factor.assign(level_.ghost_begin.back(), 1.0F);
  }

  TwoPointLevel make() {
    parallel_for(geometry_.graph.n_local(), [&](std::int64_t b) { make_box(static_cast<int>(b)); });
    return std::move(level_);
  }

 private:
  void make_box(int b) {
    const BoxGraph graph = geometry_.graph.box(b);
    const BoxMoments moments = geometry_.box(b);
    const std::size_t first = geometry_.moments_begin[b];
    const std::size_t first_extra = geometry_.extra_begin[b];
    for (std::size_t r = 0; r < moments.moments.size(); ++r) {
      std::array<float, 6>& weight = level_.weight[first + r];
      const VofMoments& m = moments.moments[r];
      if (form_ == WallForm::lines) {
        level_.shift[first + r] = set_lines(b, graph, r, moments.centers[r], weight);
      } else {
        set_fluxes(b, graph, r, m, weight);
        const float wall = wall_shift(first + r, graph.cells.cell(graph.row_cell[r]), mean_beta(m, weight));
        level_.shift[first + r] = level_.regular_shift * static_cast<float>(m.kappa) + wall;
      }
    }
    for (std::size_t e = 0; e < moments.extra.size(); ++e) {
      const ExtraFace& face = graph.extra[e];
      level_.extra[first_extra + e] = form_ == WallForm::lines
                                          ? 0.0F
                                          : level_.whole_weight(b, face.vof, face.side, face.neighbour) *
                                                static_cast<float>(moments.extra[e].aperture);
    }
    set_ghosts(b, graph, moments);
  }

  /// 1 in VoFs that hold their cell centre, halo included.
  void find_inside(const Comm& comm) {
    const LevelGraph& graph = geometry_.graph;
    inside_ = ByteField(graph, 1, Purpose::buffers);
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph g = graph.box(b);
      std::ranges::fill(inside_.own(b), std::uint8_t{1});
      const auto centers = geometry_.box(b).centers;
      for (std::size_t r = 0; r < centers.size(); ++r) inside_.box(b)[g.row_vof[r]] = centers[r].inside ? 1 : 0;
    }
    fill_halo(comm, graph, inside_);
  }

  void set_fluxes(int b, const BoxGraph& graph, std::size_t r, const VofMoments& m, std::array<float, 6>& weight) {
    for (std::size_t side = 0; side < 6; ++side) {
      const int slot = graph.neighbours[r][side];
      weight[side] = slot == graph.closed() ? 0.0F
                                            : level_.whole_weight(b, graph.row_vof[r], static_cast<int>(side), slot) *
                                                  static_cast<float>(m.aperture[side]);
    }
  }

  /// Mean over the open area; the problem's own where it does not vary.
  double mean_beta(const VofMoments& m, const std::array<float, 6>& weight) const {
    if (level_.face_beta == nullptr) return problem_.beta;
    double open = 0.0, sum = 0.0;
    for (std::size_t side = 0; side < 6; ++side) {
      open += m.aperture[side];
      sum += weight[side];
    }
    return open > 0.0 ? sum / (open * h_) : problem_.beta;
  }

  /// Fills the weights; returns the shift.
  float set_lines(int b, const BoxGraph& graph, std::size_t r, const VofCenter& center, std::array<float, 6>& weight) {
    weight = {};
    const int vof = graph.row_vof[r], first_ghost = graph.n_own + graph.halo.n_vofs();
    const int first_domain = first_ghost + graph.halo.n_coarse();
    const float wall_weight =
        level_.face_weight * (level_.face_beta != nullptr ? static_cast<float>(problem_.beta) : 1.0F);
    if (!center.inside) return wall_weight;
    float shift = level_.regular_shift;
    for (std::size_t side = 0; side < 6; ++side) {
      const int slot = graph.neighbours[r][side];
      const float wall = center.wall_distance[side];
      bool open = slot != graph.closed();
      if (slot < first_ghost) open = inside_.box(b)[slot] != 0;
      if (slot >= first_ghost && slot < first_domain) open = wall > 1.0F;
      if (slot >= first_domain && slot < graph.closed()) open = wall > 0.5F;
      if (open)
        weight[side] = level_.whole_weight(b, vof, static_cast<int>(side), slot);
      else
        shift += wall_weight / (wall > 1.0F ? 0.5F : std::max(wall, least_line));
    }
    return shift;
  }

  float wall_shift(std::size_t row, const Index& cell, double beta) const {
    const VofMoments& m = geometry_.moments[row];
    if (!problem_.wall || m.wall_area <= 0.0) return 0.0F;
    const Condition condition = problem_.wall(wall_piece(m, geometry_.level, static_cast<std::int64_t>(row),
                                                         wall_parts(geometry_, static_cast<std::int64_t>(row)),
                                                         position(geometry_, cell, m.wall_centroid)));
    return static_cast<float>(beta * h_ * m.wall_area * conductance(condition, wall_distance(m), beta, h_));
  }

  void set_ghosts(int b, const BoxGraph& graph, const BoxMoments& moments) {
    if (graph.halo.n_domain() == 0) return;
    const int first = graph.closed() - graph.halo.n_domain();
    float* factor = level_.ghost_factor.data() + level_.ghost_begin[b];
    for_each_face(graph, moments, [&](const FaceView& face) {
      const ConditionAt& at = problem_.sides[face.side];
      if (face.neighbour < first || !at) return;
      const double beta =
          level_.face_beta != nullptr ? level_.beta(b, face.vof, face.side, face.neighbour) : problem_.beta;
      const Vec3 x = position(geometry_, graph.cells.cell(face.cell), face.centroid);
      factor[face.neighbour - first] = static_cast<float>(factor_of(at(x), beta, h_));
    });
  }

  const LevelGeometry& geometry_;
  const EllipticProblem& problem_;
  WallForm form_;
  double h_;
  TwoPointLevel level_;
  ByteField inside_;
};

}  // namespace

double wall_distance(const VofMoments& vof) {
  const double length = norm(vof.wall);
  if (length == 0.0) return smallest_wall_distance;
  const Vec3 normal = (1.0 / length) * vof.wall;
  double d = -dot(normal, vof.wall_centroid);
  if (d < smallest_wall_distance) d = dot(normal, vof.centroid - vof.wall_centroid);
  return std::max(d, smallest_wall_distance);
}

TwoPointLevel make_two_point_level(const Comm& comm, const LevelGeometry& geometry, const EllipticProblem& problem,
                                   WallForm form) {
  return Maker(comm, geometry, problem, form).make();
}

std::vector<TwoPointLevel> make_two_point_levels(const Composite& grid, const EllipticProblem& problem, WallForm form) {
  std::vector<TwoPointLevel> levels;
  for (int l = 0; l < grid.n_levels(); ++l)
    levels.push_back(make_two_point_level(grid.comm(), grid.level(l), problem, form));
  set_coarse_fine_links(grid, form, levels);
  return levels;
}

}  // namespace karst
