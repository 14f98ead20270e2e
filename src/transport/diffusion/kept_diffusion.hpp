// SPDX-License-Identifier: BSD-3-Clause
// Rows of diffusion that go from one grid to the next, where boxes are the same with all that is around them
// (decision 079). Whoever changes the grid takes them and holds them until the groups on the new grid are made.
#pragma once

#include <memory>
#include <vector>

#include "fields/same_boxes.hpp"
#include "transport/diffusion/diffusion_stages.hpp"

namespace karst {

/// Of a grid that goes. A group is taken once: what it held is free as soon as the new one is made.
struct KeptDiffusion {
  struct Group {
    double diffusivity = 0.0;
    GivenSides fixed{};
    bool wall = false;
    std::unique_ptr<EllipticOperator> op;
    DiffusionRows rows;
  };
  std::shared_ptr<const SameBoxes> same;  ///< on the new grid
  std::vector<Group> groups;

  /// Those of the same equation, without an operator where there are none.
  Group take(const DiffusionGroup& like);
};

/// The groups on a composite. Not collective.
std::vector<std::shared_ptr<DiffusionGroup>> diffusion_groups_of(const Composite& composite);
/// What is kept of groups that nobody uses any more. Not collective.
std::vector<KeptDiffusion::Group> keep_rows(std::vector<std::shared_ptr<DiffusionGroup>> groups);

}  // namespace karst
