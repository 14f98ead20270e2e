// SPDX-License-Identifier: BSD-3-Clause
// Values of own VoFs as fields of plotfiles and pictures: concentrations, and velocity and pressure of a flow.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "fields/joined_cells.hpp"

namespace karst {

/// Mean over the VoFs of each cell of an own box, or over the homes of its fluid where no VoF stands; NaN in cells
/// without an unknown (solid, or under a finer level).
/// @param value  of an own unknown of the numbering, or of one that JoinedCells::remote() puts behind them; NaN: none
/// @param[out] cells  one per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_cells(const JoinedCells& joined, int level, std::int64_t box, std::span<float> cells,
                const std::function<double(std::size_t unknown)>& value);

/// The field of a component for the plotfile and the pictures. Collective.
/// @param values  own unknowns
JobComponent concentration_field(const JobContext& run, const std::string& name, std::span<const double> values);

/// Velocity and pressure of a solve, as the plotfile holds them.
struct KeptFlow {
  int axis = 0;
  std::vector<std::array<float, 4>> values;  ///< own VoFs box after box, then homes on other ranks (JoinedCells)
};
using KeptFlows = std::vector<std::shared_ptr<const KeptFlow>>;

/// Of the own VoFs.
/// @param velocity, pressure  units of the solution [m/s], [Pa]
KeptFlow kept_flow(int axis, std::span<const Quad> solution, double velocity = 1.0, double pressure = 1.0);
/// Puts the homes on other ranks behind the own VoFs. Collective.
void append_homes(const JoinedCells& joined, KeptFlow& flow);

/// How many axes the deck asks for.
enum class Drives { one, several };

/// What the names of components of a drive begin with.
std::string prefix_of(int axis, Drives drives);

/// Components of the solves on one ground. Collective.
std::vector<JobComponent> flow_components(const std::shared_ptr<const Ground>& ground, const KeptFlows& flows,
                                          Drives drives);

/// Fields of a job that is done, on another ground of the same cells of level 0: their values are sent, and kept (4
/// bytes per component and cell of the boxes). Same cells keep theirs; a coarser cell has the mean of the finer ones
/// that have a value, a finer one that of the coarser one. Throws the same Error on all ranks. Collective.
void move_fields(const Comm& comm, const std::shared_ptr<const Ground>& to, std::vector<JobComponent>& fields);

}  // namespace karst
