// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fields/vof_lookup.hpp"
#include "solvers/elliptic/stencil.hpp"

namespace karst {

struct RowCounts;

/// Counts of the methods used for a difference; each is incremented by every row that reads the face.
using FaceCounts = std::array<std::int64_t RowCounts::*, 2>;

/// ∂φ/∂x_d at the centroid of a face, times h, during set-up.
struct FaceDifference {
  Stencil stencil;  ///< merged
  FaceCounts counts{};
  void count(std::int64_t RowCounts::*which) { counts[counts[0] == nullptr ? 0 : 1] = which; }
};

/// The same as stored; refers to MadeFaces and is valid until its next difference is created.
struct MadeDifference {
  std::span<const StencilTerm> terms;
  FaceCounts counts;
};

/// Gradient at a VoF: a stencil per direction, in values per cell width.
struct VofGradient {
  bool resolved = false;  ///< in all directions
  std::array<Stencil, 3> of;
};

/// Stencils shared by the rows of one box, each computed once: a face is read by the rows and the fluxes of both its
/// VoFs. For set-up; used by one thread. Faces are stored in a hash table with open addressing and their terms
/// consecutively: a box has thousands of faces, and one allocation for each took as long as computing the stencils.
class MadeFaces {
 public:
  /// The difference at a face, computed by make(FaceDifference&) at the first call.
  template <class F>
  MadeDifference difference(const SharedFace& face, F&& make) {
    const Key key{face.low, face.high, face.direction, face.centroid};
    std::size_t at = find(key);
    if (table_[at] == none) {
      scratch_.stencil.terms.clear();
      scratch_.counts = {};
      make(scratch_);
      table_[at] = static_cast<std::uint32_t>(faces_.size());
      faces_.push_back({key, terms_.size(), scratch_.stencil.terms.size(), scratch_.counts});
      terms_.insert(terms_.end(), scratch_.stencil.terms.begin(), scratch_.stencil.terms.end());
      if (2 * faces_.size() > table_.size()) grow();
      return {std::span(terms_).last(scratch_.stencil.terms.size()), scratch_.counts};
    }
    const Face& made = faces_[table_[at]];
    return {std::span(terms_).subspan(made.first, made.n), made.counts};
  }
  template <class F>
  const VofGradient& gradient(VofName v, F&& make) {
    const auto [at, is_new] = gradients_.try_emplace(v);
    if (is_new) at->second = make();
    return at->second;
  }

 private:
  struct Key {
    VofName low, high;
    int direction;
    Vec3 centroid;  ///< two VoFs may share several faces
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Face {
    Key key;
    std::size_t first, n;  ///< of its terms
    FaceCounts counts;
  };
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t first_size = 1024;  ///< a power of two, as all sizes of the table

  /// Its position in the table, or the free one for it.
  std::size_t find(const Key& key) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t hash = (std::hash<VofName>{}(key.low) * odd ^ std::hash<VofName>{}(key.high)) * odd;
    hash += static_cast<std::uint64_t>(key.direction) * odd;
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (hash >> 32) & mask;
    while (table_[at] != none && !(faces_[table_[at]].key == key)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    table_.assign(2 * table_.size(), none);
    for (std::size_t f = 0; f < faces_.size(); ++f) table_[find(faces_[f].key)] = static_cast<std::uint32_t>(f);
  }

  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(first_size, none);  ///< place in faces_
  std::vector<Face> faces_;
  std::vector<StencilTerm> terms_;
  FaceDifference scratch_;
  std::unordered_map<VofName, VofGradient> gradients_;
};

}  // namespace karst
