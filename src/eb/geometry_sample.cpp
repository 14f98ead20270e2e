// SPDX-License-Identifier: BSD-3-Clause
#include "eb/geometry_sample.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "base/comm/parallel.hpp"
#include "eb/cut/cut_box.hpp"
#include "eb/cut/throats.hpp"
#include "eb/link/level_builder.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

namespace {

constexpr int cut_width = 16;         ///< cells of the part of a box that is cut
constexpr int few = 2048;             ///< boxes of a level at most where octants are asked for refinement
constexpr std::int64_t many = 65536;  ///< boxes in refined regions that are listed

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// splitmix64: S. Vigna's form of the generator of Steele, Lea & Flood, OOPSLA 2014. The same on every machine.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}
  /// 0 .. n - 1
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (auto i = std::ssize(all) - 1; i > 0; --i) std::swap(all[i], all[below(i + 1)]);
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// A place of the lattice of a level that stands for so many.
struct Place {
  Index at;
  double weight;
  bool listed = false;  ///< in a refined region of the deck, which chance alone might miss
};

double weight_of(std::span<const Place> places) {
  double sum = 0.0;
  for (const Place& p : places) sum += p.weight;
  return sum;
}

/// So many of the listed places and as many of the others, at random, which then stand for all of their kind. In any
/// order.
void thin_out(std::vector<Place>& places, int most, RandomNumbers& random) {
  std::vector<Place> kept;
  for (const bool listed : {false, true}) {
    std::vector<Place> kind;
    std::ranges::copy_if(places, std::back_inserter(kind), [&](const Place& p) { return p.listed == listed; });
    random.shuffle(kind);
    const double all = weight_of(kind);
    kind.resize(std::min<std::size_t>(kind.size(), most));
    const double factor = kind.empty() ? 1.0 : all / weight_of(kind);
    for (Place& p : kind) p.weight *= factor;
    kept.insert(kept.end(), kind.begin(), kind.end());
  }
  random.shuffle(kept);
  places = std::move(kept);
}

/// One place from each of about n parts of the lattice; every place where there are no more than n.
std::vector<Place> draw(const Index& size, int n, RandomNumbers& random) {
  const double all = static_cast<double>(size[0]) * size[1] * size[2];
  Index parts = size;
  if (all > n) {
    double width = std::cbrt(all / n);  // thin directions are not divided: the others have more parts
    for (int round = 0; round < 3; ++round) {
      double others = all / n;
      int free = 0;
      for (int d = 0; d < 3; ++d) size[d] <= width ? others /= size[d] : ++free;
      if (free > 0) width = std::pow(others, 1.0 / free);
    }
    for (int d = 0; d < 3; ++d) parts[d] = std::clamp(static_cast<int>(size[d] / width), 1, size[d]);
  }
  std::vector<Place> places;
  for_each_cell(Box{Index{}, parts}, [&](const Index& part) {
    Place place{{}, 1.0};
    for (int d = 0; d < 3; ++d) {
      const std::int64_t low = std::int64_t{size[d]} * part[d] / parts[d],
                         high = std::int64_t{size[d]} * (part[d] + 1) / parts[d];
      place.at[d] = static_cast<int>(low + random.below(high - low));
      place.weight *= static_cast<double>(high - low);
    }
    places.push_back(place);
  });
  return places;
}

/// Places of level 0 that refined regions of the deck may touch, which are small against the domain or not listed.
std::vector<Place> places_of_regions(const GridOptions& grid) {
  const Index size = lattice_size(grid.domain(), grid.box);
  std::set<std::tuple<int, int, int>> found;
  for (const Refinement& r : grid.refine) {
    if (r.where != Refinement::Where::region) continue;
    const Box cells = region_cells(grid, r, 0).grown(r.buffer + grid.box);
    Box places;
    for (int d = 0; d < 3; ++d) {
      places.lo[d] = std::clamp(cells.lo[d], 0, grid.cells[d] - 1) / grid.box;
      places.hi[d] = std::min(size[d], std::clamp(cells.hi[d], 0, grid.cells[d] - 1) / grid.box + 1);
    }
    if (places.count() > many) return {};
    for_each_cell(places, [&](const Index& p) { found.emplace(p[2], p[1], p[0]); });
  }
  std::vector<Place> all;
  for (const auto& [z, y, x] : found) all.push_back({{x, y, z}, 1.0, true});
  return all;
}

/// What a look at a box gave.
struct Look {
  Box cells;
  double weight = 0.0;
  bool listed = false;  ///< as its place
  BoxContent content;
  std::uint8_t refined = 0;  ///< octants
  double seconds = 0.0;      ///< of the look, where φ was at hand
};

/// What cutting a part of a box gave, for the whole box.
struct Counts {
  double fluid = 0, irregular = 0, cut = 0, volume = 0, wall_area = 0;
  double cut_cells = 0, seconds = 0.0;  ///< of the part itself
};

bool same_place(const Index& a, const Index& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/// Cells of a cut box as VoFs. A piece without its cell centre joins a neighbour with one (eb/link/home_cells.hpp),
/// which then is irregular; neighbours in other boxes are taken to be regular no more than those inside.
Counts count(const BoxPieces& cut) {
  const std::size_t n = cut.cells.count();
  std::vector<std::uint8_t> has_center(n, 0), joined(n, 0);
  Counts counts;
  for (std::size_t c = 0; c < n; ++c) has_center[c] = cut.kind[c] == CellKind::regular ? 1 : 0;
  for (const Piece& p : cut.pieces)
    if (p.holds_center) has_center[p.cell] = 1;
  counts.fluid = counts.volume = static_cast<double>(cut.counts.cells_regular);
  counts.cut = counts.cut_cells = static_cast<double>(cut.counts.cells_cut);
  for (const Piece& p : cut.pieces) {
    counts.volume += p.kappa;
    counts.wall_area += p.wall_area;
    double widest = 0.0;
    std::int64_t home = -1;
    bool found = p.holds_center;
    for (std::uint32_t f = p.first_face; f < p.first_face + p.n_faces && !p.holds_center; ++f) {
      const FacePiece& face = cut.faces[f];
      const Index beside = cut.cells.cell(p.cell) + side_offset(face.side);
      const bool outside = !cut.cells.contains(beside);
      found = found || outside;
      if (outside || face.aperture <= widest) continue;
      const std::int64_t cell = cut.cells.offset(beside);
      if (has_center[cell] == 0) continue;
      widest = face.aperture;
      home = cell;
      found = true;
    }
    if (home >= 0) joined[home] = 1;
    if (p.holds_center || !found) counts.fluid += 1.0, counts.irregular += 1.0;
  }
  for (std::size_t c = 0; c < n; ++c)
    if (cut.kind[c] == CellKind::regular && joined[c] != 0) counts.irregular += 1.0;
  return counts;
}

/// Drawing, looking and cutting on one level.
class LevelSampler {
 public:
  LevelSampler(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, int level)
      : comm_(comm), grid_(grid), level_set_(level_set), level_(level) {}

  /// @param places  in the order in which they are looked at; the time may end it
  std::vector<Look> look(std::span<const Place> places, double seconds) const;
  /// @param mixed  boxes that hold a wall; of the first `n`, in order
  std::vector<Counts> cut(std::span<const Look> mixed, std::int64_t n, double seconds) const;

 private:
  Box box(const Index& at) const {
    const Index lo = at * grid_.box;
    return intersect({lo, lo + Index::all(grid_.box)}, domain_on_level(grid_.domain(), level_).box());
  }
  std::unique_ptr<LocalLevelSet> local(const Box& cells) const { return local_level_set(level_set_, cells, level_); }
  bool in_region(int level, const Index& finer_place) const;
  Look look_at(const Place& place) const;
  Counts cut_part(const Look& look) const;
  /// work(i) for i < n, in batches that all ranks share, until the time is over; results of all ranks in order.
  template <class T, class F>
  std::vector<T> in_batches(std::int64_t n, double seconds, F&& work) const;

  const Comm& comm_;
  const GridOptions& grid_;
  const LevelSet& level_set_;
  int level_;
};

template <class T, class F>
std::vector<T> LevelSampler::in_batches(std::int64_t n, double seconds, F&& work) const {
  const Clock::time_point start = Clock::now();
  const std::int64_t each = std::max(16, 4 * n_threads()), batch = each * comm_.size();
  std::vector<T> all;
  for (std::int64_t first = 0; first < n && comm_.max(since(start)) <= seconds; first += batch) {
    const std::int64_t begin = std::min(n, first + comm_.rank() * each), end = std::min(n, begin + each);
    std::vector<T> mine(end - begin);
    parallel_for_dynamic(end - begin, [&](std::int64_t i) { mine[i] = work(begin + i); });
    level_set_.drop_cache();  // of an image, which may be larger than the memory
    const std::vector<T> of_all = comm_.all_gather<T>(mine);
    all.insert(all.end(), of_all.begin(), of_all.end());
  }
  return all;
}

/// The octant of a box of `level`, or a box that nests its neighbours, is wanted on the next.
bool LevelSampler::in_region(int level, const Index& finer_place) const {
  const int half = grid_.box / 2;
  const Box domain = domain_on_level(grid_.domain(), level).box();
  const Box octant = intersect({half * finer_place, half * (finer_place + Index::all(1))}, domain);
  if (octant.empty()) return false;
  const auto holds_wall = [&](int l, const Box& cells) {
    return classify(*local_level_set(level_set_, cells, l), level_set_.smoothness(), cells, l).kind ==
           BoxContent::Kind::mixed;
  };
  const auto holds_throat = [&](const Refinement& r, int l, const Box& cells) {
    const Box wanted = cells.grown(r.buffer);
    const Domain on_level = domain_on_level(grid_.domain(), l);
    Box near = wanted.grown(r.cells);  // rays begin inside of the domain; its images along periodic sides count, too
    for (int d = 0; d < 3; ++d)
      if (!on_level.periodic[d]) {
        near.lo[d] = std::max(near.lo[d], 0);
        near.hi[d] = std::min(near.hi[d], on_level.cells[d]);
      }
    bool meets = false;
    for_each_throat_cell(level_set_, on_level, l, r.cells, near,
                         [&](const Index& cell) { meets = meets || wanted.contains(cell); });
    return meets;
  };
  if (is_refined(grid_, level, octant, holds_wall, holds_throat)) return true;
  const int deeper = grid_.levels - 2 - level;
  if (deeper <= 0) return false;
  // Where the level after next is refined, an octant of the next one stands around it, half as wide as one of this; the
  // level after that asks for a quarter more, and so on. One look at what all of them may reach.
  const int reach = grid_.box - (grid_.box >> std::min(deeper, 30));  // cells of the next level
  return is_refined(grid_, level + 1, Box{2 * octant.lo, 2 * octant.hi}.grown(reach), holds_wall, holds_throat);
}

Look LevelSampler::look_at(const Place& place) const {
  Look look;
  look.cells = box(place.at);
  look.weight = place.weight;
  look.listed = place.listed;
  static_cast<void>(local(look.cells));  // reads the image
  const Clock::time_point start = Clock::now();
  look.content = classify(*local(look.cells), level_set_.smoothness(), look.cells, level_);
  look.seconds = since(start);
  const bool exists = level_ > 0 || look.content.kind != BoxContent::Kind::no_fluid;
  for (int o = 0; o < 8 && exists && level_ + 1 < grid_.levels; ++o)
    if (in_region(level_, 2 * place.at + Index{o & 1, o >> 1 & 1, o >> 2}))
      look.refined |= static_cast<std::uint8_t>(1 << o);
  return look;
}

Counts LevelSampler::cut_part(const Look& look) const {
  Box part = look.cells;
  const Index corner = look.cells.lo;
  RandomNumbers random(static_cast<std::uint64_t>(corner[0] + 3 * (corner[1] + 5 * std::int64_t{corner[2]})));
  for (int d = 0; d < 3; ++d) {
    if (part.size(d) <= cut_width) continue;
    if (random.below(part.size(d)) < cut_width)
      part.hi[d] = part.lo[d] + cut_width;
    else
      part.lo[d] += cut_width;
  }
  static_cast<void>(local(part));
  const Clock::time_point start = Clock::now();
  const BoxPieces pieces =
      cut_box(*local(part), level_set_.smoothness(), part, level_, {}, static_cast<int>(level_set_.minerals().size()));
  const double seconds = since(start);
  Counts counts = count(pieces);
  counts.seconds = seconds;
  const double whole = static_cast<double>(look.cells.count()) / static_cast<double>(part.count());
  for (double Counts::*c : {&Counts::fluid, &Counts::irregular, &Counts::cut, &Counts::volume, &Counts::wall_area})
    counts.*c *= whole;
  return counts;
}

std::vector<Look> LevelSampler::look(std::span<const Place> places, double seconds) const {
  return in_batches<Look>(std::ssize(places), seconds, [&](std::int64_t i) { return look_at(places[i]); });
}

std::vector<Counts> LevelSampler::cut(std::span<const Look> mixed, std::int64_t n, double seconds) const {
  return in_batches<Counts>(n, seconds, [&](std::int64_t i) { return cut_part(mixed[i]); });
}

/// Sums over the boxes with a wall of a count x that the cut ones tell, by its ratio to what classify() expected, y.
struct Ratio {
  double of_cut = 0.0, expected_of_cut = 0.0, expected = 0.0;
  double value() const { return expected_of_cut > 0.0 ? of_cut / expected_of_cut : 0.0; }
  double total() const { return value() * expected; }
};

/// Σ over all of a level from its looks and cuts.
/// @param mixed  the looks at boxes with a wall, the first of them cut
/// @param all    the looks are all boxes of the level
LevelEstimate totals(std::span<const Look> looks, std::span<const Look> mixed, std::span<const Counts> cuts, bool all) {
  const auto ratio = [&](double Counts::*count, double BoxContent::*expected) {
    Ratio r;
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      const double w = mixed[i].weight, y = mixed[i].content.*expected;
      r.expected += w * y;
      if (i >= cuts.size()) continue;
      r.expected_of_cut += w * y;
      r.of_cut += w * cuts[i].*count;
    }
    return r;
  };
  LevelEstimate e;
  const Ratio fluid = ratio(&Counts::fluid, &BoxContent::fluid_cells);
  const Ratio volume = ratio(&Counts::volume, &BoxContent::fluid_cells);
  e.irregular = ratio(&Counts::irregular, &BoxContent::cut_cells).total();
  e.cut = ratio(&Counts::cut, &BoxContent::cut_cells).total();
  e.wall_area = ratio(&Counts::wall_area, &BoxContent::cut_cells).total();
  e.fluid = fluid.total();
  e.volume = volume.total();
  double squares = 0.0;
  for (const Look& l : looks) {
    e.candidates += l.weight;
    if (l.content.kind == BoxContent::Kind::no_fluid) continue;
    const auto cells = static_cast<double>(l.cells.count());
    e.boxes += l.weight;
    e.cells += l.weight * cells;
    const bool whole = l.content.kind == BoxContent::Kind::all_fluid;
    if (whole) e.fluid += l.weight * cells, e.volume += l.weight * cells;
    squares += std::pow(l.weight * (whole ? cells : volume.value() * l.content.fluid_cells), 2);
  }
  // Cochran 1977, (12.2): the variance of the first sample, and of the second about its ratio.
  const auto n = static_cast<double>(looks.size());
  const double first = all ? 0.0 : std::max(0.0, squares - e.volume * e.volume / n);
  const auto error = [&](const Ratio& r, double Counts::*count) {
    double residual = 0.0;
    for (std::size_t i = 0; i < cuts.size(); ++i)
      residual += std::pow(mixed[i].weight * (cuts[i].*count - r.value() * mixed[i].content.fluid_cells), 2);
    const auto m = static_cast<double>(mixed.size()), k = static_cast<double>(std::max<std::size_t>(1, cuts.size()));
    const double second = mixed.size() == cuts.size() ? 0.0 : residual * (m / k) * (m / k) * (1.0 - k / m);
    return std::sqrt(first + second);
  };
  e.fluid_error = error(fluid, &Counts::fluid);
  e.volume_error = error(volume, &Counts::volume);
  return e;
}

std::vector<Place> places_on_level_0(const GridOptions& grid, int n, RandomNumbers& random) {
  const Index size = lattice_size(grid.domain(), grid.box);
  std::vector<Place> places = draw(size, n, random);
  if (std::ssize(places) < std::int64_t{size[0]} * size[1] * size[2]) {
    std::vector<Place> regions = places_of_regions(grid);
    std::erase_if(places, [&](const Place& p) {
      return std::ranges::any_of(regions, [&](const Place& r) { return same_place(r.at, p.at); });
    });
    thin_out(regions, n, random);
    places.insert(places.end(), regions.begin(), regions.end());
  }
  random.shuffle(places);
  return places;
}

}  // namespace

double GeometrySample::sum(double LevelEstimate::*count) const {
  double total = 0.0;
  for (const LevelEstimate& level : levels) total += level.*count;
  return total;
}

GeometrySample sample_geometry(const Comm& comm, const GridOptions& grid, const LevelSet& level_set,
                               const SampleSize& size) {
  RandomNumbers random(1);
  const int most = grid.levels > 1 ? std::min(few, size.classified) : size.classified;
  std::vector<Place> places = places_on_level_0(grid, most, random);
  const Index lattice = lattice_size(grid.domain(), grid.box);
  bool all = std::ssize(places) == std::int64_t{lattice[0]} * lattice[1] * lattice[2];
  GeometrySample sample;
  double seconds_of_looks = 0.0, seconds_of_cuts = 0.0, cut_cells = 0.0;
  for (int level = 0; level < grid.levels && !places.empty(); ++level) {
    const LevelSampler sampler(comm, grid, level_set, level);
    std::vector<Look> looks = sampler.look(places, size.classify_seconds);
    all = all && looks.size() == places.size();
    const double factor = weight_of(places) / weight_of(std::span(places).first(looks.size()));
    std::vector<Look> mixed;
    places.clear();
    for (Look& l : looks) {
      l.weight *= factor;
      seconds_of_looks += l.seconds;
      if (l.content.kind == BoxContent::Kind::mixed) mixed.push_back(l);
      for (unsigned o = 0; o < 8; ++o)
        if ((l.refined >> o & 1U) != 0) {
          Index at;
          for (int d = 0; d < 3; ++d) at[d] = 2 * (l.cells.lo[d] / grid.box) + static_cast<int>(o >> d & 1U);
          places.push_back({at, l.weight, l.listed});
        }
    }
    const int smaller =
        std::min(4, cut_width / std::min(cut_width, grid.box) * (cut_width / std::min(cut_width, grid.box)));
    const std::int64_t n_cut = std::min<std::int64_t>(std::ssize(mixed), std::int64_t{size.cut} * smaller);
    const std::vector<Counts> cuts = sampler.cut(mixed, n_cut, size.cut_seconds);
    for (const Counts& c : cuts) seconds_of_cuts += c.seconds, cut_cells += c.cut_cells;
    sample.classified += static_cast<double>(looks.size());
    sample.cut += static_cast<double>(cuts.size());
    sample.levels.push_back(totals(looks, mixed, cuts, all));
    const auto before = std::ssize(places);
    thin_out(places, most, random);
    all = all && std::ssize(places) == before;
  }
  sample.seconds_per_box = sample.classified > 0 ? seconds_of_looks / sample.classified : 0.0;
  sample.seconds_per_cut_cell = cut_cells > 0 ? seconds_of_cuts / cut_cells : 0.0;
  return sample;
}

}  // namespace karst
