// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/commands.hpp"
#include "app/image_warnings.hpp"
#include "app/job.hpp"
#include "app/memory_estimate.hpp"
#include "app/session.hpp"
#include "app/summary.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// A name in the system's folder for temporary files, the same on all ranks; the file is removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Comm& comm) {
    std::error_code problem;
    if (comm.rank() == 0)
      path_ = (fs::temp_directory_path(problem) / fmt::format("karst-check-{}.h5", ::getpid())).string();
    comm.broadcast(path_);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void check_command(const Comm& comm, const CommandLine& line) {
  const Session session = start_session(comm, line);
  announce(comm, session, line);
  const TemporaryFile imported(comm);
  const std::int64_t program = arena::peak_resident_set();
  const Source source = open_source(comm, session.config, imported.path());
  for (const std::string& w : image_warnings(comm, source)) log_warn("{}", w);
  RunSeconds seconds;
  const Geometry geometry = build(comm, session.config, source, seconds);
  const GeometryStatistics statistics =
      collect_statistics(comm, geometry, source.grid.cell_width(), session.config.title);
  const JobContext context{comm, session.config, source.grid, geometry, {}, {}, wall_uncertainty(source)};
  check_jobs(context);
  log_info("{}", geometry_table(statistics));
  log_info("{}", cost_table(statistics, seconds, {}));
  const MemoryUse use = measure_memory(comm);
  auto n_components = static_cast<int>(plot_components(session.config.output.plot).size());
  std::vector<MemoryPart> parts = estimate_memory(comm, program);
  for (const Job& job : jobs()) {
    if (!job.is_asked(session.config)) continue;
    n_components += job.n_components(session.config);
    parts.push_back(
        estimate_job(comm, geometry, job.name, job.more_cells(context), job.bytes_per_fluid_cell(session.config)));
  }
  parts.push_back(estimate_plotfile(comm, geometry, n_components));
  log_info("Memory\n{}", memory_table(parts, {"peak of this check, measured", use.largest_rank, use.peak}));
  for (const std::string& w : warnings(statistics)) log_warn("{}", w);
  log_info("The deck is right. Nothing was written.");
}

}  // namespace karst
