// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/connected_pores.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "base/comm/parallel.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

using Label = std::uint64_t;

/// Disjoint sets with path halving; the smallest member is the root.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// A link from an own piece to a piece of another box.
struct Link {
  int id, slot, other_id;
};

/// A fluid face of a piece.
struct FaceOfPiece {
  int id, piece;  ///< position in cut.pieces; -1: a regular cell
  Index cell;     ///< index in the domain
  int at;         ///< its offset in the box
  int side, ordinal;
  double aperture;
};

/// Calls f(face) for every fluid face of every piece of a box.
template <class F>
void for_each_face(const PieceBox& box, F&& f) {
  int c = 0;
  for_each_cell(box.cut.cells, [&](const Index& cell) {
    if (box.kind(c) == CellKind::regular)
      for (int side = 0; side < 6; ++side) f(FaceOfPiece{box.id_of_cell(c), -1, cell, c, side, 0, 1.0});
    ++c;
  });
  for (int p = 0; p < box.n_pieces(); ++p) {
    const Piece& piece = box.cut.pieces[p];
    const Index cell = box.cell_of_piece(p);
    for (std::uint32_t i = piece.first_face; i < piece.first_face + piece.n_faces; ++i) {
      const FacePiece& face = box.cut.faces[i];
      f(FaceOfPiece{box.id_of_piece(p), p, cell, piece.cell, face.side, face.ordinal, face.aperture});
    }
  }
}

/// Which pieces carry flow, see find_pores().
class FlowPieces {
 public:
  FlowPieces(const PieceBoxes& boxes, const Homes& homes) : boxes_(boxes), homes_(homes), refined_(boxes.n_own()) {
    for (int s = 0; s < boxes.n_own(); ++s)
      for (int p = 0; p < boxes.box(s).n_pieces(); ++p) {
        const PieceBox& box = boxes.box(s);
        refined_[s].push_back(box.refined.covers(box.cell_of_piece(p) - box.cut.cells.lo) ? 1 : 0);
      }
    boxes.fetch(refined_);
  }
  /// @param piece  position in cut.pieces; -1: a regular cell
  bool holds(int slot, int piece) const {
    if (piece < 0) return true;
    return boxes_.box(slot).cut.pieces[piece].holds_center || !homes_.of[slot][piece].own() || refined_[slot][piece];
  }

 private:
  const PieceBoxes& boxes_;
  const Homes& homes_;
  std::vector<std::vector<std::uint8_t>> refined_;  ///< [slot][piece]: a finer level covers its cell
};

/// Connected parts within each box, and the links out of it.
struct BoxParts {
  std::vector<std::vector<std::uint16_t>> part;  ///< [slot][id], copies included
  std::vector<int> n_parts;                      ///< [own slot]
  std::vector<std::vector<Link>> links;          ///< [own slot]
};

/// @param cut   links across the periodic ends of this direction do not count; -1: all do
/// @param flow  links of pieces that carry no flow do not count; nullptr: all do
BoxParts find_parts(const PieceBoxes& boxes, int cut = -1, const FlowPieces* flow = nullptr) {
  const Index& n_cells = boxes.layout().domain().cells;
  BoxParts result;
  const std::size_t n = boxes.n_own();
  result.part.resize(n);
  result.n_parts.resize(n);
  result.links.resize(n);
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    const PieceBox& box = boxes.box(slot);
    DisjointSets sets(box.n_ids());
    const Index size = box.cut.cells.size();
    const std::array<int, 3> stride{1, size[0], size[0] * size[1]};
    for_each_face(box, [&](const FaceOfPiece& face) {
      const auto& [id, piece, cell, at, side, ordinal, aperture] = face;
      const int d = direction_of(side);
      if (d == cut && cell[d] == (is_high(side) ? n_cells[d] - 1 : 0)) return;
      if (boxes.stays_inside(slot, cell, side)) {
        if (!is_high(side)) return;  // seen from the other cell
        if (const int next = at + stride[d]; piece < 0 && box.kind(next) == CellKind::regular)
          return sets.join(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(box.id_of_cell(next)));
      } else if (!is_high(side) && box.neighbour[side] < boxes.n_own()) {
        return;  // seen from the other box
      }
      const Across to = boxes.across(slot, cell, side, ordinal);
      if (to.what != Across::What::piece) return;
      if (flow && (aperture == 0.0 || !flow->holds(slot, piece) || !flow->holds(to.slot, to.piece))) return;
      if (to.slot == slot)
        sets.join(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(to.id));
      else
        result.links[i].push_back({id, to.slot, to.id});
    });
    auto& part = result.part[i];
    part.resize(box.n_ids());
    int n_parts = 0;
    for (std::uint32_t id = 0; id < part.size(); ++id) {
      const std::uint32_t root = sets.root(id);
      part[id] = root == id ? static_cast<std::uint16_t>(n_parts++) : part[root];
    }
    result.n_parts[i] = n_parts;
  });
  boxes.fetch(result.part);
  return result;
}

/// The pore of every part: labels spread over boxes and ranks until they no longer change.
std::vector<std::vector<Label>> spread_labels(const PieceBoxes& boxes, const BoxParts& parts) {
  std::vector<std::vector<Label>> label(boxes.n_own());
  std::vector<std::uint32_t> begin{0};
  for (const int n : parts.n_parts) begin.push_back(begin.back() + static_cast<std::uint32_t>(n));
  DisjointSets sets(begin.back());
  struct Remote {
    std::uint32_t part;
    int slot, other_part;
  };
  std::vector<Remote> remote;
  for (std::size_t s = 0; s < parts.links.size(); ++s)
    for (const Link& l : parts.links[s]) {
      const std::uint32_t a = begin[s] + parts.part[s][l.id];
      const std::size_t other = l.slot;
      const std::uint16_t b = parts.part[other][l.other_id];
      if (l.slot < boxes.n_own())
        sets.join(a, begin[other] + b);
      else
        remote.push_back({a, l.slot, b});
    }
  std::vector<Label> of_root(begin.back(), std::numeric_limits<Label>::max());
  for (std::size_t s = 0; s < label.size(); ++s)
    for (int p = 0; p < parts.n_parts[s]; ++p) {
      Label& l = of_root[sets.root(begin[s] + static_cast<std::uint32_t>(p))];
      l = std::min(l, (static_cast<Label>(boxes.box(static_cast<int>(s)).box) << 16) | static_cast<Label>(p));
    }
  for (bool changed = true; changed;) {
    for (std::size_t s = 0; s < label.size(); ++s) {
      label[s].resize(parts.n_parts[s]);
      for (std::uint32_t p = 0; p < label[s].size(); ++p) label[s][p] = of_root[sets.root(begin[s] + p)];
    }
    auto all = label;
    boxes.fetch(all);
    changed = false;
    for (const Remote& r : remote) {
      Label& mine = of_root[sets.root(r.part)];
      const Label theirs = all[r.slot][r.other_part];
      if (theirs < mine) {
        mine = theirs;
        changed = true;
      }
    }
    changed = boxes.comm().any(changed);
  }
  return label;
}

/// What is known of a pore.
struct PoreFacts {
  double volume = 0.0;
  std::int64_t first_cell = std::numeric_limits<std::int64_t>::max();  ///< in the order of the cells of the domain
  std::uint8_t ends = 0;     ///< bit s: touches the end of the domain on side s
  std::uint8_t vouched = 0;  ///< a refined level: lies over coarse fluid that stays
  void add(const PoreFacts& o) {
    volume += o.volume;
    first_cell = std::min(first_cell, o.first_cell);
    ends |= o.ends;
    vouched |= o.vouched;
  }
  bool percolates(int d) const { return (ends >> (2 * d) & 3) == 3; }
  bool percolates() const { return percolates(0) || percolates(1) || percolates(2); }
};

/// The ends of the domain that a face lies in; a 2-D problem has none in its third direction.
unsigned end_touched(const Index& cell, int side, const Domain& domain) {
  const int d = direction_of(side);
  if (domain.cells[d] == 1 || cell[d] != (is_high(side) ? domain.cells[d] - 1 : 0)) return 0;
  return 1U << side;
}

using Flags = std::vector<std::vector<std::uint8_t>>;  ///< [own slot][id or cell]

/// What was found out about pieces before.
struct Hints {
  const Flags* parent_kept = nullptr;            ///< refined levels: see find_pores_of_refined_level()
  const std::array<Flags, 3>* passes = nullptr;  ///< per direction: the piece is part of a passage, see passages()
  const FlowPieces* flow = nullptr;              ///< which ends their open faces touch is asked
};

/// Facts of the pores of this rank's boxes, by label.
std::map<Label, PoreFacts> collect_facts(const PieceBoxes& boxes, const BoxParts& parts,
                                         const std::vector<std::vector<Label>>& label, const Hints& hints = {}) {
  const Domain& domain = boxes.layout().domain();
  std::map<Label, PoreFacts> facts;
  for (int slot = 0; slot < boxes.n_own(); ++slot) {
    const PieceBox& box = boxes.box(slot);
    const Box& cells = box.cut.cells;
    const Box coarse = footprint(cells);
    std::vector<PoreFacts> of_part(label[slot].size());
    const auto add = [&](int id, int cell, double kappa) {
      const Index at = cells.cell(cell);
      PoreFacts f{kappa, domain.box().offset(at), 0, 0};
      if (hints.parent_kept) {
        const Index up{at[0] / 2, at[1] / 2, at[2] / 2};
        f.vouched = (*hints.parent_kept)[slot][coarse.offset(up)];
      }
      for (std::size_t d = 0; hints.passes && d < 3; ++d) {
        const bool passes = !(*hints.passes)[d].empty() && (*hints.passes)[d][slot][id] != 0;
        if (passes) f.ends |= static_cast<std::uint8_t>(3U << (2 * d));
      }
      of_part[parts.part[slot][id]].add(f);
    };
    for (int c = 0; c < box.n_cells(); ++c)
      if (box.kind(c) == CellKind::regular) add(box.id_of_cell(c), c, 1.0);
    for (int p = 0; p < box.n_pieces(); ++p) {
      const Piece& piece = box.cut.pieces[p];
      add(box.id_of_piece(p), piece.cell, piece.kappa);
    }
    if (hints.flow)
      for_each_face(box, [&](const FaceOfPiece& face) {
        if (face.aperture == 0.0 || !hints.flow->holds(slot, face.piece)) return;
        of_part[parts.part[slot][face.id]].ends |= static_cast<std::uint8_t>(end_touched(face.cell, face.side, domain));
      });
    for (std::size_t p = 0; p < of_part.size(); ++p) facts[label[slot][p]].add(of_part[p]);
  }
  return facts;
}

struct LabelledFacts {
  Label label;
  PoreFacts facts;
};

/// Sends each pore's facts to the owner of the box in its label, who knows the whole pore afterwards.
/// @param[out] askers  ranks that hold part of a pore
std::map<Label, PoreFacts> gather_at_owners(const PieceBoxes& boxes, const std::map<Label, PoreFacts>& mine,
                                            std::map<Label, std::vector<int>>& askers) {
  std::map<int, ByteWriter> to;
  for (const auto& [label, f] : mine)
    to[boxes.layout().owner(static_cast<std::int64_t>(label >> 16))].put(LabelledFacts{label, f});
  std::map<Label, PoreFacts> whole;
  send_to_ranks(boxes.comm(), std::move(to), [&](ByteReader& in, int rank) {
    const auto f = in.get<LabelledFacts>();
    whole[f.label].add(f.facts);
    askers[f.label].push_back(rank);
  });
  return whole;
}

/// Tells every rank that holds part of a pore whether it stays.
std::map<Label, bool> tell_verdicts(const Comm& comm, const std::map<Label, bool>& verdict,
                                    const std::map<Label, std::vector<int>>& askers) {
  struct Verdict {
    Label label;
    std::uint64_t kept;
  };
  std::map<int, ByteWriter> to;
  for (const auto& [label, kept] : verdict)
    for (const int rank : askers.at(label)) to[rank].put(Verdict{label, kept ? 1u : 0u});
  std::map<Label, bool> result;
  send_to_ranks(comm, std::move(to), [&](ByteReader& in, int) {
    const auto v = in.get<Verdict>();
    result[v.label] = v.kept != 0;
  });
  return result;
}

/// Applies keep to the pores this rank is the owner of, with the totals of all ranks.
template <class Stays>
Pores conclude(const PieceBoxes& boxes, const BoxParts& parts, const std::vector<std::vector<Label>>& label,
               const std::map<Label, PoreFacts>& mine, Stays&& make_rule) {
  const Comm& comm = boxes.comm();
  std::map<Label, std::vector<int>> askers;
  const auto whole = gather_at_owners(boxes, mine, askers);
  Pores pores;
  for (const auto& [l, f] : whole)
    for (int d = 0; d < 3; ++d) pores.percolates[d] |= f.percolates(d);
  for (bool& p : pores.percolates) p = comm.any(p);

  const auto stays = make_rule(whole, pores);
  std::map<Label, bool> verdict;
  for (const auto& [l, f] : whole) {
    verdict[l] = stays(l, f);
    ++pores.n_pores;
    pores.volume += f.volume;
    if (!verdict[l]) {
      ++pores.n_removed;
      pores.removed_volume += f.volume;
    } else if (!f.percolates()) {
      pores.closed_volume += f.volume;
    }
  }
  pores.n_pores = comm.sum(pores.n_pores);
  pores.n_removed = comm.sum(pores.n_removed);
  pores.volume = comm.sum(pores.volume);
  pores.removed_volume = comm.sum(pores.removed_volume);
  pores.closed_volume = comm.sum(pores.closed_volume);

  const auto kept = tell_verdicts(comm, verdict, askers);
  pores.kept.resize(label.size());
  for (std::size_t s = 0; s < label.size(); ++s) {
    const std::size_t n = boxes.box(static_cast<int>(s)).n_ids();
    std::vector<std::uint8_t> kept_part;
    for (const Label l : label[s]) kept_part.push_back(kept.at(l));
    for (std::size_t id = 0; id < n; ++id) pores.kept[s].push_back(kept_part[parts.part[s][id]]);
  }
  boxes.fetch(pores.kept);
  return pores;
}

/// Per direction, pieces that are part of a passage of flow from one end to the other, a periodic direction with its
/// ends cut apart. A pore that leads through all periods must hold one: between two crossings of the ends in the same
/// sense it goes from end to end. A closed pore that lies across the ends holds none. Empty along directions of one
/// cell.
std::array<Flags, 3> passages(const PieceBoxes& boxes, const FlowPieces& flow) {
  struct Labelled {
    BoxParts parts;
    std::vector<std::vector<Label>> label;
    std::map<Label, PoreFacts> facts;
  };
  const Domain& domain = boxes.layout().domain();
  std::optional<Labelled> uncut;  // the same for all directions that are not periodic
  const auto labelled = [&](int cut) {
    Labelled l{find_parts(boxes, cut, &flow), {}, {}};
    l.label = spread_labels(boxes, l.parts);
    l.facts = collect_facts(boxes, l.parts, l.label, {.flow = &flow});
    return l;
  };
  std::array<Flags, 3> result;
  for (int d = 0; d < 3; ++d) {
    if (domain.cells[d] == 1) continue;
    if (!domain.periodic[d] && !uncut) uncut = labelled(-1);
    std::optional<Labelled> apart;
    if (domain.periodic[d]) apart = labelled(d);
    const Labelled& l = apart ? *apart : *uncut;
    const auto passes = [d](Label, const PoreFacts& f) { return f.percolates(d); };
    result[d] = conclude(boxes, l.parts, l.label, l.facts, [&](const std::map<Label, PoreFacts>&, const Pores&) {
                  return passes;
                }).kept;
  }
  return result;
}

/// Fluid that stays and leads through a periodic direction of one cell: a piece with faces on both sides of its cell.
bool leads_through_one_cell(const PieceBoxes& boxes, const Flags& kept, int d) {
  bool found = false;
  for (int slot = 0; slot < boxes.n_own(); ++slot) {
    const PieceBox& box = boxes.box(slot);
    const auto stays = [&](int id) { return kept[slot][id] != 0; };
    for (int c = 0; c < box.n_cells(); ++c)
      found = found || (box.kind(c) == CellKind::regular && stays(box.id_of_cell(c)));
    for (int p = 0; p < box.n_pieces(); ++p) {
      const Piece& piece = box.cut.pieces[p];
      unsigned sides = 0;
      for (std::uint32_t f = piece.first_face; f < piece.first_face + piece.n_faces; ++f)
        sides |= 1U << box.cut.faces[f].side;
      found = found || (stays(box.id_of_piece(p)) && (sides >> (2 * d) & 3U) == 3U);
    }
  }
  return boxes.comm().any(found);
}

}  // namespace

Pores find_pores(const PieceBoxes& boxes, const Homes& homes, KeepPores keep) {
  const Domain& domain = boxes.layout().domain();
  const std::array<Flags, 3> passes = passages(boxes, FlowPieces(boxes, homes));
  const BoxParts parts = find_parts(boxes);
  const auto label = spread_labels(boxes, parts);
  const auto mine = collect_facts(boxes, parts, label, {.passes = &passes});
  Pores found = conclude(boxes, parts, label, mine, [&](const std::map<Label, PoreFacts>& whole, const Pores& pores) {
    double largest = 0.0;
    for (const auto& [l, f] : whole) largest = std::max(largest, f.volume);
    // Of pores as large as the largest but for the round-off of sums, the one that comes first in the domain.
    largest = boxes.comm().max(largest) * (1.0 - 1e-10);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& [l, f] : whole)
      if (f.volume >= largest) first = std::min(first, f.first_cell);
    first = boxes.comm().min(first);
    const bool any_percolates = pores.percolates[0] || pores.percolates[1] || pores.percolates[2];
    return [=](Label, const PoreFacts& f) {
      if (keep == KeepPores::largest) return f.volume >= largest && f.first_cell == first;
      return keep == KeepPores::all || !any_percolates || f.percolates();
    };
  });
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[d] && domain.cells[d] == 1) found.percolates[d] = leads_through_one_cell(boxes, found.kept, d);
  return found;
}

Pores find_pores_of_refined_level(const PieceBoxes& boxes, const std::vector<std::vector<std::uint8_t>>& parent_kept) {
  const BoxParts parts = find_parts(boxes);
  const auto label = spread_labels(boxes, parts);
  const auto mine = collect_facts(boxes, parts, label, {.parent_kept = &parent_kept});
  return conclude(boxes, parts, label, mine, [](const std::map<Label, PoreFacts>&, const Pores&) {
    return [](Label, const PoreFacts& f) { return f.vouched != 0; };
  });
}

}  // namespace karst
