// SPDX-License-Identifier: BSD-3-Clause
// The species of a system as arrays for solves.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace karst {

struct ChemicalSystem;

/// ln γ(I) = -A z² f(I) + b I, f = √I / (1 + B a √I), with A and b of natural logarithms.
struct ActivityCoefficient {
  double az2 = 0.0;  ///< A z² ln 10
  double ba = 0.0;   ///< B a
  double b = 0.0;    ///< b ln 10
};

/// Σ weight · amount, a list for each sum.
struct WeightedSums {
  std::vector<int> begin{0}, amount;
  std::vector<double> weight;
  void clear();
  /// The next sum: the amounts whose weight is not 0.
  void add(std::span<const double> weights);
};

/// Amounts whose logarithms are linear in those of activities except for their γ:
///   ln m = constant + Σ form ln a(basis) + form ln a(H2O) - ln γ(I).
/// These are the species; then of each charged surface two amounts of charge κ √I e^(∓F ψ / 2RT) area / 2F, whose
/// difference, κ √I sinh(F ψ / 2RT) area / F, is the charge of its diffuse layer; then terms of rates may follow
/// (implicit_reaction.hpp).
struct SpeciesTable {
  int n = 0, length = 0;           ///< amounts; rounded up to full vector registers
  int n_basis = 0, width = 0;      ///< and of unknowns, basis + I + ln a(H2O)
  std::vector<double> form;        ///< [basis, then water][length]
  std::vector<double> rows;        ///< the same as d ln m / d unknown but I: [amount][width]
  std::vector<double> constant;    ///< [length]
  std::vector<double> az2, ba, b;  ///< [length] of ActivityCoefficient
  std::vector<double> part;  ///< [basis][length] contribution of a mole to each total, or to the charge of a surface
                             ///< and its layer
  int first_layer = 0, first_term = 0;  ///< amounts after the species
  WeightedSums totals;                  ///< the same as lists
  WeightedSums ions;                    ///< dissolved: ½ z², charge, alkalinity, 1
  enum IonSum : int { strength, charge, alkalinity, dissolved };

  std::span<const double> row(int amount) const { return std::span(rows).subspan(amount * width, width); }
};

/// A further amount of a table.
struct TableTerm {
  std::vector<std::pair<int, double>> basis;  ///< form
  double water = 0.0;
  double constant = 0.0;
};

/// Species of a system, and further terms without γ that belong to no sum. Not collective.
SpeciesTable make_table(const ChemicalSystem& system, std::span<const TableTerm> terms = {});

}  // namespace karst
