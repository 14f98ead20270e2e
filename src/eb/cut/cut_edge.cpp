// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/cut_edge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace karst {

LatticePhi::LatticePhi(const LocalLevelSet& phi, const Smoothness& smoothness, int level, int depth, int n_minerals)
    : phi_(&phi),
      smoothness_(smoothness),
      level_(level),
      depth_(depth),
      n_minerals_(n_minerals),
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

void EdgeCutter::add(const Vec3& low, int d, double f0, double f1) {
  edges_.push_back({low, d, f0, f1, 0, {}, {}, {}});
}

void EdgeCutter::add_point(std::size_t edge, double t) {
  points_.push_back(edges_[edge].low);
  points_.back()[edges_[edge].d] += t;
}

SignBounds EdgeCutter::signs_between(const LatticePhi& phi, std::size_t edge, double a, double b) const {
  Vec3 lo = edges_[edge].low, hi = lo;
  lo[edges_[edge].d] += a;
  hi[edges_[edge].d] += b;
  return phi.signs(lo, hi);
}

/// Bounds of φ leave one crossing at most on the part [a, b] of an edge.
bool EdgeCutter::crosses_once(const LatticePhi& phi, std::size_t edge, double a, double b) const {
  if (!phi.bounds_signs()) return false;
  const SignBounds signs = signs_between(phi, edge, a, b);
  return signs.one_kind() || signs.rises[edges_[edge].d] != 0;
}

/// Keeps an interval for halving, or takes note of its sign change.
void EdgeCutter::look(const LatticePhi& phi, const Interval& interval) {
  const auto& [i, a, b] = interval;
  const double length = b.t - a.t;
  const bool fluid = is_fluid(a.f), same = fluid == is_fluid(b.f);
  const int finest = std::max((same && !fluid ? max_gap_depth : max_depth) + 1 - phi.depth(), 0);
  bool done = length * static_cast<double>(1 << finest) <= 1;
  if (!done && same) done = phi.excludes_wall(a.f, b.f, length);
  if (!done && !same) {
    // A change at half the length, or on a sub-lattice, is taken as one crossing, unless a node on the wall may hide a
    // body behind it.
    const Sample &in = fluid ? a : b, &out = fluid ? b : a;
    done = out.f < -node_tolerance ? length < 1 || phi.depth() > 0 || phi.excludes_wall(0, 0, length)
                                   : phi.excludes_wall((1 + 1e-6) * in.f, 0, length);
  }
  if (!done) done = crosses_once(phi, i, a.t, b.t);
  if (!done) {
    open_.push_back(interval);
  } else if (!same) {
    Edge& edge = edges_[i];
    if (edge.changes++ == 0 || a.t < edge.a.t) edge.a = a, edge.b = b;
  }
}

void EdgeCutter::find_changes(const LatticePhi& phi) {
  open_.clear();
  for (std::size_t i = 0; i < edges_.size(); ++i) look(phi, {i, {0, edges_[i].f0}, {1, edges_[i].f1}});
  while (!open_.empty()) {
    points_.clear();
    for (const Interval& o : open_) add_point(o.edge, 0.5 * (o.a.t + o.b.t));
    values_.resize(points_.size());
    phi.at(points_, values_);
    halves_.swap(open_);
    open_.clear();
    for (std::size_t k = 0; k < halves_.size(); ++k) {
      const Interval& o = halves_[k];
      const Sample middle{0.5 * (o.a.t + o.b.t), values_[k]};
      look(phi, {o.edge, o.a, middle});
      look(phi, {o.edge, middle, o.b});
    }
  }
}

/// Next point of a search; false when it is final.
bool EdgeCutter::propose(Search& s, double small_step) {
  if (s.plateau) {
    s.next = 0.5 * (s.a.t + s.b.t);
    return s.b.t - s.a.t > 0.5 * edge_tolerance;
  }
  s.next = (s.a.t * s.fb - s.b.t * s.fa) / (s.fb - s.fa);
  const double rise = s.now.f - s.last.f;
  const double secant = rise != 0.0 ? s.now.t - s.now.f * (s.now.t - s.last.t) / rise : s.now.t;
  const bool local = rise != 0.0 && std::abs(s.now.t - s.last.t) < 1e-3 && secant >= s.a.t && secant <= s.b.t;
  if (local) s.next = secant;
  if (local && std::abs(secant - s.now.t) < small_step) return false;
  if (s.n % 4 == 3) {
    if (s.b.t - s.a.t > 0.5 * s.width) s.next = 0.5 * (s.a.t + s.b.t);
    s.width = s.b.t - s.a.t;
  }
  s.next = std::clamp(s.next, s.a.t, s.b.t);
  return ++s.n < 100 && s.b.t - s.a.t > 1e-13;
}

/// Narrows the bracket with φ = f at the proposed point (Illinois: the end that stays counts half).
void EdgeCutter::accept(Search& s, double f) {
  if (s.plateau) {
    (is_fluid(f) == is_fluid(s.a.f) ? s.a : s.b) = {s.next, f};
    return;
  }
  s.last = s.now;
  s.now = {s.next, f};
  const bool left = (f > 0) == (s.fa > 0), was_left = (s.last.f > 0) == (s.fa > 0);
  if (left) {
    if (was_left) s.fb *= 0.5;
    s.a = s.now, s.fa = f;
  } else {
    if (!was_left) s.fa *= 0.5;
    s.b = s.now, s.fb = f;
  }
}

void EdgeCutter::finish(const Search& search, double t) {
  Edge& edge = edges_[search.edge];
  if (is_fluid(edge.a.f))
    edge.cut.t = t > 1 - edge_tolerance ? 1 : std::max(t, edge_tolerance);
  else
    edge.cut.t = t < edge_tolerance ? 0 : std::min(t, 1 - edge_tolerance);
}

void EdgeCutter::find_roots(const LatticePhi& phi) {
  // The secant step taken last is not checked: its error is the product of the last two times a curvature, of the
  // order of 1e-12 h and 1e-10 h.
  const double small_step = phi.depth() == 0 ? 1e-7 : 1e-5;
  while (!searches_.empty()) {
    std::size_t left = 0;
    points_.clear();
    for (Search& s : searches_) {
      if (!propose(s, small_step)) {
        finish(s, s.next);
        continue;
      }
      add_point(s.edge, s.next);
      searches_[left++] = s;
    }
    searches_.resize(left);
    values_.resize(left);
    phi.at(points_, values_);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < left; ++k) {
      Search s = searches_[k];
      if (!s.plateau && std::abs(values_[k]) < 1e-14) {
        finish(s, s.next);
        continue;
      }
      accept(s, values_[k]);
      searches_[kept++] = s;
    }
    searches_.resize(kept);
  }
}

/// What the sign changes of an edge mean; starts the search for its root.
void EdgeCutter::judge(const LatticePhi& phi, std::size_t i) {
  const int depth = phi.depth();
  Edge& edge = edges_[i];
  const bool fluid = is_fluid(edge.f0);
  edge.cut.crossing = fluid != is_fluid(edge.f1);
  if (edge.changes > 1) {
    const bool solid_between = fluid || edge.changes > 2, fluid_between = !fluid || edge.changes > 2;
    edge.cut.split = (solid_between && depth < max_depth) || (fluid_between && depth < max_gap_depth);
    edge.cut.wall_lost = solid_between && !edge.cut.split;
    edge.cut.gap_closed = fluid_between && !edge.cut.split;
  }
  if (!edge.cut.crossing || edge.cut.split) return;
  const Sample &a = edge.a, &b = edge.b;
  const auto& [in, out] = is_fluid(a.f) ? std::pair(a, b) : std::pair(b, a);
  const bool on_wall = out.f >= -node_tolerance;
  if (on_wall && (phi.excludes_wall((1 + 1e-6) * in.f, 0, b.t - a.t) || crosses_once(phi, i, a.t, b.t))) {
    edge.cut.t = out.t;
    return;
  }
  const bool near_a = std::abs(a.f) < std::abs(b.f);
  searches_.push_back({i, a, b, near_a ? b : a, near_a ? a : b, a.f, b.f, b.t - a.t, 0, 0, on_wall});
}

void EdgeCutter::run(const LatticePhi& phi) {
  find_changes(phi);
  searches_.clear();
  for (std::size_t i = 0; i < edges_.size(); ++i) judge(phi, i);
  find_roots(phi);
}

}  // namespace karst
