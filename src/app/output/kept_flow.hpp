// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "app/output/vof_values.hpp"

namespace karst {

/// Velocity and pressure of a solve, as the plotfile holds them.
struct KeptFlow {
  int axis = 0;
  std::vector<std::array<float, 4>> values;  ///< own VoFs box after box, then homes on other ranks (JoinedCells)
};
using KeptFlows = std::vector<std::shared_ptr<const KeptFlow>>;

/// Of the own VoFs.
KeptFlow kept_flow(int axis, std::span<const Quad> solution);
/// Puts the homes on other ranks behind the own VoFs. Collective.
void append_homes(const JoinedCells& joined, KeptFlow& flow);

/// How many axes the deck asks for.
enum class Drives { one, several };

/// What the names of components of a drive begin with.
std::string prefix_of(int axis, Drives drives);

/// Components of the solves on one ground. Collective.
std::vector<JobComponent> flow_components(const std::shared_ptr<const Ground>& ground, const KeptFlows& flows,
                                          Drives drives);

}  // namespace karst
