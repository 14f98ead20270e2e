// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/diffusive_flux.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/comm/parallel.hpp"
#include "solvers/elliptic/face_stencils.hpp"

namespace karst {
namespace {

using Place = ScalarGrid::Place;

/// A face as its owner is asked for it: 3 volume + direction of a low face; -1 - (32 place + level) of a face between
/// levels.
std::int32_t name_of_low(std::int32_t volume, int direction) { return 3 * volume + direction; }
std::int32_t name_of_between(std::int64_t place, int level) {
  return static_cast<std::int32_t>(-1 - (32 * place + level));
}

}  // namespace

/// What is known while the lists are made.
struct DiffusiveFlux::Build {
  const ScalarGrid& grid;
  const EllipticOperator& op;
  const FaceStencils& stencils;
  DiffusiveFlux& to;
  std::vector<const Place*> places{};  // by kind, level, place and direction
  std::vector<std::uint8_t> done{};    // per face

  struct Face {
    std::int32_t number = -1;
    double sign = 1.0;
  };

  void run() {
    sort_places();
    done.assign(grid.n_faces, 0);
    for (const ScalarFace& f : grid.listed)
      if (f.fragment) close(f.face);
    std::vector<const Place*> foreign;
    for (const Place& p : grid.read_only) {
      if (done[p.face] != 0) continue;
      done[p.face] = 1;
      foreign.push_back(&p);
    }
    list_windows();
    list_differences();
    ask_owners(foreign);
  }

  void close(std::int32_t face) {
    to.closed_.push_back(face);
    done[face] = 1;
  }

  static auto order_of(const Place& p) {
    return std::tuple(p.kind, p.level, p.place, p.kind == Place::Kind::primary ? p.direction : std::uint8_t{0});
  }
  void sort_places() {
    for (const Place& p : grid.places) places.push_back(&p);
    const auto before = [](const Place* a, const Place* b) { return order_of(*a) < order_of(*b); };
    if (!std::ranges::is_sorted(places, before)) std::ranges::sort(places, before);
  }
  Face face_at(const Place& wanted) const {
    const auto at = std::ranges::lower_bound(places, order_of(wanted), {}, [](const Place* p) { return order_of(*p); });
    if (at == places.end() || order_of(**at) != order_of(wanted)) return {};
    return {(*at)->face, static_cast<double>((*at)->sign)};
  }

  /// Where the fluxes of a window go; not those of walls.
  void find_faces(std::size_t w, std::span<Face> faces) const {
    const auto [level, box] = stencils.windows[w];
    const auto l = static_cast<std::uint8_t>(level);
    const std::int32_t begin = stencils.fluxes_begin[w], end = stencils.fluxes_begin[w + 1];
    if (box < 0) {
      for (std::int32_t i = begin; i < end; ++i)
        faces[i] = face_at({Place::Kind::coarse_fine, l, 0, 1, -1, stencils.places[i].at});
      return;
    }
    const LevelGeometry& geometry = grid.composite->level(level);
    const CompositeNumbering& numbering = grid.composite->numbering();
    const std::int64_t slot_begin = geometry.graph.slot_begin(box), extra_begin = geometry.extra_begin[box];
    const BoxGraph graph = geometry.graph.box(box);
    const Domain& domain = geometry.graph.layout().domain();
    for (std::int32_t i = begin; i < end; ++i) {
      const FluxPlace& p = stencils.places[i];
      if (p.kind == FluxPlace::Kind::extra) faces[i] = face_at({Place::Kind::extra, l, 0, 1, -1, extra_begin + p.at});
      if (p.kind != FluxPlace::Kind::primary) continue;
      const bool own = p.at < graph.n_own;
      if (!own || (!domain.periodic[p.direction] && graph.cells.lo[p.direction] == domain.box().lo[p.direction]))
        faces[i] = face_at({Place::Kind::primary, l, p.direction, 1, -1, slot_begin + p.at});
      if (own && faces[i].number < 0) faces[i] = {p.direction * grid.n_all + numbering.number(level, box, p.at), 1.0};
    }
  }

  void list_windows() {
    std::vector<Face> faces(stencils.places.size());
    parallel_for_dynamic(std::ssize(stencils.windows), [&](std::int64_t w) { find_faces(w, faces); });
    for (std::size_t w = 0; w < stencils.windows.size(); ++w) {
      for (std::int32_t i = stencils.fluxes_begin[w]; i < stencils.fluxes_begin[w + 1]; ++i) {
        Face& face = faces[i];
        if (face.number >= 0 && done[face.number] != 0) face = {};  // listed by its other volume
        if (face.number < 0) continue;
        done[face.number] = 1;
        face.sign *= stencils.places[i].sign;
        to.faces_.push_back({face.number, i, face.sign});
      }
      for (auto t = stencils.sides_begin[w]; t < stencils.sides_begin[w + 1]; ++t) {
        const SideTerm& term = stencils.boundary.sides[t];
        const Face& face = faces[term.row];
        if (face.number >= 0) to.sides_.push_back({face.number, term.side, -face.sign * term.weight, term.at});
      }
      list_walls(w);
    }
  }

  /// Those with a rate.
  void list_walls(std::size_t w) {
    const FluxWindow window = stencils.windows[w];
    const BoundaryTerms& boundary = stencils.boundary;
    if (stencils.robin_begin[w] == stencils.robin_begin[w + 1]) return;
    const BoxGraph graph = grid.composite->graph(window.level).box(window.box);
    for (auto r = stencils.robin_begin[w]; r < stencils.robin_begin[w + 1]; ++r) {
      RobinWall wall = boundary.robin[r];
      const KeptWall& term = boundary.walls[wall.term];
      wall.rate = op.problem().wall(boundary.piece(term, op.geometry())).rate;
      const double taken = wall.damped_area() * wall.rate;
      const int vof = graph.row_vof[stencils.places[term.row].at];
      to.walls_.push_back({grid.composite->numbering().number(window.level, window.box, vof), term.row, taken});
    }
  }

  /// All other listed faces between neighbours on a grid line of which the high one is whole.
  void list_differences() {
    std::vector<std::uint8_t> plain(grid.listed.size());
    parallel_for(std::ssize(grid.listed), [&](std::int64_t k) {
      const ScalarFace& f = grid.listed[k];
      const std::int32_t direction = f.face / std::max(grid.n_all, 1), high = f.face % std::max(grid.n_all, 1);
      if (done[f.face] == 0 && direction <= 2 && f.right < grid.n_own) plain[k] = is_plain(high, direction) ? 1 : 0;
    });
    for (std::int64_t k = 0; k < std::ssize(grid.listed); ++k) {
      const std::int32_t face = grid.listed[k].face;
      if (done[face] != 0) continue;
      if (plain[k] != 0)
        add_difference(k, face % grid.n_all);
      else
        close(face);
    }
  }

  int level_of(std::int32_t own) const {
    int level = 0;
    while (own >= grid.level_begin[level + 1]) ++level;
    return level;
  }
  /// @param own  one of the two volumes
  void add_difference(std::int64_t listed, std::int32_t own) {
    to.differences_.push_back(static_cast<std::int32_t>(listed));
    to.difference_weight_.push_back(to.diffusivity_ * grid.width(level_of(own)));
  }

  bool is_plain(std::int32_t volume, int direction) const {
    const int level = level_of(volume);
    const LevelGraph& graph = grid.composite->graph(level);
    const std::int64_t slot = grid.slots[volume];
    int b = 0, last = graph.n_local() - 1;  // the box of the slot
    while (b < last) {
      const int middle = (b + last + 1) / 2;
      if (graph.slot_begin(middle) <= slot)
        b = middle;
      else
        last = middle - 1;
    }
    const std::size_t vof = graph.vof_begin(b) + (slot - graph.slot_begin(b));
    return (stencils.plain[level][vof] >> direction & 1U) != 0;
  }

  /// The own face of that name.
  std::int32_t face_named(std::int32_t name) const {
    if (name >= 0) return name % 3 * grid.n_all + name / 3;
    const std::int32_t between = -1 - name;
    return face_at({Place::Kind::coarse_fine, static_cast<std::uint8_t>(between % 32), 0, 1, -1, between / 32}).number;
  }

  /// Faces whose place belongs to another rank: plain differences are found here, too, all others come from there.
  /// Collective.
  void ask_owners(const std::vector<const Place*>& foreign) {
    const Composite& composite = *grid.composite;
    const CompositeNumbering& numbering = composite.numbering();
    std::vector<std::pair<RemoteItem, std::int32_t>> wanted;
    for (const Place* p : foreign) {
      if (p->kind == Place::Kind::entering) {
        const std::size_t at = p->place - composite.coarse_fine(p->level).size();
        const RemoteItem there = composite.remote_entrances(p->level)[at];
        wanted.push_back({{there.rank, name_of_between(there.number, p->level)}, p->face});
      } else {
        const GlobalNumber high = grid.remote.numbers()[p->face % grid.n_all - grid.n_own];
        const int rank = numbering.owner(high);
        wanted.push_back(
            {{rank, name_of_low(static_cast<std::int32_t>(high - numbering.ranges()[rank]), p->direction)}, p->face});
      }
    }
    std::ranges::sort(wanted);
    const auto exchange_of = [&] {
      std::vector<RemoteItem> items;
      for (const auto& [item, face] : wanted) items.push_back(item);
      return ListExchange(composite.comm(), items);
    };
    ListExchange first = exchange_of();
    std::vector<std::uint8_t> plain(wanted.size());
    first.begin(std::span(plain), [&](std::size_t i) {
      const std::int32_t name = first.sent()[i];
      return static_cast<std::uint8_t>(name >= 0 && is_plain(name / 3, name % 3) ? 1 : 0);
    });
    first.finish();
    std::map<std::int32_t, std::int64_t> listed;  // places in grid.listed
    for (const auto& [item, face] : wanted) listed[face] = -1;
    for (std::int64_t k = 0; k < std::ssize(grid.listed) && !listed.empty(); ++k)
      if (const auto at = listed.find(grid.listed[k].face); at != listed.end()) at->second = k;
    std::size_t n = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (plain[i] != 0) {
        const std::int64_t k = listed.at(wanted[i].second);
        add_difference(k, grid.listed[k].left);
      } else {
        wanted[n++] = wanted[i];
      }
    }
    wanted.resize(n);
    to.owners_ = exchange_of();
    for (const auto& [item, face] : wanted) to.received_.push_back(face);
    for (const std::int32_t name : to.owners_.sent()) to.sent_.push_back(face_named(name));
  }
};

DiffusiveFlux::DiffusiveFlux(const ScalarGrid& grid, const EllipticOperator& op)
    : diffusivity_(op.problem().beta), stencils_(op.faces()), remote_(op.comm(), op.numbering(), op.faces()->remote) {
  Build{grid, op, *op.faces(), *this}.run();
}

template <int C>
void DiffusiveFlux::sum_rows(const std::vector<Row>& rows, std::int32_t n_own, std::span<const double> phi,
                             std::span<double> to) const {
  const double *const own = phi.data(), *const far = far_.data();
  const Array<std::int32_t>&begin = stencils_->entries_begin, &columns = stencils_->columns;
  const Array<double>& weights = stencils_->weights;
  parallel_for(std::ssize(rows), [&](std::int64_t i) {
    const Row row = rows[i];
    std::array<double, C> sum{};
    for (std::int32_t e = begin[row.flux]; e < begin[row.flux + 1]; ++e) {
      const std::int32_t column = columns[e];
      const double weight = row.factor * weights[e];
      const double* const value =
          column < n_own ? own + C * std::int64_t{column} : far + C * std::int64_t{column - n_own};
      for (int c = 0; c < C; ++c) sum[c] += weight * value[c];
    }
    for (int c = 0; c < C; ++c) to[C * std::int64_t{row.target} + c] = sum[c];
  });
}

template <int C>
void DiffusiveFlux::find(ScalarGrid& grid, std::span<double> phi, const Values& values, std::span<double> flux,
                         std::span<double> wall) {
  using Many = std::array<double, C>;
  const std::size_t n_far = remote_.numbers().size(), n_received = received_.size();
  if (far_.size() < C * n_far) far_ = {C * n_far, Purpose::buffers, 0.0};
  if (from_owners_.size() < C * n_received) from_owners_ = {C * n_received, Purpose::buffers, 0.0};
  const auto many_at = [](const double* from, std::int64_t i) {
    Many many;
    std::copy_n(from + C * i, C, many.data());
    return many;
  };
  const auto as_many = [](Array<double>& all, std::size_t n) {
    return std::span(reinterpret_cast<Many*>(all.data()), n);
  };
  ListExchange& exchange = remote_.exchange();
  exchange.begin(as_many(far_, n_far), [&](std::size_t i) { return many_at(phi.data(), exchange.sent()[i]); });
  exchange.finish();
  fetch_remote<C>(grid, phi);
  sum_rows<C>(faces_, grid.n_own, phi, flux);
  parallel_for(std::ssize(differences_), [&](std::int64_t i) {
    const ScalarFace& f = grid.listed[differences_[i]];
    for (int c = 0; c < C; ++c)
      flux[C * std::int64_t{f.face} + c] =
          difference_weight_[i] * (phi[C * std::int64_t{f.left} + c] - phi[C * std::int64_t{f.right} + c]);
  });
  std::array<double, C> value;
  for (const Side& s : sides_) {
    values.side(s.side, s.at, value.data());
    for (int c = 0; c < C; ++c) flux[C * std::int64_t{s.face} + c] += s.weight * value[c];
  }
  for (const std::int32_t f : closed_) std::fill_n(flux.data() + C * std::int64_t{f}, C, 0.0);
  owners_.begin(as_many(from_owners_, n_received), [&](std::size_t i) { return many_at(flux.data(), sent_[i]); });
  owners_.finish();
  for (std::size_t i = 0; i < n_received; ++i)
    std::copy_n(from_owners_.data() + C * i, C, flux.data() + C * std::int64_t{received_[i]});
  if (wall.empty()) return;
  std::ranges::fill(wall, 0.0);
  sum_rows<C>(walls_, grid.n_own, phi, wall);
  for (const Row& row : walls_) {
    values.wall(row.target, value.data());
    for (int c = 0; c < C; ++c) wall[C * std::int64_t{row.target} + c] -= row.factor * value[c];
  }
}

std::int64_t DiffusiveFlux::bytes() const {
  const std::size_t lists =
      sizeof(Row) * (faces_.capacity() + walls_.capacity()) +
      sizeof(std::int32_t) * (differences_.capacity() + closed_.capacity() + sent_.capacity() + received_.capacity()) +
      sizeof(double) * difference_weight_.capacity() + sizeof(Side) * sides_.capacity() + far_.bytes() +
      from_owners_.bytes();
  return static_cast<std::int64_t>(lists) + remote_.bytes() + owners_.bytes();
}

template void DiffusiveFlux::find<1>(ScalarGrid&, std::span<double>, const Values&, std::span<double>,
                                     std::span<double>);
template void DiffusiveFlux::find<2>(ScalarGrid&, std::span<double>, const Values&, std::span<double>,
                                     std::span<double>);
template void DiffusiveFlux::find<3>(ScalarGrid&, std::span<double>, const Values&, std::span<double>,
                                     std::span<double>);
template void DiffusiveFlux::find<4>(ScalarGrid&, std::span<double>, const Values&, std::span<double>,
                                     std::span<double>);

}  // namespace karst
