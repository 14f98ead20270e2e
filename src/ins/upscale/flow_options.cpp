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
  in.flag("flow.estimate_error", options.estimate_error,
          "also solves on cells twice and three times as wide (a sixth of the work), where these fill the domain, to "
          "estimate the discretisation error of the permeability and to extrapolate it to zero cell width; where these "
          "grids disagree, also on cells 1.5 times as wide");
  in.number(
      "flow.error", options.error, "-",
      "relative error of the permeability (discretisation, estimated) that is to be reached along all of flow.axes: "
      "the grid is refined where the friction of the flow is, in throats above all, and the flow is solved again "
      "until the estimate is below it, up to three levels finer and within grid.max_cells and the memory. 0: the "
      "grid stays as it is",
      0.0, 0.5);
  in.flag("flow.uncertainty", options.uncertainty,
          "images: also solves with the wall moved to both sides by its plausible error (gray images: the shift for 5 "
          "% of the contrast; segmented images: 0.1 voxel), for the range of the permeability (three times the work); "
          "the switch --uncertainty of `karst run` sets it");
}

void read_inlets(Reader& in, FlowOptions& options) {
  in.tables(
      "flow.inlet",
      "an inlet face with a given velocity, instead of flow.drive; on the opposite face the pressure is 0",
      [&](Reader& item) {
        FlowInlet inlet;
        item.word<int>("side", inlet.side, side_words, "domain face where the fluid enters; required");
        item.number("velocity", inlet.velocity, "m/s", "normal velocity, into the domain; required", 1e-300, strongest);
        item.text(
            "profile", inlet.profile,
            "factor on the velocity over the inlet face: \"uniform\", \"parabolic\" (between the no-slip lateral "
            "faces; the velocity is the mean over the open part of the face, however much of it solid covers), or "
            "a formula of x, y, z in metres in the syntax of the expression "
            "of geometry.solid, e.g. \"6*y/1e-3*(1-y/1e-3)\"; in transient models also of t in seconds");
        if (item.documenting()) return;
        item.need({"side", "velocity"}, "missing; every inlet needs it");
        if (inlet.profile != "uniform" && inlet.profile != "parabolic")
          item.attempt("profile", [&] {
            const Formula profile(inlet.profile, "xyz", is_in_time(options.model) ? std::optional(0.0) : std::nullopt);
          });
        options.inlets.push_back(inlet);
      });
}

void read_lids(Reader& in, FlowOptions& options) {
  in.tables(
      "flow.lid",
      "a moving wall: a no-slip domain face that slides tangentially and drives the flow by friction, instead of "
      "flow.drive",
      [&](Reader& item) {
        FlowLid lid;
        item.word<int>("side", lid.side, side_words, "domain face that moves; required");
        item.vec3("velocity", lid.velocity, "m/s", "tangential velocity of the face; required", -strongest, strongest);
        if (item.documenting()) return;
        item.need({"side", "velocity"}, "missing; every lid needs it");
        if (std::ranges::count(options.lids, lid.side, &FlowLid::side) > 0)
          item.mistake("side", "is a lid already; name each face once");
        if (const int d = lid.side / 2; lid.velocity[d] != 0.0)
          item.mistake("velocity", fmt::format("{:g} m/s along {}, the normal of the lid: a lid slides tangentially; "
                                               "write 0 there, or use [[flow.inlet]] where fluid enters",
                                               lid.velocity[d], axis_names[d]));
        options.lids.push_back(lid);
      });
}

void read_bodies(Reader& in, FlowOptions& options) {
  in.tables("flow.body", "with an inlet or lids: a part of the solid on which the force of the flow is computed",
            [&](Reader& item) {
              FlowBody body;
              item.text("name", body.name, "name in the results; default: the mineral, or \"walls\"");
              item.text("mineral", body.mineral,
                        "mineral (as in geometry.solid) whose walls form the body; empty: all walls");
              item.number("area", body.area, "m2",
                          "reference area of the coefficients, force / (ρ/2 speed² area); 0: no coefficients", 0.0,
                          strongest);
              item.number("speed", body.speed, "m/s",
                          "reference speed of the coefficients; 0: the velocity of the inlet or of the fastest lid",
                          0.0, strongest);
              if (item.documenting()) return;
              if (item.given("speed") && body.area == 0.0)
                item.mistake("speed", "without effect: coefficients need an area; give it, or remove this key");
              if (body.name.empty()) body.name = body.mineral.empty() ? "walls" : body.mineral;
              if (std::ranges::count(options.bodies, body.name, &FlowBody::name) > 0)
                item.mistake("name", fmt::format("\"{}\" is listed twice; name each body once", body.name));
              else if (std::ranges::count(options.bodies, body.mineral, &FlowBody::mineral) > 0 ||
                       (!options.bodies.empty() && (body.mineral.empty() || options.bodies[0].mineral.empty())))
                item.mistake("mineral",
                             "belongs to two bodies; each mineral may belong to one body, and a body of all walls must "
                             "be the only one");
              options.bodies.push_back(body);
            });
}

/// How the drive, or the velocity of the inlet, changes in time.
void read_factor(Reader& in, FlowOptions& options) {
  in.text("flow.drive_factor", options.drive_factor,
          "transient models: factor on the driving force or on the velocity of inlet and lids, a formula of the time t "
          "[s] in the syntax of the expression of geometry.solid, e.g. \"cos(2*_pi*50*t)\" or \"min(t/0.01, 1)\"");
  std::string table;
  in.file("flow.drive_table", table,
          "transient models, instead of flow.drive_factor: a text file, relative to the deck, with time [s] and factor "
          "per line, up to the end of the run; linear interpolation, two lines with the same time are a jump");
  in.flag("flow.animation", options.animation,
          "transient models: write animation_speed.png, an animated PNG of the speed in the plane through the middle, "
          "which is also in the report");
  in.number("flow.animation_start", options.animation_start, "s",
            "start time of flow.animation, which has 48 frames from there to the end of the run", 0.0, 1e30);
  if (!options.animation && in.given("flow.animation_start"))
    in.mistake("flow.animation_start", "without effect: flow.animation is not set; remove this key");
  const bool in_time = is_in_time(options.model);
  if (!in_time && options.model != FlowModel::none)
    in.refuse({"flow.drive_factor", "flow.drive_table", "flow.animation"},
              "without effect: steady flow has no time; remove this key, or write flow.model = \"unsteady-stokes\" or "
              "\"navier-stokes\"");
  if (!in_time) return;
  in.attempt("flow.drive_factor", [&] { const Formula factor(options.drive_factor, "t"); });
  if (table.empty()) return;
  if (in.given("flow.drive_factor"))
    in.mistake("flow.drive_table", "given together with flow.drive_factor; remove one of them");
  in.attempt("flow.drive_table",
             [&] { options.drive_table = read_time_table((std::filesystem::path(in.directory()) / table).string()); });
}

void read_start_file(Reader& in, FlowOptions& options) {
  std::string file;
  in.file("flow.start_file", file,
          "transient models, instead of flow.start: a plotfile with the velocity of an earlier run, relative to the "
          "deck, e.g. \"../before/output_0007.vtkhdf\", of a domain of the same size on the same or other cells; time "
          "starts at 0");
  if (file.empty() || in.documenting()) return;
  options.start_file = (std::filesystem::path(in.directory()) / file).string();
  if (in.given("flow.start")) in.mistake("flow.start_file", "given together with flow.start; remove one of them");
  if (!is_in_time(options.model) && options.model != FlowModel::none)
    in.mistake(
        "flow.start_file",
        "without effect: steady flow has no initial state; remove this key, or write flow.model = \"navier-stokes\"");
}

/// Axes and values of the drives.
void read_drive_values(Reader& in, FlowOptions& options) {
  const bool none =
      read_axes(in, "flow.axes", options.axes,
                "directions of the driving force; one solve for each gives one column of the permeability tensor");
  if (none && !in.documenting())
    in.mistake("flow.axes", "empty; name at least one direction, or omit it for all three");
  in.number("flow.pressure_drop", options.pressure_drop, "Pa",
            "drive pressure-drop: difference between the inlet and outlet faces", -strongest, strongest);
  in.vec3("flow.gradient", options.gradient, "Pa/m",
          "drive pressure-gradient: pressure drop per length; each solve takes the entry of its axis", -strongest,
          strongest);
  in.number("flow.velocity", options.velocity, "m/s",
            "drive velocity: Darcy velocity, flow rate over the total cross-section", -strongest, strongest);
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
               "forces on bodies are computed only for flow from an inlet or lid-driven flow; give [[flow.inlet]] or "
               "[[flow.lid]], or remove it");
  if (options.drive == FlowDrive::none) {
    in.mistake("flow.drive",
               "no driving force is given; allowed: \"pressure-drop\" (between the inlet and outlet faces of a "
               "sample), \"pressure-gradient\" (periodic samples), \"velocity\", \"flow-rate\"; or the velocity of a "
               "domain face: [[flow.inlet]], [[flow.lid]]");
    return;
  }
  for (const DriveKey& d : drives) {
    if (d.drive == options.drive && d.needed && !in.given(d.key))
      in.mistake(d.key, fmt::format("missing: drive = \"{}\" needs its value", d.word));
    if (d.drive != options.drive && in.given(d.key))
      in.mistake(d.key, fmt::format("contradicts flow.drive; remove this key, or write drive = \"{}\"", d.word));
  }
  if (options.drive == FlowDrive::pressure_gradient && options.reservoir > 0)
    in.mistake("flow.reservoir",
               "given with drive = \"pressure-gradient\", which belongs to periodic samples without inlet and outlet; "
               "remove it, or use \"pressure-drop\", \"velocity\" or \"flow-rate\"");
  for (const int axis : options.axes)
    if (options.drive == FlowDrive::pressure_gradient && options.gradient[axis] == 0.0)
      in.mistake("flow.gradient",
                 fmt::format("0 along {}, where a solve is requested; give it a value, or remove {} from flow.axes",
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
  in.refuse({"flow.drive", "flow.pressure_drop", "flow.gradient", "flow.velocity", "flow.flow_rate"},
            fmt::format("a second driving force: [[flow.{0}]] drives the flow already; remove this key or the {0}",
                        lids ? "lid" : "inlet"));
  if (lids)
    in.refuse({"flow.reservoir"},
              "lids drive the fluid tangentially, so nothing flows in or out through an end of the sample; remove it");
  in.refuse(
      {"flow.estimate_error", "flow.uncertainty", "flow.steps"},
      fmt::format("belongs to permeabilities, which {} not give; remove this key", lids ? "lids do" : "an inlet does"));
  options.estimate_error = false;
}

/// Flow goes where the fastest lid does.
void check_lids(Reader& in, FlowOptions& options) {
  if (!options.inlets.empty()) in.mistake("flow.lid", "given together with [[flow.inlet]]; remove one of them");
  if (in.given("flow.axes"))
    in.mistake("flow.axes", "without effect: lids determine the direction of the flow; remove this key");
  double largest = 0.0;
  for (const FlowLid& lid : options.lids)
    for (int d = 0; d < 3; ++d)
      if (std::abs(lid.velocity[d]) > largest) {
        largest = std::abs(lid.velocity[d]);
        options.axes = {d};
      }
  if (largest == 0.0) in.mistake("flow.lid", "all lids are at rest, so nothing drives the fluid; give one a velocity");
}

void check_inlets(Reader& in, FlowOptions& options) {
  if (options.inlets.size() > 1)
    in.mistake("flow.inlet", fmt::format("{} inlets; only one is possible: the fluid leaves at the opposite face",
                                         options.inlets.size()));
  if (std::ranges::count(options.inlets, "parabolic", &FlowInlet::profile) > 0 && options.sides != FlowWalls::no_slip)
    in.mistake("flow.inlet",
               "profile = \"parabolic\" is 0 on the lateral faces of the domain, where the fluid slips; write "
               "flow.sides = \"no-slip\", or give the profile as a formula");
  const std::vector<int> axis{options.inlets[0].side / 2};
  if (in.given("flow.axes") && options.axes != axis)
    in.mistake("flow.axes", "the flow is along the normal of the inlet; remove this key");
  options.axes = axis;
}

/// Unsteady flow: one direction, driven as given, with nothing of what belongs to permeabilities.
void check_unsteady(Reader& in, const FlowOptions& options) {
  if (options.model != FlowModel::navier_stokes && in.given("flow.start"))
    in.mistake("flow.start", "without effect: belongs to flow.model = \"navier-stokes\"; remove this key");
  if (!is_in_time(options.model)) return;
  if (options.axes.size() > 1 && !ends_drive(options))
    in.mistake("flow.axes", "transient flow is driven along one direction; name it, as in axes = [\"x\"]");
  if (options.drive == FlowDrive::velocity || options.drive == FlowDrive::flow_rate)
    in.mistake("flow.drive",
               "transient flow is driven by pressures, an inlet or lids; allowed: \"pressure-drop\", "
               "\"pressure-gradient\", or [[flow.inlet]] or [[flow.lid]] instead of flow.drive");
  in.refuse({"flow.estimate_error", "flow.uncertainty"},
            "belongs to permeabilities; remove this key, or write flow.model = \"stokes\"");
}

/// The grid is refined for a permeability, by its estimated error.
void check_error(Reader& in, const FlowOptions& options) {
  if (!(options.error > 0.0)) return;
  if (options.model != FlowModel::stokes || ends_drive(options))
    in.mistake("flow.error",
               "the grid is refined for permeabilities of Stokes flow alone; remove this key, or write flow.model = "
               "\"stokes\" with a flow.drive");
  if (!options.estimate_error)
    in.mistake("flow.error", "given with flow.estimate_error = false, so no error is known; remove one of them");
  if (options.uncertainty)
    in.mistake("flow.error",
               "given with flow.uncertainty, whose range is computed on the grid of the deck; remove one of them");
  if (options.reservoir > 0)
    in.mistake("flow.error", "given with flow.reservoir, which needs a grid of one level; remove one of them");
}

void check_steps(Reader& in, const FlowOptions& options) {
  if (options.model == FlowModel::navier_stokes)
    in.refuse({"flow.steps", "flow.newton_steps"}, "belongs to flow.model = \"steady\"; remove this key");
  if (options.model == FlowModel::stokes || options.model == FlowModel::unsteady_stokes)
    in.refuse(
        {"flow.steps", "flow.newton_steps"},
        "without effect: Stokes flow is proportional to its driving force; remove this key, or write flow.model = "
        "\"steady\"");
  if (options.steps.empty()) in.mistake("flow.steps", "empty; give at least one factor, or omit it for [1]");
  if (std::ranges::adjacent_find(options.steps, std::ranges::greater_equal{}) != options.steps.end())
    in.mistake("flow.steps", "must increase: each solve starts from the flow of the previous step");
}

void check_without_model(Reader& in) {
  for (const char* key :
       {"flow.drive",         "flow.inlet",          "flow.lid",          "flow.body",         "flow.axes",
        "flow.pressure_drop", "flow.gradient",       "flow.velocity",     "flow.flow_rate",    "flow.sides",
        "flow.tolerance",     "flow.max_iterations", "flow.steps",        "flow.newton_steps", "flow.estimate_error",
        "flow.uncertainty",   "flow.error",          "flow.drive_factor", "flow.drive_table",  "flow.animation",
        "flow.start",         "flow.start_file"})
    if (in.given(key) && !in.given("flow.model"))
      in.mistake(key,
                 "given without flow.model, which requests the job: model = \"stokes\", \"steady\", "
                 "\"unsteady-stokes\" or \"navier-stokes\"");
}

void check_what_drives(Reader& in, FlowOptions& options) {
  if (!ends_drive(options)) return check_drive(in, options);
  check_ends(in, options);
  options.lids.empty() ? check_inlets(in, options) : check_lids(in, options);
}

void read_reservoir(Reader& in, FlowOptions& options) {
  in.integer("flow.reservoir", options.reservoir, "cells",
             "reservoirs: layers of free fluid upstream and downstream of the sample, in which the pores at the inlet "
             "and outlet faces exchange fluid. Steady flow alone: as in an infinite row of samples, along each of "
             "flow.axes. Transient flow, flow from an inlet, transport and chemistry: the domain of all jobs is the "
             "sample with its reservoirs, and inlet and outlet are their outer faces. Places in the deck, porosity, "
             "permeability and pore volumes remain those of the sample; plotfiles, slices and profiles show the "
             "domain, which begins at the outer face of the reservoir on the low side",
             0, 100000);
}

}  // namespace

void read(Reader& in, FluidOptions& options) {
  in.changes_answers_of("fluid", {"flow", "flow in time", "dispersion", "transport", "walls"});
  in.number("fluid.viscosity", options.viscosity, "Pa s", "dynamic viscosity; the permeability does not depend on it",
            1e-12, 1e12, {1e-7, 1e7});
  in.number("fluid.density", options.density, "kg/m3",
            "density, for the Reynolds number and the inertia of models steady and navier-stokes", 1e-6, 1e6,
            {1e-3, 3e4});
}

void read(Reader& in, FlowOptions& options) {
  in.changes_answers_of("flow", {"flow", "flow in time", "dispersion", "transport", "walls"});
  in.changes_answers_of("flow.axes",
                        {"flow in time", "transport", "walls"});  // a steady flow is solved along each of them
  in.changes_answers_of("flow.estimate_error", {});
  in.changes_answers_of("flow.uncertainty", {});
  in.word("flow.model", options.model,
          {{"none", FlowModel::none, "no flow"},
           {"stokes", FlowModel::stokes, "steady creeping flow, solved directly: permeability and velocity"},
           {"steady", FlowModel::steady,
            "creeping flow first, then steady flow with inertia: apparent permeability for each of flow.steps, or flow "
            "from an inlet, or lid-driven flow"},
           {"unsteady-stokes", FlowModel::unsteady_stokes,
            "transient creeping flow from rest, with the time steps of [time]"},
           {"navier-stokes", FlowModel::navier_stokes, "the same with inertia"}},
          "equations of the flow; with one, `karst run` does this job");
  in.word("flow.drive", options.drive,
          {{"none", FlowDrive::none, "nothing: allowed only without a model"},
           {"pressure-gradient", FlowDrive::pressure_gradient, "a mean pressure gradient along periodic directions"},
           {"pressure-drop", FlowDrive::pressure_drop, "fixed pressures on the inlet and outlet faces of the sample"},
           {"velocity", FlowDrive::velocity, "a given Darcy velocity; the pressure drop follows"},
           {"flow-rate", FlowDrive::flow_rate, "a given flow rate; the pressure drop follows"}},
          "the driving force of the flow; default with geometry.image: pressure-drop");
  in.word("flow.start", options.start,
          {{"rest", FlowStart::rest, "the fluid is at rest"},
           {"stokes", FlowStart::stokes, "creeping flow under the driving force at time 0"},
           {"steady", FlowStart::steady, "steady flow with inertia under the driving force at time 0"}},
          "model navier-stokes: the flow at time 0");
  read_start_file(in, options);
  if (is_in_time(options.model)) {  // a step has less to say than a permeability
    options.tolerance = 1e-6;
    options.estimate_error = false;
  }
  read_drive_values(in, options);
  in.word("flow.sides", options.sides,
          {{"symmetry", FlowWalls::symmetry, "free slip: no flow through them, no friction"},
           {"no-slip", FlowWalls::no_slip, "a wall, such as the sleeve of a core"},
           {"periodic", FlowWalls::periodic, "grid.periodic is true along all of them"}},
          "lateral faces of the sample, where the domain is not periodic");
  read_reservoir(in, options);
  in.number("flow.tolerance", options.tolerance, "-",
            "relative residual at which a solve ends; transient models: 1e-6 by default, relative to the strongest "
            "driving force or, if larger, to the momentum advected in a step",
            1e-12, 1e-2);
  in.integer("flow.max_iterations", options.max_iterations, "-", "a solve that needs more is an error", 1, 1000000);
  in.numbers("flow.steps", options.steps, "-",
             "model steady: factors on the driving force, increasing, one solve for each, which starts from the "
             "previous flow; three or more give Forchheimer's coefficient",
             1e-12, 1e12);
  in.integer("flow.newton_steps", options.newton_steps, "-",
             "model steady: a solve that needs more steps of Newton's method is an error", 1, 10000);
  read_trust(in, options);
  if (in.documenting()) return;
  options.sides_given = in.given("flow.sides");
  options.estimate_given = options.estimate_error && in.given("flow.estimate_error");
  check_steps(in, options);
  check_unsteady(in, options);
  if (options.model != FlowModel::none) check_error(in, options);
  options.model == FlowModel::none ? check_without_model(in) : check_what_drives(in, options);
}

}  // namespace karst
