// SPDX-License-Identifier: BSD-3-Clause
// Values of summary.json on pages. The file may be anybody's: what is no text, no number in its range or no axis is a
// JsonError, and texts become HTML only here.
#pragma once

#include <string>

namespace karst {

class Json;

/// 0, 1, 2 of the member "axis": "x", "y" or "z".
int axis_of(const Json& object);
/// "x", "y", "z" of the same.
std::string axis_name(const Json& object);
/// A text as HTML.
std::string html_of(const Json& text);

}  // namespace karst
