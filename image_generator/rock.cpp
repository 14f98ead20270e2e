// SPDX-License-Identifier: BSD-3-Clause
#include "image_generator/rock.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

double volume_of(const Index& size) { return double(size[0]) * size[1] * size[2]; }

/// Cube root by Newton's method: the same bits everywhere.
double cube_root(double a) {
  double x = std::max(a, 1.0);
  for (int n = 0; n < 200; ++n) x = (2 * x + a / (x * x)) / 3;
  return x;
}

/// Even on the sphere; vector number n of the stream.
Vec3 random_direction(const RandomNumbers& random, std::uint64_t n) {
  for (std::uint64_t k = 0;; ++k) {
    Vec3 x;
    for (int d = 0; d < 3; ++d) x[d] = 2 * random.uniform(n * 1024 + 3 * k + static_cast<std::uint64_t>(d)) - 1;
    const double length = norm(x);
    if ((length > 0.01 && length <= 1) || k > 300) return x * (1 / length);
  }
}

/// Centres with their images, relative to x, nearer than the cutoff, nearest first; not x itself.
std::vector<Vec3> neighbours(const std::vector<Vec3>& centers, const Vec3& x, const Index& size, double cutoff) {
  std::vector<std::pair<double, Vec3>> found;
  for (const Vec3& c : centers)
    for (int image = 0; image < 27; ++image) {
      const Vec3 e = c - x +
                     Vec3{double(size[0]) * (image % 3 - 1), double(size[1]) * (image / 3 % 3 - 1),
                          double(size[2]) * (image / 9 - 1)};
      const double distance = norm(e);
      if (distance > 0 && distance < cutoff) found.emplace_back(distance, e);
    }
  std::sort(found.begin(), found.end());
  std::vector<Vec3> sorted;
  for (const auto& [distance, e] : found) sorted.push_back(e);
  return sorted;
}

/// Voronoi cell of a centre, cut by further planes.
Grain voronoi_cell(const std::vector<Vec3>& centers, const Vec3& x, const Index& size,
                   const std::vector<FacetPlane>& further) {
  const double mean = cube_root(volume_of(size) / double(centers.size()));
  const double largest = std::max({size[0], size[1], size[2]});
  for (double cutoff = 3 * mean;; cutoff *= 1.5) {
    Polyhedron cell(Vec3::all(-cutoff), Vec3::all(cutoff));
    std::vector<FacetPlane> planes;
    const auto cut = [&](const FacetPlane& p) {
      cell.cut(p, static_cast<int>(planes.size()));
      planes.push_back(p);
    };
    for (const Vec3& e : neighbours(centers, x, size, cutoff)) cut({e * (1 / norm(e)), 0.5 * norm(e)});
    if (2 * cell.reach({}) > cutoff && cutoff < 2 * largest) continue;
    for (const FacetPlane& p : further) cut(p);
    Grain grain{x, {}, cell.reach({}), cell.volume(), cell.area(), 1};
    for (std::size_t p = 0; p < planes.size(); ++p)
      if (cell.area(static_cast<int>(p)) > 0) grain.planes.push_back(planes[p]);
    require(grain.planes.size() <= 64, "a grain has {} faces; at most 64 are allowed: use fewer facets",
            grain.planes.size());
    return grain;
  }
}

/// Voronoi cells with `facets` more planes each, at 0.8 to 1.2 of the mean radius.
std::vector<Grain> voronoi_grains(const RockOptions& o, double porosity, int facets) {
  const std::vector<Vec3> centers = packed_centers({o.size, o.radius, porosity, o.seed});
  const RandomNumbers directions(o.seed, 21), distances(o.seed, 22);
  const double radius = cube_root(volume_of(o.size) / double(centers.size()) / (4.0 / 3 * std::numbers::pi));
  std::vector<Grain> grains(centers.size());
  parallel_for(static_cast<std::int64_t>(centers.size()), [&](std::int64_t g) {
    std::vector<FacetPlane> further;
    for (int f = 0; f < facets; ++f) {
      const auto n = static_cast<std::uint64_t>(g * 64 + f);
      further.push_back({random_direction(directions, n), radius * (0.8 + 0.4 * distances.uniform(n))});
    }
    grains[g] = voronoi_cell(centers, centers[g], o.size, further);
  });
  return grains;
}

/// Scales the grains about their centres for the porosity.
void shrink(const RockOptions& o, std::vector<Grain>& grains) {
  const RandomNumbers random(o.seed, 23);
  std::vector<double> scale;
  double volume = 0;
  for (std::size_t g = 0; g < grains.size(); ++g) {
    scale.push_back(1 - o.spread * random.uniform(g));
    volume += scale[g] * scale[g] * scale[g] * grains[g].volume;
  }
  const double factor = cube_root((1 - o.porosity) * volume_of(o.size) / volume);
  require(factor <= 1, "porosity {} given; with these grains it is at least {:.4f}: use fewer facets or less spread",
          o.porosity, 1 - volume / volume_of(o.size));
  for (std::size_t g = 0; g < grains.size(); ++g) {
    const double s = factor * scale[g];
    for (FacetPlane& p : grains[g].planes) p.offset *= s;
    grains[g].reach *= s;
    grains[g].area *= s * s;
    grains[g].volume *= s * s * s;
  }
}

/// Gives each volume in turn to the mineral that lacks most; labels from 1.
class Minerals {
 public:
  Minerals(const std::vector<Mineral>& minerals, double whole) {
    for (const Mineral& m : minerals) lack_.push_back(m.share * whole);
  }
  int take(double volume) {
    const auto most = std::max_element(lack_.begin(), lack_.end());
    *most -= volume;
    return static_cast<int>(most - lack_.begin()) + 1;
  }

 private:
  std::vector<double> lack_;
};

void give_minerals(const std::vector<Mineral>& minerals, std::vector<Grain>& grains) {
  double whole = 0;
  for (const Grain& g : grains) whole += g.volume;
  Minerals lack(minerals, whole);
  for (Grain& g : grains) g.label = lack.take(g.volume);
}

/// Spheres and labels: images of a sphere follow each other and are the same mineral.
void pack(const RockOptions& o, Rock& rock) {
  rock.spheres = random_packing({o.size, o.radius, o.porosity, o.seed});
  const auto same = [&](const Vec3& a, const Vec3& b) {
    for (int d = 0; d < 3; ++d) {
      const double boxes = (a[d] - b[d]) / o.size[d];
      if (std::abs(boxes - std::round(boxes)) > 1e-9) return false;
    }
    return true;
  };
  double n = 0;
  for (std::size_t s = 0; s < rock.spheres.size(); ++s)
    n += s == 0 || !same(rock.spheres[s].center, rock.spheres[s - 1].center);
  Minerals lack(o.minerals, n);
  for (std::size_t s = 0; s < rock.spheres.size(); ++s) {
    const bool image = s > 0 && same(rock.spheres[s].center, rock.spheres[s - 1].center);
    rock.sphere_labels.push_back(image ? rock.sphere_labels.back() : lack.take(1));
  }
}

Vec3 middle_of(const RockOptions& o) {
  return o.center.value_or(Vec3{0.5 * o.size[0], 0.5 * o.size[1], 0.5 * o.size[2]});
}

int axis_of(const Vec3& v) { return v[0] != 0 ? 0 : v[1] != 0 ? 1 : 2; }

std::vector<FracturePlane> fracture_planes(const RockOptions& o) {
  std::vector<FracturePlane> planes;
  if (o.kind == RockKind::slit) planes.push_back({middle_of(o), o.normal * (1 / norm(o.normal))});
  const RandomNumbers directions(o.seed, 24), places(o.seed, 25);
  for (int f = 0; f < o.fractures; ++f) {
    const auto n = static_cast<std::uint64_t>(f);
    Vec3 point;  // in the middle half of the box
    for (int d = 0; d < 3; ++d)
      point[d] = o.size[d] * (0.25 + 0.5 * places.uniform(3 * n + static_cast<std::uint64_t>(d)));
    planes.push_back({point, random_direction(directions, n)});
  }
  return planes;
}

/// The bodies in the order in which later ones count.
std::vector<std::unique_ptr<Body>> bodies_of(const Rock& rock) {
  const RockOptions& o = rock.options;
  std::vector<std::unique_ptr<Body>> bodies;
  for (const Grain& g : rock.grains)
    for (int image = 0; image < 27; ++image) {
      const Vec3 x = g.center + Vec3{double(o.size[0]) * (image % 3 - 1), double(o.size[1]) * (image / 3 % 3 - 1),
                                     double(o.size[2]) * (image / 9 - 1)};
      bool touches = true;
      for (int d = 0; d < 3; ++d) touches = touches && x[d] > -g.reach && x[d] < o.size[d] + g.reach;
      if (touches) bodies.push_back(std::make_unique<Facets>(x, g.planes, g.reach, g.label));
    }
  for (std::size_t s = 0; s < rock.spheres.size(); ++s)
    bodies.push_back(std::make_unique<Ball>(rock.spheres[s].center, rock.spheres[s].radius, rock.sphere_labels[s]));
  if (o.kind == RockKind::tube)
    bodies.push_back(std::make_unique<Tube>(o.size, axis_of(o.normal), middle_of(o), o.radius, 0));
  const double wavelength = 0.5 * std::max({o.size[0], o.size[1], o.size[2]});
  for (std::size_t f = 0; f < rock.fractures.size(); ++f)
    bodies.push_back(
        std::make_unique<Fracture>(o.size, rock.fractures[f].point, rock.fractures[f].normal, o.aperture,
                                   Roughness(o.roughness, wavelength, o.hurst, RandomNumbers(o.seed, 100 + f))));
  return bodies;
}

void check_minerals(const RockOptions& o) {
  require(!o.minerals.empty() && o.minerals.size() <= 20, "{} minerals given; allowed are 1 to 20", o.minerals.size());
  double sum = 0;
  std::set<std::string> names{"pore"};
  for (const Mineral& m : o.minerals) {
    require(!m.name.empty() && names.insert(m.name).second,
            "mineral \"{}\": each mineral needs a different name, other than pore", m.name);
    require(m.share > 0 && m.share <= 1, "mineral {}: fraction {} given; allowed are 0 to 1", m.name, m.share);
    require(m.gray >= 0 && m.gray <= 255, "mineral {}: gray value {} given; allowed are 0 to 255", m.name, m.gray);
    sum += m.share;
  }
  require(std::abs(sum - 1) < 1e-6, "the fractions of the minerals add up to {}; they must add up to 1", sum);
  require(o.kind != RockKind::sphere || o.minerals.size() == 1, "a single sphere has a single mineral; {} given",
          o.minerals.size());
}

void check(const RockOptions& o) {
  for (int d = 0; d < 3; ++d)
    require(o.size[d] >= 4 && o.size[d] <= 4096, "size {} voxels given; allowed are 4 to 4096", o.size[d]);
  require(o.facets >= 0 && o.facets <= 20, "facets {} given; allowed are 0 to 20", o.facets);
  require(o.spread >= 0 && o.spread <= 0.9, "spread {} given; allowed are 0 to 0.9", o.spread);
  require(o.fractures >= 0 && o.fractures <= 8, "fractures {} given; allowed are 0 to 8", o.fractures);
  require(o.aperture >= 0.1 && o.aperture <= 1e3, "aperture {} voxels given; allowed are 0.1 to 1000", o.aperture);
  require(o.roughness >= 0 && o.roughness <= 50, "roughness {} voxels given; allowed are 0 to 50", o.roughness);
  require(o.hurst >= 0.1 && o.hurst <= 1, "hurst {} given; allowed are 0.1 to 1", o.hurst);
  require(norm(o.normal) > 0 && norm(o.normal) < 1e6, "axis: a vector of length 0 to 1e6 is needed; given is {}",
          norm(o.normal));
  check_minerals(o);
  if (o.kind != RockKind::tube && o.kind != RockKind::sphere) return;
  const int along = o.kind == RockKind::tube ? axis_of(o.normal) : 3;
  require(along == 3 || norm(o.normal) == std::abs(o.normal[along]), "axis of the tube: allowed are x, y and z");
  require(o.radius >= 0.5, "radius {} voxels given; at least 0.5 is needed", o.radius);
  for (int d = 0; d < 3; ++d)
    require(d == along || (middle_of(o)[d] >= o.radius && middle_of(o)[d] + o.radius <= o.size[d]),
            "radius {} about {} extends beyond the box of {} voxels", o.radius, middle_of(o)[d], o.size[d]);
}

}  // namespace

Rock make_rock(const RockOptions& o) {
  check(o);
  Rock rock;
  rock.options = o;
  rock.samples = lattice_samples();
  int background = 1;
  if (o.kind == RockKind::packing) {
    background = 0;
    pack(o, rock);
    if (o.fractures == 0) rock.samples = grid_samples(6);
  } else if (o.kind == RockKind::polyhedra) {
    background = 0;
    rock.grains = voronoi_grains(o, o.porosity, o.facets);
    shrink(o, rock.grains);
  } else if (o.kind == RockKind::sphere) {
    background = 0;
    rock.spheres = {{middle_of(o), o.radius}};
    rock.sphere_labels = {1};
  } else if (o.minerals.size() > 1) {
    rock.grains = voronoi_grains(o, 0, 0);
  }
  give_minerals(o.minerals, rock.grains);
  rock.fractures = fracture_planes(o);
  rock.scene = std::make_unique<Scene>(o.size, background, bodies_of(rock));
  return rock;
}

}  // namespace karst
