// SPDX-License-Identifier: BSD-3-Clause
#include "image_generator/polyhedron.hpp"

#include <algorithm>
#include <cmath>

namespace karst {
namespace {

Vec3 area_vector(const std::vector<Vec3>& loop) {
  Vec3 sum;
  for (std::size_t c = 2; c < loop.size(); ++c) sum += cross(loop[c - 1] - loop[0], loop[c] - loop[0]);
  return 0.5 * sum;
}

/// Grows with the angle of (a, b) and needs no trigonometry; in [0, 4).
double pseudo_angle(double a, double b) {
  const double t = b / (std::abs(a) + std::abs(b));
  return a >= 0 ? (b >= 0 ? t : 4 + t) : 2 - t;
}

/// Corners of a convex polygon in the plane of the normal, put in order around it, counter-clockwise.
std::vector<Vec3> ordered(const std::vector<Vec3>& corners, const Vec3& normal) {
  Vec3 middle;
  for (const Vec3& c : corners) middle += c;
  middle *= 1.0 / static_cast<double>(corners.size());
  Vec3 first;
  for (const Vec3& c : corners)
    if (norm(c - middle) > norm(first)) first = c - middle;
  const Vec3 second = cross(normal, first);
  const auto angle = [&](const Vec3& c) { return pseudo_angle(dot(c - middle, first), dot(c - middle, second)); };
  std::vector<std::pair<double, Vec3>> sorted;
  for (const Vec3& c : corners)
    if (norm(c - middle) > 0) sorted.emplace_back(angle(c), c);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Vec3> loop;
  for (const auto& [a, c] : sorted)
    if (loop.empty() || norm(c - loop.back()) > 1e-9 * norm(first)) loop.push_back(c);
  return loop;
}

}  // namespace

Polyhedron::Polyhedron(const Vec3& lo, const Vec3& hi) {
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const int e = (d + 1) % 3, f = (d + 2) % 3;
      std::vector<Vec3> loop(4, high ? hi : lo);
      loop[0][e] = loop[3][e] = lo[e];
      loop[1][e] = loop[2][e] = hi[e];
      loop[0][f] = loop[1][f] = lo[f];
      loop[2][f] = loop[3][f] = hi[f];
      if (!high) std::reverse(loop.begin(), loop.end());
      faces_.push_back({-1, loop});
    }
}

void Polyhedron::cut(const FacetPlane& h, int plane) {
  std::vector<Face> kept;
  std::vector<Vec3> on_plane;
  bool any_cut = false;
  for (const Face& face : faces_) {
    std::vector<Vec3> loop;
    for (std::size_t c = 0; c < face.loop.size(); ++c) {
      const Vec3 &a = face.loop[c], &b = face.loop[(c + 1) % face.loop.size()];
      const double outside_a = dot(h.normal, a) - h.offset, outside_b = dot(h.normal, b) - h.offset;
      if (outside_a <= 0) loop.push_back(a);
      any_cut = any_cut || outside_a > 0;
      if ((outside_a <= 0) == (outside_b <= 0)) continue;
      const Vec3 x = a + (b - a) * (outside_a / (outside_a - outside_b));
      loop.push_back(x);
      on_plane.push_back(x);
    }
    if (loop.size() >= 3) kept.push_back({face.plane, std::move(loop)});
  }
  if (!any_cut) return;
  if (kept.size() < 2) kept.clear();
  if (!kept.empty() && on_plane.size() >= 3) kept.push_back({plane, ordered(on_plane, h.normal)});
  faces_ = std::move(kept);
}

double Polyhedron::volume() const {
  double sum = 0;
  for (const Face& f : faces_) sum += dot(area_vector(f.loop), f.loop[0] - faces_[0].loop[0]);
  return sum / 3;
}

double Polyhedron::area(int plane) const {
  double sum = 0;
  for (const Face& f : faces_)
    if (f.plane == plane) sum += norm(area_vector(f.loop));
  return sum;
}

double Polyhedron::area() const {
  double sum = 0;
  for (const Face& f : faces_) sum += norm(area_vector(f.loop));
  return sum;
}

double Polyhedron::reach(const Vec3& x) const {
  double most = 0;
  for (const Face& f : faces_)
    for (const Vec3& c : f.loop) most = std::max(most, norm(c - x));
  return most;
}

}  // namespace karst
