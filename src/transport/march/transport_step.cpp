// SPDX-License-Identifier: BSD-3-Clause
// One step. With c at the time t, per block of components:
//
//   half of decay and source, exactly
//   low order            c_low, within the bounds whatever comes (low_order.hpp)
//   diffusion and wall   corrected by TR-BDF2's fluxes (diffusion_stages.hpp), within the range of all data
//   advection            corrected by F (c_k + g_k·(x_f - x_k)), c_k and g_k of (c + c_low)/2, within local bounds
//   half of decay and source
//
// Components of a group share the factors of a face: sums of them stay sums. All others have their own, and the bits
// that they have alone. What ranks have to put together goes in one reduction each of ranges, of what the stages left,
// and of the balances.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/comm/parallel_fill.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/math/no_number.hpp"
#include "transport/flow/inlet_means.hpp"
#include "transport/march/transport_parts.hpp"
#include "transport/march/transport_stepper.hpp"

namespace karst {
namespace {

constexpr double no_volume = 0.0;  ///< where sources of a rank without volumes stand, that are sources all the same

/// What decay and source make of a value in a time: value x stays + gained.
struct Change {
  Change(const ScalarComponent& c, double time)
      : stays(std::exp(-c.decay * time)),
        gained(c.decay > 0.0 ? c.source * -std::expm1(-c.decay * time) / c.decay : c.source * time) {}
  ScalarRange of(const ScalarRange& r) const {
    return {std::min(r.least, r.least * stays + gained), std::max(r.largest, r.largest * stays + gained)};
  }
  double stays, gained;
};

/// Contents of a component before and after each half of decay and source, what came in and went out. Summed over
/// ranks.
struct Sums {
  double first = 0.0, second = 0.0, third = 0.0, last = 0.0;
  double inflow = 0.0, outflow = 0.0, wall = 0.0, source = 0.0;
};
constexpr std::size_t n_sums = sizeof(Sums) / sizeof(double);

class Step {
 public:
  Step(TransportParts& parts, TransportState& state, double dt, TransportReport& report)
      : p_(parts),
        grid_(*parts.grid),
        flow_(parts.flow),
        s_(parts.scratch),
        comm_(parts.grid->composite->comm()),
        state_(state),
        t_(state.time),
        dt_(dt),
        report_(report) {}

  void run(std::span<const Array<double>> sources) {
    s_.sums.assign(n_sums * p_.components.size(), 0.0);
    for (ComponentBlock& b : p_.blocks) with_width(b.width, [&](auto C) { begin<C>(b, sources); });
    find_ranges();
    for (ComponentBlock& b : p_.blocks)
      with_width(b.width, [&](auto C) {
        low_order<C>(b);
        if (b.group != nullptr)
          diffusive_correction<C>(
              b, is_stiff(grid_, *b.group, dt_) ? DiffusionSolver::multigrid : DiffusionSolver::sweeps);
      });
    solve_again_where_needed();
    widen_ranges_by_sources();
    correct_diffusion();
    correct_advection();
    p_.start.made = true;
    state_.time = t_ + dt_;
    for (ComponentBlock& b : p_.blocks) with_width(b.width, [&](auto C) { end<C>(b); });
    find_balances();
  }

 private:
  Sums& sums_of(std::size_t component) { return reinterpret_cast<Sums*>(s_.sums.data())[component]; }
  template <int C>
  std::array<double, C> contents(std::span<const double> values) const {
    using Contents = std::array<double, C>;
    return parallel_reduce(
        grid_.n_own, Contents{},
        [&](std::int64_t v) {
          Contents content;
          for (int c = 0; c < C; ++c) content[c] = grid_.volume[v] * values[C * v + c];
          return content;
        },
        [](Contents a, const Contents& b) {
          for (int c = 0; c < C; ++c) a[c] += b[c];
          return a;
        });
  }

  /// Values side by side, half of decay and source behind them, values on the ends of the domain.
  template <int C>
  void begin(ComponentBlock& b, std::span<const Array<double>> sources) {
    std::array<const double*, C> from;
    for (int c = 0; c < C; ++c) {
      const std::size_t i = b.component[c];
      from[c] = state_.values[i].data();
      b.range[c] = state_.range[i];
      b.source[c] = {};
      if (i < sources.size())
        b.source[c] = sources[i].size() > 0 ? sources[i].span() : std::span<const double>(&no_volume, 0);
    }
    parallel_for(grid_.n_all, [&](std::int64_t v) {
      for (int c = 0; c < C; ++c) b.before[C * v + c] = from[c][v];
    });
    react<C>(b, b.before.span(), &Sums::first, &Sums::second);
    set_ends<C>(b);
    std::ranges::fill(b.ends, 0.0);
  }

  /// Decay and source over half of the step, exactly.
  template <int C>
  void react(ComponentBlock& b, std::span<double> values, double Sums::*before, double Sums::*after) {
    std::array<double, C> content = contents<C>(values);
    for (int c = 0; c < C; ++c) sums_of(b.component[c]).*before = sums_of(b.component[c]).*after = content[c];
    std::array<double, C> stays, gained;
    bool any = false;
    for (int c = 0; c < C; ++c) {
      const ScalarComponent& component = p_.components[b.component[c]];
      const Change change(component, 0.5 * dt_);
      stays[c] = change.stays;
      gained[c] = change.gained;
      if (component.decay == 0.0 && component.source == 0.0) continue;
      any = true;
      b.range[c] = change.of(b.range[c]);
    }
    if (!any) return;
    parallel_for(grid_.n_all, [&](std::int64_t v) {
      for (int c = 0; c < C; ++c) values[C * v + c] = values[C * v + c] * stays[c] + gained[c];
    });
    content = contents<C>(values);
    for (int c = 0; c < C; ++c) sums_of(b.component[c]).*after = content[c];
  }

  /// Values on the ends of the domain: given ones where the flow enters and on fixed sides, else those of the volume.
  /// Of a fixed side at the beginning and at the end of the step; of an open one the mean, so that what flows in is
  /// what is asked for whatever the limiter does.
  template <int C>
  void set_ends(ComponentBlock& b) {
    const double first = just_after(t_, dt_), last = just_before_end(t_, dt_);
    std::array<std::array<double, 6>, C> means;
    for (int c = 0; c < C; ++c)
      for (std::size_t s = 0; s < 6; ++s) {
        const auto& mean = p_.components[b.component[c]].sides[s].mean;
        means[c][s] = mean ? mean(first, last) : no_number;
      }
    parallel_for(std::ssize(grid_.boundary), [&](std::int64_t k) {
      const BoundaryFace& face = grid_.boundary[k];
      for (int c = 0; c < C; ++c) {
        const ScalarSide& side = p_.components[b.component[c]].sides[face.side];
        double& now = b.before[C * (grid_.n_all + k) + c];
        double& then = b.end_value[C * k + c];
        if (side.kind != ScalarSide::Kind::fixed && !(flow_.all[face.face] < 0.0)) {
          now = b.before[C * std::int64_t{face.volume} + c];
          then = no_number;
        } else if (!side.value) {
          now = then = 0.0;
        } else {
          now = side.value(face.at, first);
          then = side.value(face.at, last);
          if (side.kind != ScalarSide::Kind::fixed) now = then = side.mean ? means[c][face.side] : 0.5 * (now + then);
        }
      }
    });
  }

  /// Those of the end of the step.
  template <int C>
  void give_ends(const ComponentBlock& b, std::span<double> values) const {
    parallel_for(std::ssize(grid_.boundary), [&](std::int64_t k) {
      for (int c = 0; c < C; ++c) {
        const double given = b.end_value[C * k + c];
        values[C * (grid_.n_all + k) + c] =
            std::isnan(given) ? values[C * std::int64_t{grid_.boundary[k].volume} + c] : given;
      }
    });
  }

  /// Puts b.range of all components together, widened by extremes (-least, largest) of this rank.
  void widen_ranges() {
    comm_.max(std::span<double>(s_.extremes));
    for (ComponentBlock& b : p_.blocks)
      for (int c = 0; c < b.width; ++c) {
        const double* const e = s_.extremes.data() + 2 * b.component[c];
        ScalarRange& range = b.range[c];
        range = {std::min(range.least, -e[0]), std::max(range.largest, e[1])};
        state_.range[b.component[c]] = range;
      }
  }
  void start_extremes() { s_.extremes.assign(2 * p_.components.size(), -std::numeric_limits<double>::infinity()); }
  void include(std::size_t component, double value) {
    double* const e = s_.extremes.data() + 2 * component;
    e[0] = std::max(e[0], -value);
    e[1] = std::max(e[1], value);
  }

  /// Widens the ranges by the values on the ends of the domain, old and new ones, and those of walls.
  void find_ranges() {
    start_extremes();
    for (const ComponentBlock& b : p_.blocks)
      for (int c = 0; c < b.width; ++c) {
        for (std::size_t k = 0; k < grid_.boundary.size(); ++k) {
          const double given = b.end_value[b.width * k + c];
          if (std::isnan(given)) continue;
          include(b.component[c], given);
          include(b.component[c], b.before[b.width * (grid_.n_all + k) + c]);
        }
        if (!b.reacts()) continue;
        const LowOrderTerms& low = b.group->low;
        for (std::size_t v = 0; v < low.wall.size(); ++v)
          if (low.wall[v] > 0.0) include(b.component[c], low.equilibrium[v]);
      }
    widen_ranges();
  }

  /// The same by what the step of low order makes of the sources of advance().
  void widen_ranges_by_sources() {
    bool any = false;
    start_extremes();
    for (const ComponentBlock& b : p_.blocks)
      for (int c = 0; c < b.width; ++c) {
        if (b.source[c].data() == nullptr) continue;
        any = true;
        const auto extreme = [&](double sign) {
          return parallel_max(grid_.n_own, [&](std::int64_t v) { return sign * b.low[b.width * v + c]; });
        };
        s_.extremes[2 * b.component[c]] = extreme(-1.0);
        s_.extremes[2 * b.component[c] + 1] = extreme(1.0);
        sums_of(b.component[c]).source =
            dt_ * parallel_sum(grid_.n_own, [&](std::int64_t v) { return grid_.volume[v] * b.source[c][v]; });
      }
    if (any) widen_ranges();
  }

  template <int C>
  std::array<double, C> sizes(const ComponentBlock& b) const {
    std::array<double, C> size;
    for (int c = 0; c < C; ++c) size[c] = std::max(std::abs(b.range[c].least), std::abs(b.range[c].largest));
    return size;
  }

  /// c_low: upwind advection, then diffusion.
  template <int C>
  void low_order(ComponentBlock& b) {
    const Timer timer("low order");
    LowOrderTerms* const terms = b.group != nullptr ? &b.group->low : nullptr;
    if (terms != nullptr) choose_sub_steps(grid_, *terms, dt_);
    const auto n = std::size_t{C} * grid_.n_values;
    const std::span<double> low = b.low.span(), mean = s_.mean.span().first(n);
    // The last of the sub-steps ends in low.
    const bool starts_in_low = terms == nullptr || terms->sub_steps.count % 2 == 0;
    const std::span<double> after = starts_in_low ? low : mean;
    std::ranges::fill(b.ends, 0.0);
    if (flow_.at_rest) {
      std::copy_n(b.before.begin(), std::size_t{C} * grid_.n_own, after.begin());
    } else {
      upwind_step<C>(grid_, flow_.explicit_flow(), b.before.span(), dt_, after);
      for (std::size_t k = 0; k < grid_.boundary.size(); ++k) {
        const BoundaryFace& face = grid_.boundary[k];
        const double f = flow_.explicit_flow()[face.face];
        const std::int64_t from =
            C * (f >= 0.0 ? std::int64_t{face.volume} : grid_.n_all + static_cast<std::int64_t>(k));
        for (int c = 0; c < C; ++c) b.ends[C * k + c] = dt_ * f * b.before[from + c];
      }
      if (flow_.n_implicit > 0)
        report_.low_iterations += C * step_implicitly<C>(grid_, flow_, dt_, sizes<C>(b), s_.upwind, after, b.ends);
    }
    std::array<std::span<const double>, C> source;
    for (int c = 0; c < C; ++c) source[c] = b.source[c];
    if (terms == nullptr) {
      for (int c = 0; c < C; ++c)
        if (!source[c].empty())
          parallel_for(grid_.n_own, [&](std::int64_t v) { low[C * v + c] += dt_ * source[c][v]; });
    } else {
      give_ends<C>(b, after);
      const LowOrderVectors vectors{after, starts_in_low ? mean : low, s_.exposure.span().first(n), s_.inner};
      report_.low_iterations +=
          C * (terms->sub_steps.count > 0 ? diffuse<C>(grid_, *terms, source, vectors)
                                          : diffuse_implicitly<C>(grid_, *terms, source, s_.implicit, vectors));
      pass_wall<C>(b);
    }
    fetch_remote<C>(grid_, low);
    give_ends<C>(b, low);
  }

  /// What the film at the wall let through, and with the other sign in the correction.
  template <int C>
  void pass_wall(ComponentBlock& b) {
    if (!b.reacts()) return;
    const LowOrderTerms& terms = b.group->low;
    parallel_for(grid_.n_own, [&](std::int64_t v) {
      for (std::int64_t i = C * v; i < C * (v + 1); ++i) {
        b.through_wall[i] = terms.wall[v] * (s_.exposure[i] - dt_ * terms.equilibrium[v]);
        b.wall[i] = -b.through_wall[i];
      }
    });
  }

  /// mean = (c + c_low) / 2 - r, and its gradient; where the flow enters, as inlet_means.hpp has it.
  template <int C>
  Gradient find_mean(const ComponentBlock& b, const std::array<double, C>& r) {
    parallel_for(grid_.n_values, [&](std::int64_t v) {
      for (int c = 0; c < C; ++c) s_.mean[C * v + c] = 0.5 * (b.before[C * v + c] + b.low[C * v + c]) - r[c];
    });
    if (flow_.enters) {
      lag_inflow<C>(grid_, {flow_.explicit_flow(), b.gradient_weights, b.before.span(), dt_}, s_.mean.span());
      fetch_remote<C>(grid_, s_.mean.span());
    }
    Gradient gradient;
    for (std::size_t d = 0; d < 3; ++d) gradient[d] = s_.gradient[d].span().first(std::size_t{C} * grid_.n_all);
    find_gradient<C>(grid_, b.gradient_weights, s_.mean.span(), gradient);
    return gradient;
  }

  /// mean = -Σ advective fluxes of c - r, and sources.
  template <int C>
  void find_balance(ComponentBlock& b, const std::array<double, C>& r) {
    const std::span<double> balance = s_.mean.span().first(std::size_t{C} * grid_.n_own);
    if (flow_.at_rest) {
      parallel_fill(balance, 0.0);
    } else {
      const Gradient gradient = find_mean<C>(b, r);
      linear_upwind_flux<C>(grid_, flow_.explicit_flow(), s_.mean.span(), gradient, b.amount.span());
      for (std::size_t k = 0; k < flow_.implicit_faces.size(); ++k) {
        const ImplicitFace& f = flow_.implicit_faces[k];
        for (int c = 0; c < C; ++c)
          b.amount[C * std::int64_t{f.face} + c] = s_.upwind.carried[C * k + c] - f.flow * r[c];
      }
      add_up<C>(grid_, b.amount.span(), balance);
      parallel_for(std::ssize(balance), [&](std::int64_t i) { balance[i] = -balance[i]; });
    }
    for (int c = 0; c < C; ++c)
      if (!b.source[c].empty())
        parallel_for(grid_.n_own, [&](std::int64_t v) { balance[C * v + c] += grid_.volume[v] * b.source[c][v]; });
  }

  /// By GCR with multigrid, or by sweeps, whose success has to be asked for.
  enum class DiffusionSolver { multigrid, sweeps };
  template <int C>
  void diffusive_correction(ComponentBlock& b, DiffusionSolver solver) {
    StageStep<C> step;
    for (int c = 0; c < C; ++c) {
      step.component[c] = &p_.components[b.component[c]];
      step.least[c] = b.range[c].least;
    }
    step.size = sizes<C>(b);
    step.values = b.before.span();
    step.beyond = b.beyond.span();
    step.balance = s_.mean.span().first(std::size_t{C} * grid_.n_own);
    step.t = t_;
    step.dt = dt_;
    const StageOptions options{p_.options.tolerance, p_.options.max_iterations};
    find_balance<C>(b, step.least);
    if (solver == DiffusionSolver::multigrid) {
      report_.high_iterations += C * solve_stiff<C>(grid_, *b.group, step, options, *s_.diffusion);
    } else {
      const StageSums<C> left = solve_by_sweeps<C>(grid_, *b.group, step, options, *s_.diffusion);
      std::copy_n(left.change.begin(), C, b.left.begin());
      for (std::size_t k = 0; k < 2; ++k)
        std::copy_n(left.left[k].begin(), C, b.left.begin() + most_side_by_side * (k + 1));
      report_.high_iterations += C * left.sweeps;
    }
    const std::span<double> wall = b.reacts() ? s_.wall.span().first(b.wall.size()) : std::span<double>{};
    diffusive_flux<C>(grid_, *b.group, step, *s_.diffusion, b.amount.span(), wall);
    const auto n = std::size_t{C} * grid_.n_values;
    const LowOrderVectors vectors{{}, {}, s_.exposure.span().first(n), s_.inner};
    take_low_order<C>(grid_, b.group->low, vectors, {s_.diffusion->phi.span(), b.amount.span(), b.ends});
    if (b.reacts())
      parallel_for(grid_.n_own, [&](std::int64_t v) {
        for (std::int64_t i = C * v; i < C * (v + 1); ++i)
          b.wall[i] = grid_.fragment[v] != 0 ? 0.0 : b.wall[i] + dt_ * wall[i];
      });
  }

  /// Looks at what sweeps left, of all blocks at once; those that are not solved go through the other solver.
  void solve_again_where_needed() {
    s_.extremes.clear();
    for (const ComponentBlock& b : p_.blocks)
      if (b.group != nullptr && !is_stiff(grid_, *b.group, dt_))
        s_.extremes.insert(s_.extremes.end(), b.left.begin(), b.left.end());
    if (s_.extremes.empty()) return;
    comm_.sum(std::span<double>(s_.extremes));
    const double* from = s_.extremes.data();
    for (ComponentBlock& b : p_.blocks) {
      if (b.group == nullptr || is_stiff(grid_, *b.group, dt_)) continue;
      std::copy_n(from, b.left.size(), b.left.begin());
      from += b.left.size();
      with_width(b.width, [&](auto C) {
        if (is_solved<C>(grid_, *b.group, sizes<C>(b), p_.options.tolerance, sums_of_left<C>(b))) return;
        low_order<C>(b);
        diffusive_correction<C>(b, DiffusionSolver::multigrid);
      });
    }
  }
  template <int C>
  StageSums<C> sums_of_left(const ComponentBlock& b) const {
    StageSums<C> sums;
    std::copy_n(b.left.begin(), C, sums.change.begin());
    for (std::size_t k = 0; k < 2; ++k)
      std::copy_n(b.left.begin() + most_side_by_side * (k + 1), C, sums.left[k].begin());
    return sums;
  }

  std::span<ComponentBlock> blocks_of(const std::pair<std::size_t, std::size_t>& together) {
    return std::span(p_.blocks).subspan(together.first, together.second - together.first);
  }
  enum class Correcting { diffusion, advection };
  void list_corrections(std::span<ComponentBlock> blocks, Correcting what) {
    const bool diffusion = what == Correcting::diffusion;
    s_.corrections.clear();
    for (ComponentBlock& b : blocks)
      if (!diffusion || b.group != nullptr)
        s_.corrections.push_back({b.width, b.shares, b.low.span(), b.before.span(), b.amount.span(),
                                  diffusion ? b.wall.span() : std::span<double>{}, b.range});
  }

  /// What has passed the ends of the domain, with the factors.
  void pass_ends(ComponentBlock& b, bool limited) {
    for (std::size_t k = 0; k < grid_.boundary.size(); ++k) {
      const std::int64_t face = grid_.boundary[k].face;
      for (int c = 0; c < b.width; ++c) {
        const double factor = !limited ? 1.0 : b.shares ? s_.limiter.face[face] : s_.limiter.face[b.width * face + c];
        b.ends[b.width * k + c] += factor * b.amount[b.width * face + c];
      }
    }
  }

  void correct_diffusion() {
    if (p_.groups.empty()) return;
    const Timer timer("limiter");
    std::ranges::fill(s_.limiter.work.looks, 0U);
    for (const auto& together : p_.limited_together) correct_diffusion(blocks_of(together));
  }
  void correct_diffusion(std::span<ComponentBlock> blocks) {
    list_corrections(blocks, Correcting::diffusion);
    const bool limited = p_.options.limit;
    if (limited) {
      const RangeLimits limits = correct_within_range(grid_, s_.corrections, s_.limiter);
      report_.passes = std::max(report_.passes, limits.passes);
      report_.limited_diffusion += limits.limited;
    } else {
      for (const Correction& c : s_.corrections) correct_freely(grid_, c);
    }
    for (ComponentBlock& b : blocks) {
      if (b.group == nullptr) continue;
      pass_ends(b, limited);
      if (b.reacts())
        parallel_for(grid_.n_own, [&](std::int64_t v) {
          for (std::int64_t i = b.width * v; i < b.width * (v + 1); ++i)
            b.through_wall[i] += (!limited ? 1.0 : s_.limiter.wall[b.shares ? v : i]) * b.wall[i];
        });
      with_width(b.width, [&](auto C) {
        fetch_remote<C>(grid_, b.low.span());
        give_ends<C>(b, b.low.span());
      });
    }
  }

  void correct_advection() {
    if (flow_.at_rest) return;
    {
      const Timer timer("advection");
      for (ComponentBlock& b : p_.blocks)
        with_width(b.width, [&](auto C) {
          const Gradient gradient = find_mean<C>(b, {});
          upwind_difference<C>(grid_, flow_.explicit_flow(), s_.mean.span(), gradient, b.before.span(), dt_,
                               b.amount.span());
        });
    }
    const Timer timer("limiter");
    for (const auto& together : p_.limited_together) correct_advection(blocks_of(together));
  }
  void correct_advection(std::span<ComponentBlock> blocks) {
    list_corrections(blocks, Correcting::advection);
    const bool limited = p_.options.limit;
    if (limited)
      report_.limited_faces +=
          correct_within_local_bounds(grid_, s_.corrections, flow_.explicit_flow(), dt_, s_.limiter);
    else
      for (const Correction& c : s_.corrections) correct_freely(grid_, c);
    for (ComponentBlock& b : blocks) {
      pass_ends(b, limited);
      with_width(b.width, [&](auto C) {
        fetch_remote<C>(grid_, b.low.span());
        give_ends<C>(b, b.low.span());
      });
    }
  }

  /// Half of decay and source, and back to one component after the other.
  template <int C>
  void end(ComponentBlock& b) {
    react<C>(b, b.low.span(), &Sums::third, &Sums::last);
    std::array<double*, C> to;
    for (int c = 0; c < C; ++c) {
      to[c] = state_.values[b.component[c]].data();
      state_.range[b.component[c]] = b.range[c];
    }
    parallel_for(grid_.n_values, [&](std::int64_t v) {
      for (int c = 0; c < C; ++c) b.before[C * v + c] = std::exchange(to[c][v], b.low[C * v + c]);
    });
    for (std::size_t k = 0; k < grid_.boundary.size(); ++k) {
      const double flow = flow_.all[grid_.boundary[k].face];
      for (int c = 0; c < C; ++c) {  // by the flow, as concentrations may be negative
        const double amount = b.ends[C * k + c];
        if (flow < 0.0 || (flow == 0.0 && amount < 0.0))
          sums_of(b.component[c]).inflow -= amount;
        else
          sums_of(b.component[c]).outflow += amount;
      }
    }
    if (!b.reacts()) return;
    for (int c = 0; c < C; ++c)
      sums_of(b.component[c]).wall =
          parallel_sum(grid_.n_own, [&](std::int64_t v) { return b.through_wall[C * v + c]; });
  }

  void find_balances() {
    start_extremes();
    for (std::size_t i = 0; i < p_.components.size(); ++i) {
      const double* const c = state_.values[i].data();
      s_.extremes[2 * i] = parallel_max(grid_.n_own, [&](std::int64_t v) { return -c[v]; });
      s_.extremes[2 * i + 1] = parallel_max(grid_.n_own, [&](std::int64_t v) { return c[v]; });
    }
    comm_.max(std::span<double>(s_.extremes));
    s_.sums.push_back(static_cast<double>(report_.limited_faces));
    s_.sums.push_back(static_cast<double>(report_.limited_diffusion));
    comm_.sum(std::span<double>(s_.sums));
    report_.limited_diffusion = static_cast<std::int64_t>(s_.sums.back());
    s_.sums.pop_back();
    report_.limited_faces = static_cast<std::int64_t>(s_.sums.back());
    s_.sums.pop_back();
    for (std::size_t i = 0; i < p_.components.size(); ++i) {
      const Sums& s = sums_of(i);
      ComponentBalance& b = report_.components[i];
      const double produced = p_.components[i].source * dt_ * p_.volume;
      b.inflow = s.inflow;
      b.outflow = s.outflow;
      b.wall = s.wall;
      b.source = produced + s.source;
      b.decay = produced - ((s.second - s.first) + (s.last - s.third));
      b.content = s.last;
      b.stored = s.last - s.first;
      const double moved =
          std::abs(b.inflow) + std::abs(b.outflow) + std::abs(b.wall) + std::abs(b.decay) + std::abs(b.source);
      const double size = std::max({moved, std::abs(b.content), std::abs(s.first)});
      const double left = b.inflow - b.outflow - b.wall - b.decay + b.source - b.stored;
      b.imbalance = size > 0.0 ? std::abs(left) / size : 0.0;
      b.least = -s_.extremes[2 * i];
      b.largest = s_.extremes[2 * i + 1];
    }
  }

  TransportParts& p_;
  ScalarGrid& grid_;
  const CarryingFlow& flow_;
  StepScratch& s_;
  const Comm& comm_;
  TransportState& state_;
  double t_, dt_;
  TransportReport& report_;
};

}  // namespace

void TransportStepper::advance(TransportState& state, double dt, TransportReport& report,
                               std::span<const Array<double>> sources) {
  const Timer timer("transport");
  TransportParts& p = *parts_;
  require(dt > 0.0 && std::isfinite(dt), "transport: a time step of {}; it must be positive", dt);
  require(p.flow.given, "transport: a step without a flow; set_flow() comes first");
  report.step = dt;
  report.limited_faces = report.limited_diffusion = 0;
  report.passes = report.low_iterations = report.high_iterations = 0;
  report.components.assign(p.components.size(), ComponentBalance{});
  choose_implicit(*p.grid, dt, p.flow);
  report.implicit_volumes = p.flow.n_implicit;
  report.largest_explicit_step = p.flow.largest_explicit_step;
  p.start.time = state.time;
  p.start.range = state.range;
  p.start.made = false;
  Step(p, state, dt, report).run(sources);
}

}  // namespace karst
