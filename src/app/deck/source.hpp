// SPDX-License-Identifier: BSD-3-Clause
// From the deck to what the geometry is built from: a level set and a complete grid; and what a run that uses an image
// is told before anything is built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/deck/config.hpp"
#include "base/comm/comm.hpp"
#include "eb/geometry.hpp"
#include "eb/shapes/image_level_set.hpp"
#include "geometry_import/file/geometry_file.hpp"

namespace karst {

struct Source {
  std::unique_ptr<LevelSet> level_set;
  GridOptions grid;                           ///< with cells and size
  std::shared_ptr<const GeometryFile> image;  ///< none: described solids
};

/// Of the image of the deck, relative to where the program runs.
std::string image_path(const Config& config);

/// How the image of the deck is imported. Throws Error when nothing says how to read it. Not collective.
ImportOptions import_options(const Config& config);

/// The image of the deck is to be imported first (it is no geometry file).
bool needs_import(const Config& config);

/// import_image(), which where memory does not do throws an Error that says how large an image would. Collective.
ImportReport import_within_memory(const Comm& comm, const ImportOptions& options, const std::string& to);

/// Of the cell width and the periodic directions of a grid; without the file's minerals. Not collective.
ImageSource image_of(std::shared_ptr<const GeometryFile> file, double wall_shift, const GridOptions& grid);

/// Fills in what the deck leaves to the image: one cell per voxel, the image's size. Throws Error when the deck's size
/// is not the image's, or the cells are no cubes. Not collective.
GridOptions complete_grid(const Config& config, const GeometryInfo& image);

/// Described solids, a geometry file, or an image that is imported first.
/// @param import_to  geometry file to make when the image must be imported
/// Throws Error (no such file, ...). Collective.
Source open_source(const Comm& comm, const Config& config, const std::string& import_to);

/// A sample once more.
struct Variant {
  Index cells{};       ///< so many that they are cubes, too; a direction one cell thick stays so
  double moved = 0.0;  ///< added to geometry.wall_shift, images alone [voxel widths]
};

/// The same once more, otherwise.
/// @param imported  the geometry file that open_source() made, where the image had to be imported
/// Collective.
Source open_again(const Comm& comm, const Config& config, const GridOptions& grid, const Variant& variant,
                  const std::string& imported);

/// ImportFindings::wall_uncertainty; 0 for described solids [voxel widths].
double wall_uncertainty(const Source& source);

/// Of the level that all walls lie on [m].
double cell_width_at_walls(const GridOptions& grid);

/// The outer faces of reservoirs: joined to one another (the direction is periodic: a row of samples), or those of the
/// domain.
enum class ReservoirEnds : std::uint8_t { joined, open };

/// The sample with so many more cells of free fluid on both ends of a direction. Refined regions move with it.
Source with_reservoirs(Source sample, const Reservoirs& reservoirs, ReservoirEnds ends);

/// The import as lines for the terminal.
std::string import_text(const ImportReport& report);

/// Error where the deck describes solids and none of them is met by the grid: a place or a unit is wrong.
void require_wall(const Config& config, const GeometryReport& report);

/// "import: ..." for each warning of the import; periodic axes along which the image does not repeat itself; cells so
/// much wider than voxels that the throats are lost. Empty for described solids. The same on every rank. Collective.
/// @param compare_faces  look whether periodic axes repeat themselves; takes whole planes of the image
std::vector<std::string> image_warnings(const Comm& comm, const Source& source, bool compare_faces = true);

/// What is said before anything is built: Config::unusual, then image_warnings(). Collective.
std::vector<std::string> first_warnings(const Comm& comm, const Config& config, const Source& source);

}  // namespace karst
