// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/transport_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "transport/march/transport_parts.hpp"

namespace karst {

std::vector<std::string> mistakes(const std::vector<ScalarComponent>& components) {
  std::vector<std::string> found;
  if (components.empty()) found.emplace_back("transport: no component; at least one is needed");
  for (const ScalarComponent& c : components) {
    const auto check = [&](const char* what, double x) {
      if (!(x >= 0.0) || !std::isfinite(x))
        found.push_back(fmt::format("transport: {} of component {} is {}; 0 or more is needed", what, c.name, x));
    };
    check("diffusivity", c.diffusivity);
    check("decay", c.decay);
    if (!std::isfinite(c.source))
      found.push_back(fmt::format("transport: source of component {} is {}; a number is needed", c.name, c.source));
    if (c.wall && c.diffusivity == 0.0)
      found.push_back(
          fmt::format("transport: component {} reacts at the wall but does not diffuse, so none reaches the wall; give "
                      "it a diffusivity",
                      c.name));
  }
  return found;
}

TransportStepper::TransportStepper(const std::shared_ptr<const Composite>& composite,
                                   std::vector<ScalarComponent> components, const TransportOptions& options)
    : parts_(make_parts(composite, std::move(components), options)) {}

TransportStepper::~TransportStepper() = default;

FlowContinuity TransportStepper::set_flow(FaceField& flow, std::span<const double> potential) {
  return karst::set_flow(*parts_->grid, flow, parts_->options.allowed_divergence, parts_->flow, potential,
                         parts_->options.from_other_grid ? Gaps::in_places : Gaps::anywhere);
}

std::vector<double> TransportStepper::flow_potential() const {
  std::vector<double> own(grid().n_own, 0.0);
  const Array<double>& potential = parts_->flow.potential;
  if (potential.size() > 0) std::copy_n(potential.begin(), own.size(), own.begin());
  return own;
}

std::span<const double> TransportStepper::flow() const { return parts_->flow.all.span(); }
double TransportStepper::largest_step() const { return parts_->flow.largest_step; }
double TransportStepper::step_of_most() const { return parts_->flow.step_of_most; }
const ScalarGrid& TransportStepper::grid() const { return *parts_->grid; }
ScalarGrid& TransportStepper::grid() { return *parts_->grid; }
const std::vector<ScalarComponent>& TransportStepper::components() const { return parts_->components; }

TransportState TransportStepper::make_state() const {
  TransportState state;
  for (std::size_t i = 0; i < components().size(); ++i) {
    state.values.emplace_back(grid().n_values, Purpose::fields, 0.0);
    state.range.push_back({0.0, 0.0});
  }
  return state;
}

void TransportStepper::set_values(TransportState& state, std::size_t component,
                                  const std::function<double(const Vec3&)>& value) {
  const std::span<double> c = state.values[component].span();
  parallel_for(grid().n_own, [&](std::int64_t i) { c[i] = value(grid().centroid[i]); });
  start_range(state, component);
}

void TransportStepper::set_values(TransportState& state, std::size_t component, const CellField& field, int of_field) {
  require(field.grid().id() == grid().composite->id(), "transport: values are on ground {}, the volumes on ground {}",
          field.grid().id(), grid().composite->id());
  std::int32_t v = 0;
  for (int l = 0; l < field.n_levels(); ++l)
    for (; v < grid().level_begin[l + 1]; ++v)
      state.values[component][v] = field.level(l).data(of_field)[grid().slots[v]];
  start_range(state, component);
}

void TransportStepper::set_values(TransportState& state, std::size_t component, std::span<const double> values) {
  std::ranges::copy(values.first(grid().n_own), state.values[component].span().begin());
  start_range(state, component);
}

void TransportStepper::start_range(TransportState& state, std::size_t component) {
  const std::span<double> c = state.values[component].span();
  fetch_remote(grid(), c);
  const auto extreme = [&](double sign) {
    return grid().composite->comm().max(parallel_max(grid().n_own, [&](std::int64_t i) { return sign * c[i]; }));
  };
  state.range[component] = {-extreme(-1.0), extreme(1.0)};
}

void TransportStepper::take_changes(TransportState& state, std::size_t component) {
  const ScalarRange before = state.range[component];
  start_range(state, component);
  ScalarRange& range = state.range[component];
  range = {std::min(before.least, range.least), std::max(before.largest, range.largest)};
}

void TransportStepper::get_values(const TransportState& state, std::size_t component, CellField& field,
                                  int of_field) const {
  require(field.grid().id() == grid().composite->id(), "transport: the field is on ground {}, the values on ground {}",
          field.grid().id(), grid().composite->id());
  std::int32_t v = 0;
  for (int l = 0; l < field.n_levels(); ++l)
    for (; v < grid().level_begin[l + 1]; ++v)
      field.level(l).data(of_field)[grid().slots[v]] = state.values[component][v];
}

std::vector<double> TransportStepper::wall_amounts(std::size_t component) const {
  for (const ComponentBlock& b : parts_->blocks)
    for (int c = 0; c < b.width; ++c) {
      if (b.component[c] != component || !b.reacts()) continue;
      std::vector<double> amounts(parts_->grid->n_own);
      for (std::size_t v = 0; v < amounts.size(); ++v) amounts[v] = b.through_wall[b.width * v + c];
      return amounts;
    }
  return {};
}

void TransportStepper::set_beyond_wall(std::size_t component, std::span<const double> change) {
  for (ComponentBlock& b : parts_->blocks)
    for (int c = 0; c < b.width; ++c) {
      if (b.component[c] != component || !b.reacts() || (change.empty() && b.beyond.size() == 0)) continue;
      if (b.beyond.size() == 0) b.beyond = Array<double>(b.wall.size(), Purpose::fields, 0.0);
      for (std::int64_t v = 0; v < grid().n_own; ++v) b.beyond[b.width * v + c] = change.empty() ? 0.0 : change[v];
    }
}

void TransportStepper::go_back(TransportState& state) {
  StepStart& start = parts_->start;
  if (start.range.empty()) return;
  state.time = start.time;
  state.range = start.range;
  if (start.made)
    for (const ComponentBlock& b : parts_->blocks)
      parallel_for(grid().n_values, [&](std::int64_t v) {
        for (int c = 0; c < b.width; ++c) state.values[b.component[c]][v] = b.before[b.width * v + c];
      });
  forget_start();
}

void TransportStepper::forget_start() { parts_->start.range.clear(); }

const LimiterWork& TransportStepper::limiter_work() const { return parts_->scratch.limiter.work; }

std::int64_t TransportStepper::bytes() const { return parts_->bytes(); }

}  // namespace karst
