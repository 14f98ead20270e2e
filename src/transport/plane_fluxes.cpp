// SPDX-License-Identifier: BSD-3-Clause
#include "transport/plane_fluxes.hpp"

#include "base/parallel.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

PlaneFluxes::PlaneFluxes(EllipticOperator& op)
    : op_(op),
      place_(static_cast<std::size_t>(op.numbering().n_own()), Purpose::solver),
      part_(place_.size(), Purpose::solver),
      result_(place_.size(), Purpose::solver),
      step_(place_.size(), Purpose::solver),
      of_jump_(place_.size(), Purpose::solver) {
  for (const LevelGeometry& level : op.geometry().levels) {
    const Index cells = level.graph.layout().domain().cells;
    parallel_for(level.graph.n_local(), [&](std::int64_t b) {
      const int local = static_cast<int>(b);
      const BoxGraph graph = level.graph.box(local);
      for_each_vof(graph, [&](int vof, int cell) {
        const std::int32_t number = op.numbering().number(level.level, local, vof);
        if (number < 0) return;
        const Index at = graph.cells.cell(cell);
        int place = 0;
        for (int d = 0; d < 3; ++d) place |= static_cast<int>(std::int64_t{4} * at[d] / cells[d]) << (2 * d);
        place_[static_cast<std::size_t>(number)] = static_cast<std::uint8_t>(place);
      });
    });
  }
  for (const auto& orphan : op.joined_orphans()) place_[static_cast<std::size_t>(orphan.unknown)] |= 64;
}

// Seen from the domain, the jump adds `height` beyond its upper end and takes it away below its lower one. Rows of the
// first quarter see the latter, as -height in the upper half of the domain. Rows of the last quarter see the former:
// the same plus `height` everywhere, which A does not notice.
void PlaneFluxes::add_jump(const PeriodicJump& jump, std::span<double> y) {
  const auto n = std::ssize(y);
  parallel_for(n, [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    step_[v] = quarter(v, jump.direction) >= 2 ? -jump.height : 0.0;
  });
  op_.apply(step_.span(), of_jump_.span());
  parallel_for(n, [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    if (const int q = quarter(v, jump.direction); q == 0 || q == 3) y[v] += of_jump_[v];
  });
}

void PlaneFluxes::add_jump_near(const PeriodicJump& jump, int direction, int right, std::span<double> y) {
  const auto n = std::ssize(y);
  for (const bool upper : {false, true}) {
    parallel_for(n, [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      const bool beyond = quarter(v, jump.direction) >= 2 ? !upper : upper;
      const double change = upper ? jump.height : -jump.height;
      step_[v] = beyond && is_near(v, direction, right) ? change : 0.0;
    });
    op_.apply(step_.span(), of_jump_.span());
    parallel_for(n, [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      if (quarter(v, jump.direction) == (upper ? 3 : 0)) y[v] += of_jump_[v];
    });
  }
}

template <class Value>
double PlaneFluxes::sum_of_half(int direction, int first_quarter, Value&& value) const {
  return op_.comm().sum(parallel_sum(std::ssize(place_.span()), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    return quarter(v, direction) / 2 == first_quarter / 2 && is_balance(v) ? value(v) : 0.0;
  }));
}

double PlaneFluxes::through(int direction, Plane plane, std::span<const double> c, const PeriodicJump& jump,
                            std::span<const double> ends) {
  const int right = plane == Plane::end ? 0 : 2, left = (right + 3) % 4;
  const bool jumps_here = jump.direction == direction && plane == Plane::end;
  parallel_for(std::ssize(c), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    const bool beyond = jumps_here && quarter(v, direction) == left;
    part_[v] = is_near(v, direction, right) ? c[v] - (beyond ? jump.height : 0.0) : 0.0;
  });
  op_.apply(part_.span(), result_.span());
  if (jump.height != 0.0 && jump.direction != direction) add_jump_near(jump, direction, right, result_.span());
  return -sum_of_half(direction, right,
                      [&](std::size_t v) { return result_[v] - (ends.empty() ? 0.0 : ends[v] * part_[v]); });
}

double PlaneFluxes::out_of(int side, std::span<const double> c, std::span<const double> values) {
  const int direction = direction_of(side), outermost = is_high(side) ? 3 : 0;
  parallel_for(std::ssize(c), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    part_[v] = quarter(v, direction) == outermost ? c[v] : 0.0;
  });
  op_.apply(part_.span(), result_.span());
  return sum_of_half(direction, outermost, [&](std::size_t v) { return result_[v] - values[v]; });
}

}  // namespace karst
