// SPDX-License-Identifier: BSD-3-Clause
#include "fields/parents.hpp"

#include <map>

#include "fields/cell_holders.hpp"
#include "grid/bytes.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

std::vector<VofName> find_parents(const Composite& grid, int l) {
  const LevelGeometry &coarse = grid.level(l), &fine = grid.level(l + 1);
  const Layout& layout = coarse.graph.layout();
  std::map<int, std::vector<CellPlace>> questions;
  std::vector<int> asked;  // rank, per own fine VoF; -1: there is no coarse box
  for (int b = 0; b < fine.graph.n_local(); ++b) {
    const BoxGraph box = fine.graph.box(b);
    const auto moments = fine.box(b).moments;
    std::size_t r = 0;
    for_each_vof(box, [&](int vof, int offset) {
      const Index cell = box.cells.cell(offset), under{cell[0] / 2, cell[1] / 2, cell[2] / 2};
      Vec3 at = r < moments.size() && box.row_vof[r] == vof ? moments[r++].centroid : Vec3{};
      for (int d = 0; d < 3; ++d) at[d] = 0.5 * (at[d] + cell[d] - 2 * under[d] - 0.5);
      const std::int64_t in = layout.find_cell(under);
      asked.push_back(in < 0 ? -1 : layout.owner(in));
      if (in >= 0) questions[asked.back()].push_back({under, at});
    });
  }
  std::vector<Message> out, answers;
  for (const auto& [rank, places] : questions) {
    ByteWriter w;
    w.put(std::span(places));
    out.push_back({rank, w.take()});
  }
  questions.clear();
  for (const Message& m : grid.comm().sparse_exchange(std::move(out))) {
    ByteWriter w;
    std::unique_ptr<CellHolders> holders;
    std::int64_t last = -1;
    for (ByteReader in(m.bytes); !in.at_end();) {
      const auto place = in.get<CellPlace>();
      const std::int64_t box = layout.find_cell(place.cell);
      if (box != last) holders = std::make_unique<CellHolders>(coarse, coarse.graph.local(last = box));
      w.put(holders->at(place));
    }
    answers.push_back({m.rank, w.take()});
  }
  const std::vector<Message> received = grid.comm().sparse_exchange(std::move(answers));
  std::map<int, ByteReader> from;
  for (const Message& m : received) from.emplace(m.rank, ByteReader(m.bytes));
  std::vector<VofName> parents;
  for (const int rank : asked) parents.push_back(rank < 0 ? no_face : from.at(rank).get<VofName>());
  return parents;
}

}  // namespace karst
