// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "fields/composite.hpp"
#include "solvers/elliptic/coarse_fine.hpp"

namespace karst {

/// Row makers of all levels, with their look-ups, which contain the VoFs of other ranks that rows read. For set-up.
class RowMakers {
 public:
  /// Composite and problem must outlive it. Collective.
  RowMakers(const Composite& composite, const EllipticProblem& problem, WallForm form);
  RowMakers(const RowMakers&) = delete;
  RowMakers& operator=(const RowMakers&) = delete;

  const RowMaker& maker(int l) const { return makers_[l]; }
  const VofLookup& vofs(int l) const { return vofs_[l]; }
  VofLookup& vofs(int l) { return vofs_[l]; }
  const NumberField& numbers(int l) const { return numbers_[l]; }  ///< global, per slot
  LevelRows rows(int l) { return {vofs(l), maker(l)}; }

 private:
  std::vector<NumberField> numbers_;
  std::vector<VofLookup> vofs_;
  std::vector<FaceBetas> betas_;  // none if β is a number
  std::vector<RowMaker> makers_;
};

}  // namespace karst
