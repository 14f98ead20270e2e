// SPDX-License-Identifier: BSD-3-Clause
// Everything a deck may say, declared in one place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/deck/chemistry_deck.hpp"
#include "app/deck/clock.hpp"
#include "app/deck/plot_words.hpp"
#include "app/deck/walls_deck.hpp"
#include "base/deck/deck.hpp"
#include "eb/geometry_options.hpp"
#include "eb/shapes/formula.hpp"
#include "geometry_import/import.hpp"
#include "grid/hierarchy.hpp"
#include "ins/upscale/dynamic_options.hpp"
#include "ins/upscale/flow_options.hpp"
#include "transport/diffusion_options.hpp"
#include "transport/dispersion/dispersion_options.hpp"
#include "transport/transport_deck.hpp"

namespace karst {

struct ReactivePlan;

enum class SliceKind : std::uint8_t { plane, mean };

/// [[output.slice]]
struct SliceOptions {
  std::string name;
  int axis = 2;  ///< across the plane, or along which the mean is taken
  SliceKind kind = SliceKind::plane;
  double at = -1.0;    ///< of the plane, from the low end of the domain [m]; < 0: the middle
  double every = 0.0;  ///< [s]
};
/// Declares and reads them; notes what is missing, and names that are there twice.
void read(Reader& in, std::vector<SliceOptions>& slices);

/// [[output.probe]]
struct ProbeOptions {
  std::string name;
  Vec3 position;  ///< [m]
};
/// Declares and reads them; notes what is missing, and names that are there twice.
void read(Reader& in, std::vector<ProbeOptions>& probes);

struct OutputOptions {
  std::string directory = "out";  ///< relative to the folder in which the program runs
  std::vector<PlotField> plot{PlotField::fraction, PlotField::distance};
  bool yt = false;
  bool region_given = false;
  Vec3 region_lo, region_hi;  ///< of plotfiles, from the low corner of the sample [m]
  int coarsening = 1;         ///< cells of the grid along an edge of a cell of plotfiles
  int compression = 1;        ///< PlotDescription::compression
  int files = 1;              ///< that hold the values of a plotfile
  bool wall = true;           ///< wall.vtp of transport with walls that react, and of walls that move
  bool geometry = false;      ///< geometry files of walls that move
  std::vector<SliceOptions> slices;
  std::vector<ProbeOptions> probes;
};

/// By what boxes are dealt out to ranks: equal numbers, the weights of their geometry, or what they are found to cost.
enum class Balancing : std::uint8_t { off, start, feedback };
struct RunOptions {
  double time_limit = 0.0;  ///< the run ends in order after so many seconds; 0: none
  Balancing balance = Balancing::start;
};

struct Config {
  std::string title;
  std::vector<std::string> unusual;  ///< Reader::unusual(), said first
  GeometryOptions geometry;
  ImportOptions import;
  bool import_given = false;  ///< the deck has a [geometry.import] table
  GridOptions grid;
  bool cells_given = false, size_given = false;
  FluidOptions fluid;
  FlowOptions flow;
  TimeOptions time;
  DiffusionOptions diffusion;
  DynamicOptions dynamic_permeability;
  DispersionOptions dispersion;
  ChemistryDeck chemistry;
  /// What the chemistry makes of it; its totals are the last components of `transport`. nullptr: not asked for, or
  /// wrong.
  std::shared_ptr<const ReactivePlan> reactive;
  TransportDeck transport;
  WallsDeck walls;
  OutputOptions output;
  CheckpointOptions checkpoint;
  RunOptions run;
};

/// What a formula of [[grid.refine]] may name: place, time, the flow, and components of transient transport.
FormulaVariables followed_variables(const Config& config);

/// Cells of free fluid before and behind the sample along an axis.
struct Reservoirs {
  int axis = 0, cells = 0;
};
/// Those of the domain that all jobs of a run share, whose outer faces are inlet and outlet. None: flow.reservoir is 0,
/// or belongs to steady flow alone, where every axis has a domain with reservoirs of its own.
std::optional<Reservoirs> reservoirs_of_run(const Config& config);

/// Declares and reads all keys. The caller calls in.finish(), which throws Error with every mistake of the deck.
Config read_config(Reader& in);

/// All keys of the deck, in order.
std::vector<KeyInfo> deck_keys();
/// "geometry.solid.radius" and "geometry.solid[]" of "geometry.solid[].radius".
std::string without_positions(std::string key);
std::string table_of(const std::string& key);
/// Table of the keys that are options of `karst import`.
inline constexpr const char* import_table = "geometry.import.";
/// Keys of [geometry.import], which are the options of `karst import`.
std::vector<KeyInfo> import_keys();

/// What `karst run` can be asked to compute, and how a deck asks for it.
struct JobWord {
  std::string_view name;
  std::string_view asked_by;  ///< what in a deck asks for it
  bool (*is_asked)(const Config&);
};

/// Of all jobs, in the order in which they run.
std::span<const JobWord> job_words();
/// One of them, which there has to be.
const JobWord& job_word(std::string_view name);

}  // namespace karst
