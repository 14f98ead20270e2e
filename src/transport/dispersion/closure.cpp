// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/closure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// Of the VoFs themselves, joined orphans included [h0³].
std::vector<double> fluid_volumes(const EllipticOperator& op) {
  std::vector<double> volume(op.numbering().n_own());
  for (const LevelGeometry& level : op.geometry().levels)
    parallel_for(level.graph.n_local(), [&](std::int64_t i) {
      const auto b = static_cast<int>(i);
      const BoxGraph box = level.graph.box(b);
      const auto moments = level.box(b).moments;
      std::vector<double> kappa(box.n_own, 1.0);
      for (std::size_t r = 0; r < moments.size(); ++r) kappa[box.row_vof[r]] = moments[r].kappa;
      for (int v = 0; v < box.n_own; ++v)
        if (const auto n = op.numbering().number(level.level, b, v); n >= 0)
          volume[n] = std::ldexp(kappa[v], -3 * level.level);
    });
  return volume;
}

}  // namespace

Closure::Closure(const std::shared_ptr<const Composite>& grid, ClosureOptions options)
    : comm_(grid->comm()),
      domain_(domain_of(grid->geometry())),
      options_(std::move(options)),
      op_(grid, EllipticProblem{}, Faces::keep),
      pores_(op_),
      planes_(op_),
      position_(op_.positions()),
      centroid_(op_.source_points()),
      balance_(op_.volumes()),
      volume_of_(fluid_volumes(op_)),
      right_(balance_.size(), Purpose::solver) {
  for (int d = 0; d < 3; ++d)
    if (domain_.periodic[d] && domain_.cells[d] > 1) directions_.push_back(d);
  require(!directions_.empty(),
          "dispersion: the domain is not periodic in any direction; make one periodic (grid.periodic)");
  volume_ = sum([&](std::size_t v) { return volume_of_[v]; });
  for (const int d : directions_) {
    field_[d] = Array<double>(balance_.size(), Purpose::fields);
    source_[d] = Array<double>(balance_.size(), Purpose::solver);
  }
}

template <class F>
double Closure::sum(F&& f) const {
  return comm_.sum(parallel_sum(std::ssize(balance_), [&](std::int64_t i) { return f(i); }));
}

void Closure::set_flow(FaceField& flow) {
  require(flow.grid().id() == op_.composite()->id(), "dispersion: the flow is on ground {}, the sample on ground {}",
          flow.grid().id(), op_.composite()->id());
  flow_ = &flow;
  term_.reset();  // the one before goes first
  if (!scalars_) scalars_ = scalar_grid_of(op_.composite(), {GivenSides{}});
  term_ = std::make_unique<AdvectiveTerm>(*scalars_, flow);
  planes_.set_advection(term_.get());
  if (directions_.size() == 1)
    precondition_.emplace<1>(op_, flow, *term_);
  else
    precondition_.emplace<2>(op_, flow, *term_);
  velocity_ = {};
  std::ranges::fill(right_.span(), 1.0);
  const Vec3 carried = planes_.carried_through_ends(right_.span());
  for (const int d : directions_) {
    velocity_[d] = length(d) * carried[d] / volume_;
    const std::span<double> f = field_[d].span();
    for (std::size_t v = 0; v < f.size(); ++v) f[v] = position_[v][d];
  }
}

/// A (values of f) = U V - what the rows see of the jump of f.
void Closure::set_right_side(int j, double s) {
  const std::span<double> b = right_.span(), source = source_[j].span();
  std::ranges::fill(b, 0.0);
  planes_.add_jump(j, length(j), b);
  if (s != 0.0) {
    pores_.spread(b, volume_of_, source);
  } else {
    std::ranges::fill(source, 0.0);
  }
  parallel_for(std::ssize(b), [&](std::int64_t v) { b[v] = source[v] * balance_[v] - b[v]; });
}

template <int C>
std::vector<SolveReport> Closure::solve_along_all(BasicFlowPreconditioner<C>& precondition, double s,
                                                  const std::string& name) {
  precondition.set_scale(s);
  Array<double> b(C * right_.size(), Purpose::solver, 0.0), x(b.size(), Purpose::solver, 0.0);
  std::array<std::string, C> names;
  for (std::size_t c = 0; c < directions_.size(); ++c) {
    const int j = directions_[c];
    names[c] = fmt::format("{}, closure along {}", name, axis_names[j]);
    set_right_side(j, s);
    parallel_for(std::ssize(balance_), [&](std::int64_t v) {
      b[C * v + c] = right_[v];
      x[C * v + c] = field_[j][v];
    });
  }
  const SideBySideSystem system{op_, pores_,
                                [this](std::span<const double> f, std::span<double> y) { term_->add<C>(f, y); },
                                [&](std::span<const double> r, std::span<double> z) { precondition(r, z); }};
  SideBySideOptions options;
  options.tolerance = options_.tolerance;
  options.max_iterations = options_.max_iterations;
  options.watch = options_.watch;
  const auto reports = solve_side_by_side<C>(system, options, names, b.span(), x.span());
  for (std::size_t c = 0; c < directions_.size(); ++c) {
    const std::span<double> f = field_[directions_[c]].span();
    parallel_for(std::ssize(f), [&](std::int64_t v) { f[v] = x[C * v + c]; });
  }
  return {reports.begin(), reports.begin() + std::ssize(directions_)};
}

Dispersion Closure::solve(double s, const std::string& name) {
  require(flow_ != nullptr && std::isfinite(s), "{}: {} times no flow", name, s);
  const Timer timer("closure");
  term_->set_scale(s);
  Dispersion result;
  if (auto* alone = std::get_if<1>(&precondition_))
    result.solves = solve_along_all<1>(*alone, s, name);
  else
    result.solves = solve_along_all<3>(std::get<2>(precondition_), s, name);
  result.tensor = tensor_of(s);
  return result;
}

Matrix3 Closure::tensor_of(double s) {
  const Timer timer("fluxes");
  Matrix3 tensor;
  tensor.fill(Vec3::all(no_number));
  const auto of = [](const auto& all, int d) -> const auto& { return all[d]; };
  std::array<Vec3, 3> carried;  // through the ends, by diffusion and by the flow
  for (const int j : directions_) {
    const std::span<const double> f = of(field_, j).span();
    carried[j] = planes_.through(f, j, length(j)).end + planes_.carried_through_ends(f, j, length(j));
  }
  // V D*_ij without the integral of x_i u_j.
  const auto entry = [&](int i, int j) {
    const std::span<const double> f = of(field_, j).span();
    const double moments = sum([&](std::size_t v) {
      return volume_of_[v] * (of(source_, j)[v] * centroid_[v][i] + of(source_, i)[v] * (f[v] - position_[v][j]));
    });
    return moments - length(i) * of(carried, j)[i];
  };
  for (const int i : directions_)
    for (const int j : directions_) {
      if (j > i) continue;
      const double twice =
          i == j ? 2.0 * entry(i, i) - s * length(i) * velocity_[i] * volume_ : entry(i, j) + entry(j, i);
      tensor[i][j] = tensor[j][i] = 0.5 * twice / volume_;
    }
  return tensor;
}

}  // namespace karst
