// SPDX-License-Identifier: BSD-3-Clause
// Job `diffusion`: effective diffusivity, formation factor and tortuosity of the pore space.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "app/job/job.hpp"
#include "app/job/steady_solves.hpp"
#include "app/job/wider_cells.hpp"
#include "app/output/field_view.hpp"
#include "app/output/page_values.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/quantity.hpp"
#include "app/output/vof_values.hpp"
#include "base/comm/timer.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "page/page_text.hpp"
#include "page/plane_picture.hpp"
#include "solvers/elliptic/row_counts.hpp"
#include "transport/effective_diffusivity.hpp"

namespace karst {

/// What is kept of a finished solve, beside its field and its repairs.
void each_quantity(Of<DiffusionColumn> auto& c, auto&& f) {
  f(Quantity{"axis"}, c.axis);
  f(Quantity{"periodic"}, c.periodic);
  f(Quantity{"connected"}, c.connected);
  f(Quantity{"tensor"}, c.tensor);
  f(Quantity{"flux_in"}, c.flux_in);
  f(Quantity{"flux_out"}, c.flux_out);
  f(Quantity{"formation_factor"}, c.formation_factor);
  f(Quantity{"tortuosity"}, c.tortuosity);
  f(Quantity{"unresolved"}, c.unresolved);
  f(Quantity{"method"}, c.solve.method);
  f(Quantity{"preconditioner"}, c.solve.preconditioner);
  f(Quantity{"iterations"}, c.solve.iterations);
  f(Quantity{"residuals"}, c.solve.residuals);
  f(Quantity{"true_residual"}, c.solve.true_residual);
  f(Quantity{"imbalance"}, c.solve.imbalance);
  f(Quantity{"singular_pores"}, c.solve.singular_pores);
  f(Quantity{"seconds"}, c.solve.seconds);
  f(Quantity{"setup_seconds"}, c.solve.setup_seconds);
}

namespace {

using Columns = std::vector<DiffusionColumn>;

/// Tolerance of solves for an estimate, which needs two digits.
constexpr double repeated_tolerance = 1e-4;

/// Errors of discretisation, of each column.
struct Trust {
  bool wanted = false;  ///< the deck asks for them
  std::string none{};   ///< why there are none
  std::vector<Extrapolated> of;
  Messages notes{};  ///< why solves failed, if any did
};

const char* name_of(const DiffusionColumn& c) { return axis_names[c.axis]; }

/// Entries that would need the solve of another axis are not known.
std::string known(double value, const char* form, const char* otherwise) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : otherwise;
}

/// Rows e, columns d; null in the columns of axes that were not asked for.
Json tensor_json(const Columns& columns, double factor) {
  Json rows = Json::array();
  for (int e = 0; e < 3; ++e) {
    Json row = Json::array({nullptr, nullptr, nullptr});
    for (const DiffusionColumn& c : columns) row[c.axis] = Json(factor * c.tensor[e]);
    rows.push_back(row);
  }
  return rows;
}

template <class F>
Json per_axis_json(const Columns& columns, F&& value) {
  Json all = Json::array({nullptr, nullptr, nullptr});
  for (const DiffusionColumn& c : columns) all[c.axis] = value(c);
  return all;
}

/// How the rows next to walls were made.
Json repairs_json(const RowCounts& counts) {
  Json json;
  for_each_count(counts, [&](const char* name, std::int64_t n) { json[name] = n; });
  return json;
}

/// The deck asked for the axis.
bool is_asked(const Json& summary, std::size_t axis) {
  return std::ranges::any_of(summary.at("diffusion"), [&](const Json& c) { return c.at("axis") == axis_names[axis]; });
}

/// What the deck asks for along the axis; nothing where nothing is solved.
void add_estimate(const Extrapolated& found, Json& one) {
  one["relative_diffusivity_error"] = found.error;
  one["relative_diffusivity_error_basis"] =
      found.basis == ErrorBasis::none ? Json(nullptr) : Json(basis_text(found.basis));
  one["relative_diffusivity_extrapolated"] = found.limit ? Json(*found.limit) : Json(nullptr);
}

Json json_of(const Columns& columns, const Trust& trust, double diffusivity) {
  Json json;
  json["tensor_order"] = {"component", "drive"};
  json["diffusivity_m2_s"] = diffusivity;
  json["effective_diffusivity_m2_s"] = tensor_json(columns, diffusivity);
  json["relative_diffusivity"] = tensor_json(columns, 1.0);
  json["formation_factor"] = per_axis_json(columns, [](const DiffusionColumn& c) { return Json(c.formation_factor); });
  json["tortuosity"] = per_axis_json(columns, [](const DiffusionColumn& c) { return Json(c.tortuosity); });
  json["diffusion"] = Json::array();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const DiffusionColumn& c = columns[i];
    Json one{{"axis", name_of(c)}, {"boundaries", c.periodic ? "periodic" : "concentrations"}};
    if (c.connected) {
      if (trust.wanted) add_estimate(trust.of[i], one);
      one["iterations"] = c.solve.iterations;
      one["relative_residual"] = c.solve.true_residual;
      one["imbalance"] = c.imbalance();
      one["repairs"] = repairs_json(c.repairs);
    } else if (c.unresolved) {
      one["unresolved"] = true;
    }
    json["diffusion"].push_back(one);
  }
  return json;
}

/// No pores have a tortuosity below 1 (D_eff <= porosity D): what the cells make of them is then that far off.
/// Source: Wiener, Abh. Math.-Phys. Kl. Kgl. Saechs. Ges. Wiss. 32 (1912) 509.
bool is_possible(double tortuosity) {
  constexpr double of_solves = 1e-6;
  return tortuosity >= 1.0 - of_solves;
}
std::string tortuosity_text(double tortuosity, int digits) {
  return is_possible(tortuosity) ? fmt::format("{:.{}g}", tortuosity, digits) : "1 (not resolved)";
}

/// Estimated error over what it is an error of.
std::string error_text(double relative) {
  return std::isfinite(relative) ? fmt::format("{:.2g} %", 100.0 * relative) : "unknown";
}

std::string text_of(const Columns& columns, const Trust& trust, double diffusivity) {
  std::string text = "Effective diffusivity, per cross-section of the whole sample\n";
  const auto row = [&](const std::string& name, auto&& value) {
    text += fmt::format("  {:<34}", name);
    for (const DiffusionColumn& c : columns) text += fmt::format("{:>14}", value(c));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  using Column = const DiffusionColumn&;
  row("gradient along", [](Column c) { return std::string(name_of(c)); });
  row("effective diffusivity [m2/s]",
      [&](Column c) { return known(diffusivity * c.tensor[c.axis], "{:.5g}", "not resolved"); });
  row("  over that of the fluid", [](Column c) { return known(c.tensor[c.axis], "{:.6g}", "not resolved"); });
  for (int e = 0; e < 3; ++e)
    row(fmt::format("  mean flux along {}, likewise", axis_names[e]),
        [e](Column c) { return e == c.axis ? std::string("") : known(c.tensor[e], "{:.3g}", "-"); });
  const auto no_path = [](Column c) { return std::string(c.unresolved ? "not resolved" : "no path"); };
  row("formation factor",
      [&](Column c) { return c.connected ? fmt::format("{:.6g}", c.formation_factor) : no_path(c); });
  row("tortuosity", [&](Column c) { return c.connected ? tortuosity_text(c.tortuosity, 5) : no_path(c); });
  if (trust.wanted) {
    const auto of = [&](Column c) -> const Extrapolated& {
      return trust.of[static_cast<std::size_t>(&c - columns.data())];
    };
    row("estimated error (discretisation)",
        [&](Column c) { return c.connected ? error_text(of(c).error / c.tensor[c.axis]) : std::string("-"); });
    row("  computed from", [&](Column c) { return basis_text(of(c).basis); });
    row("  over that of the fluid, at zero width",
        [&](Column c) { return of(c).limit ? fmt::format("{:.6g}", *of(c).limit) : std::string("-"); });
    if (!trust.none.empty())
      text += "  no error estimate: " + trust.none + '\n';
    else if (std::ranges::any_of(columns, [&](Column c) { return c.connected && std::isnan(of(c).error); }))
      text +=
          "  (unknown: nothing percolates along it on cells twice as wide, or fewer than 16 of them are left there; an "
          "image needs 32 voxels)\n";
  }
  row("inflow - outflow, relative", [](Column c) { return fmt::format("{:.1e}", c.imbalance()); });
  return text;
}

std::string headline_of(const Columns& columns, const Trust& trust) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const DiffusionColumn& c = columns[i];
    if (!c.connected) {
      text += fmt::format("Effective diffusivity along {}: {}\n", name_of(c),
                          c.unresolved ? "unknown (these cells do not resolve the pores that percolate along it)"
                                       : "0 (no pore percolates along it)");
      continue;
    }
    text += fmt::format("Formation factor along {}: {:.4g}, tortuosity {}", name_of(c), c.formation_factor,
                        tortuosity_text(c.tortuosity, 4));
    if (trust.wanted)
      text +=
          fmt::format(", estimated error of the discretisation {}", error_text(trust.of[i].error / c.tensor[c.axis]));
    text += '\n';
  }
  return text;
}

/// One number of each axis in summary.json; null: no path.
template <class F>
std::string listed(const Json& summary, const char* key, F&& text) {
  std::string all;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!is_asked(summary, d)) continue;
    const Json& value = summary.at(key).at(d);
    all += each_html(fmt::format("{}\u00a0{}", axis_names[d], value.is_null() ? "–" : text(value.get<double>())));
  }
  return all;
}

std::vector<PageTile> tiles(const Json& summary) {
  Json diagonal = Json::array();
  for (std::size_t d = 0; d < 3; ++d) diagonal.push_back(summary.at("relative_diffusivity").at(d).at(d));
  const auto digits = [](int n) { return [n](double value) { return number_text(value, n); }; };
  const Json whole{{"diffusion", summary.at("diffusion")}, {"diagonal", diagonal}};
  std::vector<PageTile> all{
      {"Formation factor", listed(summary, "formation_factor", digits(4)),
       "D₀ / D<sub>eff</sub>; the same for the conductivity of a brine in an insulating rock"},
      {"D<sub>eff</sub> / D₀", listed(whole, "diagonal", digits(4)),
       fmt::format("D₀ = {:.3g} m²/s; per cross-section of the whole sample", number(summary, "diffusivity_m2_s"))},
      {"Tortuosity of the diffusion", listed(summary, "tortuosity", [](double t) { return tortuosity_text(t, 3); }),
       "connected porosity × formation factor"}};
  if (!summary.contains("flow")) all.insert(all.begin() + 1, porosity_tile(summary));  // else it stands there
  return all;
}

std::string solves_card(const Json& summary) {
  ColumnTable table;
  for (const Json& c : summary.at("diffusion")) table.add_column("gradient along " + axis_name(c), c);
  const auto row = [&](const char* name, auto&& value) {
    table.row(name, [&](const Json& c) { return c.contains("iterations") ? value(c) : "–"; });
  };
  row("boundaries", [](const Json& c) {
    return std::string(c.at("boundaries") == "periodic"
                           ? "periodic"
                           : "concentrations 1 and 0 on the inlet and outlet faces, lateral faces closed");
  });
  row("iterations", [](const Json& c) { return fmt::format("{}", c.at("iterations").get<int>()); });
  row("relative residual [-]", [](const Json& c) { return fmt::format("{:.1e}", number(c, "relative_residual")); });
  row("inflow − outflow, relative [-]", [](const Json& c) { return fmt::format("{:.1e}", number(c, "imbalance")); });
  const auto has_error = [](const Json& c) { return c.contains("relative_diffusivity_error"); };
  if (std::ranges::any_of(summary.at("diffusion"), has_error)) {
    row("estimated error of the discretisation [%]", [&](const Json& c) -> std::string {
      const auto d = static_cast<std::size_t>(axis_of(c));
      const Json &error = c.at("relative_diffusivity_error"), &value = summary.at("relative_diffusivity").at(d).at(d);
      return error.is_null() ? "unknown" : fmt::format("{:.2g}", 100.0 * error.get<double>() / value.get<double>());
    });
    row("computed from", [](const Json& c) {
      const Json& basis = c.at("relative_diffusivity_error_basis");
      return basis.is_null() ? std::string("–") : escape_html(basis.get<std::string>());
    });
    row("D<sub>eff</sub> / D₀ extrapolated to zero cell width [-]",
        [](const Json& c) { return number_or_dash(c.at("relative_diffusivity_extrapolated"), 5); });
  }
  return card("Diffusion: solves", table.html());
}

PagePart page_of(const Json& summary, const Figures& figures) {
  PagePart page;
  if (!summary.contains("diffusion")) return page;
  page.tiles = tiles(summary);
  std::vector<std::vector<std::string>> tensor{{"mean flux along"}};
  for (std::size_t e = 0; e < 3; ++e) tensor.push_back({axis_names[e]});
  PictureRow pictures(figures);
  for (std::size_t d = 0; d < 3; ++d) {
    if (!is_asked(summary, d)) continue;
    tensor[0].push_back(fmt::format("gradient along {}", axis_names[d]));
    for (std::size_t e = 0; e < 3; ++e)
      tensor[e + 1].push_back(number_or_dash(summary.at("effective_diffusivity_m2_s").at(e).at(d)));
    pictures.add(fmt::format("diffusion {}", axis_names[d]));
  }
  page.cards = {card("Effective diffusivity [m²/s]", html_table(tensor),
                     "Row i, column j: mean flux along i over the whole sample, solid included, per mean gradient "
                     "along j. Off-diagonal entries: the sample deflects part of the flux sideways.")};
  pictures.add_card(
      "Concentration",
      "Planes through the middle; gray: solid, or a removed pore. The concentration falls by 1 along the axis.",
      page.cards);
  page.cards.push_back(solves_card(summary));
  return page;
}

void draw(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures) {
  if (!summary.contains("diffusion")) return;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto component = view.find(fmt::format("concentration_{}", axis_names[d]));
    if (!component) continue;
    const PlaneValues plane =
        middle_plane_to_walls(comm, view, {&*component, 1}, across(view.cells, static_cast<int>(d)));
    if (comm.rank() != 0) continue;
    PlaneLook look;
    look.quantity = "concentration [-]";
    look.cell_width = view.cell_width;
    look.caption =
        fmt::format("gradient along {}, plane in the middle of {}{}", axis_names[d], axis_names[plane.direction],
                    view.boxes.size() > 1 ? "; refined cells as means over those of level 0" : "");
    figures[fmt::format("diffusion {}", axis_names[d])] = plane_figure_to_walls(plane, look);
  }
}

/// @param percolates  between the two faces of a period, which need not be along all of them
std::vector<std::string> warnings_of(const Columns& columns, const std::array<bool, 3>& percolates, double tolerance) {
  Messages all;
  constexpr double large = 1e-3;
  for (const DiffusionColumn& c : columns) {
    if (!c.connected && c.periodic && percolates[static_cast<std::size_t>(c.axis)])
      all.add(
          "diffusion {}: the effective diffusivity is below {:.0e} of that of the fluid, which diffusion.tolerance = "
          "{:g} "
          "cannot tell from 0: either no pore leads from period to period along it, or the tolerance is too large; "
          "it is given as 0",
          name_of(c), 10.0 * tolerance, tolerance);
    else if (!c.connected && c.unresolved)
      all.add(
          "diffusion {0}: pores percolate through the sample along {0}, but through places so narrow that no cell "
          "centre lies in them: the effective diffusivity is not 0, but not known, and nothing was solved; use finer "
          "cells",
          name_of(c));
    else if (!c.connected)
      all.add(
          "diffusion: no pore percolates along {}: the effective diffusivity is 0 there, and there is no formation "
          "factor",
          name_of(c));
    else if (c.imbalance() > large)
      all.add("diffusion {}: inflow and outflow differ by {:.1e}; use a smaller diffusion.tolerance", name_of(c),
              c.imbalance());
    if (!c.connected) continue;
    if (c.unresolved)
      all.add(
          "diffusion {0}: no pore that these cells resolve percolates along {0}; species diffuse through throats that "
          "hold no cell centre, and the tortuosity is that of all pores. Finer cells are needed for a formation factor "
          "that can be relied on",
          name_of(c));
    if (!is_possible(c.tortuosity))
      all.add(
          "diffusion {}: the tortuosity is {:.5g}, and none is below 1: the pores are too coarse for these cells, and "
          "formation factor and effective diffusivity are off by at least {:.2g} %; use finer cells",
          name_of(c), c.tortuosity, 100.0 * (1.0 - c.tortuosity));
  }
  return all;
}

std::vector<JobComponent> components_of(const JobContext& run, const std::shared_ptr<const Columns>& columns) {
  const std::shared_ptr<const JoinedCells>& joined = run.ground->joined();
  std::vector<JobComponent> components;
  for (std::size_t i = 0; i < columns->size(); ++i) {
    if (!(*columns)[i].connected) continue;
    const auto& own = (*columns)[i].concentration;
    components.push_back({PlotField::concentration, fmt::format("concentration_{}", name_of((*columns)[i])),
                          [joined, columns, i, remote = joined->remote<double>([&](std::size_t v) { return own[v]; })](
                              int level, std::int64_t box, std::span<float> cells) {
                            const auto& values = (*columns)[i].concentration;
                            fill_cells(*joined, level, box, cells, [&](std::size_t v) {
                              return v < values.size() ? values[v] : remote[v - values.size()];
                            });
                          },
                          run.ground});
  }
  return components;
}

SolveRecord record_of(const Comm& comm, const DiffusionColumn& c) {
  Json state = json_of(c, shown::record);
  state["repairs"] = repairs_json(c.repairs);
  state["seconds"] = comm.max(c.solve.seconds);
  state["setup_seconds"] = comm.max(c.solve.setup_seconds);
  const Json result{{"formation_factor", state.at("formation_factor")},
                    {"iterations", c.solve.iterations},
                    {"relative_residual", c.solve.true_residual},
                    {"seconds", state.at("seconds")}};
  return {result, state};
}

/// Without its field.
DiffusionColumn column_of(const Json& state) {
  DiffusionColumn c;
  take_value(state, c);
  for_each_count(c.repairs, [&](const char* name, std::int64_t& n) { n = state.at("repairs").at(name); });
  if (!c.connected) c.formation_factor = c.tortuosity = std::numeric_limits<double>::infinity();
  c.solve.name = diffusion_solve_name(c.axis);
  return c;
}

Columns columns_of(const JobContext& run, const std::shared_ptr<const Composite>& grid, SolveProgress& progress) {
  const DiffusionWatch watch = [&](const std::string& solve, int n, double residual) {
    progress.iteration(solve, n, residual);
  };
  SolveKind<DiffusionColumn> kind{.job = "diffusion"};
  kind.rows = [](const DiffusionColumn& c) { return std::vector{c.solve}; };
  kind.depends = run.services.solved.dependencies(kind.job, run.geometry(), run.grid.cell_width());
  kind.places = places_of(run.geometry(), grid->numbering());
  kind.record = [&](const DiffusionColumn& c) { return record_of(run.comm, c); };
  kind.restore = [&](const Json& state) {
    DiffusionColumn column = column_of(state);
    column.concentration = Array<double>(grid->numbering().n_own(), Purpose::fields);
    return column;
  };
  kind.fields = [](DiffusionColumn& c) { return std::vector{SolveField{"concentration", 1, c.concentration.span()}}; };
  DiffusionSolver solver(grid, run.config.diffusion, watch);
  std::vector<SteadySolve<DiffusionColumn>> list;
  for (const int axis : run.config.diffusion.axes)
    list.push_back({diffusion_solve_name(axis), [&, axis] { return solver.solve(axis); }, !solver.solves(axis)});
  Columns columns = run_solves(run, kind, progress, list);
  solver.complete(columns);
  return columns;
}

/// What the columns along these axes are on other cells: of those that percolate there and whose solves end.
/// Collective.
std::vector<NumberedValue> values_on(const JobContext& run, std::vector<int> axes, const WiderCells& wide,
                                     SolveProgress& progress, Messages& notes) {
  DiffusionOptions options = run.config.diffusion;
  options.tolerance = std::max(options.tolerance, repeated_tolerance);
  const Source source = run.again({wide.cells});
  const auto ground = std::make_shared<const Ground>(
      run.comm, build_geometry(run.comm, source.grid, *source.level_set, run.config.geometry.keep));
  std::vector<NumberedValue> values;
  const auto is_too_short = [&](int axis) {
    options.axes = {axis};
    return !mistakes(options, ground->geometry()).empty();
  };
  std::erase_if(axes, is_too_short);
  if (axes.empty()) return values;
  try {
    const DiffusionWatch watch = [&](const std::string& solve, int n, double residual) {
      progress.iteration(solve + wide.where, n, residual);
    };
    options.axes = axes;
    DiffusionSolver solver(ground->composite(), options, watch);
    for (const int axis : axes) {
      if (!solver.solves(axis)) continue;
      DiffusionColumn column = solver.solve(axis);
      column.solve.name += wide.where;
      progress.solved(column.solve);
      if (column.connected) values.push_back({axis, column.tensor[axis]});
    }
  } catch (const Error& e) {  // the same on all ranks; no estimate is worth the results
    notes.add("diffusion{}: {}", wide.where, e.what());
  }
  return values;
}

/// Collective.
Trust estimate(const JobContext& run, const Columns& columns, SolveProgress& progress) {
  const Extrapolated unknown{no_number, {}, ErrorBasis::none};
  Trust trust{.wanted = run.config.diffusion.estimate_error, .of = std::vector(columns.size(), unknown)};
  if (!trust.wanted) return trust;
  const Timer timer("error estimate");
  std::vector<NumberedValue> values;
  for (const DiffusionColumn& c : columns)
    if (c.connected && !c.unresolved) values.push_back({c.axis, c.tensor[c.axis]});
  if (run.sample || run.flagged()) {
    trust.none = "the domain is not that of the deck alone: reservoirs, or a grid that was refined while solving";
    return trust;
  }
  const auto found = estimate_on_wider_cells(run, values, [&](const std::vector<int>& axes, const WiderCells& wide) {
    return values_on(run, axes, wide, progress, trust.notes);
  });
  if (!found) {
    trust.none = no_wider_grid(run.grid.cells);
    return trust;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    trust.of[static_cast<std::size_t>(std::ranges::find(columns, values[i].number, &DiffusionColumn::axis) -
                                      columns.begin())] = (*found)[i];
  return trust;
}

JobResult run_diffusion(const JobContext& context) {
  const DiffusionOptions& options = context.config.diffusion;
  SolveProgress progress(context, "diffusion", options.tolerance);
  const std::shared_ptr<const Composite>& grid = context.ground->composite();
  const auto columns = std::make_shared<const Columns>(columns_of(context, grid, progress));
  Trust trust = estimate(context, *columns, progress);
  JobResult result;
  result.text = text_of(*columns, trust, options.diffusivity);
  result.headline = headline_of(*columns, trust);
  result.json = json_of(*columns, trust, options.diffusivity);
  result.solves = progress.rows();
  for (const DiffusionColumn& c : *columns)
    if (c.connected) result.balances.push_back({fmt::format("diffusion_{}_relative", name_of(c)), c.imbalance()});
  result.warnings = std::move(trust.notes);
  result.warnings.add(warnings_of(*columns, context.geometry().report.percolates, options.tolerance));
  const std::vector<JobComponent> components = components_of(context, columns);
  draw(context.comm, result.json, view_of(context, components), result.figures);
  if (std::ranges::count(context.config.output.plot, PlotField::concentration) > 0) result.components = components;
  return result;
}

/// Bytes of the set-up, which takes more than the solves, and iterations per digit: docs/performance.md.
JobPlan plan_diffusion(const Config& config, const GridOptions& grid) {
  const auto n = static_cast<double>(config.diffusion.axes.size());
  const auto iterations = [n](double tolerance) { return n * 1.5 * -std::log10(tolerance); };
  JobPlan all;
  all.grids.push_back(
      {.name = "", .iterations = iterations(config.diffusion.tolerance), .solves = static_cast<int>(n)});
  if (config.diffusion.estimate_error)
    for (const Index& cells : wider_grids(grid.cells, config.geometry.copies)) {
      const double width = static_cast<double>(grid.cells[0]) / cells[0];
      all.grids.push_back({.name = fmt::format("cells {:.3g} times as wide", width),
                           .width = width,
                           .builds = true,
                           .iterations = iterations(std::max(config.diffusion.tolerance, repeated_tolerance)),
                           .solves = static_cast<int>(n)});
    }
  all.solve = {250.0, 1030.0, 0.0};
  all.kept = sizeof(double) * n;
  all.more_work = 2.0;
  return all;
}

JobTrial try_diffusion(const std::shared_ptr<const Ground>& ground) {
  DiffusionOptions options;
  options.axes = {0};
  options.tolerance = 1e-4;
  const Columns columns = effective_diffusivity(ground->composite(), options);
  const SolveReport& solve = columns.at(0).solve;
  return {solve.setup_seconds, solve.seconds, solve.iterations};
}

}  // namespace

Job diffusion_job() {
  return {.word = job_word("diffusion"),
          .mistakes = [](const JobContext& context) { return mistakes(context.config.diffusion, context.geometry()); },
          .start = [](const JobContext& context) { return one_step(context, run_diffusion); },
          .draw = draw,
          .page = page_of,
          .cost = {.plan = plan_diffusion,
                   .trial = try_diffusion,
                   .usual_pace = {.setup = 2.1e-6, .iteration = 0.12e-6},
                   .n_fields = [](const Config& config,
                                  PlotField) { return static_cast<int>(config.diffusion.axes.size()); }},
          .through_petsc = [](const Config&) { return true; }};
}

}  // namespace karst
