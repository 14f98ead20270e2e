// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

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

void add_threads(CLI::App& command, CommandLine& line) {
  command.add_option("-j,--threads", line.threads, "threads per rank (default: OMP_NUM_THREADS, else all processors)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
}

void add_deck(CLI::App& command, CommandLine& line, ImportFlags& flags) {
  command
      .add_option("deck", line.deck,
                  "the input deck (TOML; `karst help` lists its keys), or an image or geometry file, for its "
                  "permeability along x, y and z; `karst init` writes a deck")
      ->required();
  command.add_option("key=value", line.overrides,
                     "sets a key of the deck: grid.box=32  grid.cells=64x64x64  flow.axes=x,z  fluid.viscosity=1.2cP");
  add_threads(command, line);
  flags.add_to(command,
               "Image import, as for `karst import`; each option sets the key of the same name in [geometry.import]");
}

void add_results(CLI::App& command, CommandLine& line) {
  command.add_option("--out", line.out, "directory for the results (default: output.directory of the deck)")
      ->type_name("DIR");
  command.add_flag("--overwrite", line.overwrite, "replace the results of an earlier run in that directory");
  command.add_flag("--force", line.force, "start even if the estimate of `karst check` exceeds the available memory");
}

void add_run(CLI::App& app, CommandLine& line, ImportFlags& flags) {
  CLI::App* run = app.add_subcommand("run", "compute what the deck requests: summary.json, report.html, plotfile");
  add_deck(*run, line, flags);
  add_results(*run, line);
  run->add_option("--petsc", line.petsc,
                  "options of PETSc in one word, for the solvers: \"-diffusion_pc_type gamg -diffusion_ksp_monitor\"")
      ->type_name("OPTIONS");
  run->add_flag("--uncertainty", line.uncertainty,
                "sets flow.uncertainty: the range of the permeability over plausible walls of an image");
  run->add_flag("--resume", line.resume,
                "continue an interrupted run: finished solves are not repeated (give the same deck)");
  run->add_option(
         "--time-limit", line.time_limit,
         "stop cleanly after this time (600, \"10 min\", 1.5h; a number alone is in seconds), e.g. before a batch "
         "system would kill the run; --resume continues it (default: run.time_limit of the deck)")
      ->transform(CLI::Validator(to_seconds, {}))
      ->type_name("TIME");
  CLI::Option* trace =
      run->add_option(
             "--trace", line.trace,
             "write a timeline of each thread of each rank, with all messages, for https://ui.perfetto.dev and "
             "tools/karst_trace.py; NAME.otf2: a directory in the Open Trace Format, if karst was built with it")
          ->type_name("FILE");
  run->add_option("--trace-steps", line.trace_steps, "the steps of a transient run to trace (default: all)")
      ->needs(trace)
      ->type_name("FIRST:LAST");
  run->add_option("--trace-room", line.trace_room,
                  "memory of each rank for the trace; events after it is full are dropped (default: 100)")
      ->needs(trace)
      ->check(CLI::Range(1.0, 1e5))
      ->type_name("MB");
}

void add_ranks(CLI::App& command, CommandLine& line) {
  command.add_option("--ranks", line.ranks, "ranks of each run, by mpirun (default: 1)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
}

void add_study(CLI::App& app, CommandLine& line) {
  CLI::App* study = app.add_subcommand(
      "study", "run a deck over lists of values, images or sub-volumes of an image: one table and one report");
  study->add_option("study", line.deck, "the study (TOML; `karst help --study` lists its keys)")
      ->required()
      ->type_name("STUDY");
  study->add_option("key=value", line.overrides, "sets a key of the deck in all cases");
  study->add_option("--out", line.out, "directory for the results (default: directory of the study)")->type_name("DIR");
  study->add_flag("--list", line.list, "show the cases, run none");
  study->add_flag("--slurm", line.slurm, "write batch scripts for SLURM into the directory of the results, run none");
  study->add_flag("--overwrite", line.overwrite, "rerun completed cases");
  add_ranks(*study, line);
  study->add_option("--parallel", line.parallel, "simultaneous runs (default: 1); -j is the number of threads of each")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  add_threads(*study, line);
}

void add_variation(CLI::App& app, CommandLine& line) {
  CLI::App* variation = app.add_subcommand(
      "variation", "run a deck several times: variation of its times between runs, ranks, threads and steps");
  variation->add_option("deck", line.deck, "the deck (TOML)")->required()->type_name("DECK");
  variation->add_option("key=value", line.overrides, "sets a key of the deck");
  variation
      ->add_option("--out", line.out,
                   "directory for the runs and the results (default: output.directory of the deck, with _variation)")
      ->type_name("DIR");
  variation->add_option("--runs", line.runs, "number of runs (default: 5); existing runs count")
      ->check(CLI::Range(2, 1000))
      ->type_name("N");
  variation->add_option("--steps", line.steps, "the steps of a transient run to compare (default: all)")
      ->type_name("FIRST:LAST");
  variation->add_flag("--overwrite", line.overwrite, "rerun completed runs, and replace other runs there");
  add_ranks(*variation, line);
  add_threads(*variation, line);
}

void add_import(CLI::App& app, CommandLine& line, ImportFlags& flags) {
  CLI::App* import = app.add_subcommand("import", "convert an image to a geometry file");
  import
      ->add_option(
          "image", line.image,
          "the image: TIFF, PNG, NumPy, HDF5 (file.h5:/data), MetaImage, NRRD, NIfTI, VTI or raw file, or a stack of "
          "TIFF or PNG slices (folder, or pattern 'slice_*.tif')")
      ->required()
      ->type_name("IMAGE");
  import->add_option("-o,--output", line.file, "geometry file to write (.h5)")->required()->type_name("FILE");
  import
      ->add_option("--page", line.page,
                   "HTML report of the import (default: next to the geometry file, .html; none: no report)")
      ->type_name("FILE");
  import->add_option("--json", line.json, "also write the report as JSON")->type_name("FILE");
  add_threads(*import, line);
  import->add_flag("--overwrite", line.overwrite, "replace existing files");
  flags.add_to(*import, "OPTIONS");
  import->footer(import_examples);
}

void add_speciate(CLI::App& app, CommandLine& line) {
  CLI::App* speciate =
      app.add_subcommand("speciate", "compute the speciation of the solutions of a [chemistry] deck, without a grid");
  speciate->add_option("deck", line.deck, "the deck (TOML; `karst help chemistry` lists its keys)")
      ->required()
      ->type_name("DECK");
  speciate->add_option("key=value", line.overrides, "sets a key of the deck: chemistry.solution[0].pH=6");
  speciate
      ->add_option("-o,--output", line.file,
                   "also write the results as a table (.csv); batch reactions and titrations to FILE_batch.csv and "
                   "FILE_titration.csv")
      ->type_name("FILE");
  speciate->add_option("--json", line.json, "also write all tables as JSON")->type_name("FILE");
  speciate->add_option("--page", line.page, "also write an HTML report with tables and charts")->type_name("FILE");
  speciate->add_flag("--overwrite", line.overwrite, "replace existing files");
}

void add_check(CLI::App& app, CommandLine& line, ImportFlags& flags) {
  CLI::App* check =
      app.add_subcommand("check", "check the deck, estimate memory and time from a sample; writes nothing");
  add_deck(*check, line, flags);
  check
      ->add_option("--ranks", line.plan_ranks,
                   "plan a run on this many ranks, also of another machine: boxes, load balance, messages, memory and "
                   "time; examines every box of the grid")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N");
  check
      ->add_option("--machine", line.machine,
                   "with --ranks and --like: communication speed of that machine (docs/scaling.md)")
      ->type_name("FILE");
  check
      ->add_option("--like", line.like,
                   "a finished run on two ranks or more, from which messages and solves are predicted")
      ->type_name("DIR");
}

void add_commands(CLI::App& app, CommandLine& line, ImportFlags& flags) {
  app.require_subcommand(1);
  app.footer(examples);
  app.set_version_flag("--version", "karst " + std::string(version_and_git_id()), "print the version and exit");

  add_run(app, line, flags);

  CLI::App* init = app.add_subcommand("init", "write a starting deck with all keys explained");
  init->add_option("file", line.deck, "the deck to write; existing files are not replaced (default: deck.toml)")
      ->type_name("FILE");
  init->add_option("--image", line.image, "the image or geometry file of the deck (default: a packing of spheres)")
      ->type_name("IMAGE");
  flags.add_to(*init, "Import of the image");

  CLI::App* geometry = app.add_subcommand("geometry", "build only the grid: statistics, plotfile, summary.json");
  add_deck(*geometry, line, flags);
  add_results(*geometry, line);

  add_check(app, line, flags);

  CLI::App* report = app.add_subcommand("report", "rewrite report.html of a finished run");
  report->add_option("directory", line.directory, "the directory of the run: summary.json, deck.toml, plotfiles")
      ->required()
      ->type_name("DIR");

  CLI::App* status = app.add_subcommand("status", "progress of the run in a directory, or how it ended");
  status->add_option("directory", line.directory, "the directory of the run, which may be on a shared disk")
      ->required()
      ->type_name("DIR");
  status->add_flag("--json", line.as_json, "print JSON for programs");

  add_study(app, line);
  add_variation(app, line);
  add_import(app, line, flags);

  add_speciate(app, line);

  CLI::App* completion = app.add_subcommand("completion", "print shell completion of commands, options and keys");
  completion->add_option("shell", line.shell, "bash or zsh: source <(karst completion bash)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->type_name("SHELL");

  CLI::App* help = app.add_subcommand("help", "explain the keys of the deck");
  help->add_option("key", line.key, "a key (grid.box) or a table (grid)")->type_name("KEY");
  help->add_flag("--study", line.of_study, "keys of a study file instead of a deck");
  help->add_flag("--markdown", line.markdown, "all keys as the tables of docs/inputs.md");
}

constexpr std::array<std::pair<const char*, Command>, 12> commands{{{"run", Command::run},
                                                                    {"init", Command::init},
                                                                    {"geometry", Command::geometry},
                                                                    {"check", Command::check},
                                                                    {"report", Command::report},
                                                                    {"status", Command::status},
                                                                    {"study", Command::study},
                                                                    {"variation", Command::variation},
                                                                    {"import", Command::import},
                                                                    {"speciate", Command::speciate},
                                                                    {"completion", Command::completion},
                                                                    {"help", Command::help}}};

/// Words for a missing command, and for one that does not exist with the nearest that does: CLI11 has none.
void check_command(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0].starts_with('-')) return;
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& [name, command] : commands) names.emplace_back(name);
  require(!arguments.empty(), "no command given; the commands are {}. `karst --help` explains them.", join(names));
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) return;
  const std::string near = nearest(arguments[0], names);
  throw Error(fmt::format("unknown command \"{}\"{}; the commands are {}. `karst --help` explains them.", arguments[0],
                          near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near), join(names)));
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
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    infos.push_back(info_of(*command));
  return infos;
}

Parsed parse_command_line(const std::vector<std::string>& arguments) {
  Parsed parsed;
  ImportFlags flags;
  CLI::App app("Karst: pore-scale simulation on cut cells, from the image of a rock or a described geometry", "karst");
  add_commands(app, parsed.line, flags);
  check_command(arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes the last word first
  } catch (const CLI::CallForVersion& e) {
    parsed = {{}, true, std::string(e.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    parsed = {{}, true, app.help()};
  } catch (const CLI::ParseError& e) {
    const auto chosen = app.get_subcommands();
    throw Error(fmt::format("command line: {}. `karst {}--help` explains it.", e.what(),
                            chosen.empty() ? "" : chosen[0]->get_name() + " "));
  }
  for (const auto& [name, command] : commands)
    if (!parsed.stop && app.got_subcommand(name)) parsed.line.command = command;
  std::ranges::move(flags.overrides(), std::back_inserter(parsed.line.overrides));
  if (parsed.line.uncertainty) parsed.line.overrides.emplace_back("flow.uncertainty=true");
  return parsed;
}

}  // namespace karst
