// SPDX-License-Identifier: BSD-3-Clause
// The step of low order: upwind advection, then two-point diffusion and the film at the wall,
//
//   V ∂c/∂t = -Σ g (c - c') - w (c - c_eq),   g = D area / distance,  w = a k / (1 + k d / D)
//
// made of fluxes, so nothing is lost; every new value is a mean of old ones, of those on the ends of the domain and of
// c_eq, so none is outside of their range, to round-off. Diffusion goes in explicit sub-steps, as many as ordinary
// volumes need. Those that exchange more in a sub-step than they hold, isolated fragments above all, give and take
// according to their new value; what two of them exchange is what their old values ask for, cut to what they hold. So
// no system is solved. Where that would take too many sub-steps it is one implicit step instead
// (implicit_diffusion.hpp).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "transport/march/conductances.hpp"

namespace karst {

/// How a step of two-point diffusion is cut into sub-steps.
struct SubSteps {
  double dt = 0.0;  ///< of the step; 0: none yet
  int count = 0;    ///< 0: one implicit step in place of too many
  double length = 0.0;
  /// An own volume whose new value counts.
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

/// Of components that diffuse alike: same D, same sides that fix values, same wall.
struct LowOrderTerms {
  double diffusivity = 0.0;
  std::array<bool, 6> fixed{};
  Conductances g;             ///< nothing passes ends of the domain that do not fix the value
  Array<double> wall;         ///< w per own volume [h0³/time]; empty: sealed
  Array<double> equilibrium;  ///< parallel to wall
  SubSteps sub_steps;
  std::int64_t bytes() const {
    return g.bytes() + sub_steps.bytes() + static_cast<std::int64_t>(wall.bytes() + equilibrium.bytes());
  }
};

/// Fills terms.g. Not collective.
void find_conductances(const ScalarGrid& grid, LowOrderTerms& terms);

/// Makes terms.sub_steps those of dt; nothing where they are. Collective.
void choose_sub_steps(ScalarGrid& grid, LowOrderTerms& terms, double dt);

/// What two-point diffusion of C components works in.
struct LowOrderVectors {
  std::span<double> first;  ///< C n_values: values after advection, on the ends those of the new time; changed
  std::span<double>
      second;  ///< C n_values: room. After an even number of sub-steps the result is in `first`, else here
  /// C n_values: ∫ of the values over the step, as they count: g times its difference is what passed a face.
  std::span<double> exposure;
  std::vector<double>& inner;  ///< C per inner face: what has passed
};

/// The sub-steps; how many. Collective.
/// @param source  of each component: n_own [concentration/time], evenly over the step; empty: none
template <int C>
int diffuse(ScalarGrid& grid, const LowOrderTerms& terms, const std::array<std::span<const double>, C>& source,
            const LowOrderVectors& vectors);

/// The corrections of diffusion for C components.
struct DiffusedBlock {
  std::span<const double> phi;  ///< C n_all: values of the accurate operator
  /// C n_faces: in, its fluxes but those of the low faces of plain volumes; out, what these would pass more than has
  /// passed. 0 in faces of isolated fragments, which keep the fluxes of low order: the accurate operator gives some of
  /// them no balance.
  std::span<double> amount;
  std::span<double> ends;  ///< C per face on the ends of the domain: grows by what has passed out
};

/// Threaded; not collective.
template <int C>
void take_low_order(const ScalarGrid& grid, const LowOrderTerms& terms, const LowOrderVectors& vectors,
                    const DiffusedBlock& block);

}  // namespace karst
