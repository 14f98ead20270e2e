// SPDX-License-Identifier: BSD-3-Clause
// Reads plotfiles (plotfile.hpp) box by box, also those of older versions, which have NaN in hidden cells instead of
// flags. Of a file that holds a region its cells are counted from the low corner of the region.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grid/box.hpp"

namespace karst {

class PlotReader {
 public:
  /// Throws Error: no such file, no plotfile. By one process.
  explicit PlotReader(const std::string& path);
  ~PlotReader();
  PlotReader(PlotReader&&) noexcept;

  const std::string& title() const { return title_; }
  double time() const { return time_; }                                               ///< [s]
  const std::vector<std::string>& components() const { return components_; }          ///< of a vector: NAME_x ...
  const std::string& unit(std::size_t component) const { return units_[component]; }  ///< empty in older files
  int n_levels() const { return static_cast<int>(boxes_.size()); }
  const Index& cells() const { return cells_; }      ///< of level 0, in the domain or the region
  bool holds_region() const { return is_region_; }   ///< not the whole domain
  double cell_width() const { return cell_width_; }  ///< of level 0 [m]
  /// Boxes of a level in cells of that level, in the order of the file.
  const std::vector<Box>& boxes(int level) const { return boxes_[level]; }
  /// Values of one component in a box, one per cell, x fastest. Throws Error. One thread at a time.
  void read(int level, std::size_t box, std::size_t component, std::span<float> cells) const;
  /// Flags of hidden cells (cell_is_solid, cell_is_covered), likewise; 0 in older files.
  void read_hidden(int level, std::size_t box, std::span<std::uint8_t> cells) const;

 private:
  struct File;
  void read_level(int level);
  std::unique_ptr<File> file_;
  std::string path_, title_;
  double time_ = 0.0;
  std::vector<std::string> components_, units_;
  std::vector<std::vector<Box>> boxes_;
  std::vector<std::vector<std::int64_t>> first_;  ///< per level: first cell of each box, and the end
  Index cells_{}, low_{};                         ///< of level 0 in the file; the first of them in the domain
  bool is_region_ = false;
  double cell_width_ = 0.0;
};

}  // namespace karst
