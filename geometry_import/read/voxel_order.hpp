// SPDX-License-Identifier: BSD-3-Clause
// The sizes and the type of a raw file are what its user says. Voxels of an image resemble their neighbours; read with
// the sizes in another order, or with the bytes of a value exchanged, neighbours are voxels that lie apart. Whether
// another reading makes neighbours more alike can therefore be seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "geometry_import/read/image_file.hpp"

namespace karst {

/// Mean difference of neighbours along x, y and z over that of unrelated voxels: 0 alike, 1 unrelated.
struct NeighbourDifference {
  Vec3 along;
  /// The largest and the least along axes of more than one voxel.
  double largest(const Index& size) const;
  double least(const Index& size) const;
};

/// Another order of the three sizes of a raw image in which neighbours are much more alike.
struct OtherOrder {
  Index size;
  NeighbourDifference given, other;
};

/// Compares all orders of the sizes on eight planes, of small images more, and on those that hold the neighbours of
/// their voxels.
///
/// Nothing unless neighbours along y or z are at least 1.2 times as alike in the other order, along no axis less
/// alike, and the difference is well above chance; nor where they would differ 8 times as much along one axis as along
/// another, unless they are 20 times as alike. Rows and planes of the right order end where unlike voxels follow
/// one another, and only there: in another order these lie inside of rows or planes. This excludes other orders of
/// layered samples, in which some steps over several rows lead to voxels that are more alike than neighbours.
/// Throws Error as ImageFile::read_plane() does. Not collective.
std::optional<OtherOrder> other_order(ImageFile& image);

/// Integers of 16 bits of which neighbours in a row are much more alike with the two bytes exchanged, or with the other
/// sign of the type: mean differences, over those of unrelated voxels.
struct OtherBytes {
  double given = 0.0, exchanged = 0.0;
};
std::optional<OtherBytes> other_bytes(ImageFile& image);

/// Integers of 16 bits whose two bytes resemble each other as neighbouring voxels do: they are two voxels of 8 bits.
/// The mean difference of the two over that of unrelated bytes; nothing from 0.5 on.
std::optional<double> two_in_one(ImageFile& image);

/// Integers of 8 or 16 bits that are parts of values of so many bytes, as 16-bit voxels read as twice as many of 8 bits
/// are: one of their parts is at least twice as like that of the next value as its neighbour, to which it is as unlike
/// as to that of any other value. Nothing where all parts repeat exactly, as plates of one voxel do, and in rows of
/// less than 32.
std::optional<int> part_of_wider(ImageFile& image);

/// A sentence of what is found, or that neighbours along one axis are as unlike as unrelated voxels while those along
/// another are alike, with what to give instead; empty where the image is likely to be read right.
/// @param big_endian  as it was read
std::string doubt_about_layout(ImageFile& image, bool big_endian);

}  // namespace karst
