// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/piece_map.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/core/error.hpp"
#include "base/core/items_of.hpp"
#include "eb/moving/matching_pieces.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

using Parts = std::vector<KeptPiece>;
using PartsOfCell = std::span<const KeptPiece>;

constexpr std::uint8_t alone = 7;               ///< KeptPiece::side of a VoF that is this whole cell and no more
constexpr VofName from_no_piece = domain_face;  ///< Share::before of what has opened

/// SharedFluid of one cell.
struct Share {
  VofName after, before;
  std::int64_t cell;  ///< of the level: sums are in one order on any ranks
  double kept, taken;
  Vec3 at;
  friend auto operator<=>(const Share&, const Share&) = default;
};
/// OldFluid of one cell.
struct OldPart {
  std::int64_t cell;
  OldFluid fluid;
  VofName after = no_face;
};

/// Cells of an own box whose VoF holds fluid of other cells, however little.
std::vector<std::uint8_t> cells_with_more(const LevelGeometry& level, int own) {
  std::vector<std::uint8_t> more(level.graph.box(own).cells.count(), 0);
  const auto [first, last] = level.joined_in(own);
  for (std::int64_t i = first; i < last; ++i)
    if (!is_vof(level.joined[i].home)) more[level.joined[i].cell] = 1;
  return more;
}

/// All fluid of an own box, by cell.
Parts fluid_of_box(const LevelGeometry& level, int own) {
  const BoxGraph graph = level.graph.box(own);
  const std::span<const KeptPiece> listed = level.pieces_in(own);
  Parts all(listed.begin(), listed.end());
  const std::vector<std::uint8_t> holds_more = cells_with_more(level, own);
  for_each_vof(graph, [&](int vof, int cell) {
    const auto c = static_cast<std::uint16_t>(cell);
    if (std::ranges::binary_search(listed, c, {}, &KeptPiece::cell)) return;
    all.push_back({.home = vof_name(graph.box, vof), .kappa = 1.0, .cell = c});
    if (holds_more[cell] == 0) all.back().side = alone;
  });
  std::ranges::stable_sort(all, {}, &KeptPiece::cell);
  return all;
}

/// A piece with its parts.
struct WholePiece {
  PartsOfCell parts;
  double volume = 0.0;
};

std::vector<WholePiece> pieces_of(PartsOfCell cell) {
  std::vector<WholePiece> pieces;
  for (std::size_t i = 0; i < cell.size();) {
    std::size_t last = i;
    WholePiece piece;
    for (; last < cell.size() && cell[last].ordinal == cell[i].ordinal; ++last) piece.volume += cell[last].kappa;
    piece.parts = cell.subspan(i, last - i);
    pieces.push_back(piece);
    i = last;
  }
  return pieces;
}

std::vector<CellPiece> to_match(std::span<const WholePiece> pieces) {
  std::vector<CellPiece> all;
  for (const WholePiece& p : pieces) {
    const KeptPiece& part = p.parts.front();
    CellPiece& piece = all.emplace_back(CellPiece{p.volume, {}});
    for (int d = 0; d < 3; ++d) {
      piece.centroid[d] = part.centroid[d];
      piece.wall[d] = part.wall[d] / KeptPiece::full_wall;
    }
  }
  return all;
}

/// Which fraction of what two pieces share is in a part of the old one and in a part of the new one: on the same sides
/// as much as possible.
/// @return [part before][part after]
std::array<std::array<double, 6>, 6> fractions_of_parts(const WholePiece& before, const WholePiece& after) {
  std::array<std::array<double, 6>, 6> both{};
  std::array<double, 6> a{}, b{};
  for (std::size_t i = 0; i < before.parts.size(); ++i) a[i] = before.parts[i].kappa / before.volume;
  for (std::size_t j = 0; j < after.parts.size(); ++j) b[j] = after.parts[j].kappa / after.volume;
  double rest = 1.0;
  for (std::size_t i = 0; i < before.parts.size(); ++i)
    for (std::size_t j = 0; j < after.parts.size(); ++j) {
      if (before.parts[i].side != after.parts[j].side) continue;
      both[i][j] = std::min(a[i], b[j]);
      a[i] -= both[i][j];
      b[j] -= both[i][j];
      rest -= both[i][j];
    }
  if (rest <= 0.0) return both;
  for (std::size_t i = 0; i < before.parts.size(); ++i)
    for (std::size_t j = 0; j < after.parts.size(); ++j) both[i][j] += a[i] * b[j] / rest;
  return both;
}

/// Centroid of a piece, from the centre of the cell that is on this side of its own.
Vec3 place_of(const WholePiece& piece, std::uint8_t side) {
  const std::array<float, 3>& centroid = piece.parts[0].centroid;
  const Vec3 at{centroid[0], centroid[1], centroid[2]};
  return side < KeptPiece::own_cell ? at - to_vec(side_offset(side)) : at;
}

/// The parts of one old volume together.
OldFluid together(std::span<const OldPart> parts) {
  OldFluid sum{parts[0].fluid.before};
  VofName after = no_face;
  bool in_one = true, first = true;
  for (const OldPart& part : parts) {
    sum.kept += part.fluid.kept;
    sum.closed += part.fluid.closed;
    sum.opened += part.fluid.opened;
    sum.cut_off += part.fluid.cut_off;
    sum.at += part.fluid.kept * part.fluid.at;
    if (part.fluid.kept == 0.0) continue;
    in_one = in_one && (first || part.after == after);
    after = part.after;
    first = false;
  }
  if (sum.kept > 0.0) sum.at *= 1.0 / sum.kept;
  for (const OldPart& part : parts)
    if (!in_one && part.fluid.kept > 0.0) sum.reach = std::max(sum.reach, norm(part.fluid.at - sum.at));
  return sum;
}

class Mapper {
 public:
  Mapper(const Comm& comm, const LevelGeometry& before, const LevelGeometry& after)
      : comm_(comm), before_(before), after_(after) {}
  PieceMap make();

 private:
  std::vector<Parts> fetch_old();
  void compare_box(const Box& cells, const Parts& before, const Parts& after);
  void compare_cell(std::int64_t cell, PartsOfCell before, PartsOfCell after);
  void share(std::int64_t cell, const MatchedPieces& matched, const WholePiece& before, const WholePiece& after);
  void put(const Share& share) { shares_[after_.graph.layout().owner(box_of(share.after))].push_back(share); }
  void put(std::int64_t cell, const OldFluid& fluid, VofName after = no_face) {
    old_[before_.graph.layout().owner(box_of(fluid.before))].push_back({cell, fluid, after});
  }
  template <class T>
  std::vector<T> to_owners(std::map<int, std::vector<T>>& of_rank) const;
  void add_up_shares();
  void add_up_old();
  void count_events();

  const Comm& comm_;
  const LevelGeometry &before_, &after_;
  std::map<int, std::vector<Share>> shares_;
  std::map<int, std::vector<OldPart>> old_;
  PieceMap map_;
};

/// What was in the own boxes of the later geometry; boxes that it does not have are compared at once. Collective.
std::vector<Parts> Mapper::fetch_old() {
  const Layout &old_layout = before_.graph.layout(), &layout = after_.graph.layout();
  std::vector<Parts> here(after_.graph.n_local());
  std::map<int, ByteWriter> sent;
  for (int own = 0; own < before_.graph.n_local(); ++own) {
    const std::int64_t b = before_.graph.first_box() + own, now = layout.find(old_layout.lattice_position(b));
    Parts fluid = fluid_of_box(before_, own);
    if (now < 0) {
      compare_box(old_layout.box(b), fluid, {});
    } else if (const int local = after_.graph.local(now); local >= 0) {
      here[local] = std::move(fluid);
    } else {
      sent[layout.owner(now)].put(now);
      sent[layout.owner(now)].put_vector(fluid);
    }
  }
  send_to_ranks(comm_, std::move(sent), [&](ByteReader& in, int) {
    const int local = after_.graph.local(in.get<std::int64_t>());
    here[local] = in.get_vector<KeptPiece>();
  });
  return here;
}

void Mapper::compare_box(const Box& cells, const Parts& before, const Parts& after) {
  const Box domain = after_.graph.layout().domain().box();
  const auto cell_at = [](const Parts& parts, std::size_t i) {
    return i < parts.size() ? int{parts[i].cell} : 1 << 16;
  };
  const auto end_of_cell = [&](const Parts& parts, std::size_t i, int cell) {
    while (cell_at(parts, i) == cell) ++i;
    return i;
  };
  for (std::size_t i = 0, j = 0; i < before.size() || j < after.size();) {
    const int cell = std::min(cell_at(before, i), cell_at(after, j));
    const std::size_t last_i = end_of_cell(before, i, cell), last_j = end_of_cell(after, j, cell);
    compare_cell(domain.offset(cells.cell(cell)), PartsOfCell(before).subspan(i, last_i - i),
                 PartsOfCell(after).subspan(j, last_j - j));
    i = last_i, j = last_j;
  }
}

void Mapper::compare_cell(std::int64_t cell, PartsOfCell before, PartsOfCell after) {
  if (!before.empty() && !after.empty() && before[0].side == alone && after[0].side == alone) {
    map_.whole.push_back({after[0].home, before[0].home});
    return;
  }
  const std::vector<WholePiece> old_pieces = pieces_of(before), new_pieces = pieces_of(after);
  std::vector<double> kept(old_pieces.size(), 0.0);
  std::vector<std::uint8_t> has_source(new_pieces.size(), 0);
  for (const MatchedPieces& m : match_pieces(to_match(old_pieces), to_match(new_pieces))) {
    share(cell, m, old_pieces[m.before], new_pieces[m.after]);
    kept[m.before] += m.kept;
    has_source[m.after] = 1;
  }
  for (std::size_t p = 0; p < old_pieces.size(); ++p) {
    const WholePiece& piece = old_pieces[p];
    const double closed = piece.volume - kept[p];
    if (closed <= 0.0) continue;
    for (const KeptPiece& part : piece.parts)
      if (part.home != no_face) put(cell, {.before = part.home, .closed = part.kappa / piece.volume * closed});
  }
  for (std::size_t q = 0; q < new_pieces.size(); ++q)
    for (const KeptPiece& part : new_pieces[q].parts)
      if (has_source[q] == 0 && part.home != no_face) put({part.home, from_no_piece, cell, 0.0, part.kappa, {}});
}

void Mapper::share(std::int64_t cell, const MatchedPieces& matched, const WholePiece& before, const WholePiece& after) {
  const auto fraction = fractions_of_parts(before, after);
  for (std::size_t i = 0; i < before.parts.size(); ++i)
    for (std::size_t j = 0; j < after.parts.size(); ++j) {
      if (fraction[i][j] == 0.0) continue;
      const VofName from = before.parts[i].home, to = after.parts[j].home;
      const double kept = fraction[i][j] * matched.kept, taken = fraction[i][j] * matched.taken;
      const Vec3 at = place_of(before.volume <= after.volume ? before : after, before.parts[i].side);
      if (to != no_face) put({to, from, cell, kept, taken, at});
      if (from == no_face) continue;
      const bool cut_off = to == no_face;
      put(cell,
          {.before = from,
           .kept = kept,
           .opened = cut_off ? 0.0 : taken - kept,
           .cut_off = cut_off ? kept : 0.0,
           .at = at},
          to);
    }
}

template <class T>
std::vector<T> Mapper::to_owners(std::map<int, std::vector<T>>& of_rank) const {
  std::vector<T> here = std::move(of_rank[comm_.rank()]);
  of_rank.erase(comm_.rank());
  std::map<int, ByteWriter> sent;
  for (const auto& [rank, items] : of_rank) sent[rank].put(std::span<const T>(items));
  of_rank.clear();
  send_to_ranks(comm_, std::move(sent), [&](ByteReader& in, int) { here.push_back(in.get<T>()); });
  return here;
}

void Mapper::add_up_shares() {
  std::vector<Share> all = to_owners(shares_);
  std::ranges::sort(all);
  for (const Share& s : all) {
    if (s.before == from_no_piece) {
      if (map_.opened.empty() || map_.opened.back().after != s.after) map_.opened.push_back({s.after, 0.0});
      map_.opened.back().volume += s.taken;
      continue;
    }
    if (map_.shared.empty() || map_.shared.back().after != s.after || map_.shared.back().before != s.before)
      map_.shared.push_back({s.after, s.before, 0.0, 0.0});
    SharedFluid& sum = map_.shared.back();
    sum.kept += s.kept;
    sum.taken += s.taken;
    sum.at += s.kept * s.at;
  }
  for (SharedFluid& sum : map_.shared)
    if (sum.kept > 0.0) sum.at *= 1.0 / sum.kept;
}

void Mapper::add_up_old() {
  std::vector<OldPart> all = to_owners(old_);
  std::ranges::sort(all, {}, [](const OldPart& p) {
    return std::tuple(p.fluid.before, p.cell, p.fluid.kept, p.fluid.closed, p.fluid.opened, p.fluid.at);
  });
  for (std::size_t i = 0, last = 0; i < all.size(); i = last) {
    while (last < all.size() && all[last].fluid.before == all[i].fluid.before) ++last;
    map_.old.push_back(together(std::span(all).subspan(i, last - i)));
  }
}

void Mapper::count_events() {
  // Of an old volume: how many new ones have fluid of it.
  std::map<int, ByteWriter> sent;
  std::int64_t with_source = std::ssize(map_.whole), joined = 0;
  for (std::size_t i = 0, last = 0; i < map_.shared.size(); i = last) {
    std::int64_t sources = 0;
    for (; last < map_.shared.size() && map_.shared[last].after == map_.shared[i].after; ++last) {
      const VofName before = map_.shared[last].before;
      if (before == no_face) continue;
      ++sources;
      sent[before_.graph.layout().owner(box_of(before))].put(before);
    }
    with_source += sources > 0 ? 1 : 0;
    joined += sources > 1 ? 1 : 0;
  }
  std::vector<VofName> lives_on;
  send_to_ranks(comm_, std::move(sent), [&](ByteReader& in, int) { lives_on.push_back(in.get<VofName>()); });
  std::ranges::sort(lives_on);
  std::int64_t followed = 0, split = 0;
  for (std::size_t i = 0, last = 0; i < lives_on.size(); i = last) {
    while (last < lives_on.size() && lives_on[last] == lives_on[i]) ++last;
    ++followed;
    split += last - i > 1 ? 1 : 0;
  }
  const std::int64_t born = after_.graph.counts().vofs - with_source;
  const std::int64_t gone = before_.graph.counts().vofs - followed;  // whole ones are taken off over all ranks
  std::array<std::int64_t, 5> sums{born, gone, joined, split, std::ssize(map_.whole)};
  comm_.sum(std::span(sums));
  map_.events = {sums[0], sums[1] - sums[4], sums[2], sums[3]};
}

PieceMap Mapper::make() {
  const std::vector<Parts> before = fetch_old();
  for (int own = 0; own < after_.graph.n_local(); ++own)
    compare_box(after_.graph.layout().box(after_.graph.first_box() + own), before[own], fluid_of_box(after_, own));
  add_up_shares();
  add_up_old();
  count_events();
  return std::move(map_);
}

}  // namespace

PieceMap map_pieces(const Comm& comm, const LevelGeometry& before, const LevelGeometry& after) {
  const Layout &old_layout = before.graph.layout(), &new_layout = after.graph.layout();
  require(
      old_layout.domain().cells == new_layout.domain().cells && old_layout.box_size() == new_layout.box_size(),
      "piece map: grids of {} x {} x {} cells in boxes of {} and {} x {} x {} in boxes of {}; they must be the same",
      old_layout.domain().cells[0], old_layout.domain().cells[1], old_layout.domain().cells[2], old_layout.box_size(),
      new_layout.domain().cells[0], new_layout.domain().cells[1], new_layout.domain().cells[2], new_layout.box_size());
  require(before.keeps_pieces() && after.keeps_pieces(), "piece map: a geometry was built without its pieces");
  return Mapper(comm, before, after).make();
}

}  // namespace karst
