// SPDX-License-Identifier: BSD-3-Clause
// Small 8-bit images, and their embedding in a report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace karst {

using Rgb = std::array<std::uint8_t, 3>;

/// Rows from the top, pixels from the left.
struct Picture {
  Picture() = default;
  /// All values 0.
  Picture(int width_pixels, int height_pixels, int n_channels);
  std::uint8_t* pixel(int column, int row) { return values.data() + offset(column, row); }
  const std::uint8_t* pixel(int column, int row) const { return values.data() + offset(column, row); }
  bool empty() const { return values.empty(); }

  int width = 0, height = 0;
  int channels = 3;                  ///< 1 gray, 3 red green blue, 4 with opacity
  std::vector<std::uint8_t> values;  ///< [height][width][channels]

 private:
  std::size_t offset(int column, int row) const { return (std::int64_t{row} * width + column) * channels; }
};

/// The bytes of a PNG file. Throws Error: no pixels, no memory. Not collective.
std::string png(const Picture& picture);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

/// "data:image/png;base64,...": a picture inside a page.
std::string data_uri(const Picture& picture);

/// #rrggbb
std::string hex(const Rgb& colour);

}  // namespace karst
