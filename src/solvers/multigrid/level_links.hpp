// SPDX-License-Identifier: BSD-3-Clause
// Links between grid levels in the passes of the multigrid. Plain passes leave coarse-fine faces out: their ghosts
// equal the VoF's own value, and covered VoFs contain 0. The missing terms,
//
//   r_v += w (x_o - x_v)  for every link of v,    r_v += w x_v  for every face of v towards a covered VoF,
//
// are added here, the second as a link of weight -w to a value of 0. Where the links of a VoF are stronger than the
// faces that the plain passes have in their place, a cell of which little is open on its own level above all, D would
// not bound A and smoothing amplify what the links carry: D gets the rest (raised()), and A loses it here, as another
// link to 0.
#pragma once

#include <vector>

#include "solvers/multigrid/node_graph.hpp"
#include "solvers/multigrid/two_point.hpp"

namespace karst {

/// One end of a link, at an own VoF.
struct LinkEnd {
  std::int32_t level, box;
  std::int32_t vof;
  float weight;
  std::int32_t other;        ///< index of the other end's value in LevelLinks::values()
  float inverse = 0.0F;      ///< 1 / diagonal of the VoF in the plain passes
  std::int64_t unknown = 0;  ///< own number of the VoF among the unknowns
  std::int32_t node = 0;     ///< own coarse node of the VoF
};

class LevelLinks {
 public:
  /// Collective.
  LevelLinks(const Comm& comm, std::span<const TwoPointLevel> levels);

  std::vector<LinkEnd>& ends() { return ends_; }
  const std::vector<LinkEnd>& ends() const { return ends_; }
  std::int64_t n_values() const { return std::ssize(others_) + 1 + halo_.n_received(); }
  /// Owner of a value, or of the constant 0.
  int rank_of(std::int32_t value) const {
    const auto own = static_cast<std::int32_t>(others_.size());
    return value <= own ? rank_ : remote_[value - own - 1].rank;
  }

  /// Fills the first n_values() of `values`: at(level, box, vof) of every other end. Collective.
  template <class T, class F>
  void fetch(std::vector<T>& values, F&& at) {
    values.resize(n_values());
    for (std::size_t i = 0; i < others_.size(); ++i) values[i] = at(others_[i].level, others_[i].box, others_[i].vof);
    values[others_.size()] = T{0};
    halo_.exchange(std::span(values));
  }
  /// What the diagonals of VoFs get.
  struct Raised {
    std::int32_t level, box, vof;
    float by;
  };
  const std::vector<Raised>& raised() const { return raised_; }  ///< by level, box, VoF
  /// Boxes whose ends lie in [chunk[i], chunk[i + 1]).
  const std::vector<std::size_t>& chunks() const { return chunks_; }
  std::int64_t bytes() const;

 private:
  struct Other {
    std::int32_t level, box, vof;
    friend auto operator<=>(const Other&, const Other&) = default;
  };
  /// A VoF of any rank.
  struct FarVof {
    std::int32_t rank, level;
    VofName name;
    friend auto operator<=>(const FarVof&, const FarVof&) = default;
  };
  struct OpenEnd;
  static std::vector<OpenEnd> find_ends(const Comm& comm, std::span<const TwoPointLevel> levels);
  std::vector<FarVof> list_values(const Comm& comm, std::span<const TwoPointLevel> levels,
                                  const std::vector<OpenEnd>& open);
  static Other own(std::span<const TwoPointLevel> levels, std::int32_t level, VofName name);
  void raise_diagonals(std::span<const TwoPointLevel> levels, std::int32_t zero);

  int rank_;
  std::vector<LinkEnd> ends_;  // by level, box, VoF
  std::vector<Other> others_;  // own VoFs that are other ends, or that other ranks request
  std::vector<RemoteItem> remote_;
  std::vector<std::size_t> chunks_{0};
  std::vector<Raised> raised_;
  ListExchange halo_;
};

}  // namespace karst
