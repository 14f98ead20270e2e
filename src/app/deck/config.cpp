// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "app/deck/reactive_plan.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

namespace {

void read_plot_extent(Reader& in, OutputOptions& options) {
  constexpr double largest_length = 1e6;
  in.vec3("output.region_lo", options.region_lo, "m",
          "plotfiles hold only the region from this corner to output.region_hi, widened to whole boxes (grid.box x "
          "output.coarsening cells); from the low corner of the sample; both 0: the whole domain",
          -largest_length, largest_length);
  in.vec3("output.region_hi", options.region_hi, "m", "high corner of that region", -largest_length, largest_length);
  options.region_given = options.region_lo != Vec3{} || options.region_hi != Vec3{};
  for (int d = 0; d < 3 && options.region_given; ++d)
    if (options.region_hi[d] <= options.region_lo[d])
      in.mistake("output.region_hi", "{:g} m along {} is not above output.region_lo, {:g} m", options.region_hi[d],
                 axis_names[d], options.region_lo[d]);
  in.integer("output.coarsening", options.coarsening, "cells",
             "each cell of plotfiles holds the means over so many cells of the grid along each edge, weighted by their "
             "fluid: 1, 2, 4 or 8, by which the cells of the domain can be divided, and at most half of grid.box; on a "
             "refined grid on each level",
             1, 8);
  if (const int n = options.coarsening; (n & (n - 1)) != 0)
    in.mistake("output.coarsening", "{} is not possible; allowed: 1, 2, 4, 8", n);
  in.integer("output.compression", options.compression, "",
             "effort of the compression of plotfiles, which loses nothing: 0 = none, the fastest; 1 to 9 = smaller and "
             "slower; values are of single precision",
             0, 9);
}

void read_output(Reader& in, OutputOptions& options) {
  in.changes_answers_of("output", {"flow in time", "transport", "walls"});  // what they have recorded
  for (const char* key :
       {"output.directory", "output.plot", "output.region_lo", "output.region_hi", "output.coarsening",
        "output.compression", "output.yt", "output.files", "output.wall", "output.geometry"})
    in.changes_answers_of(key, {});
  in.text("output.directory", options.directory,
          "directory of the results, relative to the working directory; --out on the command line overrides it");
  std::vector<std::string> words;
  for (const PlotField field : options.plot)
    for (const PlotWord& w : plot_words())
      if (w.field == field) words.emplace_back(w.word);
  std::string help = "fields of the plotfile (default: also velocity, pressure and concentration, where computed):";
  for (const PlotWord& w : plot_words()) {
    help += help.ends_with(':') ? " " : "; ";
    help += std::string(w.word) + " = " + std::string(w.help);
  }
  in.texts("output.plot", words, help);
  options.plot = read_plot_fields(in, words);
  read_plot_extent(in, options);
  in.flag("output.yt", options.yt,
          "plotfiles contain a second copy of the values in the layout that yt.load opens, which doubles their size; "
          "`python -m karst.yt FILE` adds it later");
  in.integer("output.files", options.files, "",
             "number of files that hold the values of a plotfile: 1 = the plotfile itself, written by all ranks "
             "together; more = NAME.part1, NAME.part2 ... next to it, each written by neighbouring ranks, on the same "
             "machine where possible, and read through the plotfile as usual; at most one per rank",
             1, 1000000);
  in.flag(
      "output.wall", options.wall,
      "transport with reacting walls writes wall.vtp at the end: the wall as a surface with, per component, the "
      "flux into it per area [C m/s] and the concentration on it, and with its mineral and area, for ParaView; walls "
      "that move ([[walls.mineral]]) are written with mineral, area and speed [m/s, > 0 into the solid] at each "
      "time.output, as moved_wall_0001.vtp ..., and at the end as moved_wall.vtp; false: not written");
  in.flag("output.geometry", options.geometry,
          "walls that move are written as geometry files, which geometry.image of another deck reads, at each "
          "time.output, as moved_geometry_0001.h5 ..., and at the end as moved_geometry.h5: a voxel per cell, with "
          "minerals, and the wall as "
          "it is between voxels. The other deck needs geometry.keep = \"all\" for all of its pores");
  read(in, options.slices);
  read(in, options.probes);
}

void read_run(Reader& in, RunOptions& options) {
  in.changes_answers_of("run", {});
  constexpr double longest = 3.2e9;  // a century
  in.number("run.time_limit", options.time_limit, "s",
            "`karst run` stops cleanly after this time, e.g. before a batch system would kill it; --resume continues "
            "it; 0: no limit; --time-limit on the command line overrides it",
            0.0, longest);
  in.word<Balancing>("run.balance", options.balance,
                     {{"off", Balancing::off, "the same number of boxes for each rank"},
                      {"start", Balancing::start, "weighted by the fluid and cut cells of each box"},
                      {"feedback", Balancing::feedback,
                       "as start; transient runs also measure the time that ranks need for their boxes, and move boxes "
                       "when that saves time: for chemistry in a part of the sample, and for machines with some slower "
                       "processors; the last digits of results then differ from run to run"}},
                     "how boxes are distributed over the ranks:");
}

bool goes_through_time(const FlowOptions& flow, const TransportDeck& transport) {
  return is_in_time(flow.model) || (transport.asked() && !transport.steady());
}
bool goes_through_time(const Config& config) {
  return config.walls.asked() || goes_through_time(config.flow, config.transport);
}

/// An image is meant, though what stands there may be no file name.
bool names_image(const Reader& in, const Config& config) {
  return !config.geometry.image.empty() || in.wrong("geometry.image");
}

/// An image, or solids and a grid.
void require_source(Reader& in, const Config& config) {
  if (names_image(in, config)) return;
  if (!in.given("geometry.solid") && !(in.given("grid.cells") && in.given("grid.size")))
    in.mistake("geometry",
               "no geometry is given; expected: geometry.image, [[geometry.solid]], or grid.cells and grid.size alone "
               "for a domain without solid");
  if (config.import_given) in.mistake("geometry.import", "given without geometry.image; there is nothing to import");
  in.need({"grid.cells", "grid.size"}, "missing; described solids need it (only an image states its own)");
}

/// A job that the deck asks for makes the field.
bool is_solved_for(const PlotWord& field, const Config& config) {
  return std::ranges::any_of(job_words(), [&](const JobWord& job) {
    return (job.name == field.job || job.name == field.or_job) && job.is_asked(config);
  });
}

/// Fields of a plotfile when the deck names none: where the fluid is, and what is solved for.
std::vector<PlotField> usual_fields(const Config& config) {
  std::vector<PlotField> fields = config.output.plot;
  for (const PlotField field : {PlotField::velocity, PlotField::pressure, PlotField::concentration})
    if (is_solved_for(word_of(field), config)) fields.push_back(field);
  return fields;
}

/// Fields of jobs need their job.
void require_jobs_of_fields(Reader& in, const Config& config) {
  for (const PlotWord& w : plot_words()) {
    if (w.job.empty() || std::ranges::count(config.output.plot, w.field) == 0 || is_solved_for(w, config)) continue;
    const auto job = std::ranges::find(job_words(), w.job, &JobWord::name);
    in.mistake("output.plot", "\"{}\" belongs to a job that the deck does not request; expected: {}", w.word,
               job->asked_by);
  }
  const bool chemistry = std::ranges::count(config.output.plot, PlotField::chemistry) > 0;
  if (chemistry && config.transport.asked() && !config.chemistry.asked())
    in.mistake("output.plot", "\"chemistry\" belongs to [chemistry], which is not in the deck; remove it");
}

/// The arrays of initial values are there, and their type is one.
void require_arrays(Reader& in, const Config& config) {
  for (std::size_t i = 0; i < config.transport.components.size(); ++i) {
    const ComponentDeck& c = config.transport.components[i];
    if (c.initial_file.empty()) continue;
    const std::string path = (std::filesystem::path(in.directory()) / c.initial_file).string();
    if (!image_exists(path))
      in.mistake(fmt::format("transport.component[{}].initial_file", i),
                 "\"{}\" is not there; expected: an array, relative to the deck", path);
    in.attempt(fmt::format("transport.component[{}].initial_file_type", i),
               [&] { voxel_type_named(c.initial_file_type); });
  }
}

/// What [transport] can do with the rest of the deck.
void require_transport_fits(Reader& in, const Config& config) {
  const TransportDeck& deck = config.transport;
  if (!deck.asked()) return;
  const FlowModel model = config.flow.model;
  const bool flows = model != FlowModel::none;
  const int axis = flows && config.flow.axes.size() == 1 ? config.flow.axes[0] : deck.axis;
  if (is_in_time(model) && deck.steady())
    in.mistake("transport.mode", "\"steady\", but the flow is transient; remove it, or give a steady flow.model");
  if (!config.flow.lids.empty())
    in.mistake("flow.lid",
               "lid-driven flow does not support [transport] yet, because nothing flows through the sample; give "
               "flow.drive or an inlet");
  if (flows && config.flow.axes.size() != 1)
    in.mistake("flow.axes",
               "{} directions, but the components are advected by one flow; name one direction: axes = [\"x\"]",
               config.flow.axes.size());
  if (flows && deck.axis_given)
    in.mistake("transport.axis", "given beside a flow, whose flow.axes names it; remove it");
  if (deck.peclet > 0.0 && model != FlowModel::stokes)
    in.mistake("transport.peclet", flows ? "a transient flow or a flow with inertia cannot be scaled to another "
                                           "velocity; give flow.velocity instead, or use flow.model = \"stokes\""
                                         : "there is no flow; give a flow.model, or remove it");
  if (!flows && !deck.steady() && !in.given("time.dt"))
    in.mistake("time.dt", "missing: without a flow no Courant number limits the step");
  if (!flows && !deck.steady())
    in.refuse({"time.end_pore_volumes", "time.output_pore_volumes"},
              "there is no flow; give time.end and time.output in seconds");
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    const auto key = [i](const char* name) { return fmt::format("transport.component[{}].{}", i, name); };
    if (config.grid.periodic[axis] && (c.inlet_given || c.outlet))
      in.mistake(key(c.inlet_given ? "inlet" : "outlet"),
                 "the domain is periodic along {0}, so nothing flows in or out; remove it, or set grid.periodic to "
                 "false along {0}",
                 axis_names[axis]);
    if (!flows && c.inlet_kind_given && c.inlet_kind == EndKind::flux)
      in.mistake(key("inlet_kind"),
                 "\"flux\", but nothing flows in; without a flow the inlet has a value or is closed");
  }
}

/// Reservoirs have an inlet and an outlet, and the other jobs of the run a domain.
void require_reservoirs_fit(Reader& in, const Config& config) {
  if (config.flow.reservoir == 0) return;
  const bool flows = config.flow.model != FlowModel::none;
  if (!flows && !config.transport.asked())
    in.mistake("flow.reservoir",
               "given without flow.model and [[transport.component]], which need a domain; remove it");
  const auto of_run = reservoirs_of_run(config);
  if (!of_run) return;
  if (config.grid.periodic[of_run->axis])
    in.mistake("flow.reservoir",
               "the domain is periodic along {0} and has no inlet and outlet there; remove it, or set grid.periodic to "
               "false along {0}",
               axis_names[of_run->axis]);
  if (!config.diffusion.axes.empty())
    in.mistake("diffusion.axes",
               "the effective diffusivity is that of the sample alone, and the other jobs of this deck compute on the "
               "sample with its reservoirs (flow.reservoir); use a deck of its own");
}

/// From here on the domain is that of all copies of the sample.
void make_room_for_copies(Reader& in, Config& config) {
  GridOptions& grid = config.grid;
  for (int d = 0; d < 3; ++d) {
    const int n = config.geometry.copies[d];
    if (n > 1 && !grid.periodic[d])
      in.mistake("geometry.copies",
                 "{} along {}, where the domain is not periodic; set grid.periodic to true there, or keep one copy", n,
                 axis_names[d]);
    if (std::int64_t{grid.cells[d]} * n > std::numeric_limits<int>::max())
      in.mistake("geometry.copies", "{} along {} make more cells than can be numbered", n, axis_names[d]);
    else
      grid.cells[d] *= n;
    grid.size[d] *= n;
  }
  const bool places =
      std::ranges::any_of(grid.refine, [](const Refinement& r) { return r.where == Refinement::Where::region; });
  if (places && config.geometry.copies != Index{1, 1, 1})
    in.mistake("geometry.copies", "a region of [[grid.refine]] lies in one of the copies only; refine along the wall");
}

bool transports_in_time(const Config& config) { return config.transport.asked() && !config.transport.steady(); }

/// A component of the deck, or of one the only one.
void require_component(Reader& in, const Config& config, const std::string& key, const std::string& component) {
  std::vector<std::string> names;
  for (const ComponentDeck& c : config.transport.components) names.push_back(c.name);
  if (component.empty() ? names.size() > 1 : std::ranges::count(names, component) == 0)
    in.mistake(
        key + "component", "{}; expected one of: {}",
        component.empty() ? "is not given, and there are several" : "\"" + component + "\" is no component of the deck",
        join(names, ", "));
}

/// Walls take or give what a rate is of.
void require_rate(Reader& in, const Config& config, const std::string& key, const Refinement& rule) {
  const std::vector<WallDeck>& laws = config.transport.walls;
  std::vector<std::string> minerals;
  for (const MineralDeck& m : config.chemistry.minerals)
    if (!m.wall.empty()) minerals.push_back(m.options.name);
  const auto acts = [&](const WallDeck& law) {
    return rule.component.empty() || law.component.empty() || law.component == rule.component;
  };
  if (laws.empty() && minerals.empty())
    in.mistake(key + "where",
               "\"rate\" is of walls that react, and there are none: add a [[transport.wall]], or a "
               "[[chemistry.mineral]] with a wall");
  else if (!rule.mineral.empty() && std::ranges::count(minerals, rule.mineral) == 0)
    in.mistake(key + "mineral", "\"{}\" is no [[chemistry.mineral]] on a wall; expected one of: {}", rule.mineral,
               minerals.empty() ? "none, there is none" : join(minerals, ", "));
  else if (!rule.component.empty()) {
    require_component(in, config, key, rule.component);
    if (rule.mineral.empty() && std::ranges::none_of(laws, acts))
      in.mistake(key + "component", "no [[transport.wall]] takes or gives off {}", rule.component);
  }
}

/// What the grid is to follow goes through time: components, walls that react, a flow, or a formula of them.
void require_followed_fits(Reader& in, const Config& config) {
  using Where = Refinement::Where;
  const std::vector<Refinement>& refine = config.grid.refine;
  for (std::size_t i = 0; i < refine.size(); ++i) {
    const Refinement& rule = refine[i];
    if (!rule.follows()) continue;
    const std::string key = fmt::format("grid.refine[{}].", i);
    const bool of_flow = rule.where == Where::speed || rule.where == Where::vorticity,
               formula = rule.where == Where::formula;
    if (of_flow && config.flow.model == FlowModel::none)
      in.mistake(key + "where", "follows a flow, and the deck has none; remove it, or set flow.model");
    else if ((of_flow || formula) && !goes_through_time(config.flow, config.transport))
      in.mistake(key + "where",
                 "follows what goes through time, and nothing does: there is neither a transient flow nor transient "
                 "transport; remove it, or refine along the wall, in throats or in a region");
    else if (formula)
      in.attempt(key + "formula", [&] { NamedFormula(rule.formula, followed_variables(config)); });
    else if (of_flow)
      continue;
    else if (!transports_in_time(config))
      in.mistake(key + "where",
                 "follows a component of transient transport, which the deck does not request; remove it, or refine "
                 "along the wall or in a region");
    else if (rule.where == Where::rate)
      require_rate(in, config, key, rule);
    else
      require_component(in, config, key, rule.component);
  }
}

/// A law of the walls of a mineral that moves, and of the component that moves it.
bool has_law(const TransportDeck& transport, const MovingMineral& mineral) {
  const std::string& component = mineral.component.empty() ? transport.components[0].name : mineral.component;
  return std::ranges::any_of(transport.walls, [&](const WallDeck& law) {
    return (law.mineral.empty() || mineral.name.empty() || law.mineral == mineral.name) &&
           (law.component.empty() || law.component == component);
  });
}

/// Those of [chemistry] that move the walls: deposits on them, and one mineral that they are made of.
template <class F>
void require_one_mineral(const Config& config, const MovingMineral& mineral, F&& mistake) {
  for (std::size_t i = 0; i < config.chemistry.minerals.size(); ++i) {
    const MineralDeck& m = config.chemistry.minerals[i];
    if (m.deposit || (mineral.name.empty() ? m.wall.empty() : !lies_on(m, mineral.name))) continue;
    for (const MineralDeck& other : config.chemistry.minerals)
      if (&other != &m && !other.deposit && !other.wall.empty() && (lies_on(other, m.wall) || lies_on(m, other.wall)))
        return mistake("name",
                       fmt::format("{} and {} of [[chemistry.mineral]] lie on the same walls: where walls move, "
                                   "each is made of one mineral, and others are deposits on it (deposit = true)",
                                   m.options.name, other.options.name));
    if (!(mineral.molar_volume > 0.0) && !(molar_volume_of(*config.reactive, i) > 0.0))
      mistake("molar_volume", fmt::format("missing: the database has none (-Vm) of {}", m.options.phase));
  }
  if (mineral.moles_given) mistake("moles", "without effect: a mineral of [chemistry] lies on the wall; remove it");
}

/// What moves the walls of each mineral.
void require_drivers_of_walls(Reader& in, const Config& config) {
  const ChemistryDeck& chemistry = config.chemistry;  // what is wrong with it has been noted
  if (chemistry.asked() &&
      (config.reactive == nullptr || config.reactive->medium.minerals.size() != chemistry.minerals.size()))
    return;
  const std::vector<ComponentDeck>& all = config.transport.components;
  const std::size_t n_own = config.reactive != nullptr ? config.reactive->first : all.size();
  std::vector<std::string> names;  // totals of [chemistry] do not count
  for (std::size_t i = 0; i < n_own; ++i) names.push_back(all[i].name);
  for (std::size_t i = 0; i < config.walls.minerals.size(); ++i) {
    const MovingMineral& m = config.walls.minerals[i];
    const auto mistake = [&](const char* key, const std::string& text) {
      in.mistake(fmt::format("walls.mineral[{}].{}", i, key), text);
    };
    if (moved_by_chemistry(config, m)) {
      require_one_mineral(config, m, mistake);
      continue;
    }
    const bool dissolves = m.molar_volume > 0.0;
    if (!dissolves && m.speed == 0.0)
      mistake("molar_volume",
              "missing; expected: the volume of a mole, such as \"36.9 cm3/mol\", a given speed, or a "
              "[[chemistry.mineral]] on this wall");
    else if (!m.component.empty() && std::ranges::count(names, m.component) == 0)
      mistake("component",
              fmt::format("\"{}\" is no component of the deck; expected one of: {}", m.component,
                          names.empty() ? "none, there is no [[transport.component]]" : join(names, ", ")));
    else if (dissolves && m.component.empty() && names.size() > 1)
      mistake("component",
              fmt::format("missing, and there are several components; expected one of: {}", join(names, ", ")));
    else if (dissolves && !names.empty() && m.speed == 0.0 && !has_law(config.transport, m))
      mistake("molar_volume",
              "no [[transport.wall]] acts between this mineral and its component, so nothing dissolves it");
    else if (dissolves && names.empty() && m.speed == 0.0)
      mistake(
          "molar_volume",
          "nothing dissolves the mineral: there is neither a [[transport.component]], nor a [[chemistry.mineral]] on "
          "this wall, nor a speed");
  }
}

/// Where walls move the flow is steady, and so is transport unless it moves them.
void require_walls_fit(Reader& in, Config& config) {
  const WallsDeck& walls = config.walls;
  if (config.output.geometry && !walls.asked())
    in.mistake("output.geometry",
               "belongs to walls that move, and there are none; remove it, or add [[walls.mineral]]");
  if (!walls.asked()) return;
  if (in.given("geometry.keep") && config.geometry.keep != KeepPores::all)
    in.mistake("geometry.keep",
               "walls that move ([[walls.mineral]]) open pores and cut others off, so all are kept; expected: \"all\", "
               "or leave it out");
  config.geometry.keep = KeepPores::all;
  if (is_in_time(config.flow.model))
    in.mistake("flow.model",
               "walls that move ([[walls.mineral]]) need a steady flow; expected: \"stokes\" or \"steady\"");
  const auto beside = [&](bool asked, const char* key) {
    if (asked) in.mistake(key, "is not possible beside walls that move ([[walls.mineral]]); use a deck of its own");
  };
  beside(!config.diffusion.axes.empty(), "diffusion.axes");
  beside(!config.dispersion.axes.empty(), "dispersion.axes");
  beside(!config.dynamic_permeability.axes.empty(), "dynamic_permeability.axes");
  beside(config.flow.reservoir > 0, "flow.reservoir");
  beside(config.grid.follows(), "grid.refine");
  beside(config.geometry.copies != Index{1, 1, 1}, "geometry.copies");
  if (walls.fragments == LooseSolid::remove) {
    const char* key = "walls.fragments";
    if (!config.grid.refine.empty())
      in.mistake(key,
                 "\"remove\" is not possible on refined grids (grid.refine), as solids are found on level 0; expected: "
                 "\"keep\"");
    if (std::ranges::any_of(config.chemistry.minerals, &MineralDeck::deposit))
      in.mistake(key,
                 "\"remove\" is not possible beside deposits, which would lose what lies on it; expected: \"keep\"");
  }
  if (!config.transport.asked() || config.transport.steady())
    in.refuse({"walls.standstill"}, "belongs to transport in time; between steady states all time is passed over");
  if (walls.until.of == WallsEnd::Of::permeability && (config.flow.model == FlowModel::none || ends_drive(config.flow)))
    in.mistake("walls.until", "there is no permeability: the deck has no flow that is driven through the sample");
  require_drivers_of_walls(in, config);
}

/// Slices have fields, times and a place in the domain.
void require_slices_fit(Reader& in, const Config& config) {
  const std::vector<SliceOptions>& slices = config.output.slices;
  if (slices.empty()) return;
  if (!goes_through_time(config))
    in.mistake("output.slice", "belongs to transient runs: a steady state is in plot.vtkhdf; remove it");
  if (std::ranges::none_of(config.output.plot, [](PlotField f) { return !job_of(f).empty(); }))
    in.mistake("output.slice", "output.plot names no field that changes with time; add velocity or concentration");
  for (std::size_t i = 0; i < slices.size(); ++i)
    if (config.size_given && slices[i].at > config.grid.size[slices[i].axis])
      in.mistake(fmt::format("output.slice[{}].at", i), "{:g} m is beyond the domain, which ends at {:g} m",
                 slices[i].at, config.grid.size[slices[i].axis]);
}

/// [checkpoint] keeps something.
void require_checkpoint_has_effect(Reader& in, const Config& config) {
  if (goes_through_time(config)) return;
  in.refuse({"checkpoint.every_minutes", "checkpoint.every_steps", "checkpoint.every_time", "checkpoint.keep"},
            "checkpoints are written only by transient transport and flow; steady solves are saved when they finish; "
            "remove it");
}

}  // namespace

Config read_config(Reader& in) {
  in.changes_answers_of("title", {});
  Config config;
  in.text("title", config.title, "a line that describes the case, repeated in the results");
  read(in, config.geometry);
  read(in, config.import);
  read(in, config.grid);
  read(in, config.fluid);
  // The sample of an image has two ends: the drive of `karst run IMAGE`, unless the deck says what drives the flow.
  if (names_image(in, config) && in.given("flow.model") && !in.given("flow.inlet") && !in.given("flow.lid"))
    config.flow.drive = FlowDrive::pressure_drop;
  read(in, config.flow);
  read(in, config.chemistry, ChemistryUse::run);
  read(in, config.transport, config.chemistry.asked());
  if (config.chemistry.asked()) add_chemistry(in, config);
  read(in, config.walls);
  read(in, config.time,
       config.walls.asked() && (!config.transport.asked() || config.transport.steady()) ? InTime::walls
       : config.flow.model == FlowModel::navier_stokes                                  ? InTime::flow_with_inertia
       : config.flow.model == FlowModel::unsteady_stokes
           ? (config.transport.asked() ? InTime::flow_that_carries : InTime::flow)
       : config.transport.asked() && config.transport.steady() ? InTime::steady_transport
       : config.transport.asked()                              ? InTime::transport
                                                               : InTime::nothing);
  read(in, config.dynamic_permeability);
  read(in, config.diffusion);
  read(in, config.dispersion);
  config.output.plot = usual_fields(config);
  read_output(in, config.output);
  read(in, config.checkpoint);
  read_run(in, config.run);
  config.import_given = in.given("geometry.import");
  config.cells_given = in.given("grid.cells");
  config.size_given = in.given("grid.size");
  make_room_for_copies(in, config);
  require_source(in, config);
  require_jobs_of_fields(in, config);
  require_transport_fits(in, config);
  require_reservoirs_fit(in, config);
  require_checkpoint_has_effect(in, config);
  require_slices_fit(in, config);
  require_followed_fits(in, config);
  require_walls_fit(in, config);
  for (std::size_t m = 0; m < config.chemistry.minerals.size(); ++m)
    if (config.chemistry.minerals[m].deposit && config.grid.follows())
      in.mistake(fmt::format("chemistry.mineral[{}].deposit", m),
                 "is not possible on a grid that follows the solution; refine the wall or a region");
  if (!config.output.probes.empty() && !goes_through_time(config.flow, config.transport))
    in.mistake("output.probe",
               "belongs to transient flow (flow.model = \"unsteady-stokes\", \"navier-stokes\") and transient "
               "transport ([[transport.component]]); remove it");
  require_arrays(in, config);
  return config;
}

FormulaVariables followed_variables(const Config& config) {
  FormulaVariables variables{{"x", "y", "z", "t"}, "formula of grid.refine", "x, y, z in metres, t in seconds"};
  const auto add = [&](const std::string& name) {
    variables.names.push_back(name);
    variables.allowed += ", " + name;
  };
  if (config.flow.model != FlowModel::none) {
    add("speed");
    add("vorticity");
  }
  if (transports_in_time(config))
    for (const ComponentDeck& c : config.transport.components) add(c.name);
  return variables;
}

std::optional<Reservoirs> reservoirs_of_run(const Config& config) {
  const FlowOptions& flow = config.flow;
  const bool flows = flow.model != FlowModel::none, transport = config.transport.asked();
  const bool shared = transport || is_in_time(flow.model) || !flow.inlets.empty();
  if (flow.reservoir == 0 || !shared || (flows && flow.axes.size() != 1)) return {};
  return Reservoirs{flows ? flow.axes[0] : config.transport.axis, flow.reservoir};
}

std::vector<KeyInfo> deck_keys() {
  Reader in = Reader::declarations_only();
  read_config(in);
  return in.keys();
}

std::string without_positions(std::string key) {
  for (std::size_t at = 0; (at = key.find("[]")) != std::string::npos;) key.erase(at, 2);
  return key;
}

std::string table_of(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

std::vector<KeyInfo> import_keys() {
  Reader in = Reader::declarations_only();
  ImportOptions options;
  read(in, options);
  return in.keys();
}

namespace {

constexpr std::array job_list{
    JobWord{
        "flow",
        "[flow] with model = \"stokes\" or \"steady\" and flow.drive: permeability and velocity; with [[flow.inlet]]: "
        "flow rate and pressure drop; with [[flow.lid]]: friction; \"unsteady-stokes\" and [time]: transient flow",
        [](const Config& config) { return config.flow.model != FlowModel::none; }},
    JobWord{"dynamic_permeability",
            "[dynamic_permeability] with axes = [\"x\"], beside a [flow] with model = \"stokes\": permeability against "
            "the frequency of the driving force",
            [](const Config& config) { return !config.dynamic_permeability.axes.empty(); }},
    JobWord{"diffusion", "[diffusion] with axes = [\"x\", \"y\", \"z\"]: effective diffusivity and formation factor",
            [](const Config& config) { return !config.diffusion.axes.empty(); }},
    JobWord{"dispersion",
            "[dispersion] with axes = [\"x\"] and peclet = [1, 10, 100], beside a periodic [flow]: dispersion tensor",
            [](const Config& config) { return !config.dispersion.axes.empty(); }},
    JobWord{"transport",
            "[[transport.component]] and [time]: transient transport of dissolved components, breakthrough; with "
            "transport.mode = \"steady\": their steady state",
            [](const Config& config) { return config.transport.asked(); }},
    JobWord{"walls",
            "[[walls.mineral]] and [time]: walls that move, because a mineral dissolves or grows; flow and transport "
            "are solved for each of their positions",
            [](const Config& config) { return config.walls.asked(); }}};

}  // namespace

std::span<const JobWord> job_words() { return job_list; }

const JobWord& job_word(std::string_view name) { return *std::ranges::find(job_list, name, &JobWord::name); }

}  // namespace karst
