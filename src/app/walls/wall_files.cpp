// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/wall_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/job/moving_walls.hpp"
#include "app/job/run_services.hpp"
#include "app/output/wall_surface.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/version.hpp"
#include "base/math/no_number.hpp"
#include "eb/mineral_choice.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/level_set.hpp"

namespace karst {

namespace {

constexpr double kept_near_wall = 1.5;  ///< |φ| up to which it is stored, in spacings of the corners of s
constexpr int row_length = 32;          ///< points that are looked at together

/// Points of a lattice at (first + index) · spacing [h0].
struct Points {
  Index n;
  double spacing, first;
  Vec3 at(const Index& i) const {
    Vec3 x;
    for (int d = 0; d < 3; ++d) x[d] = spacing * (first + i[d]);
    return x;
  }
};

/// f(local level set, up to row_length points of a row, offset of the first of them) for the planes of a layer, in
/// parallel.
template <class F>
void for_rows(const LevelSet& walls, const Points& points, const ImageWindow& planes, F&& f) {
  constexpr int width = row_length;
  const int nx = (points.n[0] + width - 1) / width, ny = (points.n[1] + width - 1) / width;
  parallel_for_dynamic(std::int64_t{nx} * ny, [&](std::int64_t block) {
    const Index low{width * static_cast<int>(block % nx), width * static_cast<int>(block / nx), planes.first};
    const Index high{std::min(low[0] + width, points.n[0]), std::min(low[1] + width, points.n[1]), planes.last};
    const auto local = walls.local(points.at(low), points.at(high - Index::all(1)));
    std::vector<Vec3> row(high[0] - low[0]);
    for (int k = low[2]; k < high[2]; ++k)
      for (int j = low[1]; j < high[1]; ++j) {
        for (int i = low[0]; i < high[0]; ++i) row[i - low[0]] = points.at({i, j, k});
        f(*local, row, planes.start_of(k) + std::int64_t{j} * points.n[0] + low[0]);
      }
  });
}

/// φ of a layer as the file has it.
Array<float> phi_of(const LevelSet& walls, const Points& points, const ImageWindow& planes, double most) {
  Array<float> all(planes.count(), Purpose::buffers);
  for_rows(walls, points, planes, [&](const LocalLevelSet& local, std::span<const Vec3> row, std::int64_t first) {
    std::array<double, row_length> phi;
    local.evaluate(row, std::span(phi).first(row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) all[first + i] = static_cast<float>(std::clamp(phi[i], -most, most));
  });
  return all;
}

/// Labels of the minerals, 0 where φ at the centre is in the pore.
Array<std::uint8_t> phases_of(const LevelSet& walls, const Points& points, const ImageWindow& planes,
                              std::span<const std::uint8_t> labels, std::span<const float> phi) {
  Array<std::uint8_t> all(planes.count(), Purpose::buffers);
  for_rows(walls, points, planes, [&](const LocalLevelSet& local, std::span<const Vec3> row, std::int64_t first) {
    std::vector<double> areas(labels.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (phi[first + i] > 0.0F) {
        all[first + i] = pore_label;
        continue;
      }
      std::ranges::fill(areas, 0.0);
      local.add_wall(row[i], 1.0, areas);
      all[first + i] = labels[std::ranges::max_element(areas) - areas.begin()];
    }
  });
  return all;
}

/// Layers of planes in turn, one per rank: f(first layer of the turn, layer of this rank, with no plane where there is
/// none), when what others hold of the walls is there.
template <class F>
void for_layers(const JobContext& run, const Points& points, F&& f) {
  const int n = GeometryWriter::layers(points.n);
  const MovedLevelSet& walls = run.walls->now;
  for (int first = 0; first < n; first += run.comm.size()) {
    const int own = first + run.comm.rank();
    const ImageWindow layer = own < n ? GeometryWriter::layer(points.n, own) : ImageWindow{points.n, 0, 0};
    std::vector<Box> cells;
    if (layer.planes() > 0) {
      Box around{{}, run.grid.cells};
      around.lo[2] = static_cast<int>(points.at({0, 0, layer.first})[2]);
      around.hi[2] = static_cast<int>(std::ceil(points.at({0, 0, layer.last})[2]));
      cells.push_back(around);
    }
    walls.fetch(run.comm, 0, cells);
    f(first, layer);
    walls.drop_cache();
  }
}

struct Kind {
  const char *series, *last, *numbered, *use;
};
constexpr Kind geometry_kind{"moved_geometry.h5.series", "moved_geometry.h5", "moved_geometry_{:04}.h5",
                             "the walls as geometry files, for geometry.image of another deck"};
/// Of described solids, decision 087.
constexpr const char* rounded_edges = "; edges where grains meet are cut off within half a cell";
constexpr Kind surface_kind{"moved_wall.vtp.series", "moved_wall.vtp", "moved_wall_{:04}.vtp",
                            "walls that move as a surface, with their speed, for ParaView"};

void write_moved_surface(const JobContext& run, const WallRows& speed, const std::string& path) {
  const std::vector<WallPlace> places = wall_places(run.geometry(), *run.ground->numbering());
  Surface surface = wall_surface(run.geometry(), places, run.grid.cell_width());
  SurfaceArray& speeds = surface.arrays.emplace_back(SurfaceArray{"speed_m_s", {}});
  for (const WallPlace& p : places)
    speeds.values.push_back(static_cast<float>(run.grid.cell_width() * speed[p.level][p.row]));
  write_surface(run.comm, path, surface);
}

/// f(kind, write(path)) for what the deck asks for.
template <class F>
void for_asked(const JobContext& run, const WallRows& speed, double time, F&& f) {
  if (!run.services.files.written()) return;
  if (run.config.output.geometry)
    f(geometry_kind, [&](const std::string& path) { write_moved_geometry(run, path, time); });
  if (run.config.output.wall) f(surface_kind, [&](const std::string& path) { write_moved_surface(run, speed, path); });
}

}  // namespace

int nodes_per_cell(int n_levels, double sample_spacing) {
  const int least = 1 << n_levels;
  for (const int finer : {1, 2, 4})
    if (const double n = least * finer * sample_spacing; n > 0.5 && std::abs(n - std::round(n)) < 1e-6)
      return finer * least;
  return least;
}

void write_moved_geometry(const JobContext& run, const std::string& path, double time) {
  const Timer timer("geometry file");
  const MovedLevelSet& walls = run.walls->now;
  const int n_levels = run.geometry().grid.n_levels();
  const int nodes = nodes_per_cell(n_levels, walls.smoothness().sample_spacing);
  const double most = std::ldexp(kept_near_wall, 1 - n_levels);
  const std::vector<std::string> names = walls.minerals();
  std::vector<std::uint8_t> labels;
  for (std::size_t m = 0; m < names.size(); ++m)
    labels.push_back(names[m] == surroundings ? outside_label : static_cast<std::uint8_t>(m + 1));
  GeometryWriter writer(run.comm, path, run.grid.cells, nodes);
  std::vector<double> counts(256, 0.0);
  for_layers(run, {run.grid.cells, 1.0, 0.5}, [&](int first, const ImageWindow& layer) {
    std::vector<std::byte> packed;
    fail_together(run.comm, [&] {
      if (layer.planes() == 0) return;
      const Points centres{layer.image, 1.0, 0.5};
      const Array<float> phi = phi_of(walls, centres, layer, most);
      const Array<std::uint8_t> phases = phases_of(walls, centres, layer, labels, phi.span());
      for (const std::uint8_t label : phases.span()) counts[label] += 1.0;
      packed = GeometryWriter::pack(layer, phi.span(), phases.span());
    });
    writer.write(first, std::move(packed));
  });
  double steepest = 0.0;
  for_layers(run, {GeometryWriter::node_lattice(run.grid.cells, nodes), 1.0 / nodes, 0.0},
             [&](int first, const ImageWindow& layer) {
               std::vector<std::byte> packed;
               fail_together(run.comm, [&] {
                 if (layer.planes() == 0) return;
                 ImageWindow window = layer;
                 window.last = std::min(layer.last + 1, layer.image[2]);
                 const Array<float> phi = phi_of(walls, {layer.image, 1.0 / nodes, 0.0}, window, most);
                 steepest = std::max(steepest, nodes * steepest_slope(window, phi.span(), layer.first, layer.last));
                 packed = GeometryWriter::pack_nodes(layer, phi.span().first(layer.count()));
               });
               writer.write_nodes(first, std::move(packed));
             });
  run.comm.sum(std::span(counts));
  double in_sample = -counts[outside_label];
  for (const double n : counts) in_sample += n;
  GeometryInfo info{.voxels = run.grid.cells, .voxel = run.grid.cell_width()};
  info.porosity = counts[pore_label] / in_sample;
  info.level_set_porosity = run.geometry().report.porosity;
  info.steepest = run.comm.max(steepest);
  info.threshold = no_number;
  info.phases = {{"pore", pore_label, info.porosity}};
  for (std::size_t m = 0; m < names.size(); ++m)
    if (labels[m] != outside_label) info.phases.push_back({names[m], labels[m], counts[labels[m]] / in_sample});
  Json provenance{
      {"program", version_and_git_id()}, {"title", run.config.title}, {"walls_at_s", time}, {"nodes_per_voxel", nodes}};
  if (std::ranges::count(names, surroundings) > 0) provenance["sample"] = "cut out";
  info.provenance = provenance.dump();
  writer.finish(info);
}

void write_wall_files(const JobContext& run, const WallRows& speed, double time, FilesInTime& files) {
  for_asked(run, speed, time, [&](const Kind& kind, const auto& write) {
    FilesInTime::Series& series = files.of_walls[kind.series];
    series.files.push_back({fmt::format(fmt::runtime(kind.numbered), series.files.size() + 1), time});
    write(run.services.files.path(series.files.back().name));
    write_series(run, kind.series, series);
  });
}

void finish_wall_files(const JobContext& run, const WallRows& speed, double time, const FilesInTime& files,
                       JobResult& result) {
  for_asked(run, speed, time, [&](const Kind& kind, const auto& write) {
    write(run.services.files.path(kind.last));
    const bool is_rounded = &kind == &geometry_kind && run.walls->now.smoothness().sample_spacing == 0.0;
    result.files.push_back({kind.last, std::string(kind.use) + (is_rounded ? rounded_edges : "")});
    const auto found = files.of_walls.find(kind.series);
    if (found == files.of_walls.end()) return;
    FilesInTime::Series series = found->second;
    series.files.push_back({kind.last, time});
    write_series(run, kind.series, series);
    result.files.push_back({kind.series, "those of all output times, with their times"});
  });
}

}  // namespace karst
