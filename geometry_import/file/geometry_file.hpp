// SPDX-License-Identifier: BSD-3-Clause
// The geometry file: what an import leaves and a run reads, and what a run with walls that move leaves of them. HDF5:
//   /level_set  float32 [nz][ny][nx]  φ at voxel centres, > 0 in the pore [voxels]
//   /phase      uint8   [nz][ny][nx]  0 pore, 1 to 254 solid phases, 255 outside of the sample
//   /wall_distance float32 [nz][ny][nx]  distance of the pore voxels to the wall, in 1/64; 0 in the solid [voxels];
//                                        of an import
//   /level_set_nodes float32 [m nz + 1][m ny + 1][m nx + 1]  φ at the corners of voxels and at m - 1 places between
//                                        them along each direction [voxels], where a run reads it in place of
//                                        /level_set; of a run. Cut off at some distance from the wall
//   attributes of the root: karst_geometry (format version, int), voxel [m], porosity, level_set_porosity, steepest
//   (bound of the slope of φ, at nodes where there are any), threshold [gray values], smoothing [voxels], nodes (m,
//   int; none: no nodes), phases (JSON: label, name, share), provenance (JSON text, with what the import warned of, the
//   widths of the throats and how far the wall may lie off). No date: the same import gives the same bytes for any
//   number of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/phase_share.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {

class AtomicFile;

inline constexpr int geometry_format_version = 1;
inline constexpr int geometry_chunk = 32;  ///< voxels per chunk and direction

/// Diameters of the throats between pores [voxels]: 10, 50, 90 % of them are narrower.
struct ThroatWidths {
  std::int64_t count = 0;
  double tenth = 0, median = 0, ninetieth = 0;
};

/// What the provenance tells the runs that use the file.
struct ImportFindings {
  std::vector<std::string> warnings;  ///< of the import
  ThroatWidths throats;               ///< count 0: none, or not known (files made before they were kept)
  bool cut_out = false;               ///< a cylindrical sample was cut out: voxels with the label 255 surround it
  double wall_uncertainty = 0;        ///< how far the wall may plausibly lie off; 0: not known [voxels]
};

struct GeometryInfo {
  Index voxels;
  double voxel = 0;               ///< width [m]
  double porosity = 0;            ///< voxels with φ > 0 / all voxels
  double level_set_porosity = 0;  ///< volume where the trilinear interpolant of φ is positive / all
  double steepest = 0;            ///< bound of |∇φ| of the trilinear interpolant; the image does not repeat itself
  double threshold = 0;           ///< gray value of the wall; NaN when the image was segmented already
  std::string provenance{};       ///< JSON
  std::vector<PhaseShare> phases{{"pore", 0, 0.0}, {"solid", 1, 0.0}};  ///< by label; shares 0: the file has no names
  double smoothing = 0;                                                 ///< σ, as imported [voxels]
  int nodes = 0;           ///< per voxel and direction, where φ is in /level_set_nodes; 0: there are none
  ImportFindings found{};  ///< of the provenance, where the file was read; the writer leaves it alone
};

/// Reads a geometry file. Every rank may open and read for itself; safe to call from several threads (one reads at a
/// time).
class GeometryFile {
 public:
  /// Throws Error naming the path: no such file, not HDF5, not a geometry file, another version, data missing.
  explicit GeometryFile(const std::string& path);
  ~GeometryFile();
  GeometryFile(GeometryFile&&) noexcept;
  GeometryFile& operator=(GeometryFile&&) noexcept;
  const GeometryInfo& info() const { return info_; }
  /// φ of the voxels lo .. lo + size - 1, all inside the image. Throws Error when the file is damaged.
  /// @param[out] phi  size[0] · size[1] · size[2] values, x fastest [voxels]
  void read_block(const Index& lo, const Index& size, float* phi) const;
  /// The same of /level_set_nodes, whose last node along a direction is number GeometryInfo::nodes · voxels. Throws
  /// Error when the file has none.
  void read_nodes(const Index& lo, const Index& size, float* phi) const;
  /// The same of /phase.
  void read_phase(const Index& lo, const Index& size, std::uint8_t* phase) const;
  /// The same of /wall_distance [voxels]. Throws Error when the file has none (made before there were any).
  void read_wall_distance(const Index& lo, const Index& size, float* distance) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  GeometryInfo info_;
};

/// Writes a geometry file layer by layer of chunks, under a temporary name until finish(). Ranks compress their layers,
/// rank 0 writes them in order: the bytes do not depend on the number of ranks, and a full disk is met by one rank in a
/// plain write (a collective MPI-IO write does not report it: Open MPI 4.1). Unfinished, it leaves nothing behind.
class GeometryWriter {
 public:
  /// Throws Error on all ranks when the file cannot be created. Collective.
  /// @param nodes  per voxel and direction; 0: the file has distances in place of them
  GeometryWriter(const Comm& comm, const std::string& path, const Index& voxels, int nodes = 0);
  ~GeometryWriter();
  GeometryWriter(const GeometryWriter&) = delete;
  GeometryWriter& operator=(const GeometryWriter&) = delete;

  /// Nodes along each direction.
  static Index node_lattice(const Index& voxels, int nodes) { return nodes * voxels + Index::all(1); }

  static int layers(const Index& voxels) { return (voxels[2] + geometry_chunk - 1) / geometry_chunk; }
  /// Planes of a layer.
  static ImageWindow layer(const Index& voxels, int number);
  /// Compresses a layer. Not collective.
  static std::vector<std::byte> pack(const ImageWindow& layer, std::span<const float> phi,
                                     std::span<const std::uint8_t> phase);
  /// Compresses the distances of a layer, given in 1/64 voxel. Not collective.
  static std::vector<std::byte> pack_distance(const ImageWindow& layer, std::span<const std::uint16_t> distance);
  /// Compresses φ of a layer of nodes. Not collective.
  static std::vector<std::byte> pack_nodes(const ImageWindow& layer, std::span<const float> phi);
  /// Writes packed layer `first + rank` of each rank (empty: none). Layers must come in order. Throws Error on all
  /// ranks. Collective.
  void write(int first, std::vector<std::byte> packed);
  /// The same of distances, after all layers of the level set.
  void write_distance(int first, std::vector<std::byte> packed);
  /// The same of nodes, whose layers are those of node_lattice().
  void write_nodes(int first, std::vector<std::byte> packed);
  /// Adds the attributes, closes, and gives the file its name. Throws Error on all ranks. Collective.
  void finish(const GeometryInfo& info);

 private:
  struct State;
  template <class WriteLayer>
  void write_layers(int first, std::vector<std::byte> packed, WriteLayer&& write_layer);

  Comm comm_;
  std::unique_ptr<AtomicFile> target_;
  std::unique_ptr<State> state_;  ///< on rank 0; closed before target_ removes what is unfinished
};

/// True for a file that `karst import` made (of any version); false when there is no such file. Not collective.
bool is_geometry_file(const std::string& path);

}  // namespace karst
