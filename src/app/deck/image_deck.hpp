// SPDX-License-Identifier: BSD-3-Clause
// An image in the place of a deck: `karst run rock.h5`.
#pragma once

#include <string>
#include <vector>

namespace karst {

/// The word is the name of an image, not of a deck (.toml, or no extension of an image).
bool stands_for_deck(const std::string& name);

/// The deck that an image stands for, as key=value: its permeability along x, y and z between two pressures, results in
/// out/NAME, NAME the image's without folder and extension. What the user sets comes behind and wins.
/// Throws Error when there is no such image. Not collective.
std::vector<std::string> deck_of_image(const std::string& image);

/// out/rock for data/rock.nii.gz, scans/rock/ and scans/rock/slice_*.tif.
std::string results_of_image(const std::string& image);

}  // namespace karst
