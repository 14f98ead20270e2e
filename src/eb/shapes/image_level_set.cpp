// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/image_level_set.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/core/error.hpp"
#include "eb/shapes/voxel_minerals.hpp"

namespace karst {
namespace {

constexpr int brick = 32;  // voxels

int divided_down(int a, int n) { return (a >= 0 ? a : a - n + 1) / n; }

/// Of samples, or of voxels: number (i, j, k) is at origin + spacing (first + i, first + j, first + k).
struct Places {
  Index n;         ///< where the image repeats itself, of a period
  double spacing;  ///< in level-0 cells
  double first;
};

/// Trilinear interpolation in a block of samples.
class LocalImage final : public LocalLevelSet {
 public:
  LocalImage(const ImageSource& source, const Places& places, const Box& block, Array<float> samples,
             VoxelMinerals minerals)
      : block_(block),
        samples_(std::move(samples)),
        minerals_(std::move(minerals)),
        voxel_(source.voxel),
        shift_(source.shift),
        per_voxel_(1.0 / source.voxel),
        per_spacing_(1.0 / places.spacing),
        first_(places.first),
        origin_(source.origin),
        n_(places.n),
        periodic_(source.periodic) {
    for (int d = 0; d < 3; ++d) period_[d] = source.voxels[d] * source.voxel;
  }

  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    const PhiRange phi = range(lo, hi);
    return {phi.most > -certain_phi, phi.least < certain_phi, {}};
  }

  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    const std::int64_t row = block_.size(0), plane = row * block_.size(1);
    Place in_y{}, in_z{};
    for (std::size_t p = 0; p < x.size(); ++p) {
      if (p == 0 || x[p][1] != x[p - 1][1]) in_y = place(1, x[p][1]);  // the same along a row of nodes
      if (p == 0 || x[p][2] != x[p - 1][2]) in_z = place(2, x[p][2]);
      const Place in_x = place(0, x[p][0]);
      const float* s = samples_.data() + in_z.first * plane + in_y.first * row + in_x.first;
      const auto along_x = [&](const float* a) { return a[0] + in_x.fraction * (double{a[1]} - a[0]); };
      const auto across_y = [&](const float* a) {
        const double low = along_x(a), high = along_x(a + row);
        return low + in_y.fraction * (high - low);
      };
      const double low = across_y(s), high = across_y(s + plane);
      phi[p] = voxel_ * (low + in_z.fraction * (high - low) + shift_);
    }
  }
  /// That of the samples around the box: between them φ is a mean.
  PhiRange range(const Vec3& lo, const Vec3& hi) const override {
    Index first, last;
    for (int d = 0; d < 3; ++d) first[d] = place(d, lo[d]).first, last[d] = place(d, hi[d]).first + 1;
    float least = samples_[block_.offset(block_.lo + first)], most = least;
    for (int k = first[2]; k <= last[2]; ++k)
      for (int j = first[1]; j <= last[1]; ++j) {
        const float* row = samples_.data() + block_.offset(block_.lo + Index{0, j, k});
        for (int i = first[0]; i <= last[0]; ++i) least = std::min(least, row[i]), most = std::max(most, row[i]);
      }
    return {voxel_ * (double{least} + shift_), voxel_ * (double{most} + shift_)};
  }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override {
    return minerals_.only(in_voxels(lo), in_voxels(hi));
  }
  void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
    minerals_.add_nearest(in_voxels(x), area, areas);
  }

 private:
  Vec3 in_voxels(const Vec3& x) const { return per_voxel_ * (x - origin_); }
  struct Place {
    int first;        // sample of the block on the low side
    double fraction;  // of the way to the next one
  };
  /// A periodic coordinate is wrapped before anything is rounded, so both ends of the domain give the same bits.
  Place place(int d, double x) const {
    double y = x - origin_[d];
    int base = -block_.lo[d];
    if (periodic_[d] && (y < 0.0 || y >= period_[d])) {
      const double turns = std::floor(y / period_[d]);
      y -= turns * period_[d];
      base += static_cast<int>(turns) * n_[d];
    }
    const double u = y * per_spacing_ - first_;
    const int i = static_cast<int>(u + 1.0) - 1;  // u >= -1 after wrapping; below, the clamp decides
    const int inside = std::clamp(base + i, 0, block_.size(d) - 2);
    return {inside, std::clamp(u - (inside - base), 0.0, 1.0)};
  }

  Box block_;
  Array<float> samples_;
  VoxelMinerals minerals_;
  double voxel_, shift_, per_voxel_, per_spacing_, first_;
  Vec3 origin_, period_;
  Index n_;
  std::array<bool, 3> periodic_;
};

template <class T>
struct ImageBrick {
  Box places;
  Array<T> values;
};
/// By their place.
template <class T>
using ImageBricks = std::unordered_map<std::int64_t, std::shared_ptr<const ImageBrick<T>>>;

/// The brick at a place, read when it is not there.
/// @param[in,out] bytes  of all bricks
template <class T, class Read>
std::shared_ptr<const ImageBrick<T>> find_brick(const Index& n, const Index& place, const Read& read,
                                                ImageBricks<T>& bricks, std::int64_t& bytes) {
  const Index n_bricks{(n[0] - 1) / brick + 1, (n[1] - 1) / brick + 1, (n[2] - 1) / brick + 1};
  auto& stored = bricks[Box{Index{}, n_bricks}.offset(place)];
  if (stored) return stored;
  auto fresh = std::make_shared<ImageBrick<T>>();
  fresh->places = intersect({brick * place, brick * place + Index::all(brick)}, {Index{}, n});
  fresh->values = {static_cast<std::size_t>(fresh->places.count()), Purpose::geometry};
  read(fresh->places, fresh->values.span());
  bytes += static_cast<std::int64_t>(fresh->values.bytes());
  stored = std::move(fresh);
  return stored;
}

}  // namespace

struct ImageLevelSet::Lattice : Places {};

struct ImageLevelSet::Cache {
  std::mutex mutex;
  ImageBricks<float> samples;
  ImageBricks<MineralNumber> minerals;  ///< empty where there is one
  std::int64_t bytes = 0;

  /// A box of places that may reach outside the image (clamped or wrapped), x fastest.
  template <class T, class Read>
  void gather(const ImageSource& source, const Index& n, const Box& box, const Read& read, ImageBricks<T>& bricks,
              std::span<T> out);
};

ImageLevelSet::ImageLevelSet(ImageSource source) : source_(std::move(source)), cache_(std::make_unique<Cache>()) {
  require(Box{Index{}, source_.voxels}.count() > 0, "image: its size is {} x {} x {} voxels; all must be > 0",
          source_.voxels[0], source_.voxels[1], source_.voxels[2]);
  require(source_.voxel > 0.0 && std::isfinite(source_.voxel),
          "image: the voxel width is {} cells; it must be finite and > 0", source_.voxel);
  require(source_.nodes >= 0, "image: {} nodes per voxel; expected: 0 for samples at the centres, or more",
          source_.nodes);
  require(static_cast<bool>(source_.read), "image: no reader of samples was given");
  require(source_.minerals.size() == 1 || static_cast<bool>(source_.read_minerals),
          "image: no reader of its {} minerals was given", source_.minerals.size());
}

ImageLevelSet::~ImageLevelSet() = default;

ImageLevelSet::Lattice ImageLevelSet::voxel_lattice() const { return {{source_.voxels, source_.voxel, 0.5}}; }

ImageLevelSet::Lattice ImageLevelSet::sample_lattice() const {
  if (source_.nodes == 0) return voxel_lattice();
  Index n;
  for (int d = 0; d < 3; ++d) n[d] = source_.nodes * source_.voxels[d] + (source_.periodic[d] ? 0 : 1);
  return {{n, source_.voxel / source_.nodes, 0.0}};
}

Smoothness ImageLevelSet::smoothness() const {
  const bool at_nodes = source_.nodes > 0;
  const double spacing = sample_lattice().spacing;
  return {source_.lipschitz, at_nodes ? spacing : 0.5 * spacing, at_nodes, at_nodes};
}

Box ImageLevelSet::block_around(const Lattice& lattice, const Vec3& lo, const Vec3& hi, int margin) const {
  Box block;
  for (int d = 0; d < 3; ++d) {
    const double first = (lo[d] - source_.origin[d]) / lattice.spacing - lattice.first;
    const double last = (hi[d] - source_.origin[d]) / lattice.spacing - lattice.first;
    double least = std::floor(first - 1e-6), most = std::floor(last + 1e-6) + 1.0;
    if (!source_.periodic[d]) {  // outside, all is as on the border
      least = std::clamp(least, -1.0, static_cast<double>(lattice.n[d]));
      most = std::clamp(most, least + 1.0, lattice.n[d] + 1.0);
    }
    block.lo[d] = static_cast<int>(least) - margin;
    block.hi[d] = static_cast<int>(most) + 1 + margin;
  }
  return block;
}

std::unique_ptr<LocalLevelSet> ImageLevelSet::local(const Vec3& lo, const Vec3& hi) const {
  const Lattice lattice = sample_lattice();
  const Box block = block_around(lattice, lo, hi, 0);
  Array<float> samples(block.count(), Purpose::geometry);
  const auto read = [&](const Box& box, std::span<float> out) {
    source_.read(box, out);
    const auto bad = std::ranges::find_if_not(out, [](float phi) { return std::isfinite(phi); });
    if (bad == out.end()) return;
    const Index v = box.cell(bad - out.begin());
    throw Error(
        fmt::format("image: the level set of {} ({}, {}, {}) is {}; samples must be finite; import the image again",
                    source_.nodes > 0 ? "node" : "voxel", v[0], v[1], v[2], *bad));
  };
  cache_->gather(source_, lattice.n, block, read, cache_->samples, samples.span());
  VoxelMinerals minerals;
  if (source_.minerals.size() > 1) {
    const Lattice voxels = voxel_lattice();
    const Box around = block_around(voxels, lo, hi, VoxelMinerals::reach);
    Array<MineralNumber> numbers(around.count(), Purpose::geometry);
    cache_->gather(source_, voxels.n, around, source_.read_minerals, cache_->minerals, numbers.span());
    minerals = VoxelMinerals(around, std::move(numbers));
  }
  return std::make_unique<LocalImage>(source_, lattice, block, std::move(samples), std::move(minerals));
}

template <class T, class Read>
void ImageLevelSet::Cache::gather(const ImageSource& source, const Index& n, const Box& box, const Read& read,
                                  ImageBricks<T>& bricks, std::span<T> out) {
  // Per direction and position of the box: the value shown there, and which of the bricks in `places` holds it.
  std::array<std::vector<int>, 3> shown, slot, places;
  for (int d = 0; d < 3; ++d) {
    for (int i = box.lo[d]; i < box.hi[d]; ++i) {
      shown[d].push_back(source.periodic[d] ? i - divided_down(i, n[d]) * n[d] : std::clamp(i, 0, n[d] - 1));
      const int place = shown[d].back() / brick;
      if (places[d].empty() || places[d].back() != place) places[d].push_back(place);
      slot[d].push_back(static_cast<int>(places[d].size()) - 1);
    }
  }
  std::vector<std::shared_ptr<const ImageBrick<T>>> held;
  {
    const std::lock_guard lock(mutex);
    for (const int k : places[2]) {
      for (const int j : places[1]) {
        for (const int i : places[0]) held.push_back(find_brick(n, {i, j, k}, read, bricks, bytes));
      }
    }
  }
  struct Run {  // of values that lie side by side in a brick
    int slot, shown, n;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < shown[0].size(); ++i) {
    const bool goes_on = i > 0 && slot[0][i] == slot[0][i - 1] && shown[0][i] == shown[0][i - 1] + 1;
    if (!goes_on) runs.push_back({slot[0][i], shown[0][i], 0});
    ++runs.back().n;
  }
  T* next = out.data();
  for (std::size_t k = 0; k < shown[2].size(); ++k) {
    for (std::size_t j = 0; j < shown[1].size(); ++j) {
      const std::size_t row = (slot[2][k] * places[1].size() + slot[1][j]) * places[0].size();
      for (const Run& run : runs) {
        const ImageBrick<T>& from = *held[row + run.slot];
        next = std::copy_n(from.values.data() + from.places.offset({run.shown, shown[1][j], shown[2][k]}), run.n, next);
      }
    }
  }
}

void ImageLevelSet::drop_cache() const {
  const std::lock_guard lock(cache_->mutex);
  cache_->samples.clear();
  cache_->minerals.clear();
  cache_->bytes = 0;
}

std::int64_t ImageLevelSet::cached_bytes() const {
  const std::lock_guard lock(cache_->mutex);
  return cache_->bytes;
}

}  // namespace karst
