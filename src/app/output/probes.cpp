// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/probes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "app/job/moving_walls.hpp"
#include "base/core/text.hpp"
#include "base/file/log.hpp"
#include "base/math/no_number.hpp"
#include "fields/point_value.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/stokes_levels.hpp"
#include "ins/solve/flow_volumes.hpp"

namespace karst {

namespace {

constexpr double reach = 2.5 + 1e-9;  ///< of a probe, in widths of its cell: three cells from a wall on

/// A value as a probe sees it.
struct Candidate {
  Vec3 away;  ///< of its place from the probe [h0]
  double width;
  std::int32_t unknown;
  bool holds;  ///< the probe lies in its cell, and in the fluid there
};

/// From the probe to a place, the short way round where the domain is periodic.
Vec3 from_probe(const GridOptions& grid, const Vec3& probe, const Vec3& place) {
  Vec3 away = place - probe;
  for (int d = 0; d < 3; ++d)
    if (grid.periodic[d]) away[d] -= grid.cells[d] * std::round(away[d] / grid.cells[d]);
  return away;
}

/// The wall of a cut cell, taken as a plane, lies behind the place.
bool in_the_fluid(const VofMoments& cut, const Vec3& from_centre) {
  return cut.wall_area == 0.0 || dot(cut.wall, from_centre - cut.wall_centroid) > 0.0;
}

double largest(const Vec3& v) { return std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])}); }

/// Own values within `reach` of the widest cells.
std::vector<Candidate> candidates_around(const JobContext& run, const Composite& composite,
                                         const Probes::PlaceOf& place_of, const Vec3& probe) {
  std::vector<Candidate> found;
  for (int l = 0; l < composite.n_levels(); ++l) {
    const LevelGeometry& level = composite.level(l);
    const double w = Composite::width(l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph box = level.graph.box(b);
      const auto moments = level.box(b).moments;
      const auto irregular = box.row_vof.first(moments.size());
      for_each_vof(box, [&](int vof, int cell) {
        const Index c = box.cells.cell(cell);
        const Vec3 to_centre = from_probe(run.grid, probe, w * Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5});
        const std::int32_t unknown = composite.numbering().number(l, b, vof);
        if (largest(to_centre) > reach + w || unknown < 0) return;
        const auto row = std::ranges::lower_bound(irregular, vof);
        const VofMoments* cut = row != irregular.end() && *row == vof ? &moments[row - irregular.begin()] : nullptr;
        const std::optional<Vec3> place = place_of(l, b, vof, cut);
        if (!place) return;
        const bool holds =
            largest(to_centre) <= 0.5 * w && (cut == nullptr || in_the_fluid(*cut, (-1.0 / w) * to_centre));
        found.push_back({to_centre + w * *place, w, unknown, holds});
      });
    }
  }
  return found;
}

/// Width of the cell that holds the probe, on whatever rank; 0: none. Collective.
double width_at(const Comm& comm, const std::vector<Candidate>& around) {
  double width = 0.0;
  for (const Candidate& c : around)
    if (c.holds) width = std::max(width, c.width);
  return comm.max(width);
}

}  // namespace

void read(Reader& in, std::vector<ProbeOptions>& probes) {
  constexpr double farthest = 1e6;
  std::set<std::string> names;
  in.tables(
      "output.probe",
      "transient flow and transport: a point whose velocity and pressure are written to history.csv, concentrations to "
      "transport.csv, and the fields of output.plot = [\"chemistry\"] to chemistry.csv, at every step",
      [&](Reader& item) {
        ProbeOptions probe;
        item.text("name", probe.name,
                  "name in its columns, NAME_velocity_x_m_s ..., COMPONENT_at_NAME and pH_at_NAME ...; required");
        item.vec3("position", probe.position, "m", "position in the fluid, not in reservoirs; required", 0.0, farthest);
        if (item.documenting()) return;
        item.need({"name", "position"}, "missing; every probe needs it");
        if (probe.name.find_first_of(", \"") != std::string::npos)
          item.mistake("name", "is used in column names of a CSV file: use no spaces, commas or quotes");
        if (!names.insert(probe.name).second)
          item.mistake("name", "\"{}\" is the name of two probes; rename one of them", probe.name);
        probes.push_back(probe);
      });
}

std::vector<std::string> probe_mistakes(const JobContext& run) {
  Messages found;
  const std::vector<ProbeOptions>& probes = run.config.output.probes;
  for (std::size_t i = 0; i < probes.size(); ++i)
    for (int d = 0; d < 3; ++d)
      if (probes[i].position[d] > run.sample_grid().size[d])
        found.add("output.probe[{}].position: {} is at {:g} m along {}, beyond the {}, which ends at {:g} m", i,
                  probes[i].name, probes[i].position[d], axis_names[d], run.sample ? "sample" : "domain",
                  run.sample_grid().size[d]);
  return found;
}

Probes::Probes(const JobContext& run, const Composite& composite, Bounds bounds, const PlaceOf& place_of)
    : bounds_(bounds) {
  Messages wrong;
  for (const ProbeOptions& probe : run.config.output.probes) {
    std::vector<Candidate> around =
        candidates_around(run, composite, place_of, (1.0 / run.grid.cell_width()) * probe.position + run.sample_low());
    const double width = width_at(run.comm, around);
    buried_.push_back(width == 0.0 && run.walls);
    if (buried_.back()) {
      parts_.emplace_back();
      if (run.walls->displacement.blocks().layout().n_boxes() == 0)
        log_info("output.probe: {} is in the solid; its columns are empty as long as it is", probe.name);
      continue;
    }
    if (width == 0.0) {
      wrong.add("output.probe: {} at ({:g}, {:g}, {:g}) m is in the solid, or in a pore without flow; move it",
                probe.name, probe.position[0], probe.position[1], probe.position[2]);
      continue;
    }
    std::erase_if(around, [&](const Candidate& c) { return largest(c.away) > reach * width; });
    std::vector<Vec3> mine;
    for (const Candidate& c : around) mine.push_back((1.0 / width) * c.away);
    const std::vector<Vec3> all = run.comm.all_gather(std::span<const Vec3>(mine));
    const auto before = run.comm.all_gather(std::span<const std::int64_t>(std::array{std::ssize(mine)}));
    const auto first = std::accumulate(before.begin(), before.begin() + run.comm.rank(), std::int64_t{0});
    const std::vector<double> weights = point_weights(all);
    std::vector<Part>& parts = parts_.emplace_back();
    for (std::size_t i = 0; i < around.size(); ++i) parts.push_back({around[i].unknown, weights[first + i]});
  }
  wrong.finish();
}

std::vector<std::int32_t> Probes::unknowns() const {
  std::set<std::int32_t> all;
  for (const std::vector<Part>& parts : parts_)
    for (const Part& part : parts) all.insert(part.unknown);
  return {all.begin(), all.end()};
}

std::vector<double> Probes::values(const Comm& comm, std::size_t n_fields, const ValueOf& value_of) const {
  std::vector<double> sums(n_fields * parts_.size(), 0.0);
  if (sums.empty()) return {};
  std::vector<double> most(2 * sums.size(), -std::numeric_limits<double>::infinity());  // of values, and of -values
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (const Part& part : parts_[p])
      for (std::size_t k = 0; k < n_fields; ++k) {
        const double value = value_of(part.unknown, k);
        const std::size_t i = n_fields * p + k;
        sums[i] += part.weight * value;
        most[i] = std::max(most[i], value);
        most[sums.size() + i] = std::max(most[sums.size() + i], -value);
      }
  comm.sum(std::span(sums));
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (buried_[p]) std::fill_n(sums.begin() + n_fields * p, n_fields, no_number);
  if (bounds_ == Bounds::none) return sums;
  comm.max(std::span(most));
  for (std::size_t i = 0; i < sums.size(); ++i)  // NaN stays
    sums[i] = std::min(std::max(sums[i], -most[sums.size() + i]), most[i]);
  return sums;
}

Probes flow_probes(const JobContext& run, const StokesLevels& op) {
  if (run.config.output.probes.empty()) return {};
  const Array<float> volume = flow_volumes(op, run.geometry());
  return {run, *op.composite(), Probes::Bounds::none,
          [&](int l, int b, int vof, const VofMoments*) -> std::optional<Vec3> {
            if (volume[op.begin(l) + op.level(l).geometry().graph.vof_begin(b) + vof] == 0.0F) return {};
            return Vec3{};
          }};
}

Probes mean_probes(const JobContext& run, const Composite& composite) {
  return {run, composite, Probes::Bounds::kept, [](int, int, int, const VofMoments* cut) -> std::optional<Vec3> {
            return cut != nullptr ? cut->centroid : Vec3{};
          }};
}

}  // namespace karst
