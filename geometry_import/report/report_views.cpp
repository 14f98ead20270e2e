// SPDX-License-Identifier: BSD-3-Clause
// Pictures of the report: slices before and after, and the body in space.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "geometry_import/report/report_charts.hpp"
#include "geometry_import/report/report_sections.hpp"
#include "geometry_import/report/slice_pictures.hpp"
#include "page/page_text.hpp"

namespace karst {
namespace {

constexpr double sparse = 0.25;  // a body of this share of the volume lets one look inside as it is

std::string image(const Picture& picture, const std::string& alt, const char* kind = "") {
  return fmt::format("<img src=\"{}\" alt=\"{}\"{}/>", data_uri(picture), escape_html(alt), kind);
}

/// The longest of 1, 2, 5 times a power of ten below 30 % of a length.
double ruler_length(double length) {
  const double power = std::pow(10, std::floor(std::log10(0.3 * length)));
  for (const double m : {5.0, 2.0})
    if (m * power <= 0.3 * length) return m * power;
  return power;
}

std::string ruler(double width) {
  const double length = ruler_length(width);
  const LengthUnit unit = length_unit(2 * length);
  return fmt::format("<span class=\"ruler\" style=\"width:{:.2f}%\">{}</span>", 100 * length / width,
                     fmt::format("{:g} {}", std::round(length / unit.metres * 1e6) / 1e6, unit.name));
}

/// Pictures over each other, tall ones narrower.
std::string stack(const ImageSlice& s, double voxel, const std::string& images) {
  const double width = std::min(100.0, 115.0 * s.nx / s.ny);
  return fmt::format("<div class=\"stack\" style=\"width:{:.1f}%;aspect-ratio:{}/{}\">{}{}</div>", width, s.nx, s.ny,
                     images, ruler(s.nx * s.step * voxel));
}

std::string place(const ImageSlice& s, const ReportPage& page) {
  const char* right = s.axis == 0 ? "y" : "x";
  const char* down = s.axis == 2 ? "y" : "z";
  return fmt::format("{} = {} (voxel {} of {}); {} to the right, {} down", axis_names[s.axis],
                     length_text((s.plane + 0.5) * page.voxel), s.plane + 1, page.voxels[s.axis], right, down);
}

std::string before(const ImageSlice& s, const ReportPage& page) {
  const Picture gray = gray_picture(s), wall = wall_picture(s);
  std::string images = image(gray, fmt::format("Gray values across {}", axis_names[s.axis]));
  if (!wall.empty()) images += image(wall, "The wall", " class=\"wall\"");
  return "<figure>" + stack(s, page.voxel, images) + "</figure>\n";
}

std::string after(const ImageSlice& s, const ReportPage& page) {
  std::string images = image(label_picture(s), fmt::format("Segmented image across {}", axis_names[s.axis]));
  const Picture wall = wall_picture(s);
  if (s.gray.empty() && !wall.empty()) images += image(wall, "The wall", " class=\"wall\"");
  return "<figure>" + stack(s, page.voxel, images) + "<figcaption>" + place(s, page) + "</figcaption></figure>\n";
}

std::string swatch(const Rgb& colour, const std::string& text, const char* kind = "") {
  return fmt::format("<span><span class=\"swatch{}\" style=\"background:{}\"></span>{}</span>\n", kind, hex(colour),
                     escape_html(text));
}

std::string legend(const ReportPage& page) {
  const auto& slices = page.pictures.slices;
  std::string out = "<div class=\"legend\">\n";
  for (const PhaseShare& p : page.statistics.phases) out += swatch(label_colour(p.label), p.name);
  if (page.sample) out += swatch(outside_colour, "outside of the sample");
  const auto has_changes = [](const ImageSlice& s) { return std::count(s.changed.begin(), s.changed.end(), 1) > 0; };
  if (std::any_of(slices.begin(), slices.end(), has_changes)) out += swatch(changed_colour, "changed by cleaning");
  if (!slices[0].phi.empty()) out += swatch(wall_colour, "wall: zero of the level set", " thin");
  return out + "</div>\n";
}

/// The coarse level set, its sign such that the body that is shown is positive.
Volume body_of(const ReportPage& page, bool pore) {
  Volume v = page.pictures.coarse;
  if (pore) return v;
  const double block = page.pictures.block;
  for (float& x : v.values) x = -x;
  if (!page.sample) return v;
  const SampleCylinder cylinder{page.sample->x / block, page.sample->y / block, page.sample->radius / block};
  const std::vector<float> distance = cylinder.distance(v.size);
  for (std::size_t i = 0; i < v.values.size(); ++i) v.values[i] = std::min(v.values[i], distance[i % distance.size()]);
  return v;
}

/// Axes of the slices worth showing, z first: not the edges of an image of few planes.
std::vector<std::size_t> shown_slices(const ReportPage& page) {
  constexpr int longest = 12;  // side by side, in units of the other side
  std::vector<std::size_t> shown;
  for (const std::size_t d : {2U, 1U, 0U}) {
    const ImageSlice& s = page.pictures.slices[d];
    if (longest * std::min(s.nx, s.ny) >= std::max(s.nx, s.ny)) shown.push_back(d);
  }
  return shown.empty() ? std::vector<std::size_t>{2, 1, 0} : shown;
}

}  // namespace

std::string body_section(const ReportPage& page) {
  const bool pore = page.statistics.porosity <= 0.5;
  std::string out =
      fmt::format("<section class=\"card\"><h2>{} in three dimensions</h2>\n", pore ? "Pore space" : "Solid");
  if (page.pictures.coarse.values.empty()) return out + "<p>No picture.</p></section>\n";
  RenderOptions options;
  options.cut_corner = std::min(page.statistics.porosity, 1 - page.statistics.porosity) > sparse;
  if (!pore) {
    options.surface = {188, 150, 104};
    options.cut = {233, 217, 192};
  }
  const Rendering view = render(Comm::self(), body_of(page, pore), options);
  const std::string about =
      fmt::format("The {} seen from the corner of high x, low y and high z", pore ? "pore space" : "solid");
  std::array<std::string, 3> names;
  for (std::size_t d = 0; d < 3; ++d)
    names[d] = fmt::format("{} {}", axis_names[d], length_text(page.voxels[static_cast<int>(d)] * page.voxel));
  out += body_svg(view, names, about) + "<p class=\"soft\">";
  out += pore ? "Shown is the pore, not the grains; " : "Shown is the solid (the porosity is above 50 %); ";
  out += fmt::format(
      "pale where the image ends{}. {}</p></section>\n", options.cut_corner ? " or the front eighth is cut away" : "",
      page.pictures.block > 1 ? fmt::format("Drawn from means over {0} × {0} × {0} voxels.", page.pictures.block) : "");
  return out;
}

std::string slices_section(const ReportPage& page) {
  const auto& slices = page.pictures.slices;
  if (slices[0].labels.empty()) return "";
  const bool gray = !slices[0].gray.empty();
  std::string out = fmt::format("<section class=\"card\"><h2>Slices through the middle{}</h2>\n",
                                gray ? ", before and after segmentation" : "");
  if (!slices[0].phi.empty())
    out +=
        "<input type=\"checkbox\" id=\"wall\" class=\"toggle\" checked=\"checked\"/><label for=\"wall\" "
        "class=\"toggle\"> show the wall</label>\n";
  const std::vector<std::size_t> shown = shown_slices(page);
  out += fmt::format("<div class=\"slices{}\" style=\"--n:{};--rows:{}\">\n", gray ? " compare" : "",
                     gray && shown.size() == 1 ? 2 : shown.size(), shown.size());
  if (gray)
    for (const std::size_t d : shown) out += before(slices[d], page);
  for (const std::size_t d : shown) out += after(slices[d], page);
  out += "</div>\n" + legend(page);
  if (gray)
    out += fmt::format("<p class=\"soft\">Gray values from {} (black) to {} (white).{}</p>",
                       number_text(page.pictures.black, 4), number_text(page.pictures.white, 4),
                       slices[0].step > 1 ? fmt::format(" A pixel is {0} × {0} voxels.", slices[0].step) : "");
  return out + "</section>\n";
}

}  // namespace karst
