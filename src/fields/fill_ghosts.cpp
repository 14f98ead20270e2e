// SPDX-License-Identifier: BSD-3-Clause
#include "fields/fill_ghosts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "eb/link/least_squares.hpp"
#include "fields/parents.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

constexpr double largest_weights = 5.0;  ///< of a polynomial, Σ |weights|

std::vector<double> weights_at(const std::vector<LevelPoint>& points, const Vec3& at, int degree) {
  std::vector<Vec3> r;
  for (const LevelPoint& p : points) r.push_back(p.at - at);
  for (; degree > 0; --degree) {
    std::vector<double> weight = fit_polynomial(r, degree);
    double sum = 0.0;
    for (const double w : weight) sum += std::abs(w);
    if (sum <= largest_weights) return weight;
  }
  return fit_polynomial(r, 0);
}

/// Slots of the ghosts of the faces of a box towards the coarser level, in the order of Composite::coarse_fine().
std::vector<int> ghost_slots(const BoxGraph& box, std::span<const LevelFace> faces) {
  std::unordered_map<int, std::size_t> row;
  for (const LevelFace& f : faces) row[vof_of(f.vof)] = 0;
  std::unordered_map<int, std::array<std::uint16_t, 6>> slots;
  for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& around) {
    if (row.contains(vof)) slots[vof] = around;
  });
  std::vector<int> found;
  auto extra = box.extra.begin();
  for (const LevelFace& f : faces) {
    const int v = vof_of(f.vof);
    if (f.face.primary) {
      found.push_back(slots.at(v)[f.face.side]);
      continue;
    }
    while (extra->vof != v || extra->side != f.face.side || box.name(extra->neighbour) != coarse_face) ++extra;
    found.push_back((extra++)->neighbour);
  }
  return found;
}

}  // namespace

struct FillGhosts::OpenGhost {
  int level;
  std::int64_t slot;
  std::vector<std::pair<GlobalNumber, double>> terms;
};

FillGhosts::FillGhosts(std::shared_ptr<const Composite> composite, int order) : composite_(std::move(composite)) {
  require(order == 1 || order == 2, "ghosts between levels: order {}; it may be 1 or 2", order);
  for (int l = 0; l < composite_->n_levels(); ++l) halo_.emplace_back(composite_->comm(), composite_->graph(l));
  for (int l = 0; l + 1 < composite_->n_levels(); ++l) find_averages(l);
  for (int l = 0; l + 1 < composite_->n_levels(); ++l) find_donors(l);
  if (composite_->n_levels() > 1) find_ghosts(order);
  without_parent_ = composite_->comm().sum(without_parent_);
}

void FillGhosts::find_averages(int l) {
  const Composite& grid = *composite_;
  const LevelGraph &fine = grid.graph(l + 1), &coarse = grid.graph(l);
  const std::vector<VofName> parents = find_parents(grid, l);
  struct Pair {
    VofName parent;
    Child child;
  };
  std::vector<Pair> pairs;
  for (int b = 0; b < fine.n_local(); ++b) {
    const std::vector<double> kappa = volumes_in(grid.level(l + 1), b);
    for (std::size_t v = 0; v < kappa.size(); ++v) {
      const VofName parent = parents[fine.vof_begin(b) + v];
      without_parent_ += parent == no_face;
      if (parent != no_face) pairs.push_back({parent, {fine.slot_begin(b) + static_cast<std::int64_t>(v), kappa[v]}});
    }
  }
  std::ranges::sort(pairs, {}, [](const Pair& p) { return std::tuple(p.parent, p.child.slot); });
  struct Sum {
    VofName parent;
    double volume;
    std::int32_t value;
  };
  Averages a;
  std::map<int, ByteWriter> to_owner;
  for (std::size_t i = 0; i < pairs.size();) {
    Sum sum{pairs[i].parent, 0.0, static_cast<std::int32_t>(a.begin.size() - 1)};
    for (; i < pairs.size() && pairs[i].parent == sum.parent; ++i) {
      a.children.push_back(pairs[i].child);
      sum.volume += pairs[i].child.volume;
    }
    a.begin.push_back(std::ssize(a.children));
    to_owner[coarse.layout().owner(box_of(sum.parent))].put(sum);
  }
  std::vector<std::pair<int, Sum>> all;
  std::vector<RemoteItem> remote;
  send_to_ranks(grid.comm(), std::move(to_owner), [&](ByteReader& in, int rank) {
    all.emplace_back(rank, in.get<Sum>());
    if (rank != grid.comm().rank()) remote.push_back({rank, all.back().second.value});
  });
  std::ranges::sort(remote);
  std::ranges::stable_sort(all, {}, [](const auto& s) { return s.second.parent; });
  const auto n_own = std::ssize(a.begin) - 1;
  std::unordered_map<std::int64_t, double> volume;
  for (const auto& [rank, sum] : all) {
    const int box = coarse.local(box_of(sum.parent));
    std::int64_t value = sum.value;
    if (rank != grid.comm().rank())
      value = n_own + (std::ranges::lower_bound(remote, RemoteItem{rank, sum.value}) - remote.begin());
    a.arrivals.push_back({coarse.slot_begin(box) + vof_of(sum.parent), static_cast<std::int32_t>(value)});
    volume[a.arrivals.back().slot] += sum.volume;
  }
  for (const auto& arrival : a.arrivals) a.volume.push_back(volume.at(arrival.slot));
  a.exchange = ListExchange(grid.comm(), remote);
  a.sums = Array<double>(n_own + remote.size(), Purpose::buffers, 0.0);
  averages_.push_back(std::move(a));
}

/// Covered VoFs without a finer one on them take the value of a neighbour, in passes from those that have one.
void FillGhosts::find_donors(int l) {
  const Composite& grid = *composite_;
  const LevelGraph& graph = grid.graph(l);
  std::vector<std::int64_t> averaged;
  for (const Averages::Arrival& a : averages_[l].arrivals) averaged.push_back(a.slot);
  std::ranges::sort(averaged);
  ByteField bare(graph, 1, Purpose::buffers);  // 1: without a value
  const auto is_bare = [&](int b, int v) { return bare.box(b)[v] != 0; };
  for (int b = 0; b < graph.n_local(); ++b)
    for (const std::uint16_t v : grid.covered_in(l, b))
      bare.box(b)[v] = std::ranges::binary_search(averaged, graph.slot_begin(b) + v) ? 0 : 1;
  std::vector<std::vector<Donor>>& passes = averages_[l].donors;
  for (bool more = true; more;) {
    fill_halo(grid.comm(), graph, bare);
    std::map<std::int64_t, Donor> found;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      if (grid.covered_in(l, b).empty()) continue;
      for_each_face(box, [&](int vof, int, int slot) {
        if (!is_bare(b, vof) || slot >= box.n_own + box.halo.n_vofs() || is_bare(b, slot)) return;
        const std::int64_t to = graph.slot_begin(b) + vof;
        found.try_emplace(to, Donor{to, graph.slot_begin(b) + slot});
      });
    }
    more = grid.comm().any(!found.empty());
    if (more) passes.emplace_back();
    for (const auto& [to, donor] : found) {
      passes.back().push_back(donor);
      bare.data()[to] = 0;
    }
  }
  PerBox<std::uint16_t>& empty = averages_[l].empty;
  for (int b = 0; b < graph.n_local(); ++b) {
    for (const std::uint16_t v : grid.covered_in(l, b))
      if (is_bare(b, v)) empty.items.push_back(v);
    empty.begin.push_back(std::ssize(empty.items));
  }
}

void FillGhosts::find_ghosts(int order) {
  const Composite& grid = *composite_;
  std::vector<NumberField> numbers;
  std::vector<VofLookup> vofs;
  numbers.reserve(grid.n_levels());  // the look-ups point at them
  for (int l = 0; l < grid.n_levels(); ++l) {
    numbers.push_back(grid.numbering().global_numbers(grid.comm(), grid.graph(l), l));
    vofs.emplace_back(grid.level(l), grid.numbering(), numbers.back());
    vofs.back().fetch(grid.comm(), at_level_boundary(vofs.back()), rings_at_levels);
  }
  std::vector<OpenGhost> open;
  for (int l = 0; l + 1 < grid.n_levels(); ++l) {
    const VofLookup &coarse = vofs[l], &fine = vofs[l + 1];
    std::vector<LevelFace> faces(grid.coarse_fine(l).begin(), grid.coarse_fine(l).end());
    look_behind(grid.comm(), {coarse, [&](VofName v) { return coarse.number(v); }, {}}, faces);
    for (int b = 0; b < grid.graph(l + 1).n_local(); ++b) {
      const std::size_t first = grid.coarse_fine_begin(l, b);
      const std::size_t n = grid.coarse_fine_begin(l, b + 1) - first;
      const std::vector<int> slots = ghost_slots(grid.graph(l + 1).box(b), std::span(faces).subspan(first, n));
      for (std::size_t i = 0; i < n; ++i) {
        const LevelFace& f = faces[first + i];
        OpenGhost ghost{l + 1, grid.graph(l + 1).slot_begin(b) + slots[i], {}};
        std::vector<LevelPoint> points;
        if (f.behind.found && order > 1) points = points_around(fine, f.vof, 1, 0.5, f.own_center());
        points.insert(points.end(), f.behind.points.begin(), f.behind.points.end());
        if (f.behind.found && (points.empty() || order == 1)) points = {{f.behind.row, f.ghost}};
        if (!f.behind.found) points = {{fine.number(f.vof), f.ghost}};
        const std::vector<double> weight = weights_at(points, f.ghost, order - 1);
        for (std::size_t k = 0; k < points.size(); ++k) ghost.terms.emplace_back(points[k].unknown, weight[k]);
        open.push_back(std::move(ghost));
      }
    }
  }
  number_sources(open);
}

void FillGhosts::number_sources(const std::vector<OpenGhost>& open) {
  const Composite& grid = *composite_;
  const CompositeNumbering& numbering = grid.numbering();
  std::vector<GlobalNumber> own, far;
  for (const OpenGhost& g : open)
    for (const auto& [unknown, weight] : g.terms) (numbering.is_own(unknown) ? own : far).push_back(unknown);
  std::ranges::sort(own);
  own.erase(std::unique(own.begin(), own.end()), own.end());
  remote_ = RemoteUnknowns(grid.comm(), numbering, far);
  std::unordered_map<std::int32_t, Source> places;
  for (const GlobalNumber g : own) places[static_cast<std::int32_t>(g - numbering.first())] = {};
  for (const std::int32_t n : remote_.exchange().sent()) places[n] = {};
  for (int l = 0; l < grid.n_levels(); ++l)
    for (int b = 0; b < grid.graph(l).n_local(); ++b)
      for (int v = 0; v < grid.graph(l).slots()->n_own(b); ++v)
        if (const auto at = places.find(numbering.number(l, b, v)); at != places.end())
          at->second = {l, grid.graph(l).slot_begin(b) + v};
  for (const GlobalNumber g : own) own_.push_back(places.at(static_cast<std::int32_t>(g - numbering.first())));
  for (const std::int32_t n : remote_.exchange().sent()) sent_.push_back(places.at(n));
  for (const OpenGhost& g : open) {
    const std::int64_t begin = std::ssize(terms_);
    for (const auto& [unknown, weight] : g.terms)
      terms_.push_back({numbering.is_own(unknown)
                            ? static_cast<std::int32_t>(std::ranges::lower_bound(own, unknown) - own.begin())
                            : static_cast<std::int32_t>(std::ssize(own)) + remote_.place(unknown),
                        weight});
    ghosts_.push_back({g.level, g.slot, begin, std::ssize(terms_)});
  }
  pool_ = Array<double>(own.size() + remote_.numbers().size(), Purpose::buffers, 0.0);
}

void FillGhosts::average_down(CellField& field, int l) {
  Averages& a = averages_[l];
  for (int c = 0; c < field.n_components(); ++c) {
    const double* fine = field.level(l + 1).data(c);
    double* coarse = field.level(l).data(c);
    parallel_for(std::ssize(a.begin) - 1, [&](std::int64_t i) {
      double sum = 0.0;
      for (auto k = a.begin[i]; k < a.begin[i + 1]; ++k) sum += a.children[k].volume * fine[a.children[k].slot];
      a.sums[i] = sum;
    });
    a.exchange.exchange(a.sums.span());
    for (const auto& arrival : a.arrivals) coarse[arrival.slot] = 0.0;
    for (std::size_t i = 0; i < a.arrivals.size(); ++i)
      coarse[a.arrivals[i].slot] += a.sums[a.arrivals[i].value] / a.volume[i];
  }
  for (const std::vector<Donor>& pass : a.donors) {
    halo_[l](field.level(l));
    for (int c = 0; c < field.n_components(); ++c)
      for (const Donor& d : pass) field.level(l).data(c)[d.to] = field.level(l).data(c)[d.from];
  }
}

void FillGhosts::average_down(CellField& field) {
  require(field.composite() == composite_, "ghosts between levels: the field is on another grid");
  for (int l = field.n_levels() - 2; l >= 0; --l) average_down(field, l);
}

void FillGhosts::fill_level_ghosts(CellField& field, int component) {
  const auto value_at = [&](const Source& s) { return field.level(s.level).data(component)[s.at]; };
  remote_.exchange().begin(pool_.span().subspan(own_.size()), [&](std::size_t i) { return value_at(sent_[i]); });
  parallel_for(std::ssize(own_), [&](std::int64_t i) { pool_[i] = value_at(own_[i]); });
  remote_.exchange().finish();
  parallel_for(std::ssize(ghosts_), [&](std::int64_t i) {
    const Ghost& g = ghosts_[i];
    double sum = 0.0;
    for (auto k = g.begin; k < g.end; ++k) sum += terms_[k].weight * pool_[terms_[k].source];
    field.level(g.level).data(component)[g.slot] = sum;
  });
}

void FillGhosts::operator()(CellField& field) {
  average_down(field);
  for (int c = 0; c < field.n_components() && field.n_levels() > 1; ++c) fill_level_ghosts(field, c);
  for (int l = 0; l < field.n_levels(); ++l) halo_[l](field.level(l));
}

}  // namespace karst
