// SPDX-License-Identifier: BSD-3-Clause
// Parts of a TransportStepper, and the work arrays of its steps.
#pragma once

#include <memory>
#include <vector>

#include "transport/march/component_block.hpp"
#include "transport/march/implicit_diffusion.hpp"
#include "transport/march/implicit_upwind.hpp"
#include "transport/march/transport_problem.hpp"

namespace karst {

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

struct TransportParts {
  std::vector<ScalarComponent> components;
  TransportOptions options;
  ScalarGrid grid;
  double volume = 0.0;  ///< of all ranks [h0³]
  CarryingFlow flow;
  std::vector<std::unique_ptr<DiffusionGroup>> groups;
  std::vector<ComponentBlock> blocks;  ///< all components, each once
  /// Blocks [first, last) that are limited together: those of a ScalarComponent::group, or a single block without a
  /// group.
  std::vector<std::pair<std::size_t, std::size_t>> limited_together;
  StepScratch scratch;
  std::int64_t bytes() const;  ///< of this rank
};

/// Collective.
std::unique_ptr<TransportParts> make_parts(std::shared_ptr<const Composite> composite,
                                           std::vector<ScalarComponent> components, const TransportOptions& options);

}  // namespace karst
