// SPDX-License-Identifier: BSD-3-Clause
// The low-order step: upwind advection, then two-point diffusion and the film at the wall,
//
//   V ∂c/∂t = -Σ g (c - c') - w (c - c_eq),   g = D area / distance,  w = a k / (1 + k d / D)
//
// in terms of fluxes, so mass is conserved; every new value is a mean of old ones, of those on domain faces and of
// c_eq, so none is outside of their range, to round-off. Diffusion uses explicit sub-steps, as many as ordinary volumes
// need. Volumes that exchange more in a sub-step than they contain, isolated fragments above all, have fluxes that
// depend on their new value; the exchange of two such volumes follows from their old values, limited to what they
// contain. So no system is solved. Where too many sub-steps would be needed, a single implicit step is used
// (implicit_diffusion.hpp).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "transport/volumes/conductances.hpp"

namespace karst {

/// Division of a step of two-point diffusion into sub-steps.
struct SubSteps {
  double dt = 0.0;  ///< of the step; 0: none yet
  int count = 0;    ///< 0: one implicit step instead
  double length = 0.0;
  /// An own volume whose fluxes depend on its new value.
  struct Implicit {
    std::int32_t volume;
    std::int64_t special;    ///< its place in grid.special
    double volume_and_more;  ///< V + length (Σ g + w)
  };
  std::vector<Implicit> implicit;
  /// A face between two of them.
  struct Inner {
    std::int64_t listed;
    std::int32_t left, right;
    double g;
  };
  std::vector<Inner> inner;
  bool any_implicit = false, any_inner = false;  ///< on any rank
  Array<double> of_faces;                        ///< g parallel to grid.volume_faces, 0 in inner faces
  Array<double> listed;                          ///< the same parallel to grid.listed
  Array<double> sum;                             ///< Σ g + w of each own volume, without inner faces
  Array<std::uint8_t> is_implicit;               ///< n_all
  std::int64_t bytes() const;
};

/// Terms of components with the same D, the same fixed sides and the same wall.
struct LowOrderTerms {
  double diffusivity = 0.0;
  std::array<bool, 6> fixed{};
  Conductances g;             ///< domain faces without a fixed value are closed
  Array<double> wall;         ///< w per own volume [h0³/time]; empty: sealed
  Array<double> equilibrium;  ///< parallel to wall
  SubSteps sub_steps;
  std::int64_t bytes() const {
    return g.bytes() + sub_steps.bytes() + static_cast<std::int64_t>(wall.bytes() + equilibrium.bytes());
  }
};

/// Fills terms.g. Not collective.
void find_conductances(const ScalarGrid& grid, LowOrderTerms& terms);

/// Updates terms.sub_steps to dt, if they are for another one. Collective.
void choose_sub_steps(ScalarGrid& grid, LowOrderTerms& terms, double dt);

/// Work arrays of two-point diffusion of C components.
struct LowOrderVectors {
  std::span<double> first;  ///< C n_values: values after advection, on domain faces those of the new time; changed
  std::span<double>
      second;  ///< C n_values: work array. After an even number of sub-steps the result is in `first`, otherwise here
  /// C n_values: ∫ of the values in the fluxes over the step: g times its difference is the amount that passed a face.
  std::span<double> exposure;
  std::vector<double>& inner;  ///< C per inner face: amount that has passed
};

/// Carries out the sub-steps and returns their number. Collective.
/// @param source  of each component: n_own [concentration/time], uniform over the step; empty: none
template <int C>
int diffuse(ScalarGrid& grid, const LowOrderTerms& terms, const std::array<std::span<const double>, C>& source,
            const LowOrderVectors& vectors);

/// The corrections of diffusion for C components.
struct DiffusedBlock {
  std::span<const double> phi;  ///< C n_all: values of the accurate operator
  /// C n_faces: in: the accurate fluxes, except those of the low faces of plain volumes; out: the difference of
  /// accurate and low-order amounts. 0 in faces of isolated fragments, which have low-order fluxes only: the accurate
  /// operator has no balance for some of them.
  std::span<double> amount;
  std::span<double> ends;  ///< C per domain face: increased by the amount that has left
};

/// Threaded; not collective.
template <int C>
void take_low_order(const ScalarGrid& grid, const LowOrderTerms& terms, const LowOrderVectors& vectors,
                    const DiffusedBlock& block);

}  // namespace karst
