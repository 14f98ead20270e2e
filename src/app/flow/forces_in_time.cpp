// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/flow/flow_job.hpp"
#include "app/flow/periodic_state.hpp"
#include "app/output/page_values.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "ins/upscale/end_flow.hpp"

namespace karst {

namespace {

/// Of the component with the largest amplitude of those that repeat themselves; null: none does.
Json oscillation_json(std::span<const double> time, std::span<const Vec3> force, const FlowBody& body,
                      const ForceHistory& history) {
  Json found;
  double most = 0.0;
  for (int d = 0; d < 3; ++d) {
    std::vector<double> values;
    for (const Vec3& f : force) values.push_back(f[d]);
    const auto state = periodic_state(time, values);
    if (!state || state->amplitude <= most) continue;
    most = state->amplitude;
    Vec3 amplitude;
    amplitude[d] = state->amplitude;
    found = {{"axis", axis_names[d]},
             {"frequency_Hz", state->frequency()},
             {"force_mean_N", state->mean},
             {"force_amplitude_N", state->amplitude}};
    if (const auto c = force_coefficients(amplitude, body, history.options, history.fluid))
      found["coefficient_amplitude"] = (*c)[d];
  }
  return found;
}

}  // namespace

void ForceHistory::add(std::span<const BodyForce> forces) {
  totals.resize(forces.size());
  for (std::size_t i = 0; i < forces.size(); ++i) totals[i].push_back(forces[i].total());
}

void each_force(const ForceHistory& history, std::size_t body, const BodyForce& force,
                const std::function<void(const std::string& name, const char* unit, const Vec3& value)>& f) {
  const FlowBody& of = history.options.bodies[body];
  const auto parts = parts_of(force);
  for (const auto& [name, value] : parts) f(fmt::format("{}_{}", of.name, name), "N", value);
  for (const auto& [name, value] : parts)
    if (const auto c = force_coefficients(value, of, history.options, history.fluid))
      f(fmt::format("{}_{}_coefficient", of.name, name), "", *c);
}

Json forces_in_time_json(const ForceHistory& history, std::span<const double> time, std::span<const BodyForce> at_end) {
  Json bodies = forces_json(at_end, history.options, history.fluid);
  for (std::size_t i = 0; i < at_end.size(); ++i) {
    const FlowBody& body = history.options.bodies[i];
    const std::vector<Vec3>& all = history.totals[i];
    Vec3 low = all.back(), high = all.back();
    for (std::size_t n = 0; n < all.size(); ++n)
      if (time[n] >= 0.5 * time.back())
        for (int d = 0; d < 3; ++d) {
          low[d] = std::min(low[d], all[n][d]);
          high[d] = std::max(high[d], all[n][d]);
        }
    Json& one = bodies[i];
    one["last_half"] = {{"smallest_force_N", low}, {"largest_force_N", high}};
    const auto smallest = force_coefficients(low, body, history.options, history.fluid);
    if (smallest) {
      one["last_half"]["smallest_coefficient"] = *smallest;
      one["last_half"]["largest_coefficient"] = *force_coefficients(high, body, history.options, history.fluid);
    }
    if (const Json found = oscillation_json(time, all, body, history); !found.is_null()) one["periodic_state"] = found;
  }
  return bodies;
}

std::string forces_in_time_text(const Json& bodies) {
  std::string text;
  const auto vector = [](const Json& v) {
    return triple_text({v[0].get<double>(), v[1].get<double>(), v[2].get<double>()});
  };
  for (const Json& body : bodies) {
    const Json& half = body.at("last_half");
    text += fmt::format("  force on {} at the end {} N\n", name_of(body), vector(body.at("force_N")));
    if (half.contains("largest_coefficient"))
      text += fmt::format("    coefficients {}; over the last half of the run from {} to {}\n",
                          vector(body.at("force_coefficient")), vector(half.at("smallest_coefficient")),
                          vector(half.at("largest_coefficient")));
    if (!body.contains("periodic_state")) continue;
    const Json& state = body.at("periodic_state");
    text +=
        fmt::format("    periodic along {} with {:.5g} Hz, amplitude {:.4g} N\n", state.at("axis").get<std::string>(),
                    number(state, "frequency_Hz"), number(state, "force_amplitude_N"));
  }
  return text;
}

}  // namespace karst
