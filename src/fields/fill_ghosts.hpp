// SPDX-License-Identifier: BSD-3-Clause
// Fills all values of a field except the unknowns from these:
//
//   covered VoFs     Σ κV φ / Σ κV over the finer VoFs on them, which conserves mass; without any, the value of a
//   neighbour
//   level ghosts     (across the face to a coarser level, one fine cell out) the value there of the least-squares
//                    polynomial through the unknowns around on both levels, of degree 1 for order 2: exact for linear
//                    fields; of degree 0 where walls leave so few unknowns that the weights would extrapolate far. A
//                    closed face has the value of its VoF behind it
//   halo VoFs        the values of their owners
//
// Ghosts behind domain faces are set by the caller, because they need boundary conditions.
#pragma once

#include <memory>
#include <vector>

#include "fields/cell_field.hpp"
#include "fields/remote_values.hpp"
#include "grid/halo_exchange.hpp"

namespace karst {

class FillGhosts {
 public:
  /// Collective.
  /// @param order  of the level ghosts, 1 or 2
  explicit FillGhosts(std::shared_ptr<const Composite> composite, int order = 2);

  /// Fills all of the above for all components. Allocates memory only at the first call. Throws Error if the field is
  /// on another composite. Collective.
  void operator()(CellField& field);
  /// Fills only the covered VoFs. Collective.
  void average_down(CellField& field);

  /// Covered VoFs of an own box that get no value, because there is no finer VoF on them or on any VoF connected with
  /// them.
  std::span<const std::uint16_t> empty_in(int l, int box) const {
    return l + 1 < composite_->n_levels() ? averages_[l].empty.of(box) : std::span<const std::uint16_t>{};
  }
  std::int64_t without_parent() const { return without_parent_; }  ///< finer VoFs where the coarse level has no fluid

 private:
  struct Source {  // an unknown: index in the field of its level
    std::int32_t level;
    std::int64_t at;
  };
  struct Child {
    std::int64_t slot;
    double volume;  // h³ of the finer level
  };
  struct Term {
    std::int32_t source;
    double weight;
  };
  struct Ghost {
    std::int32_t level;
    std::int64_t slot, begin, end;  // terms
  };
  struct OpenGhost;
  struct Donor {
    std::int64_t to, from;  // slots
  };
  /// Sums over the finer VoFs of a pair of levels: computed by their owners, added up by the owners of the coarse VoFs.
  struct Averages {
    std::vector<Child> children;
    std::vector<std::int64_t> begin{0};  // of each sum
    struct Arrival {
      std::int64_t slot;
      std::int32_t value;  // among the sums: own ones, then of other ranks
    };
    std::vector<Arrival> arrivals;  // by slot
    std::vector<double> volume;     // parallel to the arrivals: Σ over all of the same slot
    ListExchange exchange;
    Array<double> sums;
    std::vector<std::vector<Donor>> donors;  // in passes
    PerBox<std::uint16_t> empty;             // covered VoFs that get no value
  };
  void find_averages(int l);
  void find_ghosts(int order);
  void number_sources(const std::vector<OpenGhost>& open);
  void find_donors(int l);
  void average_down(CellField& field, int l);
  void fill_level_ghosts(CellField& field, int component);

  std::shared_ptr<const Composite> composite_;
  std::vector<Averages> averages_;  // per pair of levels
  std::vector<HaloExchange<double>> halo_;
  std::vector<Source> own_, sent_;
  RemoteUnknowns remote_;
  Array<double> pool_;  // of own_, then of other ranks
  std::vector<Ghost> ghosts_;
  std::vector<Term> terms_;
  std::int64_t without_parent_ = 0;
};

}  // namespace karst
