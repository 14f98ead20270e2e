// SPDX-License-Identifier: BSD-3-Clause
// One smoothing sweep  y_v = (b_v + Σ_sides x_neighbour) / (12 - open sides)  over the fluid voxels of a mask: (a) a
// plain list of VoFs with six 16-bit neighbours each, the reference for all data structures, (b) LevelGraph and Field:
// runs without a table, rows with a table.
//
//   bench_sweep packing POROSITY BOX            256^3 voxels, random spheres of radius 10, periodic
//   bench_sweep raw FILE NX NY NZ BOX TILES     8-bit image (0: fluid), repeated TILES times along each axis
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/file/run_guarded.hpp"
#include "grid/field.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/layout_builder.hpp"
#include "grid/vof_loops.hpp"

namespace {

using namespace karst;

struct Mask {
  Index size;
  std::vector<std::uint8_t> fluid;
  std::vector<std::uint16_t> number;  // of a fluid voxel in its box

  std::size_t at(const Index& c) const { return static_cast<std::size_t>(Box{Index{}, size}.offset(c)); }
  Index wrapped(Index c) const {
    for (int d = 0; d < 3; ++d) c[d] = (c[d] + size[d]) % size[d];
    return c;
  }
};

Mask packing(double porosity) {
  constexpr int n = 256, radius = 10;
  Mask mask{Index::all(n), std::vector<std::uint8_t>(std::size_t{n} * n * n, 1), {}};
  std::srand(1);
  const auto wanted = (1 - porosity) * static_cast<double>(mask.fluid.size());
  for (double solid = 0; solid < wanted;) {
    Index centre;
    for (int d = 0; d < 3; ++d) centre[d] = static_cast<int>(n * (std::rand() / static_cast<double>(RAND_MAX)));
    for_each_cell(Box{Index{}, Index::all(1)}.grown(radius + 1), [&](const Index& o) {
      if (dot(o, o) >= radius * radius) return;
      std::uint8_t& v = mask.fluid[mask.at(mask.wrapped(centre + o))];
      solid += v;
      v = 0;
    });
  }
  return mask;
}

Mask raw_tiled(const std::string& path, const Index& n, int tiles) {
  std::vector<char> image(Box{Index{}, n}.count());
  std::ifstream in(path, std::ios::binary);
  in.read(image.data(), std::ssize(image));
  require(static_cast<bool>(in), "{}: cannot read {} bytes; check the path and the sizes", path, image.size());
  const Index size = tiles * n;
  Mask mask{size, std::vector<std::uint8_t>(Box{Index{}, size}.count()), {}};
  for_each_cell({Index{}, mask.size}, [&](const Index& c) {
    const Index tile{c[0] % n[0], c[1] % n[1], c[2] % n[2]};
    mask.fluid[mask.at(c)] = image[Box{Index{}, n}.offset(tile)] == 0;
  });
  return mask;
}

BoxAdjacency voxels_to_vofs(const Mask& mask, const Layout& layout, std::int64_t b) {
  BoxAdjacency out;
  const Box box = layout.box(b);
  for_each_cell(box, [&](const Index& c) {
    if (!mask.fluid[mask.at(c)]) return;
    std::array<VofName, 6> primary;
    for (int side = 0; side < 6; ++side) {
      const Index n = mask.wrapped(c + side_offset(side));
      VofName& to = primary[side];
      to = no_face;
      if (mask.fluid[mask.at(n)]) to = vof_name(box.contains(n) ? b : layout.find_cell(n), mask.number[mask.at(n)]);
    }
    out.cell.push_back(static_cast<std::uint16_t>(box.offset(c)));
    out.irregular.push_back(std::count(primary.begin(), primary.end(), no_face) > 0);
    out.primary.push_back(primary);
  });
  return out;
}

/// Best times of several calls in ns per fluid cell. The functions take turns, so that whatever else the machine does
/// meets all of them.
template <class... F>
std::array<double, sizeof...(F)> best_times(double n_fluid, F&&... f) {
  std::array<double, sizeof...(F)> best;
  best.fill(1e30);
  const auto time = [&](std::size_t i, auto&& g) {
    g();
    const auto start = std::chrono::steady_clock::now();
    g();
    const double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best[i] = std::min(best[i], t / n_fluid * 1e9);
  };
  const int repeats = static_cast<int>(std::max(20.0, 1e8 / n_fluid));
  for (int r = 0; r < repeats; ++r) {
    std::size_t i = 0;
    (time(i++, f), ...);
  }
  return best;
}

/// The reference: six neighbours and one inverse diagonal per VoF, in flat arrays over all boxes.
struct PlainLists {
  Array<std::uint16_t> neighbours;
  Array<double> inverse;

  PlainLists(const LevelGraph& graph)
      : neighbours(static_cast<std::size_t>(6 * graph.counts().vofs), Purpose::connectivity),
        inverse(static_cast<std::size_t>(graph.counts().vofs), Purpose::stencils) {
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph g = graph.box(b);
      for_each_vof(g, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
        const std::size_t v = graph.vof_begin(b) + vof;
        int open = 0;
        for (std::size_t s = 0; s < 6; ++s) {
          neighbours[6 * v + s] = slots[s];
          open += slots[s] != g.closed();
        }
        inverse[v] = 1.0 / (12 - open);
      });
    }
  }

  void sweep(const LevelGraph& graph, const Field& x, const Field& rhs, Field& y) const {
    parallel_for(graph.n_local(), [&](std::int64_t box) {
      const int b = static_cast<int>(box);
      const double *from = x.box(b).data(), *r = rhs.box(b).data();
      double* to = y.box(b).data();
      const std::size_t first = graph.vof_begin(b);
      const std::uint16_t* n = neighbours.data() + 6 * first;
      const double* scale = inverse.data() + first;
      const int n_own = x.slots()->n_own(b);
      for (int v = 0; v < n_own; ++v, n += 6)
        to[v] = scale[v] * (r[v] + from[n[0]] + from[n[1]] + from[n[2]] + from[n[3]] + from[n[4]] + from[n[5]]);
    });
  }
};

/// y = (b + Σ x) / diagonal over the own VoFs of a box.
/// @param x, rhs   n_slots, n_own values
/// @param inverse  one per row; VoFs of runs have six open sides: 1/6
/// @param[out] y   n_own values, not overlapping the others
void sweep(const BoxGraph& graph, const double* __restrict x, const double* __restrict rhs,
           const double* __restrict inverse, double* __restrict y) {
  for (const Run& run : graph.runs) {
    const double *c = x + run.first, *r = rhs + run.first;
    const double *a0 = x + run.lateral[0], *a1 = x + run.lateral[1], *a2 = x + run.lateral[2], *a3 = x + run.lateral[3];
    double* to = y + run.first;
    const int last = run.length - 1;
    to[0] = (1.0 / 6) * (r[0] + x[run.low_end] + c[1] + a0[0] + a1[0] + a2[0] + a3[0]);
    for (int t = 1; t < last; ++t) to[t] = (1.0 / 6) * (r[t] + c[t - 1] + c[t + 1] + a0[t] + a1[t] + a2[t] + a3[t]);
    to[last] = (1.0 / 6) * (r[last] + c[last - 1] + x[run.high_end] + a0[last] + a1[last] + a2[last] + a3[last]);
  }
  const std::size_t n_rows = graph.row_vof.size();
  const std::uint16_t* vof = graph.row_vof.data();
  const std::array<std::uint16_t, 6>* neighbours = graph.neighbours.data();
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::array<std::uint16_t, 6>& n = neighbours[i];
    y[vof[i]] = inverse[i] * (rhs[vof[i]] + x[n[0]] + x[n[1]] + x[n[2]] + x[n[3]] + x[n[4]] + x[n[5]]);
  }
}

/// Runs, and rows of regular VoFs, if no box shared the table of another.
std::int64_t regular_bytes(const LevelGraph& graph) {
  std::int64_t bytes = 0;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    const auto row = static_cast<std::int64_t>(2 * sizeof(std::uint16_t) + sizeof(std::array<std::uint16_t, 6>));
    bytes += static_cast<std::int64_t>(g.runs.size_bytes()) + row * (std::ssize(g.row_vof) - g.n_irregular);
  }
  return bytes;
}

/// Connectivity if no box shared the table of another (tiled images share nearly all).
std::int64_t unshared_bytes(const LevelGraph& graph) {
  std::int64_t bytes = 0;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    bytes += static_cast<std::int64_t>(g.runs.size_bytes() + g.row_vof.size_bytes() + g.row_cell.size_bytes() +
                                       g.neighbours.size_bytes() + g.extra.size_bytes());
    bytes += 2 * g.halo.n_vofs() + static_cast<std::int64_t>(g.halo.groups().size_bytes());
  }
  return bytes;
}

/// The real data structures: an inverse diagonal for the rows only.
struct RunsAndRows {
  std::vector<std::int64_t> row_begin{0};
  Array<double> inverse;

  RunsAndRows(const LevelGraph& graph) {
    for (int b = 0; b < graph.n_local(); ++b) row_begin.push_back(row_begin.back() + std::ssize(graph.box(b).row_vof));
    inverse = Array<double>(row_begin.back(), Purpose::stencils);
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph g = graph.box(b);
      for (std::size_t i = 0; i < g.row_vof.size(); ++i) {
        int open = 0;
        for (const std::uint16_t s : g.neighbours[i]) open += s != g.closed();
        inverse[row_begin[b] + i] = 1.0 / (12 - open);
      }
    }
  }
  void run(const LevelGraph& graph, const Field& x, const Field& rhs, Field& y) const {
    parallel_for(graph.n_local(), [&](std::int64_t box) {
      const int b = static_cast<int>(box);
      sweep(graph.box(b), x.box(b).data(), rhs.box(b).data(), inverse.data() + row_begin[box], y.box(b).data());
    });
  }
};

void report(Mask mask, int box_size) {
  const Comm comm = Comm::self();
  const auto start = std::chrono::steady_clock::now();
  const Layout layout = build_layout(comm, {mask.size, {true, true, true}}, box_size, [&](const Box& box) {
                          double n = 0;
                          for_each_cell(box, [&](const Index& c) { n += mask.fluid[mask.at(c)]; });
                          return n;
                        }).layout;
  mask.number.assign(mask.fluid.size(), 0);
  for (std::int64_t b = 0; b < layout.n_boxes(); ++b) {
    int n = 0;
    for_each_cell(layout.box(b), [&](const Index& c) {
      if (mask.fluid[mask.at(c)]) mask.number[mask.at(c)] = static_cast<std::uint16_t>(n++);
    });
  }
  const LevelGraph graph =
      build_level_graph(comm, layout, [&](std::int64_t b) { return voxels_to_vofs(mask, layout, b); });
  const double built = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const GraphCounts& n = graph.counts();
  const auto per_cell = [&](std::int64_t x) { return static_cast<double>(x) / static_cast<double>(n.vofs); };
  fmt::print("fluid {:.3f}, {} fluid cells, {} boxes of {}^3 kept of {}, built in {:.2f} s\n",
             static_cast<double>(n.vofs) / static_cast<double>(mask.fluid.size()), n.vofs, layout.n_boxes(), box_size,
             Box{Index{}, layout.lattice_size()}.count(), built);
  fmt::print(
      "slots per fluid cell {:.3f}; connectivity {:.2f} bytes per fluid cell ({:.2f} if the {} shared tables were "
      "not), runs and rows {:.2f} per regular VoF; {:.1f} % regular, {:.1f} % in runs\n",
      per_cell(n.slots), per_cell(graph.bytes()), per_cell(unshared_bytes(graph)), n.shared_tables,
      static_cast<double>(regular_bytes(graph)) / static_cast<double>(n.vofs - n.irregular),
      100 * (1 - per_cell(n.irregular)), 100 * per_cell(n.in_runs));

  Field x(graph), rhs(graph), y(graph), z(graph);
  for (int b = 0; b < graph.n_local(); ++b)
    for (std::size_t v = 0; v < x.own(b).size(); ++v)
      x.own(b)[v] = std::sin(static_cast<double>(b) + 0.37 * static_cast<double>(v));
  rhs.fill(0.5);
  HaloExchange<double> exchange(comm, graph);
  exchange(x);
  const PlainLists plain(graph);
  const RunsAndRows real(graph);
  for (const int threads : {1, 2}) {
    set_n_threads(threads);
    const auto fluid = static_cast<double>(n.vofs);
    const auto [a, c, e] = best_times(
        fluid, [&] { plain.sweep(graph, x, rhs, y); }, [&] { real.run(graph, x, rhs, z); }, [&] { exchange(x); });
    fmt::print(
        "{} thread(s): plain int16 list {:.3f} ns per fluid cell, runs and rows {:.3f} ({:+.0f} %), exchange {:.3f}\n",
        threads, a, c, 100 * (c / a - 1), e);
  }
  double difference = 0;
  for (int b = 0; b < graph.n_local(); ++b)
    for (std::size_t v = 0; v < y.own(b).size(); ++v)
      difference = std::max(difference, std::abs(y.own(b)[v] - z.own(b)[v]));
  fmt::print("largest difference of the two results {:.1e}\n", difference);
}

void run(const std::vector<std::string>& arg) {
  if (arg.size() == 3 && arg[0] == "packing") {
    report(packing(std::stod(arg[1])), std::stoi(arg[2]));
  } else if (arg.size() == 7 && arg[0] == "raw") {
    const Index n{std::stoi(arg[2]), std::stoi(arg[3]), std::stoi(arg[4])};
    report(raw_tiled(arg[1], n, std::stoi(arg[6])), std::stoi(arg[5]));
  } else {
    throw Error("usage: bench_sweep packing POROSITY BOX | bench_sweep raw FILE NX NY NZ BOX TILES");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [&](const Comm&) { run({argv + 1, argv + argc}); });
}
