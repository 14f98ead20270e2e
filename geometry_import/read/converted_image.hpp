// SPDX-License-Identifier: BSD-3-Clause
// Images of formats that Python reads (python/karst/formats): converted by a process of its own before the import.
#pragma once

#include <string>

#include "base/comm/comm.hpp"
#include "base/file/atomic_file.hpp"

namespace karst {

/// The image as a file that open_image() reads, while this object lives: HDF5 with what is known of it, or what a
/// compressed file holds.
class ConvertedImage {
 public:
  /// Rank 0 starts `python3 -m karst.formats` (by python_program()). Throws the same Error on every
  /// rank: Python or one of its packages is missing (which), the image is damaged, not understood or too large for
  /// memory or disk. Collective.
  /// @param image   file or folder, with ":ARRAY" where it has several; any other is left as it is
  /// @param beside  the file that is made of it, in whose folder there is room
  /// @param as_raw  voxels behind a header of known length are left as they are, too
  ConvertedImage(const Comm& comm, const std::string& image, const std::string& beside, bool as_raw);
  ConvertedImage(const ConvertedImage&) = delete;
  ConvertedImage& operator=(const ConvertedImage&) = delete;

  /// The file to open.
  const std::string& file() const { return file_; }
  /// What the image was, by its first bytes, and how it was read; empty when it is left as it is.
  const std::string& note() const { return note_; }
  /// A message about the file as one about the image.
  std::string about_image(std::string message) const;

 private:
  void convert(const std::string& kind, const std::string& beside);

  /// Removed with this object, also when its constructor throws.
  struct Folder {
    std::string path;
    RemovedOnSignals on_signals;
    ~Folder();
  };

  std::string image_, file_, note_;
  Folder folder_;
};

}  // namespace karst
