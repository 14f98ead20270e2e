// SPDX-License-Identifier: BSD-3-Clause
#include "io/grid_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "base/comm/timer.hpp"
#include "base/file/atomic_file.hpp"

namespace karst {

namespace {

static_assert(std::endian::native == std::endian::little);

void append(std::string& text, const void* data, std::size_t bytes) {
  text.append(static_cast<const char*>(data), bytes);
}

std::string text_of(const GridValues& grid) {
  const auto& [x, y, z] = grid.cells.v;
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", x, y, z);
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<ImageData WholeExtent=\"{0}\" Origin=\"{1} {2} {3}\" Spacing=\"{4} {5} {6}\">\n"
      "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{7}"
      "</DataArray>\n</FieldData>\n<Piece Extent=\"{0}\">\n<CellData>\n",
      extent, grid.origin[0], grid.origin[1], grid.origin[2], grid.spacing[0], grid.spacing[1], grid.spacing[2],
      grid.time);
  std::uint64_t offset = 0;
  for (const GridArray& a : grid.arrays) {
    text += fmt::format(
        "<DataArray type=\"Float32\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\">\n"
        "<InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">{}</InformationKey>\n</DataArray>\n",
        a.name, a.components, offset, a.unit);
    offset += sizeof(std::uint64_t) + sizeof(float) * a.values.size();
  }
  text += "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_";
  for (const GridArray& a : grid.arrays) {
    const std::uint64_t bytes = sizeof(float) * a.values.size();
    append(text, &bytes, sizeof(bytes));
    append(text, a.values.data(), bytes);
  }
  return text + "\n</AppendedData>\n</VTKFile>\n";
}

}  // namespace

void write_grid(const Comm& comm, const std::string& path, const GridValues& grid) {
  const Timer timer("slices");
  write_file(comm, path, comm.rank() == 0 ? text_of(grid) : "");
}

}  // namespace karst
