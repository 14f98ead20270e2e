// SPDX-License-Identifier: BSD-3-Clause
// Reads plotfiles (plotfile.hpp) box by box.
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

  const std::vector<std::string>& components() const { return components_; }
  int n_levels() const { return static_cast<int>(boxes_.size()); }
  const Index& cells() const { return cells_; }      ///< of level 0
  double cell_width() const { return cell_width_; }  ///< of level 0 [m]
  /// Boxes of a level in cells of that level, in the order of the file.
  const std::vector<Box>& boxes(int level) const { return boxes_[static_cast<std::size_t>(level)]; }
  /// Values of one component in a box, one per cell, x fastest. Throws Error. One thread at a time.
  void read(int level, std::size_t box, std::size_t component, std::span<float> cells) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
  std::string path_;
  std::vector<std::string> components_;
  std::vector<std::vector<Box>> boxes_;
  std::vector<std::vector<std::int64_t>> offsets_;  ///< per level: first value of each box, and the end
  Index cells_{};
  double cell_width_ = 0.0;
};

}  // namespace karst
