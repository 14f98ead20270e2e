// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "fields/over_levels.hpp"
#include "grid/field.hpp"

namespace karst {

/// Values over the VoFs of all levels of a composite grid, component after component, halo and ghost slots included.
/// Unknowns are the VoFs that are not covered by a finer level; all other slots may hold anything.
class CellField : public OverLevels<Field> {
 public:
  /// All 0. Not collective.
  explicit CellField(std::shared_ptr<const Composite> composite, int n_components = 1,
                     Purpose purpose = Purpose::fields);

  Field& level(int l) { return levels_[l]; }
  const Field& level(int l) const { return levels_[l]; }
};

/// Copies all slots of all components; both fields must be on the same composite. Not collective.
void copy(const CellField& from, CellField& to);

/// The own unknowns in their numbering, `n_components` numbers each. Not collective.
void get_unknowns(const CellField& field, std::span<double> values);
void set_unknowns(std::span<const double> values, CellField& field);

// Norms over the unknowns of all ranks, one component; they depend on the number of ranks to round-off. Collective.
double dot(const CellField& a, const CellField& b, int component = 0);
double max_norm(const CellField& a, int component = 0);  ///< infinite if a value is not a number
/// Σ value × volume of the fluid, in units of h0³: the mass, when the values are concentrations.
double integral(const CellField& a, int component = 0);

}  // namespace karst
