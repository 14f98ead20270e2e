// SPDX-License-Identifier: BSD-3-Clause
#include "fields/staying_vofs.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/comm/parallel.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

constexpr int faces_away = 3;

/// What lies across a face: a VoF by its name on the new grid, or one of these.
constexpr VofName changed_vof = coarse_face - 1;

/// A level of both grids.
class Level {
 public:
  Level(const Composite& before, const Composite& now, int level, const std::vector<SameBoxes::Box>& whole,
        const std::vector<SameBoxes::Box>& partly)
      : grid_(now),
        now_(now.graph(level)),
        was_(before.graph(level)),
        geometry_(now.level(level)),
        partly_(partly),
        box_now_(was_.n_local(), -1),
        box_is_there_(now_.n_local(), 0),
        marks_(now_.vof_begin(now_.n_local()), 0) {
    for (int b = 0; b < now_.n_local(); ++b)
      if (const int own = std::max(whole[b].box, partly[b].box); own >= 0) {
        box_now_[own] = b;
        box_is_there_[b] = 1;
      }
  }

  /// Marks VoFs near a change; boxes far from one are not looked at.
  void run() {
    parallel_for(now_.n_local(), [&](std::int64_t b) { mark_left_out(static_cast<int>(b)); });
    parallel_for_dynamic(now_.n_local(), [&](std::int64_t b) { mark_changes(static_cast<int>(b)); });
    std::vector<std::vector<std::uint16_t>> reached(now_.n_local());
    for (int step = 1; step <= faces_away; ++step) {
      parallel_for_dynamic(now_.n_local(), [&](std::int64_t b) { reached[b] = next(static_cast<int>(b), step); });
      parallel_for(now_.n_local(), [&](std::int64_t b) {
        for (const std::uint16_t vof : reached[b]) mark(static_cast<int>(b), vof, step + 1);
      });
    }
  }
  /// Faces up to which all stays around an own VoF of a box that stays in part, at most `faces_away`; 0 for those left
  /// out.
  std::uint8_t stays(int box, int vof) const {
    const std::uint8_t m = marks_[now_.vof_begin(box) + vof];
    if (m == 0) return faces_away;
    return static_cast<std::uint8_t>(m >= left_out || m < 2 ? 0 : m - 2);
  }
  /// Leaves out VoFs beside fragments and other levels; to be called last.
  void leave_out() {
    std::vector<std::vector<std::uint16_t>> some(now_.n_local());
    parallel_for_dynamic(now_.n_local(), [&](std::int64_t b) { some[b] = beside_left_out(static_cast<int>(b)); });
    parallel_for(now_.n_local(), [&](std::int64_t b) {
      for (const std::uint16_t vof : some[b]) mark(static_cast<int>(b), vof, left_out);
    });
  }

 private:
  static constexpr std::uint8_t left_out = 0x80;  ///< first fragments and what another level covers

  bool is_partly(int b) const { return partly_[b].box >= 0; }
  void mark(int b, int vof, int with) {
    std::uint8_t& m = marks_[now_.vof_begin(b) + vof];
    m = static_cast<std::uint8_t>(m | with);
  }
  void mark_left_out(int b) {
    const BoxGraph graph = now_.box(b);
    const auto centers = geometry_.box(b).centers;
    for (int r = 0; r < graph.n_irregular; ++r)
      if (!centers[r].inside) mark(b, graph.row_vof[r], left_out);
    const auto numbers = grid_.numbering().numbers(geometry_.level, b);  // empty: none is covered
    for (std::size_t vof = 0; vof < numbers.size(); ++vof)
      if (numbers[vof] < 0) mark(b, static_cast<int>(vof), left_out);
  }

  /// Per slot what lies there, by names of the new grid.
  std::vector<VofName> named(const BoxGraph& graph, const LevelGraph& of, std::int64_t own_box) const {
    std::vector<VofName> names;
    names.reserve(graph.n_slots());
    for (int vof = 0; vof < graph.n_own; ++vof) names.push_back(vof_name(own_box, vof));
    for (std::size_t g = 0; g < graph.halo.groups().size(); ++g) {
      const int local = of.local(graph.halo.groups()[g].box);
      int b = local;
      if (&of == &was_ && local >= 0) b = box_now_[local];
      const bool there = b >= 0 && box_is_there_[b] != 0;
      for (const std::uint16_t vof : graph.halo.vofs_of_group(g))
        names.push_back(there ? vof_name(now_.first_box() + b, vof) : changed_vof);
    }
    names.insert(names.end(), graph.halo.n_coarse(), coarse_face);
    names.insert(names.end(), graph.halo.n_domain(), domain_face);
    names.push_back(no_face);
    return names;
  }

  /// VoFs that have other faces than before.
  void mark_changes(int b) {
    if (!is_partly(b)) return;
    const BoxGraph x = now_.box(b), y = was_.box(partly_[b].box);
    const std::vector<VofName> names = named(x, now_, x.box), names_before = named(y, was_, x.box);
    std::vector<std::array<std::uint16_t, 6>> slots_before;
    slots_before.reserve(y.n_own);
    for_each_vof(y, [&](int, int, const std::array<std::uint16_t, 6>& slots) { slots_before.push_back(slots); });
    const auto is_same = [&](int slot, int before) {
      return names[slot] != changed_vof && names[slot] == names_before[before];
    };
    for_each_vof(x, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      bool all = true;
      for (std::size_t side = 0; side < 6; ++side) all = all && is_same(slots[side], slots_before[vof][side]);
      if (!all) mark(b, vof, 1);
    });
    for (std::size_t e = 0; e < x.extra.size(); ++e) {
      const ExtraFace &f = x.extra[e], &g = y.extra[e];
      if (f.vof != g.vof || f.side != g.side || !is_same(f.neighbour, g.neighbour)) {
        mark(b, f.vof, 1);
        mark(b, g.vof, 1);
      }
    }
  }

  /// Marks of the VoFs in all slots of a box.
  std::vector<std::uint8_t> marks_of(const BoxGraph& graph, int b) const {
    const auto begin = marks_.begin() + now_.vof_begin(b);
    std::vector<std::uint8_t> marks(begin, begin + graph.n_own);
    marks.resize(graph.n_slots(), 0);
    auto slot = marks.begin() + graph.n_own;
    for (std::size_t g = 0; g < graph.halo.groups().size(); ++g) {
      const int other = now_.local(graph.halo.groups()[g].box);
      for (const std::uint16_t vof : graph.halo.vofs_of_group(g))
        *slot++ = other < 0 ? std::uint8_t{0} : marks_[now_.vof_begin(other) + vof];
    }
    std::fill_n(slot, graph.halo.n_coarse(), left_out);
    return marks;
  }
  /// Calls f(vof) for VoFs with a neighbour of which like(marks) holds.
  template <class Like, class F>
  void beside(int b, Like&& like, F&& f) const {
    const BoxGraph graph = now_.box(b);
    const std::vector<std::uint8_t> marks = marks_of(graph, b);
    if (std::ranges::none_of(marks, like)) return;
    for_each_face(graph, [&](int vof, int, int slot) {
      if (like(marks[slot])) f(vof, marks[vof]);
    });
  }
  /// VoFs that are reached by `step` faces, not by fewer.
  std::vector<std::uint16_t> next(int b, int step) const {
    std::vector<std::uint16_t> reached;
    if (!is_partly(b)) return reached;
    beside(
        b, [&](std::uint8_t m) { return (m & ~left_out) == step; },
        [&](int vof, std::uint8_t m) {
          if ((m & ~left_out) == 0) reached.push_back(static_cast<std::uint16_t>(vof));
        });
    std::ranges::sort(reached);
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    return reached;
  }
  std::vector<std::uint16_t> beside_left_out(int b) const {
    std::vector<std::uint16_t> found;
    if (is_partly(b))
      beside(
          b, [](std::uint8_t m) { return (m & left_out) != 0; },
          [&](int vof, std::uint8_t) { found.push_back(static_cast<std::uint16_t>(vof)); });
    return found;
  }

  const Composite& grid_;
  const LevelGraph &now_, &was_;
  const LevelGeometry& geometry_;
  const std::vector<SameBoxes::Box>& partly_;
  std::vector<int> box_now_;                // [own box before] with the same VoFs; -1: none
  std::vector<std::uint8_t> box_is_there_;  // [own box]
  std::vector<std::uint8_t> marks_;         // [own VoF] 1 + faces from a change, 0: far; and `left_out`
};

}  // namespace

std::vector<std::uint8_t> staying_unknowns(const Composite& before, const Composite& now, const SameBoxes& same) {
  std::vector<std::uint8_t> stays(now.numbering().n_own(), 0);
  for (int l = 0; l < std::min(before.n_levels(), now.n_levels()); ++l) {
    Level level(before, now, l, same.boxes[l], same.partly[l]);
    level.run();
    level.leave_out();
    parallel_for_dynamic(now.graph(l).n_local(), [&](std::int64_t i) {
      const int b = static_cast<int>(i);
      if (same.partly[l][b].box < 0) return;
      const int n = now.graph(l).box(b).n_own;
      for (int vof = 0; vof < n; ++vof)
        if (const std::int32_t number = now.numbering().number(l, b, vof); number >= 0)
          stays[number] = level.stays(b, vof);
    });
  }
  return stays;
}

}  // namespace karst
