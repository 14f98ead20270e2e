// SPDX-License-Identifier: BSD-3-Clause
// Effective diffusivity of a pore space, and with it the formation factor.
//
//   ∇·(D0 ∇c) = 0 in the pores,   n·∇c = 0 at the wall and on the sides of the sample
//
// once per direction d of the mean gradient:
//   inlet and outlet   c = 1 and c = 0 on the low and high domain face across d;
//   periodic along d   c(x + L_d e_d) = c(x) - 1: a mean gradient without ends. One operator serves all such
//   directions.
//
// Column d of the tensor is the mean of the flux q = -D0 ∇c over the whole sample, solid included, over the mean
// gradient 1 / L_d. Because ∇·q = 0, ∫ q_e dV = ∮ (q·n) x_e dA, where q·n is nonzero only on these faces and, in
// periodic directions, on the planes where x_e jumps; so the entries come from fluxes as the operator balances them:
//
//   D_dd = total flux x L_d / (cross-section x Δc), Δc = 1;
//   between ends   D_ed = L_d / V x total flux x (mean x_e of the outflow - mean x_e of the inflow), and L_e x the flux
//                  through the end plane of e where that is periodic;
//   periodic       D_ed = D_de, the mean of the fluxes along e and d of the two solutions (plane_fluxes.hpp).
//
// The formation factor is F_d = D0 / D_dd (the same number as for the electrical conductivity of a brine in an
// insulating rock), the tortuosity τ_d = porosity of the connected pores x F_d.
// Source of the definitions: J. Bear, Dynamics of Fluids in Porous Media, Elsevier 1972, sections 4.8 and 5.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/comm/memory.hpp"
#include "eb/geometry.hpp"
#include "fields/composite.hpp"
#include "solvers/krylov/krylov.hpp"
#include "transport/diffusion_options.hpp"

namespace karst {

/// Results for one direction of the gradient.
struct DiffusionColumn {
  int axis = 0;
  bool periodic = false;
  bool connected = true;  ///< false: no pore percolates along the axis; nothing was solved, the flux is 0
  Vec3 tensor;            ///< D_ed / D0, e = x, y, z
  double flux_in = 0.0;   ///< through the low end, over D0 Δc h0; periodic: through the middle of the domain
  double flux_out = 0.0;  ///< through the high end
  std::optional<Vec3> through_middle;  ///< periodic: likewise, through the middle planes of all directions
  double formation_factor = 0.0;       ///< infinity when not connected
  double tortuosity = 0.0;             ///< of the connected pores, likewise; of all pores where `unresolved`
  bool unresolved = false;             ///< the path leads through throats without a cell centre
  RowCounts repairs;                   ///< of the operator's rows; nothing when not connected
  SolveReport solve;
  Array<double> concentration;  ///< own unknowns, [0, 1] between ends; periodic: mean 1/2 in each pore

  /// |in - out| / mean of both; 0 when not connected.
  double imbalance() const;
};

/// Told on every rank after each iteration: name of the solve, iterations, ||b - A c|| / ||b||. May be empty.
using DiffusionWatch = std::function<void(const std::string& solve, int iteration, double residual)>;

/// Errors of the axes for this geometry, found before any solve: a sample or a periodic direction that is too short for
/// its planes. Not collective, the same on every rank.
std::vector<std::string> mistakes(const DiffusionOptions& options, const Geometry& geometry);

/// The solves of one grid, an axis at a time: all periodic directions share one set-up, made with the first.
class DiffusionSolver {
 public:
  /// All must outlive it. Throws Error when mistakes() finds any. Not collective, the same on every rank.
  DiffusionSolver(const std::shared_ptr<const Composite>& grid, const DiffusionOptions& options,
                  const DiffusionWatch& watch);
  ~DiffusionSolver();

  /// False: no pore leads from end to end along the axis, and nothing is solved. Not collective.
  bool solves(int axis) const;
  /// The column of an axis, in which entries that take the column of another one are still NaN. Throws Error when the
  /// solve fails. Collective.
  DiffusionColumn solve(int axis);
  /// Sets these entries in all columns there are, which may come from an earlier run. Collective.
  void complete(std::vector<DiffusionColumn>& columns);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// One column per asked axis, see DiffusionSolver. Collective.
std::vector<DiffusionColumn> effective_diffusivity(const std::shared_ptr<const Composite>& grid,
                                                   const DiffusionOptions& options, const DiffusionWatch& watch = {});
/// "diffusion x"
std::string diffusion_solve_name(int axis);

}  // namespace karst
