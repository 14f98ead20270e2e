// SPDX-License-Identifier: BSD-3-Clause
#include "transport/transport_deck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "eb/shapes/formula.hpp"
#include "transport/volumes/usual_diffusivities.hpp"

namespace karst {

namespace {

constexpr double largest = 1e300;

bool is_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '+' ||
           c == '-';
  });
}

/// Plotfiles hold concentration_x, _y and _z as a vector, which the job of diffusion makes; profiles.csv has columns
/// of its own beside the components.
std::string why_reserved(const std::string& name) {
  for (const char* end : axis_names)
    if (name == end || name.ends_with(std::string("_") + end))
      return fmt::format(
          "\"{}\" is reserved: fields whose names end in _x, _y, _z are those of a vector; expected: another "
          "end, such as {}1",
          name, name);
  for (const char* column : {"time_s", "pore_volumes", "position_m"})
    if (name == column)
      return fmt::format("\"{}\" is reserved: a column of profiles.csv; expected: another name", name);
  return {};
}

void check_formula(Reader& in, std::string_view key, const std::string& text, std::string_view variables) {
  in.attempt(key, [&] { const Formula formula(text, variables); });
}

bool compiles(const std::string& text, std::string_view variables) {
  try {
    const Formula formula(text, variables);
    return true;
  } catch (const Error&) {
    return false;
  }
}

constexpr const char* initial_help = "a number, or a formula of x, y, z [m] from the low corner of the domain";

void read_initial(Reader& in, ComponentDeck& c) {
  in.number_or_formula("initial", c.initial, "C", fmt::format("initial concentration: {}", initial_help));
  in.file("initial_file", c.initial_file,
          "instead of initial: an array with one value per cell of level 0, relative to the deck: file.h5:/data (last "
          "axis x), file.npy, any other image that `karst import` reads, or a raw file (x fastest); finer cells take "
          "the value of the cell that contains them");
  in.text("initial_file_type", c.initial_file_type, "type of the values of a raw file: float64, float32, uint8, ...");
  std::vector<double> bounds;
  in.numbers("bounds", bounds, "C",
             "smallest and largest concentration allowed in the deck, such as [0, 1]: initial, inlet and outlet values "
             "beyond them are reported as errors before the transport starts; default: no bounds",
             -largest, largest);
  if (in.documenting()) return;
  c.initial_given = in.given("initial");
  c.initial_file_type_given = in.given("initial_file_type");
  check_formula(in, "initial", c.initial, "xyz");
  if (c.initial_given && in.given("initial_file"))
    in.mistake("initial_file", "given together with initial; remove one of them");
  if (in.given("initial_file_type") && !in.given("initial_file"))
    in.mistake("initial_file_type", "given without initial_file; remove it");
  if (!in.given("bounds")) return;
  if (bounds.size() != 2 || bounds[0] > bounds[1])
    in.mistake("bounds", "expected: two numbers, the smaller one first, such as [0, 1]");
  else
    c.bounds = {bounds[0], bounds[1]};
}

/// What stands in the deck beside the reading of numbers.
void check_component(Reader& in, ComponentDeck& c, const std::string& outlet) {
  c.inlet_given = in.given("inlet") || in.given("inlet_table");
  c.inlet_kind_given = in.given("inlet_kind");
  c.inlet_of_place = !compiles(c.inlet, "t") && compiles(c.inlet, "xyz");
  if (!c.inlet_of_place) check_formula(in, "inlet", c.inlet, "t");
  if (!is_name(c.name))
    in.mistake("name", c.name.empty()
                           ? std::string("missing; every component needs a name")
                           : fmt::format("\"{}\" is no name; expected: letters, digits, _, + and -", c.name));
  else if (const std::string reserved = why_reserved(c.name); !reserved.empty())
    in.mistake("name", reserved);
  if (!in.given("outlet")) return;
  check_formula(in, "outlet", outlet, "t");
  c.outlet = outlet;
}

ComponentDeck read_component(Reader& in, double usual_diffusivity) {
  ComponentDeck c;
  c.diffusivity = usual_diffusivity;
  in.text("name", c.name,
          "name of the component in results and fields: letters, digits, _, + and -; not x, y or z, and not ending in "
          "_x, _y or _z");
  in.number("diffusivity", c.diffusivity, "m2/s",
            "diffusivity in the free fluid; default: transport.diffusivity; 0: none", 0.0, largest,
            usual_diffusivities);
  in.number("decay", c.decay, "1/s", "rate of first-order decay in the fluid", 0.0, largest);
  in.number("source", c.source, "C/s", "uniform source in the fluid, concentration per second", -largest, largest);
  read_initial(in, c);
  in.number_or_formula("inlet", c.inlet, "C",
                       "concentration of the inflow at the inlet: a number, a formula of t [s], or in transient "
                       "transport one of x, y, z [m] for inlets side by side: \"y < 1e-3 ? 1 : 0\"");
  std::string table;
  in.file("inlet_table", table,
          "instead of inlet: a text file, relative to the deck, with time [s] and concentration per line; linear "
          "interpolation, constant before the first and behind the last line");
  in.word("inlet_kind", c.inlet_kind,
          {{"flux", EndKind::flux, "the inflow has this concentration, without diffusion through the inlet"},
           {"value", EndKind::value, "fixed concentration on the inlet, with diffusion through it"}},
          "boundary condition at the inlet; without a flow always value");
  std::string outlet;
  in.number_or_formula("outlet", outlet, "C",
                       "fixed concentration on the outlet, with diffusion through it: a number, or a formula of t [s]; "
                       "default: open outlet without diffusion through it");
  in.text("group", c.group,
          "transient transport: components of one group share limiter factors, so that linear relations such as c1 + "
          "c2 - c3 = 0 that hold initially and in the inflow are preserved to round-off if their diffusivities are "
          "equal. Default: limited on its own, independent of other components; \"chemistry\": in the group of the "
          "totals of [chemistry]");
  if (in.documenting()) return c;
  check_component(in, c, outlet);
  if (table.empty()) return c;
  if (in.given("inlet")) in.mistake("inlet_table", "given together with inlet; remove one of them");
  in.attempt("inlet_table",
             [&] { c.inlet_table = read_time_table((std::filesystem::path(in.directory()) / table).string()); });
  return c;
}

void check_wall(Reader& in, const WallDeck& wall) {
  const bool rate = in.given("rate"), number = in.given("damkohler"), flux = in.given("flux");
  if (!rate && !number && !flux)
    in.mistake("rate", "missing; give it, or damkohler, or flux; 0 is a wall that does not react");
  if (rate && number) in.mistake("damkohler", "given together with rate; remove one of them");
  if (flux)
    in.refuse({"rate", "damkohler", "equilibrium", "order"},
              "given together with flux, which does not depend on the concentration; remove it");
  if (number && wall.order != 1.0)
    in.mistake("damkohler",
               fmt::format("for a rate of order {:g} it would depend on a concentration; give rate", wall.order));
  if (wall.order != 1.0 && wall.equilibrium < 0.0)
    in.mistake("equilibrium", fmt::format("{:g} has no power {:g}; 0 or more is needed", wall.equilibrium, wall.order));
}

WallDeck read_wall(Reader& in) {
  WallDeck wall;
  in.text("mineral", wall.mineral, "mineral of the wall; default: all walls");
  in.text("component", wall.component, "component; default: all of them");
  in.number("rate", wall.rate, "m/s", "first-order rate k: k (c - equilibrium) leaves the fluid per area of the wall",
            0.0, largest, {1e-20, 1e3});
  in.number("damkohler", wall.damkohler, "-",
            "instead of rate: Damköhler number k L / D, with L of the Péclet number and D of the component", 0.0,
            largest);
  in.number("equilibrium", wall.equilibrium, "C", "equilibrium concentration, at which the rate is 0", -largest,
            largest);
  in.number(
      "order", wall.order, "-",
      "n of a rate k (c^n - equilibrium^n), k then in C^(1-n) m/s; other than 1: only with transport.mode = \"steady\"",
      0.1, 10.0);
  in.number("flux", wall.flux, "C m/s",
            "instead of rate: flux into the wall per area, < 0: out of it; only with transport.mode = \"steady\"",
            -largest, largest);
  if (!in.documenting()) check_wall(in, wall);
  return wall;
}

RegionDeck read_region(Reader& in) {
  RegionDeck region;
  in.text("component", region.component, "component; default: all of them");
  in.number_or_formula("initial", region.initial, "C",
                       fmt::format("initial concentration inside: {}; required", initial_help));
  read_shape(in, region.shape, ShapeUse::region);
  if (in.documenting()) return region;
  if (in.given("initial"))
    check_formula(in, "initial", region.initial, "xyz");
  else
    in.mistake("initial", "missing; a region gives initial values");
  return region;
}

/// A component that a list names.
void check_component_name(Reader& in, const std::string& key, const std::string& name,
                          const std::vector<std::string>& names) {
  if (name.empty() || std::ranges::count(names, name) > 0) return;
  in.mistake(key, fmt::format("\"{}\" is no component{}; there are: {}", name, did_you_mean(name, names), join(names)));
}

/// A group of one ties nothing.
/// @param more  totals of chemistry come on top
void check_groups(Reader& in, const TransportDeck& deck, bool more) {
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const std::string& group = deck.components[i].group;
    if (group.empty()) continue;
    const std::string key = fmt::format("transport.component[{}].group", i);
    if (deck.steady())
      in.mistake(key, "a steady state preserves all sums without it; remove it");
    else if (std::ranges::count(deck.components, group, &ComponentDeck::group) == 1 &&
             !(more && group == chemistry_group))
      in.mistake(key, fmt::format("\"{}\" has no other component; give it to all components of the group, or remove it",
                                  group));
  }
}

/// Walls, regions and components by their names. Places are those of the list in the deck.
void check_names(Reader& in, const TransportDeck& deck) {
  const std::vector<std::string> names = deck.names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty() && std::ranges::count(names.begin(), names.begin() + i, names[i]) > 0)
      in.mistake(fmt::format("transport.component[{}].name", i),
                 fmt::format("\"{}\" is listed twice; names must be different", names[i]));
  for (std::size_t i = 0; i < deck.walls.size(); ++i) {
    const WallDeck& wall = deck.walls[i];
    check_component_name(in, fmt::format("transport.wall[{}].component", i), wall.component, names);
    for (std::size_t j = 0; j < i; ++j)
      if (deck.walls[j].mineral == wall.mineral && deck.walls[j].component == wall.component)
        in.mistake(fmt::format("transport.wall[{}]", i),
                   fmt::format("the same mineral and component as transport.wall[{}]; one law per wall", j));
  }
  for (std::size_t i = 0; i < deck.regions.size(); ++i)
    check_component_name(in, fmt::format("transport.region[{}].component", i), deck.regions[i].component, names);
}

/// What is not steady, or needs to be.
void check_mode(Reader& in, const TransportDeck& deck) {
  if (!deck.steady()) {
    for (std::size_t i = 0; i < deck.walls.size(); ++i)
      for (const char* key : {"order", "flux"})
        if (key == std::string("order") ? deck.walls[i].order != 1.0 : deck.walls[i].flux != 0.0)
          in.mistake(fmt::format("transport.wall[{}].{}", i, key),
                     "transient transport supports only first-order wall reactions; give transport.mode = \"steady\"");
    return;
  }
  if (deck.animation) in.mistake("transport.animation", "a steady state has no animation; remove it");
  if (!deck.regions.empty())
    in.mistake("transport.region", "a steady state does not depend on initial values; remove it");
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    const auto key = [i](const char* name) { return fmt::format("transport.component[{}].{}", i, name); };
    for (const char* name : {"initial", "initial_file"})
      if (name == std::string("initial") ? c.initial_given : !c.initial_file.empty())
        in.mistake(key(name), "a steady state does not depend on initial values; remove it");
    if (c.inlet_table) in.mistake(key("inlet_table"), "a steady state needs a constant inlet; give inlet");
    for (const auto& [name, text] :
         {std::pair{"inlet", c.inlet_table ? std::string("0") : c.inlet}, {"outlet", c.outlet.value_or("0")}})
      if (!compiles(text, ""))
        in.mistake(key(name), fmt::format("\"{}\" is no constant; a steady state needs a number", text));
    if (c.diffusivity == 0.0)
      in.mistake(key("diffusivity"), "0; a steady state is solved for with diffusion, give a diffusivity above 0");
  }
}

}  // namespace

std::vector<std::string> TransportDeck::names() const {
  std::vector<std::string> all;
  for (const ComponentDeck& c : components) all.push_back(c.name);
  return all;
}

void read(Reader& in, TransportDeck& deck, bool more) {
  in.changes_answers_of("transport", {"transport", "walls"});
  in.word("transport.mode", deck.mode,
          {{"in-time", TransportMode::in_time, "transient, with the time steps of [time]"},
           {"steady", TransportMode::steady,
            "the steady state is computed directly; without [time] and initial values, with constant inlets"}},
          "transient or steady transport");
  in.number("transport.diffusivity", deck.diffusivity, "m2/s", "diffusivity of components without their own", 0.0,
            largest, usual_diffusivities);
  in.number("transport.peclet", deck.peclet, "-",
            "Péclet number U/φ L / D of mean velocity in the pores, transport.peclet_length and transport.diffusivity: "
            "the velocity of the flow is scaled to match it, whatever the driving force; only creeping flow "
            "(flow.model = \"stokes\"); default: the flow as computed",
            1e-12, 1e12);
  in.number("transport.peclet_length", deck.peclet_length, "m",
            "length L of Péclet and Damköhler numbers; default: 6 (1 - porosity) / (wall area per volume), the "
            "diameter of spheres with this surface",
            1e-30, 1e30);
  in.word("transport.axis", deck.axis,
          {{"x", 0, "from -x to +x"}, {"y", 1, "from -y to +y"}, {"z", 2, "from -z to +z"}},
          "without a flow: direction from inlet to outlet; with a flow, flow.axes gives it");
  in.number("transport.tolerance", deck.tolerance, "-",
            "relative tolerance of implicit diffusion and wall reaction, with respect to the change in a step; mass is "
            "conserved to round-off in any case",
            1e-13, 1e-2);
  in.flag("transport.animation", deck.animation,
          "transient transport: write animation_NAME.png for each component, an animated PNG of the plane through the "
          "middle, which is also in the report");
  in.tables("transport.component",
            "a dissolved component; if there is any, `karst run` does this job, which needs [time] or transport.mode = "
            "\"steady\"",
            [&](Reader& item) { deck.components.push_back(read_component(item, deck.diffusivity)); });
  in.tables("transport.wall", "a reacting wall", [&](Reader& item) { deck.walls.push_back(read_wall(item)); });
  in.tables(
      "transport.region",
      "initial values inside a shape, instead of those of the component; where regions overlap, the last one applies",
      [&](Reader& item) { deck.regions.push_back(read_region(item)); });
  if (in.documenting()) {
    deck.components.clear();
    deck.walls.clear();
    deck.regions.clear();
    return;
  }
  deck.axis_given = in.given("transport.axis");
  check_names(in, deck);
  check_groups(in, deck, more);
  if (deck.asked() || more) {
    check_mode(in, deck);
    if (in.given("transport.peclet") && deck.diffusivity <= 0.0)
      in.mistake("transport.peclet", "refers to transport.diffusivity, which is 0; give the diffusivity");
    return;
  }
  in.refuse({"transport.mode", "transport.diffusivity", "transport.peclet", "transport.peclet_length", "transport.axis",
             "transport.tolerance", "transport.animation", "transport.wall", "transport.region"},
            "given without a [[transport.component]], so nothing is transported");
}

double value_at(const std::string& formula, double t) {
  const Vec3 at{t, 0.0, 0.0};
  double value = 0.0;
  Vec3 slope;
  Formula(formula, "t").evaluate({&at, 1}, {&value, 1}, {&slope, 1});
  require(std::isfinite(value), "\"{}\" is {} at t = {:g} s; it must be finite", formula, value, t);
  return value;
}

}  // namespace karst
