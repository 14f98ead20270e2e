// SPDX-License-Identifier: BSD-3-Clause
// Bodies with exact point membership, and what a voxel image sees of them. Lengths in voxels; voxel (i, j, k) is the
// unit cube with its low corner there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/math/triple.hpp"
#include "image_generator/polyhedron.hpp"
#include "image_generator/random_numbers.hpp"

namespace karst {

/// Called with a point of a surface, the normal out of the body there, and the area the point stands for.
using OnSurface = std::function<void(const Vec3&, const Vec3&, double)>;

class Body {
 public:
  Body(const Vec3& lo, const Vec3& hi, int label) : lo_(lo), hi_(hi), label_(label) {}
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body() = default;
  const Vec3& lo() const { return lo_; }  ///< the body lies in [lo, hi]
  const Vec3& hi() const { return hi_; }
  int label() const { return label_; }  ///< 0 pore, from 1 on minerals
  /// > 0 inside, < 0 outside; its slope is at most slope().
  virtual double depth(const Vec3& x) const = 0;
  virtual double slope() const { return 1; }
  virtual bool contains(const Vec3& x) const { return depth(x) > 0; }
  /// The parts of the surface (one bit each) that may come nearer to x than reach; others need not be asked there.
  virtual std::uint64_t parts(const Vec3& /*x*/, double /*reach*/) const { return ~std::uint64_t{0}; }
  /// contains(x) for an x within the reach that the parts were asked for.
  virtual bool contains(const Vec3& x, std::uint64_t /*parts*/) const { return contains(x); }
  /// Points of the surface about `step` apart.
  virtual void surface(double step, const OnSurface& f) const = 0;

 private:
  Vec3 lo_, hi_;
  int label_;
};

class Ball : public Body {
 public:
  using Body::contains;
  Ball(const Vec3& center, double radius, int label);
  double depth(const Vec3& x) const override { return radius_ - norm(x - center_); }
  bool contains(const Vec3& x) const override { return dot(x - center_, x - center_) < radius_ * radius_; }
  void surface(double step, const OnSurface& f) const override;

 private:
  Vec3 center_;
  double radius_;
};

/// Circular cylinder without ends along direction d.
class Tube : public Body {
 public:
  Tube(const Index& size, int direction, const Vec3& on_axis, double radius, int label);
  double depth(const Vec3& x) const override;
  void surface(double step, const OnSurface& f) const override;

 private:
  int direction_, length_;
  Vec3 on_axis_;
  double radius_;
};

/// Convex polyhedron of at most 64 planes: depth is the least distance to a plane.
class Facets : public Body {
 public:
  Facets(const Vec3& center, std::vector<FacetPlane> planes, double reach, int label);
  using Body::contains;
  double depth(const Vec3& x) const override;
  std::uint64_t parts(const Vec3& x, double reach) const override;
  bool contains(const Vec3& x, std::uint64_t parts) const override;
  void surface(double step, const OnSurface& f) const override;

 private:
  Vec3 center_;
  double reach_;
  std::vector<FacetPlane> planes_;
};

/// Height of a self-affine surface: octaves of noise of half the wavelength each, from `wavelength` down to 2 voxels,
/// each an interpolation (quintic, twice differentiable) of random numbers at lattice points; amplitudes ~
/// wavelength^hurst; the root mean square over many wavelengths is `deviation`.
class Roughness {
 public:
  Roughness(double deviation, double wavelength, double hurst, const RandomNumbers& random);
  double height(double u, double v) const;
  double slope_bound() const { return slope_; }
  double height_bound() const { return most_; }

 private:
  struct Octave {
    double wavelength, amplitude;
  };
  std::vector<Octave> octaves_;
  RandomNumbers random_;
  double slope_ = 0, most_ = 0;
};

/// The points with |normal · (x - point) - height| < aperture / 2: both sides have the same shape.
class Fracture : public Body {
 public:
  Fracture(const Index& size, const Vec3& point, const Vec3& normal, double aperture, const Roughness& roughness);
  double depth(const Vec3& x) const override;
  double slope() const override { return slope_; }
  void surface(double step, const OnSurface& f) const override;

 private:
  Index size_;
  Vec3 point_, normal_, u_, v_;
  double aperture_, reach_, slope_;
  Roughness roughness_;
};

/// Bodies in a box of voxels: where several hold a point, the last one counts; where none does, the background.
class Scene {
 public:
  Scene(const Index& size, int background, std::vector<std::unique_ptr<Body>> bodies);
  const Index& size() const { return size_; }
  /// Exact.
  int label(const Vec3& x) const;
  /// Σ over the wall between pore and solid inside the box of the areas that surface points stand for.
  double wall_area(double step) const;
  /// The same by the label of the solid at the wall; the first, of the pore, is 0.
  std::vector<double> wall_areas(double step) const;

  struct Voxels {
    std::vector<float> value;          ///< Σ over labels of share of the voxel × value of the label
    std::vector<std::uint8_t> labels;  ///< at voxel centres
    std::vector<double> shares;        ///< of each label in the box
  };
  /// By the samples (points of the unit cube) in voxels that a surface may cut; exact in others. x fastest.
  /// @param values  of the labels
  Voxels voxels(std::span<const double> values, std::span<const Vec3> samples) const;

 private:
  const std::vector<int>& near(const Vec3& x) const;
  void voxel_row(int y, int z, std::span<const double> values, std::span<const Vec3> samples, Voxels& out,
                 std::vector<std::int64_t>& counts) const;

  Index size_, bins_;
  int background_, labels_ = 1;
  std::vector<std::unique_ptr<Body>> bodies_;
  std::vector<std::vector<int>> bodies_of_bin_;
};

/// n³ points in rows.
std::vector<Vec3> grid_samples(int n);
/// 256 points of a lattice of rank 1 (Korobov); its shadow on each axis is 256 even points, so that planes along the
/// voxels are caught as well as others.
std::vector<Vec3> lattice_samples();

}  // namespace karst
