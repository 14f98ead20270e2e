// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/least_squares.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/math/symmetric_eigen.hpp"

namespace karst {

namespace {

constexpr int n_monomials(int degree) { return (degree + 1) * (degree + 2) * (degree + 3) / 6; }
constexpr std::size_t most_terms = n_monomials(3);

std::array<double, most_terms> monomials(const Vec3& r) {
  const double x = r[0], y = r[1], z = r[2];
  return {1.0,       x,         y,         z,         x * x,     y * y,     z * z,     x * y,     x * z,     y * z,
          x * x * x, y * y * y, z * z * z, x * x * y, x * x * z, x * y * y, y * y * z, x * z * z, y * z * z, x * y * z};
}

/// Solves M x = (1, 0, 0, ...) by Cholesky's factors. Unknowns whose pivot vanishes (to 1e-4 of the diagonal) depend on
/// those before them and are left out: x = 0 there.
void solve_for_value(int n, std::array<std::array<double, most_terms>, most_terms>& m,
                     std::array<double, most_terms>& x) {
  constexpr double vanishes = 1e-4;
  const auto at = [&](int i, int j) -> double& { return m[i][j]; };
  std::array<bool, most_terms> out{};
  for (int j = 0; j < n; ++j) {
    const double before = at(j, j);
    for (int k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
    out[j] = !(at(j, j) > vanishes * before);
    at(j, j) = out[j] ? 1.0 : std::sqrt(at(j, j));
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) = out[j] ? 0.0 : at(i, j) / at(j, j);
    }
    if (out[j])
      for (int k = 0; k < j; ++k) at(j, k) = 0.0;
  }
  x.fill(0.0);
  for (int i = 0; i < n; ++i) {
    double sum = i == 0 ? 1.0 : 0.0;
    for (int k = 0; k < i; ++k) sum -= at(i, k) * x[k];
    x[i] = sum / at(i, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = x[i];
    for (int k = i + 1; k < n; ++k) sum -= at(k, i) * x[k];
    x[i] = sum / at(i, i);
  }
}

}  // namespace

GradientFit fit_gradient(std::span<const Vec3> r, double smallest) {
  GradientFit fit;
  Matrix3 normal{};
  for (const Vec3& p : r)
    for (int i = 0; i < 3; ++i) normal[i] += (p[i] / dot(p, p)) * p;
  const SymmetricEigen e = symmetric_eigen(normal);
  fit.quality = std::max(0.0, std::min({e.value[0], e.value[1], e.value[2]}));
  for (int d = 0; d < 3; ++d) fit.resolved += e.value[d] > smallest;
  for (const Vec3& p : r) {
    Vec3 w;
    for (int d = 0; d < 3; ++d) {
      const Vec3& axis = e.vector[d];
      if (e.value[d] > smallest) w += (dot(axis, p) / (e.value[d] * dot(p, p))) * axis;
    }
    fit.weight.push_back(w);
  }
  return fit;
}

std::vector<double> fit_polynomial(std::span<const Vec3> r, int degree, int decay) {
  const std::size_t n = n_monomials(degree);
  std::array<std::array<double, most_terms>, most_terms> normal{};
  const auto importance = [decay](const Vec3& p) {
    const double near = 1.0 / (dot(p, p) + 0.25);
    double product = near;
    for (int k = 1; k < decay; ++k) product *= near;
    return product;
  };
  for (const Vec3& p : r) {
    const auto m = monomials(p);
    const double w = importance(p);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) normal[i][j] += w * m[i] * m[j];
  }
  std::array<double, most_terms> x{};
  solve_for_value(static_cast<int>(n), normal, x);
  std::vector<double> weight;
  for (const Vec3& p : r) {
    const auto m = monomials(p);
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * m[i];
    weight.push_back(importance(p) * sum);
  }
  return weight;
}

}  // namespace karst
