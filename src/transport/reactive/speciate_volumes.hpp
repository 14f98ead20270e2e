// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "transport/reactive/reaction_step.hpp"

namespace karst {

/// Speciation of the totals of volumes 0 .. n - 1, for fields: calls read(volume, state) from several threads; nullptr
/// where no composition is found. Each interval of 64 volumes starts from the initial guess of the medium, so that
/// results do not depend on the number of threads. Not collective.
void speciate_volumes(const ReactiveMedium& medium, std::int64_t n, std::span<const Array<double>> totals,
                      const std::function<void(std::size_t volume, const Speciation* state)>& read);

}  // namespace karst
