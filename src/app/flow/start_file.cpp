// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/drive_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/comm/fail_together.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/log.hpp"
#include "grid/vof_loops.hpp"
#include "ins/solve/steady_approach.hpp"
#include "io/plot_sampler.hpp"

namespace karst {

namespace {

constexpr double same_size = 1e-5;  ///< relative: cell widths stand in files as they were computed
const std::vector<std::string> velocity{"velocity_x", "velocity_y", "velocity_z"};

bool holds(const PlotReader& file, const std::string& component) {
  return std::ranges::count(file.components(), component) > 0;
}

std::string text_of(const Vec3& size) { return fmt::format("{:g} x {:g} x {:g} m", size[0], size[1], size[2]); }

std::vector<std::string> mistakes_in(const PlotReader& file, const JobContext& run) {
  const std::string& name = run.config.flow.start_file;
  Messages found;
  if (!std::ranges::all_of(velocity, [&](const std::string& c) { return holds(file, c); }))
    found.add(
        "flow.start_file: {}: contains no velocity, only {}; the earlier run needs output.plot = [\"velocity\", "
        "\"pressure\"] and one direction in flow.axes",
        name, join(file.components(), ", "));
  Vec3 size;
  for (int d = 0; d < 3; ++d) size[d] = file.cells()[d] * file.cell_width();
  for (int d = 0; d < 3; ++d)
    if (std::abs(size[d] - run.grid.size[d]) > same_size * run.grid.size[d]) {
      found.add("flow.start_file: {}: its {} has the size {}, but this one has {}; both must be the same", name,
                file.holds_region() ? "region (output.region_lo) of a domain" : "domain", text_of(size),
                text_of(run.grid.size));
      break;
    }
  return found;
}

/// Sets the velocity and, where the file has it, the pressure of all unknowns (stokes.all_values()) to those of the
/// file at the centres of their cells (io/plot_sampler.hpp); solid counts as fluid at rest. The flow is not free of
/// divergence. Throws the same Error on all ranks. Collective.
void read_start(const JobContext& run, const FlowUnits& units, StokesSolver& stokes) {
  const StokesLevels& op = stokes.op();
  double time = 0.0;
  fail_together(run.comm, [&] {
    std::vector<std::string> wanted = velocity;
    const bool has_pressure = holds(PlotReader(run.config.flow.start_file), "pressure");
    if (has_pressure) wanted.emplace_back("pressure");
    PlotSampler file(run.config.flow.start_file, wanted, run.grid.periodic);
    time = file.file().time();
    const double per_cell = run.grid.cell_width() / file.file().cell_width();
    const std::span<Quad> x = stokes.all_values();
    std::ranges::fill(x, Quad{});
    for (int l = 0; l < op.n_levels(); ++l) {
      const LevelGraph& graph = run.geometry().levels[l].graph;
      for (int b = 0; b < graph.n_local(); ++b) {
        const BoxGraph box = graph.box(b);
        for_each_vof(box, [&](int vof, int cell) {
          if (op.numbering().number(l, b, vof) < 0) return;
          const Index c = box.cells.cell(cell);
          const PlotSampler::Sample& here =
              file.at(per_cell * StokesLevels::width(l) * Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5});
          Quad& q = x[op.begin(l) + graph.vof_begin(b) + vof];
          for (std::size_t d = 0; d < 3; ++d) q.v[d] = here.weighted[d] / units.velocity();
          if (has_pressure && here.fluid > 0.0)
            q.v[3] = here.weighted[3] / here.fluid * StokesLevels::width(l) / units.pressure();
        });
      }
    }
  });
  log_info("flow starts from {}, {}", run.config.flow.start_file, format_si(time, "s"));
}

}  // namespace

std::vector<std::string> start_mistakes(const JobContext& run) {
  if (run.config.flow.start_file.empty()) return {};
  try {
    return mistakes_in(PlotReader(run.config.flow.start_file), run);
  } catch (const Error& e) {
    return {fmt::format("flow.start_file: {}", e.what())};
  }
}

void begin_flow(const JobContext& run, const DriveInTime& in_time, StokesSolver& stokes, UnsteadySolver& solver) {
  const FlowOptions& options = run.config.flow;
  if (options.start == FlowStart::rest && options.start_file.empty()) {
    if (in_time.starts_at_once()) solver.jump(in_time.after(0.0, stokes.op()));
    return;
  }
  const StokesDrive drive = in_time.at(0.0, stokes.op());
  if (!options.start_file.empty()) {
    read_start(run, in_time.units(), stokes);
    return solver.begin_near(drive);
  }
  stokes.solve(drive);
  if (options.start == FlowStart::steady) {
    SteadyOptions steady_options;
    steady_options.tolerance = options.tolerance;
    SteadySolver steady(stokes, steady_options);
    const auto nothing = [](double, const SteadyReport&) {};
    const SteadyApproach all = approach(steady, drive, 0.0, in_time.units().inertia(), nothing, "start");
    require(all.reached, "flow.start: no steady flow was found for this driving force; write \"stokes\" or \"rest\"");
  }
  solver.begin_here(drive);
}

}  // namespace karst
