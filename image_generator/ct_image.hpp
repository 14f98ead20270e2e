// SPDX-License-Identifier: BSD-3-Clause
// Images as a CT scanner would give them, of a geometry that is known exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/math/triple.hpp"

namespace karst {

struct CtOptions {
  double blur = 0.5;    ///< σ of the blur [voxels]
  double noise = 0.05;  ///< σ of the Gaussian noise [contrast between pore and grain]
  double photons = 0;   ///< counts in a grain voxel: noise of variance 1 / counts, less where darker; 0: none
  double ring = 0.02;   ///< σ of the offset of each ring around the middle axis [contrast]
  int bits = 8;         ///< 8 or 16 (integers) or 32 (float)
  std::uint64_t seed = 1;
  double drift = 0;  ///< gray value of the last plane minus that of the first, linear between [contrast]
  double beam = 0;  ///< beam hardening: + beam × (distance to the middle axis / that of the nearest side)² [contrast]
};

/// Throws Error for options out of range, with the range.
void check(const CtOptions& options);

/// Gray values of the pore and of the grains, 8 bit; times 257 for 16 bit.
inline constexpr double pore_gray = 60, grain_gray = 180;

/// Gray values from solid fractions (x fastest; a mineral of gray value g counts as (g - pore_gray) / contrast): blur,
/// then noise, rings, drift and beam hardening; rounded and cut to the range of the bits. Noise of photons is taken as
/// normal (many counts). Throws Error for options out of range.
std::vector<std::uint16_t> ct_image(const Index& size, std::vector<float> solid_fraction, const CtOptions& options);

/// The same as floats in units of 8-bit gray values: neither rounded nor cut.
std::vector<float> ct_image_float(const Index& size, std::vector<float> solid_fraction, const CtOptions& options);

enum class TiffCompression { none, lzw, deflate };

/// Writes a TIFF with one page per plane, BigTIFF from 4 GB on; voxel widths go to the resolution tags when positive.
/// Whole or not at all. Rank 0 writes. Throws Error on all ranks. Collective.
/// @param values  8 bit: the low byte counts
/// @param voxel   [m]
void write_tiff(const Comm& comm, const std::string& path, const Index& size, const std::vector<std::uint16_t>& values,
                int bits, TiffCompression compression, double voxel);

/// An image as it lies in files: x fastest, of 8 or 16 bit (unsigned) or 32 (float), low byte first.
struct ImageBytes {
  Index size;
  int bits;
  std::vector<std::uint8_t> bytes;
};
ImageBytes image_bytes(const Index& size, const std::vector<std::uint16_t>& values, int bits);
ImageBytes image_bytes(const Index& size, const std::vector<float>& values);

/// Writes an image; the name says how: NAME.raw raw bytes; with %04d (or %d, %3d, ...) a stack of TIFF files, one per
/// plane, numbered from 0; else one TIFF file with a page per plane. Each file is whole or not there. Rank 0 writes.
/// Throws Error on all ranks. Collective.
void write_image(const Comm& comm, const std::string& path, const ImageBytes& image, TiffCompression compression,
                 double voxel);

}  // namespace karst
