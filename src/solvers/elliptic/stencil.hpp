// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/math/triple.hpp"
#include "fields/composite_numbering.hpp"
#include "solvers/elliptic/elliptic_problem.hpp"

namespace karst {

struct StencilTerm {
  GlobalNumber unknown;
  double weight;
};

/// A linear combination of unknowns during set-up: Σ weight φ_unknown.
struct Stencil {
  std::vector<StencilTerm> terms;

  void add(GlobalNumber unknown, double weight) { terms.push_back({unknown, weight}); }
  void add(std::span<const StencilTerm> others, double factor) {
    for (const StencilTerm& t : others) add(t.unknown, factor * t.weight);
  }
  void add(const Stencil& other, double factor) { add(std::span(other.terms), factor); }
  double weight_of(GlobalNumber unknown) const {
    double sum = 0.0;
    for (const StencilTerm& t : terms) sum += t.unknown == unknown ? t.weight : 0.0;
    return sum;
  }
  /// Sorts by unknown and adds up the terms of the same one, in the order in which they came.
  void merge() {
    const auto before = [](const StencilTerm& a, const StencilTerm& b) { return a.unknown < b.unknown; };
    constexpr std::size_t few = 32;  // stable_sort() allocates memory
    if (terms.size() > few)
      std::stable_sort(terms.begin(), terms.end(), before);
    else
      for (auto i = terms.begin(); i != terms.end(); ++i)
        std::rotate(std::upper_bound(terms.begin(), i, *i, before), i, i + 1);
    std::size_t n = 0;
    for (const auto& term : terms) {
      if (n > 0 && terms[n - 1].unknown == term.unknown)
        terms[n - 1].weight += term.weight;
      else
        terms[n++] = term;
    }
    terms.resize(n);
  }
};

/// Contribution of the value of a side of the domain to the right-hand side: b_row += weight value(at).
struct SideTerm {
  std::int32_t row;  ///< own unknown
  std::int8_t side;  ///< 0..5
  double weight;
  Vec3 at;  ///< in units of h0
};

/// The same for a piece of wall.
struct WallTerm {
  std::int32_t row;      ///< own unknown
  GlobalNumber unknown;  ///< of the VoF of the piece: that of the row, or a fragment whose balance the row contains
  double weight;
  WallPiece piece;
};

}  // namespace karst
