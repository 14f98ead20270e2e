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

/// A fluid face of a piece.
struct FaceOfPiece {
  int id, piece;  ///< position in cut.pieces; -1: a regular cell
  Index cell;     ///< index in the domain
  int at;         ///< its offset in the box
  int side, ordinal;
  double aperture;
};

/// Calls f(face) for the fluid faces of the regular cells of a box, on the sides that wanted(cell, its offset, side)
/// names, and for those of all pieces in cut cells.
template <class Wanted, class F>
void for_each_face(const PieceBox& box, Wanted&& wanted, F&& f) {
  int c = 0;
  for_each_cell(box.cut.cells, [&](const Index& cell) {
    if (box.kind(c) == CellKind::regular)
      for (int side = 0; side < 6; ++side)
        if (wanted(cell, c, side)) f(FaceOfPiece{box.id_of_cell(c), -1, cell, c, side, 0, 1.0});
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

/// Joins the regular cells of a box: along x cells that follow one another are a run, and runs are joined once.
void join_regular_cells(const PieceBox& box, DisjointSets& sets) {
  const Index size = box.cut.cells.size();
  const auto is_regular = [&](int c) { return box.kind(c) == CellKind::regular; };
  const auto set_of = [&](int c) { return static_cast<std::uint32_t>(box.id_of_cell(c)); };
  const std::array<int, 3> stride{1, size[0], size[0] * size[1]};
  int c = 0;
  for_each_cell({Index{}, size}, [&](const Index& at) {
    const bool begins = at[0] == 0 || !is_regular(c - 1);
    if (is_regular(c)) {
      if (!begins) sets.join(set_of(c - 1), set_of(c));
      for (int d = 1; d < 3; ++d) {
        const int below = c - stride[d];
        if (at[d] == 0 || !is_regular(below)) continue;
        if (begins || !is_regular(below - 1)) sets.join(set_of(below), set_of(c));
      }
    }
    ++c;
  });
}

/// The ends of the domain that a face lies in; a 2-D problem has none in its third direction.
unsigned end_touched(const Index& cell, int side, const Domain& domain) {
  const int d = direction_of(side);
  if (domain.cells[d] == 1 || cell[d] != (is_high(side) ? domain.cells[d] - 1 : 0)) return 0;
  return 1U << side;
}

/// Where a cell is, for facts of components.
void add_place(const Domain& domain, const Index& cell, const Vec3& center, double kappa, ComponentFacts& f) {
  for (int d = 0; d < 3; ++d) {
    const int n = domain.cells[d];
    f.moment[d] = kappa * center[d];
    f.high_volume[d] = cell[d] >= n / 2 ? kappa : 0.0;
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
  for (int s = 0; s < boxes.n_own(); ++s) {
    const PieceBox& box = boxes.box(s);
    for (int p = 0; p < box.n_pieces(); ++p) {
      const bool refined = box.refined.covers(box.cell_of_piece(p) - box.cut.cells.lo);
      flow[s].push_back(box.cut.pieces[p].holds_center || !homes.of[s][p].own() || refined ? 1 : 0);
    }
  }
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
    DisjointSets sets(box.n_ids());
    const Index size = box.cut.cells.size();
    const std::array<int, 3> stride{1, size[0], size[0] * size[1]};
    join_regular_cells(box, sets);
    const auto to_cut_cell_or_box = [&](const Index& cell, int at, int side) {
      if (!boxes.stays_inside(slot, cell, side)) return true;
      return is_high(side) && box.kind(at + stride[direction_of(side)]) == CellKind::cut;
    };
    for_each_face(box, to_cut_cell_or_box, [&](const FaceOfPiece& face) {
      const auto& [id, piece, cell, at, side, ordinal, aperture] = face;
      const int d = direction_of(side);
      if (d == cut && cell[d] == (is_high(side) ? n_cells[d] - 1 : 0)) return;
      if (boxes.stays_inside(slot, cell, side)) {
        if (!is_high(side)) return;  // seen from the other cell
      } else if (!is_high(side) && box.neighbour[side] < boxes.n_own()) {
        return;  // seen from the other box
      }
      const Across to = boxes.across(slot, cell, side, ordinal);
      if (to.what != Across::What::piece) return;
      if (flow && (aperture == 0.0 || !has_flow(slot, piece) || !has_flow(to.slot, to.piece))) return;
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

FactsByLabel collect_facts(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                           const FactsWanted& wanted) {
  const Domain& domain = boxes.layout().domain();
  std::vector<std::vector<ComponentFacts>> of_box(boxes.n_own());
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    const PieceBox& box = boxes.box(slot);
    const Box& cells = box.cut.cells;
    const Box coarse = footprint(cells);
    std::vector<ComponentFacts>& of_part = of_box[slot];
    of_part.resize(label[slot].size());
    const auto add = [&](int id, int cell, double kappa, const Vec3& centroid) {
      const Index at = cells.cell(cell);
      ComponentFacts f{.volume = kappa, .first = (domain.box().offset(at) << 16) + id - box.id_of_cell(cell)};
      if (wanted.parent_kept) {
        const Index up{at[0] / 2, at[1] / 2, at[2] / 2};
        f.vouched = (*wanted.parent_kept)[slot][coarse.offset(up)];
      }
      for (std::size_t d = 0; wanted.passes && d < 3; ++d) {
        const bool passes = !(*wanted.passes)[d].empty() && (*wanted.passes)[d][slot][id] != 0;
        if (passes) f.passes |= static_cast<std::uint8_t>(1U << d);
      }
      if (wanted.places) add_place(domain, at, to_vec(at) + Vec3::all(0.5) + centroid, kappa, f);
      of_part[parts.part[slot][id]].add(f);
    };
    for (int c = 0; c < box.n_cells(); ++c)
      if (box.kind(c) == CellKind::regular) add(box.id_of_cell(c), c, 1.0, {});
    for (int p = 0; p < box.n_pieces(); ++p) {
      const Piece& piece = box.cut.pieces[p];
      add(box.id_of_piece(p), piece.cell, piece.kappa, piece.centroid);
    }
    const auto at_end = [&](const Index& cell, int, int side) { return end_touched(cell, side, domain) != 0; };
    if (wanted.ends)
      for_each_face(box, at_end, [&](const FaceOfPiece& face) {
        const bool counts = !wanted.flow || face.piece < 0 || (*wanted.flow)[slot][face.piece] != 0;
        if (face.aperture == 0.0 || !counts) return;
        of_part[parts.part[slot][face.id]].ends |= static_cast<std::uint8_t>(end_touched(face.cell, face.side, domain));
      });
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
  for (std::size_t s = 0; s < label.size(); ++s) {
    const std::size_t n = boxes.box(static_cast<int>(s)).n_ids();
    std::vector<std::uint8_t> of_part;
    for (const ComponentLabel l : label[s]) of_part.push_back(known.at(l));
    for (std::size_t id = 0; id < n; ++id) flags[s].push_back(of_part[parts.part[s][id]]);
  }
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
    l.whole = gather_at_owners(boxes, collect_facts(boxes, l.parts, l.label, {.ends = true, .flow = flow}), l.askers);
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
