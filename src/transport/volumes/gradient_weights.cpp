// SPDX-License-Identifier: BSD-3-Clause
#include "transport/volumes/gradient_weights.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "eb/link/least_squares.hpp"

namespace karst {
namespace {

constexpr double least_gradient = 0.2;         ///< eigenvalue of a resolved direction: 2 in whole cells
constexpr std::int64_t volumes_at_once = 256;  ///< of a thread

/// Index in grid.listed per face; set where a face is listed.
Array<std::int32_t> places_in_list(const ScalarGrid& grid) {
  Array<std::int32_t> place(grid.n_faces, Purpose::buffers);
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes& p = grid.plain[i];
    for (std::int32_t d = 0; d < 3; ++d) std::fill_n(place.begin() + d * grid.n_all + p.first, p.count, -1);
  });
  parallel_for(std::ssize(grid.listed),
               [&](std::int64_t k) { place[grid.listed[k].face] = static_cast<std::int32_t>(k); });
  return place;
}

/// Weights of the gradient of one volume after another.
class Gradients {
 public:
  Gradients(const ScalarGrid& grid, std::span<const std::int32_t> place) : grid_(grid), place_(place) {
    const Domain& domain = grid.composite->graph(0).layout().domain();
    for (int d = 0; d < 3; ++d) wanted_ += domain.periodic[d] && domain.cells[d] == 1 ? 0 : 1;
  }

  /// Those of a special volume, by its place among them. Isolated fragments take part only where a direction hangs on
  /// them. Returns whether all directions that the domain has are resolved.
  bool fit(std::int64_t special, const GivenSides& given, std::span<Vec3> weights) {
    const bool fragments = choose(special, given, Fragments::with);
    GradientFit best = fit_chosen();
    if (fragments) {
      choose(special, given, Fragments::without);
      if (GradientFit without = fit_chosen(); without.resolved == best.resolved)
        best = std::move(without);
      else
        choose(special, given, Fragments::with);
    }
    for (std::int64_t k = grid_.special_begin[special]; k < grid_.special_begin[special + 1]; ++k) weights[k] = {};
    for (std::size_t k = 0; k < of_.size(); ++k) weights[of_[k]] = best.weight[k];
    return best.resolved >= wanted_;
  }

 private:
  enum class Fragments { with, without };

  /// From the centroid of the volume to that of the other one, or of the face on an end [h0]; 0: no part in the
  /// gradient.
  Vec3 towards(const VolumeFace& f, std::int32_t volume) const {
    const std::int32_t listed = place_[f.face()];
    if (listed < 0) {  // the low face of a plain volume
      const auto level = std::ranges::upper_bound(grid_.level_begin, volume) - grid_.level_begin.begin() - 1;
      Vec3 way;
      way[f.face() / grid_.n_all] = ScalarGrid::width(static_cast<int>(level));
      return way;
    }
    const FaceOffsets& at = grid_.offsets[listed];
    if (f.other() >= grid_.n_all) return at.from_left;
    return f.outward() > 0.0 ? at.from_left - at.from_right : at.from_right - at.from_left;
  }
  /// Returns whether there are fragments among the volumes across the faces.
  bool choose(std::int64_t special, const GivenSides& given, Fragments which) {
    points_.clear();
    of_.clear();
    bool any = false;
    for (std::int64_t k = grid_.special_begin[special]; k < grid_.special_begin[special + 1]; ++k) {
      const VolumeFace& face = grid_.volume_faces[k];
      const Vec3 way = towards(face, grid_.special[special]);
      if (way == Vec3{}) continue;
      const std::int32_t o = face.other();
      if (o >= grid_.n_all && !given[grid_.boundary[o - grid_.n_all].side]) continue;
      const bool fragment = o < grid_.n_all && grid_.fragment[o] != 0;
      any = any || fragment;
      if (which == Fragments::without && fragment) continue;
      points_.push_back(way);
      of_.push_back(k);
    }
    return any;
  }
  GradientFit fit_chosen() const { return points_.empty() ? GradientFit{} : fit_gradient(points_, least_gradient); }

  const ScalarGrid& grid_;
  std::span<const std::int32_t> place_;
  int wanted_ = 0;  ///< directions
  std::vector<Vec3> points_;
  std::vector<std::int64_t> of_;  ///< their faces
};

/// Whether a special volume has a face on a side of the domain that has values in one of the two alone.
bool differs(const ScalarGrid& grid, std::int64_t special, const GivenSides& a, const GivenSides& b) {
  for (std::int64_t k = grid.special_begin[special]; k < grid.special_begin[special + 1]; ++k) {
    const std::int32_t o = grid.volume_faces[k].other();
    if (o < grid.n_all) continue;
    if (const std::int32_t side = grid.boundary[o - grid.n_all].side; a[side] != b[side]) return true;
  }
  return false;
}

/// The special volumes of [begin, end), by their places among all of them.
std::pair<std::int64_t, std::int64_t> special_of(const ScalarGrid& grid, std::int32_t begin, std::int32_t end) {
  const std::span<const std::int32_t> all = grid.special.span();
  return {std::ranges::lower_bound(all, begin) - all.begin(), std::ranges::lower_bound(all, end) - all.begin()};
}

/// A box near a change.
struct BoxNearChange {
  SameBoxes::Box was;
  std::int32_t first_volume;
  std::int64_t first, end;  ///< of its special volumes
};

/// At volumes around which all stays.
void copy_near_change(const WeightsBefore& before, const BoxNearChange& box, std::span<const Vec3> from,
                      const ScalarGrid& grid, std::span<Vec3> weights, std::span<std::uint8_t> done) {
  constexpr int faces_read = 2;  // which of the faces beside are listed depends on those behind them
  const ScalarGrid& was = *before.grid;
  auto [s_was, end_was] = special_of(was, box.was.begin, box.was.end);
  for (std::int64_t s = box.first; s < box.end; ++s) {
    const std::int32_t volume = grid.special[s], volume_was = box.was.begin + (volume - box.first_volume);
    if (before.same->stays[volume] < faces_read) continue;
    while (s_was < end_was && was.special[s_was] < volume_was) ++s_was;
    if (s_was == end_was || was.special[s_was] != volume_was) continue;
    std::copy(from.begin() + was.special_begin[s_was], from.begin() + was.special_begin[s_was + 1],
              weights.begin() + grid.special_begin[s]);
    done[s] = 1;
  }
}

/// In boxes that are the same. Returns per special volume whether its weights are there.
std::vector<std::uint8_t> copy_weights(const WeightsBefore& before, const GivenSides& given, const ScalarGrid& grid,
                                       std::span<Vec3> weights) {
  std::vector<std::uint8_t> done(grid.special.size(), 0);
  if (before.grid == nullptr) return done;
  const ScalarGrid& was = *before.grid;
  const std::span<const Vec3> from = gradient_weights(was, given);
  for (int l = 0; l < grid.composite->n_levels(); ++l)
    parallel_for_dynamic(grid.composite->graph(l).n_local(), [&](std::int64_t b) {
      const SameBoxes::Box &same = before.same->of(l, b), &partly = before.same->partly[l][b];
      if (same.box < 0 && partly.box < 0) return;
      const CompositeNumbering& numbers = grid.composite->numbering();
      const int box = static_cast<int>(b);
      const auto [first, end] = special_of(grid, numbers.box_begin(l, box), numbers.box_end(l, box));
      if (same.box < 0)
        return copy_near_change(before, {partly, numbers.box_begin(l, box), first, end}, from, grid, weights, done);
      const auto [first_was, end_was] = special_of(was, same.begin, same.end);
      assert(end - first == end_was - first_was && grid.special_begin[end] - grid.special_begin[first] ==
                                                       was.special_begin[end_was] - was.special_begin[first_was]);
      std::copy(from.begin() + was.special_begin[first_was], from.begin() + was.special_begin[end_was],
                weights.begin() + grid.special_begin[first]);
      std::fill(done.begin() + first, done.begin() + end, std::uint8_t{1});
    });
  return done;
}

}  // namespace

std::int64_t add_gradient_weights(const GivenSides& given, ScalarGrid& grid, const WeightsBefore& before) {
  const GradientWeights* const like = grid.gradients.empty() ? nullptr : &grid.gradients.front();
  const Array<std::int32_t> place = places_in_list(grid);
  GradientWeights made{given, Array<Vec3>(grid.volume_faces.size(), Purpose::connectivity)};
  const std::vector<std::uint8_t> done = copy_weights(before, given, grid, made.weight.span());
  const std::int64_t n = std::ssize(grid.special), parts = (n + volumes_at_once - 1) / volumes_at_once;
  std::vector<std::int64_t> unresolved(parts, 0);
  parallel_for_dynamic(parts, [&](std::int64_t part) {
    Gradients gradients(grid, place.span());
    for (std::int64_t s = part * volumes_at_once; s < std::min(n, (part + 1) * volumes_at_once); ++s) {
      if (done[s] != 0) continue;
      const std::int64_t begin = grid.special_begin[s], end = grid.special_begin[s + 1];
      if (like != nullptr && !differs(grid, s, like->given, given))
        std::copy(like->weight.begin() + begin, like->weight.begin() + end, made.weight.begin() + begin);
      else
        unresolved[part] += gradients.fit(s, given, made.weight.span()) ? 0 : 1;
    }
  });
  grid.gradients.push_back(std::move(made));
  std::int64_t sum = 0;
  for (const std::int64_t some : unresolved) sum += some;
  return sum;
}

void take_gradient_weights(const WeightsBefore& before, ScalarGrid& grid) {
  for (const GradientWeights& weights : before.grid->gradients)
    if (std::ranges::find(grid.gradients, weights.given, &GradientWeights::given) == grid.gradients.end())
      add_gradient_weights(weights.given, grid, before);
}

std::span<const Vec3> gradient_weights(const ScalarGrid& grid, const GivenSides& given) {
  const auto found = std::ranges::find(grid.gradients, given, &GradientWeights::given);
  assert(found != grid.gradients.end());
  return found->weight.span();
}

std::span<const Vec3> find_gradient_weights(ScalarGrid& grid, const GivenSides& given) {
  if (std::ranges::find(grid.gradients, given, &GradientWeights::given) == grid.gradients.end())
    add_gradient_weights(given, grid);
  return gradient_weights(grid, given);
}

}  // namespace karst
