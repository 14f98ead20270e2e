// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/rule_fields.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/comm/parallel.hpp"

namespace karst {

namespace {

using Where = Refinement::Where;

/// A variable of followed_variables() at the own volumes.
std::vector<double> column_of(const JobContext& context, const std::string& name, const RuleFields& fields) {
  const ScalarGrid& grid = fields.grid;
  if (name == "t") return std::vector<double>(grid.n_own, fields.time);
  if (name == "speed") return speeds(fields.velocities());
  const double h = context.grid.cell_width();
  if (name == "vorticity") return vorticities(fields.grid, fields.velocities(), h);
  if (name != "x" && name != "y" && name != "z") {
    const std::span<const double> values = fields.component(name);
    return {values.begin(), values.end()};
  }
  const int d = name[0] - 'x';
  const double low = context.sample_low()[d];  // places of a deck are in the sample
  std::vector<double> place(grid.n_own);
  parallel_for(grid.n_own, [&](std::int64_t v) { place[v] = h * (grid.centroid[v][d] - low); });
  return place;
}

std::vector<double> formula_values(const JobContext& context, const Refinement& rule, const RuleFields& fields) {
  const FormulaVariables variables = followed_variables(context.config);
  const NamedFormula formula(rule.formula, variables);
  std::vector<std::vector<double>> values(variables.names.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (formula.uses(i)) values[i] = column_of(context, variables.names[i], fields);
  const std::vector<std::span<const double>> columns(values.begin(), values.end());
  std::vector<double> found(fields.grid.n_own);
  formula.evaluate(columns, found);
  const auto wrong = std::ranges::find_if(found, [](double f) { return std::isnan(f); });
  require(
      !context.comm.any(wrong != found.end()),
      "grid.refine: the formula \"{}\" is not a number at some place at t = {:g} s; it must be one in the whole fluid",
      rule.formula, fields.time);
  return found;
}

}  // namespace

Indicator indicator_of(const JobContext& context, const Refinement& rule, const RuleFields& fields) {
  if (rule.where == Where::formula) return indicator_of(rule, formula_values(context, rule, fields));
  std::vector<double> values = rule.where == Where::speed
                                   ? speeds(fields.velocities())
                                   : vorticities(fields.grid, fields.velocities(), context.grid.cell_width());
  if (rule.relative) divide_by_mean(context.comm, fields.grid, values);
  return indicator_of(rule, std::move(values));
}

}  // namespace karst
