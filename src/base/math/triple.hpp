// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <compare>

namespace karst {

/// Three numbers, one per direction, with the arithmetic of a vector.
template <class T>
struct Triple {
  std::array<T, 3> v{};

  constexpr Triple() = default;
  constexpr Triple(T x, T y, T z) : v{x, y, z} {}
  static constexpr Triple all(T a) { return {a, a, a}; }

  constexpr T& operator[](int d) { return v[d]; }
  constexpr const T& operator[](int d) const { return v[d]; }

  constexpr Triple& operator+=(const Triple& b) {
    for (int d = 0; d < 3; ++d) (*this)[d] += b[d];
    return *this;
  }
  constexpr Triple& operator-=(const Triple& b) {
    for (int d = 0; d < 3; ++d) (*this)[d] -= b[d];
    return *this;
  }
  constexpr Triple& operator*=(T a) {
    for (int d = 0; d < 3; ++d) (*this)[d] *= a;
    return *this;
  }
  friend constexpr Triple operator+(Triple a, const Triple& b) { return a += b; }
  friend constexpr Triple operator-(Triple a, const Triple& b) { return a -= b; }
  friend constexpr Triple operator*(Triple a, T s) { return a *= s; }
  friend constexpr Triple operator*(T s, Triple a) { return a *= s; }
  friend constexpr Triple operator-(Triple a) { return a *= T(-1); }
  friend constexpr bool operator==(const Triple&, const Triple&) = default;
  friend constexpr auto operator<=>(const Triple&, const Triple&) = default;
};

using Index = Triple<int>;    ///< cell (i, j, k), or an offset between cells
using Vec3 = Triple<double>;  ///< point or vector

template <class T>
constexpr T dot(const Triple<T>& a, const Triple<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
constexpr Triple<T> cross(const Triple<T>& a, const Triple<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vec3& a) { return std::sqrt(dot(a, a)); }

/// Unit offset in direction d.
constexpr Index unit(int d) {
  Index e;
  e[d] = 1;
  return e;
}

/// The six sides of a cell in the order -x +x -y +y -z +z.
constexpr int side_of(int direction, bool high) { return 2 * direction + (high ? 1 : 0); }
constexpr int low_side(int direction) { return side_of(direction, false); }
constexpr int high_side(int direction) { return side_of(direction, true); }
constexpr int direction_of(int side) { return side / 2; }
constexpr bool is_high(int side) { return side % 2 == 1; }
constexpr int opposite(int side) { return side ^ 1; }
constexpr Index side_offset(int side) { return is_high(side) ? unit(direction_of(side)) : -unit(direction_of(side)); }

inline Vec3 to_vec(const Index& i) { return {double(i[0]), double(i[1]), double(i[2])}; }

}  // namespace karst
