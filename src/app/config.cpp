// SPDX-License-Identifier: BSD-3-Clause
#include "app/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/job.hpp"

namespace karst {

void read(Reader& in, OutputOptions& options) {
  in.text("output.directory", options.directory,
          "folder of the results, relative to where the program runs; --out on the command line wins");
  std::vector<std::string> words;
  for (const PlotField field : options.plot)
    for (const PlotWord& w : plot_words())
      if (w.field == field) words.emplace_back(w.word);
  std::string help = "fields of the plotfile:";
  for (const PlotWord& w : plot_words()) {
    help += help.ends_with(':') ? " " : "; ";
    help += std::string(w.word) + " = " + std::string(w.help);
  }
  in.texts("output.plot", words, help);
  options.plot = read_plot_fields(in, words);
  in.flag(
      "output.yt", options.yt,
      "plotfiles hold their values a second time in the layout that yt.load opens; false: files of half the size, for "
      "ParaView and Python");
}

void read(Reader& in, RunOptions& options) {
  constexpr double longest = 3.2e9;  // a century
  in.number("run.time_limit", options.time_limit, "s",
            "`karst run` ends in order after this time, e.g. before a batch system would kill it; --resume goes on; 0: "
            "no limit; --time-limit on the command line wins",
            0.0, longest);
}

namespace {

/// An image, or solids and a grid.
void require_source(Reader& in, const Config& config) {
  if (!config.geometry.image.empty()) return;
  if (!in.given("geometry.solid"))
    in.mistake("geometry",
               "nothing says where the solid is; wanted: geometry.image or at least one [[geometry.solid]]");
  if (config.import_given) in.mistake("geometry.import", "given without geometry.image; there is nothing to import");
  for (const char* key : {"grid.cells", "grid.size"})
    if (!in.given(key)) in.mistake(key, "missing; described solids need it (only an image brings its own)");
}

/// Fields of jobs need their job.
void require_jobs_of_fields(Reader& in, const Config& config) {
  for (const PlotWord& w : plot_words()) {
    if (w.job.empty() || std::ranges::count(config.output.plot, w.field) == 0) continue;
    const auto job = std::ranges::find(jobs(), w.job, &Job::name);
    if (!job->is_asked(config))
      in.mistake("output.plot", fmt::format("\"{}\" belongs to a job that the deck does not ask for; wanted: {}",
                                            w.word, job->asked_by));
  }
}

}  // namespace

Config read_config(Reader& in) {
  Config config;
  in.text("title", config.title, "a line about the case, kept in the results");
  read(in, config.geometry);
  read(in, config.import);
  read(in, config.grid);
  read(in, config.fluid);
  read(in, config.flow);
  read(in, config.time, config.flow.model == FlowModel::unsteady_stokes);
  read(in, config.diffusion);
  read(in, config.dispersion);
  read(in, config.output);
  read(in, config.run);
  config.import_given = in.given("geometry.import");
  config.cells_given = in.given("grid.cells");
  config.size_given = in.given("grid.size");
  if (!in.documenting()) {
    require_source(in, config);
    require_jobs_of_fields(in, config);
  }
  return config;
}

std::vector<KeyInfo> deck_keys() {
  Reader in = Reader::declarations_only();
  read_config(in);
  return in.keys();
}

std::vector<KeyInfo> import_keys() {
  Reader in = Reader::declarations_only();
  ImportOptions options;
  read(in, options);
  return in.keys();
}

}  // namespace karst
