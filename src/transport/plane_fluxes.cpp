// SPDX-License-Identifier: BSD-3-Clause
#include "transport/plane_fluxes.hpp"

#include "base/parallel.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

PlaneFluxes::PlaneFluxes(EllipticOperator& op)
    : op_(op),
      place_(static_cast<std::size_t>(op.numbering().n_own()), Purpose::solver),
      part_(place_.size(), Purpose::solver),
      result_(place_.size(), Purpose::solver) {
  for (const LevelGeometry& level : op.geometry().levels) {
    const Index cells = level.graph.layout().domain().cells;
    parallel_for(level.graph.n_local(), [&](std::int64_t b) {
      const int local = static_cast<int>(b);
      const BoxGraph graph = level.graph.box(local);
      for_each_vof(graph, [&](int vof, int cell) {
        const std::int32_t number = op.numbering().number(level.level, local, vof);
        if (number < 0) return;
        const Index at = graph.cells.cell(cell);
        Place& place = place_[static_cast<std::size_t>(number)];
        place.is_balance = true;
        for (int d = 0; d < 3; ++d)
          place.at[static_cast<std::size_t>(d)] = static_cast<std::uint8_t>(std::int64_t{256} * at[d] / cells[d]);
      });
    });
  }
  for (const std::int32_t orphan : op.joined_orphans()) place_[static_cast<std::size_t>(orphan)].is_balance = false;
}

template <class Value>
void PlaneFluxes::apply(Value&& value) {
  parallel_for(std::ssize(part_.span()), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    part_[v] = value(v);
  });
  op_.apply(part_.span(), result_.span());
}

template <class Counts, class Value>
double PlaneFluxes::sum(Counts&& counts, Value&& value) const {
  return op_.comm().sum(parallel_sum(std::ssize(part_.span()), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    return counts(v) && is_balance(v) ? value(v) : 0.0;
  }));
}

// Seen from the domain, a jump adds H beyond its upper end and takes it away below its lower one. Rows of the first
// quarter see the latter, as -H in the upper half of the domain; rows of the last quarter see the former, as H in the
// lower half. Rows that do not reach so far see exact zeros.
void PlaneFluxes::add_jump(int direction, double jump, std::span<double> y) {
  for (const bool first : {true, false}) {
    apply([&](std::size_t v) {
      const bool beyond = (quarter(v, direction) >= 2) == first;
      return beyond ? (first ? -jump : jump) : 0.0;
    });
    parallel_for(std::ssize(y), [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      if (quarter(v, direction) == (first ? 0 : 3)) y[v] += result_[v];
    });
  }
}

double PlaneFluxes::through(int direction, Plane plane, std::span<const double> c, double jump,
                            std::span<const double> ends) {
  const int right = plane == Plane::end ? 0 : 2, left = (right + 3) % 4;
  const double beyond = plane == Plane::end ? jump : 0.0;
  apply([&](std::size_t v) {
    const int q = quarter(v, direction);
    return q == right ? c[v] : q == left ? c[v] - beyond : 0.0;
  });
  return -sum([&](std::size_t v) { return quarter(v, direction) / 2 == right / 2; },
              [&](std::size_t v) { return result_[v] - (ends.empty() ? 0.0 : ends[v] * part_[v]); });
}

// The plane leaves the domain where another period of it comes in: its parts next to the corners x_d = x_e = 0 and
// x_d = L_d, x_e = L_e lie one period further along d, where c has jumped. Along the plane, one period forward in d and
// one back in e, c does not jump.
double PlaneFluxes::through_diagonal(int d, int e, std::span<const double> c, double jump) {
  const auto eighth = [&](std::size_t v) {  // 0 to 7: of the way from one corner to the other, 4 right of the plane
    return (place_[v].at[static_cast<std::size_t>(d)] + place_[v].at[static_cast<std::size_t>(e)]) / 64;
  };
  apply([&](std::size_t v) {
    const int q = eighth(v);
    if (q == 0) return c[v] + jump;
    if (q == 7) return c[v] - jump;
    return q == 3 || q == 4 ? c[v] : 0.0;
  });
  return -sum([&](std::size_t v) { return eighth(v) % 4 < 2; }, [&](std::size_t v) { return result_[v]; });
}

double PlaneFluxes::out_of(int side, std::span<const double> c, std::span<const double> values) {
  const int direction = direction_of(side), outermost = is_high(side) ? 3 : 0;
  apply([&](std::size_t v) { return quarter(v, direction) == outermost ? c[v] : 0.0; });
  return sum([&](std::size_t v) { return quarter(v, direction) / 2 == outermost / 2; },
             [&](std::size_t v) { return result_[v] - values[v]; });
}

}  // namespace karst
