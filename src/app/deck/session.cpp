// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/session.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "app/deck/threads.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "base/core/version.hpp"
#include "base/deck/deck_echo.hpp"
#include "base/file/log.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

namespace {

Reader reader_of(const CommandLine& line) {
  if (!stands_for_deck(line.deck)) return Reader::from_file(line.deck, line.overrides);
  std::vector<std::string> all = deck_of_image(line.deck);
  all.insert(all.end(), line.overrides.begin(), line.overrides.end());
  return Reader::from_text("", "command line", all);
}

}  // namespace

void require_unit_of_wide_voxels(Reader& in, const std::vector<std::string>& overrides) {
  constexpr double centimetre = 0.01;
  for (const std::string& o : overrides)
    for (const char* name : {"voxel", "spacing", "resample"}) {
      const std::string key = std::string(import_table) + name;
      if (!o.starts_with(key + "=")) continue;
      const std::string value = o.substr(key.size() + 1);
      const std::string_view units =
          "abcdfghijklmnopqrstuvwyzABCDFGHIJKLMNOPQRSTUVWYZ\xc2\xc3\xce";  // e: exponents, x: 5 x 5 x 6
      if (value.find_first_of(units) != std::string::npos) continue;
      const std::size_t first = value.find_first_of("+-.0123456789");
      const double width = first == std::string::npos ? 0 : std::strtod(value.c_str() + first, nullptr);
      if (width >= centimetre)
        in.mistake(key,
                   "{0:g} given without a unit would be {0:g} m; state the unit: {0:g}um for micrometres, {0:g}m if "
                   "metres are meant",
                   width);
    }
}

Session start_session(const Comm& comm, const CommandLine& line) {
  Timer timer("read deck");
  Reader in = reader_of(line);
  in.name_options(import_table);
  Session session;
  session.config = read_config(in);
  require_unit_of_wide_voxels(in, line.overrides);
  session.config.import.by_options = stands_for_deck(line.deck);
  in.finish();
  session.config.unusual = in.unusual();
  session.echo = in.echo();
  const ThreadChoice choice = choose_threads(comm, line.threads);
  if (!choice.warning.empty() && comm.rank() == 0) log_warn("{}", choice.warning);
  return session;
}

std::vector<std::string> input_files(const Config& config, const CommandLine& line) {
  const std::filesystem::path directory = config.geometry.directory;
  std::vector<std::string> files;
  if (!stands_for_deck(line.deck)) files.push_back(line.deck);
  if (!config.geometry.image.empty()) files.push_back((directory / config.geometry.image).string());
  for (const SolidOptions& solid : config.geometry.solids)
    if (!solid.file.path.empty()) files.push_back((directory / solid.file.path).string());
  if (!config.flow.start_file.empty()) files.push_back(config.flow.start_file);
  return files;
}

std::string deck_as_used(const Session& session, const CommandLine& line) {
  return fmt::format("# The complete deck as used by karst {}, from {}{}.\n", version_and_git_id(),
                     stands_for_deck(line.deck) ? "the image " : "", line.deck) +
         session.echo;
}

void announce(const Comm& comm, const Session& session, const CommandLine& line) {
  const auto plural = [](std::int64_t n) { return n == 1 ? "" : "s"; };
  const std::int64_t threads = comm.max(std::int64_t{n_threads()});
  log_info("karst {}, {} rank{} of {} thread{}", version_and_git_id(), comm.size(), plural(comm.size()), threads,
           plural(threads));
  log_info("{}{}{}\n", session.config.title, session.config.title.empty() ? "" : ": ", line.deck);
}

Geometry build(const Comm& comm, const Config& config, const Source& source, const GridOptions& grid,
               RunSeconds& seconds, const BoxCosts& costs, const GeometryBefore& before) {
  const WallClock clock;
  Geometry geometry = build_geometry(comm, grid, *source.level_set, config.geometry.keep,
                                     {ControlVolumes::home_cells, config.walls.asked()}, costs, before);
  trim_heap();
  seconds.geometry = comm.max(clock.seconds());
  require_wall(config, geometry.report);
  return geometry;
}

LogFile::LogFile(const Comm& comm, const std::string& path) {
  fail_together(comm, [&] { set_up_log(comm, path); });
}

LogFile::~LogFile() {
  try {
    close_log();
  } catch (const Error&) {  // what the run ends by is told already
  }
}

void LogFile::close() { close_log(); }

namespace fs = std::filesystem;

bool stands_for_deck(const std::string& name) { return fs::path(name).extension() != ".toml" && is_image_name(name); }

std::string results_of_image(const std::string& image) {
  fs::path path = fs::path(split_array(image).first).lexically_normal();
  std::error_code ignored;
  if (!path.has_filename()) path = path.parent_path();  // slices/
  const bool pattern = path.filename().string().find_first_of("*?%") != std::string::npos;
  if (pattern) path = fs::absolute(path, ignored).parent_path();
  if (!pattern && !fs::is_directory(path, ignored)) {
    if (path.extension() == ".gz") path.replace_extension();
    path.replace_extension();
  }
  return (fs::path("out") / path.filename()).string();
}

std::vector<std::string> deck_of_image(const std::string& image) {
  require(image_exists(image), "there is no image {}", image);
  return {"geometry.image=" + toml_text(image), "flow.model=\"stokes\"", "flow.drive=\"pressure-drop\"",
          "output.directory=" + toml_text(results_of_image(image))};
}

}  // namespace karst
