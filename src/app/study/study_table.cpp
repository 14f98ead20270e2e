// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "app/output/quantity.hpp"
#include "app/study/study.hpp"
#include "base/core/units.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

struct UsualColumn {
  const char *place, *title, *unit;
};
/// What a first look wants, where a summary has it.
constexpr std::array<UsualColumn, 12> usual_columns{{{"porosity", "Porosity", "-"},
                                                     {"walls.last.porosity", "Porosity at the end", "-"},
                                                     {"connected_porosity", "Connected porosity", "-"},
                                                     {"permeability_m2[0][0]", "Permeability along x", "m²"},
                                                     {"permeability_m2[1][1]", "Permeability along y", "m²"},
                                                     {"permeability_m2[2][2]", "Permeability along z", "m²"},
                                                     {"formation_factor[0]", "Formation factor along x", "-"},
                                                     {"formation_factor[1]", "Formation factor along y", "-"},
                                                     {"formation_factor[2]", "Formation factor along z", "-"},
                                                     {"cells.fluid", "Fluid cells", "-"},
                                                     {"seconds.total", "Time of the run", "s"},
                                                     {"memory.peak_bytes", "Memory", "B"}}};

/// The whole text is a number.
bool is_number(const std::string& text) {
  double x = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), x);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

std::string in_csv(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

double number_of(const std::string& value) {
  std::string text = value;
  if (text.starts_with('[')) text = text.substr(1, text.find_first_of(",]") - 1);
  if (const std::size_t x = text.find('x'); x != std::string::npos && x > 0) text = text.substr(0, x);
  if (is_number(text)) return std::stod(text);
  for (const std::string_view unit : units_with_others())
    if (const Measured found = measured(value, unit); found.problem.empty()) return found.value;
  return no_number;
}

double number_at(const Json& summary, const std::string& place) {
  const Json* at = &summary;
  for (const std::string& part : parts_of_place(place)) {
    if (at->is_array()) {
      std::size_t i = 0;
      const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), i);
      if (problem != std::errc() || end != part.data() + part.size() || i >= at->size()) return no_number;
      at = &at->at(i);
    } else {
      if (!at->is_object() || !at->contains(part)) return no_number;
      at = &at->at(part);
    }
  }
  return at->is_number() ? at->get<double>() : no_number;
}

std::vector<std::string> columns_of(const std::vector<std::string>& asked, const std::vector<Json>& summaries) {
  if (!asked.empty()) return asked;
  std::vector<std::string> found;
  for (const UsualColumn& column : usual_columns)
    if (std::ranges::any_of(summaries, [&](const Json& s) { return std::isfinite(number_at(s, column.place)); }))
      found.emplace_back(column.place);
  return found;
}

ColumnWords words_of(const std::string& column) {
  if (column == speed_up) return {"Speed-up, relative to the fewest cores", "-"};
  if (column == efficiency) return {"Efficiency: speed-up over cores", "-"};
  const auto usual = std::ranges::find(usual_columns, std::string_view(column), &UsualColumn::place);
  return usual == usual_columns.end() ? ColumnWords{column, ""} : ColumnWords{usual->title, usual->unit};
}

void add_scaling(StudyTable& table, const std::string& time) {
  const Study& study = table.study;
  const auto cores = [](const StudyCase& c) { return std::max(c.ranks, 1) * std::max(c.threads, 1); };
  const auto others = [&](const StudyCase& c) {
    std::vector<std::string> values;
    for (std::size_t v = 0; v < study.varied.size(); ++v)
      if (study.varied[v] != ranks_heading && study.varied[v] != threads_heading && study.varied[v] != copies_heading)
        values.push_back(c.values[v]);
    return values;
  };
  std::map<std::vector<std::string>, std::size_t> least;  // the case of the fewest cores
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const auto [place, is_first] = least.try_emplace(others(study.cases[i]), i);
    if (!is_first && cores(study.cases[i]) < cores(study.cases[place->second])) place->second = i;
  }
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const std::size_t base = least.at(others(study.cases[i]));
    const double ratio = study.cases[i].copies * table.rows[base].of.at(time) / table.rows[i].of.at(time);
    table.rows[i].of[speed_up] = ratio;
    table.rows[i].of[efficiency] = ratio * cores(study.cases[base]) / cores(study.cases[i]);
  }
  for (const std::string& column : {time, std::string(speed_up), std::string(efficiency)})
    if (std::ranges::find(table.columns, column) == table.columns.end()) table.columns.push_back(column);
}

bool has_remarks(const StudyTable& table) {
  return std::ranges::any_of(table.rows, [](const StudyRow& row) { return !row.remark.empty(); });
}

std::vector<std::string> headings_of(const StudyTable& table) {
  std::vector<std::string> all = table.study.varied;
  all.insert(all.end(), table.columns.begin(), table.columns.end());
  return all;
}

std::vector<std::string> cells_of(const StudyTable& table, std::size_t row,
                                  const std::function<std::string(double)>& number) {
  std::vector<std::string> all = table.study.cases[row].values;
  for (const std::string& name : table.columns) all.push_back(number(table.rows[row].of.at(name)));
  return all;
}

std::string study_csv(const StudyTable& table) {
  std::string text = "case,status";
  for (const std::string& name : headings_of(table)) text += ',' + in_csv(name);
  const bool remarks = has_remarks(table);
  text += remarks ? ",remark\n" : "\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    text += table.study.cases[i].name + ',' + table.rows[i].status;
    for (const std::string& cell : cells_of(table, i, [](double x) { return csv_number("{}", x); }))
      text += ',' + in_csv(cell);
    text += (remarks ? ',' + in_csv(table.rows[i].remark) : "") + '\n';
  }
  return text;
}

std::string study_json(const StudyTable& table) {
  Json json{{"title", table.study.title}, {"deck", table.study.deck},   {"varied", table.study.varied},
            {"columns", table.columns},   {"notes", table.study.notes}, {"cases", Json::array()}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const StudyCase& c = table.study.cases[i];
    Json& row = json["cases"].push_back(Json{{"name", c.name},
                                             {"status", table.rows[i].status},
                                             {"values", c.values},
                                             {"overrides", c.overrides},
                                             {"environment", c.environment}});
    if (!table.rows[i].reason.empty()) row["reason"] = table.rows[i].reason;
    if (!table.rows[i].remark.empty()) row["remark"] = table.rows[i].remark;
    row["results"] = Json::object();
    for (const std::string& name : table.columns) row["results"][name] = table.rows[i].of.at(name);
  }
  return json.dump() + '\n';
}

std::string study_text(const StudyTable& table) {
  std::vector<std::vector<std::string>> cells{headings_of(table)};
  cells[0].insert(cells[0].begin(), "case");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string>& row =
        cells.emplace_back(cells_of(table, i, [](double x) { return text_number("{:.5g}", x); }));
    row.insert(row.begin(), table.study.cases[i].name);
    if (table.rows[i].status != "completed") row.push_back(table.rows[i].status);
    if (!table.rows[i].remark.empty()) row.push_back(table.rows[i].remark);
  }
  std::vector<std::size_t> width(cells[0].size() + 1, 0);
  for (const auto& row : cells)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string text;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], width[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace karst
