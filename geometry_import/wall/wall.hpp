// SPDX-License-Identifier: BSD-3-Clause
// From labels (and gray values) to the level set φ of the geometry file: layer by layer, nothing of it is kept but the
// distance to the wall of the solid voxels beside the pore.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/voxels/report_pictures.hpp"
#include "geometry_import/wall/segmentation.hpp"
#include "geometry_import/wall/wall_faces.hpp"

namespace karst {

class Wall {
 public:
  /// All must live as long as this does.
  Wall(const ImageLayers& image, Segmentation& segmentation, double smoothing)
      : image_(image), parts_(segmentation), smoothing_(smoothing) {}

  /// Segmented images: shifts φ such that the pore of the trilinear interpolant has the volume of the pore voxels, to
  /// 0.1 %, where 0.5 voxel is enough for that. Returns the shift [voxels; of the file where
  /// labels were resampled]. Collective.
  /// @param pore  volume of the pore voxels, those of the file where labels were resampled [voxels]
  double keep_volume(double pore);

  struct Written {
    WallSums sums;        ///< pore of the sample
    double area = 0;      ///< of the wall in the sample [voxel²]
    double steepest = 0;  ///< see steepest_slope()
  };
  /// Writes φ and the labels. Where cleaning changed the phase of a voxel of a gray image, φ takes the other sign: the
  /// wall of what was removed vanishes, that of what stays is where gray values say. Where labels were resampled
  /// (file_voxels.hpp) the labels become those that φ has. Collective.
  /// @param pictures  takes φ; nullptr: nobody wants it
  Written write(GeometryWriter& writer, ReportPictures* pictures = nullptr);

  /// Distance to the wall of the solid voxels with a pore voxel beside them, 0 elsewhere; after write(), once.
  /// Collective. [1/64 voxel]
  Slabs<std::uint16_t> take_offsets();

 private:
  /// φ in a layer and one plane around it.
  struct Field {
    ImageWindow window;
    Array<float> storage;
    std::span<float> phi;
  };
  /// The layers that this one is made together with, itself included.
  ImageWindow together(const ImageWindow& layer) const;
  /// Where each rank makes all its layers together, faces stay from one shift to the next.
  bool keeps_faces() const;
  ImageWindow label_window(const ImageWindow& layer) const;
  /// @param fitted  planes of the layer and one around it; empty unless the wall is fitted
  Field field(const ImageWindow& layer, std::span<const std::uint8_t> labels, std::span<const std::int16_t> fitted);
  Field gray_field(const ImageWindow& layer, std::span<const std::uint8_t> labels,
                   std::span<const std::int16_t> fitted) const;
  Field smoothed_field(const ImageWindow& layer) const;
  /// 1 in the pore and where it goes on outside of the sample, 0 in the solid.
  Array<std::uint8_t> phase_of(const ImageWindow& all, std::span<const std::uint8_t> labels) const;
  /// @param labels  over label_window(layer); not read where faces are kept
  Field segmented_field(const ImageWindow& layer, std::span<const std::uint8_t> labels);
  /// Labels over the window of the field, of cubes as it has them.
  /// @param labels  over `around`
  Array<std::uint8_t> labels_of(const Field& field, const ImageWindow& around,
                                std::span<const std::uint8_t> labels) const;
  /// @param first  no faces are kept yet
  WallSums sums_with_shift(float shift, bool first = false);

  const ImageLayers& image_;
  Segmentation& parts_;
  double smoothing_;
  float shift_ = 0;
  std::optional<WallSums> sums_;                     ///< with this shift, where volume was kept
  std::optional<WallFaces> faces_;                   ///< of all layers of this rank, where they are kept
  std::vector<std::vector<std::uint16_t>> offsets_;  ///< of the layers of this rank, in the order of their voxels
};

}  // namespace karst
