// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/grid_change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// f(level, box, VoF, own number or -1, its cell, centroid from the centre of the cell) for the VoFs of an own box.
template <class F>
void for_vofs_of(const Composite& grid, int l, int b, F&& f) {
  const BoxGraph box = grid.graph(l).box(b);
  const auto moments = grid.level(l).box(b).moments;
  std::size_t r = 0;
  for_each_vof(box, [&](int vof, int offset) {
    const Vec3 at = r < moments.size() && box.row_vof[r] == vof ? moments[r++].centroid : Vec3{};
    f(l, b, vof, grid.numbering().number(l, b, vof), box.cells.cell(offset), at);
  });
}

/// f(place among the own VoFs of a level, own number) for those that are volumes, threaded.
template <class F>
void for_numbers(const Composite& grid, int l, F&& f) {
  const LevelGraph& graph = grid.graph(l);
  parallel_for(graph.n_local(), [&](std::int64_t b) {
    const std::int64_t begin = graph.vof_begin(static_cast<int>(b)), end = graph.vof_begin(static_cast<int>(b) + 1);
    for (std::int64_t place = begin; place < end; ++place)
      if (const std::int32_t number = grid.numbering().number(l, static_cast<int>(b), static_cast<int>(place - begin));
          number >= 0)
        f(place, number);
  });
}

std::int64_t place_of(const Composite& grid, int level, VofName name) {
  const LevelGraph& graph = grid.graph(level);
  return graph.vof_begin(graph.local(box_of(name))) + vof_of(name);
}
int owner_of(const Composite& grid, int level, VofName name) { return grid.graph(level).layout().owner(box_of(name)); }

/// A place in the finest box of a grid, up to a level, that contains it.
PlaceQuestion question_of(const Composite& grid, int level, const Index& cell, const Vec3& at) {
  for (int from = std::min(level, grid.n_levels() - 1);; --from) {
    const int width = 1 << (level - from);
    const Index under{cell[0] / width, cell[1] / width, cell[2] / width};
    if (from > 0 && grid.graph(from).layout().find_cell(under) < 0) continue;
    Vec3 place;
    for (int d = 0; d < 3; ++d) place[d] = (cell[d] + 0.5 + at[d]) / width - under[d] - 0.5;
    return {from, {under, place}};
  }
}

/// In the finest box of all that contains it: in the cell, or one of those under it.
PlaceQuestion finest_question_of(const Composite& grid, int level, const Index& cell, const Vec3& at) {
  const int finest = std::max(level, grid.n_levels() - 1), width = 1 << (finest - level);
  Index under;
  Vec3 place;
  for (int d = 0; d < 3; ++d) {
    const double x = width * (cell[d] + 0.5 + at[d]);
    under[d] = std::clamp(static_cast<int>(std::floor(x)), width * cell[d], width * (cell[d] + 1) - 1);
    place[d] = x - under[d] - 0.5;
  }
  return question_of(grid, finest, under, place);
}

void check(const Composite& from, const Composite& to) {
  const Layout &a = from.graph(0).layout(), &b = to.graph(0).layout();
  require(a.domain().cells == b.domain().cells && a.box_size() == b.box_size() && a.keys() == b.keys(),
          "change of grid: from {} x {} x {} cells in boxes of {} to {} x {} x {} in boxes of {}; both, and the walls, "
          "must be the same",
          a.domain().cells[0], a.domain().cells[1], a.domain().cells[2], a.box_size(), b.domain().cells[0],
          b.domain().cells[1], b.domain().cells[2], b.box_size());
}

/// The same VoFs, with the same fluid: neither what is next to the box nor the level above is looked at.
bool same_vofs(const LevelGeometry& a, int box_a, const LevelGeometry& b, int box_b) {
  const BoxGraph x = a.graph.box(box_a), y = b.graph.box(box_b);
  if (x.cells != y.cells || x.n_own != y.n_own || x.n_irregular != y.n_irregular) return false;
  const auto same_run = [](const Run& r, const Run& s) {
    return r.first == s.first && r.length == s.length && r.cell == s.cell;
  };
  const auto same_fluid = [](const VofMoments& m, const VofMoments& n) {
    return m.kappa == n.kappa && m.centroid == n.centroid;
  };
  return std::ranges::equal(x.row_vof, y.row_vof) && std::ranges::equal(x.row_cell, y.row_cell) &&
         std::ranges::equal(x.runs, y.runs, same_run) &&
         std::ranges::equal(a.box(box_a).moments, b.box(box_b).moments, same_fluid);
}

/// [level][own box].
using BoxNumbers = std::vector<std::vector<std::int32_t>>;

/// Of a grid: the box of this rank on another one with the same VoFs; -1 without one. Not collective.
BoxNumbers same_boxes(const Composite& mine, const Composite& theirs) {
  BoxNumbers all;
  for (int l = 0; l < mine.n_levels(); ++l) {
    const LevelGraph& graph = mine.graph(l);
    std::vector<std::int32_t>& same = all.emplace_back(graph.n_local(), -1);
    if (l >= theirs.n_levels()) continue;
    parallel_for(graph.n_local(), [&](std::int64_t b) {
      const Layout& layout = theirs.graph(l).layout();
      const std::int64_t there = layout.find(graph.layout().lattice_position(graph.first_box() + b));
      const int own = there < 0 ? -1 : theirs.graph(l).local(there);
      if (own >= 0 && same_vofs(mine.level(l), static_cast<int>(b), theirs.level(l), own)) same[b] = own;
    });
  }
  return all;
}

constexpr RemoteItem nobody{-1, -1};

/// What is asked about an own volume.
struct Asked {
  std::int32_t volume;
  PlaceQuestion question;
};

/// By the ranks that own the places; volumes that are on the other grid themselves need not be asked about.
template <class Wanted>
std::map<int, std::vector<Asked>> questions(const Composite& mine, const BoxNumbers& same, const Composite& theirs,
                                            decltype(question_of)& question, Wanted&& wanted,
                                            std::span<RemoteItem> holders) {
  std::map<int, std::vector<Asked>> by_place;
  for (int level = 0; level < mine.n_levels(); ++level) {
    std::vector<std::vector<Asked>> of_box(mine.graph(level).n_local());
    parallel_for_dynamic(std::ssize(of_box), [&](std::int64_t box) {
      const std::int32_t begin = mine.numbering().box_begin(level, static_cast<int>(box)),
                         end = mine.numbering().box_end(level, static_cast<int>(box));
      if (std::ranges::none_of(std::views::iota(begin, end), wanted)) return;
      for_vofs_of(mine, level, static_cast<int>(box),
                  [&](int l, int b, int vof, std::int32_t number, const Index& cell, const Vec3& at) {
                    if (number < 0 || !wanted(number)) return;
                    const std::int32_t there = same[l][b] < 0 ? -1 : theirs.numbering().number(l, same[l][b], vof);
                    if (there >= 0)
                      holders[number] = {mine.comm().rank(), there};  // it itself
                    else
                      of_box[b].push_back({number, question(theirs, l, cell, at)});
                  });
    });
    for (std::vector<Asked>& some : of_box)
      for (const Asked& asked : std::exchange(some, {})) {
        const Layout& layout = theirs.graph(asked.question.level).layout();
        by_place[layout.owner(layout.find_cell(asked.question.place.cell))].push_back(asked);
      }
  }
  return by_place;
}

/// For own volumes of a grid what holds their fluid on the other one: GridPlaces::number() there. Threaded; collective.
/// @param same      as same_boxes() of both
/// @param question  question_of() or finest_question_of()
/// @param wanted    the others are left as they are
/// @param[in,out] holders  of the own volumes
template <class Wanted>
void find_holders(const Composite& mine, const BoxNumbers& same, GridPlaces& places, decltype(question_of)& question,
                  Wanted&& wanted, std::span<RemoteItem> holders) {
  const Composite& theirs = places.grid();
  std::map<int, std::vector<Asked>> by_place = questions(mine, same, theirs, question, wanted, holders);
  struct Named {
    std::int32_t volume, rank;
    NamedVof vof;
  };
  std::map<int, std::vector<Named>> by_name;
  std::vector<NamedVof> names;
  ask_values(
      mine.comm(), by_place, [](const Asked& asked) { return asked.question; },
      [&](const PlaceQuestion& q) { return places.at(q); },
      [&](const Asked& asked, VofName name) {
        const NamedVof& v = names.emplace_back(NamedVof{asked.question.level, name, asked.question.place});
        const Layout& layout = theirs.graph(v.level).layout();
        const int rank = layout.owner(name == no_face ? layout.find_cell(v.near.cell) : box_of(name));
        by_name[rank].push_back({asked.volume, rank, v});
      });
  by_place.clear();
  places.prepare(names);
  ask_values(
      mine.comm(), by_name, [](const Named& asked) { return asked.vof; },
      [&](const NamedVof& vof) { return places.number(vof); },
      [&](const Named& asked, std::int32_t number) {
        holders[asked.volume] = number < 0 ? nobody : RemoteItem{asked.rank, number};
      });
}

/// [own volume of a grid]: its own number on another one, where its box is the same; -1: it is not there.
std::vector<std::int32_t> numbers_there(const Composite& mine, const Composite& theirs, const BoxNumbers& same) {
  std::vector<std::int32_t> all(mine.numbering().n_own(), -1);
  for (int l = 0; l < mine.n_levels(); ++l)
    parallel_for_dynamic(mine.graph(l).n_local(), [&](std::int64_t i) {
      const int b = static_cast<int>(i), there = same[l][b];
      if (there < 0) return;
      const int n = mine.graph(l).box(b).n_own;
      for (int vof = 0; vof < n; ++vof)
        if (const std::int32_t number = mine.numbering().number(l, b, vof); number >= 0)
          all[number] = theirs.numbering().number(l, there, vof);
    });
  return all;
}

/// Of all new volumes. Throws Error on all ranks. Collective.
void find_sources(const KnownSources& known, GridChange& change) {
  const Composite& to = *change.to.composite;
  const BoxNumbers same = same_boxes(to, *change.from.composite);
  change.itself = numbers_there(to, *change.from.composite, same);
  change.id.assign(change.to.n_own, nobody);
  if (known.step != nullptr)
    for (std::int32_t v = 0; v < change.to.n_own; ++v)
      if (const std::int32_t was = known.step->itself[v]; was >= 0) change.id[v] = known.of_before[was];
  find_holders(
      to, same, *change.places, question_of, [&](std::int32_t v) { return change.id[v] == nobody; }, change.id);
  const std::int64_t lost = to.comm().sum(std::int64_t{std::ranges::count(change.id, nobody)});
  require(
      lost == 0,
      "change of grid: {} of {} volumes of the new grid are where the old one has no fluid; both must keep the same "
      "pores",
      lost, change.to.counts.volumes);
}

/// Where the values of sources arrive, and the volumes that have the same one.
void list_sources(GridChange& change) {
  const Comm& comm = change.to.composite->comm();
  std::vector<RemoteItem> wanted;
  for (const RemoteItem& id : change.id)
    if (id.rank != comm.rank()) wanted.push_back(id);
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  change.exchange = ListExchange(comm, wanted);
  change.source.resize(change.id.size());
  parallel_for(std::ssize(change.id), [&](std::int64_t v) {
    const RemoteItem& id = change.id[v];
    change.source[v] =
        id.rank == comm.rank()
            ? id.number
            : static_cast<std::int32_t>(change.n_sources + (std::ranges::lower_bound(wanted, id) - wanted.begin()));
  });
}

/// Where the sources of new volumes are.
class SourcePlaces {
 public:
  /// Collective.
  explicit SourcePlaces(GridChange& change) : change_(change), arrived_(change.exchange.n_received()) {
    const std::span<const std::int32_t> sent = change.exchange.sent();
    change.exchange.begin(std::span(arrived_), [&](std::size_t i) { return of_own(sent[i]); });
    change.exchange.finish();
  }
  /// Whether a volume of level l is finer than its source.
  bool is_finer(int l, std::int64_t v) const { return l > of(v).level; }
  /// From the source of a volume to it.
  Vec3 way_to(std::int64_t v) const {
    return way_between(change_.to.composite->graph(0).layout().domain(), of(v).centroid, change_.to.centroid[v]);
  }

 private:
  struct Place {
    std::int32_t level = 0;
    Vec3 centroid;  // of a volume
  };
  Place of_own(std::int32_t number) const {
    return {change_.places->level_of(number), number < change_.from.n_own ? change_.from.centroid[number] : Vec3{}};
  }
  Place of(std::int64_t v) const {
    const std::int32_t k = change_.source[v];
    return k < change_.n_sources ? of_own(k) : arrived_[k - change_.n_sources];
  }

  const GridChange& change_;
  std::vector<Place> arrived_;
};

/// What the new volumes of a source are together.
struct Together {
  double volume = 0.0;  ///< of all
  double finer = 0.0;   ///< of those finer than the source, as the next
  Vec3 way{};           ///< Σ volume x way from the source
  double n = 0.0;       ///< how many
};

/// Of the sources of this rank. Collective.
std::vector<Together> volumes_of_sources(GridChange& change) {
  const Comm& comm = change.to.composite->comm();
  std::vector<Together> all(change.n_sources + change.exchange.n_received());
  const SourcePlaces places(change);
  const auto add = [&](std::int32_t source, double volume, const Vec3* way) {
    Together& sum = all[source];
    sum.volume += volume;
    if (way == nullptr) return;
    sum.finer += volume;
    sum.way += volume * *way;
    sum.n += 1.0;
  };
  struct Part {
    std::int32_t source;
    bool finer;
    double volume;
    Vec3 way;
  };
  /// f(volume, way from its source; nullptr: it is not finer) for those with a source on this rank, or on others.
  const auto for_volumes = [&](bool here, auto&& f) {
    for (int l = 0; l < change.to.composite->n_levels(); ++l)
      for (std::int32_t v = change.to.level_begin[l]; v < change.to.level_begin[l + 1]; ++v) {
        if ((change.id[v].rank == comm.rank()) != here) continue;
        const bool finer = places.is_finer(l, v);
        const Vec3 way = finer ? places.way_to(v) : Vec3{};
        f(v, finer ? &way : nullptr);
      }
  };
  std::map<int, std::vector<Part>> to_owner;
  for_volumes(false, [&](std::int32_t v, const Vec3* way) {
    to_owner[change.id[v].rank].push_back(
        {change.id[v].number, way != nullptr, change.to.volume[v], way != nullptr ? *way : Vec3{}});
  });
  bool added = false;  // what this rank gives itself, in the order of the ranks
  const auto add_own = [&] {
    if (std::exchange(added, true)) return;
    for_volumes(true, [&](std::int32_t v, const Vec3* way) { add(change.id[v].number, change.to.volume[v], way); });
  };
  send_values(comm, std::move(to_owner), [&](const Part& p, int rank) {
    if (rank > comm.rank()) add_own();
    add(p.source, p.volume, p.finer ? &p.way : nullptr);
  });
  add_own();
  change.exchange.exchange(std::span(all));
  change.shares.resize(change.to.n_own);
  change.offset.resize(change.to.n_own);
  for (int l = 0; l < change.to.composite->n_levels(); ++l) {
    const std::int64_t first = change.to.level_begin[l];
    parallel_for(change.to.level_begin[l + 1] - first, [&](std::int64_t i) {
      const std::int64_t v = first + i;
      const Together& t = all[change.source[v]];
      change.shares[v] = t.volume;
      if (t.n > 1.0 && places.is_finer(l, v)) change.offset[v] = places.way_to(v) - (1.0 / t.finer) * t.way;
    });
  }
  return all;
}

/// VoFs under finer volumes that are sources, from a VoF of this rank upwards.
class SourcesAbove {
 public:
  /// @param is_source  (number of a covered VoF) -> whether it is one. Collective.
  template <class IsSource>
  SourcesAbove(const GridPlaces& places, IsSource&& is_source) : grid_(places.grid()), places_(places) {
    for (int l = 0; l < grid_.n_levels(); ++l) {
      numbers_.emplace_back(grid_.graph(l).vof_begin(grid_.graph(l).n_local()), -1);
      foreign_.emplace_back();
    }
    places.for_covered([&](int l, std::int64_t place, std::int32_t number) {
      if (is_source(number)) numbers_[l][place] = number;
    });
    for (int l = 1; l < grid_.n_levels(); ++l) fetch(l);
  }
  /// f(source), from the finest on. Not collective.
  template <class F>
  void visit(int l, std::int64_t place, F&& f) const {
    for (;; --l) {
      if (const std::int32_t number = numbers_[l][place]; number >= 0) f(RemoteItem{grid_.comm().rank(), number});
      const VofName parent = l > 0 ? places_.parents(l - 1)[place] : no_face;
      if (parent == no_face) return;
      if (!is_own(l - 1, parent)) {
        for (const RemoteItem& source : foreign_[l].at(place)) f(source);
        return;
      }
      place = place_of(grid_, l - 1, parent);
    }
  }

 private:
  bool is_own(int l, VofName vof) const { return grid_.graph(l).local(box_of(vof)) >= 0; }
  /// Above the VoFs of level l whose parents other ranks own.
  void fetch(int l) {
    std::map<int, std::vector<std::pair<VofName, std::int64_t>>> of_rank;
    const std::span<const VofName> parents = places_.parents(l - 1);
    for (std::int64_t i = 0; i < std::ssize(parents); ++i)
      if (parents[i] != no_face && !is_own(l - 1, parents[i]))
        of_rank[owner_of(grid_, l - 1, parents[i])].push_back({parents[i], i});
    ask_ranks_per_item(
        grid_.comm(), of_rank, [](const auto& q, ByteWriter& w) { w.put(q.first); },
        [&](ByteReader& in, ByteWriter& w) {
          std::vector<RemoteItem> found;
          visit(l - 1, place_of(grid_, l - 1, in.get<VofName>()), [&](const RemoteItem& s) { found.push_back(s); });
          w.put_vector(found);
        },
        [&](const auto& q, ByteReader& in) { foreign_[l][q.second] = in.get_vector<RemoteItem>(); });
  }

  const Composite& grid_;
  const GridPlaces& places_;
  std::vector<std::vector<std::int32_t>> numbers_;                        // [level][own VoF], -1: no source
  std::vector<std::map<std::int64_t, std::vector<RemoteItem>>> foreign_;  // [level], by own VoF
};

/// VoFs above each own old volume that are sources. Collective.
void find_ancestors(std::span<const Together> sources, GridChange& change) {
  const Composite& grid = *change.from.composite;
  std::vector<std::int64_t>& begin = change.ancestor_begin;
  begin.assign(change.from.n_own + 1, 0);
  const auto is_source = [&](std::int64_t number) { return sources[number].volume > 0.0; };
  bool any = false;
  for (std::int64_t i = change.from.n_own; i < change.n_sources; ++i) any = any || is_source(i);
  if (!grid.comm().any(any)) return;
  const SourcesAbove above(*change.places, is_source);
  for (int l = 1; l < grid.n_levels(); ++l)
    for_numbers(grid, l, [&](std::int64_t place, std::int32_t number) {
      above.visit(l, place, [&](const RemoteItem&) { ++begin[number + 1]; });
    });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  change.ancestors.resize(begin.back());
  for (int l = 1; l < grid.n_levels(); ++l)
    for_numbers(grid, l, [&](std::int64_t place, std::int32_t number) {
      std::int64_t at = begin[number];
      above.visit(l, place, [&](const RemoteItem& source) { change.ancestors[at++] = source; });
    });
}

constexpr std::int64_t no_heir = -1;
std::int64_t code_of(const RemoteItem& heir) {
  return heir.rank < 0 ? no_heir : (std::int64_t{heir.rank} << 32) | static_cast<std::int64_t>(heir.number);
}

/// For fragments of fluid that the new grid does not have: the heir of the largest neighbour that has one, from
/// neighbour to neighbour, as long as that finds any.
void ask_neighbours(GridChange& change) {
  ScalarGrid& grid = change.from;
  std::vector<std::int64_t> heir(grid.n_all, no_heir);
  for (std::int32_t v = 0; v < grid.n_own; ++v) heir[v] = code_of(change.heir[v]);
  ListExchange& exchange = grid.remote.exchange();
  const Comm& comm = grid.composite->comm();
  for (bool found = true; comm.any(found);) {
    exchange.begin(std::span(heir).subspan(grid.n_own), [&](std::size_t i) { return heir[exchange.sent()[i]]; });
    exchange.finish();
    found = false;
    std::vector<std::pair<std::int32_t, std::int64_t>> taken;
    for (std::size_t s = 0; s < grid.special.size(); ++s) {
      if (heir[grid.special[s]] != no_heir) continue;
      std::int32_t largest = -1;
      for (std::int64_t k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k) {
        const std::int32_t other = grid.volume_faces[k].other();
        if (other >= grid.n_all || heir[other] == no_heir) continue;
        if (largest < 0 || grid.volume[other] > grid.volume[largest]) largest = other;
      }
      if (largest >= 0) taken.emplace_back(grid.special[s], heir[largest]);
    }
    for (const auto& [v, code] : taken) {
      heir[v] = code;
      change.heir[v] = {static_cast<std::int32_t>(code >> 32), static_cast<std::int32_t>(code & 0xffffffff)};
      found = true;
    }
  }
}

/// The nearest source of this rank: for fragments without any neighbour that leads to one, of which there are hardly
/// any.
RemoteItem nearest_source(const GridChange& change, std::span<const Together> sources, const Vec3& at) {
  const Domain& domain = change.from.composite->graph(0).layout().domain();
  const int rank = change.from.composite->comm().rank();
  RemoteItem found{-1, -1};
  double nearest = std::numeric_limits<double>::infinity();
  for (std::int32_t v = 0; v < change.from.n_own; ++v) {
    if (sources[v].volume == 0.0 && change.ancestors_of(v).empty()) continue;
    const Vec3 way = way_between(domain, at, change.from.centroid[v]);
    if (dot(way, way) >= nearest) continue;
    nearest = dot(way, way);
    found = sources[v].volume > 0.0 ? RemoteItem{rank, v} : change.ancestors_of(v).front();
  }
  return found;
}

/// Who takes the fluid of old volumes: they themselves, what covers them, or for the few that are neither a source of
/// the new grid nor below one, the source of the new volume that holds their fluid.
void find_heirs(std::span<const Together> sources, GridChange& change) {
  const Comm& comm = change.from.composite->comm();
  const auto is_source = [&](std::int64_t v) { return sources[v].volume > 0.0; };
  const auto is_orphan = [&](std::int64_t v) { return !is_source(v) && change.ancestors_of(v).empty(); };
  bool any = false;
  change.heir.reserve(change.from.n_own);
  for (std::int32_t v = 0; v < change.from.n_own; ++v) {
    change.heir.push_back(is_source(v)   ? RemoteItem{comm.rank(), v}
                          : is_orphan(v) ? RemoteItem{-1, -1}
                                         : change.ancestors_of(v).front());
    any = any || is_orphan(v);
  }
  if (!comm.any(any)) return;
  GridPlaces places(change.to.composite);
  std::vector<RemoteItem> holders(change.from.n_own, nobody);
  find_holders(*change.from.composite, same_boxes(*change.from.composite, *change.to.composite), places,
               finest_question_of, is_orphan, holders);
  std::map<int, std::vector<std::pair<std::int32_t, std::int32_t>>> asked;  // new volume, old one
  for (std::int32_t v = 0; v < change.from.n_own; ++v)
    if (is_orphan(v) && holders[v].rank >= 0) asked[holders[v].rank].push_back({holders[v].number, v});
  ask_ranks_per_item(
      comm, asked, [](const auto& q, ByteWriter& w) { w.put(q.first); },
      [&](ByteReader& in, ByteWriter& w) {
        const auto number = in.get<std::int32_t>();
        w.put(number < change.to.n_own ? change.id[number] : RemoteItem{-1, -1});
      },
      [&](const auto& q, ByteReader& in) { change.heir[q.second] = in.get<RemoteItem>(); });
  ask_neighbours(change);
  for (std::int32_t v = 0; v < change.from.n_own; ++v)
    if (change.heir[v].rank < 0) change.heir[v] = nearest_source(change, sources, change.from.centroid[v]);
}

}  // namespace

Vec3 way_between(const Domain& domain, const Vec3& from, const Vec3& to) {
  Vec3 way = to - from;
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[d]) way[d] -= domain.cells[d] * std::round(way[d] / domain.cells[d]);
  return way;
}

GridChange compare_grids(const std::shared_ptr<const Composite>& from, const std::shared_ptr<const Composite>& to,
                         const KnownSources& known) {
  const Timer timer("other grid");
  check(*from, *to);
  GridChange change(scalar_grid_of(from, {}), scalar_grid_of(to, {}));
  change.places = known.places ? known.places : std::make_shared<GridPlaces>(from);
  change.n_sources = change.places->n_numbers();
  find_sources(known, change);
  list_sources(change);
  const std::vector<Together> sources = volumes_of_sources(change);
  find_ancestors(sources, change);
  find_heirs(sources, change);
  return change;
}

}  // namespace karst
