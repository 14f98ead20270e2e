// SPDX-License-Identifier: BSD-3-Clause
// Values of a plotfile at any position, to start on another grid from the result of an earlier run.
//
// A value is that at the centre of its cell. Values at a position are interpolated trilinearly between the eight
// surrounding centres of the finest level there; between the last centre and a domain face that is not periodic they
// are extrapolated linearly. Linear fields are exact on one level. Around faces between levels a missing centre has the
// value of the coarser cell there, or the mean of the finer ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "grid/box.hpp"
#include "io/plot_reader.hpp"

namespace karst {

class PlotSampler {
 public:
  /// Components by name. Throws Error: no such file, no plotfile, or a component that it lacks. Each process for
  /// itself.
  PlotSampler(const std::string& path, const std::vector<std::string>& components, std::array<bool, 3> periodic);

  const PlotReader& file() const { return reader_; }

  /// Of the values around a place.
  struct Sample {
    double fluid = 0.0;            ///< part of the weights (1) in cells with fluid
    std::vector<double> weighted;  ///< Σ weight value, by component; cells without fluid count 0
  };
  /// @param x  in cell widths of level 0 of the file; within the domain
  /// Reads each box that is met once and keeps it. Throws Error: a value that is not finite. One thread at a time.
  const Sample& at(const Vec3& x);

 private:
  struct Values {
    Box cells;
    std::vector<float> values;  // component after component
    std::vector<std::uint8_t> hidden;
  };
  struct Level {
    std::unordered_map<std::int64_t, std::size_t> box_at;  // place on the lattice of boxes -> number
    std::unordered_map<std::size_t, Values> read;
  };
  const Values* box_with(int level, const Index& cell);
  std::int64_t lattice_key(const Index& cell) const;
  int level_at(const Vec3& x);
  bool add(double weight, int level, const Index& cell);

  PlotReader reader_;
  std::string path_;
  std::vector<std::size_t> components_;
  std::array<bool, 3> periodic_;
  Index box_size_{};
  std::vector<Level> levels_;
  Sample sample_;
};

}  // namespace karst
