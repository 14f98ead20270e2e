// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "page/run_page.hpp"

namespace karst {

class Json;

/// report.html of a run, made of what its directory holds, so that `karst run` and `karst report` write the same.
/// @param summary  summary.json
/// @param deck     deck.toml
/// @param view     there is a view.html beside it
/// Throws Error when the summary lacks what every run writes. Not collective.
std::string run_report(const Json& summary, const std::string& deck, const Figures& figures, bool view);

}  // namespace karst
