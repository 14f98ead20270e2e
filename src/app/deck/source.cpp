// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/source.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/deck/node_memory.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/log.hpp"
#include "eb/described_level_set.hpp"
#include "eb/shapes/repeated_level_set.hpp"
#include "eb/shapes/reservoir_level_set.hpp"
#include "geometry_import/file/end_planes.hpp"
#include "geometry_import/voxels/clusters.hpp"

namespace karst {

namespace fs = std::filesystem;

namespace {

/// Of this process [bytes].
double address_space() {
  double pages = 0.0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void import_first(const Comm& comm, const Config& config, const std::string& to) {
  const ImportOptions options = import_options(config);
  ImportReport report = import_within_memory(comm, options, to);
  report.warnings.clear();  // image_warnings() says them, as of every geometry file
  log_info("Import\n{}", import_text(report));
}

/// Minerals of a geometry file that holds several, each label a number: asked for by their names.
void read_minerals(const std::shared_ptr<const GeometryFile>& file, const std::vector<std::string>& asked,
                   const std::string& path, ImageSource& image) {
  const GeometryInfo& info = file->info();
  std::vector<std::string> there;
  std::vector<std::size_t> labels;  // of them
  for (const PhaseShare& phase : info.phases) {
    if (phase.label == pore_label) continue;
    there.push_back(phase.name);
    labels.push_back(static_cast<std::size_t>(phase.label));
  }
  if (info.found.cut_out) {
    there.emplace_back(surroundings);
    labels.push_back(outside_label);
  }
  MineralChoice minerals;
  try {
    minerals = choose_minerals(there, asked);
  } catch (const Error& e) {
    Messages wrong;
    for (const std::string& line : split(e.what(), '\n'))
      wrong.add("geometry.minerals, of the image {}: {}", path, line);
    throw Error(join(wrong, "\n"));
  }
  image.minerals = minerals.names;
  if (minerals.names.size() == 1) return;
  std::array<MineralNumber, 256> number;
  number.fill(no_mineral);
  for (std::size_t i = 0; i < labels.size(); ++i) number[labels[i]] = minerals.number[i];
  image.read_minerals = [file, number, path](const Box& voxels, std::span<MineralNumber> out) {
    file->read_phase(voxels.lo, voxels.size(), out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const MineralNumber label = out[i];
      out[i] = number[label];
      const Index at = voxels.cell(static_cast<std::int64_t>(i));
      require(out[i] != no_mineral || label == pore_label,
              "{}: voxel ({}, {}, {}) has the label {}, which the file does not name; import the image again", path,
              at[0], at[1], at[2], label);
    }
  };
}

Source from_image(const Comm& comm, const Config& config, const std::string& import_to) {
  std::string path = image_path(config);
  require(image_exists(path), "geometry.image: there is no file {} (names are relative to the deck)", path);
  if (needs_import(config)) {
    Timer timer("import");
    import_first(comm, config, import_to);
    path = import_to;
    trim_heap();
  } else {
    require(!config.import_given, "{} is a geometry file, imported already; {}", config.geometry.image,
            config.import.by_options
                ? "remove the import options, or give the image itself"
                : "remove [geometry.import] (and its options on the command line), or give the image itself");
  }
  auto file = std::make_shared<GeometryFile>(path);
  Source source;
  source.grid = complete_grid(config, file->info());
  ImageSource image = image_of(file, config.geometry.wall_shift, source.grid);
  read_minerals(file, config.geometry.minerals, path, image);
  source.level_set = std::make_unique<ImageLevelSet>(std::move(image));
  source.image = std::move(file);
  return source;
}

}  // namespace

std::string image_path(const Config& config) {
  return (fs::path(config.geometry.directory) / config.geometry.image).lexically_normal().string();
}

ImportOptions import_options(const Config& config) {
  ImportOptions options = config.import;
  options.file = image_path(config);
  require(config.import_given || describes_itself(options.file) || is_read_by_python(split_array(options.file).first),
          "{}: a raw file does not state its format; {}", options.file,
          options.by_options ? "give --size, --type and --voxel, and --pore if it is segmented"
                             : "add a [geometry.import] table (size, type, voxel, and pore if it is segmented), or "
                               "make a geometry file with `karst import`");
  return options;
}

bool needs_import(const Config& config) {
  if (config.geometry.image.empty()) return false;
  const std::string path = image_path(config), extension = fs::path(path).extension().string();
  if ((extension != ".h5" && extension != ".hdf5") || fs::is_directory(path)) return true;
  if (!split_array(path).second.empty()) return true;  // a data set of a file
  return config.import_given && !is_geometry_file(path) && image_exists(path);
}

ImportReport import_within_memory(const Comm& comm, const ImportOptions& options, const std::string& to) {
  const MemoryShare share = memory_share(comm);
  const MemoryLimit limit = share.of_rank();
  // What the system says is available is beside this process; a limit of its address space counts what it has.
  const double free = limit.bytes - (limit.by == share.process.by ? address_space() : 0.0);
  try {
    return import_image(comm, options, to);
  } catch (const std::exception& e) {
    const std::string text = e.what();  // all that is left of the reason where it was another rank's
    const bool refused = text.find("out of memory") != std::string::npos || text.find("bad_alloc") != std::string::npos;
    if (!refused) throw;
    const double voxels = voxels_that_fit(free, comm.size()), width = std::floor(std::cbrt(voxels));
    const std::string fits =
        voxels > 0.0 ? fmt::format("about {:.2g} voxels, {} x {} x {}", voxels, width, width, width) : "no image";
    throw Error(
        fmt::format("importing {}: out of memory. A rank can have {} here ({}), which is enough for {}. Crop the image "
                    "({}), or use ranks on more nodes",
                    options.file, format_bytes(limit.bytes), limit.by, fits,
                    options.by_options ? "--crop_low and --crop_high" : "crop_low and crop_high"));
  }
}

ImageSource image_of(std::shared_ptr<const GeometryFile> file, double wall_shift, const GridOptions& grid) {
  ImageSource image;
  image.voxels = file->info().voxels;
  image.voxel = file->info().voxel / grid.cell_width();
  image.nodes = file->info().nodes;
  image.shift = wall_shift;
  image.periodic = grid.periodic;
  const bool repeats = image.periodic[0] || image.periodic[1] || image.periodic[2];
  image.lipschitz = repeats ? 0.0 : file->info().steepest;
  image.read = [file = std::move(file), at_nodes = image.nodes > 0](const Box& samples, std::span<float> out) {
    if (at_nodes)
      file->read_nodes(samples.lo, samples.size(), out.data());
    else
      file->read_block(samples.lo, samples.size(), out.data());
  };
  return image;
}

GridOptions complete_grid(const Config& config, const GeometryInfo& image) {
  GridOptions grid = config.grid;
  Vec3 size;
  const Index& copies = config.geometry.copies;
  for (int d = 0; d < 3; ++d) size[d] = image.voxels[d] * image.voxel * copies[d];
  for (int d = 0; d < 3 && !config.cells_given; ++d) grid.cells[d] = image.voxels[d] * copies[d];
  // A plane image has no depth of its own: one cell stands for it, however wide cells are.
  const auto is_plane = [&](int d) { return image.voxels[d] == 1 && grid.cells[d] == 1; };
  for (int d = 0; d < 3; ++d)
    for (int e = 0; e < 3 && is_plane(d); ++e)
      if (!is_plane(e)) size[d] = size[e] / grid.cells[e];
  for (int d = 0; d < 3 && config.size_given; ++d)
    require(is_plane(d) || std::abs(grid.size[d] / size[d] - 1.0) <= 1e-6,
            "grid.size: {} m given in direction {}, but the image is {} m wide; remove grid.size, or import the image "
            "with another voxel width",
            grid.size[d], axis_names[d], size[d]);
  grid.size = size;
  const std::string wrong = not_cubes(grid);
  require(wrong.empty(), "grid.cells: {} x {} x {} for an image of {} x {} x {} voxels: {}", grid.cells[0],
          grid.cells[1], grid.cells[2], image.voxels[0], image.voxels[1], image.voxels[2], wrong);
  return grid;
}

Source open_source(const Comm& comm, const Config& config, const std::string& import_to) {
  Timer timer("open geometry");
  const Index& copies = config.geometry.copies;
  Source source;
  if (config.geometry.image.empty()) {
    source.grid = config.grid;
    Vec3 size = source.grid.size;
    for (int d = 0; d < 3; ++d) size[d] /= copies[d];
    source.level_set = make_described_level_set(config.geometry, source.grid.cell_width(), size, source.grid.periodic);
  } else {
    source = from_image(comm, config, import_to);
  }
  if (copies != Index{1, 1, 1}) {
    Vec3 period;
    for (int d = 0; d < 3; ++d)
      if (copies[d] > 1) period[d] = static_cast<double>(source.grid.cells[d]) / copies[d];
    source.level_set = repeated(std::move(source.level_set), period);
  }
  return source;
}

Source open_again(const Comm& comm, const Config& config, const GridOptions& grid, const Variant& variant,
                  const std::string& imported) {
  const Index& cells = variant.cells;
  Config again = config;
  again.grid = grid;
  again.grid.cells = cells;
  again.geometry.wall_shift += variant.moved;
  double width = grid.cell_width();
  for (int d = 0; d < 3; ++d)
    if (cells[d] > 1) width = grid.size[d] / cells[d];
  for (int d = 0; d < 3; ++d)
    if (cells[d] == 1) again.grid.size[d] = width;
  again.cells_given = true;
  if (needs_import(config)) {
    again.geometry.directory.clear();
    again.geometry.image = imported;
    again.import_given = false;
  }
  return open_source(comm, again, {});
}

Source with_reservoirs(Source sample, const Reservoirs& reservoirs, ReservoirEnds ends) {
  const auto [direction, cells] = reservoirs;
  GridOptions& grid = sample.grid;
  const double h = grid.cell_width();
  sample.level_set =
      between_reservoirs(std::move(sample.level_set), direction, cells, static_cast<double>(grid.cells[direction]));
  grid.periodic[direction] = ends == ReservoirEnds::joined;
  grid.cells[direction] += 2 * cells;
  grid.size[direction] += 2 * cells * h;
  for (Refinement& r : grid.refine)
    if (r.where == Refinement::Where::region) {
      r.lo[direction] += cells * h;
      r.hi[direction] += cells * h;
    }
  return sample;
}

double wall_uncertainty(const Source& source) {
  return source.image ? source.image->info().found.wall_uncertainty : 0.0;
}

double cell_width_at_walls(const GridOptions& grid) {
  int finest = 0;
  for (const Refinement& r : grid.refine)
    if (r.where == Refinement::Where::wall) finest = std::max(finest, r.level);
  return std::ldexp(grid.cell_width(), -finest);
}

void require_wall(const Config& config, const GeometryReport& report) {
  if (config.geometry.solids.empty()) return;  // an image may be all pore, and a deck without solids wants none
  const auto has_wall = [](const LevelReport& level) { return level.cut.cells_cut > 0; };
  if (std::any_of(report.levels.begin(), report.levels.end(), has_wall)) return;
  throw Error(
      "the whole domain is fluid: no solid reaches into the domain; check the positions and sizes (in metres) of "
      "[[geometry.solid]] and grid.size, or remove the solids");
}

namespace {

constexpr double cells_per_throat = 3.0;  // from which on the flow through a slit or tube is right to some percent

/// Where cells are wider than voxels; the import has spoken of throats of a few voxels.
std::vector<std::string> throat_warnings(const GridOptions& grid, const GeometryInfo& image) {
  const ThroatWidths& throats = image.found.throats;
  const double h = cell_width_at_walls(grid), tenth = throats.tenth * image.voxel / h,
               median = throats.median * image.voxel / h;
  if (throats.count == 0 || h < image.voxel * (1 + 1e-6) || tenth >= cells_per_throat) return {};
  return {fmt::format(
      "grid: the cells at the wall are {} wide; of the {} throats of the image, half are narrower than {} ({:.1f} "
      "cells) and a tenth are narrower than {} ({:.1f} cells). Flow through throats of fewer than {:g} cells is poorly "
      "resolved: use more cells (grid.cells, at least one per voxel) or another level at the wall ([[grid.refine]])",
      format_si(h, "m"), throats.count, format_si(median * h, "m"), median, format_si(tenth * h, "m"), tenth,
      cells_per_throat)};
}

std::vector<std::string> seam_warnings(const GridOptions& grid, const GeometryFile& image) {
  Messages all;
  for (int d = 0; d < 3; ++d) {
    if (!grid.periodic[d]) continue;
    const EndPlanes planes = compare_ends(image, d);
    if (ends_match(planes)) continue;
    all.add(
        "grid.periodic: the image is not periodic along {0}: on {1:.1f} % of the area of its two faces there, pore "
        "meets solid (neighbouring planes inside: {2:.1f} %, uncorrelated planes: {3:.1f} %), which blocks the flow "
        "along {0}. Set grid.periodic to false along {0} and drive the flow by a pressure drop (flow.drive = "
        "\"pressure-drop\"), or crop the image to a whole period",
        axis_names[d], 100 * planes.differ, 100 * planes.inside, 100 * planes.unrelated);
  }
  return all;
}

}  // namespace

std::vector<std::string> image_warnings(const Comm& comm, const Source& source, bool compare_faces) {
  if (!source.image) return {};
  const GeometryInfo& image = source.image->info();
  Messages all;
  for (const std::string& w : image.found.warnings) all.push_back("import: " + w);
  std::string seams;
  fail_together(comm, [&] {
    if (comm.rank() == 0 && compare_faces) seams = join(seam_warnings(source.grid, *source.image), "\n");
  });
  comm.broadcast(seams);
  if (!seams.empty()) all.add(split(seams, '\n'));
  all.add(throat_warnings(source.grid, image));
  return all;
}

namespace {

/// Solids in the wrong unit or place: all of them outside is an error (require_wall()).
std::vector<std::string> solid_warnings(const Config& config) {
  Messages all;
  if (!config.geometry.image.empty()) return all;
  Vec3 size = config.grid.size;
  for (int d = 0; d < 3; ++d) size[d] /= config.geometry.copies[d];
  for (const std::size_t i : solids_outside(config.geometry, config.grid.cell_width(), size, config.grid.periodic))
    all.add(
        "geometry.solid[{}]: lies outside of the domain (0 to {:g} x {:g} x {:g} m) and changes nothing; check its "
        "place "
        "and size (in metres)",
        i, size[0], size[1], size[2]);
  const double h = cell_width_at_walls(config.grid);
  if (const NarrowShapes narrow = narrow_shapes(config.geometry, h); narrow.count > 0)
    all.add(
        "geometry.solid: {} of {} described bodies (the first in geometry.solid[{}]) {} narrower than the cells of "
        "{:.3g} m at the wall (a plate: than a sixteenth of them): what lies between grid lines is missing, in part or "
        "altogether. The narrowest is {:.3g} m wide; use finer cells, or a level refined where it is",
        narrow.count, narrow.of, narrow.first, narrow.count == 1 ? "is" : "are", h, narrow.narrowest);
  for (const Seam& seam : seams(config.geometry, config.grid.cell_width(), size, config.grid.periodic)) {
    std::string which;
    for (const std::size_t i : seam.solids) which += fmt::format("{}geometry.solid[{}]", which.empty() ? "" : ", ", i);
    all.add(
        "grid.periodic: the solids are not periodic along {0}: on {1:.1f} % of the area of its two faces there, fluid "
        "meets solid, and a wall closes it. Planes and formulas are not repeated{2}: set grid.periodic to false along "
        "{0}, or describe a whole period",
        axis_names[seam.direction], 100.0 * seam.differ, which.empty() ? "" : " (" + which + ")");
  }
  return all;
}

}  // namespace

std::vector<std::string> first_warnings(const Comm& comm, const Config& config, const Source& source) {
  Messages all = config.unusual;
  all.add(solid_warnings(config));
  all.add(image_warnings(comm, source));
  return all;
}

}  // namespace karst
