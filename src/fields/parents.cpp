// SPDX-License-Identifier: BSD-3-Clause
#include "fields/parents.hpp"

#include <map>

#include "base/core/items_of.hpp"
#include "grid/bytes.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// A place in a coarse cell, from its centre, in its widths.
struct Place {
  Index cell;
  Vec3 at;
};

/// Which VoFs hold the fluid of the cells of an own box.
class CellHolders {
 public:
  CellHolders(const LevelGeometry& level, int box) : box_(level.graph.box(box)) {
    const auto moments = level.box(box).moments;
    std::size_t r = 0;
    for_each_vof(box_, [&](int vof, int cell) {
      const bool cut = r < moments.size() && box_.row_vof[r] == vof;
      vofs_.push_back({cell, vof_name(box_.box, vof), cut ? moments[r].centroid : Vec3{}, 2.0});
      r += cut;
    });
    const auto [first, last] = level.joined_in(box);
    for (auto i = first; i < last; ++i)
      if (const JoinedPart& part = level.joined[i]; part.home != no_face && part.kappa > 0.0F)
        joined_.push_back({part.cell, part.home, {}, double{part.kappa}});
    std::ranges::stable_sort(joined_, {}, &Holder::cell);
  }
  VofName at(const Place& place) const {
    const int cell = static_cast<int>(box_.cells.offset(place.cell));
    VofName found = no_face;
    double nearest = 1e30, most = 0.0;
    for (const Holder& h : items_of(vofs_, cell, &Holder::cell))
      if (const Vec3 away = h.centroid - place.at; dot(away, away) < nearest) {
        nearest = dot(away, away);
        found = h.vof;
      }
    if (found != no_face) return found;
    for (const Holder& h : items_of(joined_, cell, &Holder::cell))
      if (h.kappa > most) {
        most = h.kappa;
        found = h.vof;
      }
    return found;
  }

 private:
  struct Holder {
    int cell;
    VofName vof;
    Vec3 centroid;
    double kappa;
  };
  BoxGraph box_;
  std::vector<Holder> vofs_, joined_;
};

}  // namespace

std::vector<VofName> find_parents(const Composite& grid, int l) {
  const LevelGeometry &coarse = grid.level(l), &fine = grid.level(l + 1);
  const Layout& layout = coarse.graph.layout();
  std::map<int, std::vector<Place>> questions;
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
  for (const Message& m : grid.comm().sparse_exchange(out)) {
    ByteWriter w;
    std::unique_ptr<CellHolders> holders;
    std::int64_t last = -1;
    for (ByteReader in(m.bytes); !in.at_end();) {
      const auto place = in.get<Place>();
      const std::int64_t box = layout.find_cell(place.cell);
      if (box != last) holders = std::make_unique<CellHolders>(coarse, coarse.graph.local(last = box));
      w.put(holders->at(place));
    }
    answers.push_back({m.rank, w.take()});
  }
  const std::vector<Message> received = grid.comm().sparse_exchange(answers);
  std::map<int, ByteReader> from;
  for (const Message& m : received) from.emplace(m.rank, ByteReader(m.bytes));
  std::vector<VofName> parents;
  for (const int rank : asked) parents.push_back(rank < 0 ? no_face : from.at(rank).get<VofName>());
  return parents;
}

std::vector<double> volumes_in(const LevelGeometry& level, int box) {
  const BoxGraph graph = level.graph.box(box);
  std::vector<double> kappa(graph.n_own, 1.0);
  const auto moments = level.box(box).moments;
  for (std::size_t r = 0; r < moments.size(); ++r) kappa[graph.row_vof[r]] = moments[r].kappa;
  return kappa;
}

}  // namespace karst
