// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/face_stencils.hpp"

#include <algorithm>
#include <limits>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

using Kind = FluxPlace::Kind;

/// The box whose fluxes are listed.
struct Lister {
  const Composite& grid;
  const RowMaker& maker;
  const VofLookup& vofs;
  MadeFaces& made;
  ListedFluxes& out;
  RowCounts counts = {};  // those of the operator again
  Row row = {};           // a flux in the making: keeps its room

  void add(const FluxPlace& place) {
    out.add(row, place, grid.geometry());
    row.clear();
  }
};

using SharedFaces = std::vector<std::pair<SharedFace, int>>;

/// A VoF whose faces are listed.
struct Place {
  VofName name;
  int vof;
  const std::array<std::uint16_t, 6>& slots;
  int first_extra;  ///< number of its first extra face in the box
  int row;          ///< of an irregular VoF
};

FluxPlace place_of(const Place& at, int side, int extra) {
  const auto d = static_cast<std::uint8_t>(direction_of(side));
  if (extra >= 0) return {Kind::extra, d, 1, at.first_extra + extra};
  if (!is_high(side)) return {Kind::primary, d, -1, at.vof};
  return {Kind::primary, d, 1, at.slots[side]};
}

/// @param shared  of the VoF; empty where all faces but those at ends are plain
void list_faces(Lister& l, const Place& at, const SharedFaces& shared) {
  std::size_t k = 0;
  int n_extra = 0;
  for (const ListedFace& f : l.vofs.faces(at.name)) {
    const int extra = f.primary ? -1 : n_extra++;
    if (f.neighbour == domain_face) {
      const bool lines = l.maker.form() == WallForm::lines;
      l.maker.add_domain_face(at.name, f, lines ? 1.0 : f.aperture, l.row);
      l.add(place_of(at, f.side, extra));
    }
    if (shared.empty() || !is_vof(f.neighbour)) continue;
    const SharedFace& face = shared[k++].first;
    if (l.vofs.number(f.neighbour) == no_unknown || (f.primary && is_high(f.side))) continue;
    l.maker.add_face(at.name, face, f.side, l.row, l.made, l.counts);
    l.add(place_of(at, f.side, extra));
  }
  const VofMoments* m = l.vofs.moments(at.name);
  if (m == nullptr || m->wall_area <= 0.0) return;
  l.maker.add_wall_flux(at.name, l.row, l.made, l.counts);
  l.add({Kind::wall, 0, 1, at.row});
}

void list_lines(Lister& l, const Place& at) {
  if (!l.vofs.inside(at.name)) return;
  Row wall;
  for (int side = 0; side < 6; ++side) {
    switch (l.maker.add_line(at.name, side, l.row, l.counts)) {
      case RowMaker::LineEnd::vof:
        if (!is_high(side)) l.add(place_of(at, side, -1));
        break;
      case RowMaker::LineEnd::domain:
        l.add(place_of(at, side, -1));
        break;
      case RowMaker::LineEnd::wall:
        wall.stencil.add(l.row.stencil, 1.0);
        wall.walls.insert(wall.walls.end(), l.row.walls.begin(), l.row.walls.end());
        break;
    }
    l.row.clear();
  }
  l.out.add(wall, {Kind::wall, 0, 1, at.row}, l.grid.geometry());
}

VofName other_end(const std::pair<SharedFace, int>& face) {
  return is_high(face.second) ? face.first.high : face.first.low;
}

std::vector<GlobalNumber> orphans_behind(const Lister& l, VofName orphan) {
  std::vector<VofName> reached{orphan};
  std::vector<GlobalNumber> numbers;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    numbers.push_back(l.vofs.number(reached[i]));
    for (const auto& face : l.vofs.shared_faces(reached[i])) {
      const VofName n = other_end(face);
      if (l.vofs.inside(n) || l.vofs.number(n) == no_unknown || std::ranges::find(reached, n) != reached.end())
        continue;
      const int way = l.maker.face_to_host(n);
      if (way >= 0 && other_end(l.vofs.shared_faces(n)[way]) == reached[i]) reached.push_back(n);
    }
  }
  return numbers;
}

bool same(const SharedFace& a, const SharedFace& b) {
  return a.low == b.low && a.high == b.high && a.direction == b.direction && a.centroid == b.centroid;
}

void list_ways(Lister& l, const Place& at, const SharedFaces& shared) {
  const bool orphan = !l.vofs.inside(at.name);
  const auto beside_orphan = [&](const auto& face) { return !l.vofs.inside(other_end(face)); };
  if (!orphan && std::ranges::none_of(shared, beside_orphan)) return;
  const int own_way = l.maker.face_to_host(at.name);
  int k = 0, n_extra = 0;
  for (const ListedFace& f : l.vofs.faces(at.name)) {
    const int extra = f.primary ? -1 : n_extra++;
    if (!is_vof(f.neighbour)) continue;
    const SharedFace& face = shared[k].first;
    const bool own = k++ == own_way;
    if ((f.primary && is_high(f.side)) || l.vofs.number(f.neighbour) == no_unknown) continue;
    FluxPlace place = place_of(at, f.side, extra);
    if (own) {
      l.out.ways.push_back({l.out.window, place, orphans_behind(l, at.name)});
    } else if (!l.vofs.inside(f.neighbour)) {
      const int way = l.maker.face_to_host(f.neighbour);
      if (way < 0 || !same(l.vofs.shared_faces(f.neighbour)[way].first, face)) continue;
      place.sign = static_cast<std::int8_t>(-place.sign);
      l.out.ways.push_back({l.out.window, place, orphans_behind(l, f.neighbour)});
    }
  }
  if (own_way < 0) return;
  const CompositeNumbering& numbering = l.grid.numbering();
  l.out.orphans.push_back(
      {l.out.window, at.vof, at.row, static_cast<std::int32_t>(l.vofs.number(at.name) - numbering.first())});
}

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// In the terms of these lists.
std::vector<GlobalNumber> unknowns_of_others(std::span<const ListedFluxes> lists, const CompositeNumbering& numbering) {
  std::vector<std::vector<GlobalNumber>> of_list(lists.size());
  parallel_for_dynamic(std::ssize(lists), [&](std::int64_t i) {
    for (const StencilTerm& t : lists[i].terms)
      if (!numbering.is_own(t.unknown)) of_list[i].push_back(t.unknown);
  });
  std::vector<GlobalNumber> all;
  for (std::vector<GlobalNumber>& some : of_list) append(all, some);
  return all;
}

}  // namespace

void ListedFluxes::add(Row& row, const FluxPlace& place, const Geometry& geometry) {
  if (row.stencil.terms.empty() && row.sides.empty() && row.walls.empty()) return;
  row.number = static_cast<std::int32_t>(places.size());
  for (SideTerm& t : row.sides) t.row = row.number;
  for (WallTerm& t : row.walls) t.row = row.number;
  if (!row.robin.empty()) std::swap(row.stencil, row.robin.front().value_at_wall);
  row.stencil.merge();
  terms.insert(terms.end(), row.stencil.terms.begin(), row.stencil.terms.end());
  boundary.append(row, geometry);
  places.push_back(place);
  ends.push_back(static_cast<std::int32_t>(terms.size()));
}

void list_fluxes(const Composite& grid, const RowMakers& makers, int level, int b, MadeFaces& made,
                 std::span<std::uint8_t> plain, const std::function<bool(int vof)>& take, ListedFluxes& out) {
  const BoxGraph graph = grid.graph(level).box(b);
  out.window = {level, b};
  Lister lister{grid, makers.maker(level), makers.vofs(level), made, out};
  const auto numbers = makers.numbers(level).box(b);
  const int first_domain = graph.n_own + graph.halo.n_vofs() + graph.halo.n_coarse();
  const auto is_end = [&](int slot) { return slot >= first_domain && slot < graph.closed(); };
  int extra = 0, row = 0;
  for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
    const int first_extra = extra;
    while (extra < std::ssize(graph.extra) && graph.extra[extra].vof == vof) ++extra;
    const bool cut = row < graph.n_irregular && graph.row_vof[row] == vof;
    const Place at{vof_name(graph.box, vof), vof, slots, first_extra, cut ? row : -1};
    row += cut;
    if (numbers[vof] < 0) return;
    if (cut) {
      if (std::ranges::none_of(slots, is_end) && take(vof)) return;
      if (lister.maker.form() == WallForm::lines) return list_lines(lister, at);
      const SharedFaces shared = lister.vofs.shared_faces(at.name);
      list_faces(lister, at, shared);
      return list_ways(lister, at, shared);
    }
    std::uint8_t& bits = plain[vof];
    bool at_end = false;
    for (int side = 0; side < 6; ++side) {
      const int slot = slots[side];
      at_end = at_end || is_end(slot);
      if (is_high(side) || numbers[slot] < 0) continue;
      bits = static_cast<std::uint8_t>(bits | (1U << direction_of(side)));
    }
    if (at_end) list_faces(lister, at, {});
  });
}

FaceStencils gather_fluxes(const Composite& grid, std::vector<ListedFluxes>& lists,
                           std::vector<std::vector<std::uint8_t>>&& plain) {
  const CompositeNumbering& numbering = grid.numbering();
  std::size_t n_fluxes = 0, n_terms = 0;
  for (const ListedFluxes& list : lists) {
    n_fluxes += list.places.size();
    n_terms += list.terms.size();
  }
  require(n_terms < std::numeric_limits<std::int32_t>::max(),
          "fluxes of an operator: more than 2^31 entries on one rank; use more ranks");
  FaceStencils all;
  all.plain = std::move(plain);
  const RemoteUnknowns remote(grid.comm(), numbering, unknowns_of_others(lists, numbering));
  all.remote = remote.numbers();
  all.places = {n_fluxes, Purpose::stencils};
  all.entries_begin = {n_fluxes + 1, Purpose::stencils};
  all.columns = {n_terms, Purpose::stencils};
  all.weights = {n_terms, Purpose::stencils};
  struct Begin {
    std::int32_t flux, entry;
  };
  std::vector<Begin> begins;
  std::int32_t flux = 0, entry = 0;
  const auto begin_window = [&] {
    all.fluxes_begin.push_back(flux);
    all.sides_begin.push_back(static_cast<std::int32_t>(all.boundary.sides.size()));
    all.walls_begin.push_back(static_cast<std::int32_t>(all.boundary.walls.size()));
    all.robin_begin.push_back(static_cast<std::int32_t>(all.boundary.robin.size()));
  };
  for (ListedFluxes& list : lists) {
    begin_window();
    all.windows.push_back(list.window);
    all.boundary.append(std::move(list.boundary), flux);
    append(all.orphans, list.orphans);
    std::ranges::move(list.ways, std::back_inserter(all.ways));
    begins.push_back({flux, entry});
    flux += static_cast<std::int32_t>(list.places.size());
    entry += static_cast<std::int32_t>(list.terms.size());
  }
  all.entries_begin[flux] = entry;
  begin_window();
  parallel_for_dynamic(std::ssize(lists), [&](std::int64_t l) {
    ListedFluxes& list = lists[l];
    const auto [first_flux, first_entry] = begins[l];
    for (std::size_t i = 0; i < list.places.size(); ++i) {
      all.places[first_flux + i] = list.places[i];
      all.entries_begin[first_flux + i] = i == 0 ? first_entry : first_entry + list.ends[i - 1];
    }
    std::size_t at = first_entry;
    for (const StencilTerm& t : list.terms) {
      const bool own = numbering.is_own(t.unknown);
      all.columns[at] =
          static_cast<std::int32_t>(own ? t.unknown - numbering.first() : numbering.n_own() + remote.place(t.unknown));
      all.weights[at++] = t.weight;
    }
    list = {};
  });
  return all;
}

std::int64_t FaceStencils::bytes() const {
  std::int64_t sum = boundary.bytes() + static_cast<std::int64_t>(
                                            8 * remote.size() + places.bytes() + entries_begin.bytes() +
                                            columns.bytes() + weights.bytes() + orphans.size() * sizeof(JoinedOrphan) +
                                            windows.size() * (sizeof(FluxWindow) + 4 * sizeof(std::int32_t)));
  for (const auto& level : plain) sum += std::ssize(level);
  for (const WayToHost& way : ways) sum += static_cast<std::int64_t>(sizeof(WayToHost) + 8 * way.behind.size());
  return sum;
}

}  // namespace karst
