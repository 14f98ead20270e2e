// SPDX-License-Identifier: BSD-3-Clause
#include "fields/parents.hpp"

#include <map>

#include "base/comm/parallel.hpp"
#include "fields/cell_holders.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// f(VoF of an own fine box, the place of its fluid in cells of the coarser level).
template <class F>
void for_places(const LevelGeometry& fine, int b, F&& f) {
  const BoxGraph box = fine.graph.box(b);
  const auto moments = fine.box(b).moments;
  std::size_t r = 0;
  for_each_vof(box, [&](int vof, int offset) {
    const Index cell = box.cells.cell(offset), under{cell[0] / 2, cell[1] / 2, cell[2] / 2};
    Vec3 at = r < moments.size() && box.row_vof[r] == vof ? moments[r++].centroid : Vec3{};
    for (int d = 0; d < 3; ++d) at[d] = 0.5 * (at[d] + cell[d] - 2 * under[d] - 0.5);
    f(vof, CellPlace{under, at});
  });
}

}  // namespace

std::vector<VofName> find_parents(const Composite& grid, int l, std::span<const std::uint8_t> wanted) {
  const LevelGeometry &coarse = grid.level(l), &fine = grid.level(l + 1);
  const Layout& layout = coarse.graph.layout();
  const int n = fine.graph.n_local();
  std::vector<VofName> parents(fine.graph.vof_begin(n), no_face);
  std::vector<std::int64_t> under(n, -1);  // coarse box; boxes of even size do not reach beyond one
  for (int b = 0; b < n; ++b) {
    if (!wanted.empty() && wanted[b] == 0) continue;
    const Index p = fine.graph.layout().lattice_position(fine.graph.first_box() + b);
    under[b] = layout.find({p[0] / 2, p[1] / 2, p[2] / 2});
  }
  parallel_for_dynamic(n, [&](std::int64_t i) {
    const int b = static_cast<int>(i), over = under[b] < 0 ? -1 : coarse.graph.local(under[b]);
    if (over < 0) return;
    const CellHolders holders(coarse, over);
    for_places(fine, b,
               [&](int vof, const CellPlace& place) { parents[fine.graph.vof_begin(b) + vof] = holders.at(place); });
  });
  struct Asked {
    std::int64_t vof;
    CellPlace place;
  };
  std::map<int, std::vector<Asked>> of_others;
  for (int b = 0; b < n; ++b)
    if (under[b] >= 0 && coarse.graph.local(under[b]) < 0)
      for_places(fine, b, [&](int vof, const CellPlace& place) {
        of_others[layout.owner(under[b])].push_back({fine.graph.vof_begin(b) + vof, place});
      });
  std::unique_ptr<CellHolders> holders;
  std::int64_t last = -1;
  ask_values(
      grid.comm(), of_others, [](const Asked& asked) { return asked.place; },
      [&](const CellPlace& place) {
        const std::int64_t box = layout.find_cell(place.cell);
        if (box != last) holders = std::make_unique<CellHolders>(coarse, coarse.graph.local(last = box));
        return holders->at(place);
      },
      [&](const Asked& asked, VofName parent) { parents[asked.vof] = parent; });
  return parents;
}

}  // namespace karst
