// SPDX-License-Identifier: BSD-3-Clause
// Passes along the lines of a dense array, for pictures.
#pragma once

#include <cstdint>
#include <span>

#include "base/comm/parallel.hpp"
#include "base/math/triple.hpp"

namespace karst {

/// Lines along one direction, side by side: value k of line i stands at first[k * stride + i].
struct Sheet {
  float* first = nullptr;
  std::int64_t n = 0;       ///< values of a line
  std::int64_t stride = 0;  ///< from a value of a line to the next one
  std::int64_t width = 0;   ///< lines

  std::span<float> row(std::int64_t k) const { return std::span(first + k * stride, width); }
};

/// f(sheet) for sheets that hold all lines along direction d, shared among threads. Not collective.
/// @param values  [nz][ny][nx]
template <class F>
void for_each_sheet(const Index& size, int d, std::span<float> values, F&& f) {
  const std::int64_t row = size[0], plane = row * size[1];
  const std::int64_t outer = d == 0 ? std::int64_t{size[1]} * size[2] : d == 1 ? size[2] : size[1];
  const std::int64_t from = d == 1 ? plane : row, stride = d == 0 ? 1 : d == 1 ? row : plane;
  parallel_for(outer, [&](std::int64_t o) { f(Sheet{values.data() + o * from, size[d], stride, d == 0 ? 1 : row}); });
}

}  // namespace karst
