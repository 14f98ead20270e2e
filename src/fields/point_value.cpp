// SPDX-License-Identifier: BSD-3-Clause
#include "fields/point_value.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace karst {

namespace {

constexpr std::size_t n_monomials = 10;
constexpr double same = 1e-6;  ///< of the size of a monomial: what is left of it when others are taken out

std::array<double, n_monomials> monomials(const Vec3& x) {
  return {1.0, x[0], x[1], x[2], x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[1] * x[2], x[2] * x[0]};
}

}  // namespace

/// Monomials over the points are made orthonormal one after the other (modified Gram-Schmidt), with their values at the
/// origin carried along: what the best fit has there is Σ q(origin) (q, f).
std::vector<double> point_weights(std::span<const Vec3> points) {
  std::vector<double> root;  // of the weights of the fit
  for (const Vec3& x : points) root.push_back(1.0 / std::sqrt(dot(x, x) + 0.25));
  std::vector<std::vector<double>> basis;
  std::vector<double> at_origin, weights(points.size(), 0.0);
  for (std::size_t m = 0; m < n_monomials; ++m) {
    std::vector<double> q;
    for (std::size_t i = 0; i < points.size(); ++i) q.push_back(root[i] * monomials(points[i])[m]);
    double origin = m == 0 ? 1.0 : 0.0;
    const double size = std::sqrt(std::inner_product(q.begin(), q.end(), q.begin(), 0.0));
    for (std::size_t k = 0; k < basis.size(); ++k) {
      const double along = std::inner_product(q.begin(), q.end(), basis[k].begin(), 0.0);
      for (std::size_t i = 0; i < q.size(); ++i) q[i] -= along * basis[k][i];
      origin -= along * at_origin[k];
    }
    const double left = std::sqrt(std::inner_product(q.begin(), q.end(), q.begin(), 0.0));
    if (left <= same * size) continue;
    for (double& v : q) v /= left;
    basis.push_back(std::move(q));
    at_origin.push_back(origin / left);
  }
  for (std::size_t k = 0; k < basis.size(); ++k)
    for (std::size_t i = 0; i < points.size(); ++i) weights[i] += at_origin[k] * basis[k][i] * root[i];
  return weights;
}

}  // namespace karst
