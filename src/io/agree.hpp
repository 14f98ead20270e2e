// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "base/comm/comm.hpp"

namespace karst {

/// Runs f on every rank. When it throws on any of them, all ranks throw Error with the text of the lowest such rank.
/// f must not wait for other ranks after a failure of its own. Collective.
void agree(const Comm& comm, const std::function<void()>& f);

}  // namespace karst
