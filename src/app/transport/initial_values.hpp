// SPDX-License-Identifier: BSD-3-Clause
// Concentrations at the beginning and at inlets, as a deck gives them: by a formula or an array of cells, and by
// regions over it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "eb/shapes/formula.hpp"
#include "eb/shapes/level_set.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// f(x). Not collective.
double value_in(const Formula& formula, const Vec3& x);

/// c(x, t = 0) of one component. Positions in cells of level 0 from the low corner of the domain; formulas, regions and
/// arrays are those of the sample, and go on into its reservoirs.
class InitialValues {
 public:
  /// Throws Error for shapes that are too far away or too large. Not collective.
  /// @param outlet  side on which at() will be asked for; -1: none
  InitialValues(const JobContext& run, std::size_t component, int outlet);

  /// Of an array: of the cell next to the outlet, once fill() has read it. Thread-safe; not collective.
  double at(const Vec3& x) const;
  /// The values of the own volumes, at the centroids of their fluid; of an array that of the cell which the centroid
  /// lies in, in reservoirs of the nearest one. Throws the same Error on all ranks where the array cannot be read, or
  /// has another shape. Collective.
  /// @param[out] values  at least n_own
  void fill(const Comm& comm, const ScalarGrid& grid, std::span<double> values);

 private:
  struct Region {
    std::unique_ptr<LocalLevelSet> shape;
    Formula value;
  };
  // Of places in the sample.
  double in_regions(const Vec3& x, double otherwise) const;
  Index cell_of(const Vec3& x) const;  ///< the nearest one
  std::int64_t place_on_outlet(const Index& cell) const;
  void read_array(const ScalarGrid& grid, std::span<double> values);
  void keep_outlet(int z, std::span<const float> plane);

  const JobContext& run_;
  Vec3 low_;  // of the sample in the domain, as places of the grid are
  Index cells_;
  std::size_t component_;
  int outlet_;
  Formula formula_;
  std::vector<Region> regions_;
  std::vector<float> on_outlet_;  // of an array: the layer of cells next to the outlet
};

/// One per component. Errors as the constructor.
std::vector<std::shared_ptr<InitialValues>> initial_values(const JobContext& run, int outlet);

/// What is wrong with the initial values as far as the deck and the heads of its arrays tell. The same on every rank.
/// Not collective.
std::vector<std::string> initial_mistakes(const JobContext& run, std::size_t component);

/// Regions of the deck in which no volume has its centroid: their values would set nothing. Collective.
std::vector<std::string> region_mistakes(const JobContext& run, const ScalarGrid& grid);

/// Throws Error on all ranks where values are not finite or leave the bounds that the deck asks for. Collective.
void require_initial(const JobContext& run, std::size_t component, std::span<const double> values);

// Inlets side by side: what enters depends on the place. Places are those of the deck, in metres from the low corner of
// the sample.

/// The concentration of a formula of x, y, z [m] at a place of the grid [h0] and any time. Thread-safe.
std::function<double(const Vec3& x, double t)> of_place(const JobContext& run, const std::string& formula);

/// What is wrong on the faces of an inlet: formulas of place that are not finite or leave the bounds of the deck, and
/// places where none of [[chemistry.inflow]] enters, or several. The same on every rank. Collective.
/// @param side  of the domain
Messages inlet_mistakes(const JobContext& run, std::span<const BoundaryFace> faces, int side);

/// A component whose values lie between these.
struct ValueSpan {
  double least = 0.0, largest = 0.0;
  bool operator==(const ValueSpan&) const = default;
};
/// Says so where formulas of place have one value wherever they hold, as those with lengths in another unit have, and
/// where a solution of [[chemistry.inflow]] enters nowhere. Collective.
/// @param initial  of each component at the beginning
/// @param faces    of the domain
/// @param side     the inlet; -1: none
Messages place_warnings(const JobContext& run, std::span<const ValueSpan> initial, std::span<const BoundaryFace> faces,
                        int side);

}  // namespace karst
