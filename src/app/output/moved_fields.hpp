// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "app/job/job.hpp"

namespace karst {

/// Fields of a job that is done, on a ground whose boxes have other owners: their values are sent, and kept (4 bytes
/// per component and cell of the boxes). Throws the same Error on all ranks. Collective.
void move_fields(const Comm& comm, const std::shared_ptr<const Ground>& to, std::vector<JobComponent>& fields);

}  // namespace karst
