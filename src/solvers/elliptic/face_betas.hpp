// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unordered_map>
#include <vector>

#include "fields/vof_lookup.hpp"

namespace karst {

/// Values of a face field by VoF and side, also for VoFs of other ranks, because rows extend beyond their box. For
/// set-up.
class FaceBetas {
 public:
  /// Fetches the values at the irregular VoFs of other ranks that the look-up contains at this time; look-up and field
  /// must outlive this. Collective.
  /// @param betas  3 components: the value of direction d at a slot is that of the low face of the VoF there
  FaceBetas(const Comm& comm, const VofLookup& vofs, const Field& betas);

  /// Of the face of a VoF across a side towards a neighbour (a VoF, an end of the domain or another level). The VoF is
  /// an own one, or one of those fetched. Not collective.
  double of(VofName v, int side, VofName neighbour) const;

 private:
  struct Value {
    VofName neighbour;
    int side;
    double beta;
  };
  const VofLookup& vofs_;
  const Field& betas_;
  std::unordered_map<VofName, std::vector<Value>> foreign_;
};

}  // namespace karst
