// SPDX-License-Identifier: BSD-3-Clause
#include "eb/coarsen.hpp"

#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"
#include "eb/connected_pores.hpp"
#include "eb/faces.hpp"
#include "eb/vof_assembly.hpp"
#include "grid/field.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

Index coarse_of(const Index& fine) { return {fine[0] / 2, fine[1] / 2, fine[2] / 2}; }

/// Position in the coarse cell of a point given relative to the centre of a fine cell; both in their own cell widths.
Vec3 to_coarse(const Vec3& x, const Index& fine) {
  Vec3 y;
  for (int d = 0; d < 3; ++d) y[d] = 0.5 * (x[d] + (fine[d] % 2 == 0 ? -0.5 : 0.5));
  return y;
}

/// Components of the field that tells a box about the coarse VoFs of its halo. Small integers are exact in float.
constexpr int coarse_vof = 0;   ///< coarse VoF of a fine VoF
constexpr int coarse_cell = 1;  ///< offset of its coarse cell in the coarse box
constexpr int coarse_main = 2;  ///< 1 when it is the main VoF of that cell

/// Connected parts of the fine VoFs of a box inside each coarse cell, numbered by cell, then by first fine VoF.
struct BoxParents {
  std::vector<std::uint16_t> parent;  ///< per fine VoF
  std::vector<std::uint16_t> cell;    ///< per coarse VoF: offset in the coarse box
  std::vector<std::uint8_t> main;     ///< per coarse VoF
};

std::vector<int> cells_of(const BoxGraph& graph) {
  std::vector<int> cells(static_cast<std::size_t>(graph.n_own));
  for_each_vof(graph, [&](int vof, int cell) { cells[static_cast<std::size_t>(vof)] = cell; });
  return cells;
}

/// κ of the own VoFs.
std::vector<double> kappas_of(const BoxGraph& graph, const BoxMoments& geometry) {
  std::vector<double> kappa(static_cast<std::size_t>(graph.n_own), 1.0);
  for (std::size_t r = 0; r < geometry.moments.size(); ++r) kappa[graph.row_vof[r]] = geometry.moments[r].kappa;
  return kappa;
}

BoxParents find_parents(const BoxGraph& graph, const BoxMoments& geometry, const Box& coarse_box) {
  const auto n = static_cast<std::size_t>(graph.n_own);
  const std::vector<int> fine_cell = cells_of(graph);
  std::vector<std::int64_t> up(n);
  for (std::size_t v = 0; v < n; ++v) up[v] = coarse_box.offset(coarse_of(graph.cells.cell(fine_cell[v])));

  std::vector<int> set(n);
  std::iota(set.begin(), set.end(), 0);
  const auto root = [&](int v) {
    while (set[static_cast<std::size_t>(v)] != v) v = set[static_cast<std::size_t>(v)];
    return v;
  };
  for_each_face(graph, [&](int vof, int, int slot) {
    if (slot >= graph.n_own || slot <= vof) return;
    if (up[static_cast<std::size_t>(vof)] != up[static_cast<std::size_t>(slot)]) return;
    const int a = root(vof), b = root(slot);
    set[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  });

  std::vector<int> roots;
  for (int v = 0; v < graph.n_own; ++v)
    if (root(v) == v) roots.push_back(v);
  std::ranges::stable_sort(roots, {}, [&](int v) { return up[static_cast<std::size_t>(v)]; });
  BoxParents result;
  result.parent.resize(n);
  for (std::size_t c = 0; c < roots.size(); ++c) {
    const auto v = static_cast<std::size_t>(roots[c]);
    result.parent[v] = static_cast<std::uint16_t>(c);
    result.cell.push_back(static_cast<std::uint16_t>(up[v]));
  }
  for (int v = 0; v < graph.n_own; ++v)
    result.parent[static_cast<std::size_t>(v)] = result.parent[static_cast<std::size_t>(root(v))];

  std::vector<double> volume(roots.size());
  const std::vector<double> kappa = kappas_of(graph, geometry);
  for (std::size_t v = 0; v < n; ++v) volume[result.parent[v]] += kappa[v];
  result.main.resize(roots.size());
  for (std::size_t c = 0; c < roots.size();) {
    std::size_t end = c, largest = c;
    for (; end < roots.size() && result.cell[end] == result.cell[c]; ++end)
      if (volume[end] > volume[largest]) largest = end;
    result.main[largest] = 1;
    c = end;
  }
  return result;
}

FloatField exchange_parents(const Comm& comm, const LevelGraph& graph, const std::vector<BoxParents>& parents) {
  FloatField data(graph, 3);
  parallel_for_dynamic(graph.n_local(), [&](std::int64_t b) {
    const int local = static_cast<int>(b);
    const BoxParents& p = parents[static_cast<std::size_t>(b)];
    for (std::size_t v = 0; v < p.parent.size(); ++v) {
      data.box(local, coarse_vof)[v] = p.parent[v];
      data.box(local, coarse_cell)[v] = p.cell[p.parent[v]];
      data.box(local, coarse_main)[v] = p.main[p.parent[v]];
    }
  });
  fill_halo(comm, graph, data);
  return data;
}

void add(const VofMoments& fine, const Index& cell, VofMoments& sum) {
  const double kappa = fine.kappa / 8.0, area = fine.wall_area / 4.0;
  sum.kappa += kappa;
  sum.centroid += kappa * to_coarse(fine.centroid, cell);
  sum.wall += 0.25 * fine.wall;
  sum.wall_area += area;
  sum.wall_centroid += area * to_coarse(fine.wall_centroid, cell);
}

/// Sums of moments over the fine VoFs of each coarse VoF; centroids become means.
std::vector<VofMoments> sum_moments(const BoxGraph& graph, const BoxMoments& geometry, const BoxParents& parents) {
  std::vector<VofMoments> sums(parents.cell.size(), VofMoments{});
  const std::vector<int> fine_cell = cells_of(graph);
  std::vector<const VofMoments*> irregular(static_cast<std::size_t>(graph.n_own));
  for (std::size_t r = 0; r < geometry.moments.size(); ++r) irregular[graph.row_vof[r]] = &geometry.moments[r];
  const VofMoments whole{1.0, {}, {}, 0.0, {}, {}, {}};
  for (std::size_t v = 0; v < irregular.size(); ++v)
    add(irregular[v] ? *irregular[v] : whole, graph.cells.cell(fine_cell[v]), sums[parents.parent[v]]);
  for (VofMoments& m : sums) {
    m.centroid *= 1.0 / m.kappa;
    if (m.wall_area > 0.0) m.wall_centroid *= 1.0 / m.wall_area;
  }
  return sums;
}

class Coarsener {
 public:
  Coarsener(const LevelGeometry& fine, const Layout& layout, const std::vector<BoxParents>& parents, FloatField halo)
      : fine_(fine), layout_(layout), parents_(parents), halo_(std::move(halo)) {}

  VofAssembly make(int local) const {
    const BoxGraph graph = fine_.graph.box(local);
    const BoxParents& parents = parents_[static_cast<std::size_t>(local)];
    VofAssembly out;
    out.cell = parents.cell;
    out.moments = sum_moments(graph, fine_.box(local), parents);
    out.regular.resize(parents.cell.size());
    for_each_face(graph, fine_.box(local), [&](const FaceView& face) { add_face(local, graph, face, out.faces); });
    return out;
  }

 private:
  void add_face(int local, const BoxGraph& graph, const FaceView& face, std::vector<VofFace>& faces) const {
    const BoxParents& parents = parents_[static_cast<std::size_t>(local)];
    const auto n = static_cast<std::size_t>(face.neighbour);
    const std::uint16_t mine = parents.parent[static_cast<std::size_t>(face.vof)];
    const VofName fine_name = graph.name(face.neighbour);
    const Index fine = graph.cells.cell(face.cell);
    VofFace coarse{
        mine, static_cast<std::uint8_t>(face.side), 1, fine_name, 0.25 * face.aperture, to_coarse(face.centroid, fine)};
    if (is_vof(fine_name)) {
      const bool own = face.neighbour < graph.n_own;
      const auto far = static_cast<int>(halo_.box(local, coarse_vof)[n]);
      if (own && far == mine) return;  // inside the coarse VoF
      const auto cell = static_cast<std::int64_t>(halo_.box(local, coarse_cell)[n]);
      const Index to = (own ? footprint(graph.cells) : layout_.box(box_of(fine_name))).cell(cell);
      coarse.to = vof_name(box_of(fine_name), far);
      coarse.primary =
          parents.main[mine] && halo_.box(local, coarse_main)[n] != 0.0 && touches(coarse_of(fine), to, face.side);
    }
    faces.push_back(coarse);
  }

  /// Cell b lies across this side of cell a, also round a periodic domain.
  bool touches(const Index& a, const Index& b, int side) const {
    const Domain& domain = layout_.domain();
    const Index want = a + side_offset(side);
    for (int d = 0; d < 3; ++d) {
      const int n = domain.cells[d];
      const int w = domain.periodic[static_cast<std::size_t>(d)] ? (want[d] + n) % n : want[d];
      if (w != b[d]) return false;
    }
    return true;
  }

  const LevelGeometry& fine_;
  const Layout& layout_;
  const std::vector<BoxParents>& parents_;
  FloatField halo_;
};

}  // namespace

Coarsened coarsen(const Comm& comm, const LevelGeometry& fine) {
  const Layout layout = coarsened(fine.graph.layout());
  std::vector<BoxParents> parents(static_cast<std::size_t>(fine.graph.n_local()));
  parallel_for_dynamic(fine.graph.n_local(), [&](std::int64_t b) {
    const BoxGraph graph = fine.graph.box(static_cast<int>(b));
    parents[static_cast<std::size_t>(b)] = find_parents(graph, fine.box(static_cast<int>(b)), layout.box(graph.box));
  });
  const Coarsener coarsener(fine, layout, parents, exchange_parents(comm, fine.graph, parents));
  Coarsened result;
  result.geometry =
      build_level_geometry(comm, layout, fine.level - 1, [&](int local) { return coarsener.make(local); });
  for (BoxParents& p : parents) result.parent.push_back(std::move(p.parent));
  return result;
}

}  // namespace karst
