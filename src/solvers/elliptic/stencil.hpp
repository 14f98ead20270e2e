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

/// Adds up terms by unknown, those of the same one in the order in which they come, as Stencil::merge() does; quicker
/// where there are many. Keeps its room: one for a loop of a thread.
class TermSum {
 public:
  void add(GlobalNumber unknown, double weight) {
    const std::size_t at = find(unknown);
    if (table_[at] == free) {
      table_[at] = static_cast<std::int32_t>(unknown_.size());
      used_.push_back(at);
      unknown_.push_back(unknown);
      weight_.push_back(weight);
      if (2 * used_.size() > table_.size()) grow();
    } else {
      weight_[table_[at]] += weight;
    }
  }
  void add(std::span<const StencilTerm> others, double factor) {
    for (const StencilTerm& t : others) add(t.unknown, factor * t.weight);
  }
  std::size_t size() const { return unknown_.size(); }  ///< different unknowns
  /// The sums by increasing unknown, size() of them; nothing is left.
  void move_to(StencilTerm* to) {
    const std::size_t n = unknown_.size();
    rank_.assign(n, 0);  // the number of smaller ones: without branches, few are sorted more quickly
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) rank_[i] += unknown_[j] < unknown_[i] ? 1 : 0;
    for (std::size_t i = 0; i < n; ++i) to[rank_[i]] = {unknown_[i], weight_[i]};
    for (const std::size_t at : used_) table_[at] = free;
    used_.clear();
    unknown_.clear();
    weight_.clear();
  }

 private:
  static constexpr std::int32_t free = -1;
  static constexpr std::size_t first_size = 256;  ///< a power of two, as all sizes of the table

  /// The place of an unknown in the table, or the free one for it.
  std::size_t find(GlobalNumber unknown) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (static_cast<std::uint64_t>(unknown) * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (table_[at] != free && unknown_[table_[at]] != unknown) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    table_.assign(2 * table_.size(), free);
    used_.clear();
    for (std::size_t i = 0; i < unknown_.size(); ++i) {
      used_.push_back(find(unknown_[i]));
      table_[used_.back()] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<std::int32_t> table_ = std::vector<std::int32_t>(first_size, free);  ///< place in the lists
  std::vector<std::size_t> used_;                                                  ///< entries of the table
  std::vector<GlobalNumber> unknown_;
  std::vector<double> weight_;
  std::vector<std::int64_t> rank_;
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
