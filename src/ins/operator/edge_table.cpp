// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/edge_table.hpp"

#include <algorithm>
#include <cstddef>

namespace karst {
namespace {

// The half is there twice: the cell of the edge has its centre in the fluid below it and in the solid above it.
constexpr std::array<double, 16> nodes{0.01, 0.05, 0.1, 0.2, 0.3, 0.4,  0.5,  0.5,
                                       0.55, 0.6,  0.7, 0.8, 0.9, 0.95, 0.99, 0.9999};
constexpr std::size_t n_nodes = nodes.size();
constexpr double equal = 1e-8;  ///< distances; the accuracy of cutting
using Table = std::array<float, n_nodes*(n_nodes + 1) / 2>;

// Rows of the upper triangle: the component along the grid line on which the edge is nearer has around + skew, the
// other around - skew.
// clang-format off
constexpr Table along_edge{
    0.036F, 0.035F, 0.033F, 0.029F, 0.024F, 0.015F, -0.020F, 0.029F, 0.017F, 0.001F, -0.037F, -0.075F, -0.112F,
    -0.127F, -0.132F, -0.126F,
    0.033F, 0.031F, 0.027F, 0.021F, 0.009F, -0.028F, 0.001F, -0.005F, -0.016F, -0.043F, -0.072F, -0.096F, -0.101F,
    -0.093F, -0.089F,
    0.029F, 0.023F, 0.016F, 0.003F, -0.036F, -0.022F, -0.024F, -0.030F, -0.048F, -0.066F, -0.078F, -0.076F, -0.068F,
    -0.065F,
    0.016F, 0.006F, -0.009F, -0.045F, -0.045F, -0.043F, -0.043F, -0.047F, -0.052F, -0.050F, -0.045F, -0.039F, -0.038F,
    -0.005F, -0.021F, -0.048F, -0.049F, -0.045F, -0.043F, -0.041F, -0.038F, -0.033F, -0.028F, -0.023F, -0.022F,
    -0.034F, -0.047F, -0.044F, -0.041F, -0.038F, -0.033F, -0.027F, -0.021F, -0.016F, -0.013F, -0.012F,
    -0.045F, -0.038F, -0.034F, -0.031F, -0.025F, -0.019F, -0.012F, -0.009F, -0.006F, -0.005F,
    -0.039F, -0.035F, -0.032F, -0.025F, -0.019F, -0.012F, -0.009F, -0.006F, -0.005F,
    -0.032F, -0.028F, -0.022F, -0.015F, -0.009F, -0.005F, -0.003F, -0.003F,
    -0.025F, -0.018F, -0.012F, -0.006F, -0.003F, -0.001F, -0.001F,
    -0.012F, -0.006F, -0.002F, 0.001F, 0.002F, 0.003F,
    -0.002F, 0.002F, 0.003F, 0.004F, 0.004F,
    0.004F, 0.005F, 0.005F, 0.005F,
    0.005F, 0.005F, 0.006F,
    0.006F, 0.005F,
    0.005F,
};
constexpr Table around_rows{
    -0.129F, -0.035F, -0.023F, -0.024F, -0.035F, -0.065F, -0.120F, -0.105F, 0.048F, 0.140F, 0.235F, 0.265F, 0.172F,
    0.140F, 0.144F, 0.253F,
    -0.024F, -0.026F, -0.033F, -0.039F, -0.074F, -0.137F, -0.108F, 0.007F, 0.092F, 0.195F, 0.257F, 0.197F, 0.176F,
    0.178F, 0.286F,
    -0.037F, -0.053F, -0.060F, -0.104F, -0.183F, -0.117F, -0.026F, 0.048F, 0.154F, 0.226F, 0.217F, 0.203F, 0.201F,
    0.328F,
    -0.083F, -0.098F, -0.141F, -0.217F, -0.165F, -0.100F, -0.041F, 0.059F, 0.125F, 0.161F, 0.174F, 0.171F, 0.281F,
    -0.115F, -0.144F, -0.189F, -0.179F, -0.132F, -0.087F, 0.001F, 0.049F, 0.086F, 0.100F, 0.109F, 0.192F,
    -0.162F, -0.177F, -0.169F, -0.139F, -0.106F, -0.045F, -0.004F, 0.028F, 0.039F, 0.047F, 0.101F,
    -0.158F, -0.148F, -0.130F, -0.106F, -0.069F, -0.042F, -0.019F, -0.009F, -0.002F, 0.029F,
    -0.146F, -0.136F, -0.125F, -0.125F, -0.143F, -0.167F, -0.181F, -0.193F, -0.148F,
    -0.057F, -0.054F, -0.071F, -0.090F, -0.107F, -0.107F, -0.097F, -0.065F,
    0.002F, -0.022F, -0.043F, -0.056F, -0.056F, -0.050F, -0.032F,
    0.056F, 0.030F, 0.013F, 0.009F, 0.007F, 0.009F,
    0.081F, 0.058F, 0.048F, 0.042F, 0.038F,
    0.087F, 0.075F, 0.066F, 0.062F,
    0.084F, 0.074F, 0.073F,
    0.080F, 0.081F,
    0.083F,
};
constexpr Table skew{
    -0.000F, 0.004F, -0.010F, -0.036F, -0.041F, -0.050F, -0.067F, -0.257F, -0.288F, -0.271F, -0.190F, -0.106F, -0.037F,
    -0.028F, -0.073F, -0.192F,
    -0.000F, -0.011F, -0.033F, -0.040F, -0.045F, -0.055F, -0.245F, -0.264F, -0.258F, -0.209F, -0.162F, -0.113F,
    -0.117F, -0.157F, -0.252F,
    -0.000F, -0.019F, -0.027F, -0.028F, -0.025F, -0.215F, -0.228F, -0.231F, -0.217F, -0.202F, -0.180F, -0.192F,
    -0.218F, -0.317F,
    -0.000F, -0.004F, -0.011F, -0.012F, -0.135F, -0.157F, -0.174F, -0.200F, -0.209F, -0.215F, -0.228F, -0.243F, -0.320F,
    -0.000F, -0.017F, -0.034F, -0.084F, -0.112F, -0.136F, -0.183F, -0.190F, -0.204F, -0.215F, -0.226F, -0.275F,
    0.000F, -0.024F, -0.044F, -0.072F, -0.098F, -0.135F, -0.150F, -0.168F, -0.180F, -0.191F, -0.219F,
    -0.000F, 0.000F, -0.024F, -0.050F, -0.071F, -0.097F, -0.123F, -0.135F, -0.143F, -0.157F,
    -0.000F, -0.028F, -0.059F, -0.099F, -0.144F, -0.187F, -0.208F, -0.224F, -0.250F,
    0.033F, 0.006F, -0.041F, -0.088F, -0.129F, -0.144F, -0.151F, -0.162F,
    0.059F, 0.009F, -0.037F, -0.076F, -0.091F, -0.100F, -0.106F,
    0.095F, 0.050F, 0.010F, -0.006F, -0.018F, -0.021F,
    0.118F, 0.078F, 0.060F, 0.047F, 0.044F,
    0.132F, 0.113F, 0.099F, 0.096F,
    0.136F, 0.121F, 0.118F,
    0.138F, 0.134F,
    0.138F,
};
// clang-format on

/// @param i, j  nodes, i <= j
double entry(const Table& table, std::size_t i, std::size_t j) {
  return double{table[i * n_nodes - i * (i + 1) / 2 + j]};
}

struct Bracket {
  std::size_t low;
  double part;  // of the way to the next node
};

Bracket bracket(double x) {
  x = std::clamp(x, nodes.front(), nodes.back());
  const auto above = std::ranges::lower_bound(nodes.begin() + 1, nodes.end() - 1, x);
  const std::size_t low = above - nodes.begin() - 1;
  return {low, (x - nodes[low]) / (nodes[low + 1] - nodes[low])};
}

/// @param x, y  x <= y
double interpolated(const Table& table, const Bracket& x, const Bracket& y) {
  const auto at = [&](std::size_t i, std::size_t j) { return entry(table, x.low + i, y.low + j); };
  if (x.low == y.low) return at(0, 0) + y.part * (at(0, 1) - at(0, 0)) + x.part * (at(1, 1) - at(0, 1));
  const double low = at(0, 0) + y.part * (at(0, 1) - at(0, 0)), high = at(1, 0) + y.part * (at(1, 1) - at(1, 0));
  return low + x.part * (high - low);
}

}  // namespace

EdgeFriction tabulated_edge_friction(const std::array<double, 2>& apex) {
  const auto [near, far] = std::minmax(apex[0], apex[1]);
  const Bracket x = bracket(near), y = bracket(far);
  const double mean = interpolated(around_rows, x, y);
  // On the diagonal pieces are shared between both directions (docs/decisions/015).
  const double half = far - near > equal ? interpolated(skew, x, y) : 0.0;
  const double turned = apex[0] < apex[1] ? half : -half;
  return {interpolated(along_edge, x, y), {mean + turned, mean - turned}};
}

}  // namespace karst
