// SPDX-License-Identifier: BSD-3-Clause
// What the chemistry of a run has of its past, beside its items (transport/reactive/reaction_items.hpp): with both, a
// run that was interrupted goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "chemistry/speciation.hpp"
#include "page/plane_picture.hpp"
#include "transport/reactive/coupled_step.hpp"

namespace karst {

/// A solution that mean totals make.
struct WaterLine {
  double ph = no_number;
  std::vector<double> saturation;  ///< [mineral] log10 Ω; NaN, as the pH, where there is no such water
  double index(std::size_t mineral) const { return saturation.at(mineral); }
};

/// A mineral over a step and since the beginning.
struct MineralLine {
  double rate = 0.0;  ///< of dissolution [mol/s]
  double well_mixed =
      0.0;  ///< A r(mean of all totals over the fluid): what it were if the fluid were well mixed [mol/s]
  double dissolved = 0.0;     ///< since the beginning [mol]
  double amount = no_number;  ///< that is there [mol]; NaN: without end
  double time_error = 0.0;    ///< ReactionReport::time_error since the beginning [mol]
  /// Rate over the well-mixed one: 1 where mixing is fast, below where films hold the reaction back; NaN: that is 0,
  /// or of different sign.
  double ratio() const { return well_mixed != 0.0 && rate / well_mixed >= 0.0 ? rate / well_mixed : no_number; }
};

/// What has become of each element since the beginning [primary] [mol]. in - out + released + by_walls = stored, which
/// is the content less that of the beginning.
struct ElementLedger {
  std::vector<double> in, out;   ///< with the flow and by diffusion, at inlet and outlet
  std::vector<double> released;  ///< by minerals, gases and sorbents into the water; negative: taken
  std::vector<double> by_walls;  ///< with the fluid that walls which move leave or take
  std::vector<double> start;     ///< content of the fluid
  std::vector<double> inflow;    ///< of the last step [mol/s]
  double stored(std::size_t primary, double content) const { return content - start.at(primary); }
};

/// One step of the chemistry.
struct ReactiveLine {
  double time = 0.0, pore_volumes = 0.0;
  WaterLine outlet;  ///< of the flux-weighted mean of each total at the outlet, at the end of the step
  WaterLine mean;    ///< of the mean of each total over the fluid
  std::vector<MineralLine> minerals;
  std::vector<double> content;  ///< [primary] in the fluid [mol]
  std::vector<double> sorbed;   ///< [primary] [mol]; empty where nothing sorbs
  ElementLedger ledger;
  std::vector<double> imbalance;  ///< [primary] what is gained or lost, over what moved and is there
  double charge = 0.0;            ///< in the fluid [mol]
  double charge_imbalance = 0.0;  ///< of the step
  std::int64_t solved = 0, kept = 0, speciations = 0;
  std::vector<double> probes;  ///< of the fields of ReactiveRun
};

/// Planes of pH and saturation indices at a time.
struct ReactivePicture {
  double time = 0.0;
  std::vector<PlaneValues> planes;
};

/// After a step.
struct ReactiveNow {
  ReactiveLine line;        ///< of the last step
  ReactiveLine worst;       ///< largest imbalances, counts of all steps
  Speciation mean, outlet;  ///< the last ones found, where the next search begins
  double longest = 0.0;     ///< D dt / h² of the longest step in turn, where walls react; h of the finest level
  double passed = 0.0;      ///< time without steps (ReactiveRun::skip()), of which half is to be counted anew [s]
  std::vector<double> provisional;  ///< [mineral] that half, with the rates before it [mol]
};
struct ReactivePast : ReactiveNow {
  std::vector<ReactiveLine> history;
  std::vector<ReactivePicture> pictures;
};

/// It before a step; the history and the pictures grow, and keep what they had.
struct PastBefore {
  ReactiveNow now;
  std::size_t n_history = 0;
};

/// As a JSON object, every bit of every number.
Json past_json(const ReactivePast& past);
/// Throws Error: of other minerals or elements.
/// @param[in,out] past  of a run that begins
void take_past(const Json& json, ReactivePast& past);

}  // namespace karst
