// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare_view.hpp"

#include <algorithm>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {
namespace {

ImageInfo turned(ImageInfo info, const Orientation& o) {
  const ImageInfo from = info;
  for (int d = 0; d < 3; ++d) {
    const int a = o.axes[d];
    info.size[d] = o.high[a] - o.low[a];
    info.proportions[d] = from.proportions[a];
    if (info.spacing) (*info.spacing)[d] = (*from.spacing)[a];
  }
  return info;
}

class OrientedImage : public ImageFile {
 public:
  OrientedImage(std::unique_ptr<ImageFile> source, const Orientation& o, std::int64_t slab_bytes)
      : ImageFile(turned(source->info(), o)), source_(std::move(source)), o_(o) {
    const std::int64_t plane = std::int64_t{info().size[0]} * info().size[1];
    const std::int64_t fit = std::clamp<std::int64_t>(slab_bytes / (4 * plane), 1, info().size[2]);
    slab_planes_ = o.axes[2] == 2 ? 1 : static_cast<int>(fit);
    const Index& n = source_->info().size;
    from_ = Array<float>(std::int64_t{n[0]} * n[1], Purpose::buffers);
    slab_ = Array<float>(plane * slab_planes_, Purpose::buffers);
    std::int64_t stride = 1;
    for (int d = 0; d < 3; ++d) {
      stride_[o.axes[d]] = stride;
      stride *= info().size[d];
    }
  }

 private:
  void load_plane(int z, std::span<float> values) override {
    if (z < first_ || z >= last_) load_slab(z, std::min(z + slab_planes_, info().size[2]));
    std::copy_n(slab_.data() + static_cast<std::ptrdiff_t>(values.size()) * (z - first_), values.size(),
                values.begin());
  }

  /// Place in the view along its axis of voxel i of source axis a.
  std::int64_t place(int a, int i) const { return o_.flip[a] ? o_.high[a] - 1 - i : i - o_.low[a]; }

  void load_slab(int first, int last) {
    first_ = last_ = 0;  // should reading fail
    Index low = o_.low, high = o_.high;
    const int moved = o_.axes[2];
    const bool back = o_.flip[moved];
    low[moved] = back ? o_.high[moved] - last : o_.low[moved] + first;
    high[moved] = low[moved] + last - first;
    const std::int64_t nx = source_->info().size[0], start = stride_[moved] * first;
    const std::int64_t step = o_.flip[0] ? -stride_[0] : stride_[0];
    for (int k = low[2]; k < high[2]; ++k) {
      source_->read_plane(k, from_.span());
      parallel_for(high[1] - low[1], [&](std::int64_t row) {
        const int j = low[1] + static_cast<int>(row);
        const float* from = from_.data() + j * nx + low[0];
        float* to =
            slab_.data() + place(0, low[0]) * stride_[0] + place(1, j) * stride_[1] + place(2, k) * stride_[2] - start;
        for (std::int64_t i = 0; i < high[0] - low[0]; ++i) to[i * step] = from[i];
      });
    }
    first_ = first;
    last_ = last;
  }

  std::unique_ptr<ImageFile> source_;
  Orientation o_;
  Triple<std::int64_t> stride_;  ///< in the view, of the axes of the source
  int slab_planes_ = 1, first_ = 0, last_ = 0;
  Array<float> from_, slab_;  ///< a plane of the source; planes [first_, last_) of the view
};

}  // namespace

std::unique_ptr<ImageFile> oriented(std::unique_ptr<ImageFile> source, const Orientation& o, std::int64_t slab_bytes) {
  const Index& n = source->info().size;
  for (int d = 0; d < 3; ++d) {
    require(o.high[d] <= n[d] && o.low[d] >= 0,
            "{}: crop to voxels {} to {} in {} given, but the image has {} (allowed: 0 to {})", source->info().path,
            o.low[d], o.high[d], axis_names[d], n[d], n[d]);
    require(
        o.low[d] < o.high[d],
        "{}: crop to voxels {} to {} in {} given: the result is empty; `crop_high` is the first voxel that is not kept",
        source->info().path, o.low[d], o.high[d], axis_names[d]);
  }
  return std::make_unique<OrientedImage>(std::move(source), o, slab_bytes);
}

}  // namespace karst
