// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/diffusion_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/comm/parallel.hpp"
#include "fields/same_boxes.hpp"
#include "grid/questions.hpp"

namespace karst {
namespace {

constexpr std::size_t rows_at_once = 256;  ///< in a window

/// Own unknowns that are substituted by combinations of unknowns; all others stay.
class Substitution {
 public:
  /// @param volumes  those that are substituted
  /// @param rooms    room for the terms of each of them
  Substitution(std::int64_t n_own, std::span<const std::int32_t> volumes, std::span<const std::int64_t> rooms)
      : place_(n_own, -1), begin_(volumes.size() + 1), size_(volumes.size()) {
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      place_[volumes[i]] = static_cast<std::int32_t>(i);
      begin_[i + 1] = begin_[i] + rooms[i];
    }
    terms_.resize(begin_.back());
  }
  /// Sets the combination of the i-th of them; nothing is left in `sum`.
  void set(std::size_t i, TermSum& sum) {
    size_[i] = sum.size();
    sum.move_to(terms_.data() + begin_[i]);
  }
  /// Empty: stays.
  std::span<const StencilTerm> of(std::int32_t own) const {
    const std::int32_t i = place_[own];
    return i < 0 ? std::span<const StencilTerm>{} : std::span(terms_).subspan(begin_[i], size_[i]);
  }

 private:
  std::vector<std::int32_t> place_;  // per own unknown; -1: stays
  std::vector<std::int64_t> begin_;
  std::vector<std::size_t> size_;
  std::vector<StencilTerm> terms_;
};

using ForeignCombinations = std::map<GlobalNumber, std::vector<StencilTerm>>;

/// Combinations of the unknowns of other ranks in these rows, empty where they stay. Collective.
ForeignCombinations fetch(const Comm& comm, const CompositeNumbering& numbering, const Substitution& by,
                          std::span<const RowLists> boxes) {
  std::vector<GlobalNumber> wanted = foreign_unknowns(boxes, numbering);
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::map<int, ByteWriter> questions;
  for (const GlobalNumber g : wanted) questions[numbering.owner(g)].put(g);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto g = in.get<GlobalNumber>();
    const auto terms = by.of(static_cast<std::int32_t>(g - numbering.first()));
    w.put(g);
    w.put_vector(std::vector<StencilTerm>(terms.begin(), terms.end()));
  };
  ForeignCombinations found;
  ask_ranks(comm, std::move(questions), answer, [&](ByteReader& in, int) {
    const auto g = in.get<GlobalNumber>();
    found[g] = in.get_vector<StencilTerm>();
  });
  return found;
}

/// In the rows of a box for which changes(row, terms) holds, write(terms, result) appends other terms to the result;
/// nothing is copied where none does.
template <class Changes, class Write>
void replace_rows(RowLists& rows, Changes&& changes, Write&& write) {
  const auto is_changed = [&](std::size_t r) { return changes(rows.number[r], rows.terms_of(r)); };
  std::size_t first = 0;
  while (first < rows.size() && !is_changed(first)) ++first;
  if (first == rows.size()) return;
  RowLists result;
  result.number.reserve(rows.size());
  result.begin.reserve(rows.begin.size());
  result.varying_begin.reserve(rows.varying_begin.size());
  result.terms.reserve(rows.terms.size() + rows.terms.size() / 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const StencilTerm> terms = rows.terms_of(i);
    if (i == first || (i > first && is_changed(i)))
      write(terms, result.terms);
    else
      result.terms.insert(result.terms.end(), terms.begin(), terms.end());
    result.end_row(rows.number[i]);
  }
  rows = std::move(result);
}

/// In all these rows. Collective.
void substitute(const Comm& comm, const CompositeNumbering& numbering, const Substitution& by,
                std::span<RowLists> boxes) {
  const ForeignCombinations foreign = fetch(comm, numbering, by, boxes);
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) {
    const auto combination = [&](GlobalNumber g) -> std::span<const StencilTerm> {
      if (numbering.is_own(g)) return by.of(static_cast<std::int32_t>(g - numbering.first()));
      return foreign.at(g);
    };
    TermSum sum;
    replace_rows(
        boxes[b],
        [&](std::int32_t, std::span<const StencilTerm> terms) {
          return std::ranges::any_of(terms, [&](const StencilTerm& t) { return !combination(t.unknown).empty(); });
        },
        [&](std::span<const StencilTerm> terms, std::vector<StencilTerm>& result) {
          for (const StencilTerm& t : terms)
            if (const std::span<const StencilTerm> by_it = combination(t.unknown); by_it.empty())
              sum.add(t.unknown, t.weight);
            else
              sum.add(by_it, t.weight);
          const std::size_t n = result.size();
          result.resize(n + sum.size());
          sum.move_to(result.data() + n);
        });
  });
}

/// c + Σ weight (c_other - c). Values on the ends of the domain are 0.
Substitution by_moved(const ScalarGrid& grid, const MovedValues& moved) {
  std::vector<std::int64_t> rooms;
  for (std::size_t m = 0; m < moved.volume.size(); ++m) rooms.push_back(1 + moved.begin[m + 1] - moved.begin[m]);
  Substitution by(grid.n_own, moved.volume, rooms);
  const GlobalNumber first = grid.composite->numbering().first();
  const auto set = [&](std::size_t m, TermSum& sum) {
    const GlobalNumber own = first + moved.volume[m];
    sum.add(own, 1.0);
    for (std::int64_t k = moved.begin[m]; k < moved.begin[m + 1]; ++k) {
      const std::int32_t other = moved.other[k];
      sum.add(own, -moved.weight[k]);
      if (other < grid.n_own)
        sum.add(first + other, moved.weight[k]);
      else if (other < grid.n_all)
        sum.add(grid.remote.numbers()[other - grid.n_own], moved.weight[k]);
    }
    by.set(m, sum);
  };
  const std::size_t n = moved.volume.size();
  parallel_for_dynamic(static_cast<std::int64_t>((n + rows_at_once - 1) / rows_at_once), [&](std::int64_t i) {
    TermSum sum;
    for (std::size_t m = i * rows_at_once; m < std::min(n, (i + 1) * rows_at_once); ++m) set(m, sum);
  });
  return by;
}

/// Isolated fragments with a host by the value that the operator extrapolates for them.
/// @param joined  op.joined_orphans()
Substitution by_extrapolated(const ScalarGrid& grid, const EllipticOperator& op, std::span<const std::int32_t> joined,
                             std::span<const RowLists> boxes) {
  std::vector<std::int64_t> rooms;
  std::vector<std::span<const StencilTerm>> rows;
  for (auto box = boxes.begin(); const std::int32_t orphan : joined) {
    while (box->number.empty() || box->number.back() < orphan) ++box;
    rows.push_back(box->terms_of(std::ranges::lower_bound(box->number, orphan) - box->number.begin()));
    rooms.push_back(std::ssize(rows.back()));
  }
  Substitution by(grid.n_own, joined, rooms);
  TermSum sum;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const double diagonal = op.diagonal_of_joined(joined[i]);
    for (const StencilTerm& t : rows[i])
      if (t.unknown != op.numbering().first() + joined[i]) sum.add(t.unknown, -t.weight / diagonal);
    by.set(i, sum);
  }
  return by;
}

/// A box whose rows are made or copied.
struct BoxOfLevel {
  int level, box;
  bool same;                         ///< all its rows are copied
  std::vector<std::int32_t> copied;  ///< else these, increasing
};

std::vector<BoxOfLevel> boxes_of(const Composite& composite, const RowsBefore& before) {
  std::vector<BoxOfLevel> boxes;
  for (int l = 0; l < composite.n_levels(); ++l)
    for (int b = 0; b < composite.graph(l).n_local(); ++b) boxes.push_back({l, b, false, {}});
  if (before.rows == nullptr) return boxes;
  const auto n_own = std::ssize(before.same->now);
  // A row whose unknowns are not all there any more would reach beyond what has been compared.
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t i) {
    BoxOfLevel& box = boxes[i];
    const SameBoxes::Box& was = before.same->of(box.level, box.box);
    if (was.box < 0) return;
    const WideRows& rows = before.rows->rows;
    box.same = true;
    for (std::int64_t r = rows.first_from(was.begin), end = rows.first_from(was.end); r < end && box.same; ++r)
      rows.for_each_entry(r, [&](std::int32_t column, double) {
        box.same = box.same && column < n_own && before.same->now[column] >= 0;
      });
  });
  return boxes;
}

/// Near a change: whether a row of K is known, and so are the steps from values to means at all its unknowns, which
/// read the volumes beside these, and none of these is a fragment.
/// @param was  the own unknown before
bool stays(const RowsBefore& before, const CompositeNumbering& numbering, std::int32_t row, std::int32_t was,
           std::span<const GlobalNumber> columns) {
  constexpr int faces_read = 2;
  if (before.known[row] != KnownRow::alone) return false;
  const WideRows& rows = before.rows->rows;
  if (const std::int64_t r = rows.first_from(was); r == rows.n_rows() || rows.row(r) != was) return false;
  return std::ranges::all_of(columns, [&](GlobalNumber g) {
    if (!numbering.is_own(g)) return false;
    const auto own = g - numbering.first();
    return before.known[own] == KnownRow::with_all_around || before.same->stays[own] >= faces_read;
  });
}

/// K in the special volumes of each box; of those that are copied in isolated fragments alone.
std::vector<RowLists> rows_of(const ScalarGrid& grid, const EllipticOperator& op, const RowsBefore& before,
                              std::span<BoxOfLevel> boxes) {
  std::vector<RowLists> rows(boxes.size());
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t i) {
    auto& [level, box, same, copied] = boxes[i];
    const SameBoxes::Box was = before.rows == nullptr ? SameBoxes::Box{} : before.same->partly[level][box];
    const std::int32_t first = op.numbering().box_begin(level, box);
    const std::span<const std::int32_t> special = grid.special.span();
    const auto begin = std::ranges::lower_bound(special, op.numbering().box_begin(level, box)),
               end = std::ranges::lower_bound(special, op.numbering().box_end(level, box));
    std::vector<std::int32_t> wanted(begin, end);
    if (same) std::erase_if(wanted, [&](std::int32_t v) { return grid.fragment[v] == 0; });
    op.read_rows(level, box, wanted,
                 [&](std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights) {
                   if (was.box >= 0 && stays(before, op.numbering(), row, was.begin + (row - first), columns)) {
                     copied.push_back(row);
                     return;
                   }
                   const std::size_t n = rows[i].terms.size();
                   rows[i].terms.resize(n + columns.size());
                   for (std::size_t k = 0; k < columns.size(); ++k) rows[i].terms[n + k] = {columns[k], weights[k]};
                   rows[i].end_row(row);
                 });
  });
  return rows;
}

/// Puts the rows of before among those that have been made.
void copy_rows(const RowsBefore& before, const CompositeNumbering& numbering, std::span<const BoxOfLevel> boxes,
               std::span<RowLists> rows) {
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t i) {
    const auto& [level, box, same, copied] = boxes[i];
    if (!same && copied.empty()) return;
    const RowLists made = std::exchange(rows[i], {});
    const WideRows& from = before.rows->rows;
    const auto read = [&](std::int64_t begin, std::int64_t end) {
      from.read_back(
          begin, end, numbering.first(), [&](std::int32_t own) { return before.same->now[own]; }, rows[i]);
    };
    if (same) {
      const SameBoxes::Box& was = before.same->of(level, box);
      return read(from.first_from(was.begin), from.first_from(was.end));
    }
    const std::int32_t shift = before.same->partly[level][box].begin - numbering.box_begin(level, box);
    std::int64_t r = from.first_from(before.same->partly[level][box].begin);
    auto next = copied.begin();
    const auto copy_until = [&](std::int32_t number) {
      for (; next != copied.end() && *next < number; ++next) {
        while (from.row(r) < *next + shift) ++r;
        read(r, r + 1);
      }
    };
    for (std::size_t m = 0; m < made.size(); ++m) {
      copy_until(made.number[m]);
      const std::span<const StencilTerm> terms = made.terms_of(m);
      rows[i].terms.insert(rows[i].terms.end(), terms.begin(), terms.end());
      rows[i].end_row(made.number[m]);
    }
    copy_until(numbering.box_end(level, box));
  });
}

/// Takes the terms out of the rows of isolated fragments.
void empty_fragments(const ScalarGrid& grid, std::span<RowLists> boxes) {
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) {
    replace_rows(
        boxes[b], [&](std::int32_t row, std::span<const StencilTerm>) { return grid.fragment[row] != 0; },
        [](std::span<const StencilTerm>, std::vector<StencilTerm>&) {});
  });
}

/// K J T E in the special volumes of each box; nothing for isolated fragments, which are no unknowns.
std::vector<RowLists> composed_rows(const ScalarGrid& grid, const EllipticOperator& op, const MovedValues& moved,
                                    const MovedValues& followers, const RowsBefore& before) {
  std::vector<BoxOfLevel> boxes = boxes_of(*grid.composite, before);
  std::vector<RowLists> rows = rows_of(grid, op, before, boxes);
  if (const std::vector<std::int32_t> joined = op.joined_orphans(); op.comm().any(!joined.empty()))
    substitute(op.comm(), op.numbering(), by_extrapolated(grid, op, joined, rows), rows);
  substitute(op.comm(), op.numbering(), by_moved(grid, moved), rows);
  empty_fragments(grid, rows);
  substitute(op.comm(), op.numbering(), by_moved(grid, followers), rows);
  copy_rows(before, op.numbering(), boxes, rows);
  return rows;
}

}  // namespace

std::int64_t MovedValues::bytes() const {
  return static_cast<std::int64_t>(sizeof(std::int32_t) * (volume.capacity() + other.capacity()) +
                                   sizeof(std::int64_t) * begin.capacity() + sizeof(double) * weight.capacity());
}

template <int C>
void move_values(const MovedValues& moved, std::span<const double> c, const std::array<double, C>& r,
                 std::span<double> phi) {
  parallel_for(std::ssize(phi) / C, [&](std::int64_t v) {
    for (int n = 0; n < C; ++n) phi[C * v + n] = c[C * v + n] - r[n];
  });
  parallel_for(std::ssize(moved.volume), [&](std::int64_t m) {
    const std::int64_t v = C * std::int64_t{moved.volume[m]};
    std::array<double, C> sum{};
    for (auto k = moved.begin[m]; k < moved.begin[m + 1]; ++k) {
      const std::int64_t other = C * std::int64_t{moved.other[k]};
      for (int n = 0; n < C; ++n) sum[n] += moved.weight[k] * (c[other + n] - c[v + n]);
    }
    for (int n = 0; n < C; ++n) phi[v + n] += sum[n];
  });
}

std::int64_t DiffusionRows::bytes() const {
  return rows.bytes() + remote.bytes() +
         static_cast<std::int64_t>(far.bytes() + diagonal.bytes() + others.bytes() + mass.bytes());
}

DiffusionRows make_diffusion_rows(ScalarGrid& grid, EllipticOperator& op, const MovedValues& moved,
                                  const MovedValues& followers, const RowsBefore& before) {
  const CompositeNumbering& numbering = op.numbering();
  DiffusionRows result;
  result.diffusivity = op.problem().beta;
  const std::vector<RowLists> rows = composed_rows(grid, op, moved, followers, before);
  result.diagonal = {grid.special.size(), Purpose::stencils, 0.0};
  result.others = {grid.special.size(), Purpose::stencils, 0.0};
  std::vector<std::size_t> first{0};
  for (const RowLists& box : rows) first.push_back(first.back() + box.size());
  parallel_for_dynamic(std::ssize(rows), [&](std::int64_t b) {
    for (std::size_t r = 0; r < rows[b].size(); ++r)
      for (const StencilTerm& t : rows[b].terms_of(r))
        if (t.unknown == numbering.first() + rows[b].number[r])
          result.diagonal[first[b] + r] = t.weight;
        else
          result.others[first[b] + r] += std::abs(t.weight);
  });
  result.remote = RemoteUnknowns(op.comm(), numbering, foreign_unknowns(rows, numbering));
  result.rows = WideRows(rows, rows_at_once, numbering, result.remote);
  result.mass = Array<double>(grid.n_own, Purpose::geometry);
  std::copy_n(grid.volume.begin(), grid.n_own, result.mass.begin());
  for (const VolumeOfOther& v : op.volumes_of_others()) result.mass[v.row] += v.volume;
  return result;
}

template <int C>
void apply_special(const ScalarGrid& grid, DiffusionRows& rows, std::span<const double> x, std::span<double> y) {
  using Many = std::array<double, C>;
  const std::span<const double> own = x.first(std::size_t{C} * grid.n_own);
  const std::size_t n_far = rows.remote.numbers().size();
  if (rows.far.size() < C * n_far) rows.far = {C * n_far, Purpose::buffers, 0.0};
  const std::span<double> far = rows.far.span().first(C * n_far);
  ListExchange& exchange = rows.remote.exchange();
  exchange.begin(std::span(reinterpret_cast<Many*>(far.data()), n_far), [&](std::size_t i) {
    Many many;
    std::copy_n(own.data() + C * std::int64_t{exchange.sent()[i]}, C, many.data());
    return many;
  });
  enum class Windows { inner, reading_remote };
  const auto apply_windows = [&](Windows which) {
    parallel_for(rows.rows.n_windows(), [&](std::int64_t w) {
      if (rows.rows.reads_remote(w) == (which == Windows::reading_remote)) rows.rows.apply<C>(w, own, far, y.data());
    });
  };
  apply_windows(Windows::inner);
  exchange.finish();
  apply_windows(Windows::reading_remote);
}

template <int C>
void apply_rows(ScalarGrid& grid, DiffusionRows& rows, double a, std::span<double> x, std::span<double> y) {
  fetch_remote<C>(grid, x);
  apply_special<C>(grid, rows, x, y);
  const double* const from = x.data();
  double* const to = y.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double h = grid.width(p.level), g = rows.diffusivity * h, center = a * h * h * h + 6.0 * g;
    std::array<const double*, 6> side;
    for (std::size_t s = 0; s < 6; ++s) side[s] = from + C * std::int64_t{p.beyond[s]};
    const auto [x0, x1, x2, x3, x4, x5] = side;
    const std::int64_t first = C * std::int64_t{p.first};
#pragma GCC ivdep
    for (std::int32_t t = 0; t < C * p.count; ++t)
      to[first + t] = center * from[first + t] - g * (((x0[t] + x1[t]) + (x2[t] + x3[t])) + (x4[t] + x5[t]));
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    for (std::int64_t k = C * std::int64_t{v}; k < C * (std::int64_t{v} + 1); ++k) to[k] += a * rows.mass[v] * from[k];
  });
}

template void move_values<1>(const MovedValues&, std::span<const double>, const std::array<double, 1>&,
                             std::span<double>);
template void move_values<2>(const MovedValues&, std::span<const double>, const std::array<double, 2>&,
                             std::span<double>);
template void move_values<3>(const MovedValues&, std::span<const double>, const std::array<double, 3>&,
                             std::span<double>);
template void move_values<4>(const MovedValues&, std::span<const double>, const std::array<double, 4>&,
                             std::span<double>);
template void apply_special<1>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_special<2>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_special<3>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_special<4>(const ScalarGrid&, DiffusionRows&, std::span<const double>, std::span<double>);
template void apply_rows<1>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);
template void apply_rows<2>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);
template void apply_rows<3>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);
template void apply_rows<4>(ScalarGrid&, DiffusionRows&, double, std::span<double>, std::span<double>);

}  // namespace karst
