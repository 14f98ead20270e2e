// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/elliptic_operator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/elliptic/face_stencils.hpp"
#include "solvers/elliptic/plain_kernel.hpp"

namespace karst {

double EllipticOperator::level_width(int level) const { return std::ldexp(1.0, -level); }

/// Fetches what other ranks own; the values are there after remote_.finish().
template <int C>
std::span<const double> EllipticOperator::begin_remote(std::span<const double> x) {
  if constexpr (C == 1) {
    remote_.begin(x);
    return remote_.values();
  } else {
    using Many = std::array<double, C>;
    const std::size_t n = remote_.numbers().size();
    if (many_remote_.size() < C * n) many_remote_ = {C * n, Purpose::buffers, 0.0};
    ListExchange& exchange = remote_.exchange();
    exchange.begin(std::span(reinterpret_cast<Many*>(many_remote_.data()), n), [&](std::size_t i) {
      Many many;
      std::copy_n(x.data() + C * std::int64_t{exchange.sent()[i]}, C, many.data());
      return many;
    });
    return many_remote_.span();
  }
}

template <int C>
void EllipticOperator::load(const BoxWork& work, const BoxGraph& graph, std::span<const double> x,
                            std::span<const double> far, double* scratch) const {
  const auto numbers = numbering_.numbers(work.level, work.local);
  const std::size_t n_own = graph.n_own;
  static constexpr std::array<double, C> none{};
  if (numbers.empty()) {
    std::copy_n(x.data() + C * std::int64_t{numbering_.box_begin(work.level, work.local)}, C * n_own, scratch);
  } else {
    for (std::size_t v = 0; v < n_own; ++v)
      std::copy_n(numbers[v] < 0 ? none.data() : x.data() + C * std::int64_t{numbers[v]}, C, scratch + C * v);
  }
  const OperatorHalo& part = parts_[work.level];
  const std::size_t b = work.local;
  const auto n_all = static_cast<std::int32_t>(x.size() / C);
  double* halo = scratch + C * n_own;
  for (std::int64_t i = part.stretch_begin[b]; i < part.stretch_begin[b + 1]; ++i) {
    const OperatorHalo::Stretch& s = part.stretches[i];
    const double* from = x.data() + C * std::int64_t{s.from};
    for (int t = 0; t < C * s.count; ++t) halo[C * s.to + t] = from[t];
  }
  for (std::int64_t i = part.single_begin[b]; i < part.single_begin[b + 1]; ++i) {
    const OperatorHalo::Single& s = part.singles[i];
    if constexpr (C == 1) {  // values, not their places: no branch
      halo[s.to] = s.from < 0 ? 0.0 : s.from < n_all ? x.data()[s.from] : far[s.from - n_all];
    } else {
      const double* from = s.from < n_all ? x.data() + C * std::int64_t{s.from} : far.data() + C * (s.from - n_all);
      std::copy_n(s.from < 0 ? none.data() : from, C, halo + C * s.to);
    }
  }
  std::fill(halo + C * (part.halo_begin[b + 1] - part.halo_begin[b]), scratch + C * graph.n_slots(), 0.0);
  for (std::int64_t i = part.ghost_begin[b]; i < part.ghost_begin[b + 1]; ++i) {
    const OperatorHalo::DomainGhost& g = part.ghosts[i];
    for (int c = 0; c < C; ++c) scratch[C * g.slot + c] = g.factor * scratch[C * g.vof + c];
  }
}

template <int C>
void EllipticOperator::apply_box(const BoxWork& work, std::span<const double> x, std::span<const double> far,
                                 std::span<double> y) {
  const BoxGraph graph = geometry_->levels[work.level].graph.box(work.local);
  double* scratch = scratch_[thread_number()].data();
  load<C>(work, graph, x, far, scratch);
  const double h = level_width(work.level), reaction = problem_.a * h * h * h;
  const auto numbers = numbering_.numbers(work.level, work.local);
  const std::int64_t begin = numbering_.box_begin(work.level, work.local);
  double* result = numbers.empty() ? y.data() + C * begin : scratch + C * (scratch_size_ / 2);
  if (problem_.face_beta.empty()) {
    apply_plain<C>(graph, reaction + 6.0 * problem_.beta * h, problem_.beta * h, scratch, result);
  } else {
    const Field& beta = problem_.face_beta[work.level];
    apply_plain<C>(graph, reaction, h,
                   {beta.box(work.local, 0).data(), beta.box(work.local, 1).data(), beta.box(work.local, 2).data()},
                   scratch, result);
  }
  for (std::size_t v = 0; v < numbers.size(); ++v)
    if (numbers[v] >= 0) std::copy_n(result + C * v, C, y.data() + C * std::int64_t{numbers[v]});
  wide_.apply<C>(window(work.level, work.local), x, far, y.data());
}

template <int C>
void EllipticOperator::apply(std::span<const double> x, std::span<double> y) {
  const std::size_t size = C * scratch_size_;
  while (std::ssize(scratch_) < n_threads()) scratch_.emplace_back(size, Purpose::buffers, 0.0);
  for (Array<double>& s : scratch_)
    if (s.size() < size) s = {size, Purpose::buffers, 0.0};
  const std::span<const double> far = begin_remote<C>(x);
  const auto run = [&](const std::vector<BoxWork>& boxes) {
    parallel_for(std::ssize(boxes), [&](std::int64_t i) { apply_box<C>(boxes[i], x, far, y); });
  };
  run(interior_);
  remote_.finish();
  run(border_);
}

template <class F>
void EllipticOperator::over_windows(F&& f) const {
  for (const auto* boxes : {&interior_, &border_})
    parallel_for(std::ssize(*boxes), [&](std::int64_t i) {
      const BoxWork& box = (*boxes)[i];
      f(window(box.level, box.local));
    });
}

template <int C>
void EllipticOperator::relax_wide_rows(std::span<const double> b, std::span<double> x) {
  wide_.make_room(C);
  const std::span<const double> far = begin_remote<C>(x);
  remote_.finish();
  over_windows([&](std::size_t w) { wide_.find_corrections<C>(w, b, x, far); });
  over_windows([&](std::size_t w) { wide_.correct<C>(w, x); });
}

template void EllipticOperator::apply<1>(std::span<const double>, std::span<double>);
template void EllipticOperator::apply<2>(std::span<const double>, std::span<double>);
template void EllipticOperator::apply<3>(std::span<const double>, std::span<double>);
template void EllipticOperator::apply<4>(std::span<const double>, std::span<double>);
template void EllipticOperator::relax_wide_rows<1>(std::span<const double>, std::span<double>);
template void EllipticOperator::relax_wide_rows<2>(std::span<const double>, std::span<double>);
template void EllipticOperator::relax_wide_rows<3>(std::span<const double>, std::span<double>);
template void EllipticOperator::relax_wide_rows<4>(std::span<const double>, std::span<double>);

void EllipticOperator::apply_volumes(std::span<const double> x, std::span<double> y) {
  remote_.begin(x);
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    const int n = geometry_->levels[l].graph.n_local();
    if (n == 0) continue;
    const double volume = std::pow(level_width(l), 3);
    const std::int32_t begin = numbering_.box_begin(l, 0);
    parallel_for(numbering_.box_end(l, n - 1) - begin, [&](std::int64_t i) {
      const std::size_t v = begin + i;
      y[v] = volume * x[v];
    });
  }
  remote_.finish();
  parallel_for(wide_.n_rows(), [&](std::int64_t r) { y[wide_.row(r)] = wide_.times_first(r, x, remote_.values()); });
}

std::vector<VolumeOfOther> EllipticOperator::volumes_of_others() const {
  std::vector<VolumeOfOther> found;
  for (std::int64_t r = 0; r < wide_.n_rows(); ++r)
    wide_.for_each_first(r, [&](std::int32_t column, double volume) {
      if (column != wide_.row(r)) found.push_back({wide_.row(r), global_number(column), volume});
    });
  return found;
}

double EllipticOperator::diagonal(std::int64_t wide_row) const {
  double found = 0.0;
  wide_.for_each_entry(wide_row, [&](std::int32_t column, double weight) {
    if (column == wide_.row(wide_row)) found = weight;
  });
  return found;
}

double EllipticOperator::diagonal_of_joined(std::int32_t orphan) const { return diagonal(wide_.first_from(orphan)); }

double EllipticOperator::set_orphans(std::span<const double> b, std::span<double> x) {
  std::vector<double> ax(x.size());
  apply(x, ax);
  for (std::int64_t r = 0; r < wide_.n_rows(); ++r) {
    const std::size_t row = wide_.row(r);
    if ((wide_flags_[r] & row_flags::orphan) == 0) continue;
    const double own = diagonal(r);
    if (own != 0.0) x[row] += (b[row] - ax[row]) / own;  // 0: alone, without a face
  }
  const double square = parallel_sum(std::ssize(ax), [&](std::int64_t v) { return (b[v] - ax[v]) * (b[v] - ax[v]); });
  return std::sqrt(comm_.sum(square));
}

std::vector<std::int32_t> EllipticOperator::joined_orphans() const {
  std::vector<std::int32_t> orphans;
  if (form_ == WallForm::lines) return orphans;
  for (std::int64_t r = 0; r < wide_.n_rows(); ++r)
    if (wide_.factors_of_first(r) == 0.0) orphans.push_back(wide_.row(r));
  return orphans;
}

void EllipticOperator::right_side(std::span<const double> source, const EllipticProblem& values,
                                  std::span<double> b) const {
  std::ranges::fill(b, 0.0);
  if (!source.empty()) {
    const std::vector<double> volume = volumes();
    parallel_for(std::ssize(b), [&](std::int64_t v) { b[v] = source[v] * volume[v]; });
  }
  const bool given = &values == &problem_ && !wall_values_.empty();
  boundary_.add_values(
      [&](const SideTerm& t) {
        const ConditionAt& at = values.sides[t.side];
        return at ? at(t.at).value : 0.0;
      },
      [&](std::size_t t) {
        if (given) return wall_values_[t];
        return values.wall ? values.wall(boundary_.piece(boundary_.walls[t], *geometry_)).value : 0.0;
      },
      1.0, b);
}

GlobalNumber EllipticOperator::global_number(std::int32_t column) const {
  if (column < numbering_.n_own()) return numbering_.first() + column;
  return remote_.numbers()[column - numbering_.n_own()];
}

void EllipticOperator::for_each_row(const RowReader& read) const {
  std::vector<std::int32_t> rows;
  for (int l = 0; l < numbering_.n_levels(); ++l)
    for (int b = 0; b < geometry_->levels[l].graph.n_local(); ++b) {
      rows.resize(numbering_.box_end(l, b) - numbering_.box_begin(l, b));
      std::iota(rows.begin(), rows.end(), numbering_.box_begin(l, b));
      read_rows(l, b, rows, read);
    }
}

void EllipticOperator::read_rows(int level, int local, std::span<const std::int32_t> rows,
                                 const RowReader& read) const {
  std::int64_t next_wide = wide_.first_from(numbering_.box_begin(level, local));
  std::size_t next = 0;
  std::vector<GlobalNumber> columns;
  std::vector<double> weights;
  Stencil s;
  const OperatorHalo& part = parts_[level];
  const double h = level_width(level);
  const BoxGraph graph = geometry_->levels[level].graph.box(local);
  std::vector<double> ghost_factor(graph.n_slots(), 0.0);
  for (auto i = part.ghost_begin[local]; i < part.ghost_begin[local + 1]; ++i)
    ghost_factor[part.ghosts[i].slot] = part.ghosts[i].factor;
  for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& neighbours) {
    const std::int32_t row = numbering_.number(level, local, vof);
    if (next == rows.size() || rows[next] != row) return;
    ++next;
    columns.clear();
    weights.clear();
    while (next_wide < wide_.n_rows() && wide_.row(next_wide) < row) ++next_wide;
    if (next_wide < wide_.n_rows() && wide_.row(next_wide) == row) {
      wide_.for_each_entry(next_wide, [&](std::int32_t column, double weight) {
        columns.push_back(global_number(column));
        weights.push_back(weight);
      });
      return read(row, columns, weights);
    }
    s.terms.clear();
    const GlobalNumber self = numbering_.first() + row;
    s.add(self, problem_.a * h * h * h);
    for (std::size_t side = 0; side < 6; ++side) {
      const int slot = neighbours[side], face = side % 2 == 1 ? slot : vof;
      const double weight =
          h * (problem_.face_beta.empty() ? problem_.beta
                                          : problem_.face_beta[level].box(local, static_cast<int>(side / 2))[face]);
      s.add(self, weight);
      if (slot < graph.n_own) {
        s.add(numbering_.first() + numbering_.number(level, local, slot), -weight);
      } else if (slot < graph.n_own + graph.halo.n_vofs()) {
        s.add(global_number(part.halo[part.halo_begin[local] + slot - graph.n_own]), -weight);
      } else {
        s.add(self, -weight * ghost_factor[slot]);
      }
    }
    s.merge();
    for (const StencilTerm& t : s.terms) {
      columns.push_back(t.unknown);
      weights.push_back(t.weight);
    }
    read(row, columns, weights);
  });
}

std::vector<Vec3> EllipticOperator::points(
    const std::function<Vec3(const VofMoments&, const VofCenter&)>& offset_of) const {
  std::vector<Vec3> at(numbering_.n_own());
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    const LevelGeometry& level = geometry_->levels[l];
    const double h = level_width(l);
    parallel_for(level.graph.n_local(), [&, l](std::int64_t b) {
      const int local = static_cast<int>(b);
      const BoxGraph graph = level.graph.box(local);
      const BoxMoments moments = level.box(local);
      std::vector<Vec3> offset(graph.n_own);
      for (std::size_t r = 0; r < moments.moments.size(); ++r)
        offset[graph.row_vof[r]] = offset_of(moments.moments[r], moments.centers[r]);
      for_each_vof(graph, [&](int vof, int cell) {
        const std::int32_t n = numbering_.number(l, local, vof);
        if (n < 0) return;
        const Index c = graph.cells.cell(cell);
        at[n] = h * (Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} + offset[vof]);
      });
    });
  }
  return at;
}

std::vector<Vec3> EllipticOperator::positions() const {
  return points([&](const VofMoments& m, const VofCenter& c) {
    if (c.inside) return Vec3{};
    return form_ == WallForm::lines && m.wall_area > 0.0 ? m.wall_centroid : m.centroid;
  });
}

std::vector<Vec3> EllipticOperator::source_points() const {
  if (form_ == WallForm::lines) return positions();
  return points([](const VofMoments& m, const VofCenter&) { return m.centroid; });
}

std::vector<double> EllipticOperator::volumes() const {
  std::vector<double> volume(numbering_.n_own());
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    const int n = geometry_->levels[l].graph.n_local();
    if (n > 0)
      std::fill(volume.begin() + numbering_.box_begin(l, 0), volume.begin() + numbering_.box_end(l, n - 1),
                std::pow(level_width(l), 3));
  }
  for (std::int64_t r = 0; r < wide_.n_rows(); ++r) volume[wide_.row(r)] = wide_.factors_of_first(r);
  return volume;
}

std::int64_t EllipticOperator::bytes() const {
  std::int64_t sum = numbering_.bytes() + wide_.bytes() + remote_.bytes();
  for (const OperatorHalo& p : parts_)
    sum += static_cast<std::int64_t>(
        4 * p.halo.size() + 8 * (p.halo_begin.size() + p.ghost_begin.size()) +
        8 * (p.stretch_begin.size() + p.single_begin.size()) + sizeof(OperatorHalo::Stretch) * p.stretches.size() +
        sizeof(OperatorHalo::Single) * p.singles.size() + sizeof(OperatorHalo::DomainGhost) * p.ghosts.size());
  if (faces_) sum += faces_->bytes();
  for (const Array<double>& s : scratch_) sum += static_cast<std::int64_t>(s.bytes());
  return sum + boundary_.bytes() + static_cast<std::int64_t>(sizeof(double) * wall_values_.size());
}

}  // namespace karst
