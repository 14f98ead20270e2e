// SPDX-License-Identifier: BSD-3-Clause
// The statistics as tables for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/deck/statistics.hpp"
#include "base/comm/memory.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

constexpr int name_width = 34, value_width = 15;

std::string line(const std::string& name, const std::string& text) {
  return fmt::format("  {:<{}}{}\n", name, name_width, text);
}

std::string percent(double part, double whole) {
  if (whole <= 0.0) return "-";
  const double p = 100.0 * part / whole;
  return p > 0.0 && p < 0.01 ? fmt::format("{:.1e} %", p) : fmt::format("{:.2f} %", p);
}

std::string sizes(const Index& n) { return fmt::format("{} x {} x {}", n[0], n[1], n[2]); }

/// One line with a value per level.
std::string row(const GeometryStatistics& s, const std::string& name,
                const std::function<std::string(std::size_t)>& value, const std::string& note = "") {
  std::string text = fmt::format("  {:<{}}", name, name_width - 2);
  for (std::size_t l = 0; l < s.report.levels.size(); ++l) text += fmt::format("{:>{}}", value(l), value_width);
  if (!note.empty()) text += fmt::format("   {}", note);
  return text + '\n';
}

/// Likewise, of a number that what(level) counts.
template <class What>
std::string counts(const GeometryStatistics& s, const std::string& name, What&& what, const std::string& note = "") {
  return row(
      s, name, [&](std::size_t l) { return grouped(std::invoke(what, s.report.levels[l])); }, note);
}

double cells_of(const LevelReport& level) {
  return static_cast<double>(level.cells[0]) * level.cells[1] * level.cells[2];
}

/// The wall, and what minerals it is of where there are several.
std::string wall_text(const GeometryStatistics& s) {
  std::string text = line("wall area", fmt::format("{:.4g} m²", s.wall_area()));
  for (const MineralWall& mineral : s.report.minerals)
    if (s.report.minerals.size() > 1)
      text += line("  of " + mineral.name,
                   fmt::format("{:.4g} m²   {}", s.wall_area(mineral), percent(mineral.area, s.report.wall_area)));
  return text;
}

/// "x, y": along which pores lead through that these cells do not resolve.
std::string unresolved_axes(const GeometryReport& report) {
  std::vector<std::string> axes;
  for (int d = 0; d < 3; ++d)
    if (report.unresolved(d)) axes.emplace_back(axis_names[d]);
  return join(axes);
}

std::string pores_text(const GeometryStatistics& s) {
  const GeometryReport& r = s.report;
  std::vector<std::string> axes;
  for (int d = 0; d < 3; ++d)
    if (r.percolates[d]) axes.emplace_back(axis_names[d]);
  const Index& n = r.levels[0].cells;
  const double h = s.cell_width;
  std::string text;
  text += line("domain", fmt::format("{} x {} x {}, {} cells of {}", format_si(n[0] * h, "m"), format_si(n[1] * h, "m"),
                                     format_si(n[2] * h, "m"), sizes(n), format_si(h, "m")));
  text += line("porosity", fmt::format("{:.5f}", r.porosity));
  text += line("  connected", fmt::format("{:.5f}", r.connected_porosity));
  text += line("specific surface", fmt::format("{:.4g} 1/m   wall area / volume of the sample", s.specific_surface));
  text += wall_text(s);
  text += line("percolates along", axes.empty() ? "no axis" : join(axes));
  if (const std::string narrow = unresolved_axes(r); !narrow.empty())
    text += line("  by finer cells", narrow + "   through pores without a cell centre in them");
  return text;
}

std::string boxes_text(const GeometryStatistics& s) {
  const auto& levels = s.report.levels;
  std::string text;
  if (levels.size() > 1) {
    text += row(s, "", [](std::size_t l) { return fmt::format("level {}", l); });
    text += row(s, "cell width",
                [&](std::size_t l) { return format_si(std::ldexp(s.cell_width, -static_cast<int>(l)), "m"); });
  }
  text += counts(s, "boxes stored", &LevelReport::boxes);
  text += row(
      s, "boxes pruned", [&](std::size_t l) { return grouped(levels[l].boxes_asked - levels[l].boxes); },
      fmt::format("{} of the boxes: no fluid, no memory",
                  percent(static_cast<double>(s.sum(&LevelReport::boxes_asked) - s.sum(&LevelReport::boxes)),
                          static_cast<double>(s.sum(&LevelReport::boxes_asked)))));
  text += row(
      s, "imbalance", [&](std::size_t l) { return fmt::format("{:.3f}", levels[l].imbalance); },
      "work of the busiest rank / mean");
  return text;
}

std::string cells_text(const GeometryStatistics& s) {
  const auto& levels = s.report.levels;
  const auto cut = [](std::int64_t CutCounts::*what) {
    return [what](const LevelReport& level) { return level.cut.*what; };
  };
  std::string text;
  text += row(s, "cells of the domain",
              [&](std::size_t l) { return grouped(static_cast<std::int64_t>(cells_of(levels[l]))); });
  text += counts(s, "fluid cells", &LevelReport::vofs, "one value of a field each");
  if (levels.size() > 1) text += counts(s, "  not refined: the unknowns", &LevelReport::vofs_composite);
  text += counts(s, "  irregular", &LevelReport::irregular, "with wall, or not whole");
  text += counts(s, "  multi-valued", &LevelReport::multivalued_vofs, "several in one cell");
  text += counts(s, "cells cut by the wall", cut(&CutCounts::cells_cut));
  text += counts(s, "  with several fluid fragments", cut(&CutCounts::cells_multivalued));
  text += counts(s, "  cut on a finer lattice", cut(&CutCounts::cells_subdivided), "a feature thinner than the cell");
  text += counts(s, "  gaps closed (edges)", cut(&CutCounts::gaps_closed), "fluid thinner than h/4 between solids");
  text += counts(s, "  walls lost (edges)", cut(&CutCounts::walls_lost), "solid thinner than h/16 between fluid");
  return text;
}

std::string repairs_text(const GeometryStatistics& s) {
  const auto& levels = s.report.levels;
  double orphan_volume = 0.0;
  for (std::size_t l = 0; l < levels.size(); ++l)
    orphan_volume += std::ldexp(levels[l].orphan_volume, -3 * static_cast<int>(l));
  const double domain = cells_of(levels[0]), pore = s.report.connected_porosity * domain;
  std::string text;
  text += counts(s, "fragments merged into a cell", &LevelReport::joined, "their cell centre is in the solid");
  text += counts(
      s, "isolated fragments", &LevelReport::orphans,
      fmt::format("fragments without a cell to merge into, {} of the pore volume", percent(orphan_volume, pore)));
  text += counts(s, "pores", &LevelReport::pores, "connected parts of the fluid");
  text += counts(s, "  removed", &LevelReport::pores_removed, "flow cannot reach them");
  text += row(
      s, "  their volume [m³]",
      [&](std::size_t l) {
        return fmt::format("{:.3g}",
                           levels[l].removed_volume * std::pow(std::ldexp(s.cell_width, -static_cast<int>(l)), 3));
      },
      fmt::format("{} of the domain", percent(levels[0].removed_volume, domain)));
  return text;
}

std::string per(std::int64_t bytes, std::int64_t cells, const std::string& what) {
  return cells > 0 ? fmt::format("{:.1f} B per {}", static_cast<double>(bytes) / static_cast<double>(cells), what)
                   : fmt::format("no {}", what);
}

}  // namespace

std::string grouped(std::int64_t n) {
  std::string digits = fmt::format("{}", n < 0 ? -n : n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, 1, ' ');
  return fmt::format("{}{}", n < 0 ? "-" : "", digits);
}

std::string pores_table(const GeometryStatistics& s) { return "Pores\n" + pores_text(s); }

std::string grid_table(const GeometryStatistics& s) {
  return fmt::format("Grid\n{}{}\nRepairs\n{}", boxes_text(s), cells_text(s), repairs_text(s));
}

std::string geometry_table(const GeometryStatistics& s) { return pores_table(s) + '\n' + grid_table(s); }

std::string cost_table(const GeometryStatistics& s, const RunSeconds& seconds, const PlotSize& file) {
  const std::int64_t fluid = s.sum(&LevelReport::vofs), irregular = s.sum(&LevelReport::irregular);
  const std::int64_t cut = s.sum(&CutCounts::cells_cut), slots = s.sum(&LevelReport::slots);
  const std::int64_t geometry =
      s.sum(&LevelBytes::irregular) + s.sum(&LevelBytes::regular) + s.sum(&LevelBytes::exchange);
  double dense_cells = 0.0;
  for (const LevelReport& level : s.report.levels) dense_cells += cells_of(level);
  std::string text = "Cost\n";
  std::string time = fmt::format("{} on {} rank{} of {} thread{}", format_seconds(seconds.geometry), s.ranks,
                                 s.ranks == 1 ? "" : "s", s.threads, s.threads == 1 ? "" : "s");
  if (cut >= 1000)  // below, it tells of the start-up only
    time += fmt::format("; {:.2f} µs per cut cell and core",
                        1e6 * seconds.geometry * static_cast<double>(s.workers) / static_cast<double>(cut));
  text += line("time of the geometry", time);
  text += line("memory of the geometry",
               fmt::format("{}: {}, {}, {} for exchange", format_bytes(static_cast<double>(geometry)),
                           per(s.sum(&LevelBytes::irregular), irregular, "irregular cell"),
                           per(s.sum(&LevelBytes::regular), fluid - irregular, "regular cell"),
                           format_bytes(static_cast<double>(s.sum(&LevelBytes::exchange)))));
  text += line("one field (8 B per value)",
               fmt::format("{}: {:.2f} values per fluid cell; a dense array takes {}",
                           format_bytes(8.0 * static_cast<double>(slots)),
                           static_cast<double>(slots) / static_cast<double>(std::max<std::int64_t>(1, fluid)),
                           format_bytes(8.0 * dense_cells)));
  const bool one_level = s.report.levels.size() == 1;
  text += line("covered cells",
               fmt::format("{} of the cells {} and take no memory",
                           percent(dense_cells - static_cast<double>(fluid), dense_cells),
                           one_level ? "hold no fluid" : "of full levels hold no fluid, or are not refined,"));
  if (file.file_bytes > 0)
    text += line("plotfile", fmt::format("{}; before compression {}, on a dense grid {}",
                                         format_bytes(static_cast<double>(file.file_bytes)),
                                         format_bytes(static_cast<double>(file.box_bytes)),
                                         format_bytes(static_cast<double>(file.dense_bytes))));
  return text;
}

std::vector<std::string> warnings(const GeometryStatistics& s) {
  Messages all;
  const std::int64_t lost = s.sum(&CutCounts::walls_lost);
  if (lost > 0)
    all.add(
        "{} of cut cells {} solid thinner than 1/16 of a cell: such a thin wall may leak (a grain that only touches an "
        "edge is counted too). More cells, or a level refined at the wall, resolve it.",
        lost == 1 ? "1 edge" : grouped(lost) + " edges", lost == 1 ? "crosses" : "cross");
  std::int64_t closed = 0;
  for (const LevelReport& level : s.report.levels) closed += level.closed_faces;
  if (closed > 0)
    all.add(
        "{} cell face{} had fluid on one side only and became wall: the geometry has features finer than the sampling "
        "(a formula with features thinner than a cell?), or does not repeat itself at a periodic side. More cells, or "
        "a "
        "level refined there, resolve features.",
        grouped(closed), closed == 1 ? "" : "s");
  if (std::none_of(s.report.percolates.begin(), s.report.percolates.end(), [](bool p) { return p; })) {
    const std::string narrow = unresolved_axes(s.report);
    all.push_back(
        narrow.empty()
            ? "no pore percolates through the sample along any axis: nothing flows through it."
            : fmt::format("pores percolate through the sample along {} alone where no cell centre lies in them: "
                          "these cells resolve no flow through it. Finer cells do.",
                          narrow));
  }
  return all;
}

}  // namespace karst
