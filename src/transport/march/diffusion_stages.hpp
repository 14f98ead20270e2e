// SPDX-License-Identifier: BSD-3-Clause
// Diffusive and wall fluxes of second order over a step: TR-BDF2 with the accurate operator (solvers/elliptic). With
// γ = 2 - √2, d = γ/2, w = √2/4, K c - b what leaves by diffusion and through the wall, S = -Σ advective fluxes:
//
//   V c_γ = V c + dt [γ S - d (K c - b0) - d (K c_γ - b_γ)]
//   V c_1 = V c + dt [S - w (K c - b0) - w (K c_γ - b_γ) - d (K c_1 - b1)],    fluxes of w c + w c_γ + d c_1
//
// Values of the operator stand at cell centres, means at the centroids of the fluid: it is applied to c + g·(x_centre -
// x_centroid), g the least-squares gradient (decision 029). Source: Bank et al., IEEE Trans. CAD 4 (1985) 436.
#pragma once

#include <memory>

#include "fields/wall_field.hpp"
#include "solvers/elliptic/elliptic_fluxes.hpp"
#include "solvers/krylov/elliptic_multigrid.hpp"
#include "transport/march/low_order.hpp"

namespace karst {

/// Components that diffuse alike share an operator.
struct DiffusionGroup {
  /// Whose boundary values the operator sees: Σ weight value(t).
  struct Boundary {
    const ScalarComponent* component = nullptr;
    std::array<double, 3> time{}, weight{};
    double value(int side, const Vec3& x) const;
  };
  struct WallRow {
    std::int32_t volume, level;
    std::int64_t row;  ///< place in LevelGeometry::moments
  };
  /// Volumes whose value of the operator stands at their cell centre: c + gradient · (centre - centroid)
  ///   = c + Σ weight (c_other - c).
  struct Moved {
    std::vector<std::int32_t> volume;
    std::vector<std::int64_t> begin{0};  ///< first of their terms, and the end
    std::vector<std::int32_t> other;
    std::vector<double> weight;
    std::int64_t bytes() const;
  };

  LowOrderTerms low;
  std::shared_ptr<Boundary> boundary = std::make_shared<Boundary>();
  std::unique_ptr<EllipticOperator> op;
  std::unique_ptr<EllipticFluxes> fluxes;
  std::unique_ptr<EllipticMultigrid> multigrid;  ///< made when a step first needs it
  std::vector<std::int32_t> joined;              ///< EllipticOperator::joined_orphans()
  std::vector<WallRow> wall_rows;                ///< irregular own unknowns
  Moved moved;
  std::unique_ptr<WallField> wall_flux;  ///< of EllipticFluxes
};

/// What the stages of all groups work in.
struct DiffusionScratch {
  explicit DiffusionScratch(const ScalarGrid& grid);  ///< collective
  TruncatedGcr gcr;
  FaceField faces;
  Array<double> phi, kc, b, rhs, work, image;  // n_own
  Array<double> change, second, direction;     // n_values
  double volume_norm = 0.0;                    ///< (Σ V²)^½ over all ranks [h0³]
  std::int64_t bytes() const;
};

/// True when two components can share a group.
bool diffuse_alike(const ScalarGrid& grid, const ScalarComponent& a, const ScalarComponent& b);
/// Collective.
std::unique_ptr<DiffusionGroup> make_diffusion_group(const ScalarGrid& grid, const ScalarComponent& component);

struct StageOptions {
  double tolerance = 1e-8;
  int max_iterations = 300;
};

/// A step from t to t + dt of one component.
struct StageStep {
  std::span<const double> values;   ///< n_values at the time t, of other ranks and on the ends of the domain, too
  std::span<const double> balance;  ///< S of the own volumes [concentration h0³/time]
  double t, dt;
  double size;  ///< of the values: sets what is round-off
};

/// Means over the step.
struct StageFluxes {
  std::span<double> face;  ///< n_faces
  std::span<double> wall;  ///< per own volume, out of the fluid; empty where the wall is sealed
};

/// Returns the number of iterations. Throws Error when a stage is not solved. Collective.
int find_diffusive_flux(ScalarGrid& grid, DiffusionGroup& group, const ScalarComponent& component,
                        const StageStep& step, const StageOptions& options, DiffusionScratch& scratch,
                        const StageFluxes& result);

}  // namespace karst
