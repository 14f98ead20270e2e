// SPDX-License-Identifier: BSD-3-Clause
// `karst check`: what a run will take, from a sample of the geometry, at any size. Where the geometry is small it is
// built as well, and jobs are asked what only it can tell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/cli/commands.hpp"
#include "app/deck/plot_extent.hpp"
#include "app/deck/session.hpp"
#include "app/deck/source.hpp"
#include "app/deck/statistics.hpp"
#include "app/estimate/machine_model.hpp"
#include "app/estimate/run_estimate.hpp"
#include "app/estimate/time_estimate.hpp"
#include "app/job/run_services.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/log.hpp"
#include "solvers/krylov/petsc_session.hpp"

namespace karst {

namespace {

constexpr double small_geometry = 5e5;  ///< VoFs that are cut in a few seconds

/// What is looked at: the deck's source, or blocks of an image that is too large to import for a check.
struct Looked {
  std::optional<Source> source;
  std::optional<ImageSample> blocks;
  ImageExtent extent;
};

Looked look(const Comm& comm, const Config& config, const std::string& import_to) {
  Looked looked;
  if (needs_import(config) && image_exists(image_path(config))) {
    require(
        !takes_all_memory(config),
        "geometry.image: the voxels of {} are compressed in one piece, so reading a part of them takes as much memory "
        "as all of them; make a geometry file first (`karst import`), use it as geometry.image, and check again",
        config.geometry.image);
    fail_together(comm, [&] { looked.extent = image_extent(config); });
    if (looked.extent.voxels() >= large_import) {
      looked.blocks = sample_image(comm, config, looked.extent);
      return looked;
    }
  }
  looked.source = open_source(comm, config, import_to);
  return looked;
}

void tell_memory(const RunEstimate& estimate, const MemoryShare& share, int ranks) {
  const std::vector<MemoryStage> stages = estimate.stages(ranks);
  log_info("Memory, estimated\n{}", memory_table(stages, ranks));
  if (fits(estimate, share, ranks)) {
    const MemoryLimit limit = share.of_rank();
    log_info("  It fits: there is {} for each rank ({})\n", format_bytes(limit.bytes), limit.by);
    return;
  }
  log_warn("A run does not fit into the memory: {}. {}.", need_against_limit(estimate, share, ranks),
           what_fits(estimate, share));
}

/// @param plan_ranks  of another machine; 0: those that there are
void tell_time(const Comm& comm, const RunEstimate& estimate, int plan_ranks) {
  const bool plan = plan_ranks > 0;
  const std::vector<TimePart> parts =
      time_parts(measure_pace(comm, estimate.jobs), estimate, plan ? plan_ranks : comm.size());
  const std::string where =
      plan ? fmt::format("{} ranks as fast as these, without waiting for one another", grouped(plan_ranks))
           : "this machine, these ranks and threads";
  log_info("Time, estimated for {}\n{}", where, time_table(parts));
}

/// A machine that need not be there, and a run that has counted what it sends.
struct OtherMachine {
  Machine machine;
  CountedRun run;
};

std::optional<OtherMachine> other_machine(const CommandLine& line) {
  require(line.machine.empty() == line.like.empty() && (line.machine.empty() || line.plan_ranks > 0),
          "--machine and --like must be given together, and with --ranks: they predict the time on a machine from the "
          "counts of a run");
  if (line.machine.empty()) return {};
  return OtherMachine{read_machine(line.machine), read_counted_run(line.like)};
}

/// What output.region_lo, output.region_hi and output.coarsening make of plotfiles, whose values take so many bytes at
/// most. Throws Error where they do not fit the domain.
void tell_plotfiles(const Config& config, const RunEstimate& estimate) {
  GridOptions domain = estimate.grid;
  Vec3 low;
  if (estimate.reservoirs) {
    low[estimate.reservoirs->axis] = estimate.reservoirs->cells;
    domain.cells[estimate.reservoirs->axis] += 2 * estimate.reservoirs->cells;
    domain.size[estimate.reservoirs->axis] = domain.cells[estimate.reservoirs->axis] * estimate.grid.cell_width();
  }
  plot_mistakes(config.output, domain, low).finish();
  if (config.output.plot.empty()) return;
  const TimeOptions& time = config.time;
  double files = 1.0;
  if (time.output > 0.0) files = std::ceil(time.end / time.output * (1.0 - 1e-9));
  if (time.output_pore_volumes > 0.0)
    files = std::ceil(time.end_pore_volumes / time.output_pore_volumes * (1.0 - 1e-9));
  const double cells = estimate.counts.box_cells * plotted_part(config.output, domain, low);
  const int n = estimate.memory.n_components;
  const double bytes = cells * ((config.output.yt ? 2 : 1) * n * static_cast<double>(sizeof(float)) + 1.0);
  log_info("Plotfiles, estimated: {} of at most {}, {} numbers in each of {} cells{}{}\n", grouped(std::llround(files)),
           format_bytes(bytes), n, grouped(std::llround(cells)),
           config.output.compression > 0 ? ", before compression" : ", which are not compressed",
           files > 1.0 ? fmt::format("; {} in all", format_bytes(files * bytes)) : "");
}

/// Layouts for another number of ranks, and what follows from them.
void tell_plan(const Comm& comm, const Config& config, const RunEstimate& estimate, const Source& source,
               const CommandLine& line, const std::optional<OtherMachine>& other) {
  const int ranks = line.plan_ranks;
  BoxCosts costs = costs_at_start(config.run);
  costs.ranks = ranks;
  const GridPlan plan = plan_of(build_grid(comm, source.grid, *source.level_set, costs));
  log_info("{}", plan_text(plan, estimate.counts));
  if (other) log_info("{}", seconds_text(other->machine, other->run, line.like, plan, estimate.counts));
  log_info("Memory, estimated for {} ranks\n{}", grouped(ranks), memory_table(estimate.stages(ranks), ranks));
}

/// Builds the geometry and asks the jobs, which may see it between reservoirs.
void check_all(const Comm& comm, const Config& config, Source source) {
  RunSeconds seconds;
  auto ground = std::make_shared<const Ground>(comm, build(comm, config, source, source.grid, seconds));
  const GeometryStatistics statistics =
      collect_statistics(comm, ground->geometry(), source.grid.cell_width(), config.title);
  RunServices services;
  std::shared_ptr<const Sample> sample;
  if (const auto reservoirs = reservoirs_of_run(config)) {
    sample = sample_between(*reservoirs, source.grid, ground->geometry().report);
    source = with_reservoirs(std::move(source), *reservoirs, ReservoirEnds::open);
    RunSeconds of_domain;
    ground = std::make_shared<const Ground>(comm, build(comm, config, source, source.grid, of_domain));
    seconds.geometry += of_domain.geometry;
  }
  const Geometry& geometry = ground->geometry();
  check_jobs({comm, config, source.grid, ground, services, {}, wall_uncertainty(source), sample});
  log_info("{}", geometry_table(statistics));
  log_info("{}", cost_table(statistics, seconds, {}));
  for (const std::string& w : warnings(statistics)) log_warn("{}", w);
  for (const std::string& w : axes_without_path(config, geometry)) log_warn("{}", w);
}

/// That the run makes cells which the estimates do not know of; empty: it makes none.
std::string told_refinement(const Config& config, const RunEstimate& estimate) {
  const bool to_error = config.flow.error > 0.0;
  if (!to_error && !config.grid.follows()) return "";
  const char* by = to_error ? "flow.error refines it, and solves again, until the permeability is as exact as asked"
                            : "[[grid.refine]] refines it where it follows the solution";
  const double most = static_cast<double>(config.grid.max_cells), now = estimate.counts.fluid;
  std::string text = fmt::format("Memory and time above are those of the grid of the deck. {}", by);
  if (most <= 0.0) return text + ": give grid.max_cells to limit both";
  return text +
         fmt::format(
             ", up to {:.3g} unknowns (grid.max_cells): up to {:.2g} times the memory and the time of each solve", most,
             std::max(most / now, 1.0));
}

/// An image that is imported for it takes most of the time.
std::vector<RunPart> parts_of_check(const Config& config) {
  constexpr double of_sample = 1.0, of_trial = 4.0;
  double sample = of_sample;
  if (needs_import(config)) sample += usual_import_per_voxel * std::min(size_before(config).voxels, large_import);
  return {{"sample", sample}, {"trial", of_trial}, {"geometry", of_sample}};
}

}  // namespace

void check_command(const Comm& comm, const CommandLine& line) {
  const Session session = start_session(comm, line);
  const Config& config = session.config;
  announce(comm, session, line);
  std::optional<OtherMachine> other;
  fail_together(comm, [&] { other = other_machine(line); });
  const PetscSession petsc;
  std::vector<Job> asked;
  for (const Job& job : jobs())
    if (job.word.is_asked(config)) asked.push_back(job);
  if (std::ranges::any_of(asked, [&](const Job& job) { return job.through_petsc(config); })) begin_petsc();
  const auto program = static_cast<double>(comm.max(arena::peak_resident_set()));
  const MemoryShare share = memory_share(comm);
  if (asked.empty())
    log_warn(
        "karst run rejects this deck, because it requests nothing to compute; `karst geometry` builds only the grid");
  const TemporaryFile imported(comm);
  RunProgress progress(comm, parts_of_check(config));
  progress.begin("sample", "a sample of the geometry");
  Looked looked = look(comm, config, imported.path());
  require(line.plan_ranks == 0 || looked.source.has_value(),
          "--ranks {}: a plan examines every box, and {} is not imported yet; make a geometry file first (`karst "
          "import`) and use it as geometry.image",
          line.plan_ranks, config.geometry.image);
  const RunEstimate estimate = looked.source
                                   ? estimate_run(comm, config, asked, program, *looked.source)
                                   : estimate_run(comm, config, asked, program, *looked.blocks, looked.extent);
  const bool small = looked.source && estimate.counts.fluid < small_geometry;
  for (const std::string& w : config.unusual) log_warn("{}", w);
  if (looked.source)
    for (const std::string& w : image_warnings(comm, *looked.source, small)) log_warn("{}", w);
  log_info("{}", sample_table(estimate));
  tell_plotfiles(config, estimate);
  if (line.plan_ranks == 0) {
    tell_memory(estimate, share, comm.size());
  } else {
    progress.begin("plan", "every box of the grid");
    const Source& sample = *looked.source;
    const auto reservoirs = reservoirs_of_run(config);
    std::optional<Source> domain;
    if (reservoirs)
      domain = with_reservoirs(open_again(comm, config, sample.grid, {sample.grid.cells}, imported.path()), *reservoirs,
                               ReservoirEnds::open);
    tell_plan(comm, config, estimate, domain ? *domain : sample, line, other);
  }
  progress.begin("trial", "timing of a small packing");
  tell_time(comm, estimate, line.plan_ranks);
  if (const std::string more = told_refinement(config, estimate); !more.empty()) log_info("{}\n", more);
  if (small) {
    progress.begin("geometry", "geometry");
    check_all(comm, config, std::move(*looked.source));
    log_info("The deck is valid. Nothing was written.");
  } else {
    log_info(
        "The deck is valid as far as a sample of the geometry shows. A run first checks what needs the whole geometry: "
        "percolation, removed pores, probes and initial values. Nothing was written.");
  }
}

}  // namespace karst
