// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut_edge.hpp"

#include <algorithm>
#include <cmath>

namespace karst {

LatticePhi::LatticePhi(const LocalLevelSet& phi, const Smoothness& smoothness, int level, int depth)
    : phi_(&phi),
      smoothness_(smoothness),
      level_(level),
      depth_(depth),
      h_(std::ldexp(1.0, -level)),
      scale_(std::ldexp(1.0, level)),
      lipschitz_(smoothness.lipschitz),
      spacing_(smoothness.sample_spacing * scale_) {}

void LatticePhi::at(std::span<Vec3> x, std::span<double> phi) const {
  if (level_ != 0)
    for (Vec3& p : x) p *= h_;
  phi_->evaluate(x, phi);
  if (level_ != 0)
    for (double& f : phi) f *= scale_;
}

namespace {

struct Sample {
  double t, f;
};

/// The edge as a function of its parameter.
struct Edge {
  const LatticePhi& phi;
  Vec3 low;
  int d;
  Sample at(double t) const {
    Vec3 x = low;
    x[d] += t;
    return {t, phi.at(x)};
  }
};

/// Sign changes found so far, left to right; the first one is kept as a bracket.
struct Changes {
  int n = 0;
  Sample a{}, b{};
};

void scan(const Edge& edge, const Sample& a, const Sample& b, int rounds, Changes& changes) {
  const double length = b.t - a.t;
  const bool same = is_fluid(a.f) == is_fluid(b.f);
  // A single change at half the length is taken as one crossing.
  const bool done = rounds == 0 || (same ? edge.phi.excludes_wall(a.f, b.f, length)
                                         : length < 1 || edge.phi.excludes_wall(0.0, 0.0, length));
  if (!done) {
    const Sample middle = edge.at(0.5 * (a.t + b.t));
    scan(edge, a, middle, rounds - 1, changes);
    scan(edge, middle, b, rounds - 1, changes);
  } else if (!same) {
    if (changes.n++ == 0) changes.a = a, changes.b = b;
  }
}

/// Root of φ between a and b (opposite signs): secant steps kept inside the bracket (Illinois), halving when slow.
double root(const Edge& edge, Sample a, Sample b) {
  Sample last = std::abs(a.f) < std::abs(b.f) ? b : a, now = std::abs(a.f) < std::abs(b.f) ? a : b;
  double fa = a.f, fb = b.f, width = b.t - a.t;
  for (int i = 0; i < 100 && b.t - a.t > 1e-13; ++i) {
    double t = (a.t * fb - b.t * fa) / (fb - fa);
    const double secant = now.t - now.f * (now.t - last.t) / (now.f - last.f);
    const bool local = std::abs(now.t - last.t) < 1e-3 && secant >= a.t && secant <= b.t;
    if (local && std::abs(secant - now.t) < 1e-8) return secant;
    if (local) t = secant;
    if (i % 4 == 3) {
      if (b.t - a.t > 0.5 * width) t = 0.5 * (a.t + b.t);
      width = b.t - a.t;
    }
    last = now;
    now = edge.at(std::clamp(t, a.t, b.t));
    if (std::abs(now.f) < 1e-14) return now.t;
    if ((now.f > 0) == (fa > 0)) {
      if ((last.f > 0) == (fa > 0)) fb *= 0.5;
      a = now, fa = now.f;
    } else {
      if ((last.f > 0) != (fa > 0)) fa *= 0.5;
      b = now, fb = now.f;
    }
  }
  return 0.5 * (a.t + b.t);
}

double snapped_root(const Edge& edge, const Sample& a, const Sample& b) {
  const Sample& solid = is_fluid(a.f) ? b : a;
  if (solid.f >= -node_tolerance) return solid.t;
  const double t = root(edge, a, b);
  if (is_fluid(a.f)) return t > 1 - edge_tolerance ? 1 : std::max(t, edge_tolerance);
  return t < edge_tolerance ? 0 : std::min(t, 1 - edge_tolerance);
}

}  // namespace

EdgeCut cut_edge(const LatticePhi& phi, const Vec3& low, int d, double f0, double f1) {
  const Edge edge{phi, low, d};
  const Sample a{0, f0}, b{1, f1};
  Changes changes;
  scan(edge, a, b, max_depth + 1 - phi.depth(), changes);
  EdgeCut cut;
  cut.crossing = is_fluid(f0) != is_fluid(f1);
  if (changes.n > 1) {
    const bool solid_between = is_fluid(f0) || changes.n > 2, fluid_between = !is_fluid(f0) || changes.n > 2;
    cut.split = (solid_between && phi.depth() < max_depth) || (fluid_between && phi.depth() < max_gap_depth);
    cut.lost = !cut.split;
  }
  if (cut.crossing && !cut.split) cut.t = snapped_root(edge, changes.a, changes.b);
  return cut;
}

}  // namespace karst
