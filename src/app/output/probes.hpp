// SPDX-License-Identifier: BSD-3-Clause
// [[output.probe]]: what flow, transport and chemistry in time have at points, in their histories.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/job/job.hpp"
#include "app/output/quantity.hpp"

namespace karst {

class StokesLevels;

/// Probes outside of the sample, or of a domain without reservoirs. The same on every rank. Not collective.
std::vector<std::string> probe_mistakes(const JobContext& run);

/// A field at probes.
struct ProbedField {
  std::string name;    ///< in columns
  std::string list{};  ///< member of a probe in summary.json that lists this field and others; empty: one of its own
  std::string key{};   ///< of its history: probe_0_KEY; empty: a row of probe_0
};

/// What probes show of a process: its CSV and its summary. Values: probe after probe, a number per field.
struct ProbeTable {
  std::vector<ProbeOptions> probes;
  std::vector<ProbedField> fields{};
  bool probes_first = false;  ///< columns PROBE_FIELD, probe after probe; else FIELD_at_PROBE, field after field

  std::size_t size() const { return probes.size() * fields.size(); }

  /// Calls f(Quantity, value) for each column; for none if these are not values of it.
  template <class F>
  void each_column(std::span<const double> values, F&& f) const {
    for (std::size_t i = 0; i < size() && values.size() == size(); ++i) {
      const std::size_t p = probes_first ? i / fields.size() : i % probes.size();
      const std::size_t k = probes_first ? i % fields.size() : i / probes.size();
      const std::string &probe = probes[p].name, &field = fields[k].name;
      f(Quantity{probes_first ? probe + '_' + field : field + "_at_" + probe, "", shown::csv},
        double{values[p * fields.size() + k]});
    }
  }

  /// Adds the members "probes", values at the end, and "probe_0" ... of "history": [field][state], or a list per field.
  /// @param states  with a member `probes`
  template <class State>
  void add_to(Json& part, const std::vector<State>& states) const {
    for (std::size_t p = 0; p < probes.size(); ++p) {
      Json& probe = part["probes"].push_back({{"name", probes[p].name}, {"position_m", probes[p].position}});
      for (std::size_t k = 0; k < fields.size(); ++k) {
        const std::size_t i = p * fields.size() + k;
        const std::string key = fmt::format("probe_{}", p);
        Json values = Json::array();
        for (const State& s : states) values.push_back(s.probes[i]);
        if (fields[k].key.empty())
          part["history"][key].push_back(std::move(values));
        else
          part["history"][key + '_' + fields[k].key] = std::move(values);
        (fields[k].list.empty() ? probe[fields[k].name] : probe[fields[k].list].push_back({})) =
            states.back().probes[i];
      }
    }
  }
};

/// A value is that of the quadratic polynomial that fits best the values which stand at most two and a half widths away
/// (fields/point_value.hpp), widths of the cell which the probe lies in.
class Probes {
 public:
  Probes() = default;
  enum class Bounds : std::uint8_t { none, kept };  ///< kept: no value beyond the least and the largest it is made of
  /// Where the value of an own unknown stands, from the centre of its cell in widths of it; nothing: it has none.
  /// @param cut  moments of a VoF that is not regular, else null
  using PlaceOf = std::function<std::optional<Vec3>(int level, int box, int vof, const VofMoments* cut)>;
  /// Throws Error on all ranks, naming all probes that no cell with a value holds. Where walls move, such a probe has
  /// no value instead: a wall may bury and uncover it. Collective.
  Probes(const JobContext& run, const Composite& composite, Bounds bounds, const PlaceOf& place_of);

  /// Those that values are made of, in ascending order.
  std::vector<std::int32_t> unknowns() const;
  /// Of own unknowns.
  using ValueOf = std::function<double(std::int32_t unknown, std::size_t field)>;
  /// Values of a ProbeTable. Collective.
  std::vector<double> values(const Comm& comm, std::size_t n_fields, const ValueOf& value_of) const;

 private:
  struct Part {
    std::int32_t unknown;
    double weight;
  };
  std::vector<std::vector<Part>> parts_;  // per probe: own unknowns
  std::vector<std::uint8_t> buried_;      // per probe: it has no value, on any rank
  Bounds bounds_ = Bounds::none;
};

/// For velocity and pressure, at the centres of the flow cells. Collective.
Probes flow_probes(const JobContext& run, const StokesLevels& op);
/// For means of VoFs, which keep bounds, at their centroids. Collective.
Probes mean_probes(const JobContext& run, const Composite& composite);

}  // namespace karst
