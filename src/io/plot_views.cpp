// SPDX-License-Identifier: BSD-3-Clause
// What a plotfile in parts has in HDF5: see plot_parts.hpp.
#include <filesystem>

#include "base/core/error.hpp"
#include "io/plot_parts.hpp"
#include "io/plot_set.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

namespace fs = std::filesystem;

/// The cells [first, first + cells) of a dataset with so many.
Handle select_cells(const PlotTarget& to, const PlotShape& shape, std::int64_t all, std::int64_t first,
                    std::int64_t cells) {
  Handle space = hdf5::simple_space(set_sizes(shape, all), to.path);
  const std::vector<hsize_t> count = set_sizes(shape, cells);
  const hsize_t start[2] = {extent(shape.in_rows ? first : first * shape.per_cell), 0};
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count.data(), nullptr), "select the values",
        to.path);
  return space;
}

/// HDF5 puts numbers for %b in names of other files and their datasets.
std::string without_patterns(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

}  // namespace

std::int64_t view_bytes(const PlotDescription& plot, const PartRuns& runs) {
  std::int64_t bytes = 0;
  for (const PlotShape& s : plot_shapes(plot)) bytes += std::ssize(s.name) + 1024;
  return bytes * std::ssize(runs.runs);
}

void write_level_views(const PlotTarget& to, const LevelGroups& groups, int level, const PlotOrder& order,
                       const PartRuns& runs) {
  const std::string file = fs::path(to.path).filename();  // parts lie beside it, wherever that is
  for (const PlotShape& shape : plot_shapes(to.plot)) {
    Handle properties = hdf5::set_properties(to.path);
    const std::string name =
        fmt::format(fmt::runtime(shape.chombo ? "/level_{}/{}" : "/VTKHDF/Level{}/CellData/{}"), level, shape.name);
    for (const PartRun& run : runs.runs) {
      const Handle here = select_cells(to, shape, order.n_cells(), run.to, run.cells);
      const Handle there = select_cells(to, shape, runs.cells[run.part], run.from, run.cells);
      check(H5Pset_virtual(properties, here, without_patterns(part_name(file, run.part + 1)).c_str(),
                           without_patterns(name).c_str(), there),
            "describe the parts of " + shape.name, to.path);
    }
    create_set(to, shape.chombo ? groups.chombo : groups.cell_data, shape, order, properties);
  }
}

void put_parts(const PlotTarget& to, int n, const std::string& id) {
  hdf5::put_int(to.file, parts_number, n, to.path);
  std::string names = part_name(fs::path(to.path).filename(), 1);
  names.pop_back();
  hdf5::put_text(to.file, parts_names, names, to.path);
  hdf5::put_text(to.file, parts_id, id, to.path);
}

}  // namespace karst
