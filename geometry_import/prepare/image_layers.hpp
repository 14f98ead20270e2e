// SPDX-License-Identifier: BSD-3-Clause
// A prepared image in the layers of planes that the ranks work on in turn.
#pragma once

#include "base/comm/comm.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/prepare/sample.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

class ImageLayers {
 public:
  /// Both must live as long as this does.
  /// @param lattice  of labels that were resampled
  ImageLayers(const Comm& comm, ImageFile& image, const Sample& sample, SourceLattice lattice = {})
      : comm_(comm), image_(&image), sample_(&sample), lattice_(std::move(lattice)) {}
  const Comm& comm() const { return comm_; }
  const ImageInfo& info() const { return image_->info(); }
  const Sample& sample() const { return *sample_; }
  const SourceLattice& lattice() const { return lattice_; }
  Index voxels() const { return info().size; }
  double sample_voxels() const { return static_cast<double>(sample_->plane().voxels) * voxels()[2]; }
  double sample_volume() const { return static_cast<double>(sample_->plane().pore_volume) * voxels()[2]; }
  int count() const { return GeometryWriter::layers(voxels()); }
  /// The layer of this rank in the round that begins with layer `first`; no planes beyond the last layer.
  ImageWindow layer(int first) const {
    const int number = first + comm_.rank();
    return number < count() ? GeometryWriter::layer(voxels(), number) : ImageWindow{voxels(), 0, 0};
  }
  /// round(first, layer) on all ranks at once, rank r with layer `first + r` or, beyond the last, one without planes.
  /// What the round does may be collective. Collective.
  template <class Round>
  void for_rounds(Round&& round) const {
    for (int first = 0; first < count(); first += comm_.size()) round(first, layer(first));
  }
  /// work(layer), which must not communicate, for the layers of this rank. Throws the same Error on all ranks.
  /// Collective.
  template <class Work>
  void for_own(Work&& work) const {
    fail_together(comm_, [&] {
      for (int l = comm_.rank(); l < count(); l += comm_.size()) work(GeometryWriter::layer(voxels(), l));
    });
  }
  /// Gray values or labels as the file has them, [planes][ny][nx]. Throws Error. Not collective.
  Array<float> read(const ImageWindow& window) const {
    Array<float> values(window.count(), Purpose::buffers);
    const std::size_t plane = window.plane();
    for (int z = window.first; z < window.last; ++z)
      image_->read_plane(z, values.span().subspan(window.start_of(z), plane));
    return values;
  }

 private:
  Comm comm_;
  ImageFile* image_;
  const Sample* sample_;
  SourceLattice lattice_;
};

}  // namespace karst
