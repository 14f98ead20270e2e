// SPDX-License-Identifier: BSD-3-Clause
// What job `flow` shows of a flow with inertia: apparent permeability against Reynolds number, Forchheimer's law.
// Columns without a sweep are left out; nothing here is collective.
#pragma once

#include <string>
#include <vector>

#include "app/flow/flow_job.hpp"

namespace karst {

/// The member "inertia" of an axis in summary.json: an object with "points" (one per step) and "forchheimer" (null
/// where it was not fitted).
Json inertia_json(const FlowColumn& column);
/// A table per axis for the terminal.
std::string inertia_text(const FlowColumns& columns);
/// The points of all axes as inertia.csv.
std::string inertia_csv(const FlowColumns& columns);
/// Forchheimer's coefficient, from summary.json; none where no law was fitted.
std::vector<PageTile> inertia_tiles(const Json& summary);
/// A card with the chart of k_app / k; empty where there are no two points.
std::string inertia_chart(const Json& summary);
/// A card with a table per axis.
std::vector<std::string> inertia_cards(const Json& summary);
std::vector<std::string> inertia_warnings(const FlowColumns& columns);

}  // namespace karst
