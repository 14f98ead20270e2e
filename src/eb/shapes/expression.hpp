// SPDX-License-Identifier: BSD-3-Clause
// A wall described by a formula: fluid where f(x, y, z) > 0.
#pragma once

#include <memory>
#include <string>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// Level set of an expression f of x, y, z in metres; its language is that of Formula (eb/shapes/formula.hpp).
///
///   φ = f / max(|∇f|, |f| / reach)      in level-0 cells
///
/// φ is a distance to first order near a wall where f has a gradient, cut off at ± reach = 16 cells. Its sign is that
/// of f. Nothing bounds the slope of φ, but intervals bound f and ∇f in a box: signs() says where there is no wall, and
/// where a line crosses it once. Where they leave it open features of f are taken to be wider than h0/32
/// (sample_spacing). Evaluation throws Error where f is not a finite number.
/// @param text  the formula; Error with place and text when it is wrong
/// @param h0    level-0 cell width [m]
std::unique_ptr<LevelSet> make_expression(const std::string& text, double h0);

}  // namespace karst
