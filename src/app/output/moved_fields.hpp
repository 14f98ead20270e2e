// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "app/job/job.hpp"

namespace karst {

/// Fields of a job that is done, on another ground of the same cells of level 0: their values are sent, and kept (4
/// bytes per component and cell of the boxes). Same cells keep theirs; a coarser cell has the mean of the finer ones
/// that have a value, a finer one that of the coarser one. Throws the same Error on all ranks. Collective.
void move_fields(const Comm& comm, const std::shared_ptr<const Ground>& to, std::vector<JobComponent>& fields);

}  // namespace karst
