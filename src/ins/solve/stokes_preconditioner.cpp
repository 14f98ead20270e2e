// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/stokes_preconditioner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/flow_kernels.hpp"
#include "ins/solve/local_permeability.hpp"

namespace karst {
namespace {

/// Of the local permeability in L_k: from 0.6 to 1.4 Stokes flow needs the same iterations, +-1; with inertia less is
/// better (decision 010).
constexpr float share = 0.7F;

/// For GMRES rather than conjugate gradients: eigenvalues of the cycles above 1 hurt less than those below.
MultigridOptions velocity_cycle() {
  MultigridOptions options;
  options.coarse_scale = 0.55;
  options.twice_high = 2.0;
  return options;
}

/// L_k is a mere model of the Schur complement of steady Stokes flow: an exact solve in place of the cycle takes no
/// fewer iterations (docs/measurements/010), so the cycle is as cheap as it can be without more of them. With a rate of
/// change L_k is nearly exact.
/// @param creeping  steady Stokes flow
MultigridOptions pressure_cycle(bool creeping) {
  MultigridOptions options = velocity_cycle();
  if (creeping)
    options.fine_degrees = options.coarse_degrees = {1, 2};
  else
    options.first_twice = 1;
  return options;
}

/// With inertia: loss of k by the Reynolds number of √k, and the share of Bernoulli's pressure that a flow gets back.
constexpr double resistance = 0.25, recovery = 0.35;
constexpr double same_shift = 1e-9;  ///< relative; a preconditioner needs no more

MultigridOptions carried_cycle() {
  MultigridOptions options = velocity_cycle();
  options.fine_steps = {0.6F, 1.0F};
  options.coarse_steps = {0.5F, 0.75F, 1.0F};
  return options;
}

EllipticProblem velocity_problem(const FlowSides& sides, double shift) {
  EllipticProblem problem;
  problem.a = shift;
  problem.wall = [](const Vec3&) { return dirichlet(0.0); };
  for (std::size_t s = 0; s < 6; ++s)
    if (holds_velocity(sides[s])) problem.sides[s] = [](const Vec3&) { return dirichlet(0.0); };
  return problem;
}

/// Links between levels: at the faces that have a flux, which lead to flow cells only. Others would move cells where no
/// fluid flows.
/// @param weight  (level, LevelGhost) -> of a face of the level; links have 2/3 of it, h_f² / (3/4 · 2 h_f)
template <class F>
void set_links(const StokesLevels& op, std::vector<TwoPointLevel>& levels, F&& weight) {
  for (TwoPointLevel& level : levels) level.links.clear();
  op.coupling().for_faces([&](int l, std::int32_t ghost, VofName behind) {
    const StokesOperator::LevelGhost& g = op.level(l).level_ghosts()[ghost];
    const std::int64_t box = op.level(l).geometry().graph.first_box() + g.box;
    levels[l].links.push_back({vof_name(box, g.vof), behind, weight(l, g) / 1.5F});
  });
}

/// The rate of change of irregular flow cells, in the rows of their symmetric form.
void scale_shift(const StokesOperator& op, TwoPointLevel& level) {
  const LevelGraph& graph = op.geometry().graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    const auto irregular = box.row_vof.first(box.n_irregular);
    const std::size_t first = op.geometry().moments_begin[b];
    for (const FlowRow& row : op.rows().of(b))
      if (const auto at = std::ranges::lower_bound(irregular, row.vof); at != irregular.end() && *at == row.vof)
        level.shift[first + (at - irregular.begin())] += level.regular_shift * (row.symmetric_scale - 1.0F);
  }
}

/// Planes of symmetry let nothing through: there the normal component is 0, the others do not change.
/// @param shift  a; its rows are scaled as those of momentum are, to be symmetric
std::vector<TwoPointLevel> velocity_levels(const StokesLevels& op, double shift) {
  const FlowSides& sides = op.sides();
  std::vector<TwoPointLevel> levels =
      make_two_point_levels(*op.composite(), velocity_problem(sides, shift), WallForm::lines);
  set_links(op, levels, [&](int l, const StokesOperator::LevelGhost&) { return levels[l].face_weight; });
  for (int l = 0; l < op.n_levels() && shift > 0.0; ++l) scale_shift(op.level(l), levels[l]);
  for (TwoPointLevel& level : levels)
    for (std::size_t s = 0; s < 6; ++s) level.mirrors[s] = holds_normal_velocity(sides[s]) && !holds_velocity(sides[s]);
  return levels;
}

/// L_k as a two-point operator: weights w k on the faces between flow cells.
class PressureLevel {
 public:
  /// @param length  of the level (find_permeable_lengths())
  /// @param width   of its cells in h0
  /// @param shift   a in units of h0
  PressureLevel(const StokesOperator& op, FloatField length, double width, double shift)
      : op_(op),
        graph_(op.geometry().graph),
        volume_(static_cast<float>(width * width * width)),
        shift_(static_cast<float>(width * width * shift)),
        length_(std::move(length)),
        weights_(graph_, 3, Purpose::buffers) {
    level_.geometry = &op.geometry();
    level_.face_beta = &weights_;
    level_.weight = Array<std::array<float, 6>>(op.geometry().moments.size(), Purpose::buffers, {});
    level_.shift = Array<float>(op.geometry().moments.size(), Purpose::buffers, 0.0F);
    level_.extra = Array<float>(op.geometry().extra.size(), Purpose::buffers, 0.0F);
    level_.ghost_begin = {0};
    for (int b = 0; b < graph_.n_local(); ++b)
      level_.ghost_begin.push_back(level_.ghost_begin.back() + graph_.box(b).halo.n_domain());
    level_.ghost_factor.assign(level_.ghost_begin.back(), 1.0F);
    parallel_for(graph_.n_local(), [&](std::int64_t b) { set_box(static_cast<int>(b)); });
  }
  PressureLevel(const PressureLevel&) = delete;
  PressureLevel& operator=(const PressureLevel&) = delete;
  TwoPointLevel take() { return std::move(level_); }

 private:
  float permeability(const float* d, std::size_t v, std::size_t n, int first_ghost) const {
    const float k = share * (std::cmp_less(n, first_ghost) ? 0.5F * (d[v] * d[v] + d[n] * d[n]) : d[v] * d[v]);
    return volume_ * k / (1.0F + shift_ * k);
  }

  void set_box(int b) {
    const BoxGraph graph = graph_.box(b);
    const float* d = length_.box(b).data();
    const int first_ghost = graph.n_own + graph.halo.n_vofs();
    const auto set = [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const auto& area) {
      for (std::size_t s = 0; s < 6; ++s)
        weights_.box(b, static_cast<int>(s / 2))[s % 2 == 1 ? n[s] : v] =
            area(s) > 0.0F ? area(s) * permeability(d, v, n[s], first_ghost) : 0.0F;
    };
    kernels::for_plain(graph, [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      set(v, n, [](std::size_t) { return 1.0F; });
    });
    const auto irregular = graph.row_vof.first(graph.n_irregular);
    const std::size_t first = op_.geometry().moments_begin[b];
    for (const FlowRow& row : op_.rows().of(b)) {
      const auto at = std::ranges::lower_bound(irregular, row.vof);
      if (at != irregular.end() && *at == row.vof) {
        const std::size_t r = first + (at - irregular.begin());
        for (std::size_t s = 0; s < 6; ++s)
          if (row.area[s] > 0.0F)
            level_.weight[r][s] = row.area[s] * permeability(d, row.vof, row.slot[s], first_ghost);
        continue;
      }
      std::array<std::uint16_t, 6> n = row.slot;
      for (std::size_t s = 0; s < 6; ++s)
        if (n[s] == graph.closed()) n[s] = slot_of_regular(graph, row.vof, s);
      set(row.vof, n, [&](std::size_t s) { return row.area[s]; });
    }
    for (const StokesOperator::LevelGhost& g : op_.level_ghosts_of(b))  // for the links to the coarser level
      weights_.box(b, g.side / 2)[g.side % 2 == 1 ? g.slot : g.vof] = permeability(d, g.vof, g.slot, first_ghost);
    set_extra(b, graph, d);
    set_ghosts(b, graph);
  }

  void set_extra(int b, const BoxGraph& graph, const float* d) {
    float* weight = level_.extra.data() + op_.geometry().extra_begin[b];
    std::size_t e = 0;
    for (const FlowExtra& face : op_.rows().extra_of(b)) {  // a part of graph.extra, in its order
      while (graph.extra[e] != ExtraFace{face.vof, face.neighbour, face.side}) ++e;
      weight[e++] = face.area * permeability(d, face.vof, face.neighbour, graph.closed() - graph.halo.n_domain());
    }
  }

  /// Slot across a side of a VoF that is not irregular. O(log n).
  static std::uint16_t slot_of_regular(const BoxGraph& graph, std::uint16_t vof, std::size_t side) {
    const auto after = std::ranges::upper_bound(graph.runs, vof, {}, &Run::first);
    if (after != graph.runs.begin())
      if (const Run& run = *std::prev(after); vof < run.first + run.length)
        return run.neighbours(vof - run.first)[side];
    const std::size_t n_irregular = graph.n_irregular;
    const auto rows = graph.row_vof.subspan(n_irregular);
    const std::size_t row = std::ranges::lower_bound(rows, vof) - rows.begin();
    return graph.neighbours[n_irregular + row][side];
  }

  void set_ghosts(int b, const BoxGraph& graph) {
    if (graph.halo.n_domain() == 0) return;
    const int first = graph.closed() - graph.halo.n_domain();
    float* factor = level_.ghost_factor.data() + level_.ghost_begin[b];
    for_each_face(graph, [&](int, int side, int slot) {
      if (slot >= first) factor[slot - first] = static_cast<float>(pressure_factor(op_.sides()[side]));
    });
  }

  const StokesOperator& op_;
  const LevelGraph& graph_;
  float volume_, shift_;
  FloatField length_;
  Field weights_;
  TwoPointLevel level_;
};

}  // namespace

StokesPreconditioner::StokesPreconditioner(StokesLevels& op)
    : op_(&op),
      continuity_inverse_(op.n_vofs(), Purpose::solver),
      symmetric_scale_(op.n_vofs(), Purpose::solver, 1.0F),
      between_(op.n_vofs(), Purpose::solver, {}) {  // covered VoFs stay 0
  const Timer timer("multigrids");
  make_velocity({});
  make_pressure(find_permeable_lengths(op, *velocity_));
  for (int l = 0; l < op.n_levels(); ++l) set_continuity_inverse(l);
  if (op.n_levels() > 1) add_finer_faces();
  for (int l = 0; l < op.n_levels(); ++l) {
    const StokesOperator& level = op.level(l);
    for (int b = 0; b < level.geometry().graph.n_local(); ++b)
      for (const FlowRow& row : level.rows().of(b))
        symmetric_scale_[op.begin(l) + level.geometry().graph.vof_begin(b) + row.vof] = row.symmetric_scale;
  }
}

/// @param inflow  per level, as in TwoPointLevel; empty: Stokes flow
void StokesPreconditioner::make_velocity(std::vector<Array<std::array<float, 6>>> inflow) {
  velocity_.reset();
  std::vector<TwoPointLevel> levels = velocity_levels(*op_, shift_);
  for (std::size_t l = 0; l < inflow.size(); ++l) levels[l].inflow = std::move(inflow[l]);
  velocity_ = std::make_unique<BasicGraphMultigrid<3>>(op_->comm(), levels,
                                                       inflow.empty() ? velocity_cycle() : carried_cycle());
}

/// @param lengths  as from find_permeable_lengths()
void StokesPreconditioner::make_pressure(std::vector<FloatField> lengths) {
  pressure_.reset();
  std::vector<std::unique_ptr<PressureLevel>> makers;  // they hold the weights of the faces
  std::vector<TwoPointLevel> levels;
  for (int l = 0; l < op_->n_levels(); ++l) {
    makers.push_back(
        std::make_unique<PressureLevel>(op_->level(l), std::move(lengths[l]), StokesLevels::width(l), shift_));
    levels.push_back(makers.back()->take());
  }
  set_coarse_fine_links(*op_->composite(), WallForm::fluxes, levels);
  set_links(*op_, levels, [&](int l, const StokesOperator::LevelGhost& g) {
    return g.area * levels[l].whole_weight(g.box, g.vof, g.side, g.slot);
  });
  pressure_ = std::make_unique<GraphMultigrid>(op_->comm(), levels, pressure_cycle(shift_ == 0.0 && !carry_));
}

void StokesPreconditioner::follow(const AdvectionLevels& advection, std::span<const BaseFlow> flow, double inertia) {
  const Timer timer("multigrids");
  assert(std::ssize(flow) == op_->n_levels());
  keep_lengths();
  shift_ = 0.0;
  carry_.emplace(op_->n_vofs(), Purpose::solver);
  std::vector<Array<std::array<float, 6>>> inflow;
  std::vector<FloatField> lengths;
  for (int l = 0; l < op_->n_levels(); ++l) {
    inflow.emplace_back(op_->begin(l + 1) - op_->begin(l), Purpose::buffers);
    lengths.emplace_back(op_->level(l).geometry().graph, 1, Purpose::solver);
  }
  op_->for_boxes([&](int l, int b, std::size_t first, std::size_t n_own) {
    const double h = StokesLevels::width(l), here = h * inertia;  // weights of the multigrid are in units of h0
    for (std::size_t i = 0; i < n_own; ++i) {
      const std::size_t v = first + i, in_level = v - op_->begin(l);
      const auto per_volume = static_cast<float>(advection.level(l).per_volume(in_level));
      for (std::size_t s = 0; s < 6; ++s)
        inflow[l][in_level][s] =
            static_cast<float>(h * here) * symmetric_scale_[v] * (-per_volume * flow[l].fluxes.sides[in_level][s]);
      const std::array<float, 12>& kept = flow[l].carried.box(b)[i].v;
      const Vec3 w{double{kept[0]}, double{kept[1]}, double{kept[2]}};
      const double k = double{(*lengths_)[v] * (*lengths_)[v]}, speed = norm(w),
                   less = k / (1.0 + resistance * here * speed * std::sqrt(k));
      lengths[l].own(b)[i] = static_cast<float>(std::sqrt(less));
      for (std::size_t d = 0; d < 3; ++d)
        (*carry_)[v][d] = static_cast<float>(recovery * here * double{share} * less * w.v[d]);
    }
  });
  op_->fill_lengths(lengths);
  make_pressure(std::move(lengths));
  make_velocity(std::move(inflow));
}

/// With the velocity multigrid of steady Stokes flow.
void StokesPreconditioner::keep_lengths() {
  if (lengths_) return;
  const std::vector<FloatField> lengths = find_permeable_lengths(*op_, *velocity_);
  lengths_.emplace(op_->n_vofs(), Purpose::solver);
  op_->for_boxes([&](int l, int b, std::size_t first, std::size_t) {
    std::ranges::copy(lengths[l].own(b), lengths_->begin() + first);
  });
}

std::vector<FloatField> StokesPreconditioner::slow_lengths() {
  std::vector<FloatField> lengths;
  for (int l = 0; l < op_->n_levels(); ++l) lengths.emplace_back(op_->level(l).geometry().graph, 1, Purpose::solver);
  op_->for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    std::ranges::copy(lengths_->span().subspan(first, n), lengths[l].own(b).begin());
  });
  op_->fill_lengths(lengths);
  return lengths;
}

void StokesPreconditioner::set_slow(double shift) {
  // Steps that are equal but for round-off keep what is there.
  if (!carry_ && std::abs(shift - shift_) <= same_shift * shift_) return;
  const Timer timer("multigrids");
  keep_lengths();
  const bool carried = carry_.has_value();
  carry_.reset();
  shift_ = shift;
  make_pressure(slow_lengths());
  if (carried)
    make_velocity({});
  else  // nodes and connections stay
    velocity_->set_shifts(velocity_levels(*op_, shift_));
}

/// ψ += carry · ∇ψ for ψ = between_[..][0].
template <class Q>
void StokesPreconditioner::add_recovery(BasicFlowValues<Q>& u) {
  op_->for_boxes([&](int l, int b, std::size_t v, std::size_t) {
    for (Q& q : u.level(l).x.own(b)) q.v[kernels::p] = between_[v++][0];
  });
  op_->pressure_gradient(u, between_.span());
  op_->for_boxes([&](int l, int b, std::size_t v, std::size_t) {
    for (const Q& q : u.level(l).x.own(b)) {
      float sum = static_cast<float>(q.v[kernels::p]);
      for (std::size_t d = 0; d < 3; ++d) sum += (*carry_)[v][d] * between_[v][d];
      between_[v++][0] = sum;
    }
  });
}

/// Σ_faces w (t_l + t_r) / 2: what is left of B D^-1 G + C, as both take the same t.
void StokesPreconditioner::set_continuity_inverse(int level) {
  const StokesOperator& op = op_->level(level);
  const LevelGraph& graph = op.geometry().graph;
  parallel_for(graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const float* t = op.inverse_diagonal().box(b).data();
    float* inverse = continuity_inverse_.data() + op_->begin(level) + graph.vof_begin(b);
    const int closed = graph.box(b).closed(), first_ghost = closed - graph.box(b).halo.n_domain();
    const auto set = [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const auto& weight) {
      float sum = 0.0F;
      for (std::size_t s = 0; s < 6; ++s) {
        const auto [area, bend] = weight(s);
        const float whole = area * 0.5F * (t[v] + t[n[s]]), part = std::max(whole + bend, 0.25F * whole);
        const bool end = n[s] >= first_ghost && n[s] < closed;
        sum += !end ? part : (1.0F - static_cast<float>(pressure_factor(op.sides()[s]))) * part;
      }
      inverse[v] = sum > 0.0F ? 1.0F / sum : 0.0F;
    };
    kernels::for_plain(graph.box(b), [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      set(v, n, [](std::size_t) { return std::pair(1.0F, 0.0F); });
    });
    for (const FlowRow& row : op.rows().of(b))
      set(row.vof, row.slot, [&](std::size_t s) { return std::pair(row.area[s], row.bend[s]); });
    for (const FlowExtra& e : op.rows().extra_of(b)) {
      const bool end = e.neighbour >= first_ghost && e.neighbour < closed;
      const float more = e.area * 0.5F * (t[e.vof] + t[e.neighbour]) *
                         (end ? 1.0F - static_cast<float>(pressure_factor(op.sides()[e.side])) : 1.0F);
      inverse[e.vof] = inverse[e.vof] > 0.0F ? 1.0F / (1.0F / inverse[e.vof] + more) : 1.0F / more;
    }
    for (const std::uint16_t v : op.rows().still_in(b)) inverse[v] = 0.0F;
    for (const std::uint16_t v : op.covered_in(b)) inverse[v] = 0.0F;
  });
}

/// Coarse cells have the fluxes of the fine faces, also of such that do not lie in one of their own sides.
void StokesPreconditioner::add_finer_faces() {
  std::vector<float> carried(op_->coupling().n_fluxes());
  op_->coupling().hand_back(
      std::span(carried),
      [&](int l, std::int32_t ghost) {
        const StokesOperator::LevelGhost& g = op_->level(l).level_ghosts()[ghost];
        const float whole = g.area * op_->level(l).inverse_diagonal().box(g.box)[g.vof];
        return 0.25F * std::max(whole + g.bend, 0.25F * whole);
      },
      [&](int l, int box, std::int32_t vof, float more) {
        float& inverse = continuity_inverse_[op_->begin(l) + op_->level(l).geometry().graph.vof_begin(box) + vof];
        inverse = inverse > 0.0F ? 1.0F / (1.0F / inverse + more) : 1.0F / more;
      });
}

template <class Q>
void StokesPreconditioner::apply(std::span<const std::type_identity_t<Q>> r, BasicFlowValues<Q>& to) {
  const Timer timer("preconditioner");
  const auto for_own = [&](auto&& f) {
    op_->for_boxes([&](int l, int b, std::size_t v, std::size_t) {
      for (Q& q : to.level(l).x.own(b)) f(v++, q);
    });
  };
  {
    const Timer of_pressure("pressure");
    pressure_->apply(
        [&](std::int64_t first, std::int32_t n, float* area_r) {
          const auto [vof, width] = op_->place_of(first);
          const auto area = static_cast<float>(width * width / continuity_weight());
          for (const Q& q : r.subspan(vof, n)) *area_r++ = area * static_cast<float>(q.v[kernels::p]);
        },
        [&](std::int64_t first, std::int32_t n, const float* from) {
          const auto [vof, width] = op_->place_of(first);
          for (std::int32_t v = 0; v < n; ++v) between_[vof + v][0] = static_cast<float>(width) * from[v];
        });
  }
  if (carry_) add_recovery(to);
  const double unweighted = 1.0 / continuity_weight();
  for_own([&](std::size_t v, Q& q) {
    q.v[kernels::p] = static_cast<kernels::NumberOf<Q>>(
        -(double{continuity_inverse_[v]} * unweighted * double{r[v].v[kernels::p]} + double{between_[v][0]}));
  });
  op_->pressure_gradient(to, between_.span());
  {
    const Timer of_velocity("velocity");
    velocity_->apply(
        [&](std::int64_t first, std::int32_t n, Values<3>* scaled) {
          const auto [vof, width] = op_->place_of(first);
          const auto scale = static_cast<float>(width);
          for (std::size_t v = vof; v < vof + n; ++v, ++scaled)
            for (std::size_t d = 0; d < 3; ++d)
              scaled->v[d] = scale * symmetric_scale_[v] * (static_cast<float>(r[v].v[d]) - between_[v][d]);
        },
        [&](std::int64_t first, std::int32_t n, const Values<3>* from) {
          const std::size_t vof = op_->place_of(first).vof;
          for (std::int32_t v = 0; v < n; ++v) between_[vof + v] = from[v].v;
        });
  }
  for_own([&](std::size_t v, Q& q) {
    for (std::size_t d = 0; d < 3; ++d) q.v[d] = between_[v][d];
  });
}

template void StokesPreconditioner::apply(std::span<const Quad>, FlowValues&);
template void StokesPreconditioner::apply(std::span<const FloatQuad>, FloatFlowValues&);

std::string StokesPreconditioner::summary() const {
  return fmt::format("velocity: {}; pressure: {}", velocity_->summary(), pressure_->summary());
}

std::int64_t StokesPreconditioner::bytes() const {
  return velocity_->bytes() + pressure_->bytes() +
         static_cast<std::int64_t>(continuity_inverse_.bytes() + symmetric_scale_.bytes() + between_.bytes() +
                                   (lengths_ ? lengths_->bytes() : 0) + (carry_ ? carry_->bytes() : 0));
}

}  // namespace karst
