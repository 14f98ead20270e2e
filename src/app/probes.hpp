// SPDX-License-Identifier: BSD-3-Clause
// [[output.probe]]: velocity and pressure of a flow in time at points, in its history.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "ins/operator/stokes_levels.hpp"

namespace karst {

/// Velocity [m/s] and pressure [Pa].
using ProbeValues = std::vector<std::array<double, 4>>;

/// Probes outside of the domain. The same on every rank. Not collective.
std::vector<std::string> probe_mistakes(const JobContext& run);

class FlowProbes {
 public:
  FlowProbes() = default;
  /// A value is that of the quadratic polynomial that fits best the flow cells whose centres are at most two and a half
  /// widths away (fields/point_value.hpp), widths of the cell which the probe lies in. Throws Error on all ranks,
  /// naming all that are in the solid. Collective.
  FlowProbes(const JobContext& run, const StokesLevels& op);

  /// @param solution  StokesSolver::solution()
  /// Collective.
  ProbeValues values(const Comm& comm, std::span<const Quad> solution, double velocity, double pressure) const;

 private:
  struct Part {
    std::int32_t unknown;
    double weight;
  };
  std::vector<std::vector<Part>> parts_;  // per probe: own unknowns
};

/// ",NAME_velocity_x_m_s,...,NAME_pressure_Pa" per probe, and values for it.
std::string probe_columns(const std::vector<ProbeOptions>& probes);
std::string probe_line(const ProbeValues& values);

}  // namespace karst
