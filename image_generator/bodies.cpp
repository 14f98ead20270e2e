// SPDX-License-Identifier: BSD-3-Clause
#include "image_generator/bodies.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

constexpr double unbounded = 1e9;
constexpr int bin_width = 8;

Vec3 all_but(int direction, const Vec3& in_it, const Vec3& across) {
  Vec3 x = across;
  x[direction] = in_it[direction];
  return x;
}

/// A number in [0, 1) for a lattice point of an octave.
double lattice_number(const RandomNumbers& random, std::size_t octave, std::int64_t i, std::int64_t j) {
  const auto place = static_cast<std::uint64_t>((i + (1 << 20)) * (1 << 22) + j + (1 << 20));
  return random.uniform(place * 16 + octave);
}

double smooth_step(double t) { return t * t * t * (10 + t * (6 * t - 15)); }

}  // namespace

Ball::Ball(const Vec3& center, double radius, int label)
    : Body(center - Vec3::all(radius), center + Vec3::all(radius), label), center_(center), radius_(radius) {}

void Ball::surface(double step, const OnSurface& f) const {  // rings of equal area, shifted by the golden angle
  const double area = 4 * std::numbers::pi * radius_ * radius_;
  const auto n = std::max<std::int64_t>(100, std::llround(area / (step * step)));
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  for (std::int64_t i = 0; i < n; ++i) {
    const double z = 1 - (2 * double(i) + 1) / double(n), across = std::sqrt(1 - z * z), angle = golden * double(i);
    const Vec3 normal{across * std::cos(angle), across * std::sin(angle), z};
    f(center_ + radius_ * normal, normal, area / double(n));
  }
}

Tube::Tube(const Index& size, int direction, const Vec3& on_axis, double radius, int label)
    : Body(all_but(direction, Vec3::all(-unbounded), on_axis - Vec3::all(radius)),
           all_but(direction, Vec3::all(unbounded), on_axis + Vec3::all(radius)), label),
      direction_(direction),
      length_(size[direction]),
      on_axis_(on_axis),
      radius_(radius) {}

double Tube::depth(const Vec3& x) const { return radius_ - norm(all_but(direction_, {}, x - on_axis_)); }

void Tube::surface(double step, const OnSurface& f) const {
  const double round = 2 * std::numbers::pi * radius_;
  const auto n = std::max<std::int64_t>(64, std::llround(round / step));
  const auto m = std::max<std::int64_t>(1, std::llround(length_ / step));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      const double angle = 2 * std::numbers::pi * double(i) / double(n);
      Vec3 normal, along;
      normal[(direction_ + 1) % 3] = std::cos(angle);
      normal[(direction_ + 2) % 3] = std::sin(angle);
      along[direction_] = (double(j) + 0.5) * length_ / double(m);
      f(all_but(direction_, along, on_axis_ + radius_ * normal), normal, round * length_ / double(n * m));
    }
}

Facets::Facets(const Vec3& center, std::vector<FacetPlane> planes, double reach, int label)
    : Body(center - Vec3::all(reach), center + Vec3::all(reach), label),
      center_(center),
      reach_(reach),
      planes_(std::move(planes)) {
  assert(planes_.size() <= 64);
}

double Facets::depth(const Vec3& x) const {
  double least = unbounded;
  for (const FacetPlane& p : planes_) least = std::min(least, p.offset - dot(p.normal, x - center_));
  return least;
}

std::uint64_t Facets::parts(const Vec3& x, double reach) const {
  std::uint64_t near = 0;
  for (std::size_t p = 0; p < planes_.size(); ++p)
    if (planes_[p].offset - dot(planes_[p].normal, x - center_) < reach) near |= std::uint64_t{1} << p;
  return near;
}

bool Facets::contains(const Vec3& x, std::uint64_t parts) const {
  const Vec3 e = x - center_;
  for (; parts != 0; parts &= parts - 1) {
    const FacetPlane& p = planes_[std::countr_zero(parts)];
    if (p.offset - dot(p.normal, e) <= 0) return false;
  }
  return true;
}

void Facets::surface(double step, const OnSurface& f) const {
  Polyhedron body(Vec3::all(-2 * reach_), Vec3::all(2 * reach_));
  for (std::size_t p = 0; p < planes_.size(); ++p) body.cut(planes_[p], static_cast<int>(p));
  for (const Polyhedron::Face& face : body.faces())
    for (std::size_t c = 2; c < face.loop.size(); ++c) {  // triangles, each of n² equal ones: centroids
      const Vec3 &a = face.loop[0], e = face.loop[c - 1] - a, g = face.loop[c] - a;
      const double area = 0.5 * norm(cross(e, g));
      const int n = std::max(1, static_cast<int>(std::ceil(std::sqrt(2 * area) / step)));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 2 * (n - i) - 1; ++j) {
          const double third = j % 2 == 0 ? 1.0 / 3 : 2.0 / 3;
          const Vec3 x = a + e * ((i + third) / n) + g * ((double(j) / 2 - (j % 2) * 0.5 + third) / n);
          f(center_ + x, planes_[face.plane].normal, area / (n * n));
        }
    }
}

Roughness::Roughness(double deviation, double wavelength, double hurst, const RandomNumbers& random) : random_(random) {
  if (deviation == 0) return;
  double square = 0;
  for (double w = wavelength; w >= 2 && octaves_.size() < 16; w /= 2) {
    // Rounded to float so that the last bits of pow do not matter.
    octaves_.push_back({w, double{static_cast<float>(std::pow(w / wavelength, hurst))}});
    square += octaves_.back().amplitude * octaves_.back().amplitude;
  }
  // Variance of uniform numbers ± √3 interpolated with weights s(t), 1 - s(t) in two directions: q²,
  // q = mean of s² + (1 - s)² = 181/231. Steepest: s' = 15/8 times a difference of 2 √3, across
  // which it is then flat.
  const double scale = deviation / (181.0 / 231.0 * std::sqrt(square));
  for (Octave& o : octaves_) {
    o.amplitude *= scale;
    slope_ += 15.0 / 8 * 2 * std::sqrt(3.0) * o.amplitude / o.wavelength;
    most_ += std::sqrt(3.0) * o.amplitude;
  }
}

double Roughness::height(double u, double v) const {
  double sum = 0;
  for (std::size_t o = 0; o < octaves_.size(); ++o) {
    const double a = u / octaves_[o].wavelength, b = v / octaves_[o].wavelength;
    const auto i = static_cast<std::int64_t>(std::floor(a)), j = static_cast<std::int64_t>(std::floor(b));
    const double s = smooth_step(a - double(i)), t = smooth_step(b - double(j));
    const double low = lattice_number(random_, o, i, j) * (1 - s) + lattice_number(random_, o, i + 1, j) * s;
    const double high = lattice_number(random_, o, i, j + 1) * (1 - s) + lattice_number(random_, o, i + 1, j + 1) * s;
    sum += octaves_[o].amplitude * std::sqrt(3.0) * (2 * (low * (1 - t) + high * t) - 1);
  }
  return sum;
}

Fracture::Fracture(const Index& size, const Vec3& point, const Vec3& normal, double aperture,
                   const Roughness& roughness)
    : Body(Vec3::all(-unbounded), Vec3::all(unbounded), 0),
      size_(size),
      point_(point),
      normal_(normal * (1 / norm(normal))),
      aperture_(aperture),
      reach_(norm({double(size[0]), double(size[1]), double(size[2])})),
      slope_(std::sqrt(1 + roughness.slope_bound() * roughness.slope_bound())),
      roughness_(roughness) {
  int least = 0;
  for (int d = 1; d < 3; ++d)
    if (std::abs(normal_[d]) < std::abs(normal_[least])) least = d;
  Vec3 axis;
  axis[least] = 1;
  u_ = cross(normal_, axis);
  u_ *= 1 / norm(u_);
  v_ = cross(normal_, u_);
}

double Fracture::depth(const Vec3& x) const {
  const Vec3 e = x - point_;
  const double height = slope_ > 1 ? roughness_.height(dot(e, u_), dot(e, v_)) : 0.0;
  return aperture_ / 2 - std::abs(dot(e, normal_) - height);
}

void Fracture::surface(double step, const OnSurface& f) const {
  const auto n = static_cast<std::int64_t>(std::ceil(reach_ / step));
  const double e = step / 8;
  for (std::int64_t i = -n; i < n; ++i)
    for (std::int64_t j = -n; j < n; ++j) {
      const double u = (double(i) + 0.5) * step, v = (double(j) + 0.5) * step;
      const Vec3 flat = point_ + u * u_ + v * v_;
      const double around = 0.5 * aperture_ + roughness_.height_bound();
      bool in_box = true;
      for (int d = 0; d < 3; ++d) in_box = in_box && flat[d] > -around && flat[d] < size_[d] + around;
      if (!in_box) continue;
      const double height = roughness_.height(u, v);
      const double in_u = (roughness_.height(u + e, v) - roughness_.height(u - e, v)) / (2 * e);
      const double in_v = (roughness_.height(u, v + e) - roughness_.height(u, v - e)) / (2 * e);
      const double longer = std::sqrt(1 + in_u * in_u + in_v * in_v);
      const Vec3 up = (normal_ - in_u * u_ - in_v * v_) * (1 / longer);
      const Vec3 middle = flat + height * normal_;
      f(middle + 0.5 * aperture_ * normal_, up, step * step * longer);
      f(middle - 0.5 * aperture_ * normal_, -up, step * step * longer);
    }
}

Scene::Scene(const Index& size, int background, std::vector<std::unique_ptr<Body>> bodies)
    : size_(size), background_(background), labels_(background + 1), bodies_(std::move(bodies)) {
  for (int d = 0; d < 3; ++d) bins_[d] = (size[d] + bin_width - 1) / bin_width;
  bodies_of_bin_.resize(std::int64_t{bins_[0]} * bins_[1] * bins_[2]);
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    labels_ = std::max(labels_, bodies_[b]->label() + 1);
    Index lo, hi;
    for (int d = 0; d < 3; ++d) {  // one voxel more: voxels at the rim of a bin see what cuts them
      lo[d] = static_cast<int>(std::clamp((bodies_[b]->lo()[d] - 1) / bin_width, 0.0, double(bins_[d])));
      hi[d] = static_cast<int>(std::clamp((bodies_[b]->hi()[d] + 1) / bin_width, -1.0, bins_[d] - 1.0));
    }
    for (int k = lo[2]; k <= hi[2]; ++k)
      for (int j = lo[1]; j <= hi[1]; ++j)
        for (int i = lo[0]; i <= hi[0]; ++i) {
          Vec3 middle{(i + 0.5) * bin_width, (j + 0.5) * bin_width, (k + 0.5) * bin_width};
          const double reach = (bin_width / 2 + 1) * std::sqrt(3.0) * bodies_[b]->slope();
          if (bodies_[b]->depth(middle) > -reach)
            bodies_of_bin_[(std::int64_t{k} * bins_[1] + j) * bins_[0] + i].push_back(static_cast<int>(b));
        }
  }
}

const std::vector<int>& Scene::near(const Vec3& x) const {
  Index b;
  for (int d = 0; d < 3; ++d) b[d] = std::clamp(static_cast<int>(x[d] / bin_width), 0, bins_[d] - 1);
  return bodies_of_bin_[(std::int64_t{b[2]} * bins_[1] + b[1]) * bins_[0] + b[0]];
}

int Scene::label(const Vec3& x) const {
  const std::vector<int>& bodies = near(x);
  for (auto b = bodies.rbegin(); b != bodies.rend(); ++b)
    if (bodies_[*b]->contains(x)) return bodies_[*b]->label();
  return background_;
}

std::vector<double> Scene::wall_areas(double step) const {
  constexpr double off = 1e-6;
  std::vector<std::vector<double>> of_body(bodies_.size(), std::vector<double>(labels_));
  parallel_for_dynamic(static_cast<std::int64_t>(bodies_.size()), [&](std::int64_t b) {
    bodies_[b]->surface(step, [&](const Vec3& x, const Vec3& normal, double weight) {
      for (int d = 0; d < 3; ++d)
        if (x[d] < 0 || x[d] >= size_[d]) return;
      const int out = label(x + off * normal), in = label(x - off * normal);
      if ((out == 0) != (in == 0)) of_body[b][std::max(out, in)] += weight;
    });
  });
  std::vector<double> sum(labels_);
  for (const std::vector<double>& areas : of_body)
    for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += areas[l];
  return sum;
}

double Scene::wall_area(double step) const {
  const std::vector<double> areas = wall_areas(step);
  return std::accumulate(areas.begin(), areas.end(), 0.0);
}

void Scene::voxel_row(int y, int z, std::span<const double> values, std::span<const Vec3> samples, Voxels& out,
                      std::vector<std::int64_t>& counts) const {
  const double corner = std::sqrt(0.75), n = static_cast<double>(samples.size());
  std::vector<std::pair<const Body*, std::uint64_t>> cutting;
  std::vector<int> inside(labels_);
  for (int x = 0; x < size_[0]; ++x) {
    const Vec3 low{double(x), double(y), double(z)}, middle = low + Vec3::all(0.5);
    const std::size_t here = (std::int64_t{z} * size_[1] + y) * size_[0] + x;
    int base = background_;
    cutting.clear();
    for (const int b : near(middle)) {
      const Body& body = *bodies_[b];
      const double depth = body.depth(middle), reach = corner * body.slope();
      if (depth > reach) {
        cutting.clear();
        base = body.label();
      } else if (depth > -reach) {
        cutting.emplace_back(&body, body.parts(middle, reach));
      }
    }
    const auto label_at = [&](const Vec3& point) {
      for (auto b = cutting.rbegin(); b != cutting.rend(); ++b)
        if (b->first->contains(point, b->second)) return b->first->label();
      return base;
    };
    out.labels[here] = static_cast<std::uint8_t>(label_at(middle));
    std::fill(inside.begin(), inside.end(), 0);
    if (cutting.empty()) {
      inside[base] = static_cast<int>(samples.size());
    } else {
      for (const Vec3& s : samples) ++inside[label_at(low + s)];
    }
    double value = 0;
    for (std::size_t l = 0; l < inside.size(); ++l) {
      value += inside[l] * values[l];
      counts[l] += inside[l];
    }
    out.value[here] = static_cast<float>(value / n);
  }
}

Scene::Voxels Scene::voxels(std::span<const double> values, std::span<const Vec3> samples) const {
  const std::int64_t n_voxels = std::int64_t{size_[0]} * size_[1] * size_[2];
  Voxels out{std::vector<float>(n_voxels), std::vector<std::uint8_t>(n_voxels), {}};
  std::vector<std::vector<std::int64_t>> counts(size_[2], std::vector<std::int64_t>(labels_, 0));
  parallel_for_dynamic(size_[2], [&](std::int64_t z) {
    for (int y = 0; y < size_[1]; ++y) voxel_row(y, static_cast<int>(z), values, samples, out, counts[z]);
  });
  for (int l = 0; l < labels_; ++l) {
    std::int64_t sum = 0;
    for (const auto& plane : counts) sum += plane[l];
    out.shares.push_back(double(sum) / (double(n_voxels) * double(samples.size())));
  }
  return out;
}

std::vector<Vec3> grid_samples(int n) {
  std::vector<Vec3> samples;
  for (int m = 0; m < n * n * n; ++m)
    samples.push_back({(m % n + 0.5) / n, (m / n % n + 0.5) / n, (m / (n * n) + 0.5) / n});
  return samples;
}

std::vector<Vec3> lattice_samples() {
  // Generator (1, 13, 169): of those of the form (1, a, a²) modulo 256 one with the largest least distance, 0.154.
  std::vector<Vec3> samples;
  for (int m = 0; m < 256; ++m)
    samples.push_back({(m + 0.5) / 256, (m * 13 % 256 + 0.5) / 256, (m * 169 % 256 + 0.5) / 256});
  return samples;
}

}  // namespace karst
