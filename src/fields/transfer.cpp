// SPDX-License-Identifier: BSD-3-Clause
#include "fields/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "fields/parents.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// Request of a new box to an old one: its VoFs in these cells.
struct Question {
  std::int32_t level, asker;  ///< asker: number of the new box
  std::int32_t asker_level;
  Index lo, hi;
};

/// A VoF of the old grid.
struct OldVof {
  std::int32_t level, piece;
  Index cell;
  bool covered;
};
/// Value, bounds and slope of one component of an old VoF. The owner computes them, because only it has the neighbours.
struct OldValue {
  double value, low, high;
  Vec3 slope;  ///< per cell width of its level, limited
};

struct OldVofs {
  std::vector<OldVof> vofs;  ///< by level, cell (z, y, x), piece
  std::vector<OldValue> values;
};

auto key_of(int level, const Index& cell, int piece) { return std::array{level, cell[2], cell[1], cell[0], piece}; }

/// Bounds and slope of a VoF from its primary neighbours. The slope is scaled such that the values at the centres of
/// the eight octants, |s_x| / 4 + |s_y| / 4 + |s_z| / 4 away at most, remain within the bounds.
OldValue look(const std::span<const double>& x, std::size_t vof, const std::array<std::uint16_t, 6>& slots,
              const BoxGraph& box) {
  const int n_known = box.n_own + box.halo.n_vofs() + box.halo.n_coarse();  // domain ghosts are not filled
  OldValue v{x[vof], x[vof], x[vof], {}};
  std::array<double, 6> at;
  for (std::size_t s = 0; s < 6; ++s) {
    at[s] = slots[s] < n_known ? x[slots[s]] : x[vof];
    v.low = std::min(v.low, at[s]);
    v.high = std::max(v.high, at[s]);
  }
  double reach = 0.0;  // largest change at the centres of the octants
  for (int d = 0; d < 3; ++d) {
    const int low = 2 * d;
    v.slope[d] = slots[low] < n_known && slots[low + 1] < n_known ? 0.5 * (at[low + 1] - at[low]) : 0.0;
    reach += 0.25 * std::abs(v.slope[d]);
  }
  if (const double room = std::min(v.high - v.value, v.value - v.low); reach > room) v.slope *= room / reach;
  return v;
}

/// Appends the VoFs of an own box of the old grid in the cells of a request.
void answer(const CellField& from, const FillGhosts& fill, const Question& q, ByteWriter& w) {
  const Composite& grid = from.grid();
  const LevelGraph& graph = grid.graph(q.level);
  const int b = graph.local(graph.layout().find_cell(q.lo));
  const BoxGraph box = graph.box(b);
  const auto covered = grid.covered_in(q.level, b), empty = fill.empty_in(q.level, b);
  OldVofs found;
  int before = -1, piece = 0;
  for_each_vof(box, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
    piece = cell == before ? piece + 1 : 0;
    before = cell;
    const Index at = box.cells.cell(cell);
    for (int d = 0; d < 3; ++d)
      if (at[d] < q.lo[d] || at[d] >= q.hi[d]) return;
    if (std::ranges::binary_search(empty, static_cast<std::uint16_t>(vof))) return;
    found.vofs.push_back({q.level, piece, at, std::ranges::binary_search(covered, static_cast<std::uint16_t>(vof))});
    for (int c = 0; c < from.n_components(); ++c)
      found.values.push_back(look(from.level(q.level).box(b, c), vof, slots, box));
  });
  w.put(q);
  w.put_vector(found.vofs);
  w.put_vector(found.values);
}

/// Requests of the own boxes of the new grid: on each level up to their own, the old box that contains their cells.
/// Both grids have the same box size, so a box and its coarser images are each inside a single box.
std::map<int, ByteWriter> questions(const Composite& old, const Composite& grid) {
  std::map<int, ByteWriter> to_owner;
  for (int l = 0; l < grid.n_levels(); ++l)
    for (int b = 0; b < grid.graph(l).n_local(); ++b) {
      if (grid.numbering().box_begin(l, b) == grid.numbering().box_end(l, b)) continue;
      const Box cells = grid.graph(l).box(b).cells;
      for (int from = std::min(l, old.n_levels() - 1); from >= 0; --from) {
        const int width = 1 << (l - from);
        Question q{from, b, l, {}, {}};
        for (int d = 0; d < 3; ++d) {
          q.lo[d] = cells.lo[d] / width;
          q.hi[d] = (cells.hi[d] + width - 1) / width;
        }
        const Layout& layout = old.graph(from).layout();
        if (const std::int64_t box = layout.find_cell(q.lo); box >= 0) to_owner[layout.owner(box)].put(q);
      }
    }
  return to_owner;
}

/// Unknowns that are not copies, with their bounds. Only these may be changed to conserve mass.
struct Changed {
  double* value;
  double volume, low, high;
};

class Transfer {
 public:
  Transfer(const CellField& from, CellField& to) : grid_(to.grid()), n_(from.n_components()), to_(to), changed_(n_) {}

  /// Sets the unknowns of a new box.
  void set(int l, int b, const OldVofs& old) {
    const BoxGraph box = grid_.graph(l).box(b);
    const std::vector<double> kappa = volumes_in(grid_.level(l), b);
    const double h3 = std::pow(Composite::width(l), 3);
    int before = -1, piece = 0;
    for_each_vof(box, [&](int vof, int cell) {
      piece = cell == before ? piece + 1 : 0;
      before = cell;
      if (grid_.numbering().number(l, b, vof) < 0) return;
      const Index at = box.cells.cell(cell);
      const auto [place, how] = find(old, l, at, piece);
      ++*how;
      for (int c = 0; c < n_; ++c) {
        double& value = to_.level(l).box(b, c)[vof];
        value = 0.0;
        if (place < 0) continue;
        const OldVof& from = old.vofs[place];
        const OldValue& v = old.values[place * n_ + c];
        value = v.value;
        if (how == &report.copied) continue;
        if (how == &report.interpolated) {
          const double ratio = 1.0 / (1 << (l - from.level));
          for (int d = 0; d < 3; ++d) value += v.slope[d] * (ratio * (at[d] + 0.5) - from.cell[d] - 0.5);
          value = std::clamp(value, v.low, v.high);  // round-off
        }
        changed_[c].push_back({&value, h3 * kappa[vof], v.low, v.high});
      }
    });
  }

  /// Distributes missing mass over the unknowns of a component that are not copies, each by the same fraction of the
  /// distance to its bound, so that no bound is violated; returns the mass that is still missing. Collective.
  double mend(int component, double missing) {
    const auto& all = changed_[component];
    double room = 0.0;
    for (const Changed& x : all) room += x.volume * (missing > 0.0 ? x.high - *x.value : *x.value - x.low);
    room = grid_.comm().sum(room);
    if (room <= 0.0 || missing == 0.0) return missing;
    const double part = std::min(1.0, std::abs(missing) / room);
    for (const Changed& x : all) {
      const double end = missing > 0.0 ? x.high : x.low;
      *x.value = std::clamp(*x.value + part * (end - *x.value), std::min(x.low, *x.value), std::max(x.high, *x.value));
    }
    return part < 1.0 ? 0.0 : missing > 0.0 ? missing - room : missing + room;
  }

  TransferReport report;

 private:
  /// Index of the old VoF from which a new one takes its value, -1 without any; and the counter of the method.
  std::pair<std::ptrdiff_t, std::int64_t*> find(const OldVofs& old, int l, const Index& at, int piece) {
    const auto key = [](const OldVof& v) { return key_of(v.level, v.cell, v.piece); };
    for (int from = l; from >= 0; --from) {
      const int width = 1 << (l - from);
      const Index cell{at[0] / width, at[1] / width, at[2] / width};
      auto found = std::ranges::lower_bound(old.vofs, key_of(from, cell, from == l ? piece : 0), {}, key);
      if (found == old.vofs.end() || found->level != from || found->cell != cell) continue;
      if (from == l && found->piece != piece) continue;
      std::int64_t* how = from < l ? &report.interpolated : found->covered ? &report.averaged : &report.copied;
      return {found - old.vofs.begin(), how};
    }
    std::ptrdiff_t nearest = -1;
    double least = 1e30;
    for (std::size_t i = 0; i < old.vofs.size(); ++i) {
      double square = 0.0;
      const double width = 1 << (l - old.vofs[i].level);
      for (int d = 0; d < 3; ++d) square += std::pow(width * (old.vofs[i].cell[d] + 0.5) - at[d] - 0.5, 2);
      if (square >= least) continue;
      least = square;
      nearest = static_cast<std::ptrdiff_t>(i);
    }
    return {nearest, &report.from_nearest};
  }

  const Composite& grid_;
  int n_;
  CellField& to_;
  std::vector<std::vector<Changed>> changed_;  // per component
};

void check(const CellField& from, const CellField& to) {
  const Layout &a = from.grid().graph(0).layout(), &b = to.grid().graph(0).layout();
  require(a.domain().cells == b.domain().cells && a.box_size() == b.box_size(),
          "transfer: from {} x {} x {} cells in boxes of {} to {} x {} x {} in boxes of {}; both must be the same",
          a.domain().cells[0], a.domain().cells[1], a.domain().cells[2], a.box_size(), b.domain().cells[0],
          b.domain().cells[1], b.domain().cells[2], b.box_size());
  require(from.n_components() == to.n_components(), "transfer: from {} components to {}; both must have as many",
          from.n_components(), to.n_components());
}

}  // namespace

TransferReport transfer(CellField& from, FillGhosts& fill, CellField& to) {
  check(from, to);
  fill(from);
  const Comm& comm = to.grid().comm();
  const auto of_own = [&](ByteReader& in, ByteWriter& w) { answer(from, fill, in.get<Question>(), w); };
  std::map<std::pair<int, int>, std::map<int, OldVofs>> of_box;  // by level and number, then by level of the old VoFs
  ask_ranks(comm, questions(from.grid(), to.grid()), of_own, [&](ByteReader& in, int) {
    const auto q = in.get<Question>();
    OldVofs& old = of_box[{q.asker_level, q.asker}][q.level];
    old.vofs = in.get_vector<OldVof>();
    old.values = in.get_vector<OldValue>();
  });
  Transfer work(from, to);
  for (int l = 0; l < to.n_levels(); ++l)
    for (int b = 0; b < to.grid().graph(l).n_local(); ++b) {
      OldVofs all;
      for (const auto& [level, old] : of_box[{l, b}]) {
        all.vofs.insert(all.vofs.end(), old.vofs.begin(), old.vofs.end());
        all.values.insert(all.values.end(), old.values.begin(), old.values.end());
      }
      work.set(l, b, all);
    }
  TransferReport& report = work.report;
  std::array counts{report.copied, report.averaged, report.interpolated, report.from_nearest};
  comm.sum(std::span(counts));
  for (int c = 0; c < to.n_components(); ++c) {
    double missing = 0.0;
    if (counts[1] + counts[2] + counts[3] > 0)
      for (int pass = 0; pass < 2; ++pass) {  // the second one corrects the round-off of the first
        missing = integral(from, c) - integral(to, c);
        missing = work.mend(c, missing);
      }
    report.mass_changed.push_back(-missing);
  }
  report.copied = counts[0];
  report.averaged = counts[1];
  report.interpolated = counts[2];
  report.from_nearest = counts[3];
  return report;
}

}  // namespace karst
