// SPDX-License-Identifier: BSD-3-Clause
// Damage to files, the same for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/damage/samples.hpp"

namespace karst::test {

struct Damaged {
  std::string bytes;
  bool voxels = false;      ///< bytes were changed in place, all of them where the voxels are
  std::size_t changed = 0;  ///< so many
};

/// One to three of: bits flipped, bytes set, ranges removed, doubled, moved or filled, junk put in, the file cut or
/// made longer; lines removed, doubled or exchanged; numbers and words replaced by others that mean something.
Damaged damage(const Sample& sample, std::uint64_t seed);

}  // namespace karst::test
