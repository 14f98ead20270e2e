// SPDX-License-Identifier: BSD-3-Clause
// Fluxes through planes across the domain and through domain faces: sums over the faces of the diffusive flux
// (solvers/elliptic/elliptic_fluxes.hpp) between the VoFs on both sides, -Σ β ∂c/∂n area in units of h0, and of the
// advective flux (advective_term.hpp), if there is a flow.
//
// Functions may rise by a jump H from one period to the next, c(x + L) = c(x) + H. Fluxes near the periodic boundary
// are then those of the function that has its jump in the middle of the domain instead.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/comm/memory.hpp"
#include "solvers/elliptic/elliptic_fluxes.hpp"
#include "transport/steady/advective_term.hpp"

namespace karst {

/// Smallest number of cells in a direction whose planes or domain faces are used: stencils must be shorter than a
/// quarter of the domain.
inline constexpr int least_cells_of_planes = 16;
/// What is wrong with a domain that is periodic over fewer cells, by direction.
/// @param job  "diffusion", say
std::vector<std::string> narrow_periods(std::string_view job, const Domain& domain);

/// Outflow through one domain face, and its mean position [level-0 cells].
struct EndFlux {
  double total = 0.0;
  Vec3 at;
};

/// All functions are collective.
class PlaneFluxes {
 public:
  /// The operator must outlive it; made with Faces::keep.
  explicit PlaneFluxes(EllipticOperator& op);

  /// Jumps then include the advection of this flow in addition to diffusion; the term must outlive their use. nullptr:
  /// only diffusion.
  void set_advection(AdvectiveTerm* term);

  /// y += what the rows of A (with the flow's term) see of a jump across the end of a periodic direction: A c of the
  /// function with the jump is A c of its values, which apply() takes for periodic, plus this.
  /// @param[in,out] y  own unknowns
  void add_jump(int direction, double jump, std::span<double> y);

  /// Through the planes across all directions. The boundary plane of a direction that is not periodic has no meaning.
  struct Through {
    Vec3 end, middle;
  };
  static constexpr int nowhere = -1;
  /// By diffusion.
  /// @param c  own unknowns
  /// @param d  direction across whose end c jumps, or nowhere
  Through through(std::span<const double> c, int d = nowhere, double jump = 0.0);
  /// Advective fluxes through the boundary planes across all directions; set_advection() must have been called.
  Vec3 carried_through_ends(std::span<const double> c, int d = nowhere, double jump = 0.0);
  /// Out of the domain through one of its sides by diffusion.
  EndFlux out_of(int side, std::span<const double> c);

 private:
  using Sums = std::array<double, 6>;  ///< end and middle of each direction
  template <class F>
  Sums sum_boxes(F&& f);
  template <class F>
  Sums between(F&& counts);

  EllipticOperator& op_;
  AdvectiveTerm* advection_ = nullptr;
  EllipticFluxes fluxes_;
  FaceField faces_;
  WallField wall_;
  std::vector<ByteField> quarters_;  // of the domain, per level, two bits per direction; halo filled
  Array<std::uint8_t> of_unknown_;   // the same
  Array<std::uint16_t> sides_;       // of the end planes, per own unknown; with a flow alone
  Array<double> parts_;              // three fields side by side; likewise
  Array<double> part_, result_;
};

}  // namespace karst
