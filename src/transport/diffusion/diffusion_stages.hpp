// SPDX-License-Identifier: BSD-3-Clause
// Diffusive and wall fluxes of second order over a step: TR-BDF2 with the accurate operator (solvers/elliptic). With γ
// = 2 - √2, d = γ/2, w = √2/4, K c - b the outflow by diffusion and through the wall, S = -Σ advective fluxes, a = 1 /
// (d dt), g = S - (K c - b0), the changes x and y at γ dt and dt follow from
//
//   A x = 2 g - (b0 - b_γ)                            A = K + a M
//   A y = g + (w / d) a M x - (b0 - b1),      fluxes of c + w x + d y
//
// Values of the operator are at cell centres, means are at the centroids of the fluid: K acts on c + g·(x_centre -
// x_centroid), g the least-squares gradient (decision 029). All of it is computed for c - r, r the smallest previous
// value of the component: constants then produce no round-off, which the limiter would treat as a correction. Source:
// Bank et al., IEEE Trans. CAD 4 (1985) 436.
#pragma once

#include <memory>
#include <tuple>

#include "transport/diffusion/diffusion_stiff.hpp"
#include "transport/diffusion/diffusive_flux.hpp"
#include "transport/diffusion/low_order.hpp"
#include "transport/volumes/transport_problem.hpp"

namespace karst {

struct DiffusionGroups;

/// Components with equal diffusivity share an operator.
struct DiffusionGroup {
  /// Contribution of the wall to b in a row: constant - r rate.
  struct WallRow {
    std::int32_t row;
    double constant, rate;
  };

  /// An isolated fragment whose row in the operator is not a balance.
  struct Joined {
    std::int32_t volume;
    double diagonal;
  };

  LowOrderTerms low;
  bool reacts = false;                   ///< there is a wall with a rate
  std::unique_ptr<EllipticOperator> op;  ///< without a zeroth-order term
  MovedValues moved;                     ///< means to values at cell centres
  MovedValues followers;                 ///< isolated fragments; in the stages they have the mean of their neighbours
  std::vector<Joined> joined;
  bool any_joined = false;  ///< on any rank
  DiffusionRows rows;
  DiffusionSweeps sweeps;
  DiffusiveFlux flux;
  std::vector<WallRow> wall_rows;
  std::tuple<StiffDiffusion<1>, StiffDiffusion<2>, StiffDiffusion<3>, StiffDiffusion<4>> stiff;
  std::shared_ptr<DiffusionGroups> of_grid;  ///< it is one of these
  std::int64_t bytes() const;
};

/// On a composite: Composite::in_use().
struct DiffusionGroups {
  std::vector<std::weak_ptr<DiffusionGroup>> groups;
};

/// Work arrays of the stages of all groups.
struct DiffusionScratch {
  /// @param width  most components side by side
  DiffusionScratch(const ScalarGrid& grid, int width);
  Array<double> phi;                     ///< width n_all
  Array<double> b, y;                    ///< width n_own
  Array<double> change, second, before;  ///< width n_values
  std::vector<double> ends;              ///< per side term of the operator: b0, b0 - b_γ, b0 - b1 of components
  double volume_norm = 0.0;              ///< (Σ V²)^½ over all ranks [h0³]
  std::int64_t bytes() const;
};

/// Whether two components can share a group.
bool diffuse_alike(const ScalarGrid& grid, const ScalarComponent& a, const ScalarComponent& b);
/// Takes rows from the KeptDiffusion that is in use on the composite, if one is. Collective.
std::shared_ptr<DiffusionGroup> make_diffusion_group(ScalarGrid& grid, const ScalarComponent& component);

struct StageOptions {
  double tolerance = 1e-8;  ///< of the change of a step
  int max_iterations = 300;
};

/// A step from t to t + dt of C components of a group, side by side.
template <int C>
struct StageStep {
  std::array<const ScalarComponent*, C> component{};
  std::array<double, C> least{}, size{};  ///< r; range of the values: defines the size of round-off
  std::span<const double> values;  ///< C n_values at the time t, including those of other ranks and on domain faces
  std::span<const double> beyond;  ///< C n_own: added to c_eq (TransportStepper::set_beyond_wall()); empty: nothing
  std::span<double> balance;       ///< S of c - r in the own volumes [concentration h0³/time]; changed
  double t = 0.0, dt = 0.0;
};

/// Sums of squares over the own volumes, in units of the values: the change, and the residuals of the last but one
/// sweep of each stage.
template <int C>
struct StageSums {
  std::array<double, C> change{};
  std::array<std::array<double, C>, 2> left{};
  int sweeps = 0;  ///< of both stages
};

/// Both stages by sweeps. Fills scratch.phi with the values of the operator whose fluxes are the means over the step.
/// is_solved() says whether the residuals are small enough. Collective.
template <int C>
StageSums<C> solve_by_sweeps(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step,
                             const StageOptions& options, DiffusionScratch& scratch);
/// @param sums  over all ranks
template <int C>
bool is_solved(const ScalarGrid& grid, const DiffusionGroup& group, const std::array<double, C>& size, double tolerance,
               const StageSums<C>& sums);
/// The same by GCR with multigrid. Returns the number of iterations. Throws Error if a stage does not converge.
/// Collective.
template <int C>
int solve_stiff(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step, const StageOptions& options,
                DiffusionScratch& scratch);
/// Whether this step would need too many sweeps.
bool is_stiff(const ScalarGrid& grid, const DiffusionGroup& group, double dt);

/// Fluxes of scratch.phi. Collective.
/// @param flux  C n_faces; the low faces of plain volumes are left out
/// @param wall  C n_own: out of the fluid; empty: sealed
template <int C>
void diffusive_flux(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step, DiffusionScratch& scratch,
                    std::span<double> flux, std::span<double> wall);

}  // namespace karst
