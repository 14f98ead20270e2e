// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/transport_parts.hpp"

#include <algorithm>
#include <set>

#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {
namespace {

/// What flows in without diffusion is not the concentration on the end of the domain: there, gradients do not read it.
GivenSides sides_in_gradients(const ScalarComponent& c) { return c.diffusivity > 0.0 ? fixed_sides(c) : GivenSides{}; }

std::vector<GivenSides> sides_in_gradients(const std::vector<ScalarComponent>& components) {
  std::vector<GivenSides> all;
  for (const ScalarComponent& c : components)
    if (std::ranges::count(all, sides_in_gradients(c)) == 0) all.push_back(sides_in_gradients(c));
  return all;
}

/// Group of each component, nullptr where it does not diffuse; makes them. Collective.
std::vector<DiffusionGroup*> make_groups(TransportParts& p) {
  std::vector<DiffusionGroup*> group(p.components.size(), nullptr);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (p.components[i].diffusivity == 0.0) continue;
    for (std::size_t j = 0; j < i && group[i] == nullptr; ++j)
      if (group[j] != nullptr && diffuse_alike(*p.grid, p.components[j], p.components[i])) group[i] = group[j];
    if (group[i] == nullptr) group[i] = p.groups.emplace_back(make_diffusion_group(*p.grid, p.components[i])).get();
  }
  return group;
}

/// Components that share factors and diffuse alike in blocks, as wide as they come.
/// @param sharing  ScalarComponent::group
/// @param group    of each component
void add_blocks(TransportParts& p, const std::string& sharing, const std::vector<DiffusionGroup*>& group) {
  const std::size_t first = p.blocks.size();
  std::vector<DiffusionGroup*> groups{nullptr};
  for (const auto& g : p.groups) groups.push_back(g.get());
  for (DiffusionGroup* const g : groups)
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] != g || p.components[i].group != sharing) continue;
      if (p.blocks.size() == first || p.blocks.back().group != g || p.blocks.back().width == most_side_by_side) {
        p.blocks.emplace_back();
        p.blocks.back().group = g;
        p.blocks.back().shares = !sharing.empty();
        if (sharing.empty()) p.limited_together.emplace_back(p.blocks.size() - 1, p.blocks.size());
        p.blocks.back().gradient_weights = gradient_weights(*p.grid, sides_in_gradients(p.components[i]));
      }
      ComponentBlock& b = p.blocks.back();
      b.component[b.width++] = i;
    }
  if (!sharing.empty()) p.limited_together.emplace_back(first, p.blocks.size());
}

/// Threaded: most of the time is that of the system, which clears the pages.
Array<double> zeros(std::int64_t n) {
  Array<double> all(n, Purpose::fields);
  parallel_for(n, [&](std::int64_t i) { all[i] = 0.0; });
  return all;
}

void make_blocks(TransportParts& p, const std::vector<DiffusionGroup*>& group) {
  std::set<std::string> sharing;
  for (const ScalarComponent& c : p.components) sharing.insert(c.group);
  for (const std::string& s : sharing) add_blocks(p, s, group);
  for (ComponentBlock& b : p.blocks) {
    const auto of = [&](std::int32_t n) { return zeros(std::int64_t{b.width} * n); };
    b.before = of(p.grid->n_values);
    b.low = of(p.grid->n_values);
    b.amount = of(p.grid->n_faces);
    b.end_value.resize(b.width * p.grid->boundary.size());
    b.ends.resize(b.end_value.size());
    if (b.group == nullptr || b.group->low.wall.size() == 0) continue;
    b.wall = of(p.grid->n_own);
    b.through_wall = of(p.grid->n_own);
  }
}

void make_scratch(TransportParts& p) {
  int width = 1, factors = 1;
  bool reacts = false;
  for (const ComponentBlock& b : p.blocks) {
    width = std::max(width, b.width);
    if (!b.shares) factors = std::max(factors, b.width);
    reacts = reacts || b.reacts();
  }
  const auto of = [&](std::int32_t n) { return zeros(std::int64_t{width} * n); };
  StepScratch& s = p.scratch;
  s.mean = of(p.grid->n_values);
  for (Array<double>& g : s.gradient) g = of(p.grid->n_all);
  if (reacts) s.wall = of(p.grid->n_own);
  if (!p.groups.empty()) {
    s.exposure = of(p.grid->n_values);
    s.diffusion = std::make_unique<DiffusionScratch>(*p.grid, width);
  }
  s.limiter = make_limiter(*p.grid, width, factors);
  s.corrections.reserve(p.blocks.size());
}

}  // namespace

std::int64_t StepScratch::bytes() const {
  std::size_t sum = mean.bytes() + exposure.bytes() + wall.bytes() +
                    sizeof(double) * (inner.capacity() + sums.capacity() + extremes.capacity()) +
                    sizeof(Correction) * corrections.capacity();
  for (const Array<double>& g : gradient) sum += g.bytes();
  return static_cast<std::int64_t>(sum) + upwind.bytes() + implicit.bytes() + limiter.bytes() +
         (diffusion != nullptr ? diffusion->bytes() : 0);
}

std::int64_t TransportParts::bytes() const {
  std::int64_t sum = grid->bytes() + scratch.bytes() +
                     static_cast<std::int64_t>(
                         flow.all.bytes() + flow.explicit_part.bytes() + flow.outflow.bytes() + flow.potential.bytes() +
                         sizeof(ImplicitFace) * flow.implicit_faces.capacity() + flow.implicit_volume.bytes());
  for (const ComponentBlock& b : blocks) sum += b.bytes();
  for (const auto& g : groups) sum += g->bytes();
  return sum;
}

std::unique_ptr<TransportParts> make_parts(const std::shared_ptr<const Composite>& composite,
                                           std::vector<ScalarComponent> components, const TransportOptions& options) {
  const std::vector<std::string> wrong = mistakes(components);
  require(wrong.empty(), "{}", join(wrong, "\n"));
  auto parts = std::make_unique<TransportParts>();
  parts->components = std::move(components);
  parts->options = options;
  parts->grid = scalar_grid_of(composite, sides_in_gradients(parts->components));
  const ScalarGrid& grid = *parts->grid;
  parts->volume = grid.composite->comm().sum(parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v]; }));
  make_blocks(*parts, make_groups(*parts));
  make_scratch(*parts);
  return parts;
}

}  // namespace karst
