// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/fine_rows.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// Shift of each own VoF of a box.
std::vector<float> shifts_of(const TwoPointLevel& level, int b) {
  const BoxGraph graph = level.geometry->graph.box(b);
  std::vector<float> shift(graph.n_own, level.regular_shift);
  const std::size_t first = level.geometry->moments_begin[b];
  for (int r = 0; r < graph.n_irregular; ++r) shift[graph.row_vof[r]] = level.shift[first + r];
  if (level.entering.size() > 0)
    for (int v = 0; v < graph.n_own; ++v) shift[v] += level.entering_of(b, v);
  return shift;
}

}  // namespace

FineRows::FineRows(const TwoPointLevel& level, std::int64_t first_unknown, int width)
    : graph_(&level.geometry->graph),
      face_weight_(level.face_weight),
      regular_diagonal_(6.0F * level.face_weight + level.regular_shift),
      end_unknown_(first_unknown) {
  if (!level.covered.empty()) covered_begin_.push_back(0);
  for (int b = 0; b < graph_->n_local(); ++b) {
    boxes_.push_back({graph_->box(b).runs, 0, 0, 0, segments_.size(), 0});
    number_unknowns(level, b);
    find_ghosts(level, b, width);
  }
  set_rows(level);
}

/// Boxes without any unknown have no runs and, later, no rows.
void FineRows::number_unknowns(const TwoPointLevel& level, int b) {
  const std::span<const std::uint16_t> covered = level.covered_in(b);
  BoxView& box = boxes_[b];
  std::int32_t vof = 0;
  const auto add = [&](std::int32_t end) {
    if (end > vof) segments_.push_back({vof, end - vof, end_unknown_});
    end_unknown_ += end - vof;
    vof = end + 1;
  };
  for (const std::uint16_t c : covered) add(c);
  const std::int32_t n_own = graph_->slots()->n_own(b);
  add(n_own);
  box.n_segments = segments_.size() - box.segments;
  if (std::ssize(covered) == n_own || level.has_rows_only()) box.runs = {};
  if (covered_begin_.empty()) return;
  covered_.insert(covered_.end(), covered.begin(), covered.end());
  covered_begin_.push_back(static_cast<std::int32_t>(covered_.size()));
}

void FineRows::find_ghosts(const TwoPointLevel& level, int b, int width) {
  const BoxGraph g = graph_->box(b);
  BoxView& box = boxes_[b];
  const int n_ghosts = g.halo.n_coarse() + g.halo.n_domain(), first = g.closed() - n_ghosts;
  const int first_domain = g.closed() - g.halo.n_domain();
  const std::size_t begin = ghost_vof_.size();
  box.first_ghost = first;
  box.ghosts = static_cast<std::int64_t>(begin);
  box.n_ghosts = n_ghosts;
  if (n_ghosts == 0) return;
  ghost_vof_.resize(begin + n_ghosts);
  ghost_factor_.resize(width * ghost_vof_.size(), 1.0F);
  for_each_face(g, [&](int vof, int side, int slot) {
    if (slot < first) return;
    const std::size_t ghost = begin + (slot - first);
    ghost_vof_[ghost] = static_cast<std::uint16_t>(vof);
    if (slot < first_domain) return;
    float* factor = ghost_factor_.data() + width * ghost;
    std::fill_n(factor, width, level.ghost_factor[level.ghost_begin[b] + slot - first_domain]);
    if (width == 3 && level.mirrors[side]) factor[direction_of(side)] = -1.0F;
  });
}

void FineRows::set_rows(const TwoPointLevel& level) {
  const int n = graph_->n_local();
  std::vector<std::int64_t> slices(n), entries(n);
  std::vector<RowList<std::uint16_t>> lists(n_threads());
  const auto rows_of = [&](std::int64_t b) -> const RowList<std::uint16_t>& {
    RowList<std::uint16_t>& rows = lists[thread_number()];
    rows.clear();
    if (boxes_[b].n_segments > 0) add_rows(static_cast<int>(b), level, rows);
    return rows;
  };
  parallel_for_dynamic(n, [&](std::int64_t b) {
    const auto size = SlicedRows<std::uint16_t>::size_of(rows_of(b));
    slices[b] = size.slices;
    entries[b] = size.entries;
  });
  rows_ = SlicedRows<std::uint16_t>(slices, entries);
  parallel_for_dynamic(n, [&](std::int64_t b) { rows_.set(b, rows_of(b)); });
}

/// Rows of a box: entries of positive weight, primary faces first. Where β varies or a flow carries, VoFs of runs
/// are rows too.
void FineRows::add_rows(int b, const TwoPointLevel& level, RowList<std::uint16_t>& rows) const {
  const BoxGraph g = graph_->box(b);
  const std::size_t first = level.geometry->moments_begin[b];
  const std::size_t first_extra = level.geometry->extra_begin[b];
  double diagonal = 0.0;
  const auto add = [&](std::uint16_t column, float weight) {
    if (weight <= 0.0F) return;
    rows.column.push_back(column);
    rows.weight.push_back(weight);
    diagonal += weight;
  };
  const auto add_regular = [&](int vof, const std::array<std::uint16_t, 6>& slots) {
    diagonal = level.regular_shift + level.entering_of(b, vof);
    for (int side = 0; side < 6; ++side) {
      const std::uint16_t slot = slots[side];
      add(slot, level.carried(level.whole_weight(b, vof, side, slot), b, vof, side));
    }
    rows.end_row(static_cast<std::uint16_t>(vof), static_cast<float>(diagonal));
  };
  std::size_t extra = 0;
  for (int r = 0; r < g.n_irregular; ++r) {
    diagonal = level.shift[first + r] + level.entering_of(b, g.row_vof[r]);
    for (std::size_t side = 0; side < 6; ++side)
      add(g.neighbours[r][side], level.carried(level.weight[first + r][side], b, g.row_vof[r], side));
    for (; extra < g.extra.size() && g.extra[extra].vof == g.row_vof[r]; ++extra)
      add(g.extra[extra].neighbour, level.extra[first_extra + extra]);
    rows.end_row(g.row_vof[r], static_cast<float>(diagonal));
  }
  for (std::size_t r = g.n_irregular; r < g.row_vof.size(); ++r) add_regular(g.row_vof[r], g.neighbours[r]);
  if (!level.has_rows_only()) return;
  for (const Run& run : g.runs)
    for (int t = 0; t < run.length; ++t) add_regular(run.first + t, run.neighbours(t));
}

void FineRows::set_shifts(const TwoPointLevel& level) {
  regular_diagonal_ = 6.0F * face_weight_ + level.regular_shift;
  parallel_for(graph_->n_local(), [&](std::int64_t b) { set_diagonals(level, static_cast<int>(b)); });
}

void FineRows::set_diagonals(const TwoPointLevel& level, int box) {
  const std::vector<float> shift = shifts_of(level, box);
  const std::span<const VofShift> raised = raised_.empty() ? std::span<const VofShift>{} : std::span(raised_[box]);
  rows_.set_diagonals(
      box, [&](std::uint16_t vof) { return shift[vof]; },
      [&](std::uint16_t vof) {
        const auto at = std::ranges::lower_bound(raised, std::int32_t{vof}, {}, &VofShift::vof);
        return at != raised.end() && at->vof == vof ? at->by : 0.0F;
      });
}

void FineRows::raise_diagonals(const TwoPointLevel& level, int box, std::vector<VofShift> by) {
  raised_.resize(graph_->n_local());
  raised_[box] = std::move(by);
  set_diagonals(level, box);
}

void FineRows::add_shifts(const TwoPointLevel& level, const FineChildren& children, float scale,
                          std::span<float> shift) const {
  parallel_for(graph_->n_local(), [&](std::int64_t b) {
    const std::vector<float> fine = shifts_of(level, static_cast<int>(b));
    const std::uint16_t* child = children.child.data() + graph_->vof_begin(static_cast<int>(b));
    const std::uint16_t* end = children.end.data() + (children.node_begin[b] - children.node_begin[0]);
    int k = 0;
    for (std::int64_t node = children.node_begin[b]; node < children.node_begin[b + 1]; ++node, ++end) {
      double sum = 0.0;
      for (; k < *end; ++k) sum += fine[child[k]];
      shift[node] += scale * static_cast<float>(sum);
    }
  });
}

double FineRows::coupling(const TwoPointLevel& level) const {
  return parallel_max(graph_->n_local(), [&](std::int64_t i) {
    const int box = static_cast<int>(i);
    const std::vector<float> shift = shifts_of(level, box), inverse = inverse_diagonal(box);
    double largest = 0.0;
    for (const Segment& s : segments(box))
      for (std::int32_t v = s.vof; v < s.vof + s.count; ++v)
        if (inverse[v] > 0.0F) largest = std::max(largest, 1.0 - double{shift[v]} * double{inverse[v]});
    return largest;
  });
}

std::vector<float> FineRows::inverse_diagonal(int box) const {
  std::vector<float> inverse(graph_->slots()->n_own(box), 1.0F / regular_diagonal_);
  rows_.for_each_slice(box, [&](const Slice<std::uint16_t>& slice) {
    for (std::size_t l = 0; l < slice_height; ++l) inverse[slice.row[l]] = slice.inverse[l];
  });
  return inverse;
}

std::vector<std::int64_t> FineRows::unknowns(int box) const {
  std::vector<std::int64_t> unknown(graph_->slots()->n_own(box), -1);
  for (const Segment& s : segments(box))
    for (std::int32_t v = 0; v < s.count; ++v) unknown[s.vof + v] = s.unknown + v;
  return unknown;
}

std::int64_t FineRows::row_bytes() const {
  return rows_.bytes() + static_cast<std::int64_t>(
                             boxes_.capacity() * sizeof(BoxView) + segments_.capacity() * sizeof(Segment) +
                             covered_.capacity() * sizeof(std::uint16_t) +
                             ghost_vof_.capacity() * sizeof(std::uint16_t) + ghost_factor_.capacity() * sizeof(float));
}

}  // namespace karst
