// SPDX-License-Identifier: BSD-3-Clause
// What output.plot may name: fields of the geometry and of the jobs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

enum class PlotField {
  fraction,
  distance,
  wall_area,
  wall_normal,
  mineral,
  velocity,
  speed,
  pressure,
  concentration,
  chemistry
};

struct PlotWord {
  std::string_view word;
  PlotField field;
  std::string_view help;
  std::string_view job;   ///< of `karst run` that makes it; empty: it belongs to the geometry
  std::string_view unit;  ///< SI, as in "m/s"; "1" without dimension
  bool is_vector = false;
  std::string_view or_job{};  ///< another one that makes it
};
/// The words of output.plot.
std::span<const PlotWord> plot_words();
/// Field of a word of the deck; notes a mistake at output.plot (with the nearest word) when there is none.
std::vector<PlotField> read_plot_fields(Reader& in, const std::vector<std::string>& words);
const PlotWord& word_of(PlotField field);
/// The job that makes a field; empty: none is needed.
std::string_view job_of(PlotField field);

/// One component of the plotfile.
struct PlotComponent {
  std::string name;
  PlotField field;
  int direction;  ///< of a vector
};
/// The components of those of some fields that belong to the geometry, in their order: a vector gives three, with _x,
/// _y, _z.
std::vector<PlotComponent> plot_components(const std::vector<PlotField>& fields);

/// Unit of amounts of [chemistry] in plotfiles and slices.
constexpr const char* unit_of_amounts = "mol/kgw";
/// "concentration_NAME": the field of a component.
std::string concentration_name(const std::string& component);

}  // namespace karst
