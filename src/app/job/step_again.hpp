// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/core/error.hpp"

namespace karst {

/// Thrown by Process::step(): the step was made, and now what it should have begun with is known, so all go back and
/// make it once more, of the same length. On all ranks.
class StepAgain : public Error {
 public:
  StepAgain() : Error("") {}
};

}  // namespace karst
