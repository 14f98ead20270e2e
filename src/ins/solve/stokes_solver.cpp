// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/stokes_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "fields/face_field.hpp"

namespace karst {
namespace {

/// @param size  |b|
void require_drive(double size, const std::string& name) {
  require(size > 0.0,
          "{}: there is no driving force; give a pressure gradient along a periodic direction or different pressures "
          "on two faces that the pores connect",
          name);
}

}  // namespace

StokesSolver::StokesSolver(const std::shared_ptr<const Composite>& composite, const FlowSides& sides,
                           const StokesOptions& options)
    : comm_(composite->comm()), options_(options), op_(composite, sides), values_(op_), preconditioner_(op_) {
  if (op_.n_levels() > 1) unknowns_ = Array<Quad>(op_.numbering().n_own(), Purpose::solver);
}

std::span<Quad> StokesSolver::all_values() {
  if (solution_.size() == 0) solution_ = Array<Quad>(op_.n_vofs(), Purpose::solver, Quad{});
  return solution_.span();
}

FlowGmres& StokesSolver::krylov() {
  if (!gmres_) gmres_.emplace(comm_, op_.n_vofs(), options_.krylov);
  return *gmres_;
}

/// values_ = v
void StokesSolver::load(std::span<const Quad> v) {
  values_.make_means(op_);
  op_.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    std::copy_n(v.begin() + first, n, values_.level(l).x.own(b).begin());
  });
}

void StokesSolver::residual(const StokesDrive& drive, std::span<Quad> r, const TimeTerm& time) {
  drive_ = drive;
  load(all_values());
  op_.apply(values_, r, drive_, time);
  op_.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    for (std::size_t v = first; v < first + n; ++v)
      for (double& c : r[v].v) c = -c;
    for (const std::uint16_t v : op_.level(l).rows().still_in(b)) r[first + v] = {};
  });
}

Vec3 StokesSolver::velocity_of(const FlowValues& u) const {
  Vec3 sum = u.flow();
  comm_.sum(std::span(sum.v));
  return per_cell() * sum;
}

double StokesSolver::per_cell() const {
  const Index cells = op_.level(0).geometry().graph.layout().domain().cells;
  return 1.0 / (double(cells[0]) * cells[1] * cells[2]);
}

double StokesSolver::size_of(const StokesDrive& drive, const std::string& name) {
  values_.make_means(op_);
  op_.for_boxes([&](int l, int b, std::size_t, std::size_t) { std::ranges::fill(values_.level(l).x.own(b), Quad{}); });
  op_.apply(values_, krylov().work(), drive);
  const double size = krylov().norm(krylov().work());
  require_drive(size, name);
  return size;
}

GmresReport StokesSolver::solve_from_here(const StokesDrive& drive, const TimeTerm& time, double size,
                                          const std::string& name, const CarriedMomentum& carried) {
  preconditioner_.set_slow(time.shift);
  const double weight = preconditioner_.continuity_weight();
  const auto weigh = [this, weight](std::span<Quad> v) {
    if (weight != 1.0) parallel_for(std::ssize(v), [&](std::int64_t i) { v[i].v[3] *= weight; });
  };
  const TimeTerm of_change{.shift = time.shift};
  Vec3 base;
  GmresProblem problem;
  problem.name = name;
  bool begins = true;
  problem.residual = [&](std::span<Quad> r) {
    const Timer timer("residual");
    residual(drive, r, time);
    if (carried.advection != nullptr) {
      if (std::exchange(begins, false)) carried.advection->set_carrying(carried.inertia, values_, drive, carried.by);
      carried.advection->add_carried(-carried.inertia, carried.by, values_, drive, r);
    }
    weigh(r);
    if (options_.progress) base = velocity_of(values_);
  };
  problem.apply = [&](std::span<Quad> v) {
    preconditioner_.apply(v, values_);
    {
      const Timer timer("operator");
      op_.apply(values_, v, {}, of_change);
    }
    if (carried.advection != nullptr) {
      const Timer timer("carried momentum");
      carried.advection->add_carried(carried.inertia, carried.by, values_, {}, v);
    }
    weigh(v);
  };
  problem.add = [&](std::span<const Quad> v) {
    preconditioner_.apply(v, values_);
    op_.for_boxes([&](int l, int b, std::size_t first, std::size_t) {
      Quad* to = solution_.data() + first;
      for (const Quad& z : values_.level(l).x.own(b)) {
        for (std::size_t c = 0; c < 4; ++c) to->v[c] += z.v[c];
        ++to;
      }
    });
  };
  problem.functional = [&] { return values_.flow(); };
  if (options_.progress)
    problem.progress = [&](int iteration, double left, const Vec3& more) {
      options_.progress({iteration, left, base + per_cell() * more});
    };
  return krylov().solve(problem, size);
}

/// A cycle of GMRES and the true residual do not need their vectors at the same time: each frees those of the other,
/// and hands their pages back, for vectors of other sizes would not fit into the gaps.
StokesReport StokesSolver::solve(const StokesDrive& drive, const std::string& name) {
  const Timer timer("stokes");
  gmres_.reset();
  solution_ = {};
  drive_ = drive;
  preconditioner_.set_slow();
  op_.for_boxes([&](int l, int b, std::size_t, std::size_t) { std::ranges::fill(values_.level(l).x.own(b), Quad{}); });
  BasicFlowGmres<FloatQuad> gmres(comm_, op_.n_vofs(), options_.krylov);
  std::optional<FloatFlowValues> change;  // M v
  BasicGmresProblem<FloatQuad> problem;
  problem.name = name;
  Vec3 base;
  problem.residual = [&](std::span<FloatQuad> r) {
    const Timer of_residual("residual");
    change.reset();
    gmres.give_room_back();
    trim_heap();
    find_residual(r);
    if (options_.progress) base = velocity_of(values_);
  };
  problem.apply = [&](std::span<FloatQuad> v) {
    if (!change) {
      values_.drop_means();
      trim_heap();
      change.emplace(op_);
    }
    preconditioner_.apply(v, *change);
    const Timer of_operator("operator");
    op_.apply(*change, v);
  };
  problem.add = [&](std::span<const FloatQuad> v) {
    preconditioner_.apply(v, *change);
    op_.for_boxes([&](int l, int b, std::size_t, std::size_t) {
      Quad* to = values_.level(l).x.own(b).data();
      for (const FloatQuad& z : change->level(l).x.own(b)) {
        for (std::size_t c = 0; c < 4; ++c) to->v[c] += double{z.v[c]};
        ++to;
      }
    });
  };
  problem.functional = [&] { return change->flow(); };
  if (options_.progress)
    problem.progress = [&](int iteration, double left, const Vec3& more) {
      options_.progress({iteration, left, base + per_cell() * more});
    };
  find_residual(gmres.work());
  const double size = gmres.norm(gmres.work());
  require_drive(size, name);
  StokesReport report;
  report.krylov = gmres.solve(problem, size);
  keep_solution();
  measure(report, std::span<const FloatQuad>(gmres.work()));
  list_unknowns();
  return report;
}

/// r = b - K x of values_.
void StokesSolver::find_residual(std::span<FloatQuad> r) {
  values_.make_means(op_);
  Array<Quad> exact(op_.n_vofs(), Purpose::solver);
  op_.apply(values_, exact.span(), drive_);
  op_.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    for (std::size_t v = first; v < first + n; ++v)
      for (std::size_t c = 0; c < 4; ++c) r[v].v[c] = static_cast<float>(-exact[v].v[c]);
    for (const std::uint16_t v : op_.level(l).rows().still_in(b)) r[first + v] = {};
  });
}

void StokesSolver::keep_solution() {
  solution_ = Array<Quad>(op_.n_vofs(), Purpose::solver);
  op_.for_boxes([&](int l, int b, std::size_t first, std::size_t) {
    std::ranges::copy(values_.level(l).x.own(b), solution_.begin() + first);
    for (const std::uint16_t v : op_.level(l).covered_in(b)) solution_[first + v] = {};
  });
}

/// From all VoFs in units of their level to the unknowns in units of h0.
void StokesSolver::list_unknowns() {
  if (op_.n_levels() == 1) return;
  op_.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    for (std::size_t v = 0; v < n; ++v) {
      const std::int32_t u = op_.numbering().number(l, b, static_cast<int>(v));
      if (u < 0) continue;
      Quad q = solution_[first + v];
      q.v[3] /= StokesLevels::width(l);
      unknowns_[u] = q;
    }
  });
}

void StokesSolver::measure(StokesReport& report) { measure(report, std::span<const Quad>(krylov().work())); }

/// @param left  the residual
template <class Q>
void StokesSolver::measure(StokesReport& report, std::span<const Q> left) {
  report.velocity = velocity_of(values_);
  struct Sums {
    double speed = 0.0, largest = 0.0;
    Vec3 velocity;
  };
  Sums all;
  for (int l = 0; l < op_.n_levels(); ++l) {  // covered VoFs hold 0
    const double volume = std::pow(StokesLevels::width(l), 3);
    const Sums here = parallel_reduce(
        op_.begin(l + 1) - op_.begin(l), Sums{},
        [&](std::int64_t v) {
          const Quad& q = solution_[op_.begin(l) + v];
          const Vec3 u{q.v[0], q.v[1], q.v[2]};
          const double speed = norm(u);
          return Sums{speed, speed, u};
        },
        [](const Sums& a, const Sums& b) {
          return Sums{a.speed + b.speed, std::max(a.largest, b.largest), a.velocity + b.velocity};
        });
    all = {all.speed + volume * here.speed, std::max(all.largest, here.largest), all.velocity + volume * here.velocity};
  }
  std::array<double, 4> sums{all.speed, all.velocity[0], all.velocity[1], all.velocity[2]};
  comm_.sum(std::span(sums));
  const double along = norm(Vec3{sums[1], sums[2], sums[3]});
  report.tortuosity = along > 0.0 ? sums[0] / along : 0.0;
  report.largest_speed = comm_.max(all.largest);
  const double net =
      comm_.max(parallel_max(std::ssize(left), [&](std::int64_t v) { return std::abs(double{left[v].v[3]}); }));
  report.divergence = report.largest_speed > 0.0 ? net / report.largest_speed : 0.0;
}

FaceField StokesSolver::face_fluxes() {
  residual(drive_, krylov().work());
  FaceField fluxes(op_.composite());
  op_.face_fluxes(values_, drive_.force, fluxes);
  return fluxes;
}

std::int64_t StokesSolver::bytes() const {
  return op_.bytes() + values_.bytes() + preconditioner_.bytes() + (gmres_ ? gmres_->bytes() : 0) +
         static_cast<std::int64_t>(solution_.bytes() + unknowns_.bytes());
}

}  // namespace karst
