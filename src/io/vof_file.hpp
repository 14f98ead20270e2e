// SPDX-License-Identifier: BSD-3-Clause
// Values of VoFs on disk, to be read by a later run on any number of ranks: completed solves and checkpoints. A value
// belongs to (level, cell, piece of fluid in the cell), not to an array index:
//
//   /text                     whatever the writer wants to know again [bytes]
//   /NAME                     a list of numbers whose parts the ranks have, one after the other [float64]
//   /TABLE/level_L            attributes: cells (of the domain), box_size
//   /TABLE/level_L/box        first cell of each box, in Morton order
//   /TABLE/level_L/begin      its first VoF in the lists, and the end
//   /TABLE/level_L/cell       offset of each VoF's cell in its box, not decreasing [uint16]
//   /TABLE/level_L/piece      which VoF of its cell it is, increasing in the cell [uint8]
//   /TABLE/level_L/NAME       one row of components per VoF [float32 or float64]
//
// A line before it (HDF5's user block) contains the checksum of everything. Not compressed, because solutions hardly
// compress and the run waits while it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/level_graph.hpp"

namespace karst {

/// VoFs with values, and their rows in the arrays of a rank.
struct VofPlaces {
  std::vector<const LevelGraph*> levels;  ///< level 0 first
  /// Row of an own VoF in the arrays; -1: none (covered by a finer level).
  std::function<std::int64_t(int level, int box, int vof)> row;
};

/// A quantity under its name: rows of components, one after the other.
struct VofValues {
  std::string name;
  int components = 1;
  std::variant<std::span<const double>, std::span<const float>> values;
};

/// Quantities of the same VoFs.
struct VofTable {
  std::string name;
  VofPlaces places;
  std::vector<VofValues> values;
};

/// Numbers that are no values of VoFs, such as where a wall is; this rank's part.
struct RankedList {
  std::string name;
  std::span<const double> values;
};

/// Writes under a temporary name and renames it, so `path` holds the old file or the whole new one, brought to the
/// disk. Throws the same Error on all ranks when anything fails; nothing new stays behind. Collective.
void write_vof_file(const Comm& comm, const std::string& path, const std::string& text,
                    std::span<const VofTable> tables, std::span<const RankedList> lists = {});

/// Throws the same Error on all ranks if the file differs in any bit from what was written, or is truncated. To be
/// called before HDF5 reads it, which may crash on damaged files. Collective; each rank reads a part.
void check_vof_file(const Comm& comm, const std::string& path);

/// Reads what write_vof_file() wrote. Each rank reads for itself; nothing is collective, and Error may come on some
/// ranks alone.
class VofFile {
 public:
  /// Throws Error: no such file, cut short, no file of values.
  explicit VofFile(const std::string& path);
  ~VofFile();
  VofFile(VofFile&&) noexcept;

  const std::string& text() const { return text_; }
  /// Part of a RankedList from a position on. Throws Error: no such list, or it is shorter.
  void read(const std::string& list, std::int64_t first, std::span<double> values) const;
  /// Own VoFs that are in a table: places among all of the rank, level after level, box after box, VoF after VoF.
  /// Boxes and ranks may be others than those of the writer. Throws Error: no such table, or of another grid.
  std::vector<std::int64_t> vofs_in(const std::string& table, std::span<const LevelGraph* const> levels) const;
  /// The values of the VoFs that the places name, as vofs_in().
  /// @param[out] values  rows as VofPlaces says; others stay
  /// Throws Error when the table holds no such quantity of so many components and this precision, or lacks a VoF.
  void read(const std::string& table, const std::string& name, const VofPlaces& places, int components,
            std::span<double> values) const;
  void read(const std::string& table, const std::string& name, const VofPlaces& places, int components,
            std::span<float> values) const;

 private:
  template <class T>
  void read_all(const std::string& table, const std::string& name, const VofPlaces& places, int components,
                std::span<T> values) const;

  struct File;
  std::unique_ptr<File> file_;
  std::string path_, text_;
};

}  // namespace karst
