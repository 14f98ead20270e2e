// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/local_permeability.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"

namespace karst {
namespace {

constexpr int n_cycles = 2;
constexpr double lowest = 1e-4, highest = 1e4;  // [cells²]

/// A component of the velocity along which an end of the domain is open, or none is: held at 0 between planes of
/// symmetry it would say nothing about the pores. The direction of the drive is one.
std::size_t free_component(const StokesLevels& op) {
  const Domain& domain = op.level(0).geometry().graph.layout().domain();
  const FlowSides& sides = op.sides();
  std::size_t d = 0;
  const auto is_free = [&](std::size_t side) { return !holds_normal_velocity(sides[side]); };
  while (d < 2 && !domain.periodic[d] && !is_free(2 * d) && !is_free(2 * d + 1)) ++d;
  return d;
}

/// The equation with the two-point operator, whose rows are those of momentum in symmetric form: times volume and, next
/// to walls, times symmetric_scale. Between grid levels they are symmetric too.
class LocalFlow {
 public:
  LocalFlow(const StokesLevels& op, BasicGraphMultigrid<3>& velocity)
      : op_(op),
        velocity_(velocity),
        component_(free_component(op)),
        left_(op.n_vofs(), Purpose::buffers, 0.0F),
        step_(left_.size(), Purpose::buffers, 0.0F),
        along_(left_.size(), Purpose::buffers, 0.0F),
        k_(left_.size(), Purpose::buffers, 0.0F) {
    op.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
      const auto volume = static_cast<float>(std::pow(StokesLevels::width(l), 3));
      std::fill_n(left_.data() + first, n, volume);
      const FlowRows& rows = op_.level(l).rows();
      for (const FlowRow& row : rows.of(b)) left_[first + row.vof] *= row.symmetric_scale;
      for (const auto& without : {rows.still_in(b), op_.level(l).covered_in(b)})
        for (const std::uint16_t v : without) left_[first + v] = 0.0F;
    });
  }

  /// Conjugate gradients.
  std::span<const float> solve() {
    double before = 0.0;
    for (int cycle = 0; cycle < n_cycles; ++cycle) {
      velocity_.apply(load_from(left_), store_to(step_));
      const double now = dot(left_, step_), keep = cycle > 0 ? now / before : 0.0;
      before = now;
      add(1.0, step_, keep, along_);
      velocity_.product(load_from(along_), store_to(step_));
      const double bent = dot(along_, step_);
      if (!(now > 0.0) || !(bent > 0.0)) break;
      add(now / bent, along_, 1.0, k_);
      add(-now / bent, step_, 1.0, left_);
    }
    return k_.span();
  }

 private:
  LoadValues<3> load_from(const Array<float>& all) const {
    return [&all, this](std::int64_t first, std::int32_t n, Values<3>* to) {
      const float* from = all.data() + op_.place_of(first).vof;
      for (std::int32_t v = 0; v < n; ++v) {
        to[v].v = {};
        to[v].v[component_] = from[v];
      }
    };
  }
  StoreValues<3> store_to(Array<float>& all) const {
    return [&all, this](std::int64_t first, std::int32_t n, const Values<3>* from) {
      float* to = all.data() + op_.place_of(first).vof;
      for (std::int32_t v = 0; v < n; ++v) to[v] = from[v].v[component_];
    };
  }
  double dot(const Array<float>& a, const Array<float>& b) const {
    return op_.comm().sum(parallel_sum(std::ssize(a), [&](std::int64_t v) { return double{a[v]} * double{b[v]}; }));
  }
  /// b = f a + g b
  static void add(double f, const Array<float>& a, double g, Array<float>& b) {
    parallel_for(std::ssize(a),
                 [&](std::int64_t v) { b[v] = static_cast<float>(f * double{a[v]} + g * double{b[v]}); });
  }

  const StokesLevels& op_;
  BasicGraphMultigrid<3>& velocity_;
  std::size_t component_;
  Array<float> left_, step_, along_, k_;
};

}  // namespace

std::vector<FloatField> find_permeable_lengths(StokesLevels& op, BasicGraphMultigrid<3>& velocity) {
  const Timer timer("local permeability");
  LocalFlow flow(op, velocity);
  const std::span<const float> k = flow.solve();
  std::vector<FloatField> lengths;
  for (int l = 0; l < op.n_levels(); ++l) lengths.emplace_back(op.level(l).geometry().graph, 1, Purpose::solver);
  op.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    const double cells = 1.0 / (StokesLevels::width(l) * StokesLevels::width(l));
    std::ranges::transform(k.subspan(first, n), lengths[l].own(b).begin(), [cells](float of) {
      return static_cast<float>(std::sqrt(std::clamp(cells * double{of}, lowest, highest)));
    });
  });
  op.fill_lengths(lengths);
  return lengths;
}

}  // namespace karst
