// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

#include "fields/vof_lookup.hpp"
#include "solvers/elliptic/stencil.hpp"

namespace karst {

struct RowCounts;

/// ∂φ/∂x_d at the centroid of a face, times h, and the ways that were taken.
struct FaceDifference {
  Stencil stencil;  ///< merged
  static constexpr std::size_t most = 2;
  std::array<std::int64_t RowCounts::*, most> counts{};  ///< each grows by 1 with every row that reads the face
  void count(std::int64_t RowCounts::*which) { counts[counts[0] == nullptr ? 0 : 1] = which; }
};

/// Gradient at a VoF: a stencil per direction, in values per cell width.
struct VofGradient {
  bool resolved = false;  ///< in all directions
  std::array<Stencil, 3> of;
};

/// What the rows of one box have in common, made once: a face is read by the rows, and the fluxes, of both its VoFs.
/// For set-up; used by one thread.
class MadeFaces {
 public:
  /// The difference at a face, made by make() the first time.
  template <class F>
  const FaceDifference& difference(const SharedFace& face, F&& make) {
    const auto [at, is_new] = differences_.try_emplace({face.low, face.high, face.direction, face.centroid});
    if (is_new) at->second = make();
    return at->second;
  }
  template <class F>
  const VofGradient& gradient(VofName v, F&& make) {
    const auto [at, is_new] = gradients_.try_emplace(v);
    if (is_new) at->second = make();
    return at->second;
  }

 private:
  struct Face {
    VofName low, high;
    int direction;
    Vec3 centroid;  ///< two VoFs may share several faces
    friend bool operator==(const Face&, const Face&) = default;
  };
  struct Hash {
    std::size_t operator()(const Face& f) const {
      constexpr std::size_t odd = 0x9e3779b97f4a7c15;
      return (std::hash<VofName>{}(f.low) * odd ^ std::hash<VofName>{}(f.high)) * odd +
             static_cast<std::size_t>(f.direction);
    }
  };
  std::unordered_map<Face, FaceDifference, Hash> differences_;
  std::unordered_map<VofName, VofGradient> gradients_;
};

}  // namespace karst
