// SPDX-License-Identifier: BSD-3-Clause
// Labels of voxels: 0 pore, 1 to 254 solid phases, 255 outside of the sample. From the values of a label image by name,
// and what gray values make wrong about them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/phase_share.hpp"
#include "geometry_import/voxels/slabs.hpp"
#include "geometry_import/voxels/source_lattice.hpp"

namespace karst {

inline constexpr int most_solids = 254;

struct NamedValue {
  std::string name;
  double value;
};

/// Which label the values of a segmented image become: "pore" 0, the others 1, 2, ... in the order of their values.
class LabelMap {
 public:
  /// One value is pore, all others are label 1, "solid".
  static LabelMap of_pore(double value);
  /// Throws Error, with all that is wrong, a line each: not exactly one "pore", no solid, more than 254, a name or
  /// value twice, a value that float cannot tell from its neighbours (2^24 on).
  explicit LabelMap(const std::vector<NamedValue>& values);
  const std::vector<std::string>& names() const { return names_; }  ///< by label
  std::string text() const;                                         ///< pore = 0, quartz = 1
  double pore() const { return pore_; }
  bool others_are_solid() const { return others_are_solid_; }
  /// Label of a value; -1 when it has none.
  int label(float value) const;

 private:
  LabelMap() = default;

  struct Entry {
    float value;
    int label;
  };
  std::vector<Entry> entries_;  ///< by value
  std::vector<std::string> names_;
  double pore_ = 0;
  bool others_are_solid_ = false;
};

/// The names of {"labels": {"pore": 0, "quartz": 1, ...}} in a JSON file. Throws Error naming the path. Not collective.
std::vector<NamedValue> read_label_names(const std::string& path);

/// What was met while values became labels.
struct LabelTally {
  static constexpr std::size_t most_values = 34;
  double smallest, largest;
  std::int64_t unknown = 0;    ///< voxels whose value has no label
  std::int64_t first_unknown;  ///< the first of them, (z ny + y) nx + x
  float unknown_value = 0;     ///< its value
  std::set<float> values;      ///< different values, up to most_values of them
  LabelTally();
  /// Those of all ranks. Collective.
  LabelTally over_ranks(const Comm& comm) const;
};

/// Labels of the values of whole planes; those without a name become 1. `inside` as in Sample: others are not looked
/// at.
void label_values(const LabelMap& map, const ImageWindow& window, std::span<const float> values,
                  std::span<const std::uint8_t> inside, std::span<std::uint8_t> labels, LabelTally& tally);

/// Error unless all values have a name: value, how many voxels, the first place, the names there are.
void require_known(const LabelTally& tally, const LabelMap& map, const Index& voxels, const std::string& file);

/// Where gray goes from the pore to a bright mineral it passes the gray of the minerals between: a rim of false phase.
/// Solid voxels with a pore voxel among their 26 neighbours therefore take the label of those behind them: in two
/// rounds, the most frequent label among the neighbours that are solid and not of the rim, or were given a label in the
/// round before (the smallest label of equals). A voxel that meets none keeps its own. Collective.
/// Returns the number of voxels whose label changed.
std::int64_t correct_rim(const Comm& comm, Slabs<std::uint8_t>& labels);

/// Volume of the voxels of each label, the same to the last bit on any number of ranks. Collective. [voxels]
/// @param lattice  of resampled labels: the volume is that of the file's voxels
std::vector<double> label_volumes(const Comm& comm, const Slabs<std::uint8_t>& labels, const SourceLattice& lattice);

/// Names and shares of the sample of the labels 0, 1, ... from their volumes.
std::vector<PhaseShare> phase_shares(std::span<const std::string> names, std::span<const double> volumes);

}  // namespace karst
