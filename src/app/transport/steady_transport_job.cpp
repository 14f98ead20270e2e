// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/steady_transport_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/job/steady_solves.hpp"
#include "app/output/field_view.hpp"
#include "app/output/plot_file.hpp"
#include "app/transport/transport_job.hpp"
#include "app/transport/transport_system.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "solvers/elliptic/elliptic_fluxes.hpp"
#include "transport/flow/carrying_flow.hpp"
#include "transport/scalar_means.hpp"
#include "transport/steady/steady_transport.hpp"

namespace karst {

namespace {

constexpr double allowed_divergence = 1e-2;  ///< as of transport in time
constexpr int most_iterations = 500;
constexpr int basis = 40;  ///< of flexible GMRES

/// Laws in units of D / h0.
struct ScaledLaws {
  std::vector<SurfaceLaw> of_mineral;
  double scale = 1.0;  ///< a concentration of the problem: the largest that is given
  bool acts = false, linear = true;

  WallRate rate(const WallPiece& piece, double c) const {
    WallRate sum;
    for_each_mineral(piece, [&](MineralNumber m, double part) {
      const WallRate r = of_mineral.at(m).at(c, 1e-9 * scale);
      sum.rate += part * r.rate;
      sum.slope += part * r.slope;
    });
    return sum;
  }
};

ScaledLaws scaled(const std::vector<SurfaceLaw>& laws, const ComponentDeck& deck, double diffusivity_over_width) {
  ScaledLaws all;
  const auto larger = [&](double c) { all.scale = std::max(all.scale, std::abs(c)); };
  all.scale = 0.0;
  if (!deck.inlet_table) larger(value_at(deck.inlet, 0.0));
  if (deck.outlet) larger(value_at(*deck.outlet, 0.0));
  for (SurfaceLaw law : laws) {
    larger(law.equilibrium);
    all.acts = all.acts || law.acts();
    all.linear = all.linear && (law.order == 1.0 || law.rate == 0.0);
    law.rate /= diffusivity_over_width;
    law.flux /= diffusivity_over_width;
    all.of_mineral.push_back(law);
  }
  if (all.scale == 0.0) all.scale = 1.0;
  return all;
}

/// The flow as fluxes that add up to 0 in every VoF, and where it passes the ends of the domain.
struct SteadyFlow {
  CarriedBy by;
  std::shared_ptr<ScalarGrid> grid;  ///< of transport, with gradients for the component that was solved last
  GivenSides given{};                ///< of that component
  FlowContinuity continuity;
  std::array<double, 6> out{};  ///< through the sides [h0³/s]
  double in = 0.0, back = 0.0;  ///< through all faces into the domain; of it through the outlet [h0³/s]
};

/// The grid with gradients for a component; where values are given on other sides than before the job lets go of it
/// first, so that weights of gradients do not pile up. Collective.
const std::shared_ptr<ScalarGrid>& grid_for(const ScalarComponent& component, SteadyFlow& flow) {
  GivenSides given = fixed_sides(component);
  for (std::size_t s = 0; s < 6; ++s) given[s] = given[s] && component.sides[s].value;
  if (flow.grid && flow.given == given) return flow.grid;
  flow.grid.reset();
  flow.grid = scalar_grid_of(flow.by.composite, {given});
  flow.given = given;
  return flow.grid;
}

/// On the grid of a component. Collective.
void make_continuous(const JobContext& run, const ScalarComponent& component, SteadyFlow& flow) {
  ScalarGrid& grid = *grid_for(component, flow);
  if (!flow.by.flows) return;
  CarryingFlow carrying;
  flow.continuity = set_flow(grid, *flow.by.faces, allowed_divergence, carrying);
  store_fluxes(grid, carrying.all.span(), *flow.by.faces);
  std::array<double, 8> sums{};
  for (const FlowThroughEnd& f : end_flows(grid, carrying.all.span())) {
    sums[f.side] += f.flow;
    if (f.flow < 0.0) sums[6] -= f.flow;
    if (f.flow < 0.0 && f.side == flow.by.outlet()) sums[7] -= f.flow;
  }
  run.comm.sum(std::span(sums));
  std::copy_n(sums.begin(), 6, flow.out.begin());
  flow.in = sums[6];
  flow.back = sums[7];
}

struct Problem {
  EllipticProblem elliptic;  // lengths in h0, over D
  std::array<ConditionAt, 6> carried{};
};

Problem problem_of(const ScalarComponent& c, const SteadyFlow& flow, const ScaledLaws& laws) {
  Problem p;
  p.elliptic.a = c.decay / c.diffusivity;
  for (std::size_t s = 0; s < 6; ++s) {
    if (!c.sides[s].value) continue;
    const ConditionAt given = [value = c.sides[s].value](const Vec3& x) { return dirichlet(value(x, 0.0)); };
    if (c.sides[s].kind == ScalarSide::Kind::fixed)
      p.elliptic.sides[s] = given;
    else if (flow.out[s] < 0.0)
      p.carried[s] = given;
  }
  if (laws.acts)
    p.elliptic.wall = [&laws](const WallPiece& piece) {
      const double at = laws.linear ? 0.0 : laws.scale;
      const WallRate r = laws.rate(piece, at);
      return robin(r.slope, r.slope * at - r.rate);
    };
  return p;
}

/// What is known of a component that is solved for. Amounts in C h0³/s.
struct Solved {
  std::vector<double> values;     // own unknowns
  std::vector<double> wall_flux;  // per piece of wall [C m/s]
  std::vector<double> at_wall;    // likewise [C]; empty: by the law
  SolveReport report;
  double inflow = 0.0, outflow = 0.0, wall = 0.0, source = 0.0, decay = 0.0, mean = 0.0, outlet = no_number;
};

class SteadyComponent {
 public:
  SteadyComponent(const JobContext& run, const ScalarComponent& component, SteadyFlow& flow, const ScaledLaws& laws,
                  SolveProgress& progress)
      : run_(run),
        c_(component),
        flow_(flow),
        laws_(laws),
        problem_(problem_of(component, flow, laws)),
        op_(flow.by.composite, problem_.elliptic, Faces::keep),
        transport_(op_, *flow.by.faces, flow.by.flows ? 1.0 / c_.diffusivity : 0.0, options(progress),
                   grid_for(component, flow)) {}

  Solved solve(const std::vector<WallPlace>& places) {
    Solved s;
    const auto n = static_cast<std::size_t>(op_.numbering().n_own());
    s.values.assign(n, laws_.linear ? 0.0 : laws_.scale);
    const std::vector<double> source(c_.source != 0.0 ? n : 0, c_.source / c_.diffusivity);
    WallField at_wall(op_.composite());
    if (laws_.linear) {
      s.report = transport_.solve(source, s.values);
    } else {
      const WallLawReport newton = solve_wall_law(
          transport_, op_, [this](double c, const WallPiece& piece) { return laws_.rate(piece, c); }, s.values,
          run_.config.transport.tolerance, 50, source, &at_wall);
      s.report.iterations = newton.iterations;
      s.report.true_residual = newton.residual;
      s.report.seconds = newton.seconds;
      s.report.setup_seconds = newton.setup_seconds;
      for (const WallPlace& p : places) s.at_wall.push_back(at_wall.level(p.level)[p.row]);
    }
    s.report.name = "transport " + c_.name;
    s.report.method = laws_.linear ? "fgmres" : "newton, fgmres";
    s.report.preconditioner = "graph multigrid, sweep downstream";
    find_amounts(places, s);
    return s;
  }

 private:
  SteadyTransportOptions options(SolveProgress& progress) const {
    SteadyTransportOptions o;
    o.name = "transport " + c_.name;
    o.tolerance = run_.config.transport.tolerance;
    o.max_iterations = most_iterations;
    o.restart = basis;
    o.carried = problem_.carried;
    o.watch = [&progress, name = o.name](int i, double residual) { progress.iteration(name, i, residual); };
    return o;
  }

  void find_amounts(const std::vector<WallPlace>& places, Solved& s) {
    const double d = c_.diffusivity;
    EllipticFluxes fluxes(op_);
    FaceField faces(op_.composite());
    WallField wall(op_.composite());
    fluxes.find(s.values, faces, wall);
    ScalarGrid& grid = transport_.advection().grid();
    std::vector<double> flux(grid.n_faces);
    list_fluxes(grid, faces, flux);
    std::array<double, 10> sums{};  // out through the sides; wall; volume, content, decay
    for (const BoundaryFace& f : grid.boundary) sums[f.side] += d * flux[f.face];
    const double h = run_.grid.cell_width();
    for (const WallPlace& p : places) {
      const double out = laws_.acts ? d * wall.level(p.level)[p.row] : 0.0;
      sums[6] += out;
      s.wall_flux.push_back(h * out / p.area);
    }
    const auto volumes = op_.volumes();
    for (std::size_t v = 0; v < s.values.size(); ++v) {
      sums[7] += volumes[v];
      sums[8] += volumes[v] * s.values[v];
    }
    run_.comm.sum(std::span(sums));
    for (int side = 0; side < 6; ++side) {
      const double carried = flow_.by.flows ? d * transport_.advection().out_of(side, s.values) : 0.0;
      (sums[side] + carried < 0.0 ? s.inflow : s.outflow) += std::abs(sums[side] + carried);
      if (side == flow_.by.outlet() && flow_.out[side] > 0.0) s.outlet = carried / flow_.out[side];
    }
    s.wall = sums[6];
    s.source = c_.source * sums[7];
    s.decay = c_.decay * sums[8];
    s.mean = sums[8] / sums[7];
  }

  const JobContext& run_;
  const ScalarComponent& c_;
  const SteadyFlow& flow_;
  const ScaledLaws& laws_;
  Problem problem_;
  EllipticOperator op_;
  SteadyTransport transport_;
};

ComponentLine line_of(const JobContext& run, const Solved& s) {
  const double volume = std::pow(run.grid.cell_width(), 3);
  ComponentLine line;
  line.outlet = s.outlet;
  line.mean = s.mean;
  line.inflow = s.inflow * volume;
  line.outflow = s.outflow * volume;
  line.wall = s.wall * volume;
  line.made = (s.source - s.decay) * volume;
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (const double v : s.values) least = std::min(least, v), largest = std::max(largest, v);
  line.least = run.comm.min(least);
  line.largest = run.comm.max(largest);
  const double moved = std::max({s.inflow, s.outflow, std::abs(s.wall), std::abs(s.source), std::abs(s.decay)});
  line.imbalance = moved > 0.0 ? std::abs(s.inflow - s.outflow - s.wall + s.source - s.decay) / moved : 0.0;
  return line;
}

/// With the range of the data, in which the solution lies where nothing is made: concentrations of ends and walls.
void note(const ComponentLine& line, double inlet, const ComponentDeck& deck, const std::vector<SurfaceLaw>& laws,
          const CarriedBy& flow, ComponentResult& c) {
  c.least = line.least;
  c.largest = line.largest;
  c.low = line.least;
  c.high = line.largest;
  std::vector<double> given;
  if (!flow.periodic && (flow.flows || deck.inlet_given)) given.push_back(value_at(deck.inlet, 0.0));
  if (!flow.periodic && deck.outlet) given.push_back(value_at(*deck.outlet, 0.0));
  if (deck.decay > 0.0) given.push_back(0.0);
  bool made = deck.source != 0.0;
  for (const SurfaceLaw& law : laws) {
    if (law.rate > 0.0) given.push_back(law.equilibrium);
    made = made || law.flux != 0.0;
  }
  if (!made && !given.empty()) {
    c.low = *std::ranges::min_element(given);
    c.high = *std::ranges::max_element(given);
  }
  c.taken_below_zero = made && !given.empty() && *std::ranges::min_element(given) >= 0.0 && line.least < 0.0;
  c.imbalance = line.imbalance;
  c.inlet = inlet;
  c.moments_wanted = false;
}

/// From where the value of a VoF stands to its wall, along the normal, in its h.
double distance_to_wall(const LevelGeometry& level, std::int64_t row) {
  const VofMoments& m = level.moments[row];
  const double size = norm(m.wall);
  const bool at_centre = level.centers.size() == 0 || level.centers[row].inside;
  const Vec3 from = at_centre ? Vec3{} : m.centroid;
  return size > 0.0 ? std::max(0.0, dot(from - m.wall_centroid, m.wall) / size) : 0.0;
}

std::string profiles(const JobContext& run, const SteadyFlow& flow, const std::vector<Solved>& solved) {
  std::vector<std::span<const double>> values;
  for (const Solved& s : solved) values.emplace_back(s.values);
  return profile_header(run, "") + profile_lines(run, *flow.grid, flow.by.axis, values, "");
}

}  // namespace

WallMap wall_map(const JobContext& run, const std::vector<WallPlace>& places, const ComponentDeck& component,
                 const std::vector<SurfaceLaw>& laws, std::span<const double> flux, std::span<const double> values) {
  WallMap map;
  const auto without_rate = [&](const WallPlace& p, double out) {
    const double value = values[p.unknown];
    if (out == 0.0 || component.diffusivity == 0.0) return value;
    const double h = Composite::width(p.level) * run.grid.cell_width();
    return value - out * h * distance_to_wall(run.geometry().levels[p.level], p.row) / component.diffusivity;
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const WallPlace& p = places[i];
    double area = 0.0, rate = 0.0, rest = 0.0;  // flux = rate c + rest
    for_each_mineral(run.geometry().levels[p.level], p.row, [&](MineralNumber m, double a) {
      const SurfaceLaw& law = laws.at(m);
      area += a;
      rate += a * law.rate;
      rest += a * (law.flux - law.rate * law.equilibrium);
    });
    map.flux.push_back(static_cast<float>(flux[i]));
    map.concentration.push_back(
        static_cast<float>(rate > 0.0 ? (flux[i] * area - rest) / rate : without_rate(p, flux[i])));
  }
  return map;
}

std::optional<WallResult> sum_walls(const JobContext& run, const std::vector<WallPlace>& places, const WallMap& map,
                                    const std::vector<SurfaceLaw>& laws, double loss, double mean) {
  WallResult wall;
  const double h2 = run.grid.cell_width() * run.grid.cell_width();
  const auto& minerals = run.geometry().report.minerals;
  double sum = 0.0;
  for (std::size_t m = 0; m < minerals.size(); ++m) {
    const SurfaceLaw& law = laws[m];
    if (!law.acts()) continue;
    const double area = minerals[m].area * h2;
    wall.area += area;
    sum += law.rate * area;
    if (law.rate > 0.0) wall.order = law.order;
    wall.well_mixed += area * law.at(mean).rate;
  }
  std::array<double, 2> at{};  // area and area x concentration of walls with a law
  for (std::size_t i = 0; i < places.size(); ++i) {
    double area = 0.0;
    for_each_mineral(run.geometry().levels[places[i].level], places[i].row,
                     [&](MineralNumber m, double a) { area += laws.at(m).acts() ? a : 0.0; });
    at[0] += area;
    at[1] += area * map.concentration[i];
  }
  run.comm.sum(std::span(at));
  if (wall.area == 0.0) return {};
  wall.rate = sum / wall.area;
  wall.loss = loss;
  wall.concentration = at[0] > 0.0 ? at[1] / at[0] : no_number;
  wall.to_wall = loss / (wall.area * (mean - wall.concentration));
  return wall;
}

std::vector<MineralFlux> mineral_fluxes(const JobContext& run, const std::vector<WallPlace>& places, const WallMap& map,
                                        const std::vector<SurfaceLaw>& laws, std::span<const double> flux) {
  std::vector<MineralFlux> all;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const WallPlace& p = places[i];
    const double h = Composite::width(p.level);
    const std::size_t first = all.size();
    double sum = 0.0;
    for_each_mineral(run.geometry().levels[p.level], p.row, [&](MineralNumber m, double a) {
      if (!laws.at(m).acts()) return;
      all.push_back({p.level, p.row, m, a * h * h, laws.at(m).at(map.concentration[i]).rate});
      sum += all.back().area * all.back().flux;
    });
    // Their sum is the flux of the solution, which the laws at a rounded concentration miss.
    const double whole = p.area * flux[i];
    for (std::size_t k = first; k < all.size(); ++k) all[k].flux *= sum != 0.0 ? whole / sum : 0.0;
  }
  return all;
}

void leave_wall(const JobContext& run, const std::vector<WallPlace>& places,
                const std::vector<std::vector<SurfaceLaw>>& laws, std::vector<WallMap> maps, JobResult& result) {
  const bool any = std::ranges::any_of(laws, [](const auto& of_one) {
    return std::ranges::any_of(of_one, [](const SurfaceLaw& l) { return l.acts(); });
  });
  if (!any || !run.config.output.wall || !run.services.files.written()) return;
  Surface surface = wall_surface(run.geometry(), places, run.grid.cell_width());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::string& name = run.config.transport.components[i].name;
    surface.arrays.push_back({"flux_" + name, std::move(maps[i].flux)});
    surface.arrays.push_back({concentration_name(name), std::move(maps[i].concentration)});
  }
  write_surface(run.comm, run.services.files.path("wall.vtp"), surface);
  result.files.push_back({"wall.vtp", "the wall as a surface: flux into it and concentration at it, for ParaView"});
}

namespace {

/// For a solve that has failed: where nothing diffuses through the ends, a flow has to hold the level of the
/// concentration; one that is this slow does not.
std::string advice_on_slow_flow(const JobContext& run, const SteadyFlow& flow, const ComponentDeck& component) {
  constexpr double slow = 1e-3;
  const double peclet = std::abs(flow.by.darcy_velocity) * run.grid.size[flow.by.axis] / component.diffusivity;
  if (!flow.by.flows || component.inlet_kind == EndKind::value || peclet > slow) return {};
  return fmt::format(
      "\n  The flow is slow against diffusion: over the length of the domain its Péclet number is {:.1e}. Give "
      "transport.component.inlet_kind = \"value\" or a faster flow",
      peclet);
}

/// Each component by itself.
std::vector<Solved> solve_components(const JobContext& run, SteadyFlow& flow,
                                     const std::vector<ScalarComponent>& components,
                                     const std::vector<std::vector<SurfaceLaw>>& laws,
                                     const std::vector<WallPlace>& places, SolveProgress& progress) {
  const std::vector<ComponentDeck>& deck = run.config.transport.components;
  SolveKind<Solved> kind{.job = "transport"};
  kind.rows = [](const Solved& s) { return std::vector{s.report}; };
  std::vector<SteadySolve<Solved>> list;
  for (std::size_t i = 0; i < components.size(); ++i)
    list.push_back({"transport " + components[i].name, [&, i] {
                      const ScaledLaws of_one = scaled(laws[i], deck[i], deck[i].diffusivity / run.grid.cell_width());
                      try {
                        return SteadyComponent(run, components[i], flow, of_one, progress).solve(places);
                      } catch (const Error& e) {  // the same on all ranks
                        throw Error(e.what() + advice_on_slow_flow(run, flow, deck[i]));
                      }
                    }});
  return run_solves(run, kind, progress, list);
}

}  // namespace

JobResult steady_transport(const JobContext& run) {
  const TransportDeck& deck = run.config.transport;
  SteadyFlow flow{carried_by(run), {}, {}, {}};
  const auto components = scalar_components(run, flow.by, wall_laws(run), initial_values(run, flow.by.outlet()));
  make_continuous(run, components.at(0), flow);
  const auto laws = surface_laws(run);
  const std::vector<WallPlace> places = wall_places(run.geometry(), *run.ground->numbering());
  SolveProgress progress(run, "transport", deck.tolerance);
  TransportResult all = transport_numbers(run, flow.by);
  all.steady = true;
  all.continuity_before = flow.continuity.before;
  all.continuity_after = flow.continuity.after;
  all.backflow = flow.in > 0.0 ? flow.back / flow.in : 0.0;
  TransportLine& line = all.states.emplace_back();
  const std::vector<Solved> solved = solve_components(run, flow, components, laws, places, progress);
  std::vector<WallMap> maps;
  for (std::size_t i = 0; i < solved.size(); ++i) {
    const Solved& s = solved[i];
    line.components.push_back(line_of(run, s));
    note(line.components.back(), flow.by.flows && flow.by.outlet() >= 0 ? s.inflow / flow.in : no_number,
         deck.components[i], laws[i], flow.by, all.components[i]);
    maps.push_back(wall_map(run, places, deck.components[i], laws[i], s.wall_flux, s.values));
    if (!s.at_wall.empty()) maps.back().concentration.assign(s.at_wall.begin(), s.at_wall.end());
    if (run.services.exchanges.is_taken(ExchangeName::wall_rates))
      run.services.exchanges.wall_rates[deck.components[i].name] =
          mineral_fluxes(run, places, maps.back(), laws[i], s.wall_flux);
    all.components[i].wall =
        sum_walls(run, places, maps.back(), laws[i], line.components.back().wall, line.components.back().mean);
  }
  JobResult result;
  result.text = transport_text(all);
  result.headline = transport_headline(all);
  result.json = transport_json(all);
  result.solves = progress.rows();
  for (const ComponentResult& c : all.components)
    result.balances.push_back({fmt::format("transport_{}_relative", c.name), c.imbalance});
  result.warnings = transport_warnings(all);
  result.warnings.add(absent_walls(run));
  for (std::size_t i = 0; i < solved.size(); ++i)
    result.components.push_back(concentration_field(run, deck.components[i].name, solved[i].values));
  if (!run.services.solves_in_a_step)
    draw_transport(run.comm, result.json, view_of(run, result.components), result.figures);
  if (std::ranges::count(run.config.output.plot, PlotField::concentration) == 0) result.components.clear();
  run.services.files.write(run.comm, profiles_csv, profiles(run, flow, solved));
  result.files.push_back({profiles_csv, "mean concentrations along the axis"});
  leave_wall(run, places, laws, std::move(maps), result);
  return result;
}

}  // namespace karst
