// SPDX-License-Identifier: BSD-3-Clause
// Texts in attributes of HDF5. Inside geometry_import only.
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>

namespace karst {

/// A text, of fixed or variable length; nothing when there is none of this name. Throws Error when it is damaged.
/// @param path  for the message
std::optional<std::string> text_attribute(hid_t object, const char* name, const std::string& path);

}  // namespace karst
