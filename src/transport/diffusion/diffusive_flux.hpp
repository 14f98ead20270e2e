// SPDX-License-Identifier: BSD-3-Clause
// Fluxes by diffusion and through the wall for values of the accurate operator, one number per face of a ScalarGrid:
// those of EllipticFluxes from the same stencils, without the detour over the boxes. Faces of isolated fragments have
// none: the operator has no separate balance for fragments with a host.
#pragma once

#include <functional>

#include "solvers/elliptic/elliptic_operator.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

class DiffusiveFlux {
 public:
  DiffusiveFlux() = default;
  /// @param op  constructed with Faces::keep; must outlive this object. Collective.
  DiffusiveFlux(const ScalarGrid& grid, const EllipticOperator& op);

  /// Constants of the boundary conditions, for C components: the value of a fixed side at a position; c_eq of the wall
  /// of a volume.
  struct Values {
    std::function<void(int side, const Vec3& at, double* values)> side;
    std::function<void(std::int32_t volume, double* values)> wall;  ///< empty: no reacting wall
  };
  /// Collective.
  /// @param phi   C n_all: own values; those of other ranks are fetched
  /// @param[out] flux  C n_faces; the low faces of plain volumes are left out
  /// @param[out] wall  C n_own: out of the fluid; empty: sealed
  template <int C>
  void find(ScalarGrid& grid, std::span<double> phi, const Values& values, std::span<double> flux,
            std::span<double> wall);
  std::int64_t bytes() const;

 private:
  /// A flux of the stencils: factor x Σ weight φ_column.
  struct Row {
    std::int32_t target;  // face, or volume with a wall
    std::int32_t flux;    // its number in the stencils
    double factor;        // sign; of a wall: damped area x rate
  };
  struct Side {
    std::int32_t face;
    std::int8_t side;
    double weight;
    Vec3 at;
  };
  struct Build;
  template <int C>
  void sum_rows(const std::vector<Row>& rows, std::int32_t n_own, std::span<const double> phi,
                std::span<double> to) const;

  double diffusivity_ = 0.0;
  const FaceStencils* stencils_ = nullptr;  // of the operator
  std::vector<Row> faces_, walls_;
  std::vector<std::int32_t> differences_;  // indices in grid.listed of faces with plain differences, with
  std::vector<double> difference_weight_;  // β h, parallel
  std::vector<std::int32_t> closed_;       // faces without a flux
  std::vector<Side> sides_;
  RemoteUnknowns remote_;                      // of the stencils
  std::vector<std::int32_t> sent_, received_;  // faces whose flux is sent to other ranks, received from other ranks
  ListExchange owners_;
  Array<double> far_, from_owners_;
};

}  // namespace karst
