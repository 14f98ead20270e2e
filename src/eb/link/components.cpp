// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/components.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "eb/link/level_geometry.hpp"

namespace karst {

namespace {

struct LabelledComponent {
  ComponentLabel label;
  Component component;
};

/// A body that lies across a periodic end has its centre where it would be if it were in one piece. One that is both
/// there and in the middle has no such place.
Vec3 center_of(const ComponentFacts& facts, const Domain& domain) {
  Vec3 center = (1.0 / facts.volume) * facts.moment;
  for (int d = 0; d < 3; ++d) {
    const bool across = domain.periodic[d] && (facts.cells_at >> (2 * d) & 3) == 3 && (facts.middle >> d & 1) == 0;
    if (!across) continue;
    center[d] -= domain.cells[d] * facts.high_volume[d] / facts.volume;
    if (center[d] < 0.0) center[d] += domain.cells[d];
  }
  return center;
}

Component component_of(const ComponentFacts& facts, const Domain& domain) {
  Component c{.volume = facts.volume, .center = center_of(facts, domain), .first = facts.first};
  for (int d = 0; d < 3; ++d) {
    if (domain.periodic[d])
      c.through |= static_cast<std::uint8_t>(facts.passes & (1U << d));
    else
      c.ends |= static_cast<std::uint8_t>(facts.ends & (3U << (2 * d)));
  }
  return c;
}

std::array<std::int8_t, 3> direction_of_wall(const Piece& piece) {
  std::array<std::int8_t, 3> wall{};
  for (int d = 0; d < 3 && piece.wall_area > 0.0; ++d)
    wall[d] = static_cast<std::int8_t>(std::lround(KeptPiece::full_wall * piece.wall[d] / piece.wall_area));
  return wall;
}

/// @param of_part  number of the component of each part of the box
ComponentsInBox cells_of_box(const PieceBox& box, const std::vector<std::uint16_t>& part,
                             const std::vector<std::int32_t>& of_part) {
  ComponentsInBox in_box;
  const auto number = [&](int id) { return of_part[part[id]]; };
  for (int c = 0; c < box.n_cells(); ++c) {
    if (box.kind(c) != CellKind::regular) continue;
    const std::int32_t component = number(box.id_of_cell(c));
    std::vector<CellsOfComponent>& runs = in_box.whole;
    if (!runs.empty() && runs.back().component == component && runs.back().first + runs.back().n == c)
      ++runs.back().n;
    else
      runs.push_back({component, static_cast<std::uint16_t>(c), 1});
  }
  for (int p = 0; p < box.n_pieces(); ++p) {
    const Piece& piece = box.cut.pieces[p];
    PieceOfComponent& of = in_box.cut.emplace_back();
    of.component = number(box.id_of_piece(p));
    of.volume = static_cast<float>(piece.kappa);
    for (int d = 0; d < 3; ++d) of.centroid[d] = static_cast<float>(piece.centroid[d]);
    of.wall = direction_of_wall(piece);
    of.cell = piece.cell;
  }
  return in_box;
}

}  // namespace

Components components_of(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                         const FactsByLabel& facts) {
  const Domain& domain = boxes.layout().domain();
  std::map<ComponentLabel, std::vector<int>> askers;
  std::vector<LabelledComponent> mine;
  for (const auto& [l, whole] : gather_at_owners(boxes, facts, askers))
    mine.push_back({l, component_of(whole, domain)});
  std::vector<LabelledComponent> all = boxes.comm().all_gather(std::span<const LabelledComponent>(mine));
  std::ranges::sort(all, {}, [](const LabelledComponent& c) { return c.component.first; });
  std::map<ComponentLabel, std::int32_t> number;
  Components found;
  found.layout = boxes.layout();
  for (const LabelledComponent& c : all) {
    number[c.label] = static_cast<std::int32_t>(found.all.size());
    found.all.push_back(c.component);
  }
  found.in_box.resize(boxes.n_own());
  parallel_for(boxes.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    std::vector<std::int32_t> of_part;
    for (const ComponentLabel l : label[i]) of_part.push_back(number.at(l));
    found.in_box[i] = cells_of_box(boxes.box(slot), parts.part[i], of_part);
  });
  return found;
}

}  // namespace karst
