// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/kept_diffusion.hpp"

#include <algorithm>
#include <utility>

namespace karst {

KeptDiffusion::Group KeptDiffusion::take(const DiffusionGroup& like) {
  const auto found = std::ranges::find_if(groups, [&](const Group& g) {
    return g.diffusivity == like.low.diffusivity && g.fixed == like.low.fixed && g.wall == like.reacts;
  });
  if (found == groups.end()) return {};
  Group group = std::move(*found);
  groups.erase(found);
  return group;
}

std::vector<std::shared_ptr<DiffusionGroup>> diffusion_groups_of(const Composite& composite) {
  std::vector<std::shared_ptr<DiffusionGroup>> groups;
  if (const auto all = composite.in_use().find<DiffusionGroups>())
    for (const std::weak_ptr<DiffusionGroup>& one : all->groups)
      if (std::shared_ptr<DiffusionGroup> group = one.lock()) groups.push_back(std::move(group));
  return groups;
}

std::vector<KeptDiffusion::Group> keep_rows(std::vector<std::shared_ptr<DiffusionGroup>> groups) {
  std::vector<KeptDiffusion::Group> kept;
  for (std::shared_ptr<DiffusionGroup>& group : groups) {
    kept.push_back(
        {group->low.diffusivity, group->low.fixed, group->reacts, std::move(group->op), std::move(group->rows)});
    group.reset();
  }
  return kept;
}

}  // namespace karst
