// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/slice_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

constexpr int wall_pixels = 640;

/// φ and the length of its gradient between pixel centres; (x, y) in pixels, a pixel reaches from i to i + 1.
std::pair<double, double> at(const ImageSlice& s, double x, double y) {
  const double u = std::clamp(x - 0.5, 0.0, s.nx - 1.0), v = std::clamp(y - 0.5, 0.0, s.ny - 1.0);
  const int i = std::min(static_cast<int>(u), std::max(0, s.nx - 2)),
            j = std::min(static_cast<int>(v), std::max(0, s.ny - 2));
  const double a = u - i, b = v - j;
  const auto phi = [&](int column, int row) {
    return double{s.phi[std::int64_t{std::min(row, s.ny - 1)} * s.nx + std::min(column, s.nx - 1)]};
  };
  const double p00 = phi(i, j), p10 = phi(i + 1, j), p01 = phi(i, j + 1), p11 = phi(i + 1, j + 1);
  const double dx = (1 - b) * (p10 - p00) + b * (p11 - p01), dy = (1 - a) * (p01 - p00) + a * (p11 - p10);
  return {(1 - b) * ((1 - a) * p00 + a * p10) + b * ((1 - a) * p01 + a * p11), std::hypot(dx, dy)};
}

}  // namespace

Rgb label_colour(int label) {
  constexpr std::array<Rgb, 8> solids{{{229, 207, 168},
                                       {120, 178, 158},
                                       {222, 158, 92},
                                       {196, 160, 200},
                                       {150, 196, 232},
                                       {240, 228, 120},
                                       {164, 120, 96},
                                       {190, 190, 190}}};
  if (label == 0) return {38, 84, 124};
  if (label == outside_label) return outside_colour;
  return solids[(label - 1) % solids.size()];
}

Picture gray_picture(const ImageSlice& slice) {
  if (slice.gray.empty()) return {};
  Picture p(slice.nx, slice.ny, 1);
  p.values = slice.gray;
  return p;
}

Picture label_picture(const ImageSlice& slice) {
  if (slice.labels.empty()) return {};
  Picture p(slice.nx, slice.ny, 3);
  for (std::size_t i = 0; i < slice.labels.size(); ++i) {
    const bool changed = !slice.changed.empty() && slice.changed[i] != 0;
    const Rgb colour = changed ? changed_colour : label_colour(slice.labels[i]);
    std::copy(colour.begin(), colour.end(), p.values.begin() + static_cast<std::ptrdiff_t>(3 * i));
  }
  return p;
}

Picture wall_picture(const ImageSlice& slice) {
  if (slice.phi.empty()) return {};
  const int zoom = std::max(1, wall_pixels / std::max(slice.nx, slice.ny));
  const double line_width = std::min(2.6, 1.2 + 0.35 * zoom);
  Picture p(zoom * slice.nx, zoom * slice.ny, 4);
  parallel_for(p.height, [&](std::int64_t row) {
    for (int column = 0; column < p.width; ++column) {
      const auto [phi, slope] = at(slice, (column + 0.5) / zoom, (static_cast<double>(row) + 0.5) / zoom);
      const double away = slope > 0 ? zoom * std::abs(phi) / slope : line_width;
      const double cover = std::clamp(0.5 * line_width + 0.5 - away, 0.0, 1.0);
      std::uint8_t* const pixel = p.pixel(column, static_cast<int>(row));
      std::copy(wall_colour.begin(), wall_colour.end(), pixel);
      pixel[3] = static_cast<std::uint8_t>(std::lround(15 * cover) * 17);
      if (pixel[3] == 0) std::fill_n(pixel, 4, std::uint8_t{0});
    }
  });
  return p;
}

}  // namespace karst
