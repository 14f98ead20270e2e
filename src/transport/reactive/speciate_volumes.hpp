// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "transport/reactive/reaction_step.hpp"

namespace karst {

/// Speciation of the totals of these volumes, for fields: calls read(place in the list, state) from several threads;
/// nullptr where no composition is found. Each interval of 64 volumes starts from the initial guess of the medium, so
/// that results do not depend on the number of threads. Not collective.
void speciate_volumes(const ReactiveMedium& medium, std::span<const std::int32_t> volumes,
                      std::span<const Array<double>> totals,
                      const std::function<void(std::size_t place, const Speciation* state)>& read);

}  // namespace karst
