// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/wall_drag.hpp"

#include <algorithm>
#include <vector>

#include "base/comm/parallel.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/face_weight.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst {

Vec3 slope_towards(const Quad* x, const FlowRow& row, int side, double theta, const WallVelocities& of_wall) {
  const std::size_t s = side, across = opposite(side);
  const double other = std::max(double{row.theta[across]}, least_theta);
  const Quad& here = x[row.vof];
  Vec3 slope;
  for (std::size_t c = 0; c < 3; ++c) {
    const double beyond = row.viscous[across] > 0.0F ? x[row.slot[across]].v[c] : of_wall[across].v[c];
    const double met = std::max(double{row.theta[s]}, least_theta);
    const double over_wall = here.v[c] - of_wall[s].v[c];
    const double second = 2.0 / (met + other) * ((beyond - here.v[c]) / other - over_wall / met);
    slope.v[c] = over_wall / theta - 0.5 * second * theta;
  }
  return slope;
}

namespace {

constexpr double least_distance = 0.02;  ///< of a cell centre to its wall [cells]

/// ∂u/∂n on the wall, from the parabolas of the momentum row along the grid lines that meet it: they know how the wall
/// bends. Along such a line u' = (∂u/∂n) n·e on the wall; the lines count by (n·e)².
/// @param sides  bits of the sides that are ends of the domain
Vec3 wall_slope(const Quad* x, const FlowRow& row, unsigned sides, const Vec3& normal, double fallback_distance) {
  Vec3 sum;
  double squares = 0.0;
  for (int side = 0; side < 6; ++side) {
    const double against = is_high(side) ? -normal[direction_of(side)] : normal[direction_of(side)];
    if (row.viscous[side] > 0.0F || against <= 0.0 || (sides >> side & 1U) != 0) continue;
    sum += against * slope_towards(x, row, side, std::max(double{row.theta[side]}, least_theta));
    squares += against * against;
  }
  if (squares > 0.1) return (1.0 / squares) * sum;
  const Quad& here = x[row.vof];
  return (1.0 / fallback_distance) * Vec3{here.v[0], here.v[1], here.v[2]};
}

/// The part of the pressure that falls evenly over the sample.
struct LinearPressure {
  int axis = 0;
  double low = 0.0, high = 0.0, before = 0.0, fall = 0.0;  ///< ends of the sample; pressure before it, fall per cell
  double rise = 0.0;  ///< per cell: what the pressure that repeats has more than the pressure, between reservoirs
  double at(const Vec3& x) const { return before - fall * std::clamp(x[axis] - low, 0.0, high - low) + rise * x[axis]; }
  /// In units of a level with cells of this width.
  LinearPressure on_level(double width) const {
    return {axis, low / width, high / width, width * before, width * width * fall, width * width * rise};
  }
};

LinearPressure linear_pressure(const StokesOperator& op, const StokesDrive& drive, const SampleCells& sample) {
  const std::size_t low = low_side(sample.axis), high = high_side(sample.axis);
  const bool periodic = op.geometry().graph.layout().domain().periodic[sample.axis];
  LinearPressure linear{sample.axis, double(sample.low), double(sample.high)};
  if (periodic && sample.low > 0) {
    linear.rise = drive.force[sample.axis];
    linear.fall = linear.rise * op.geometry().graph.layout().domain().cells[sample.axis] / (linear.high - linear.low);
  }
  if (periodic || !gives_pressure(op.sides()[low]) || !gives_pressure(op.sides()[high])) return linear;
  linear.before = drive.at_end[low];
  linear.fall = (drive.at_end[low] - drive.at_end[high]) / (linear.high - linear.low);
  return linear;
}

/// Drag in one box.
class BoxDrag {
 public:
  BoxDrag(const StokesOperator& op, const Quad* x, const Vec3& force, const LinearPressure& linear, int b)
      : x_(x), force_(force), linear_(linear), graph_(op.geometry().graph.box(b)), moments_(op.geometry().box(b)) {
    const Domain& domain = op.geometry().graph.layout().domain();
    cell_.resize(graph_.n_own);
    sides_.resize(cell_.size());
    for_each_vof(graph_, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
      cell_[vof] = graph_.cells.cell(cell);
      for (int side = 0; side < 6; ++side)
        if (graph_.name(slots[side]) == domain_face && !domain.periodic[direction_of(side)] &&
            is_wall(op.sides()[side]))
          sides_[vof] |= static_cast<std::uint8_t>(1U << side);
    });
  }

  void add(const StokesOperator& op, int b, WallDrag& sum, std::array<double, 2>& volume) const {
    const std::span<const FlowRow> rows = op.rows().of(b);
    add_volume(op.covered_in(b), volume);
    const auto irregular = graph_.row_vof.first(graph_.n_irregular);
    for (const FlowRow& row : rows) {
      const auto at = std::ranges::lower_bound(irregular, row.vof);
      const VofMoments* m =
          at == irregular.end() || *at != row.vof ? nullptr : &moments_.moments[at - irregular.begin()];
      if (m != nullptr) add_wall(row, *m, sum);
      for (std::size_t c = 0; c < 3; ++c) sum.viscous.v[c] += std::max(double{row.edge[c]}, 0.0) * x_[row.vof].v[c];
      for (int side = 0; side < 6; ++side)
        if ((sides_[row.vof] >> side & 1U) != 0)
          sum.sides += (m == nullptr ? 1.0 : m->aperture[side]) * slope_towards(x_, row, side, to_side);
    }
    add_joined_sides(rows, sum);
  }

 private:
  /// What pieces that joined the cells beside no-slip ends have of these.
  void add_joined_sides(std::span<const FlowRow> rows, WallDrag& sum) const {
    for (std::size_t e = 0; e < graph_.extra.size(); ++e) {
      const ExtraFace& face = graph_.extra[e];
      if ((sides_[face.vof] >> face.side & 1U) == 0 || graph_.name(face.neighbour) != domain_face) continue;
      const auto row = std::ranges::lower_bound(rows, face.vof, {}, &FlowRow::vof);
      if (row != rows.end() && row->vof == face.vof)
        sum.sides += moments_.extra[e].aperture * slope_towards(x_, *row, face.side, to_side);
    }
  }

  /// Of all fluid, and of that in the sample; covered VoFs belong to a finer level.
  void add_volume(std::span<const std::uint16_t> covered, std::array<double, 2>& volume) const {
    const auto in_sample = [&](std::size_t v) {
      const int at = cell_[v][linear_.axis];
      return at >= linear_.low && at < linear_.high ? 1.0 : 0.0;
    };
    volume[0] += static_cast<double>(graph_.n_own - std::ssize(covered));
    for (std::size_t v = 0; v < cell_.size(); ++v) volume[1] += in_sample(v);
    for (const std::uint16_t v : covered) volume[1] -= in_sample(v);
    for (int r = 0; r < graph_.n_irregular; ++r) {
      if (std::ranges::binary_search(covered, graph_.row_vof[r])) continue;
      volume[0] += moments_.moments[r].kappa - 1.0;
      volume[1] += (moments_.moments[r].kappa - 1.0) * in_sample(graph_.row_vof[r]);
    }
  }

  void add_wall(const FlowRow& row, const VofMoments& m, WallDrag& sum) const {
    const double length = norm(m.wall);
    if (length == 0.0) return;
    const Vec3 normal = (1.0 / length) * m.wall;
    const kernels::Four gradient = kernels::row_gradient(x_, row, force_);
    double pressure = x_[row.vof].v[kernels::p];
    Vec3 place = m.wall_centroid;
    for (int d = 0; d < 3; ++d) {
      pressure += (gradient[d] + force_[d]) * m.wall_centroid[d];
      place[d] += cell_[row.vof][d] + 0.5;
    }
    sum.pressure -= (pressure - linear_.at(place)) * m.wall;
    sum.viscous +=
        length * wall_slope(x_, row, sides_[row.vof], normal, std::max(-dot(normal, m.wall_centroid), least_distance));
  }

  const Quad* x_;
  const Vec3& force_;
  const LinearPressure& linear_;
  BoxGraph graph_;
  BoxMoments moments_;
  std::vector<Index> cell_;
  std::vector<std::uint8_t> sides_;  ///< per own VoF: bits of the no-slip ends of the domain beside it
};

}  // namespace

WallDrag wall_drag(const StokesLevels& op, const FlowValues& u, const StokesDrive& drive, const SampleCells& sample) {
  const LinearPressure linear = linear_pressure(op.level(0), drive, sample);
  WallDrag sum;
  std::array<double, 2> volume{};
  for (int l = 0; l < op.n_levels(); ++l) {
    const StokesOperator& level = op.level(l);
    const double h = StokesLevels::width(l);
    const Vec3 force = h * h * drive.force;
    const LinearPressure falling = linear.on_level(h);
    struct InBox {
      WallDrag drag;
      std::array<double, 2> cells{};
    };
    std::vector<InBox> in_boxes(level.geometry().graph.n_local());
    parallel_for_dynamic(std::ssize(in_boxes), [&](std::int64_t b) {
      const int box = static_cast<int>(b);
      InBox& in = in_boxes[b];
      BoxDrag(level, u.level(l).x.box(box).data(), force, falling, box).add(level, box, in.drag, in.cells);
    });
    for (const InBox& in : in_boxes) {
      sum.pressure += h * in.drag.pressure;
      sum.viscous += h * in.drag.viscous;
      sum.sides += h * in.drag.sides;
      for (std::size_t i = 0; i < 2; ++i) volume[i] += h * h * h * in.cells[i];
    }
  }
  std::array<double, 11> all{sum.pressure[0], sum.pressure[1], sum.pressure[2], sum.viscous[0],
                             sum.viscous[1],  sum.viscous[2],  sum.sides[0],    sum.sides[1],
                             sum.sides[2],    volume[0],       volume[1]};
  op.comm().sum(std::span(all));
  Vec3 driven = all[9] * drive.force;
  driven[sample.axis] += all[10] * linear.fall - all[9] * linear.rise;
  return {{all[0], all[1], all[2]}, {all[3], all[4], all[5]}, {all[6], all[7], all[8]}, driven};
}

}  // namespace karst
