// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/elliptic_fluxes.hpp"

#include <algorithm>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

std::vector<GlobalNumber> foreign(const CompositeNumbering& numbering, const std::vector<WayToHost>& ways) {
  std::vector<GlobalNumber> numbers;
  for (const WayToHost& way : ways)
    for (const GlobalNumber g : way.behind)
      if (!numbering.is_own(g)) numbers.push_back(g);
  return numbers;
}

}  // namespace

/// Where the fluxes of a window go.
struct EllipticFluxes::Window {
  std::array<double*, 3> primary{};
  double *extra = nullptr, *wall = nullptr, *coarse_fine = nullptr;

  double& of(const FluxPlace& place) const {
    switch (place.kind) {
      case FluxPlace::Kind::primary:
        return primary[place.direction][place.at];
      case FluxPlace::Kind::extra:
        return extra[place.at];
      case FluxPlace::Kind::coarse_fine:
        return coarse_fine[place.at];
      case FluxPlace::Kind::wall:
        break;
    }
    return wall[place.at];
  }
};

EllipticFluxes::EllipticFluxes(EllipticOperator& op) : op_(&op), stencils_(op.faces()), cells_(op.composite()) {
  require(op.form() == WallForm::fluxes || cells_.n_levels() == 1,
          "elliptic fluxes: {} levels with Dirichlet conditions on the whole wall; make the operator with "
          "WallForm::fluxes",
          cells_.n_levels());
  require(stencils_ != nullptr, "elliptic fluxes: the operator forgot its faces; make it with Faces::keep");
  for (int l = 0; l < cells_.n_levels(); ++l) halos_.emplace_back(op.comm(), op.composite()->graph(l));
  remote_ = RemoteValues<double>(op.comm(), op.numbering(), stencils_->remote);
  foreign_orphans_ = RemoteValues<double>(op.comm(), op.numbering(), foreign(op.numbering(), stencils_->ways));
  any_ways_ = op.comm().any(!stencils_->ways.empty());
  if (any_ways_) taken_up_.resize(op.numbering().n_own());
  damped_.resize(stencils_->boundary.robin.size());
  taken_per_value_.resize(damped_.size());
}

EllipticFluxes::Window EllipticFluxes::open(const FluxWindow& window, FaceField& faces, WallField& wall) const {
  const int l = window.level, b = window.box;
  Window to;
  if (b < 0) {
    to.coarse_fine = faces.coarse_fine(l).data();
    return to;
  }
  for (int d = 0; d < 3; ++d) to.primary[d] = faces.primary(l).box(b, d).data();
  to.extra = faces.extra(l).data() + op_->composite()->level(l).extra_begin[b];
  to.wall = wall.box(l, b).data();
  return to;
}

void EllipticFluxes::follow_operator() {
  if (version_ == op_->version()) return;
  const BoundaryTerms& boundary = stencils_->boundary;
  for (std::size_t i = 0; i < boundary.robin.size(); ++i) {
    RobinWall wall = boundary.robin[i];
    wall.rate = op_->problem().wall(boundary.piece(boundary.walls[wall.term], op_->geometry())).rate;
    damped_[i] = wall.damped_area();
    taken_per_value_[i] = wall.damped_area() * wall.rate;
  }
  version_ = op_->version();
}

void EllipticFluxes::find(std::span<const double> x, FaceField& faces, WallField& wall) {
  const Timer timer("elliptic fluxes");
  require(faces.composite() == op_->composite() && wall.composite() == op_->composite(),
          "elliptic fluxes: the fields are on another grid");
  follow_operator();
  for (int l = 0; l < cells_.n_levels(); ++l) {
    std::ranges::fill(faces.extra(l), 0.0);
    std::ranges::fill(wall.level(l), 0.0);
    if (l + 1 < cells_.n_levels()) std::ranges::fill(faces.coarse_fine(l), 0.0);
  }
  remote_.begin(x);
  set_cells(x);
  find_plain(faces);
  remote_.finish();
  parallel_for(std::ssize(stencils_->windows),
               [&](std::int64_t w) { find_listed(w, x, open(stencils_->windows[w], faces, wall)); });
  if (any_ways_) close_orphans(x, faces, wall);
}

void EllipticFluxes::set_cells(std::span<const double> x) {
  const CompositeNumbering& numbering = op_->numbering();
  for (int l = 0; l < cells_.n_levels(); ++l)
    parallel_for(cells_.level(l).n_local(), [&](std::int64_t i) {
      const int b = static_cast<int>(i);
      const std::span<double> own = cells_.level(l).own(b);
      const auto numbers = numbering.numbers(l, b);
      if (numbers.empty()) {
        std::copy_n(x.data() + numbering.box_begin(l, b), own.size(), own.data());
      } else {
        for (std::size_t v = 0; v < own.size(); ++v)
          if (numbers[v] >= 0) own[v] = x[numbers[v]];
      }
    });
}

/// Sets all primary faces: the plain ones, the others to 0.
void EllipticFluxes::find_plain(FaceField& faces) {
  for (int l = 0; l < cells_.n_levels(); ++l)
    halos_[l].for_boxes(cells_.level(l), [&](int b) { find_plain(l, b, faces); });
}

void EllipticFluxes::find_plain(int level, int b, FaceField& faces) const {
  const BoxGraph graph = op_->composite()->graph(level).box(b);
  const EllipticProblem& problem = op_->problem();
  const double h = Composite::width(level);
  const double* const value = cells_.level(level).box(b).data();
  const std::uint8_t* const plain = stencils_->plain[level].data() + op_->composite()->graph(level).vof_begin(b);
  for (int d = 0; d < 3; ++d) {
    const std::span<double> all = faces.primary(level).box(b, d);
    std::ranges::fill(all.first(graph.closed()), 0.0);
    double* const flux = all.data();
    const double* const beta = problem.face_beta.empty() ? nullptr : problem.face_beta[level].box(b, d).data();
    const auto set = [&](std::size_t v, std::size_t low) {
      const double difference = h * (beta == nullptr ? problem.beta : beta[v]) * (value[low] - value[v]);
      flux[v] = (plain[v] >> d & 1U) != 0 ? difference : 0.0;
    };
    const std::size_t side = low_side(d);
    for (const Run& run : graph.runs) {
      set(run.first, run.neighbours(0)[side]);
      const std::size_t from = run.neighbours(1)[side];
      for (std::size_t t = 1; t < run.length; ++t) set(run.first + t, from + t - 1);
    }
    for (std::size_t r = graph.n_irregular; r < graph.row_vof.size(); ++r)
      set(graph.row_vof[r], graph.neighbours[r][side]);
  }
}

void EllipticFluxes::find_listed(std::size_t w, std::span<const double> x, const Window& to) const {
  const FaceStencils& s = *stencils_;
  const auto n_own = static_cast<std::int32_t>(x.size());
  const double *const own = x.data(), *const far = remote_.values().data();
  std::size_t robin = s.robin_begin[w];
  const std::size_t robin_end = s.robin_begin[w + 1];
  const auto row_of_robin = [&] { return s.boundary.walls[s.boundary.robin[robin].term].row; };
  for (std::int32_t i = s.fluxes_begin[w]; i < s.fluxes_begin[w + 1]; ++i) {
    double sum = 0.0;
    for (auto e = s.entries_begin[i]; e < s.entries_begin[i + 1]; ++e) {
      const std::int32_t c = s.columns[e];
      sum += s.weights[e] * (c < n_own ? own[c] : far[c - n_own]);
    }
    if (robin < robin_end && row_of_robin() == i) sum *= taken_per_value_[robin++];
    to.of(s.places[i]) = s.places[i].sign * sum;
  }
  const EllipticProblem& problem = op_->problem();
  const auto take = [&](std::int32_t row, double part) {
    const FluxPlace& place = s.places[row];
    to.of(place) -= place.sign * part;
  };
  for (auto t = s.sides_begin[w]; t < s.sides_begin[w + 1]; ++t) {
    const SideTerm& term = s.boundary.sides[t];
    take(term.row, term.weight * problem.sides[term.side](term.at).value);
  }
  robin = s.robin_begin[w];
  for (auto t = s.walls_begin[w]; t < s.walls_begin[w + 1]; ++t) {
    const KeptWall& term = s.boundary.walls[t];
    const bool has_rate = robin < robin_end && std::cmp_equal(s.boundary.robin[robin].term, t);
    take(term.row,
         (has_rate ? damped_[robin++] : term.weight) * problem.wall(s.boundary.piece(term, op_->geometry())).value);
  }
}

void EllipticFluxes::close_orphans(std::span<const double> x, FaceField& faces, WallField& wall) {
  divergence(faces, cells_);
  for (const JoinedOrphan& o : stencils_->orphans) {
    const LevelGeometry& level = op_->composite()->level(o.window.level);
    const double shift = op_->problem().a * std::pow(Composite::width(o.window.level), 3);
    const double kappa = level.box(o.window.box).moments[o.row].kappa;
    taken_up_[o.unknown] = shift * kappa * x[o.unknown] + cells_.level(o.window.level).box(o.window.box)[o.vof] +
                           wall.box(o.window.level, o.window.box)[o.row];
  }
  foreign_orphans_.begin(taken_up_);
  foreign_orphans_.finish();
  const CompositeNumbering& numbering = op_->numbering();
  for (const WayToHost& way : stencils_->ways) {
    double& flux = open(way.window, faces, wall).of(way.place);
    for (const GlobalNumber g : way.behind)
      flux -= way.place.sign * (numbering.is_own(g) ? taken_up_[g - numbering.first()]
                                                    : foreign_orphans_.values()[foreign_orphans_.place(g)]);
  }
}

std::int64_t EllipticFluxes::bytes() const {
  return cells_.bytes() + remote_.bytes() + foreign_orphans_.bytes() +
         static_cast<std::int64_t>(sizeof(double) * (damped_.size() + taken_per_value_.size() + taken_up_.size()));
}

}  // namespace karst
