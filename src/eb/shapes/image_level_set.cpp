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

/// Trilinear interpolation in a block of samples.
class LocalImage final : public LocalLevelSet {
 public:
  LocalImage(const ImageSource& source, const Box& block, Array<float> samples, VoxelMinerals minerals)
      : block_(block),
        samples_(std::move(samples)),
        minerals_(std::move(minerals)),
        voxel_(source.voxel),
        shift_(source.shift),
        per_voxel_(1.0 / source.voxel),
        origin_(source.origin),
        voxels_(source.voxels),
        periodic_(source.periodic) {
    for (int d = 0; d < 3; ++d) period_[d] = source.voxels[d] * source.voxel;
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
      base += static_cast<int>(turns) * voxels_[d];
    }
    const double u = y * per_voxel_ - 0.5;
    const int i = static_cast<int>(u + 1.0) - 1;  // u >= -1 after wrapping; below, the clamp decides
    const int inside = std::clamp(base + i, 0, block_.size(d) - 2);
    return {inside, std::clamp(u - (inside - base), 0.0, 1.0)};
  }

  Box block_;
  Array<float> samples_;
  VoxelMinerals minerals_;
  double voxel_, shift_, per_voxel_;
  Vec3 origin_, period_;
  Index voxels_;
  std::array<bool, 3> periodic_;
};

}  // namespace

struct ImageLevelSet::Brick {
  Box voxels;
  Array<float> samples;
  Array<MineralNumber> minerals;  ///< empty where there is one
};

struct ImageLevelSet::Cache {
  std::mutex mutex;
  std::unordered_map<std::int64_t, std::shared_ptr<const Brick>> bricks;
  std::int64_t bytes = 0;
};

ImageLevelSet::ImageLevelSet(ImageSource source) : source_(std::move(source)), cache_(std::make_unique<Cache>()) {
  require(Box{Index{}, source_.voxels}.count() > 0, "image: its size is {} x {} x {} voxels; all must be > 0",
          source_.voxels[0], source_.voxels[1], source_.voxels[2]);
  require(source_.voxel > 0.0 && std::isfinite(source_.voxel),
          "image: the voxel width is {} cells; it must be finite and > 0", source_.voxel);
  require(static_cast<bool>(source_.read), "image: no reader of samples was given");
  require(source_.minerals.size() == 1 || static_cast<bool>(source_.read_minerals),
          "image: no reader of its {} minerals was given", source_.minerals.size());
}

ImageLevelSet::~ImageLevelSet() = default;

Box ImageLevelSet::block_around(const Vec3& lo, const Vec3& hi, int margin) const {
  Box block;
  for (int d = 0; d < 3; ++d) {
    const double first = (lo[d] - source_.origin[d]) / source_.voxel - 0.5;
    const double last = (hi[d] - source_.origin[d]) / source_.voxel - 0.5;
    double least = std::floor(first - 1e-6), most = std::floor(last + 1e-6) + 1.0;
    if (!source_.periodic[d]) {  // outside, all is as on the border
      least = std::clamp(least, -1.0, static_cast<double>(source_.voxels[d]));
      most = std::clamp(most, least + 1.0, source_.voxels[d] + 1.0);
    }
    block.lo[d] = static_cast<int>(least) - margin;
    block.hi[d] = static_cast<int>(most) + 1 + margin;
  }
  return block;
}

std::unique_ptr<LocalLevelSet> ImageLevelSet::local(const Vec3& lo, const Vec3& hi) const {
  const Box block = block_around(lo, hi, 0);
  Array<float> samples(block.count(), Purpose::geometry);
  gather(block, &Brick::samples, samples.span());
  VoxelMinerals minerals;
  if (source_.minerals.size() > 1) {
    const Box around = block_around(lo, hi, VoxelMinerals::reach);
    Array<MineralNumber> numbers(around.count(), Purpose::geometry);
    gather(around, &Brick::minerals, numbers.span());
    minerals = VoxelMinerals(around, std::move(numbers));
  }
  return std::make_unique<LocalImage>(source_, block, std::move(samples), std::move(minerals));
}

std::shared_ptr<const ImageLevelSet::Brick> ImageLevelSet::find(const Index& place) const {
  const Index n_bricks{(source_.voxels[0] - 1) / brick + 1, (source_.voxels[1] - 1) / brick + 1,
                       (source_.voxels[2] - 1) / brick + 1};
  auto& stored = cache_->bricks[Box{Index{}, n_bricks}.offset(place)];
  if (stored) return stored;
  const Box voxels = intersect({brick * place, brick * place + Index::all(brick)}, {Index{}, source_.voxels});
  const std::size_t n = voxels.count();
  auto fresh = std::make_shared<Brick>();
  fresh->voxels = voxels;
  fresh->samples = {n, Purpose::geometry};
  source_.read(voxels, fresh->samples.span());
  if (source_.minerals.size() > 1) {
    fresh->minerals = {n, Purpose::geometry};
    source_.read_minerals(voxels, fresh->minerals.span());
  }
  for (std::size_t s = 0; s < fresh->samples.size(); ++s) {
    const Index v = voxels.cell(static_cast<std::int64_t>(s));
    require(std::isfinite(fresh->samples[s]),
            "image: the level set of voxel ({}, {}, {}) is {}; samples must be finite; import the image again", v[0],
            v[1], v[2], fresh->samples[s]);
  }
  cache_->bytes += static_cast<std::int64_t>(fresh->samples.bytes() + fresh->minerals.bytes());
  stored = std::move(fresh);
  return stored;
}

template <class T>
void ImageLevelSet::gather(const Box& box, Array<T> Brick::*of, std::span<T> out) const {
  // Per direction and position of the box: the sample shown there, and which of the bricks in `places` holds it.
  std::array<std::vector<int>, 3> sample, slot, places;
  for (int d = 0; d < 3; ++d) {
    const int n = source_.voxels[d];
    for (int i = box.lo[d]; i < box.hi[d]; ++i) {
      sample[d].push_back(source_.periodic[d] ? i - divided_down(i, n) * n : std::clamp(i, 0, n - 1));
      const int place = sample[d].back() / brick;
      if (places[d].empty() || places[d].back() != place) places[d].push_back(place);
      slot[d].push_back(static_cast<int>(places[d].size()) - 1);
    }
  }
  std::vector<std::shared_ptr<const Brick>> bricks;
  {
    const std::lock_guard lock(cache_->mutex);
    for (const int k : places[2]) {
      for (const int j : places[1]) {
        for (const int i : places[0]) bricks.push_back(find({i, j, k}));
      }
    }
  }
  std::size_t n = 0;
  for (std::size_t k = 0; k < sample[2].size(); ++k) {
    for (std::size_t j = 0; j < sample[1].size(); ++j) {
      const std::size_t row = (slot[2][k] * places[1].size() + slot[1][j]) * places[0].size();
      const T* line = nullptr;  // row of the brick at hand, and its first voxel
      int start = 0;
      for (std::size_t i = 0; i < sample[0].size(); ++i) {
        if (i == 0 || slot[0][i] != slot[0][i - 1]) {
          const Brick& from = *bricks[row + slot[0][i]];
          start = from.voxels.lo[0];
          line = (from.*of).data() + from.voxels.offset({start, sample[1][j], sample[2][k]});
        }
        out[n++] = line[sample[0][i] - start];
      }
    }
  }
}

void ImageLevelSet::drop_cache() const {
  const std::lock_guard lock(cache_->mutex);
  cache_->bricks.clear();
  cache_->bytes = 0;
}

std::int64_t ImageLevelSet::cached_bytes() const {
  const std::lock_guard lock(cache_->mutex);
  return cache_->bytes;
}

}  // namespace karst
