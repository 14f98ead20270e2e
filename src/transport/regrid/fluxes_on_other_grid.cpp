// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/fluxes_on_other_grid.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "grid/questions.hpp"

namespace karst {
namespace {

/// Two sources, or one and a side of the domain (-1 - side), the smaller number first.
struct Pair {
  std::int64_t low, high;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};
/// Between the two of a pair, from the low one to the high one.
struct Between {
  double old = 0.0;                       ///< Σ F of the old grid
  double estimate = 0.0, openness = 0.0;  ///< Σ E and Σ g of the new one
  std::int64_t faces = 0;                 ///< of the new one
};

std::int64_t number_of(const RemoteItem& source) {
  return (std::int64_t{source.rank} << 32) | static_cast<std::int64_t>(source.number);
}
int rank_of(std::int64_t number) { return static_cast<int>(number >> 32); }

/// A face and what it lies between.
struct FaceBetween {
  std::int32_t face, left, right;
  std::int64_t left_source, right_source;
  double openness;  ///< g [h0]; 0 of fragments, which no flow goes through
  int direction;
  bool mine;  ///< of the two ranks that list it, this one counts it

  Pair pair() const { return {std::min(left_source, right_source), std::max(left_source, right_source)}; }
  double sign() const { return left_source < right_source ? 1.0 : -1.0; }
};

/// Sources of the own volumes, of those of other ranks, and of the sides behind domain faces, in the order of values.
std::vector<std::int64_t> sources_of_values(ScalarGrid& grid, std::span<const RemoteItem> own) {
  std::vector<std::int64_t> all(grid.n_values);
  for (std::size_t v = 0; v < own.size(); ++v) all[v] = number_of(own[v]);
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(std::span(all).subspan(grid.n_own, grid.n_all - grid.n_own),
                 [&](std::size_t i) { return number_of(own[exchange.sent()[i]]); });
  exchange.finish();
  for (const BoundaryFace& b : grid.boundary) all[grid.n_all + (&b - grid.boundary.data())] = -1 - b.side;
  return all;
}

/// f(FaceBetween, list) for the faces that this rank lists and that are wanted, threaded; f appends to the list.
/// Returns the lists of all threads in the order of the faces.
/// @param wanted  (face, left, right) -> whether it is
template <class List, class Wanted, class F>
std::vector<List> for_faces(const ScalarGrid& grid, std::span<const std::int64_t> sources, Wanted&& wanted, F&& f) {
  const std::int32_t n_lines = 3 * grid.n_all;  // faces along grid lines; then the others, whose places say it
  std::vector<std::uint8_t> of_other(grid.n_faces - n_lines);
  for (const auto* places : {&grid.places, &grid.read_only})
    for (const ScalarGrid::Place& p : *places)
      if (p.face >= n_lines) of_other[p.face - n_lines] = p.direction;
  const auto direction = [&](std::int32_t face) {
    return face < n_lines ? face / grid.n_all : std::int32_t{of_other[face - n_lines]};
  };
  const CompositeNumbering& numbering = grid.composite->numbering();
  const auto global = [&](std::int32_t v) {
    return v < grid.n_own ? numbering.first() + v : grid.remote.numbers()[v - grid.n_own];
  };
  const auto visit = [&](List& list, std::int32_t face, std::int32_t left, std::int32_t right, double openness, int d) {
    if (!wanted(face, left, right)) return;
    const bool first_own = left < grid.n_own, both = first_own && (right >= grid.n_all || right < grid.n_own);
    const bool mine = both || (first_own ? global(left) < global(right) : global(right) < global(left));
    f(FaceBetween{face, left, right, sources[left], sources[right], openness, d, mine}, list);
  };
  constexpr std::size_t stretch = 1024;  // intervals of plain volumes, or faces
  const std::size_t n_plain = grid.plain.size(), n_listed = grid.listed.size();
  const std::size_t plain = (n_plain + stretch - 1) / stretch, listed = (n_listed + stretch - 1) / stretch;
  std::vector<List> lists(plain + listed);
  parallel_for_dynamic(std::ssize(lists), [&](std::int64_t l) {
    const std::size_t part = l;
    List& list = lists[part];
    if (part < plain) {
      for (std::size_t i = stretch * part; i < std::min(n_plain, stretch * (part + 1)); ++i) {
        const PlainVolumes& p = grid.plain[i];
        for (std::int32_t d = 0; d < 3; ++d)
          for (std::int32_t t = 0; t < p.count; ++t)
            visit(list, d * grid.n_all + p.first + t, p.beyond[2 * d] + t, p.first + t, ScalarGrid::width(p.level), d);
      }
      return;
    }
    for (std::size_t i = stretch * (part - plain); i < std::min(n_listed, stretch * (part - plain + 1)); ++i) {
      const ScalarFace& s = grid.listed[i];
      visit(list, s.face, s.left, s.right, s.fragment ? 0.0 : grid.conductance[i], direction(s.face));
    }
  });
  return lists;
}

/// Faces by the rank of the high source of their pair.
using FacesOfRanks = std::map<int, std::vector<FaceBetween>>;

/// Sums of pairs, each on the rank of its high source.
class Sums {
 public:
  explicit Sums(const Comm& comm) : comm_(comm) {}
  void add(const Pair& pair, const Between& part) {
    const int rank = rank_of(pair.high);
    (rank == comm_.rank() ? own_ : of_rank_[rank]).push_back({pair, part});
  }
  /// Collective.
  void finish() {
    std::vector<Entry> before, after;  // from lower and from higher ranks
    send_values(comm_, std::move(of_rank_),
                [&](const Entry& e, int rank) { (rank < comm_.rank() ? before : after).push_back(e); });
    const std::array<std::span<const Entry>, 3> lists{before, own_, after};
    std::size_t n = 0;
    for (const std::span<const Entry> list : lists)
      for (const Entry& e : list) n = std::max(n, place_of(e.pair) + 1);
    begin_.assign(n + 1, 0);
    for (const std::span<const Entry> list : lists)
      for (const Entry& e : list) ++begin_[place_of(e.pair) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    end_.assign(begin_.begin(), begin_.end() - 1);
    all_ = Array<Entry>(begin_.back(), Purpose::buffers);
    // A thread fills the places of its own sources, so that entries keep their order.
    parallel_for(n_threads(), [&, threads = n_threads()](std::int64_t t) {
      const std::size_t low = n * t / threads, high = n * (t + 1) / threads;
      for (const std::span<const Entry> list : lists)
        for (const Entry& e : list)
          if (const std::size_t at = place_of(e.pair); at >= low && at < high) all_[end_[at]++] = e;
    });
    own_ = {};
    parallel_for(std::ssize(end_), [&](std::int64_t i) { add_up(i); });
  }
  /// take(face, its sums). Collective.
  template <class Take>
  void ask(const FacesOfRanks& faces, Take&& take) {
    ask_values(
        comm_, faces, [](const FaceBetween& f) { return f.pair(); }, [&](const Pair& pair) { return of(pair); }, take);
  }

 private:
  struct Entry {
    Pair pair;
    Between between;
  };
  static std::size_t place_of(const Pair& pair) { return pair.high & 0xffffffff; }

  /// Of the pairs with one high source, in the order in which they came.
  void add_up(std::size_t high) {
    const std::span<Entry> entries = all_.span().subspan(begin_[high], end_[high] - begin_[high]);
    std::ranges::stable_sort(entries, {}, &Entry::pair);
    std::size_t n = 0;
    for (const Entry& e : entries) {
      if (n == 0 || entries[n - 1].pair != e.pair) {
        entries[n++] = e;
        continue;
      }
      Between& sum = entries[n - 1].between;
      sum.old += e.between.old;
      sum.estimate += e.between.estimate;
      sum.openness += e.between.openness;
      sum.faces += e.between.faces;
    }
    end_[high] = begin_[high] + n;
  }
  Between of(const Pair& pair) const {
    const std::size_t high = place_of(pair);
    if (high >= end_.size()) return {};
    for (std::size_t i = begin_[high]; i < end_[high]; ++i)
      if (all_[i].pair == pair) return all_[i].between;
    return {};
  }

  Comm comm_;
  std::vector<Entry> own_;
  std::map<int, std::vector<Entry>> of_rank_;  // others
  Array<Entry> all_;                           // after finish(): by high source, pairs each once in [begin_, end_)
  std::vector<std::size_t> begin_, end_;
};

/// What happens to faces: new ones whose flux is known, old ones whose flux has gone to one of these.
struct Kept {
  std::vector<std::uint8_t> known, used;
};

/// Volumes of this rank that are the same on both grids. Collective.
std::vector<std::uint8_t> same_volumes(const GridChange& change) {
  const Comm& comm = change.from.composite->comm();
  std::vector<std::uint8_t> same(change.to.n_own, 0), alone(change.from.n_own, 1);
  std::map<int, ByteWriter> heirs;  // what takes the fluid of others
  for (std::int32_t v = 0; v < change.from.n_own; ++v)
    if (const RemoteItem& heir = change.heir[v]; heir.rank >= 0 && heir != RemoteItem{comm.rank(), v})
      heirs[heir.rank].put(heir.number);
  send_to_ranks(comm, std::move(heirs), [&](ByteReader& in, int) {
    if (const auto number = in.get<std::int32_t>(); number < change.from.n_own) alone[number] = 0;
  });
  parallel_for(change.to.n_own, [&](std::int64_t v) {
    const std::int32_t k = change.source[v];
    same[v] = k < change.from.n_own && alone[k] != 0 && change.shares[v] == change.from.volume[k] &&
              change.to.volume[v] == change.from.volume[k];
  });
  return same;
}

/// The only face between two own volumes, as the first of them has it; none where there are several.
class OnlyFaces {
 public:
  explicit OnlyFaces(const ScalarGrid& grid) : grid_(grid), special_(grid.n_own, -1) {
    parallel_for(std::ssize(grid.special),
                 [&](std::int64_t s) { special_[grid.special[s]] = static_cast<std::int32_t>(s); });
  }
  /// Also none for a volume that is plain.
  std::optional<VolumeFace> between(std::int32_t volume, std::int32_t other) const {
    std::optional<VolumeFace> found;
    const std::int32_t s = special_[volume];
    if (s < 0) return found;
    for (std::int64_t k = grid_.special_begin[s]; k < grid_.special_begin[s + 1]; ++k) {
      if (grid_.volume_faces[k].other() != other) continue;
      if (found) return std::nullopt;
      found = grid_.volume_faces[k];
    }
    return found;
  }

 private:
  const ScalarGrid& grid_;
  std::vector<std::int32_t> special_;  // place among them; -1: plain
};

/// Through listed faces, each the only one between two volumes that are the same: what is left of a pair's sum then.
void copy_listed(const GridChange& change, std::span<const std::uint8_t> same, std::span<const double> old,
                 std::span<double> now, Kept& kept) {
  const ScalarGrid &from = change.from, &to = change.to;
  const OnlyFaces of_old(from), of_new(to);
  parallel_for(std::ssize(to.listed), [&](std::int64_t i) {
    const ScalarFace& f = to.listed[i];
    if (kept.known[f.face] != 0) return;
    if (f.right >= to.n_own || f.left >= to.n_own || same[f.left] == 0 || same[f.right] == 0) return;
    if (f.fragment || to.conductance[i] == 0.0 || f.left == f.right || !of_new.between(f.right, f.left)) return;
    const std::int32_t left = change.source[f.left], right = change.source[f.right];
    if (!change.ancestors_of(left).empty() || !change.ancestors_of(right).empty()) return;
    const std::optional<VolumeFace> was = of_old.between(right, left);
    if (!was) return;
    const double sign = left < right ? 1.0 : -1.0, sign_was = (was->outward() > 0.0) == (right < left) ? 1.0 : -1.0;
    now[f.face] = sign * (sign_was * old[was->face()] + 0.0);  // no -0 that the sum would not have
    kept.known[f.face] = kept.used[was->face()] = 1;
  });
}

/// Copies the fluxes between two volumes that are the same, where they are not known. All others are shared and added
/// up. Collective.
void copy_same(const GridChange& change, std::span<const double> old, std::span<double> now, Kept& kept) {
  const ScalarGrid &from = change.from, &to = change.to;
  std::array<std::vector<std::int32_t>, 3> below;  // old plain volumes: across their low sides
  for (std::vector<std::int32_t>& b : below) b.assign(from.n_own, -1);
  parallel_for(std::ssize(from.plain), [&](std::int64_t i) {
    const PlainVolumes& p = from.plain[i];
    for (std::size_t d = 0; d < 3; ++d)
      for (std::int32_t t = 0; t < p.count; ++t) below[d][p.first + t] = p.beyond[2 * d] + t;
  });
  const std::vector<std::uint8_t> same = same_volumes(change);
  parallel_for(std::ssize(to.plain), [&](std::int64_t i) {
    const PlainVolumes& p = to.plain[i];
    for (std::int32_t t = 0; t < p.count; ++t)
      for (std::size_t d = 0; d < 3; ++d) {
        const std::int32_t right = p.first + t, left = p.beyond[2 * d] + t;
        if (left >= to.n_own || same[right] == 0 || same[left] == 0) continue;
        const std::int32_t k = change.source[right];
        if (below[d][k] != change.source[left]) continue;
        const std::size_t face = d * to.n_all + right, of_old = d * from.n_all + k;
        if (kept.known[face] != 0) continue;
        now[face] = old[of_old];
        kept.known[face] = kept.used[of_old] = 1;
      }
  });
  copy_listed(change, same, old, now, kept);
}

/// Sources of the new volumes with a face whose flux is not known. Collective.
SourceMarks sources_at(GridChange& change, std::span<const std::uint8_t> known) {
  std::vector<std::uint8_t> lacks(change.to.n_own, 0);
  for_each_volume(change.to, [&](std::int32_t v, auto&& faces) {
    bool all = true;
    faces([&](std::int32_t face, std::int32_t, double) { all = all && known[face] != 0; });
    lacks[v] = all ? 0 : 1;
  });
  SourceMarks marks(change);
  for (std::int32_t v = 0; v < change.to.n_own; ++v)
    if (lacks[v] != 0) marks.add(change.id[v]);
  marks.finish();
  return marks;
}

/// Volumes of the old grid whose velocities values_on_other_grid() reads for the marked sources: they themselves, those
/// beside them, and those that give to others.
std::vector<std::uint8_t> read_for(const GridChange& change, const SourceMarks& marks) {
  const ScalarGrid& grid = change.from;
  const int rank = grid.composite->comm().rank();
  std::vector<RemoteItem> selves(grid.n_own);
  for (std::int32_t v = 0; v < grid.n_own; ++v) selves[v] = {rank, v};
  const std::vector<std::uint8_t> marked = marks.of_volumes(selves);
  std::vector<std::uint8_t> read(grid.n_own, 0);
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    bool any = marked[v] != 0;
    faces([&](std::int32_t, std::int32_t other, double) { any = any || (other < grid.n_all && marked[other] != 0); });
    const auto gives_to = [&](const RemoteItem& s) { return s.rank != rank || marks.has(s.number); };
    any = any || std::ranges::any_of(change.ancestors_of(v), gives_to) || gives_to(change.heir[v]);
    read[v] = any ? 1 : 0;
  });
  return read;
}

/// g (u_left + u_right) / 2 (x_right - x_left) of a face of the new grid, in its direction; on domain faces from the
/// centroid to them.
class Estimate {
 public:
  /// @param u  [direction][values], those of other ranks filled
  Estimate(ScalarGrid& grid, std::array<std::vector<double>, 3> u)
      : grid_(grid), u_(std::move(u)), beyond_(grid.n_all - grid.n_own) {
    for (std::vector<double>& component : u_) {
      component.resize(grid.n_values);
      fetch_remote(grid, component);
    }
    ListExchange& exchange = grid.remote.exchange();
    exchange.begin(std::span(beyond_), [&](std::size_t i) { return grid.centroid[exchange.sent()[i]]; });
    exchange.finish();
  }
  double operator()(const FaceBetween& f) const {
    const bool end = f.right >= grid_.n_all;
    const Vec3 to = end ? grid_.boundary[f.right - grid_.n_all].at : at(f.right);
    const Vec3 way = way_between(grid_.composite->graph(0).layout().domain(), at(f.left), to);
    const std::vector<double>& u = u_[f.direction];
    return f.openness * (end ? u[f.left] : 0.5 * (u[f.left] + u[f.right])) * way[f.direction];
  }

 private:
  Vec3 at(std::int32_t v) const { return v < grid_.n_own ? grid_.centroid[v] : beyond_[v - grid_.n_own]; }

  const ScalarGrid& grid_;
  std::array<std::vector<double>, 3> u_;
  std::vector<Vec3> beyond_;  // centroids of the volumes of other ranks
};

}  // namespace

Velocities velocities(const ScalarGrid& grid, std::span<const double> flux, std::span<const std::uint8_t> wanted) {
  Velocities u;
  for (std::vector<double>& component : u) component.assign(grid.n_own, 0.0);
  const Domain& domain = grid.composite->graph(0).layout().domain();
  // Each thread adds for volumes of its own, in the order of the faces.
  parallel_for(n_threads(), [&, threads = n_threads()](std::int64_t thread) {
    const auto low = static_cast<std::int32_t>(std::int64_t{grid.n_own} * thread / threads),
               high = static_cast<std::int32_t>(std::int64_t{grid.n_own} * (thread + 1) / threads);
    const auto is_mine = [&](std::int32_t v) { return v >= low && v < high && (wanted.empty() || wanted[v] != 0); };
    const auto is_near = [&](std::int32_t first, std::int32_t n) { return first < high && first + n > low; };
    const auto add = [&](std::int32_t v, const Vec3& to_face, double out) {
      for (std::size_t d = 0; d < 3; ++d) u[d][v] += out * to_face[static_cast<int>(d)] / grid.volume[v];
    };
    for (const PlainVolumes& p : grid.plain)
      for (int d = 0; d < 3; ++d) {
        if (!is_near(p.first, p.count) && !is_near(p.beyond[2 * d], p.count)) continue;
        Vec3 half;
        half[d] = 0.5 * ScalarGrid::width(p.level);
        for (std::int32_t t = 0; t < p.count; ++t) {
          const std::int32_t right = p.first + t, left = p.beyond[2 * d] + t;
          const double f = flux[d * grid.n_all + right];
          if (is_mine(right)) add(right, -half, -f);
          if (is_mine(left)) add(left, way_between(domain, grid.centroid[left], grid.centroid[right] - half), f);
        }
      }
    for (std::size_t i = 0; i < grid.listed.size(); ++i) {
      const ScalarFace& f = grid.listed[i];
      if (is_mine(f.left)) add(f.left, grid.offsets[i].from_left, flux[f.face]);
      if (is_mine(f.right)) add(f.right, grid.offsets[i].from_right, -flux[f.face]);
    }
  });
  return u;
}

FaceField fluxes_on_other_grid(GridChange& change, FaceField& flow, const FluxesBefore* before) {
  const Timer timer("fluxes on the other grid");
  std::vector<double> old(change.from.n_faces);
  list_fluxes(change.from, flow, old);
  std::vector<double> now(change.to.n_faces, 0.0);
  const std::vector<RemoteItem> coarsest = coarsest_sources(change);
  Kept kept{std::vector<std::uint8_t>(change.to.n_faces, 0), std::vector<std::uint8_t>(change.from.n_faces, 0)};
  if (before != nullptr) kept.known = copy_fluxes(change, coarsest, *before, now);
  copy_same(change, old, now, kept);
  // What is left, and all that flows between the sources there.
  const SourceMarks marks = sources_at(change, kept.known);
  const std::vector<std::uint8_t> marked = marks.of_volumes(coarsest);
  Sums sums(change.from.composite->comm());
  using Faces = std::vector<FaceBetween>;
  std::vector<Faces> lists = for_faces<Faces>(
      change.from, sources_of_values(change.from, coarsest),
      [&](std::int32_t face, std::int32_t left, std::int32_t right) {
        return kept.used[face] == 0 && marked[left] != 0 && marked[right] != 0;
      },
      [&](const FaceBetween& f, Faces& all) {
        if (f.mine && f.left_source != f.right_source) all.push_back(f);
      });
  for (Faces& faces : lists)
    for (const FaceBetween& f : std::exchange(faces, {})) sums.add(f.pair(), {.old = f.sign() * old[f.face]});
  std::array<std::vector<double>, 3> u = velocities(change.from, old, read_for(change, marks));
  for (std::vector<double>& component : u) component = values_on_other_grid(change, component, &marks);
  const Estimate estimate(change.to, std::move(u));
  FacesOfRanks between;
  lists = for_faces<Faces>(
      change.to, sources_of_values(change.to, change.id),
      [&](std::int32_t face, std::int32_t, std::int32_t) { return kept.known[face] == 0; },
      [&](const FaceBetween& f, Faces& all) {
        now[f.face] = estimate(f);
        if (f.left_source != f.right_source && f.openness != 0.0) all.push_back(f);
      });
  for (Faces& faces : lists)
    for (const FaceBetween& f : std::exchange(faces, {})) {
      between[rank_of(f.pair().high)].push_back(f);
      if (f.mine) sums.add(f.pair(), {.estimate = f.sign() * now[f.face], .openness = f.openness, .faces = 1});
    }
  sums.finish();
  sums.ask(between, [&](const FaceBetween& f, const Between& all) {
    const bool closed = f.pair().low < 0 && all.old == 0.0;
    if (all.faces == 1 || closed)
      now[f.face] = f.sign() * all.old;
    else
      now[f.face] += f.openness / all.openness * f.sign() * (all.old - all.estimate);
  });
  FaceField moved(change.to.composite);
  store_fluxes(change.to, now, moved);
  return moved;
}

}  // namespace karst
