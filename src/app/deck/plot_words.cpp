// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/plot_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/core/text.hpp"

namespace karst {

namespace {

constexpr std::array<PlotWord, 10> plot_list{{
    {"fraction", PlotField::fraction, "fluid volume / cell volume", "", "1"},
    {"distance", PlotField::distance, "level set at the cell centre [m], > 0 in the fluid", "", "m"},
    {"wall_area", PlotField::wall_area, "area of the wall in the cell [m²]", "", "m2"},
    {"wall_normal", PlotField::wall_normal, "unit normal of the wall, into the fluid: a vector", "", "1", true},
    {"mineral", PlotField::mineral,
     "mineral of the wall in the cell: 1, 2, ... in the order of the statistics (summary.json), 0 without wall", "",
     "1"},
    {"velocity", PlotField::velocity,
     "from the solves of [flow] [m/s], a vector; with several axes drive_x_velocity ...", "flow", "m/s", true},
    {"speed", PlotField::speed, "magnitude of the velocity [m/s]; with several axes drive_x_speed ...", "flow", "m/s"},
    {"pressure", PlotField::pressure,
     "from the solves of [flow] [Pa], without the linear drop of the mean gradient; with several axes drive_x_pressure "
     "...",
     "flow", "Pa"},
    {"concentration", PlotField::concentration,
     "from [diffusion], one component per axis (concentration_x ...), which falls by 1 along it; from [transport], one "
     "per component (concentration_NAME)",
     "diffusion", "1", false, "transport"},
    {"chemistry", PlotField::chemistry,
     "from [chemistry]: pH, saturation index of each mineral (saturation_index_NAME), molality of chemistry.species "
     "[mol/kgw] (molality_NAME), thickness of deposits on walls [m] (deposit_NAME), remaining minerals in the volume "
     "[mol/kgw] (mineral_NAME), sorbed amount of each "
     "element [mol/kgw] (sorbed_NAME)",
     "transport", "1"},
}};

}  // namespace

std::span<const PlotWord> plot_words() { return plot_list; }

std::vector<PlotField> read_plot_fields(Reader& in, const std::vector<std::string>& given) {
  std::vector<std::string> known;
  for (const PlotWord& w : plot_list) known.emplace_back(w.word);
  std::vector<PlotField> fields;
  for (const std::string& word : given) {
    const auto at = std::find(known.begin(), known.end(), word);
    if (at == known.end()) {
      in.mistake("output.plot", "\"{}\" is no field{}; allowed: {}", word, did_you_mean(word, known), join(known));
      continue;
    }
    const PlotField field = plot_list[at - known.begin()].field;
    if (std::find(fields.begin(), fields.end(), field) != fields.end())
      in.mistake("output.plot", "\"{}\" is listed twice; name it once", word);
    else
      fields.push_back(field);
  }
  return fields;
}

const PlotWord& word_of(PlotField field) { return *std::ranges::find(plot_list, field, &PlotWord::field); }
std::string_view job_of(PlotField field) { return word_of(field).job; }

std::vector<PlotComponent> plot_components(const std::vector<PlotField>& fields) {
  std::vector<PlotComponent> components;
  for (const PlotField field : fields) {
    const PlotWord& word = word_of(field);
    if (!word.job.empty()) continue;
    const std::string name(word.word);
    if (word.is_vector) {
      for (int d = 0; d < 3; ++d) components.push_back({fmt::format("{}_{}", name, axis_names[d]), field, d});
    } else {
      components.push_back({name, field, 0});
    }
  }
  return components;
}

std::string concentration_name(const std::string& component) { return "concentration_" + component; }

}  // namespace karst
