// SPDX-License-Identifier: BSD-3-Clause
// Fields of a composite grid on disk (vof_file.hpp): written on any ranks, read on any. Only the unknowns are stored,
// bitwise, by level, cell and piece of fluid; all other slots follow from them.
#pragma once

#include <span>
#include <string>

#include "fields/cell_field.hpp"
#include "io/vof_file.hpp"

namespace karst {

struct NamedField {
  std::string name;
  const CellField* field;
};

/// The unknowns of a composite grid, in their numbering. The geometry and the numbering must outlive it.
VofPlaces places_of(const Geometry& geometry, const CompositeNumbering& numbering);

/// All fields are on the same composite. Errors as write_vof_file(). Collective.
/// @param text  any text for the reader
void write_fields(const Comm& comm, const std::string& path, const std::string& text,
                  std::span<const NamedField> fields);

/// Sets the unknowns of a field from those of the same grid in a file. Throws the same Error on all ranks if one of
/// them cannot read its part; the field is then unchanged. Collective.
void read_field(const Comm& comm, const VofFile& file, const std::string& name, CellField& field);

}  // namespace karst
