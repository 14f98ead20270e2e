// SPDX-License-Identifier: BSD-3-Clause
// Columns of a study: places in summary.json, looked at before there is one and when there are some.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "app/study/study.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// Names of members in summary.json (tests/checks/summary_words.py finds those that are missing).
constexpr std::string_view column_words = R"(
advection_W_m3 after after_step alkalinity_eq_kgw amount_mol area_m2 axis backflow balances before beta_per_m bodies boundaries boxes boxes_left_out_most boxes_move
boxes_pruned breakthrough by_walls_mol bytes bytes_per_fluid_cell carried_away_m3 carried_away_mol cell_peclet cell_reynolds cell_width_m cells cells_cut
cells_multivalued cells_subdivided cells_with_reservoirs cells_without_flow cfl changes charge_error_percent
charge_imbalance charge_mol chemistry chemistry_charge_relative closed_area_share closed_faces closed_level_faces
coefficient_amplitude collectives column columns communication component components concentration connected
connected_porosity content_mol continuity corner_frequency_Hz coupled_iterations coupled_steps cov
cov_of_ranks_and_threads cov_of_steps cut damkohler_advection damkohler_diffusion darcy_velocity_amplitude_m_s
darcy_velocity_m_s darcy_velocity_mean_m_s data_range database deck degrees_behind_the_drive dense_values_bytes
deposit deviation diagonal diffusion diffusivity_m2_s dispersion dispersion_m2_s dispersion_over_diffusivity dispersivity_m
dissipation_W_m3 dissolved_m3 dissolved_mol drag_over_drive drives_between dt_s dynamic_permeability
dynamic_permeability_m2 effective_diffusivity_m2_s effective_rate_m_s elements
end_pore_volumes end_s ended_by engine events
exchange exchange_cells exchange_messages expected fall feedback_balance field files finished_solves first flow
flow_factor flow_in_time flow_rate_m3_s flow_unevenness flows fluid flux_in flux_out followed_grid force force_N
force_amplitude_N force_coefficient force_mean_N forchheimer
forchheimer_number formation_factor fraction fragment_volume_m3
fragments fragments_attached fragments_carried_away fragments_loose frequency_Hz
friction friction_force friction_force_N friction_force_coefficient
gain_s gaps_closed geometry grains_vanished grid_cells
grid_gradient_Pa_m history imaginary imaginary_m2 imbalance implicit_volumes in_equilibrium in_mol inertia inlet inlet_flow
inlet_open_area_m2 inlet_velocity_m_s inorganic_carbon_mol_kgw ionic_strength_mol_kgw irregular iterations karst kept kinematic_viscosity_m2_s kinetic_energy_J_m3
kinetic_energy_growth_W_m3 largest largest_charge_imbalance largest_coefficient largest_diffusion_number largest_force_N
largest_imbalance largest_speed_m_s last last_half least length length_m levels lid_flow lids log10_speed_over_mean long
long_in_most_runs longest_step_s longitudinal longitudinal_error longitudinal_error_basis
longitudinal_extrapolated looks loose_since_s
limited_steps max_cells
loss_C_m3_s magnitude mass_relative mean mean_residence_pore_volumes
mean_residence_time_s median memory merged messages method minerals mode most move_s moved_m3 moves multivalued_vofs
name newton_steps number of of_parts_below_a_cell
order out_mol orphan_volume_m3 orphans orphans_alone orphans_at_end orphans_joined
orphans_pinned outflow_over_inflow_less_1 outlet output output_times_s owed_m3
paths_gained paths_lost pH pH_mean pH_outlet parts past path
peak_bytes peak_bytes_largest_rank peclet peclet_length_m percolates periodic periodic_state permeability_asymmetry
permeability_darcy permeability_error_basis permeability_error_m2 permeability_error_of permeability_extrapolated_m2
permeability_m2 permeability_range_m2 phases pictures plotfile points pore_velocity_m_s pore_volume_time_s pore_volumes
pores pores_cut_off pores_filled pores_joined pores_opened pores_removed pores_removed_volume_m3 porosity
porosity_at porosity_range position_m power_W_m3 preconditioner pressure
pressure_Pa pressure_coupling_W_m3 pressure_drop_Pa pressure_force pressure_force_N pressure_force_coefficient
pressure_gradient_Pa_m principal_axes principal_permeability_m2 probes range ranks rate_m3_s rate_m_s rate_mol_m2_s
rate_mol_s ratio_to_well_mixed reached real real_m2 reason recovered reduction_change regular relative_diffusivity
relative_diffusivity_error relative_diffusivity_error_basis relative_diffusivity_extrapolated
relative_residual relative_variance released_mol relaxation_time_s repairs reservoir_cells residuals resolved_frequency_Hz reynolds
runs sample_cells sample_fall saturation_index saturation_index_mean saturation_index_outlet seconds setup setup_seconds share
shear_stress_Pa sherwood side sides singular_pores slots smallest_coefficient smallest_force_N solutions solve solved
solved_reynolds solver solves solves_from_earlier_run sorbed_mol speciations specific_surface_per_m speed_histogram
status stored_mol step step_error_mol step_seconds steps steps_without_coupled_solution tensor tensor_order threads time_s
time_scheme_W_m3 title tortuosity total transport transverse transverse_error true_residual unbounded unknowns unknowns_mean
unknowns_most unresolved unit use value_range values_bytes variance_s2 velocity velocity_m_s view volume_m3 waited_seconds wall wall_area_m2
wall_shift_voxels walls walls_half_way walls_lost warnings well_mixed_loss_C_m3_s well_mixed_rate_mol_s what x y z
)";
/// Whose members have names of a deck or of a solver.
constexpr std::array<std::string_view, 4> free_members{"balances", "history", "memory", "repairs"};

const std::vector<std::string>& known_words() {
  static const std::vector<std::string> all = [] {
    std::istringstream in{std::string(column_words)};
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  }();
  return all;
}

bool is_index(const std::string& part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
}

/// Places of all numbers below one.
void add_places(const Json& json, const std::string& place, std::set<std::string>& all) {
  constexpr std::size_t most_items = 3;  // of an array, whose others look the same
  if (json.is_number()) all.insert(place);
  if (json.is_object())
    for (const std::string& name : json.names())
      add_places(json.at(name), place.empty() ? name : place + '.' + name, all);
  if (json.is_array())
    for (std::size_t i = 0; i < std::min(json.size(), most_items); ++i)
      add_places(json.at(i), fmt::format("{}[{}]", place, i), all);
}

/// The place that ends in the same words, or is spelt most alike; empty: there is none.
std::string nearest_place(const std::string& column, const std::vector<Json>& summaries) {
  std::set<std::string> places;
  for (const Json& summary : summaries) add_places(summary, "", places);
  for (const std::string& place : places)
    if (place.ends_with('.' + column) || place.starts_with(column + '[') || place.starts_with(column + '.'))
      return place;
  return nearest(column, std::vector<std::string>(places.begin(), places.end()));
}

}  // namespace

std::vector<std::string> parts_of_place(std::string place) {
  std::ranges::replace(place, '[', '.');
  std::erase(place, ']');
  return split(place, '.');
}

std::string column_problem(const std::string& column) {
  for (const std::string& part : parts_of_place(column)) {
    if (std::ranges::find(free_members, part) != free_members.end()) return "";
    if (is_index(part) || std::ranges::count(known_words(), part) > 0) continue;
    const std::string near = nearest(part, known_words());
    if (!near.empty())
      return fmt::format("\"{}\": summary.json has no \"{}\"; did you mean \"{}\"?", column, part, near);
  }
  return "";
}

std::vector<std::string> empty_columns(const std::vector<std::string>& columns, const std::vector<Json>& summaries) {
  Messages notes;
  if (std::ranges::none_of(summaries, [](const Json& s) { return s.is_object(); })) return notes;
  for (const std::string& column : columns) {
    if (std::ranges::any_of(summaries, [&](const Json& s) { return std::isfinite(number_at(s, column)); })) continue;
    const std::string near = nearest_place(column, summaries);
    notes.add("column {}: no case has a number there{}", column,
              near.empty() ? "" : fmt::format("; did you mean {}?", near));
  }
  return notes;
}

std::string remark_on(const Json& summary, const std::vector<int>& axes) {
  if (!summary.is_object()) return "";
  std::vector<std::string> closed, unresolved, unbounded, remarks;
  for (const int axis : axes) {
    const std::string name = axis_names[axis];
    if (summary.contains("percolates") && !summary.at("percolates").value(name, true)) closed.push_back(name);
  }
  if (summary.contains("flow") && summary.at("flow").is_array())
    for (const Json& flow : summary.at("flow")) {
      if (flow.value("unbounded", false))
        unbounded.push_back(flow.value("axis", ""));
      else if (flow.value("unresolved", false))
        unresolved.push_back(flow.value("axis", ""));
    }
  std::erase_if(closed, [&](const std::string& axis) { return std::ranges::count(unresolved, axis) > 0; });
  if (!closed.empty()) remarks.push_back("no path along " + join(closed, ", "));
  if (!unresolved.empty()) remarks.push_back("cells too wide for the pores along " + join(unresolved, ", "));
  if (!unbounded.empty()) remarks.push_back("no wall along " + join(unbounded, ", "));
  return join(remarks, "; ");
}

}  // namespace karst
