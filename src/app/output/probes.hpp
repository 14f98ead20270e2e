// SPDX-License-Identifier: BSD-3-Clause
// [[output.probe]]: what a flow and transport in time have at points, in their histories.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "ins/operator/stokes_levels.hpp"

namespace karst {

/// Probes outside of the sample, or of a domain without reservoirs. The same on every rank. Not collective.
std::vector<std::string> probe_mistakes(const JobContext& run);

/// A value is that of the quadratic polynomial that fits best the values which stand at most two and a half widths away
/// (fields/point_value.hpp), widths of the cell which the probe lies in.
class Probes {
 public:
  Probes() = default;
  /// Where the value of an own unknown stands, from the centre of its cell in widths of it; nothing: it has none.
  /// @param cut  moments of a VoF that is not regular, else null
  using PlaceOf = std::function<std::optional<Vec3>(int level, int box, int vof, const VofMoments* cut)>;
  /// Throws Error on all ranks, naming all probes that no cell with a value holds. Collective.
  Probes(const JobContext& run, const Composite& composite, const PlaceOf& place_of);

  std::size_t size() const { return parts_.size(); }
  /// Of own unknowns.
  using ValueOf = std::function<double(std::int32_t unknown, std::size_t component)>;
  /// Per probe, component after component. Collective.
  std::vector<double> values(const Comm& comm, std::size_t n_components, const ValueOf& value_of) const;
  /// The same where values keep bounds: none beyond the least and the largest that it is made of. Collective.
  std::vector<double> bounded_values(const Comm& comm, std::size_t n_components, const ValueOf& value_of) const;

 private:
  struct Part {
    std::int32_t unknown;
    double weight;
  };
  std::vector<std::vector<Part>> parts_;  // per probe: own unknowns
};

/// For velocity and pressure, at the centres of the flow cells. Collective.
Probes flow_probes(const JobContext& run, const StokesLevels& op);
/// For means of VoFs, at their centroids. Collective.
Probes mean_probes(const JobContext& run, const Composite& composite);

/// Velocity [m/s] and pressure [Pa].
using ProbeValues = std::vector<std::array<double, 4>>;
/// @param solution  StokesSolver::solution()
/// Collective.
ProbeValues flow_at(const Probes& probes, const Comm& comm, std::span<const Quad> solution, double velocity,
                    double pressure);

}  // namespace karst
