// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/streamlines.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "page/sheets.hpp"

namespace karst {
namespace {

// Outside of the body: values up to `outside` are no share of fluid, but fall away from it. Over a diagonal of the
// cubes they fall by slope √3 per width: at most 1, as those near the wall.
constexpr float outside = -0.99F, slope = 0.55F;

/// Means over neighbours with weights 1/4, 1/2, 1/4 along each direction.
void smooth(const Index& size, std::vector<float>& values) {
  for (int d = 0; d < 3; ++d)
    for_each_sheet(size, d, values, [](const Sheet& s) {
      const auto width = static_cast<std::size_t>(s.width);
      std::vector<float> low(s.row(0).begin(), s.row(0).end());
      for (std::int64_t k = 0; k < s.n; ++k) {
        const std::span<float> here = s.row(k), high = s.row(std::min(k + 1, s.n - 1));
        for (std::size_t i = 0; i < width; ++i) {
          const float value = here[i];
          here[i] = 0.5F * value + 0.25F * (low[i] + high[i]);
          low[i] = value;
        }
      }
    });
}

/// Outside of a body values fall by `slope` per cube along the axes, so that rays may take long steps there.
void spread(const Index& size, std::vector<float>& values) {
  std::vector<float> fallen(values.size());
  parallel_for(std::ssize(values),
               [&](std::int64_t i) { fallen[i] = values[i] > outside ? values[i] : -longest_body_step; });
  for (int d = 0; d < 3; ++d)
    for_each_sheet(size, d, fallen, [](const Sheet& s) {
      const auto raise = [&](std::int64_t to, std::int64_t from) {
        const std::span<float> low = s.row(to), high = s.row(from);
        for (std::size_t i = 0; i < low.size(); ++i) low[i] = std::max(low[i], high[i] - slope);
      };
      for (std::int64_t k = 1; k < s.n; ++k) raise(k, k - 1);
      for (std::int64_t k = s.n - 1; k > 0; --k) raise(k - 1, k);
    });
  parallel_for(std::ssize(values), [&](std::int64_t i) {
    if (values[i] <= outside) values[i] = fallen[i];
  });
}

}  // namespace

Volume body_of(const FieldLattice& lattice, bool pore, int axis, double low, double high) {
  Volume body{lattice.size, std::vector<float>(lattice.values.size())};
  const std::int64_t row = lattice.size[0];
  parallel_for(std::ssize(body.values) / row, [&](std::int64_t line) {
    const Index first{0, static_cast<int>(line % lattice.size[1]), static_cast<int>(line / lattice.size[1])};
    for (int i = 0; i < lattice.size[0]; ++i) {
      const double at = (first + i * unit(0))[axis] + 0.5;
      const auto cube = static_cast<std::size_t>(line * row + i);
      body.values[cube] = at > low && at < high ? lattice.values[cube][3] : pore ? 0.0F : 1.0F;
    }
  });
  smooth(body.size, body.values);
  parallel_for(std::ssize(body.values), [&](std::int64_t i) {
    float& value = body.values[i];
    value = (pore ? 2.0F : -2.0F) * (value - 0.5F);
  });
  spread(body.size, body.values);
  return body;
}

double fluid_share(const FieldLattice& lattice, int axis, double low, double high) {
  const Index& n = lattice.size;
  const auto sum = [&](auto&& value) {  // of the cubes that are drawn
    return parallel_sum(std::int64_t{n[1]} * n[2], [&](std::int64_t line) {
      const Index first{0, static_cast<int>(line % n[1]), static_cast<int>(line / n[1])};
      double line_sum = 0.0;
      for (int i = 0; i < n[0]; ++i)
        if (const double at = (first + i * unit(0))[axis] + 0.5; at >= low && at <= high)
          line_sum += value(lattice.values[line * n[0] + i]);
      return line_sum;
    });
  };
  return sum([](const auto& cube) { return double{cube[3]}; }) / std::max(sum([](const auto&) { return 1.0; }), 1.0);
}

}  // namespace karst
