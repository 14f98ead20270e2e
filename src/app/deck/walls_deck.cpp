// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/walls_deck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

MovingMineral read_mineral(Reader& in) {
  constexpr double largest = 1e300;
  MovingMineral m;
  in.text("name", m.name, "mineral whose walls move (geometry.minerals, geometry.solid.mineral); default: all others");
  in.number("molar_volume", m.molar_volume, "m3/mol",
            "volume of a mole of the mineral; needed where a component dissolves it; default with [chemistry]: that of "
            "the database",
            0.0, largest, {1e-6, 1e-2});
  in.text(
      "component", m.component,
      "component whose flux into the wall ([[transport.wall]]) dissolves the mineral, with concentrations in "
      "mol/m3; default: the only one of the deck, with [chemistry] the [[chemistry.mineral]] that lies on the wall");
  in.number(
      "moles", m.moles, "-",
      "moles of the mineral that dissolve per mole of the component that the wall takes, such as 0.5 for 2 H+ per "
      "CaCO3; negative: the mineral consists of the component and grows by what the wall takes, such as -1 for a "
      "dissolved salt (where the wall gives some off, below the equilibrium, it dissolves)",
      -largest, largest);
  in.number("speed", m.speed, "m/s",
            "speed of the wall into the solid, in addition to that of the component; negative: the mineral grows",
            -largest, largest, {1e-18, 0.1});
  if (in.documenting()) return m;
  m.moles_given = in.given("moles");
  if (m.moles == 0.0) in.mistake("moles", "0: the mineral would not dissolve, whatever its wall takes");
  if (!in.given("molar_volume"))
    in.refuse({"component", "moles"}, "given without molar_volume, so no component dissolves the mineral");
  return m;
}

}  // namespace

double WallsEnd::part(double first, double now) const {
  if (of == Of::nothing) return 0.0;
  const auto scale = [&](double x) { return of == Of::permeability ? std::log(x) : x; };
  const double part = (scale(now) - scale(first)) / (scale(limit(first)) - scale(first));
  return part > 0.0 ? std::min(part, 1.0) : 0.0;  // also where there is no number
}

std::string met_at_once(const WallsEnd& end, const std::string& text, double first) {
  if (end.of == WallsEnd::Of::nothing || !end.reached(first, first)) return {};
  return fmt::format("walls.until: \"{}\" is met at the beginning, before any wall moves: the {} is {:.5g}{}", text,
                     end.of == WallsEnd::Of::porosity ? "porosity" : "permeability", first,
                     end.of == WallsEnd::Of::porosity ? "" : " m2");
}

WallsEnd parse_walls_end(const std::string& text) {
  std::vector<std::string> words;
  std::string spaced;
  for (const char c : text) spaced += c == '>' || c == '<' || c == '*' ? fmt::format(" {} ", c) : std::string(1, c);
  for (const std::string& word : split(spaced, ' '))
    if (!word.empty()) words.push_back(word);
  const auto wrong = [&] {
    return Error(
        fmt::format("\"{}\" is no condition; expected: porosity or permeability, > or <, and a number or a "
                    "multiple of the first one, such as \"porosity > 0.8\", \"permeability > 10 * first\"",
                    text));
  };
  if (words.size() != 3 && words.size() != 5) throw wrong();
  WallsEnd end;
  end.of = words[0] == "porosity"       ? WallsEnd::Of::porosity
           : words[0] == "permeability" ? WallsEnd::Of::permeability
                                        : WallsEnd::Of::nothing;
  end.above = words[1] == ">";
  end.of_first = words.size() == 5;
  const bool turned = end.of_first && words[2] == "first";
  const std::string& number = words[turned ? 4 : 2];
  char* last = nullptr;
  end.value = std::strtod(number.c_str(), &last);
  const bool first = !end.of_first || (words[3] == "*" && words[turned ? 2 : 4] == "first");
  if (end.of == WallsEnd::Of::nothing || (!end.above && words[1] != "<") || last != number.c_str() + number.size() ||
      !(end.value >= 0.0) || !first)
    throw wrong();
  return end;
}

void read(Reader& in, WallsDeck& deck) {
  in.changes_answers_of("walls", {"walls"});
  in.number("walls.displacement", deck.displacement, "-",
            "most that a wall moves per step, in cell widths (of the cells at the walls); each step solves flow and "
            "transport again",
            0.01, 1.0);
  in.number(
      "walls.standstill", deck.standstill, "-",
      "transport in time: where concentrations and what dissolves change by less than this part in the time that "
      "the flow (or diffusion) takes through the domain, they count as steady, and time goes on at once until the "
      "wall has moved by walls.displacement; 0: all steps of transport are made",
      0.0, 0.1);
  in.text(
      "walls.until", deck.until_text,
      "condition that ends the run before time.end: porosity or permeability (along the first of flow.axes, m2) > or "
      "< a number, or a multiple of what it was at the beginning: \"porosity > 0.8\", \"permeability > 10 * first\"");
  if (in.given("walls.until")) in.attempt("walls.until", [&] { deck.until = parse_walls_end(deck.until_text); });
  in.word<LooseSolid>(
      "walls.fragments", deck.fragments,
      {{"keep", LooseSolid::keep, "they stay where they are"},
       {"remove", LooseSolid::remove, "they leave with the fluid as solid, at once, and are counted as carried away"}},
      "solid that comes loose while walls move, as large as a cell or larger");
  in.flag(
      "walls.animation", deck.animation,
      "write animation_walls.png, an animated PNG of the fluid in the plane through the middle, and with steady "
      "transport animation_NAME.png of each component; they are also in the report, which shows three times without");
  in.tables("walls.mineral", "walls that move: a mineral that dissolves or grows", [&](Reader& item) {
    MovingMineral m = read_mineral(item);
    if (item.documenting()) return;
    if (std::ranges::count(deck.minerals, m.name, &MovingMineral::name) > 0)
      item.mistake("name", m.name.empty() ? std::string("two entries without a name")
                                          : fmt::format("two entries for \"{}\"", m.name));
    deck.minerals.push_back(std::move(m));
  });
  if (!deck.asked())
    in.refuse({"walls.displacement", "walls.standstill", "walls.until", "walls.fragments", "walls.animation"},
              "given without [[walls.mineral]], so no wall moves; remove it");
}

}  // namespace karst
