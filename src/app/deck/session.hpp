// SPDX-License-Identifier: BSD-3-Clause
// What `karst run`, `karst geometry` and `karst check` share: reading the deck, choosing threads, building the
// geometry; and an image in the place of a deck: `karst run rock.h5`.
#pragma once

#include <string>
#include <vector>

#include "app/deck/command_line.hpp"
#include "app/deck/config.hpp"
#include "app/deck/source.hpp"
#include "app/deck/statistics.hpp"
#include "base/core/wall_clock.hpp"

namespace karst {

struct Session {
  Config config;
  std::string echo;  ///< the complete deck
};

/// Reads the deck, or the image in its place, and sets the threads. Throws Error with all mistakes of the deck.
/// Collective.
Session start_session(const Comm& comm, const CommandLine& line);

/// Notes voxel widths of the command line that have no unit and are centimetres or more: 5.3 meant as µm would be
/// metres.
void require_unit_of_wide_voxels(Reader& in, const std::vector<std::string>& overrides);

/// The files that a run reads: deck, image, lists of spheres.
std::vector<std::string> input_files(const Config& config, const CommandLine& line);

/// The complete deck with a line on where it comes from, for the results.
std::string deck_as_used(const Session& session, const CommandLine& line);

/// Version, case, ranks and threads on the terminal.
void announce(const Comm& comm, const Session& session, const CommandLine& line);

/// Builds the geometry. Throws Error when there is no fluid or no wall.
/// @param grid          that of the source, or with other boxes flagged
/// @param[out] seconds  its geometry is set
/// @param costs         by which boxes are dealt out; none: by the weights of their geometry
/// @param before        the last one of this source, where several are made
/// Collective.
Geometry build(const Comm& comm, const Config& config, const Source& source, const GridOptions& grid,
               RunSeconds& seconds, const BoxCosts& costs = {}, const GeometryBefore& before = {});

/// A log file while it lives; removed by RunFolder when the run fails.
class LogFile {
 public:
  /// Throws Error on all ranks. Collective.
  LogFile(const Comm& comm, const std::string& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  /// Throws Error when not all lines could be written. Not collective.
  void close();
};

/// The word is the name of an image, not of a deck (.toml, or no extension of an image).
bool stands_for_deck(const std::string& name);

/// The deck that an image stands for, as key=value: its permeability along x, y and z between two pressures, results in
/// out/NAME, NAME the image's without folder and extension. What the user sets comes behind and wins.
/// Throws Error when there is no such image. Not collective.
std::vector<std::string> deck_of_image(const std::string& image);

/// out/rock for data/rock.nii.gz, scans/rock/ and scans/rock/slice_*.tif.
std::string results_of_image(const std::string& image);

}  // namespace karst
