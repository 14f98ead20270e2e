// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include "app/deck/config.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/units.hpp"
#include "base/core/version.hpp"
#include "base/deck/deck_echo.hpp"

namespace karst {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  karst run rock.tif --voxel 2.5um\n"
    "  karst import rock.tif -o rock.h5 --voxel 2.5um\n"
    "  karst run rock.h5\n"
    "  karst init deck.toml --image rock.h5\n"
    "  karst check deck.toml\n"
    "  karst run deck.toml --out results -j 4\n"
    "  karst report results\n"
    "  karst view results\n"
    "  karst status results\n"
    "  karst study convergence.toml\n"
    "  karst variation deck.toml --runs 5 --ranks 2\n"
    "  karst geometry deck.toml --out results -j 4 grid.box=32\n"
    "  mpirun -n 4 karst run deck.toml\n"
    "  karst speciate solution.toml\n"
    "  karst help grid.box\n";

constexpr const char* import_examples =
    "Examples:\n"
    "  gray TIFF that states its voxel width:   karst import rock.tif -o rock.h5\n"
    "  folder of slices, darker is pore:        karst import slices/ -o rock.h5 --voxel 2um\n"
    "  bright pore, given threshold:            karst import rock.mha -o rock.h5 --threshold 140 --pore_above true\n"
    "  pore and two minerals in gray values:    karst import rock.tif -o rock.h5 --segment multi-otsu --classes 3 "
    "--names pore,quartz,calcite\n"
    "  noisy pores, kept where surely pore:     karst import rock.tif -o rock.h5 --threshold 110 --seed_threshold 80\n"
    "  segmented raw file, pore is 0:           karst import rock.raw -o rock.h5 --size 512x512x512 --type uint8 "
    "--voxel 5.3um --pore 0\n"
    "  labels with names:                       karst import labels.tif -o rock.h5 --label_values 0,1,2 --names "
    "pore,quartz,calcite\n"
    "  the same, names in a file:               karst import labels.tif -o rock.h5 --labels labels.tif.json\n"
    "  cylindrical sample, connected along z:   karst import core.tif -o core.h5 --sample cylinder --keep connected "
    "--keep_axes false,false,true\n"
    "`karst help geometry.import` lists the options as keys of a deck.\n";

/// Value of an option of the import as TOML: texts and lists (which Reader takes apart) without quotes and brackets.
std::string as_toml(const KeyInfo& key, const std::string& value) {
  const bool list = key.type.starts_with("list");
  const bool text = list || key.type == "text" || key.type == "word" || key.type == "file name";
  return text && !(list && value.starts_with('[')) ? toml_text(value) : value;
}

/// How a value is written on the command line.
const char* form_of(const std::string& type) {
  constexpr std::array<std::pair<const char*, const char*>, 9> forms{{{"number", "NUMBER"},
                                                                      {"integer", "N"},
                                                                      {"true/false", "true|false"},
                                                                      {"word", "WORD"},
                                                                      {"file name", "FILE"},
                                                                      {"list of texts", "NAME,NAME,..."},
                                                                      {"list of numbers", "NUMBER,NUMBER,..."},
                                                                      {"list of 3 integers", "NXxNYxNZ"},
                                                                      {"list of 3 numbers", "X,Y,Z"}}};
  for (const auto& [name, form] : forms)
    if (type == name) return form;
  return type == "list of 3 true/false" ? "BOOL,BOOL,BOOL" : "VALUE";
}

/// A default as it would be written on the command line: without quotes and brackets.
std::string bare(std::string text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '[')) text = text.substr(1, text.size() - 2);
  std::erase(text, ' ');
  return text;
}

/// The options of `karst import`: one per key of [geometry.import].
struct ImportFlags {
  std::vector<KeyInfo> keys = import_keys();
  std::vector<std::string> values = std::vector<std::string>(keys.size());

  /// @param group  heading of their part of the help
  void add_to(CLI::App& command, const std::string& group) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      std::string help = keys[k].help;
      if (!keys[k].unit.empty() && keys[k].unit != "-")
        help += fmt::format(" [{}{}]", keys[k].unit, is_physical(keys[k].unit) ? ", or with a unit: 5.3um" : "");
      if (!keys[k].allowed.empty()) help += fmt::format(" ({})", keys[k].allowed);
      if (!keys[k].default_value.empty() && keys[k].default_value != "[]" && keys[k].default_value != "\"\"")
        help += fmt::format("; default {}", bare(keys[k].default_value));
      const std::string name = keys[k].key.substr(keys[k].key.rfind('.') + 1);
      command.add_option("--" + name, values[k], help)->type_name(form_of(keys[k].type))->group(group);
    }
  }
  std::vector<std::string> overrides() const {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (!values[k].empty()) all.push_back(fmt::format("{}={}", keys[k].key, as_toml(keys[k], values[k])));
    return all;
  }
};

/// "90", "90 s" or "1.5h" becomes a number of seconds. What is wrong with it, empty: nothing.
std::string to_seconds(std::string& text) {
  double seconds = 0.0;
  if (!CLI::detail::lexical_cast(text, seconds)) {
    const Measured time = measured(text, "s");
    if (!time.problem.empty()) return fmt::format("{}: {}", text, time.problem);
    seconds = time.value;
  }
  if (!(seconds > 0.0)) return fmt::format("{}: must be above 0", text);
  text = fmt::format("{}", seconds);
  return {};
}

/// An option, or an argument, that takes a value.
/// @param form  of the value, for the help
CLI::Option& option(CLI::App& command, const char* name, auto& value, const char* form, const std::string& help) {
  return *command.add_option(name, value, help)->type_name(form);
}

CLI::Option& count(CLI::App& command, const char* name, int& value, int most, const std::string& help) {
  return *option(command, name, value, "N", help).check(CLI::Range(1, most));
}

void add_keys(CLI::App& command, CommandLine& line, const std::string& help) {
  command.add_option("key=value", line.overrides, help);
}

void add_threads(CLI::App& command, CommandLine& line) {
  count(command, "-j,--threads", line.threads, 4096,
        "threads per rank (default: OMP_NUM_THREADS, else all processors)");
}

void add_ranks(CLI::App& command, CommandLine& line) {
  count(command, "--ranks", line.ranks, 1'000'000, "ranks of each run, by mpirun (default: 1)");
}

void add_deck(CLI::App& command, CommandLine& line, ImportFlags& flags) {
  command
      .add_option("deck", line.deck,
                  "the input deck (TOML; `karst help` lists its keys), or an image or geometry file, for its "
                  "permeability along x, y and z; `karst init` writes a deck")
      ->required();
  add_keys(command, line,
           "sets a key of the deck: grid.box=32  grid.cells=64x64x64  flow.axes=x,z  fluid.viscosity=1.2cP");
  add_threads(command, line);
  flags.add_to(command,
               "Image import, as for `karst import`; each option sets the key of the same name in [geometry.import]");
}

void add_results(CLI::App& command, CommandLine& line) {
  option(command, "--out", line.out, "DIR", "directory for the results (default: output.directory of the deck)");
  command.add_flag("--overwrite", line.overwrite, "replace the results of an earlier run in that directory");
  command.add_flag("--force", line.force, "start even if the estimate of `karst check` exceeds the available memory");
}

void add_run(CLI::App& run, CommandLine& line, ImportFlags& flags) {
  add_deck(run, line, flags);
  add_results(run, line);
  option(run, "--petsc", line.petsc, "OPTIONS",
         "options of PETSc in one word, for the solvers: \"-diffusion_pc_type gamg -diffusion_ksp_monitor\"");
  run.add_flag("--uncertainty", line.uncertainty,
               "sets flow.uncertainty: the range of the permeability over plausible walls of an image");
  run.add_flag("--resume", line.resume,
               "continue an interrupted run: finished solves are not repeated (give the same deck)");
  option(run, "--time-limit", line.time_limit, "TIME",
         "stop cleanly after this time (600, \"10 min\", 1.5h; a number alone is in seconds), e.g. before a batch "
         "system would kill the run; --resume continues it (default: run.time_limit of the deck)")
      .transform(CLI::Validator(to_seconds, {}));
  CLI::Option& trace =
      option(run, "--trace", line.trace, "FILE",
             "write a timeline of each thread of each rank, with all messages, for https://ui.perfetto.dev and "
             "tools/karst_trace.py; NAME.otf2: a directory in the Open Trace Format, if karst was built with it");
  option(run, "--trace-steps", line.trace_steps, "FIRST:LAST", "the steps of a transient run to trace (default: all)")
      .needs(&trace);
  option(run, "--trace-room", line.trace_room, "MB",
         "memory of each rank for the trace; events after it is full are dropped (default: 100)")
      .needs(&trace)
      ->check(CLI::Range(1.0, 1e5));
}

void add_study(CLI::App& study, CommandLine& line) {
  option(study, "study", line.deck, "STUDY", "the study (TOML; `karst help --study` lists its keys)").required();
  add_keys(study, line, "sets a key of the deck in all cases");
  option(study, "--out", line.out, "DIR", "directory for the results (default: directory of the study)");
  study.add_flag("--list", line.list, "show the cases, run none");
  study.add_flag("--slurm", line.slurm, "write batch scripts for SLURM into the directory of the results, run none");
  study.add_flag("--overwrite", line.overwrite, "rerun completed cases");
  add_ranks(study, line);
  count(study, "--parallel", line.parallel, 1'000'000,
        "simultaneous runs (default: 1); -j is the number of threads of each");
  add_threads(study, line);
}

void add_variation(CLI::App& variation, CommandLine& line) {
  option(variation, "deck", line.deck, "DECK", "the deck (TOML)").required();
  add_keys(variation, line, "sets a key of the deck");
  option(variation, "--out", line.out, "DIR",
         "directory for the runs and the results (default: output.directory of the deck, with _variation)");
  option(variation, "--runs", line.runs, "N", "number of runs (default: 5); existing runs count")
      .check(CLI::Range(2, 1000));
  option(variation, "--steps", line.steps, "FIRST:LAST", "the steps of a transient run to compare (default: all)");
  variation.add_flag("--overwrite", line.overwrite, "rerun completed runs, and replace other runs there");
  add_ranks(variation, line);
  add_threads(variation, line);
}

void add_import(CLI::App& import, CommandLine& line, ImportFlags& flags) {
  option(import, "image", line.image, "IMAGE",
         "the image: TIFF, PNG, NumPy, HDF5 (file.h5:/data), MetaImage, NRRD, NIfTI, VTI or raw file, or a stack of "
         "TIFF or PNG slices (folder, or pattern 'slice_*.tif')")
      .required();
  option(import, "-o,--output", line.file, "FILE", "geometry file to write (.h5)").required();
  option(import, "--page", line.page, "FILE",
         "HTML report of the import (default: next to the geometry file, .html; none: no report)");
  option(import, "--json", line.json, "FILE", "also write the report as JSON");
  add_threads(import, line);
  import.add_flag("--overwrite", line.overwrite, "replace existing files");
  flags.add_to(import, "OPTIONS");
  import.footer(import_examples);
}

void add_speciate(CLI::App& speciate, CommandLine& line) {
  option(speciate, "deck", line.deck, "DECK",
         "the deck (TOML; `karst help chemistry` lists its keys), also that of a run")
      .required();
  add_keys(speciate, line, "sets a key of the deck: chemistry.solution[0].pH=6");
  option(speciate, "-o,--output", line.file, "FILE",
         "also write the results as a table (.csv); batch reactions and titrations to FILE_batch.csv and "
         "FILE_titration.csv");
  option(speciate, "--json", line.json, "FILE", "also write all tables as JSON");
  option(speciate, "--page", line.page, "FILE", "also write an HTML report with tables and charts");
  speciate.add_flag("--overwrite", line.overwrite, "replace existing files");
}

void add_check(CLI::App& check, CommandLine& line, ImportFlags& flags) {
  add_deck(check, line, flags);
  count(check, "--ranks", line.plan_ranks, 100'000'000,
        "plan a run on this many ranks, also of another machine: boxes, load balance, messages, memory and time; "
        "examines every box of the grid");
  option(check, "--machine", line.machine, "FILE",
         "with --ranks and --like: communication speed of that machine (docs/scaling.md)");
  option(check, "--like", line.like, "DIR",
         "a finished run on two ranks or more, from which messages and solves are predicted");
}

void add_commands(CLI::App& app, CommandLine& line, ImportFlags& flags) {
  app.require_subcommand(1);
  app.footer(examples);
  app.set_version_flag("--version", "karst " + std::string(version_and_git_id()), "print the version and exit");
  const auto command = [&app](const char* name, const char* help) -> CLI::App& {
    return *app.add_subcommand(name, help);
  };

  add_run(command("run", "compute what the deck requests: summary.json, report.html, plotfile"), line, flags);

  CLI::App& init = command("init", "write a starting deck with all keys explained");
  option(init, "file", line.deck, "FILE", "the deck to write; existing files are not replaced (default: deck.toml)");
  option(init, "--image", line.image, "IMAGE",
         "the image or geometry file of the deck (default: a packing of spheres)");
  option(
      init, "--job", line.job, "JOB",
      "what the deck computes: permeability (default), tracer, reaction, chemistry, flow-in-time; study: the file is "
      "that of a study, and NAME_deck.toml beside it the deck of its cases");
  flags.add_to(init, "Import of the image");

  CLI::App& geometry = command("geometry", "build only the grid: statistics, plotfile, summary.json");
  add_deck(geometry, line, flags);
  add_results(geometry, line);

  add_check(command("check", "check the deck, estimate memory and time from a sample; writes nothing"), line, flags);

  CLI::App& report = command("report", "rewrite report.html of a finished run");
  option(report, "directory", line.directory, "DIR", "the directory of the run: summary.json, deck.toml, plotfiles")
      .required();

  CLI::App& view =
      command("view", "write a page to turn results in a browser: wall, streamlines, slices (needs Python)");
  option(view, "directory", line.directory, "DIR", "the directory of a run, or a plotfile").required();
  option(view, "-o,--output", line.page, "FILE", "the page (default: view.html in the directory)");

  CLI::App& status = command("status", "progress of the run in a directory, or how it ended");
  option(status, "directory", line.directory, "DIR", "the directory of the run, which may be on a shared disk")
      .required();
  status.add_flag("--json", line.as_json, "print JSON for programs");

  add_study(
      command("study", "run a deck over lists of values, images or sub-volumes of an image: one table and one report"),
      line);
  add_variation(
      command("variation", "run a deck several times: variation of its times between runs, ranks, threads and steps"),
      line);
  add_import(command("import", "convert an image to a geometry file"), line, flags);
  add_speciate(command("speciate", "compute the speciation of the solutions of a [chemistry] deck, without a grid"),
               line);

  CLI::App& completion = command("completion", "print shell completion of commands, options and keys");
  option(completion, "shell", line.shell, "SHELL", "bash or zsh: source <(karst completion bash)")
      .required()
      ->check(CLI::IsMember({"bash", "zsh"}));

  CLI::App& help = command("help", "explain the keys of the deck");
  option(help, "key", line.key, "KEY", "a key (grid.box) or a table (grid)");
  help.add_flag("--study", line.of_study, "keys of a study file instead of a deck");
  help.add_flag("--markdown", line.markdown, "all keys as the tables of docs/inputs.md");
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Words for a missing command, and for one that does not exist with the nearest that does: CLI11 has none.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0].starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  require(!arguments.empty(), "no command given; the commands are {}. `karst --help` explains them.", join(names));
  require(std::ranges::count(names, arguments[0]) > 0,
          "unknown command \"{}\"{}; the commands are {}. `karst --help` explains them.", arguments[0],
          did_you_mean(arguments[0], names), join(names));
}

CommandInfo info_of(const CLI::App& command) {
  CommandInfo info{command.get_name(), command.get_description(), {}, false};
  for (const CLI::Option* o : command.get_options()) {
    if (o->get_positional()) {
      info.takes_keys = info.takes_keys || o->get_name() == "key=value";
      continue;
    }
    OptionInfo option;
    for (const std::string& name : o->get_snames()) option.names.push_back("-" + name);
    for (const std::string& name : o->get_lnames()) option.names.push_back("--" + name);
    if (o->get_items_expected_max() > 0) option.value = o->get_type_name();
    info.options.push_back(std::move(option));
  }
  return info;
}

}  // namespace

std::vector<CommandInfo> command_infos() {
  CommandLine line;
  ImportFlags flags;
  CLI::App app;
  add_commands(app, line, flags);
  std::vector<CommandInfo> infos{info_of(app)};
  for (const CLI::App* command : commands_of(app)) infos.push_back(info_of(*command));
  return infos;
}

namespace {

/// What is wrong with the words, by the words themselves: an option that is there twice, or that there is none of.
std::string cause_of(const CLI::ParseError& e, const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto chosen = app.get_subcommands();
  std::vector<std::string> options;
  for (const CLI::App* command : chosen)
    for (const CLI::Option* o : command->get_options())
      for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
  for (const std::string& word : arguments) {
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    const auto same = [&](const std::string& other) { return other == name || other.starts_with(name + "="); };
    const bool is_option = std::ranges::count(options, name) > 0;
    if (const auto n = std::ranges::count_if(arguments, same); e.get_name() == "ArgumentMismatch" && is_option && n > 1)
      return fmt::format("{} is given {} times; give it once", name, n);
    if (std::string_view(e.what()).find("not expected") != std::string_view::npos && !is_option && !options.empty()) {
      std::string small = name;
      std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
      return fmt::format("there is no option {}{}", name, or_rather(small, options));
    }
  }
  return e.what();
}

}  // namespace

Parsed parse_command_line(const std::vector<std::string>& arguments) {
  Parsed parsed;
  ImportFlags flags;
  CLI::App app("Karst: pore-scale simulation on cut cells, from the image of a rock or a described geometry", "karst");
  add_commands(app, parsed.line, flags);
  check_command(app, arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes the last word first
  } catch (const CLI::CallForVersion& e) {
    parsed = {{}, true, std::string(e.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    parsed = {{}, true, app.help()};
  } catch (const CLI::ParseError& e) {
    const auto chosen = app.get_subcommands();
    const std::string cause = cause_of(e, app, arguments);
    throw Error(fmt::format("command line: {}{} `karst {}--help` explains it.", cause, cause.ends_with('?') ? "" : ".",
                            chosen.empty() ? "" : chosen[0]->get_name() + " "));
  }
  if (!parsed.stop) parsed.line.command = app.get_subcommands().front()->get_name();
  std::ranges::move(flags.overrides(), std::back_inserter(parsed.line.overrides));
  if (parsed.line.uncertainty) parsed.line.overrides.emplace_back("flow.uncertainty=true");
  return parsed;
}

}  // namespace karst
