// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/connected_parts.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/comm/parallel.hpp"
#include "eb/link/connected_pores.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

/// Disjoint sets with path halving; the smallest member is the root, and no member points to a larger one.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  /// Begins with member i in the set of a smaller one; before any other is joined.
  void start(std::uint32_t i, std::uint32_t smaller) { parent_[i] = smaller; }
  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  /// Numbers of the sets, in the order of their smallest members; returns how many there are.
  int number(std::vector<std::uint16_t>& of) const {
    of.resize(parent_.size());
    int n = 0;
    for (std::size_t i = 0; i < of.size(); ++i)
      of[i] = parent_[i] == i ? static_cast<std::uint16_t>(n++) : of[parent_[i]];
    return n;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// A fluid face of a piece.
struct FaceOfPiece {
  int id, piece;  ///< position in cut.pieces; -1: a regular cell
  Index cell;     ///< index in the domain
  int side, ordinal;
  double aperture;
};

/// Calls f(face) for the fluid faces of all pieces in cut cells.
template <class F>
void for_faces_of_pieces(const PieceBox& box, F&& f) {
  for (int p = 0; p < box.n_pieces(); ++p) {
    const Piece& piece = box.cut.pieces[p];
    const Index cell = box.cell_of_piece(p);
    for (std::uint32_t i = piece.first_face; i < piece.first_face + piece.n_faces; ++i) {
      const FacePiece& face = box.cut.faces[i];
      f(FaceOfPiece{box.id_of_piece(p), p, cell, face.side, face.ordinal, face.aperture});
    }
  }
}

/// Calls f(face) for the faces on a side of a box that are faces of regular cells.
template <class F>
void for_faces_of_regular_cells(const PieceBox& box, int side, F&& f) {
  const int d = direction_of(side);
  Box layer = box.cut.cells;
  if (is_high(side))
    layer.lo[d] = layer.hi[d] - 1;
  else
    layer.hi[d] = layer.lo[d] + 1;
  for_each_cell(layer, [&](const Index& cell) {
    const int c = static_cast<int>(box.cut.cells.offset(cell));
    if (box.kind(c) == CellKind::regular) f(FaceOfPiece{box.id_of_cell(c), -1, cell, side, 0, 1.0});
  });
}

/// Sets of the ids of a box whose regular cells are joined: along x cells that follow one another are a run, and runs
/// are joined once.
DisjointSets join_regular_cells(const PieceBox& box) {
  DisjointSets sets(box.n_ids());
  const Index size = box.cut.cells.size();
  const auto is_regular = [&](int c) { return box.kind(c) == CellKind::regular; };
  const auto set_of = [&](int c) { return static_cast<std::uint32_t>(box.id_of_cell(c)); };
  const int n = box.n_cells();
  for (int row = 0; row < n; row += size[0])
    for (int c = row, first = -1; c < row + size[0]; ++c) {
      if (!is_regular(c)) {
        first = -1;
        continue;
      }
      if (first < 0)
        first = c;
      else
        sets.start(set_of(c), set_of(first));
    }
  const std::array<int, 2> stride{size[0], size[0] * size[1]};
  for (int row = 0, y = 0, z = 0; row < n; row += size[0]) {
    for (int d = 0; d < 2; ++d) {
      if ((d == 0 ? y : z) == 0) continue;
      bool joined = false;  // the runs of the last cell and of the one below it
      for (int c = row; c < row + size[0]; ++c) {
        const bool both = is_regular(c) && is_regular(c - stride[d]);
        if (both && !joined) sets.join(set_of(c - stride[d]), set_of(c));
        joined = both;
      }
    }
    if (++y == size[1]) y = 0, ++z;
  }
  return sets;
}

/// The ends of the domain that a face lies in; a 2-D problem has none in its third direction.
unsigned end_touched(const Index& cell, int side, const Domain& domain) {
  const int d = direction_of(side);
  if (domain.cells[d] == 1 || cell[d] != (is_high(side) ? domain.cells[d] - 1 : 0)) return 0;
  return 1U << side;
}

/// Adds where a cell is to the facts of its component.
void add_place(const Domain& domain, const Index& cell, const Vec3& center, double kappa, ComponentFacts& f) {
  for (int d = 0; d < 3; ++d) {
    const int n = domain.cells[d];
    f.moment[d] += kappa * center[d];
    f.high_volume[d] += cell[d] >= n / 2 ? kappa : 0.0;
    if (cell[d] == 0) f.cells_at |= static_cast<std::uint8_t>(1U << (2 * d));
    if (cell[d] == n - 1) f.cells_at |= static_cast<std::uint8_t>(2U << (2 * d));
    if (cell[d] == n / 2 || cell[d] == n / 2 - 1) f.middle |= static_cast<std::uint8_t>(1U << d);
  }
}

struct LabelledFacts {
  ComponentLabel label;
  ComponentFacts facts;
};

}  // namespace

Flags pieces_with_flow(const PieceBoxes& boxes, const Homes& homes) {
  Flags flow(boxes.n_own());
  parallel_for(boxes.n_own(), [&](std::int64_t s) {
    const PieceBox& box = boxes.box(static_cast<int>(s));
    flow[s].resize(box.n_pieces());
    for (int p = 0; p < box.n_pieces(); ++p) {
      const bool counts = box.cut.pieces[p].holds_center || !homes.of[s][p].own();
      flow[s][p] = counts || box.refined.covers(box.cell_of_piece(p) - box.cut.cells.lo) ? 1 : 0;
    }
  });
  boxes.fetch(flow);
  return flow;
}

BoxParts find_parts(const PieceBoxes& boxes, int cut, const Flags* flow) {
  const auto has_flow = [&](int slot, int piece) { return piece < 0 || (*flow)[slot][piece] != 0; };
  const Index& n_cells = boxes.layout().domain().cells;
  BoxParts result;
  const std::size_t n = boxes.n_own();
  result.part.resize(n);
  result.n_parts.resize(n);
  result.links.resize(n);
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    const PieceBox& box = boxes.box(slot);
    DisjointSets sets = join_regular_cells(box);
    const auto join = [&](const FaceOfPiece& face) {
      const auto& [id, piece, cell, side, ordinal, aperture] = face;
      const int d = direction_of(side);
      if (d == cut && cell[d] == (is_high(side) ? n_cells[d] - 1 : 0)) return;
      const Across to = boxes.across(slot, cell, side, ordinal);
      if (to.what != Across::What::piece) return;
      if (flow && (aperture == 0.0 || !has_flow(slot, piece) || !has_flow(to.slot, to.piece))) return;
      if (to.slot == slot)
        sets.join(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(to.id));
      else
        result.links[i].push_back({id, to.slot, to.id});
    };
    // Faces between own boxes are seen from their low side.
    const auto leads_out = [&](int side) { return box.neighbour[side] >= (is_high(side) ? 0 : boxes.n_own()); };
    for (int side = 0; side < 6; ++side)
      if (leads_out(side)) for_faces_of_regular_cells(box, side, join);
    const Index size = box.cut.cells.size();
    const std::array<int, 3> stride{1, size[0], size[0] * size[1]};
    for_faces_of_pieces(box, [&](const FaceOfPiece& face) {
      if (!boxes.stays_inside(slot, face.cell, face.side)) {
        if (leads_out(face.side)) join(face);
      } else if (is_high(face.side)) {
        join(face);
      } else if (const int low = box.cut.pieces[face.piece].cell - stride[direction_of(face.side)];
                 box.kind(low) == CellKind::regular && face.ordinal == 0 && (!flow || has_flow(slot, face.piece))) {
        sets.join(static_cast<std::uint32_t>(box.id_of_cell(low)), static_cast<std::uint32_t>(face.id));
      }
    });
    result.n_parts[i] = sets.number(result.part[i]);
  });
  boxes.fetch(result.part);
  return result;
}

Labels spread_labels(const PieceBoxes& boxes, const BoxParts& parts) {
  Labels label(boxes.n_own());
  std::vector<std::uint32_t> begin{0};
  for (const int n : parts.n_parts) begin.push_back(begin.back() + static_cast<std::uint32_t>(n));
  DisjointSets sets(begin.back());
  struct Remote {
    std::uint32_t part;
    int slot, other_part;
  };
  std::vector<Remote> remote;
  for (std::size_t s = 0; s < parts.links.size(); ++s)
    for (const PieceLink& l : parts.links[s]) {
      const std::uint32_t a = begin[s] + parts.part[s][l.id];
      const std::size_t other = l.slot;
      const std::uint16_t b = parts.part[other][l.other_id];
      if (l.slot < boxes.n_own())
        sets.join(a, begin[other] + b);
      else
        remote.push_back({a, l.slot, b});
    }
  std::vector<ComponentLabel> of_root(begin.back(), std::numeric_limits<ComponentLabel>::max());
  for (std::size_t s = 0; s < label.size(); ++s)
    for (int p = 0; p < parts.n_parts[s]; ++p) {
      ComponentLabel& l = of_root[sets.root(begin[s] + static_cast<std::uint32_t>(p))];
      l = std::min(
          l, (static_cast<ComponentLabel>(boxes.box(static_cast<int>(s)).box) << 16) | static_cast<ComponentLabel>(p));
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
      ComponentLabel& mine = of_root[sets.root(r.part)];
      const ComponentLabel theirs = all[r.slot][r.other_part];
      if (theirs < mine) {
        mine = theirs;
        changed = true;
      }
    }
    changed = boxes.comm().any(changed);
  }
  return label;
}

void ComponentFacts::add(const ComponentFacts& o) {
  volume += o.volume;
  moment += o.moment;
  high_volume += o.high_volume;
  first = std::min(first, o.first);
  ends |= o.ends;
  passes |= o.passes;
  cells_at |= o.cells_at;
  middle |= o.middle;
  vouched |= o.vouched;
}

namespace {

/// Volumes, first pieces and what else follows from cells, of the parts of a box.
void add_cells(const PieceBoxes& boxes, int slot, const std::vector<std::uint16_t>& part, const FactsWanted& wanted,
               std::vector<ComponentFacts>& of_part) {
  const Domain& domain = boxes.layout().domain();
  const PieceBox& box = boxes.box(slot);
  const Box& cells = box.cut.cells;
  const Box coarse = footprint(cells);
  const auto add = [&](int id, const Index& at, std::int64_t ordinal, double kappa, const Vec3& centroid) {
    ComponentFacts& f = of_part[part[id]];
    f.volume += kappa;
    f.first = std::min(f.first, (domain.box().offset(at) << 16) + ordinal);
    if (wanted.parent_kept) {
      const Index up{at[0] / 2, at[1] / 2, at[2] / 2};
      f.vouched |= (*wanted.parent_kept)[slot][coarse.offset(up)];
    }
    if (wanted.places) add_place(domain, at, to_vec(at) + Vec3::all(0.5) + centroid, kappa, f);
  };
  int c = 0;
  for_each_cell(cells, [&](const Index& at) {
    if (box.kind(c) == CellKind::regular) add(box.id_of_cell(c), at, 0, 1.0, {});
    ++c;
  });
  for (int p = 0; p < box.n_pieces(); ++p) {
    const Piece& piece = box.cut.pieces[p];
    add(box.id_of_piece(p), box.cell_of_piece(p), p - box.first_piece[piece.cell], piece.kappa, piece.centroid);
  }
}

/// Ends of the domain that faces of the parts of a box touch.
void add_ends(const PieceBoxes& boxes, int slot, const std::vector<std::uint16_t>& part, const Flags* flow,
              std::vector<ComponentFacts>& of_part) {
  const Domain& domain = boxes.layout().domain();
  const PieceBox& box = boxes.box(slot);
  const auto add = [&](const FaceOfPiece& face) {
    const bool counts = flow == nullptr || face.piece < 0 || (*flow)[slot][face.piece] != 0;
    if (face.aperture == 0.0 || !counts) return;
    of_part[part[face.id]].ends |= static_cast<std::uint8_t>(end_touched(face.cell, face.side, domain));
  };
  bool at_end = false;
  for (int side = 0; side < 6; ++side) {
    const int d = direction_of(side);
    if (is_high(side) ? box.cut.cells.hi[d] != domain.cells[d] : box.cut.cells.lo[d] != 0) continue;
    at_end = true;
    for_faces_of_regular_cells(box, side, add);
  }
  if (at_end) for_faces_of_pieces(box, add);
}

}  // namespace

FactsByLabel collect_facts(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                           const FactsWanted& wanted) {
  std::vector<std::vector<ComponentFacts>> of_box(boxes.n_own());
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    const std::vector<std::uint16_t>& part = parts.part[slot];
    std::vector<ComponentFacts>& of_part = of_box[slot];
    of_part.resize(label[slot].size());
    if (wanted.cells) add_cells(boxes, slot, part, wanted, of_part);
    if (wanted.ends) add_ends(boxes, slot, part, wanted.flow, of_part);
    for (std::size_t d = 0; wanted.passes && d < 3; ++d) {
      if ((*wanted.passes)[d].empty()) continue;
      const std::vector<std::uint8_t>& passes = (*wanted.passes)[d][slot];
      for (std::size_t id = 0; id < part.size(); ++id)
        of_part[part[id]].passes |= static_cast<std::uint8_t>((passes[id] != 0 ? 1U : 0U) << d);
    }
  });
  FactsByLabel facts;
  for (std::size_t slot = 0; slot < of_box.size(); ++slot)
    for (std::size_t p = 0; p < of_box[slot].size(); ++p) facts[label[slot][p]].add(of_box[slot][p]);
  return facts;
}

FactsByLabel gather_at_owners(const PieceBoxes& boxes, const FactsByLabel& mine,
                              std::map<ComponentLabel, std::vector<int>>& askers) {
  std::map<int, ByteWriter> to;
  for (const auto& [label, f] : mine)
    to[boxes.layout().owner(static_cast<std::int64_t>(label >> 16))].put(LabelledFacts{label, f});
  FactsByLabel whole;
  send_to_ranks(boxes.comm(), std::move(to), [&](ByteReader& in, int rank) {
    const auto f = in.get<LabelledFacts>();
    whole[f.label].add(f.facts);
    askers[f.label].push_back(rank);
  });
  return whole;
}

Flags flag_pieces(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                  const std::map<ComponentLabel, bool>& verdict,
                  const std::map<ComponentLabel, std::vector<int>>& askers) {
  struct Verdict {
    ComponentLabel label;
    std::uint64_t flagged;
  };
  std::map<int, ByteWriter> to;
  for (const auto& [l, flagged] : verdict)
    for (const int rank : askers.at(l)) to[rank].put(Verdict{l, flagged ? 1U : 0U});
  std::map<ComponentLabel, bool> known;
  send_to_ranks(boxes.comm(), std::move(to), [&](ByteReader& in, int) {
    const auto v = in.get<Verdict>();
    known[v.label] = v.flagged != 0;
  });
  Flags flags(label.size());
  parallel_for(std::ssize(label), [&](std::int64_t s) {
    const std::vector<std::uint16_t>& part = parts.part[s];
    std::vector<std::uint8_t> of_part;
    for (const ComponentLabel l : label[s]) of_part.push_back(known.at(l));
    flags[s].resize(part.size());
    std::ranges::transform(part, flags[s].begin(), [&](std::uint16_t p) { return of_part[p]; });
  });
  boxes.fetch(flags);
  return flags;
}

LabelledParts label_parts(const PieceBoxes& boxes, int cut, const Flags* flow) {
  BoxParts parts = find_parts(boxes, cut, flow);
  Labels label = spread_labels(boxes, parts);
  return {std::move(parts), std::move(label)};
}

std::array<Flags, 3> passages(const PieceBoxes& boxes, const Flags* flow, const LabelledParts* all) {
  struct Labelled : LabelledParts {
    FactsByLabel whole;  ///< of the components that this rank owns
    std::map<ComponentLabel, std::vector<int>> askers;
  };
  const Domain& domain = boxes.layout().domain();
  std::optional<Labelled> uncut;  // the same for all directions that are not periodic
  const auto labelled = [&](int cut) {
    Labelled l{cut < 0 && flow == nullptr && all != nullptr ? *all : label_parts(boxes, cut, flow), {}, {}};
    l.whole = gather_at_owners(
        boxes, collect_facts(boxes, l.parts, l.label, {.cells = false, .ends = true, .flow = flow}), l.askers);
    return l;
  };
  std::array<Flags, 3> result;
  for (int d = 0; d < 3; ++d) {
    if (domain.cells[d] == 1) continue;
    if (!domain.periodic[d] && !uncut) uncut = labelled(-1);
    std::optional<Labelled> apart;
    if (domain.periodic[d]) apart = labelled(d);
    const Labelled& l = apart ? *apart : *uncut;
    std::map<ComponentLabel, bool> verdict;
    for (const auto& [label, facts] : l.whole) verdict[label] = facts.touches_both(d);
    result[d] = flag_pieces(boxes, l.parts, l.label, verdict, l.askers);
  }
  return result;
}

}  // namespace karst
