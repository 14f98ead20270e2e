// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

namespace karst::test {

/// Valid decks of few cells that use all jobs and tables. Some read rock.raw and packing.txt beside them, which
/// make_sample_files() makes.
std::span<const std::string> deck_samples();
/// In the present folder.
void make_sample_files();

}  // namespace karst::test
