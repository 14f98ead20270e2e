// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/report_pictures.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

namespace karst {
namespace {

constexpr double phi_unit = 4096;

struct RowHead {
  std::int32_t field, axis, row, count;
};

int parts(int n, int step) { return (n + step - 1) / step; }

/// The directions that run right and down in a slice.
int right_of(int axis) { return axis == 0 ? 1 : 0; }
int down_of(int axis) { return axis == 2 ? 1 : 2; }

/// A slice with all its voxels.
struct FullSlice {
  int nx = 0, ny = 0;
  std::vector<float> gray, phi;
  std::vector<std::uint8_t> segmented, labels;
};
using FullSlices = std::array<FullSlice, 3>;

FullSlices slices_of(const Index& voxels) {
  FullSlices slices;
  for (int axis = 0; axis < 3; ++axis) {
    slices[axis].nx = voxels[right_of(axis)];
    slices[axis].ny = voxels[down_of(axis)];
  }
  return slices;
}

template <class T>
void put_row(const FullSlice& slice, const RowHead& head, const std::byte* bytes, std::vector<T>& into) {
  const std::size_t nx = slice.nx, ny = slice.ny;
  assert(head.count == slice.nx && head.row < slice.ny);
  into.resize(nx * ny);
  std::memcpy(into.data() + nx * head.row, bytes, nx * sizeof(T));
}

/// f(voxel) for the voxels of pixel (x, y).
template <class F>
void for_pixel(const FullSlice& full, int step, int x, int y, F&& f) {
  for (int j = y * step; j < std::min(full.ny, (y + 1) * step); ++j)
    for (int i = x * step; i < std::min(full.nx, (x + 1) * step); ++i) f(std::int64_t{j} * full.nx + i);
}

double mean(const FullSlice& full, int step, int x, int y, const std::vector<float>& values) {
  double sum = 0;
  int n = 0;
  for_pixel(full, step, x, y, [&](std::size_t i) { sum += double{values[i]}, ++n; });
  return sum / n;
}

/// Values that 0.5 and 99.5 % of the voxels of the slices are below; without those outside of the sample.
std::pair<double, double> gray_range(const FullSlices& slices) {
  std::vector<float> values;
  for (const FullSlice& s : slices)
    for (std::size_t i = 0; i < s.gray.size(); ++i)
      if (s.labels.empty() || s.labels[i] != outside_label) values.push_back(s.gray[i]);
  if (values.empty()) return {0, 1};
  const auto at = [&](double share) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return double{*place};
  };
  const double low = at(0.005), high = at(0.995);
  return {low, high > low ? high : low + 1};
}

ImageSlice reduced(const FullSlice& full, int step, double black, double white) {
  ImageSlice s;
  s.step = step;
  s.nx = parts(full.nx, step);
  s.ny = parts(full.ny, step);
  for (int y = 0; y < s.ny; ++y)
    for (int x = 0; x < s.nx; ++x) {
      const std::int64_t middle = std::int64_t{std::min(full.ny - 1, y * step + step / 2)} * full.nx +
                                  std::min(full.nx - 1, x * step + step / 2);
      if (!full.gray.empty()) {
        const double g = (mean(full, step, x, y, full.gray) - black) / (white - black);
        s.gray.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(g, 0.0, 1.0))));
      }
      if (!full.phi.empty()) s.phi.push_back(static_cast<float>(mean(full, step, x, y, full.phi) / step));
      if (full.labels.empty()) continue;
      s.labels.push_back(full.labels[middle]);
      if (full.segmented.empty()) continue;
      bool changed = false;
      for_pixel(full, step, x, y, [&](std::size_t i) { changed = changed || full.segmented[i] != full.labels[i]; });
      s.changed.push_back(changed ? 1 : 0);
    }
  return s;
}

void unpack(std::span<const std::byte> bytes, FullSlices& slices) {
  while (!bytes.empty()) {
    RowHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    FullSlice& s = slices[head.axis];
    const std::size_t count = head.count;
    switch (head.field) {
      case 0:
        put_row(s, head, bytes.data(), s.gray);
        break;
      case 1:
        put_row(s, head, bytes.data(), s.segmented);
        break;
      case 2:
        put_row(s, head, bytes.data(), s.labels);
        break;
      default:
        put_row(s, head, bytes.data(), s.phi);
    }
    bytes = bytes.subspan(count * (head.field == 1 || head.field == 2 ? 1 : sizeof(float)));
  }
}

/// Adds packed coarse planes, each behind its number.
void add_planes(std::span<const std::byte> bytes, std::size_t plane, std::map<int, std::vector<std::int64_t>>& sums) {
  std::vector<std::int64_t> packed(plane + 1);
  for (; !bytes.empty(); bytes = bytes.subspan(packed.size() * sizeof packed[0])) {
    std::memcpy(packed.data(), bytes.data(), packed.size() * sizeof packed[0]);
    std::vector<std::int64_t>& into = sums[static_cast<int>(packed[0])];
    into.resize(plane);
    std::transform(into.begin(), into.end(), packed.begin() + 1, into.begin(), std::plus<>());
  }
}

/// Means in cubes from sums over the voxels of each; empty when there are none.
std::vector<float> coarse_values(const Index& voxels, int block, std::size_t plane,
                                 const std::map<int, std::vector<std::int64_t>>& sums) {
  std::vector<float> values;
  const int nx = parts(voxels[0], block);
  const auto width = [&](int d, int i) { return std::min(block, voxels[d] - i * block); };
  for (const auto& [z, of_plane] : sums)
    for (std::size_t i = 0; i < plane; ++i) {
      const int x = static_cast<int>(i) % nx, y = static_cast<int>(i) / nx;
      const double count = double(width(0, x)) * width(1, y) * width(2, z);
      values.push_back(static_cast<float>(static_cast<double>(of_plane[i]) / (phi_unit * count * block)));
    }
  return values;
}

}  // namespace

ReportPictures::ReportPictures(const Index& voxels)
    : voxels_(voxels), block_(parts(std::max({voxels[0], voxels[1], voxels[2]}), coarse_cubes)) {}

template <class T>
void ReportPictures::keep_row(Field field, int axis, int row, std::span<const T> values) {
  const RowHead head{static_cast<std::int32_t>(field), axis, row, static_cast<std::int32_t>(values.size())};
  const auto bytes = std::as_bytes(std::span(&head, 1)), body = std::as_bytes(values);
  rows_.insert(rows_.end(), bytes.begin(), bytes.end());
  rows_.insert(rows_.end(), body.begin(), body.end());
}

template <class T>
void ReportPictures::keep_rows(Field field, const ImageWindow& layer, std::span<const T> values) {
  assert(values.size() == layer.count() && layer.image == voxels_);
  const std::size_t nx = voxels_[0], ny = voxels_[1];
  std::vector<T> column(ny);
  for (int z = layer.first; z < layer.last; ++z) {
    const std::span<const T> plane = values.subspan(layer.start_of(z), nx * ny);
    for (std::size_t y = 0; y < ny; ++y) column[y] = plane[y * nx + nx / 2];
    keep_row<T>(field, 0, z, column);
    keep_row<T>(field, 1, z, plane.subspan(ny / 2 * nx, nx));
    if (z != voxels_[2] / 2) continue;
    for (std::size_t y = 0; y < ny; ++y) keep_row<T>(field, 2, static_cast<int>(y), plane.subspan(y * nx, nx));
  }
}

void ReportPictures::add_gray(const ImageWindow& layer, std::span<const float> values) {
  keep_rows(Field::gray, layer, values);
}
void ReportPictures::add_segmented(const ImageWindow& layer, std::span<const std::uint8_t> labels) {
  keep_rows(Field::segmented, layer, labels);
}
void ReportPictures::add_labels(const ImageWindow& layer, std::span<const std::uint8_t> labels) {
  keep_rows(Field::labels, layer, labels);
}

void ReportPictures::add_level_set(const ImageWindow& layer, std::span<const float> phi) {
  keep_rows(Field::phi, layer, phi);
  const int nx = parts(voxels_[0], block_), ny = parts(voxels_[1], block_);
  for (int z = layer.first; z < layer.last; ++z) {
    std::vector<std::int64_t>& plane = coarse_[z / block_];
    plane.resize(std::int64_t{nx} * ny);
    const float* row = phi.data() + layer.start_of(z);
    for (int y = 0; y < voxels_[1]; ++y, row += voxels_[0]) {
      std::int64_t* const into = plane.data() + std::int64_t{y / block_} * nx;
      for (int x = 0; x < voxels_[0]; ++x) into[x / block_] += std::lround(double{row[x]} * phi_unit);
    }
  }
}

PictureData ReportPictures::gather(const Comm& comm) const {
  Message coarse{0, {}};
  for (const auto& [z, sums] : coarse_) {
    const std::int64_t number = z;
    const auto head = std::as_bytes(std::span(&number, 1)), body = std::as_bytes(std::span(sums));
    coarse.bytes.insert(coarse.bytes.end(), head.begin(), head.end());
    coarse.bytes.insert(coarse.bytes.end(), body.begin(), body.end());
  }
  const std::vector<Message> in = comm.sparse_exchange({{0, rows_}, std::move(coarse)});
  PictureData data;
  if (comm.rank() != 0) return data;
  data.block = block_;
  data.coarse.size = {parts(voxels_[0], block_), parts(voxels_[1], block_), parts(voxels_[2], block_)};
  FullSlices full = slices_of(voxels_);
  std::map<int, std::vector<std::int64_t>> sums;
  const std::size_t plane = std::int64_t{data.coarse.size[0]} * data.coarse.size[1];
  for (std::size_t i = 0; i < in.size(); i += 2) {  // two of each rank
    unpack(in[i].bytes, full);
    add_planes(in[i + 1].bytes, plane, sums);
  }
  data.coarse.values = coarse_values(voxels_, block_, plane, sums);
  std::tie(data.black, data.white) = gray_range(full);
  const int step = parts(std::max({voxels_[0], voxels_[1], voxels_[2]}), slice_pixels);
  for (int axis = 0; axis < 3; ++axis) {
    ImageSlice& s = data.slices[axis];
    s = reduced(full[axis], step, data.black, data.white);
    s.axis = axis;
    s.plane = voxels_[axis] / 2;
  }
  return data;
}

void show_white_as_zero(PictureData& pictures) {
  std::swap(pictures.black, pictures.white);
  for (ImageSlice& slice : pictures.slices)
    for (std::uint8_t& gray : slice.gray) gray = static_cast<std::uint8_t>(255 - gray);
}

}  // namespace karst
