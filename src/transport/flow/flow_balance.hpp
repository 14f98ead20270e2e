// SPDX-License-Identifier: BSD-3-Clause
// A flow that is continuous but in some places is made continuous around them, box by box.
//
//   parts   the connected parts of the fluid in each box; what Σ F of a part lacks flows from part to part, by a
//           potential that is the same in all of a part (PartGraph)
//   boxes   what is left in it, 0 in sum, by a potential in the box alone: conjugate gradients, F += -∇x; only where
//           more than 1e-4 of what a volume exchanges is left
//   trees   the rest, to round-off, along trees of faces: in each part a volume hands on to the next towards the root
//           what it has too much of, and a part to the next part
//
// All of it depends on the grid and the flow alone, to the last bit: neither on owners nor on threads. O(volumes), most
// of it in boxes where something is left. What follows a flow everywhere, as the projection (flow_projection.hpp) of
// one that ends at walls, is not its task: parts know no more of each other than two numbers.
#pragma once

#include <span>

#include "transport/volumes/conductances.hpp"

namespace karst {

/// Makes Σ of the fluxes out of each volume 0 to round-off; not of isolated fragments. Where no domain face with a flow
/// leads out of a pore its Σ, which no flow can take away, is divided among its volumes. Collective.
/// @param open      open_faces() of the flow
/// @param exchange  what each own volume exchanges [h0³/time]
/// @param[in,out] flow  one number per face [h0³/time]
void balance_flow(ScalarGrid& grid, const Conductances& open, std::span<const double> exchange, std::span<double> flow);

}  // namespace karst
