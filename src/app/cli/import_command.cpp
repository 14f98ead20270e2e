// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "app/deck/session.hpp"
#include "app/deck/source.hpp"
#include "app/deck/threads.hpp"
#include "app/estimate/time_estimate.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/version.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/log.hpp"
#include "geometry_import/read/converted_image.hpp"
#include "geometry_import/report/import_json.hpp"
#include "geometry_import/report/import_page.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// The page lies beside the geometry file unless it is named; "none": no page.
std::string page_name(const CommandLine& line) {
  if (line.page == "none") return "";
  return line.page.empty() ? fs::path(line.file).replace_extension(".html").string() : line.page;
}

/// The page with what is known of the run. Collective.
ReportPage page_of_run(const Comm& comm, const ImportReport& report, const std::string& options) {
  ReportPage page = import_page(report);
  page.made.push_back({"ranks, threads of each", fmt::format("{}, {}", comm.size(), n_threads())});
  const auto memory = static_cast<double>(comm.sum(arena::peak_resident_set()));
  page.made.push_back({"peak memory of all ranks", format_bytes(memory)});
  page.made.push_back({"karst", std::string(version_and_git_id())});
  page.options = options;
  return page;
}

/// The import with its progress, of the image or of what Python made of it. Collective.
ImportReport import_converted(const Comm& comm, ImportOptions options, const std::string& output) {
  const ConvertedImage image(comm, options.file, output, options.skip_bytes > 0);
  if (!image.note().empty()) log_info("{}\n", image.note());
  options.file = image.file();
  try {
    Config config;
    config.geometry.image = options.file;
    config.import = options;
    RunProgress progress(comm, {{"import", usual_import_per_voxel * size_before(config).voxels}});
    progress.begin("import", "import");
    return import_within_memory(comm, options, output);
  } catch (const Error& e) {
    throw Error(image.about_image(e.what()));
  }
}

}  // namespace

void require_free(const Comm& comm, const std::string& path, bool overwrite) {
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    require(!fs::is_directory(path), "{}: a folder of this name exists; choose another name", path);
    require(overwrite || !fs::exists(path),
            "{}: this file exists; choose another name, or give --overwrite to replace it", path);
  });
}

void import_command(const Comm& comm, const CommandLine& line) {
  Reader in = Reader::from_text("", "import", line.overrides);
  in.name_options(import_table);
  ImportOptions options;
  read(in, options);
  require_unit_of_wide_voxels(in, line.overrides);
  in.finish();
  options.by_options = true;
  options.file = line.image;
  require(image_exists(line.image), "there is no image {}", line.image);
  const std::string page = page_name(line);
  for (const std::string& file : {line.file, line.json, page})
    if (!file.empty()) require_free(comm, file, line.overwrite);
  if (const ThreadChoice choice = choose_threads(comm, line.threads); !choice.warning.empty() && comm.rank() == 0)
    log_warn("{}", choice.warning);
  log_info("karst {}, import of {}\n", version_and_git_id(), line.image);
  options.pictures = !page.empty();
  const ImportReport report = import_converted(comm, options, line.file);
  log_info("{}\n", import_text(report));
  log_info("Geometry file {0}: `karst run {0}` computes its permeability; decks name it as geometry.image", line.file);
  if (!line.json.empty()) write_file(comm, line.json, to_json(report) + '\n');
  if (page.empty()) return;
  write_report(comm, page, page_of_run(comm, report, in.echo()));
  log_info("Report {}: open it in a browser", page);
}

}  // namespace karst
