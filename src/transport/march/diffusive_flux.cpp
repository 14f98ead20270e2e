// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/diffusive_flux.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "solvers/elliptic/face_stencils.hpp"

namespace karst {
namespace {

using Place = ScalarGrid::Place;

/// What names a place of a FaceField.
using Key = std::tuple<Place::Kind, int, int, std::int64_t>;

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
  std::map<Key, const Place*> place_of{};
  std::vector<std::uint8_t> done{};  // per face

  struct Face {
    std::int32_t number = -1;
    double sign = 1.0;
  };

  void run() {
    for (const Place& p : grid.places)
      place_of[{p.kind, p.level, p.kind == Place::Kind::primary ? p.direction : 0, p.place}] = &p;
    done.assign(grid.n_faces, 0);
    for (const ScalarFace& f : grid.listed)
      if (f.fragment) close(f.face);
    std::vector<const Place*> foreign;
    for (const Place& p : grid.read_only) {
      if (done[p.face] != 0) continue;
      done[p.face] = 1;
      foreign.push_back(&p);
    }
    for (std::size_t w = 0; w < stencils.windows.size(); ++w) list_window(w);
    list_differences();
    ask_owners(foreign);
  }

  void close(std::int32_t face) {
    to.closed_.push_back(face);
    done[face] = 1;
  }

  /// Where the flux of a stencil goes.
  Face face_of(const FluxWindow& window, const FluxPlace& p) const {
    const CompositeNumbering& numbering = grid.composite->numbering();
    const auto found = [&](Place::Kind kind, int direction, std::int64_t place) {
      const auto at = place_of.find({kind, window.level, direction, place});
      return at == place_of.end() ? Face{} : Face{at->second->face, static_cast<double>(at->second->sign)};
    };
    if (p.kind == FluxPlace::Kind::coarse_fine) return found(Place::Kind::coarse_fine, 0, p.at);
    const LevelGeometry& level = grid.composite->level(window.level);
    if (p.kind == FluxPlace::Kind::extra) return found(Place::Kind::extra, 0, level.extra_begin[window.box] + p.at);
    const Face end = found(Place::Kind::primary, p.direction, level.graph.slot_begin(window.box) + p.at);
    if (end.number >= 0 || p.at >= level.graph.box(window.box).n_own) return end;
    return {p.direction * grid.n_all + numbering.number(window.level, window.box, p.at), 1.0};
  }

  void add_row(Rows& rows, std::int32_t target, std::size_t flux, double factor) {
    rows.target.push_back(target);
    for (auto e = stencils.entries_begin[flux]; e < stencils.entries_begin[flux + 1]; ++e) {
      rows.column.push_back(stencils.columns[e]);
      rows.weight.push_back(factor * stencils.weights[e]);
    }
    rows.begin.push_back(std::ssize(rows.column));
  }

  void list_window(std::size_t w) {
    const FluxWindow window = stencils.windows[w];
    const BoundaryTerms& boundary = stencils.boundary;
    std::map<std::int32_t, Face> of_flux;
    std::map<std::int32_t, double> taken;  // by walls with a rate
    for (auto r = stencils.robin_begin[w]; r < stencils.robin_begin[w + 1]; ++r) {
      RobinWall wall = boundary.robin[r];
      const KeptWall& term = boundary.walls[wall.term];
      wall.rate = op.problem().wall(boundary.piece(term, op.geometry())).rate;
      taken[term.row] = wall.damped_area() * wall.rate;
    }
    for (std::int32_t i = stencils.fluxes_begin[w]; i < stencils.fluxes_begin[w + 1]; ++i) {
      const FluxPlace& p = stencils.places[i];
      if (p.kind == FluxPlace::Kind::wall) {
        const auto wall = taken.find(i);
        if (wall == taken.end()) continue;
        const LevelGraph& graph = grid.composite->graph(window.level);
        const std::int32_t v =
            grid.composite->numbering().number(window.level, window.box, graph.box(window.box).row_vof[p.at]);
        add_row(to.walls_, v, i, wall->second);
        to.wall_constant_.push_back(wall->second);
        continue;
      }
      const Face face = face_of(window, p);
      if (face.number < 0 || done[face.number] != 0) continue;
      done[face.number] = 1;
      add_row(to.faces_, face.number, i, face.sign * p.sign);
      of_flux[i] = {face.number, face.sign * p.sign};
    }
    for (auto t = stencils.sides_begin[w]; t < stencils.sides_begin[w + 1]; ++t) {
      const SideTerm& term = boundary.sides[t];
      const auto face = of_flux.find(term.row);
      if (face != of_flux.end())
        to.sides_.push_back({face->second.number, term.side, -face->second.sign * term.weight, term.at});
    }
  }

  /// All other listed faces between neighbours on a grid line of which the high one is whole.
  void list_differences() {
    for (std::int64_t k = 0; k < std::ssize(grid.listed); ++k) {
      const ScalarFace& f = grid.listed[k];
      if (done[f.face] != 0) continue;
      const std::int32_t direction = f.face / std::max(grid.n_all, 1), high = f.face % std::max(grid.n_all, 1);
      if (direction > 2 || f.right >= grid.n_own || !is_plain(high, direction)) {
        close(f.face);
        continue;
      }
      add_difference(k, high);
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
    return place_of.at({Place::Kind::coarse_fine, between % 32, 0, between / 32})->face;
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
    std::map<std::int32_t, std::int64_t> listed;
    for (std::int64_t k = 0; k < std::ssize(grid.listed); ++k) listed[grid.listed[k].face] = k;
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
    : diffusivity_(op.problem().beta), remote_(op.comm(), op.numbering(), op.faces()->remote) {
  Build{grid, op, *op.faces(), *this}.run();
}

template <int C>
void DiffusiveFlux::sum_rows(const Rows& rows, std::int32_t n_own, std::span<const double> phi,
                             std::span<double> to) const {
  const double *const own = phi.data(), *const far = far_.data();
  parallel_for(std::ssize(rows.target), [&](std::int64_t i) {
    std::array<double, C> sum{};
    for (std::int64_t e = rows.begin[i]; e < rows.begin[i + 1]; ++e) {
      const std::int32_t column = rows.column[e];
      const double* const value =
          column < n_own ? own + C * std::int64_t{column} : far + C * std::int64_t{column - n_own};
      for (int c = 0; c < C; ++c) sum[c] += rows.weight[e] * value[c];
    }
    for (int c = 0; c < C; ++c) to[C * std::int64_t{rows.target[i]} + c] = sum[c];
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
  for (std::size_t i = 0; i < wall_constant_.size(); ++i) {
    values.wall(walls_.target[i], value.data());
    for (int c = 0; c < C; ++c) wall[C * std::int64_t{walls_.target[i]} + c] -= wall_constant_[i] * value[c];
  }
}

std::int64_t DiffusiveFlux::bytes() const {
  const auto of = [](const Rows& r) {
    return sizeof(std::int32_t) * (r.target.capacity() + r.column.capacity()) +
           sizeof(std::int64_t) * r.begin.capacity() + sizeof(double) * r.weight.capacity();
  };
  const std::size_t lists =
      sizeof(std::int32_t) * (differences_.capacity() + closed_.capacity() + sent_.capacity() + received_.capacity()) +
      sizeof(double) * (difference_weight_.capacity() + wall_constant_.capacity()) + sizeof(Side) * sides_.capacity() +
      far_.bytes() + from_owners_.bytes();
  return static_cast<std::int64_t>(of(faces_) + of(walls_) + lists) + remote_.bytes() + owners_.bytes();
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
