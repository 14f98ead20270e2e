// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "geometry_import/voxels/window.hpp"
#include "geometry_import/wall/file_voxels.hpp"
#include "geometry_import/wall/gray_layer.hpp"
#include "geometry_import/wall/wall_area.hpp"
#include "geometry_import/wall/wall_faces.hpp"

namespace karst {
namespace {

constexpr double volume_tolerance = 1e-3;  // relative, of the pore as the interpolant has it
constexpr double largest_shift = 0.5;      // [voxels]
constexpr int most_volume_passes = 8;
constexpr std::int64_t voxels_together = std::int64_t{1} << 22;  // of the layers whose wall is found at once

/// f(place in the layer, place in the window) for the solid voxels of plane z with a pore voxel beside them, in order.
template <class F>
void for_wall_voxels(const ImageWindow& layer, const ImageWindow& window, std::span<const std::uint8_t> labels, int z,
                     F&& f) {
  const std::int64_t nx = window.row(), ny = window.image[1], plane = window.plane();
  for (std::int64_t y = 0; y < ny; ++y) {
    const std::int64_t row = window.start_of(z) + y * nx;
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::uint8_t* const here = labels.data() + row + x;
      if (*here == pore_label) continue;
      const bool beside = (x > 0 && here[-1] == pore_label) || (x + 1 < nx && here[1] == pore_label) ||
                          (y > 0 && here[-nx] == pore_label) || (y + 1 < ny && here[nx] == pore_label) ||
                          (z > window.first && here[-plane] == pore_label) ||
                          (z + 1 < window.last && here[plane] == pore_label);
      if (beside) f(layer.start_of(z) + y * nx + x, row + x);
    }
  }
}

/// Distances to the wall of those voxels of a layer. [1/64 voxel]
std::vector<std::uint16_t> wall_offsets(const ImageWindow& layer, const ImageWindow& window,
                                        std::span<const std::uint8_t> labels, std::span<const float> phi) {
  std::vector<std::vector<std::uint16_t>> of_plane(layer.planes());
  parallel_for(layer.planes(), [&](std::int64_t p) {
    for_wall_voxels(layer, window, labels, layer.first + static_cast<int>(p), [&](std::int64_t, std::int64_t n) {
      of_plane[p].push_back(static_cast<std::uint16_t>(std::lround(distance_unit * std::abs(phi[n]))));
    });
  });
  std::vector<std::uint16_t> all;
  for (const auto& plane : of_plane) all.insert(all.end(), plane.begin(), plane.end());
  return all;
}

/// Labels of planes `part` of the window.
std::span<const std::uint8_t> planes_of(const ImageWindow& window, std::span<const std::uint8_t> labels,
                                        const ImageWindow& part) {
  return labels.subspan(window.start_of(part.first), part.count());
}

}  // namespace

/// Planes around those of a group are made again for the next one, and what a group needs grows with it.
ImageWindow Wall::together(const ImageWindow& layer) const {
  if (parts_.gray || !image_.lattice().same() || image_.comm().size() > 1 || layer.planes() == 0) return layer;
  const auto layers = std::max<std::int64_t>(1, voxels_together / (layer.plane() * geometry_chunk));
  const auto planes = static_cast<int>(std::min<std::int64_t>(layers * geometry_chunk, layer.image[2]));
  const int begin = layer.first / planes * planes;
  return {layer.image, begin, std::min(layer.image[2], begin + planes)};
}

bool Wall::keeps_faces() const {
  if (!image_.lattice().same()) return false;
  return image_.count() <= image_.comm().size() || together(image_.layer(0)).planes() == image_.voxels()[2];
}

ImageWindow Wall::label_window(const ImageWindow& layer) const {
  if (layer.planes() == 0) return layer;
  if (parts_.gray) return layer.grown(1);
  const int reach = segmented_reach(smoothing_);
  const SourceLattice& lattice = image_.lattice();
  if (lattice.same()) return layer.grown(reach + 1);
  return cubes_of(lattice, layer.image, voxels_around(lattice, layer.grown(1)).grown(reach));
}

Wall::Field Wall::smoothed_field(const ImageWindow& layer) const {
  GrayLayer gray(image_, layer, smoothing_);
  gray.smooth();
  Field f{gray.window(), {}, gray.values()};
  f.storage = gray.take_storage();
  gray_level_set(f.phi, parts_.scale, f.phi);
  return f;
}

Wall::Field Wall::gray_field(const ImageWindow& layer, std::span<const std::uint8_t> labels,
                             std::span<const std::int16_t> fitted) const {
  Field f;
  if (parts_.fitted) {
    f.window = layer.grown(1);
    f.storage = Array<float>(f.window.count(), Purpose::buffers);
    f.phi = f.storage.span();
    fitted_level_set(fitted, parts_.fitted->slope, f.phi);
  } else {
    f = smoothed_field(layer);
  }
  parallel_for(static_cast<std::int64_t>(f.phi.size()), [&](std::int64_t n) {
    const std::uint8_t label = labels[n];
    if (label != outside_label && (f.phi[n] > 0) != (label == pore_label)) f.phi[n] = -f.phi[n];
  });
  return f;
}

Array<std::uint8_t> Wall::phase_of(const ImageWindow& all, std::span<const std::uint8_t> labels) const {
  Array<std::uint8_t> phase(all.count(), Purpose::buffers);
  parallel_for(all.planes(), [&](std::int64_t p) {
    for (std::int64_t n = p * all.plane(); n < (p + 1) * all.plane(); ++n) phase[n] = labels[n] == pore_label ? 1 : 0;
  });
  image_.sample().continue_outwards(all, phase.span());
  return phase;
}

Wall::Field Wall::segmented_field(const ImageWindow& layer, std::span<const std::uint8_t> labels) {
  const ImageWindow all = label_window(layer), kept = layer.grown(1);
  const SourceLattice& lattice = image_.lattice();
  Field f{kept, Array<float>(kept.count(), Purpose::buffers), {}};
  f.phi = f.storage.span();
  if (lattice.same()) {
    if (!faces_) faces_.emplace(all, phase_of(all, labels).span(), smoothing_, kept);
    faces_->level_set(shift_, f.phi);
    if (!keeps_faces()) faces_.reset();
  } else {
    const ImageWindow near = voxels_around(lattice, kept), wide = near.grown(segmented_reach(smoothing_));
    Array<std::uint8_t> phase = phase_of(all, labels);
    phase = at_voxels(lattice, all, labels, std::as_const(phase).span(), wide);
    Array<float> of_voxels(near.count(), Purpose::buffers);
    segmented_level_set(wide, phase.span(), smoothing_, shift_, near, of_voxels.span());
    level_set_at_cubes(lattice, near, of_voxels.span(), kept, f.phi);
  }
  return f;
}

Wall::Field Wall::field(const ImageWindow& layer, std::span<const std::uint8_t> labels,
                        std::span<const std::int16_t> fitted) {
  Field f = parts_.gray ? gray_field(layer, labels, fitted) : segmented_field(layer, labels);
  image_.sample().keep_inside(f.window, f.phi);
  return f;
}

Array<std::uint8_t> Wall::labels_of(const Field& field, const ImageWindow& around,
                                    std::span<const std::uint8_t> labels) const {
  const auto there = planes_of(around, labels, field.window);
  Array<std::uint8_t> own(there.size(), Purpose::buffers);
  std::copy(there.begin(), there.end(), own.begin());
  const SourceLattice& lattice = image_.lattice();
  if (parts_.gray || lattice.same()) return own;
  const ImageWindow near = voxels_around(lattice, field.window);
  const Array<std::uint8_t> of_voxels = at_voxels(lattice, around, labels, labels, near);
  labels_as_level_set(lattice, near, of_voxels.span(), field.window, field.phi, own.span());
  return own;
}

WallSums Wall::sums_with_shift(float shift, bool first) {
  shift_ = shift;
  std::array<std::int64_t, 2> sums{};
  image_.for_rounds([&](int, const ImageWindow& layer) {
    const ImageWindow planes = together(layer);
    if (planes.first != layer.first) return;  // done with the layers before
    Array<std::uint8_t> labels;
    if (first || !keeps_faces()) labels = parts_.labels.fetch(label_window(planes));
    fail_together(image_.comm(), [&] {
      if (layer.planes() == 0) return;
      const Field f = field(planes, std::as_const(labels).span(), {});
      const WallSums s = wall_sums(f.window, f.phi, planes.first, planes.last);
      sums[0] += s.voxels;
      sums[1] += s.pore_volume;
    });
  });
  image_.comm().sum(std::span(sums));
  return {sums[0], sums[1]};
}

/// Secant steps on the volume, which grows with the shift; keeps the best.
double Wall::keep_volume(double pore) {
  assert(!parts_.gray);
  const double share = pore / image_.sample_voxels();
  const auto excess = [&](const WallSums& s) {
    return static_cast<double>(s.pore_volume) / image_.sample_volume() / share - 1;
  };
  sums_ = sums_with_shift(0, true);
  double best = 0, best_excess = excess(*sums_);
  double previous = 0, previous_excess = best_excess, next = best_excess > 0 ? -0.05 : 0.05;
  for (int pass = 1; pass < most_volume_passes && std::abs(best_excess) > volume_tolerance; ++pass) {
    const WallSums moved = sums_with_shift(static_cast<float>(next));
    const double now = excess(moved);
    if (std::abs(now) < std::abs(best_excess)) {
      sums_ = moved;
      best = next;
      best_excess = now;
    }
    const double slope = (now - previous_excess) / (next - previous);
    previous = next;
    previous_excess = now;
    if (!(slope > 0)) break;
    next = std::clamp(next - now / slope, -largest_shift, largest_shift);
    if (next == previous) break;
  }
  shift_ = static_cast<float>(best);
  return double{shift_};
}

Wall::Written Wall::write(GeometryWriter& writer, ReportPictures* pictures) {
  std::array<std::int64_t, 2> sums{};
  double steepest = 0;
  std::vector<double> areas(image_.count(), 0.0);  // layer by layer
  // The labels of the file's voxels stay until the last layer is done: other layers are made of them.
  std::optional<Slabs<std::uint8_t>> relabelled;
  if (!parts_.gray && !image_.lattice().same()) relabelled.emplace(image_.comm(), image_.voxels(), Purpose::geometry);
  Field f;
  Array<std::uint8_t> own;  // labels of its window
  image_.for_rounds([&](int first, const ImageWindow& layer) {
    const ImageWindow planes = together(layer), around = label_window(planes);
    const bool begins = planes.first == layer.first;
    Array<std::uint8_t> labels;
    Array<std::int16_t> fitted;
    if (begins) labels = parts_.labels.fetch(around);
    if (begins && parts_.fitted) fitted = parts_.fitted->phi.fetch(around);
    std::vector<std::byte> packed;
    Array<std::uint8_t> of_layer;
    fail_together(image_.comm(), [&] {
      if (layer.planes() == 0) return;
      if (begins) {
        f = field(planes, labels.span(), fitted.span());
        own = labels_of(f, around, labels.span());
      }
      if (!sums_) {
        const WallSums s = wall_sums(f.window, f.phi, layer.first, layer.last);
        sums[0] += s.voxels;
        sums[1] += s.pore_volume;
      }
      steepest = std::max(steepest, steepest_slope(f.window, f.phi, layer.first, layer.last));
      areas[layer.first / geometry_chunk] =
          wall_area(f.window, f.phi, layer.first, layer.last, image_.sample().inside());
      offsets_.push_back(wall_offsets(layer, f.window, own.span(), f.phi));
      const auto phi = f.phi.subspan(f.window.start_of(layer.first), layer.count());
      if (pictures) pictures->add_level_set(layer, phi);
      packed = GeometryWriter::pack(layer, phi, planes_of(f.window, own.span(), layer));
      if (relabelled) {
        const auto part = planes_of(f.window, own.span(), layer);
        of_layer = Array<std::uint8_t>(part.size(), Purpose::buffers);
        std::copy(part.begin(), part.end(), of_layer.begin());
      }
    });
    writer.write(first, std::move(packed));
    if (relabelled) relabelled->store(layer, of_layer.span());
  });
  faces_.reset();
  if (relabelled) parts_.labels = std::move(*relabelled);
  image_.comm().sum(std::span(sums));
  image_.comm().sum(std::span(areas));  // one rank adds to each: exact
  return {sums_ ? *sums_ : WallSums{sums[0], sums[1]}, std::accumulate(areas.begin(), areas.end(), 0.0),
          image_.comm().max(steepest)};
}

Slabs<std::uint16_t> Wall::take_offsets() {
  Slabs<std::uint16_t> all(image_.comm(), image_.voxels(), Purpose::geometry);
  std::size_t round = 0;
  image_.for_rounds([&](int, const ImageWindow& layer) {
    const ImageWindow window = layer.planes() > 0 ? layer.grown(1) : layer;
    const Array<std::uint8_t> labels = parts_.labels.fetch(window);
    Array<std::uint16_t> of_layer(layer.count(), Purpose::buffers, 0);
    std::size_t next = 0;
    for (int z = layer.first; z < layer.last; ++z)
      for_wall_voxels(layer, window, labels.span(), z,
                      [&](std::int64_t n, std::int64_t) { of_layer[n] = offsets_[round][next++]; });
    if (layer.planes() > 0) offsets_[round++] = std::vector<std::uint16_t>();  // = {} would keep the memory
    all.store(layer, of_layer.span());
  });
  return all;
}

}  // namespace karst
