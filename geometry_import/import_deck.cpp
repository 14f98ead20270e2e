// SPDX-License-Identifier: BSD-3-Clause
// Keys of [geometry.import].
#include <climits>

#include "base/deck.hpp"
#include "geometry_import/import.hpp"

namespace karst {
namespace {

constexpr double unbounded = 1e300;

void read_optional(Reader& in, const char* key, std::optional<double>& value, const char* help) {
  double number = value.value_or(0);
  const bool given = in.given(key);
  in.number(key, number, "gray value", help, -unbounded, unbounded);
  if (given) value = number;
}

void read_smoothing(Reader& in, std::optional<double>& value) {
  constexpr const char* key = "geometry.import.smoothing";
  double number = value.value_or(gray_smoothing);
  const bool given = in.given(key);
  in.number(key, number, "voxels",
            "standard deviation of the smoothing; without it 0.5 for gray values and 1 for the distance to the wall of "
            "segmented images",
            0, 8);
  if (given) value = number;
}

void read_type(Reader& in, ImportOptions& o) {
  constexpr const char* key = "geometry.import.type";
  std::vector<Reader::Word<VoxelType>> words;
  for (int t = 0; t < n_voxel_types; ++t)
    words.push_back({name_of(static_cast<VoxelType>(t)), static_cast<VoxelType>(t), ""});
  VoxelType type = o.type.value_or(VoxelType::uint8);
  const bool given = in.given(key);
  in.word(key, type, words, "raw images: type of the voxels");
  if (given) o.type = type;
}

}  // namespace

void read(Reader& in, ImportOptions& o) {
  in.index("geometry.import.size", o.size, "voxels", "raw images: voxels in x, y, z (x fastest in the file)", 1,
           INT_MAX);
  read_type(in, o);
  in.word("geometry.import.endian", o.big_endian,
          {{"little", false, "low byte first (usual)"}, {"big", true, "high byte first"}},
          "raw images: order of the bytes of a voxel");
  in.integer("geometry.import.skip_bytes", o.skip_bytes, "bytes", "raw images: header in front of the voxels", 0,
             INT_MAX);
  in.number("geometry.import.voxel", o.voxel, "m", "voxel width; needed when the image does not state it", 1e-12, 1e3);
  read_optional(in, "geometry.import.pore", o.pore, "segmented images: the value of the pore space");
  read_optional(in, "geometry.import.threshold", o.threshold,
                "gray images: gray value of the wall; without it halfway between the peaks of the two classes that "
                "Otsu's method finds");
  in.flag("geometry.import.pore_above", o.pore_above, "gray images: the pore is where the gray value is larger");
  read_smoothing(in, o.smoothing);
}

}  // namespace karst
