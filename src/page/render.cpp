// SPDX-License-Identifier: BSD-3-Clause
#include "page/render.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "base/comm/parallel.hpp"
#include "page/shade_volume.hpp"

namespace karst {
namespace {

constexpr int dots = 2;  // per pixel and direction, of the edges of the box
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Parallel rays: place = centre + u right + v up + s forward, from the eye at s -> -infinity.
struct Camera {
  Camera(const Index& size, const RenderOptions& o) {
    const double a = o.azimuth * std::numbers::pi / 180, e = o.elevation * std::numbers::pi / 180;
    right = {-std::sin(a), std::cos(a), 0};
    up = {-std::sin(e) * std::cos(a), -std::sin(e) * std::sin(a), std::cos(e)};
    forward = {-std::cos(e) * std::cos(a), -std::cos(e) * std::sin(a), -std::sin(e)};
    centre = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
    double wide = 0, high = 0;
    for (int d = 0; d < 3; ++d) {
      wide += std::abs(right[d]) * size[d];
      high += std::abs(up[d]) * size[d];
      depth += 0.5 * std::abs(forward[d]) * size[d];
    }
    scale = std::min(0.86 * o.width / wide, 0.86 * o.height / high);
    middle = {0.5 * o.width, 0.5 * o.height};
  }
  Vec3 place(double column, double row) const {
    return centre + right * ((column - middle.column) / scale) + up * ((middle.row - row) / scale);
  }
  PicturePoint pixel(const Vec3& p) const {
    const Vec3 d = p - centre;
    return {middle.column + scale * dot(d, right), middle.row - scale * dot(d, up)};
  }

  Vec3 right, up, forward, centre;
  PicturePoint middle;
  double scale = 1;  // pixels per cube
  double depth = 0;  // s of all points of the box is in [-depth, depth]
};

struct Block {
  Vec3 low, high;
};

struct Crossing {
  double enter = -infinite, leave = infinite;
  int enter_side = 0, leave_side = 0;  // directions
};

/// f(from, to) for the twelve edges, in the order of their directions.
template <class F>
void for_edges(const Block& b, F&& f) {
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 4; ++k) {
      Vec3 from = b.low;
      if (k & 1) from[(d + 1) % 3] = b.high[(d + 1) % 3];
      if (k & 2) from[(d + 2) % 3] = b.high[(d + 2) % 3];
      Vec3 to = from;
      to[d] = b.high[d];
      f(from, to);
    }
}

std::optional<Crossing> cross(const Block& b, const Vec3& from, const Vec3& along) {
  Crossing c;
  for (int d = 0; d < 3; ++d) {
    if (std::abs(along[d]) < 1e-12) {
      if (from[d] < b.low[d] || from[d] > b.high[d]) return std::nullopt;
      continue;
    }
    double s0 = (b.low[d] - from[d]) / along[d], s1 = (b.high[d] - from[d]) / along[d];
    if (s0 > s1) std::swap(s0, s1);
    if (s0 > c.enter) c.enter = s0, c.enter_side = d;
    if (s1 < c.leave) c.leave = s1, c.leave_side = d;
  }
  if (c.enter >= c.leave) return std::nullopt;
  return c;
}

struct Hit {
  double depth = infinite;  // s
  Vec3 place, normal;
  bool cut = false;
};

class Renderer {
 public:
  Renderer(const Comm& comm, const Volume& volume, const RenderOptions& options)
      : comm_(comm),
        options_(options),
        shade_(volume),
        camera_(volume.size, options),
        first_(options.height * comm.rank() / comm.size()),
        last_(options.height * (comm.rank() + 1) / comm.size()) {
    for (int d = 0; d < 3; ++d) {
      const bool towards = camera_.forward[d] < 0;  // the eye is on the side of high coordinates
      box_.high[d] = volume.size[d];
      corner_.low[d] = towards ? 0.5 * volume.size[d] : -1;
      corner_.high[d] = towards ? volume.size[d] + 1 : 0.5 * volume.size[d];
    }
  }
  Rendering run() const;

 private:
  using Sample = std::array<float, 4>;  ///< red, green, blue, depth
  Sample sample(double column, double row) const;
  std::vector<Sample> samples(int rows, int columns, double offset) const;
  Hit trace(double column, double row) const;
  Hit surface(const Vec3& from, double begin, double end) const;
  std::array<double, 3> colour(const Hit& hit) const;
  std::vector<std::uint8_t> edge_dots(std::span<const Sample> middles) const;
  void draw_edge(const Vec3& a, const Vec3& b, std::span<const Sample> middles, std::span<std::uint8_t> drawn) const;
  std::array<Rendering::Edge, 3> named_edges() const;

  const Comm& comm_;
  const RenderOptions& options_;
  ShadeVolume shade_;
  Camera camera_;
  int first_, last_;  // rows of pixels of this rank: from first_ to before last_
  Block box_, corner_;
};

/// Steps along the ray as long as the distance to the wall allows, then closes in on the wall by the rule of Illinois
/// (M. Dowell, P. Jarratt, BIT 11 (1971) 168).
Hit Renderer::surface(const Vec3& from, double begin, double end) const {
  constexpr double close = 0.02;  // [cubes], and of the values
  double before = begin, s = begin;
  double outside = shade_.value(from + camera_.forward * s), inside = outside;
  while (inside <= 0) {
    if (s >= end) return {};
    before = s;
    outside = inside;
    s = std::min(end, s + std::clamp(-outside / options_.steepest, 0.4, options_.longest_step));
    inside = shade_.value(from + camera_.forward * s);
  }
  for (int i = 0, side = 0; i < 8 && s - before > close; ++i) {
    const double middle = before + (s - before) * outside / (outside - inside);
    const double value = shade_.value(from + camera_.forward * middle);
    if (value > 0) {
      s = middle;
      inside = value;
      if (side == 1) outside *= 0.5;
      side = 1;
    } else {
      before = middle;
      outside = value;
      if (side == -1) inside *= 0.5;
      side = -1;
    }
    if (std::abs(value) < close) break;
  }
  Hit hit{s, from + camera_.forward * s, {}, false};
  hit.normal = shade_.outward(hit.place);
  if (dot(hit.normal, camera_.forward) > 0) hit.normal = hit.normal * -1.0;
  return hit;
}

Hit Renderer::trace(double column, double row) const {
  const Vec3 from = camera_.place(column, row);
  const std::optional<Crossing> box = cross(box_, from, camera_.forward);
  if (!box) return {};
  double begin = box->enter;
  int side = box->enter_side;
  if (options_.cut_corner)
    if (const auto c = cross(corner_, from, camera_.forward); c && c->leave > begin) {
      begin = c->leave;
      side = c->leave_side;
      if (begin >= box->leave) return {};
    }
  const Vec3 first = from + camera_.forward * begin;
  if (shade_.value(first) <= 0) return surface(from, begin, box->leave);
  Hit hit{begin, first, {}, true};
  hit.normal[side] = camera_.forward[side] > 0 ? -1 : 1;
  return hit;
}

std::array<double, 3> Renderer::colour(const Hit& hit) const {
  const auto blend = [](const Rgb& base, double bright, double gloss, const Rgb& far, double pale) {
    std::array<double, 3> c{};
    for (std::size_t i = 0; i < 3; ++i)
      c[i] = (1 - pale) * std::min(255.0, base[i] * bright + 255 * gloss) + pale * far[i];
    return c;
  };
  const Vec3 sun = camera_.right * -0.45 + camera_.up * 0.65 + camera_.forward * -0.61;
  const double lit = std::max(0.0, dot(hit.normal, sun));
  const double pale = 0.35 * std::clamp(0.5 + 0.5 * hit.depth / camera_.depth, 0.0, 1.0);
  if (hit.cut) return blend(options_.cut, 0.78 + 0.27 * lit, 0, options_.background, 0.3 * pale);
  const double open = shade_.openness(hit.place, hit.normal);
  const Vec3 half = (sun - camera_.forward) * (1 / norm(sun - camera_.forward));
  const double bright = std::max(0.0, dot(hit.normal, half)), bright3 = bright * bright * bright;
  const double bright6 = bright3 * bright3, bright12 = bright6 * bright6, gloss = 0.16 * bright12 * bright12 * open;
  return blend(options_.surface, (0.42 + 0.72 * lit) * open, gloss, options_.background, pale);
}

/// Visible dots of an edge.
void Renderer::draw_edge(const Vec3& a, const Vec3& b, std::span<const Sample> middles,
                         std::span<std::uint8_t> drawn) const {
  const int columns = dots * options_.width;
  const int steps = static_cast<int>(2 * dots * camera_.scale * norm(b - a)) + 1;
  for (int i = 0; i <= steps; ++i) {
    const Vec3 p = a + (b - a) * (static_cast<double>(i) / steps);
    const PicturePoint at = camera_.pixel(p);
    const double depth = dot(p - camera_.centre, camera_.forward);
    const int column = static_cast<int>(dots * at.column), row = static_cast<int>(dots * at.row);
    for (int y = row - 1; y <= row + 1; ++y)
      for (int x = column - 1; x <= column + 1; ++x) {
        if (x < 0 || y < dots * first_ || x >= columns || y >= dots * last_) continue;
        const Sample& there = middles[std::int64_t{y / dots - first_} * options_.width + x / dots];
        if (depth <= double{there[3]} + 1.5) drawn[std::int64_t{y - dots * first_} * columns + x] = 1;
      }
  }
}

/// 1 for dots of the edges of the box, row by row.
std::vector<std::uint8_t> Renderer::edge_dots(std::span<const Sample> middles) const {
  std::vector<std::uint8_t> drawn(std::int64_t{dots * dots} * options_.width * (last_ - first_));
  if (!options_.edges) return drawn;
  Vec3 nearest, inner;
  Block corner = box_;
  for (int d = 0; d < 3; ++d) {
    const bool high = camera_.forward[d] < 0;
    nearest[d] = high ? box_.high[d] : 0;
    inner[d] = 0.5 * box_.high[d];
    (high ? corner.low : corner.high)[d] = inner[d];
  }
  for_edges(box_, [&](const Vec3& from, const Vec3& to) {
    if (options_.cut_corner && (from == nearest || to == nearest))  // the other half is cut away
      draw_edge(from == nearest ? to : from, (from + to) * 0.5, middles, drawn);
    else
      draw_edge(from, to, middles, drawn);
  });
  if (!options_.cut_corner) return drawn;
  for_edges(corner, [&](const Vec3& from, const Vec3& to) {  // of the cut, that do not touch the nearest corner
    if (from != nearest && to != nearest) draw_edge(from, to, middles, drawn);
  });
  return drawn;
}

/// The edges below the box: x and y at its foot towards the eye, z at the left.
std::array<Rendering::Edge, 3> Renderer::named_edges() const {
  std::array<Rendering::Edge, 3> edges;
  const PicturePoint middle = camera_.pixel(camera_.centre);
  for (int d = 0; d < 3; ++d) {
    Vec3 low;
    if (d == 2) {
      for (const int e : {0, 1}) low[e] = camera_.right[e] > 0 ? 0 : box_.high[e];  // leftmost
    } else {
      low[1 - d] = camera_.forward[1 - d] < 0 ? box_.high[1 - d] : 0;
    }
    Vec3 high = low;
    high[d] = box_.high[d];
    Rendering::Edge& edge = edges[d];
    edge = {camera_.pixel(low), camera_.pixel((low + high) * 0.5), camera_.pixel(high), {}};
    PicturePoint across{edge.end.row - edge.begin.row, edge.begin.column - edge.end.column};
    const double length = std::max(1e-9, std::hypot(across.column, across.row));
    const double sign =
        across.column * (edge.middle.column - middle.column) + across.row * (edge.middle.row - middle.row) >= 0 ? 1
                                                                                                                : -1;
    edge.out = {sign * across.column / length, sign * across.row / length};
  }
  return edges;
}

Renderer::Sample Renderer::sample(double column, double row) const {
  const Hit hit = trace(column, row);
  Sample s{0, 0, 0, static_cast<float>(hit.depth)};
  if (hit.depth < infinite) {
    const std::array<double, 3> c = colour(hit);
    for (std::size_t i = 0; i < 3; ++i) s[i] = static_cast<float>(c[i]);
  } else {
    for (std::size_t i = 0; i < 3; ++i) s[i] = options_.background[i];
  }
  return s;
}

/// From the first row of this rank on.
std::vector<Renderer::Sample> Renderer::samples(int rows, int columns, double offset) const {
  std::vector<Sample> all(std::int64_t{columns} * rows);
  parallel_for_dynamic(rows, [&](std::int64_t row) {
    for (int column = 0; column < columns; ++column)
      all[row * columns + column] = sample(column + offset, static_cast<double>(first_ + row) + offset);
  });
  return all;
}

/// One ray through the middle of each pixel and, with the same weight, those through its corners, which pixels share.
Rendering Renderer::run() const {
  const int width = options_.width, corners = width + 1;
  const std::vector<Sample> middle = samples(last_ - first_, width, 0.5),
                            corner = samples(last_ - first_ + 1, corners, 0);
  const std::vector<std::uint8_t> drawn = edge_dots(middle);
  constexpr std::array<float, 3> edge{110, 118, 128};
  Picture mine(width, last_ - first_, 3);
  parallel_for(last_ - first_, [&](std::int64_t row) {
    for (int column = 0; column < width; ++column) {
      const Sample* const above = corner.data() + row * corners + column;
      int covered = 0;
      for (int k = 0; k < dots * dots; ++k)
        covered += drawn[(dots * row + k / dots) * dots * width + std::int64_t{dots} * column + k % dots];
      for (std::size_t i = 0; i < 3; ++i) {
        float c = 0.5F * middle[row * width + column][i] +
                  0.125F * (above[0][i] + above[1][i] + above[corners][i] + above[corners + 1][i]);
        c += static_cast<float>(covered) / (dots * dots) * (edge[i] - c);
        mine.pixel(column, static_cast<int>(row))[i] = static_cast<std::uint8_t>(std::lround(c));
      }
    }
  });
  Rendering out{Picture(options_.width, 0, 3), camera_.scale, named_edges()};
  out.picture.height = options_.height;
  out.picture.values = comm_.all_gather(std::span<const std::uint8_t>(mine.values));
  return out;
}

}  // namespace

Rendering render(const Comm& comm, const Volume& volume, const RenderOptions& options) {
  assert(options.width > 0 && options.height > 0);
  return Renderer(comm, volume, options).run();
}

PicturePoint projected(const Index& size, const RenderOptions& options, const Vec3& point) {
  return Camera(size, options).pixel(point);
}

}  // namespace karst
