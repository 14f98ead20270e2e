// SPDX-License-Identifier: BSD-3-Clause
#include "io/field_file.hpp"

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

std::vector<double> room_for(const CellField& field) {
  return std::vector<double>(field.grid().numbering().n_own() * field.n_components());
}

}  // namespace

VofPlaces places_of(const Geometry& geometry, const CompositeNumbering& numbering) {
  VofPlaces places;
  for (const LevelGeometry& level : geometry.levels) places.levels.push_back(&level.graph);
  places.row = [&numbering](int level, int box, int vof) { return std::int64_t{numbering.number(level, box, vof)}; };
  return places;
}

void write_fields(const Comm& comm, const std::string& path, const std::string& text,
                  std::span<const NamedField> fields) {
  require(!fields.empty(), "{}: no field to write", path);
  const Composite& grid = fields.front().field->grid();
  std::vector<std::vector<double>> values;
  VofTable table{"unknowns", places_of(grid.geometry(), grid.numbering()), {}};
  for (const NamedField& f : fields) {
    require(f.field->grid().id() == grid.id(), "{}: field {} is on another grid than {}: ground {}, not {}", path,
            f.name, fields.front().name, f.field->grid().id(), grid.id());
    get_unknowns(*f.field, values.emplace_back(room_for(*f.field)));
    table.values.push_back({f.name, f.field->n_components(), std::span<const double>(values.back())});
  }
  write_vof_file(comm, path, text, {&table, 1});
}

void read_field(const Comm& comm, const VofFile& file, const std::string& name, CellField& field) {
  const Composite& grid = field.grid();
  std::vector<double> values = room_for(field);
  fail_together(comm, [&] {
    file.read("unknowns", name, places_of(grid.geometry(), grid.numbering()), field.n_components(), std::span(values));
  });
  set_unknowns(values, field);
}

}  // namespace karst
