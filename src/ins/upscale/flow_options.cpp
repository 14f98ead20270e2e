// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/flow_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/deck/read_axes.hpp"
#include "eb/shapes/formula.hpp"

namespace karst {

namespace {

constexpr double strongest = 1e16;  // of all drives [SI]: no flow is near it, and no velocity overflows

/// The key that holds the value of a drive.
struct DriveKey {
  FlowDrive drive;
  const char* word;
  const char* key;
  bool needed;  ///< there is no value that everybody would expect
};
constexpr std::array<DriveKey, 4> drives{{{FlowDrive::pressure_drop, "pressure-drop", "flow.pressure_drop", false},
                                          {FlowDrive::pressure_gradient, "pressure-gradient", "flow.gradient", false},
                                          {FlowDrive::velocity, "velocity", "flow.velocity", true},
                                          {FlowDrive::flow_rate, "flow-rate", "flow.flow_rate", true}}};

const std::vector<Reader::Word<int>> side_words{{"-x", 0, ""}, {"+x", 1, ""}, {"-y", 2, ""},
                                                {"+y", 3, ""}, {"-z", 4, ""}, {"+z", 5, ""}};

/// How far the permeability may be off.
void read_trust(Reader& in, FlowOptions& options) {
  in.flag(
      "flow.estimate_error", options.estimate_error,
      "also solves on cells twice and three times as wide (a sixth of the work), where such fill the domain: the error "
      "of the permeability that the discretisation makes, and its value extrapolated to cells of no width; where these "
      "grids disagree also on cells 1.5 times as wide");
  in.flag(
      "flow.uncertainty", options.uncertainty,
      "images: also solves with the wall moved to both sides by as much as it may plausibly lie off (gray images: by "
      "what 5 % of the contrast are; segmented ones: 0.1 voxel): the range of the permeability (three times the work); "
      "the switch --uncertainty of `karst run` sets it");
}

void read_inlets(Reader& in, FlowOptions& options) {
  in.tables(
      "flow.inlet", "an end where the velocity is given, in place of flow.drive; on the opposite end the pressure is 0",
      [&](Reader& item) {
        FlowInlet inlet;
        item.word<int>("side", inlet.side, side_words, "end of the domain where the fluid comes in; always needed");
        item.number("velocity", inlet.velocity, "m/s", "along the normal of the end, into the domain; always needed",
                    1e-300, strongest);
        item.text("profile", inlet.profile,
                  "factor on the velocity over the end: \"uniform\", \"parabolic\" (between the no-slip sides, the "
                  "velocity is the mean), or a formula of x, y, z in metres in the language of geometry.solid's "
                  "expression, e.g. \"6*y/1e-3*(1-y/1e-3)\"; in models in time of t in seconds, too");
        if (item.documenting()) return;
        for (const char* key : {"side", "velocity"})
          if (!item.given(key)) item.mistake(key, "missing; every inlet needs it");
        if (inlet.profile != "uniform" && inlet.profile != "parabolic") try {
            const Formula profile(inlet.profile, "xyz", is_in_time(options.model) ? std::optional(0.0) : std::nullopt);
          } catch (const Error& e) {
            item.mistake("profile", e.what());
          }
        options.inlets.push_back(inlet);
      });
}

void read_lids(Reader& in, FlowOptions& options) {
  in.tables("flow.lid",
            "a no-slip end that slides along itself, in place of flow.drive; what friction with it moves is the flow",
            [&](Reader& item) {
              FlowLid lid;
              item.word<int>("side", lid.side, side_words, "end of the domain that moves; always needed");
              item.vec3("velocity", lid.velocity, "m/s", "of the end, along itself; always needed", -strongest,
                        strongest);
              if (item.documenting()) return;
              for (const char* key : {"side", "velocity"})
                if (!item.given(key)) item.mistake(key, "missing; every lid needs it");
              if (std::ranges::count(options.lids, lid.side, &FlowLid::side) > 0)
                item.mistake("side", "is a lid already; name each end once");
              if (const int d = lid.side / 2; lid.velocity[d] != 0.0)
                item.mistake("velocity",
                             fmt::format("{:g} m/s along {}, the normal of the lid: a lid slides along itself; write 0 "
                                         "there, or use [[flow.inlet]] where fluid comes in",
                                         lid.velocity[d], axis_names[d]));
              options.lids.push_back(lid);
            });
}

void read_bodies(Reader& in, FlowOptions& options) {
  in.tables(
      "flow.body", "with an inlet or lids: a part of the solid, to know the force of the flow on it",
      [&](Reader& item) {
        FlowBody body;
        item.text("name", body.name, "in results; default: the mineral, or \"walls\"");
        item.text("mineral", body.mineral, "whose walls make it, as geometry.solid's mineral says; empty: all walls");
        item.number("area", body.area, "m2", "of the coefficients, force over ρ/2 speed² area; 0: no coefficients", 0.0,
                    strongest);
        item.number("speed", body.speed, "m/s",
                    "of the coefficients; 0: the velocity of the inlet or of the fastest lid", 0.0, strongest);
        if (item.documenting()) return;
        if (item.given("speed") && body.area == 0.0)
          item.mistake("speed", "without effect: coefficients need an area; give it, or remove this key");
        if (body.name.empty()) body.name = body.mineral.empty() ? "walls" : body.mineral;
        if (std::ranges::count(options.bodies, body.name, &FlowBody::name) > 0)
          item.mistake("name", fmt::format("\"{}\" stands twice; name each body once", body.name));
        else if (std::ranges::count(options.bodies, body.mineral, &FlowBody::mineral) > 0 ||
                 (!options.bodies.empty() && (body.mineral.empty() || options.bodies[0].mineral.empty())))
          item.mistake("mineral", "belongs to two bodies; each mineral makes one, and all walls together one alone");
        options.bodies.push_back(body);
      });
}

/// How the drive, or the velocity of the inlet, changes in time.
void read_factor(Reader& in, FlowOptions& options) {
  in.text(
      "flow.drive_factor", options.drive_factor,
      "models in time: factor on the drive or on the velocity of inlet and lids, a formula of the time t [s] in the "
      "language of geometry.solid's expression, e.g. \"cos(2*_pi*50*t)\" or \"min(t/0.01, 1)\"");
  std::string table;
  in.file("flow.drive_table", table,
          "models in time, in place of flow.drive_factor: a text file, relative to the deck, with time [s] and factor "
          "per line, to the end of the run; straight in between, two lines of one time are a jump");
  in.flag("flow.animation", options.animation,
          "models in time: animation_speed.png, an animated PNG of the speed in the plane through the middle, which "
          "moves on the page, too");
  in.number("flow.animation_start", options.animation_start, "s",
            "where flow.animation begins; it has 48 pictures from there to the end of the run", 0.0, 1e30);
  if (in.documenting()) return;
  if (!options.animation && in.given("flow.animation_start"))
    in.mistake("flow.animation_start", "without effect: there is no flow.animation; remove this key");
  const bool in_time = is_in_time(options.model);
  for (const char* key : {"flow.drive_factor", "flow.drive_table", "flow.animation"})
    if (!in_time && options.model != FlowModel::none && in.given(key))
      in.mistake(key,
                 "without effect: steady flow knows no time; remove this key, or write flow.model = "
                 "\"unsteady-stokes\" or \"navier-stokes\"");
  if (!in_time) return;
  try {
    const Formula factor(options.drive_factor, "t");
  } catch (const Error& e) {
    in.mistake("flow.drive_factor", e.what());
  }
  if (table.empty()) return;
  if (in.given("flow.drive_factor"))
    in.mistake("flow.drive_table", "given beside flow.drive_factor; leave one of them out");
  try {
    options.drive_table = read_time_table((std::filesystem::path(in.directory()) / table).string());
  } catch (const Error& e) {
    in.mistake("flow.drive_table", e.what());
  }
}

void read_start_file(Reader& in, FlowOptions& options) {
  std::string file;
  in.file(
      "flow.start_file", file,
      "models in time, in place of flow.start: a plotfile with the velocity of an earlier run, relative to the deck, "
      "e.g. \"../before/output_0007.vtkhdf\", of a domain of this size on the same or other cells; time begins at 0 "
      "again");
  if (file.empty() || in.documenting()) return;
  options.start_file = (std::filesystem::path(in.directory()) / file).string();
  if (in.given("flow.start")) in.mistake("flow.start_file", "given beside flow.start; leave one of them out");
  if (!is_in_time(options.model) && options.model != FlowModel::none)
    in.mistake("flow.start_file",
               "without effect: steady flow begins from nothing; remove this key, or write flow.model = "
               "\"navier-stokes\"");
}

/// Axes and values of the drives.
void read_drive_values(Reader& in, FlowOptions& options) {
  const bool none = read_axes(in, "flow.axes", options.axes,
                              "directions of the drive: one solve each gives one column of the permeability tensor");
  if (none && !in.documenting())
    in.mistake("flow.axes", "empty; name at least one direction, or leave it out for all three");
  in.number("flow.pressure_drop", options.pressure_drop, "Pa", "drive pressure-drop: difference between the two ends",
            -strongest, strongest);
  in.vec3("flow.gradient", options.gradient, "Pa/m",
          "drive pressure-gradient: pressure drop per length; each solve takes the entry of its axis", -strongest,
          strongest);
  in.number("flow.velocity", options.velocity, "m/s", "drive velocity: flow rate over the total cross-section",
            -strongest, strongest);
  in.number("flow.flow_rate", options.flow_rate, "m3/s", "drive flow-rate: volume per time along the axis", -strongest,
            strongest);
  read_factor(in, options);
  read_inlets(in, options);
  read_lids(in, options);
  read_bodies(in, options);
}

void check_drive(Reader& in, const FlowOptions& options) {
  if (!options.bodies.empty())
    in.mistake("flow.body",
               "forces on bodies are known of flow from an inlet or between lids; give [[flow.inlet]] or [[flow.lid]], "
               "or remove it");
  if (options.drive == FlowDrive::none) {
    in.mistake("flow.drive",
               "nothing says what moves the fluid; allowed: \"pressure-drop\" (between two ends of a sample), "
               "\"pressure-gradient\" (periodic samples), \"velocity\", \"flow-rate\"; or the velocity of an "
               "end: [[flow.inlet]], [[flow.lid]]");
    return;
  }
  for (const DriveKey& d : drives) {
    if (d.drive == options.drive && d.needed && !in.given(d.key))
      in.mistake(d.key, fmt::format("missing: drive = \"{}\" needs its value", d.word));
    if (d.drive != options.drive && in.given(d.key))
      in.mistake(d.key, fmt::format("a second drive: flow.drive says otherwise; remove this key, or write drive = "
                                    "\"{}\"",
                                    d.word));
  }
  if (options.drive == FlowDrive::pressure_gradient && options.reservoir > 0)
    in.mistake(
        "flow.reservoir",
        "given with drive = \"pressure-gradient\", which belongs to samples that repeat and have no ends; remove "
        "it, or use \"pressure-drop\", \"velocity\" or \"flow-rate\"");
  for (const int axis : options.axes)
    if (options.drive == FlowDrive::pressure_gradient && options.gradient[axis] == 0.0)
      in.mistake("flow.gradient", fmt::format("0 along {}, where a solve is asked for; give it a value, or leave {} "
                                              "out of flow.axes",
                                              axis_names[axis], axis_names[axis]));
  if (options.drive == FlowDrive::pressure_drop && options.pressure_drop == 0.0)
    in.mistake("flow.pressure_drop", "0: nothing would flow; give it a value");
  if (options.drive == FlowDrive::velocity && in.given("flow.velocity") && options.velocity == 0.0)
    in.mistake("flow.velocity", "0: nothing would flow; give it a value");
  if (options.drive == FlowDrive::flow_rate && in.given("flow.flow_rate") && options.flow_rate == 0.0)
    in.mistake("flow.flow_rate", "0: nothing would flow; give it a value");
}

/// Ends that drive stand in place of a drive and of all that belongs to permeabilities.
void check_ends(Reader& in, FlowOptions& options) {
  const bool lids = !options.lids.empty();
  for (const char* key : {"flow.drive", "flow.pressure_drop", "flow.gradient", "flow.velocity", "flow.flow_rate"})
    if (in.given(key))
      in.mistake(key, fmt::format("a second drive: [[flow.{0}]] says what moves the fluid; remove this key or the {0}",
                                  lids ? "lid" : "inlet"));
  for (const char* key : {"flow.reservoir", "flow.estimate_error", "flow.uncertainty", "flow.steps"})
    if (in.given(key))
      in.mistake(key, fmt::format("belongs to permeabilities, which {} not give; remove this key",
                                  lids ? "lids do" : "an inlet does"));
  options.estimate_error = false;
}

/// Flow goes where the fastest lid does.
void check_lids(Reader& in, FlowOptions& options) {
  if (!options.inlets.empty()) in.mistake("flow.lid", "given beside [[flow.inlet]]; leave one of them out");
  if (in.given("flow.axes")) in.mistake("flow.axes", "without effect: lids say where the flow goes; remove this key");
  double largest = 0.0;
  for (const FlowLid& lid : options.lids)
    for (int d = 0; d < 3; ++d)
      if (std::abs(lid.velocity[d]) > largest) {
        largest = std::abs(lid.velocity[d]);
        options.axes = {d};
      }
  if (largest == 0.0) in.mistake("flow.lid", "all lids are at rest: nothing moves the fluid; give one a velocity");
}

void check_inlets(Reader& in, FlowOptions& options) {
  if (options.inlets.size() > 1)
    in.mistake("flow.inlet",
               fmt::format("{} inlets; one is possible: the fluid leaves at the opposite end", options.inlets.size()));
  if (std::ranges::count(options.inlets, "parabolic", &FlowInlet::profile) > 0 && options.sides != FlowWalls::no_slip)
    in.mistake("flow.inlet",
               "profile = \"parabolic\" is 0 on the sides of the domain beside the inlet, which let the fluid slip; "
               "write flow.sides = \"no-slip\", or give the profile as a formula");
  const std::vector<int> axis{options.inlets[0].side / 2};
  if (in.given("flow.axes") && options.axes != axis)
    in.mistake("flow.axes", "the flow goes along the normal of the inlet; leave this key out");
  options.axes = axis;
}

/// Unsteady flow: one direction, driven as given, with nothing of what belongs to permeabilities.
void check_unsteady(Reader& in, const FlowOptions& options) {
  if (options.model != FlowModel::navier_stokes && in.given("flow.start"))
    in.mistake("flow.start", "without effect: belongs to flow.model = \"navier-stokes\"; remove this key");
  if (!is_in_time(options.model)) return;
  if (options.axes.size() > 1 && !ends_drive(options))
    in.mistake("flow.axes", "unsteady flow is driven along one direction; name it, as in axes = [\"x\"]");
  if (options.drive == FlowDrive::velocity || options.drive == FlowDrive::flow_rate)
    in.mistake("flow.drive",
               "unsteady flow is driven by pressures or from an inlet; allowed: \"pressure-drop\", "
               "\"pressure-gradient\", or [[flow.inlet]] or [[flow.lid]] in place of a drive");
  for (const char* key : {"flow.reservoir", "flow.estimate_error", "flow.uncertainty"})
    if (in.given(key)) in.mistake(key, "belongs to permeabilities; remove this key, or write flow.model = \"stokes\"");
}

void check_steps(Reader& in, const FlowOptions& options) {
  if (options.model == FlowModel::navier_stokes)
    for (const char* key : {"flow.steps", "flow.newton_steps"})
      if (in.given(key)) in.mistake(key, "belongs to flow.model = \"steady\"; remove this key");
  if (options.model == FlowModel::stokes || options.model == FlowModel::unsteady_stokes)
    for (const char* key : {"flow.steps", "flow.newton_steps"})
      if (in.given(key))
        in.mistake(key,
                   "without effect: Stokes flow is in proportion to its drive; remove this key, or write "
                   "flow.model = \"steady\"");
  if (options.steps.empty()) in.mistake("flow.steps", "empty; give at least one factor, or leave it out for [1]");
  if (std::ranges::adjacent_find(options.steps, std::ranges::greater_equal{}) != options.steps.end())
    in.mistake("flow.steps", "must increase: each solve starts from the flow of the step before");
}

void check_without_model(Reader& in) {
  for (const char* key : {"flow.drive",          "flow.inlet",         "flow.lid",          "flow.body",
                          "flow.axes",           "flow.pressure_drop", "flow.gradient",     "flow.velocity",
                          "flow.flow_rate",      "flow.sides",         "flow.reservoir",    "flow.tolerance",
                          "flow.max_iterations", "flow.steps",         "flow.newton_steps", "flow.estimate_error",
                          "flow.uncertainty",    "flow.drive_factor",  "flow.drive_table",  "flow.animation",
                          "flow.start",          "flow.start_file"})
    if (in.given(key) && !in.given("flow.model"))
      in.mistake(key,
                 "given without flow.model, which asks for the job: model = \"stokes\", \"steady\", "
                 "\"unsteady-stokes\" or \"navier-stokes\"");
}

void check_what_drives(Reader& in, FlowOptions& options) {
  if (!ends_drive(options)) return check_drive(in, options);
  check_ends(in, options);
  options.lids.empty() ? check_inlets(in, options) : check_lids(in, options);
}

}  // namespace

void read(Reader& in, FluidOptions& options) {
  in.number("fluid.viscosity", options.viscosity, "Pa s", "dynamic viscosity; the permeability does not depend on it",
            1e-12, 1e12);
  in.number("fluid.density", options.density, "kg/m3",
            "density, for the Reynolds number and the inertia of models steady and navier-stokes", 1e-6, 1e6);
}

void read(Reader& in, FlowOptions& options) {
  in.word("flow.model", options.model,
          {{"none", FlowModel::none, "no flow"},
           {"stokes", FlowModel::stokes, "steady creeping flow, solved directly: permeability and velocity"},
           {"steady", FlowModel::steady,
            "creeping flow first, then steady with inertia: apparent permeability for each of flow.steps, or from an "
            "inlet, or between lids"},
           {"unsteady-stokes", FlowModel::unsteady_stokes,
            "creeping flow in time, from rest: the history of the flow, step by step as [time] says"},
           {"navier-stokes", FlowModel::navier_stokes, "the same with inertia"}},
          "equations of the flow; with one, `karst run` does this job");
  in.word("flow.drive", options.drive,
          {{"none", FlowDrive::none, "nothing: allowed without a model alone"},
           {"pressure-gradient", FlowDrive::pressure_gradient, "a mean gradient along periodic directions"},
           {"pressure-drop", FlowDrive::pressure_drop, "fixed pressures on the two ends of the sample"},
           {"velocity", FlowDrive::velocity, "a wanted Darcy velocity, by the pressures that give it"},
           {"flow-rate", FlowDrive::flow_rate, "a wanted flow rate, by the pressures that give it"}},
          "what moves the fluid");
  in.word("flow.start", options.start,
          {{"rest", FlowStart::rest, "the fluid is at rest"},
           {"stokes", FlowStart::stokes, "creeping flow of the drive at time 0"},
           {"steady", FlowStart::steady, "steady flow with inertia of the drive at time 0"}},
          "model navier-stokes: the flow at time 0");
  read_start_file(in, options);
  if (is_in_time(options.model)) {  // a step has less to say than a permeability
    options.tolerance = 1e-6;
    options.estimate_error = false;
  }
  read_drive_values(in, options);
  in.word("flow.sides", options.sides,
          {{"symmetry", FlowWalls::symmetry, "no flow through them, no friction"},
           {"no-slip", FlowWalls::no_slip, "a wall: the sleeve of a core"},
           {"periodic", FlowWalls::periodic, "grid.periodic is true along all of them"}},
          "sides of the sample along the flow, where the domain is not periodic");
  in.integer(
      "flow.reservoir", options.reservoir, "cells",
      "free fluid before and behind the sample along the flow, as in an endless row of samples: the pores of its faces "
      "exchange fluid there; for drives between two ends; the permeability is that of the sample alone",
      0, 100000);
  in.number(
      "flow.tolerance", options.tolerance, "-",
      "relative residual at which a solve ends; models in time: 1e-6 by default, of the strongest drive or, where "
      "that is more, of what flow with inertia carries in a step",
      1e-12, 1e-2);
  in.integer("flow.max_iterations", options.max_iterations, "-", "a solve that needs more is an error", 1, 1000000);
  in.numbers("flow.steps", options.steps, "-",
             "model steady: factors on the drive, increasing, one solve each that starts from the flow of the one "
             "before; three or more give Forchheimer's coefficient",
             1e-12, 1e12);
  in.integer("flow.newton_steps", options.newton_steps, "-",
             "model steady: a drive that needs more steps of Newton's method is an error", 1, 10000);
  read_trust(in, options);
  if (in.documenting()) return;
  options.sides_given = in.given("flow.sides");
  options.estimate_given = options.estimate_error && in.given("flow.estimate_error");
  check_steps(in, options);
  check_unsteady(in, options);
  options.model == FlowModel::none ? check_without_model(in) : check_what_drives(in, options);
}

}  // namespace karst
