// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/transport_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace karst {

namespace {

std::array<bool, 6> sides_in_gradients(const std::vector<ScalarComponent>& components) {
  std::array<bool, 6> given{};
  for (const ScalarComponent& c : components)
    for (std::size_t s = 0; s < 6; ++s) given[s] = given[s] || c.sides[s].kind == ScalarSide::Kind::fixed;
  return given;
}

}  // namespace

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
          fmt::format("transport: component {} reacts at the wall and does not diffuse, so nothing gets there; give it "
                      "a diffusivity",
                      c.name));
  }
  return found;
}

TransportStepper::TransportStepper(std::shared_ptr<const Composite> composite, std::vector<ScalarComponent> components,
                                   const TransportOptions& options)
    : components_([&] {
        const std::vector<std::string> wrong = mistakes(components);
        require(wrong.empty(), "{}", join(wrong, "\n"));
        return std::move(components);
      }()),
      options_(options),
      grid_(make_scalar_grid(std::move(composite), sides_in_gradients(components_))),
      low_(grid_),
      work_(components_.size()),
      flux_(static_cast<std::size_t>(grid_.n_faces), Purpose::fields, 0.0),
      mean_(static_cast<std::size_t>(grid_.n_values), Purpose::fields, 0.0) {
  for (Array<double>& g : gradient_) g = Array<double>(static_cast<std::size_t>(grid_.n_all), Purpose::fields, 0.0);
  const auto n = static_cast<std::size_t>(grid_.n_own);
  for (std::size_t i = 0; i < work_.size(); ++i) {
    Work& w = work_[i];
    w.low = Array<double>(static_cast<std::size_t>(grid_.n_values), Purpose::fields, 0.0);
    w.correction = Array<double>(static_cast<std::size_t>(grid_.n_faces), Purpose::fields, 0.0);
    w.ends.resize(grid_.boundary.size());
    if (components_[i].diffusivity == 0.0) continue;
    for (std::size_t j = 0; j < i && w.group == nullptr; ++j)
      if (work_[j].group != nullptr && diffuse_alike(grid_, components_[j], components_[i])) w.group = work_[j].group;
    if (w.group == nullptr) w.group = groups_.emplace_back(make_diffusion_group(grid_, components_[i])).get();
    if (w.group->low.wall.size() > 0) {
      w.wall = Array<double>(n, Purpose::fields, 0.0);
      w.through_wall = Array<double>(n, Purpose::fields, 0.0);
      if (wall_flux_.size() == 0) wall_flux_ = Array<double>(n, Purpose::fields, 0.0);
    }
  }
  corrections_.reserve(work_.size());
  if (!groups_.empty()) diffusion_ = std::make_unique<DiffusionScratch>(grid_, 1);
}

TransportStepper::~TransportStepper() = default;

FlowContinuity TransportStepper::set_flow(FaceField& flow) {
  return karst::set_flow(grid_, flow, options_.allowed_divergence, flow_);
}

TransportState TransportStepper::make_state() const {
  TransportState state;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    state.values.emplace_back(static_cast<std::size_t>(grid_.n_values), Purpose::fields, 0.0);
    state.range.push_back({0.0, 0.0});
  }
  return state;
}

void TransportStepper::set_values(TransportState& state, std::size_t component,
                                  const std::function<double(const Vec3&)>& value) {
  const std::span<double> c = state.values[component].span();
  parallel_for(grid_.n_own, [&](std::int64_t i) { c[i] = value(grid_.centroid[i]); });
  start_range(state, component);
}

void TransportStepper::set_values(TransportState& state, std::size_t component, const CellField& field, int of_field) {
  require(&field.grid().geometry() == &grid_.composite->geometry(), "transport: values are on another geometry");
  std::size_t v = 0;
  for (int l = 0; l < field.n_levels(); ++l)
    for (; v < static_cast<std::size_t>(grid_.level_begin[static_cast<std::size_t>(l) + 1]); ++v)
      state.values[component][v] = field.level(l).data(of_field)[grid_.slots[v]];
  start_range(state, component);
}

void TransportStepper::set_values(TransportState& state, std::size_t component, std::span<const double> values) {
  std::ranges::copy(values.first(grid_.n_own), state.values[component].span().begin());
  start_range(state, component);
}

void TransportStepper::start_range(TransportState& state, std::size_t component) {
  const std::span<double> c = state.values[component].span();
  fetch_remote(grid_, c);
  const auto extreme = [&](double sign) {
    return grid_.composite->comm().max(parallel_max(grid_.n_own, [&](std::int64_t i) { return sign * c[i]; }));
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
  require(&field.grid().geometry() == &grid_.composite->geometry(), "transport: the field is on another geometry");
  std::size_t v = 0;
  for (int l = 0; l < field.n_levels(); ++l)
    for (; v < static_cast<std::size_t>(grid_.level_begin[static_cast<std::size_t>(l) + 1]); ++v)
      field.level(l).data(of_field)[grid_.slots[v]] = state.values[component][v];
}

std::span<const double> TransportStepper::wall_amounts(std::size_t component) const {
  return work_[component].through_wall.span();
}

std::int64_t TransportStepper::bytes() const {
  std::size_t sum = flux_.bytes() + mean_.bytes() + wall_flux_.bytes() + limiter_.bytes() + flow_.all.bytes() +
                    flow_.explicit_part.bytes() + sizeof(ImplicitFace) * flow_.implicit_faces.capacity() +
                    flow_.outflow.bytes() + flow_.implicit_volume.bytes();
  for (const Array<double>& g : gradient_) sum += g.bytes();
  for (const Work& w : work_)
    sum += w.low.bytes() + w.correction.bytes() + w.wall.bytes() + w.through_wall.bytes() + 8 * w.ends.capacity();
  std::int64_t all = static_cast<std::int64_t>(sum) + grid_.bytes() + low_.bytes();
  for (const auto& g : groups_) all += g->bytes();
  return all + (diffusion_ != nullptr ? diffusion_->bytes() : 0);
}

}  // namespace karst
