// SPDX-License-Identifier: BSD-3-Clause
// A picture of a body given by a level set: parallel rays, shading by the gradient, darker in hollows, paler far away.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/math/triple.hpp"
#include "page/picture.hpp"

namespace karst {

/// Values at the centres of equal cubes, > 0 in the body; lengths and values in widths of a cube.
struct Volume {
  Index size;
  std::vector<float> values;  ///< [nz][ny][nx]
};

struct RenderOptions {
  int width = 800, height = 720;  ///< [pixels]
  double azimuth = -56;           ///< of the eye, from x towards y [degrees]
  double elevation = 26;          ///< of the eye above the plane of x and y [degrees]
  bool cut_corner = true;         ///< without the eighth that is nearest to the eye
  bool edges = true;              ///< of the box
  double steepest = 1.4;          ///< what values outside of the body change by over the width of a cube at most
  double longest_step = 2;        ///< of a ray through the outside [cubes]
  Rgb surface{72, 131, 181}, cut{176, 205, 227}, background{255, 255, 255};
};

struct PicturePoint {
  double column = 0, row = 0;  ///< [pixels from the upper left]
};

struct Rendering {
  Picture picture;
  double scale = 0;  ///< pixels per width of a cube
  /// Of the three edges of the box that meet at its corner nearest below the eye ("front"), the ends and the middle:
  /// where names of axes go.
  struct Edge {
    PicturePoint begin, middle, end;  ///< towards higher coordinates
    PicturePoint out;                 ///< unit vector away from the box
  };
  std::array<Edge, 3> edges;
};

/// Trilinear between the cubes' centres; beyond the outermost centres values stay. Where the body reaches the sides of
/// the box it is cut, in a colour of its own. Rows are shared among ranks and threads; every pixel is the same for any
/// number of them. Collective; the volume is the same on every rank, and so is the rendering.
Rendering render(const Comm& comm, const Volume& volume, const RenderOptions& options);

/// Where render() draws a point of the volume [widths of a cube].
PicturePoint projected(const Index& size, const RenderOptions& options, const Vec3& point);

/// Height of letters in body_svg() that stays readable where a picture `width` pixels wide fills a phone [pixels].
inline double body_letters(int width) { return width / 32.0; }

/// <svg>: the rendering, names along its three edges, and what is drawn over it (SVG). Its viewBox holds the names
/// whole. Names and `about` are escaped.
/// @param beside  pixels on the right of the rendering that belong to it, too
std::string body_svg(const Rendering& view, const std::array<std::string, 3>& names, const std::string& about,
                     const std::string& over = "", double beside = 0);

}  // namespace karst
