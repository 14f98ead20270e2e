// SPDX-License-Identifier: BSD-3-Clause
// Parts of a TransportStepper, and the work arrays of its steps.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "transport/diffusion/diffusion_stages.hpp"
#include "transport/diffusion/implicit_diffusion.hpp"
#include "transport/march/implicit_upwind.hpp"
#include "transport/march/limiter.hpp"
#include "transport/volumes/side_by_side.hpp"
#include "transport/volumes/transport_problem.hpp"

namespace karst {

/// Components with equal diffusivity, or without diffusion, during a step.
struct ComponentBlock {
  int width = 0;                                           ///< C
  std::array<std::size_t, most_side_by_side> component{};  ///< in the order of the stepper
  DiffusionGroup* group = nullptr;                         ///< nullptr: no diffusion
  bool shares = false;                     ///< the factors of the limiter are those of a ScalarComponent::group
  std::span<const Vec3> gradient_weights;  ///< of the values prescribed on domain faces
  std::array<ScalarRange, most_side_by_side> range{};               ///< of the state
  std::array<std::span<const double>, most_side_by_side> source{};  ///< of advance(); empty: none
  Array<double> before;              ///< C n_values: c; after a step that of its beginning, for go_back()
  Array<double> low;                 ///< C n_values: c_low, then with the limited corrections
  Array<double> amount;              ///< C n_faces: correction
  Array<double> wall, through_wall;  ///< C n_own: correction, amount that has passed; empty: sealed
  Array<double> beyond;              ///< C n_own: of TransportStepper::set_beyond_wall(); empty: nothing
  /// C per domain face: the prescribed value at the end of the step, NaN where it is that of the volume; amounts that
  /// leave the domain.
  std::vector<double> end_value, ends;

  std::array<double, 3 * most_side_by_side> left{};  ///< StageSums: of the change, of the residuals of both stages

  bool reacts() const { return wall.size() > 0; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(before.bytes() + low.bytes() + amount.bytes() + wall.bytes() +
                                     through_wall.bytes() + beyond.bytes() +
                                     sizeof(double) * (end_value.capacity() + ends.capacity()));
  }
};

/// Work arrays that all blocks share, for C components of the widest one.
struct StepScratch {
  Array<double> mean;                     ///< C n_values
  Array<double> exposure;                 ///< C n_values: of LowOrderVectors
  std::array<Array<double>, 3> gradient;  ///< C n_all
  Array<double> wall;                     ///< C n_own: flux through the wall; empty without reacting walls
  std::vector<double> inner;              ///< of LowOrderVectors
  ImplicitUpwind upwind;
  ImplicitDiffusion implicit;
  std::unique_ptr<DiffusionScratch> diffusion;
  LimiterScratch limiter;
  std::vector<Correction> corrections;
  std::vector<double> sums, extremes;  ///< of one step, before and after the sum over ranks
  std::int64_t bytes() const;
};

/// What advance() began with, beside the values.
struct StepStart {
  double time = 0.0;
  std::vector<ScalarRange> range;
  bool made = false;  ///< values have been changed
};

struct TransportParts {
  std::vector<ScalarComponent> components;
  TransportOptions options;
  std::shared_ptr<ScalarGrid> grid;  ///< scalar_grid_of() the composite
  double volume = 0.0;               ///< of all ranks [h0³]
  CarryingFlow flow;
  std::vector<std::shared_ptr<DiffusionGroup>> groups;
  std::vector<ComponentBlock> blocks;  ///< all components, each once
  /// Blocks [first, last) that are limited together: those of a ScalarComponent::group, or a single block without a
  /// group.
  std::vector<std::pair<std::size_t, std::size_t>> limited_together;
  StepScratch scratch;
  StepStart start;
  std::int64_t bytes() const;  ///< of this rank
};

/// Collective.
std::unique_ptr<TransportParts> make_parts(const std::shared_ptr<const Composite>& composite,
                                           std::vector<ScalarComponent> components, const TransportOptions& options);

}  // namespace karst
