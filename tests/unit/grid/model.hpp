// SPDX-License-Identifier: BSD-3-Clause
// A whole VoF graph on every rank, written down in the plainest way, to compare the real one with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/layout_builder.hpp"
#include "grid/level_graph.hpp"

namespace karst::test {

/// A well-mixed number from a few small ones (the finalizer of splitmix64, Steele et al., OOPSLA 2014).
inline std::uint64_t mixed(std::initializer_list<std::int64_t> numbers) {
  std::uint64_t x = 0;
  for (const std::int64_t n : numbers) {
    x += static_cast<std::uint64_t>(n) + 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
  }
  return x;
}

constexpr int coarse_cell = -1;  ///< covered by no box of this level: its neighbours have coarse faces

class Model {
 public:
  using Pieces = std::function<int(const Index&)>;  ///< number of VoFs in a cell
  using Joined =
      std::function<bool(const Index& low, int p, int direction, int q)>;  ///< piece p of a cell and q behind it

  Model(
      const Comm& comm, const Domain& domain_, int box_size, Pieces pieces_,
      Joined joined = [](const Index&, int, int, int) { return true; }, bool open_ends = false)
      : domain(domain_), pieces(std::move(pieces_)), first_(static_cast<std::size_t>(domain_.box().count())) {
    layout = build_layout(comm, domain, box_size, [&](const Box& box) {
               double n = 0;
               for_each_cell(box, [&](const Index& c) { n += std::max(0, pieces(c)); });
               return n;
             }).layout;
    for (std::int64_t b = 0; b < layout.n_boxes(); ++b) {
      const Box box = layout.box(b);
      std::vector<Index>& mine = cells[b];
      for_each_cell(box, [&](const Index& c) {
        first_[place(c)] = vof_name(b, static_cast<int>(mine.size()));
        for (int p = 0; p < pieces(c); ++p) mine.push_back(c);
      });
    }
    for_each_cell(domain.box(), [&](const Index& c) {
      for (int side = 0; side < 6; ++side) join_side(c, side, joined, open_ends);
    });
  }

  VofName name(const Index& cell, int piece) const { return first_[place(cell)] + static_cast<VofName>(piece); }
  Index cell(VofName n) const { return cells.at(box_of(n))[vof_of(n)]; }
  /// A value that tells every VoF of the level.
  double value(VofName n) const {
    const Index c = cell(n);
    return c[0] + 1e3 * c[1] + 1e6 * c[2] + 0.125 * vof_of(n);
  }
  Index wrapped(Index c) const {
    for (int d = 0; d < 3; ++d)
      if (domain.periodic[d]) c[d] = (c[d] + domain.cells[d]) % domain.cells[d];
    return c;
  }
  /// Adds one connection seen from both ends.
  void connect(VofName a, int side, VofName b) {
    faces[a].emplace_back(side, b);
    faces[b].emplace_back(opposite(side), a);
  }

  BoxAdjacency adjacency(std::int64_t b) const {
    BoxAdjacency out;
    const Box box = layout.box(b);
    const std::vector<Index>& mine = cells.at(b);
    for (int v = 0; v < static_cast<int>(mine.size()); ++v) {
      out.cell.push_back(static_cast<std::uint16_t>(box.offset(mine[v])));
      std::array<VofName, 6> primary;
      primary.fill(no_face);
      if (const auto at = faces.find(vof_name(b, v)); at != faces.end())
        for (const auto& [side, to] : at->second) {
          VofName& p = primary[side];
          if (p == no_face)
            p = to;
          else
            out.extra.push_back({static_cast<std::uint16_t>(v), static_cast<std::uint8_t>(side), to});
        }
      out.primary.push_back(primary);
      out.irregular.push_back(std::count(primary.begin(), primary.end(), no_face) > 0);
    }
    return out;
  }
  LevelGraph build(const Comm& comm) const {
    return build_level_graph(comm, layout, [this](std::int64_t b) { return adjacency(b); });
  }

  Domain domain;
  Pieces pieces;
  Layout layout;
  std::map<std::int64_t, std::vector<Index>> cells;  // of each VoF of each box
  std::unordered_map<VofName, std::vector<std::pair<int, VofName>>> faces;

 private:
  void join_side(const Index& c, int side, const Joined& joined, bool open_ends) {
    const Index n = wrapped(c + side_offset(side));
    const bool inside = domain.box().contains(n);
    for (int p = 0; p < pieces(c); ++p) {
      if (!inside) {
        if (open_ends) faces[name(c, p)].emplace_back(side, domain_face);
      } else if (pieces(n) == coarse_cell) {
        faces[name(c, p)].emplace_back(side, coarse_face);
      } else {
        for (int q = 0; q < pieces(n); ++q)
          if (is_high(side) ? joined(c, p, direction_of(side), q) : joined(n, q, direction_of(side), p))
            faces[name(c, p)].emplace_back(side, name(n, q));
      }
    }
  }

  std::size_t place(const Index& c) const { return static_cast<std::size_t>(domain.box().offset(c)); }

  std::vector<VofName> first_;  // of each cell
};

/// Fluid everywhere.
inline int full(const Index&) { return 1; }

/// Covered, single and multi-valued cells in random order; three quarters of the pieces that touch are joined.
inline Model random_model(const Comm& comm, const Domain& domain, int box_size, int seed) {
  const auto pieces = [seed](const Index& c) {
    return std::array{0, 1, 1, 1, 1, 1, 2, 3}[mixed({seed, c[0], c[1], c[2]}) % 8];
  };
  const auto joined = [seed](const Index& c, int p, int d, int q) {
    return mixed({seed, c[0], c[1], c[2], p, d, q}) % 4 != 0;
  };
  Model model(comm, domain, box_size, pieces, joined, true);
  // Diagonal connections, as pieces that joined a home cell have them.
  for_each_cell(domain.box(), [&](const Index& c) {
    const Index n = model.wrapped(c + Index{1, 1, 0});
    if (mixed({seed + 1, c[0], c[1], c[2]}) % 16 == 0 && domain.box().contains(n) && pieces(c) > 0 && pieces(n) > 0)
      model.connect(model.name(c, 0), 3, model.name(n, 0));
  });
  return model;
}

}  // namespace karst::test
