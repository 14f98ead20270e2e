// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/output/page_values.hpp"
#include "app/output/streamlines.hpp"
#include "app/output/vof_values.hpp"
#include "base/comm/timer.hpp"
#include "base/core/text.hpp"
#include "page/page_text.hpp"
#include "page/plane_picture.hpp"
#include "page/render.hpp"

namespace karst {

namespace {

constexpr std::int64_t most_cubes = 2'200'000;  // 130³
constexpr int n_lines = 140;
constexpr int n_colours = 12;  // of lines

/// What all but one in `n` of the speeds above 0 stay below, in two digits: the end of a scale.
double bright_speed(std::vector<double> speeds, std::size_t n) {
  std::erase_if(speeds, [](double u) { return !(u > 0.0); });
  if (speeds.empty()) return 1.0;
  std::ranges::sort(speeds);
  return std::stod(fmt::format("{:.1e}", speeds[speeds.size() - 1 - speeds.size() / n]));
}

PlaneLook look_of(const FieldView& view, const FlowFigure& flow, double bright) {
  const ScaledUnit unit = scaled_unit(bright, "m/s");
  PlaneLook look;
  look.high = bright;
  look.unit = unit.factor;
  look.quantity = fmt::format("speed [{}]", unit.name);
  look.cell_width = view.cell_width;
  if (flow.reservoir > 0) {
    look.marked_axis = flow.axis;
    look.marks = {static_cast<double>(flow.reservoir), static_cast<double>(view.cells[flow.axis] - flow.reservoir)};
  }
  return look;
}

/// Lines in pieces of one colour, slow pieces first so that fast ones lie on top.
std::string lines_svg(const std::vector<Streamline>& lines, const Index& size, const RenderOptions& options,
                      double bright) {
  constexpr double shortest = 3.0;  // [pixels] between points
  std::array<std::string, n_colours> paths;
  for (const Streamline& line : lines) {
    PicturePoint last = projected(size, options, line.points[0]);
    int colour = -1;
    for (std::size_t i = 1; i < line.points.size(); ++i) {
      const PicturePoint at = projected(size, options, line.points[i]);
      const bool end = i + 1 == line.points.size();
      if (!end && std::hypot(at.column - last.column, at.row - last.row) < shortest) continue;
      const int now = std::clamp(static_cast<int>(n_colours * line.speed[i] / bright), 0, n_colours - 1);
      std::string& path = paths[now];
      if (now != colour) path += fmt::format("M{:.0f},{:.0f}", last.column, last.row);
      path += fmt::format("L{:.0f},{:.0f}", at.column, at.row);
      colour = now;
      last = at;
    }
  }
  std::string out = "<g fill=\"none\" stroke-width=\"1.8\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n";
  for (std::size_t c = 0; c < n_colours; ++c)
    if (!paths[c].empty())
      out += fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", hex(colour_of((static_cast<double>(c) + 0.5) / n_colours)),
                         paths[c]);
  return out + "</g>\n";
}

/// Empty but on rank 0, whose lattice it shows. Collective.
std::string view_figure(const Comm& comm, const FieldView& view, const FlowFigure& flow, const FieldLattice& lattice) {
  RenderOptions options;
  options.width = 640;
  options.height = 560;
  options.cut_corner = false;
  options.steepest = 1.0;
  options.longest_step = longest_body_step;
  options.surface = {205, 211, 218};
  options.cut = {188, 195, 204};
  const double low = flow.reservoir / lattice.width, high = (view.cells[flow.axis] - flow.reservoir) / lattice.width;
  bool pore = true;
  Volume body{lattice.size, {}};
  if (comm.rank() == 0) {
    pore = fluid_share(lattice, flow.axis, low, high) <= 0.5;
    body = timed("body", [&] { return body_of(lattice, pore, flow.axis, low, high); });
  }
  body.values.resize(std::int64_t{body.size[0]} * body.size[1] * body.size[2]);
  comm.broadcast(std::span(body.values));
  const Rendering drawn = timed("rendering", [&] { return render(comm, body, options); });
  if (comm.rank() != 0) return {};
  const std::vector<Streamline> lines =
      timed("streamlines", [&] { return streamlines(lattice, flow.axis, low, high, n_lines); });
  std::vector<double> speeds;
  for (const Streamline& line : lines) speeds.insert(speeds.end(), line.speed.begin(), line.speed.end());
  const double bright = bright_speed(std::move(speeds), 50);
  std::array<std::string, 3> names;
  for (std::size_t d = 0; d < 3; ++d)
    names[d] = fmt::format("{} {}", axis_names[d], length_text(view.cells[static_cast<int>(d)] * view.cell_width));
  const std::string about = fmt::format("{} streamlines of the flow along {}", lines.size(), names[flow.axis][0]);
  const double letters = body_letters(options.width);
  return "<figure>" +
         body_svg(drawn, names, about,
                  lines_svg(lines, lattice.size, options, bright) +
                      colour_scale_svg(look_of(view, flow, bright), options.width + letters, 0.75 * options.height,
                                       0.5 * options.height, letters),
                  letters + colour_scale_width(letters)) +
         fmt::format(
             "<figcaption>driven along {}: {} streamlines, each with the same fraction of the flow, in the "
             "{}{}</figcaption></figure>\n",
             axis_names[flow.axis], lines.size(), pore ? "pore space (pale)" : "pores around the solid (pale)",
             lattice.width > 1.0 || view.boxes.size() > 1
                 ? fmt::format("; from means over cubes of {}", length_text(lattice.width * view.cell_width))
                 : "");
}

}  // namespace

void add_flow_figures(const Comm& comm, const FieldView& view, const FlowFigure& flow, Figures& figures) {
  const Timer timer("pictures");
  std::array<std::size_t, 3> velocity{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto at = view.find(fmt::format("{}velocity_{}", flow.prefix, axis_names[d]));
    if (!at) return;
    velocity[d] = *at;
  }
  const int direction = across(view.cells, flow.axis);
  const PlaneValues plane = middle_plane_to_walls(comm, view, velocity, direction);
  const FieldLattice lattice = timed("lattice", [&] { return lattice_of(comm, view, velocity, most_cubes); });
  const std::string drawn = view_figure(comm, view, flow, lattice);
  if (comm.rank() != 0) return;
  PlaneLook look = look_of(view, flow, bright_speed(plane.values, 200));
  const std::string axis = axis_names[flow.axis];
  look.caption = fmt::format("driven along {}, plane in the middle of {}{}{}", axis, axis_names[direction],
                             flow.reservoir > 0 ? "; dashed: inlet and outlet faces of the sample" : "",
                             view.boxes.size() > 1 ? "; refined cells as means over those of level 0" : "");
  figures[fmt::format("flow {} slice", axis)] = plane_figure_to_walls(plane, look);
  figures[fmt::format("flow {} view", axis)] = drawn;
}

void draw_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures) {
  const auto add = [&](const Json& flow, const std::string& prefix) {
    add_flow_figures(comm, view, {axis_of(flow), prefix, flow.value("reservoir_cells", 0)}, figures);
  };
  for (const char* key : {"flow_in_time", "inlet_flow", "lid_flow"})
    if (summary.contains(key)) add(summary.at(key), "");
  if (!summary.contains("flow")) return;
  const Drives drives = summary.at("flow").size() > 1 ? Drives::several : Drives::one;
  for (const Json& flow : summary.at("flow")) add(flow, prefix_of(axis_of(flow), drives));
}

void add_flow_card(const std::string& title, const std::string& axis, const Figures& figures,
                   std::vector<std::string>& cards) {
  PictureRow pictures(figures);
  for (const char* kind : {"view", "slice"}) pictures.add(fmt::format("flow {} {}", axis, kind));
  pictures.add_card(title, "Gray in the slice: solid, or a removed pore.", cards, 2);
}

}  // namespace karst
