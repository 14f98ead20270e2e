// SPDX-License-Identifier: BSD-3-Clause
// `karst init`: a deck with every key that there is, what it asks for first, all else as comments with its default.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "app/deck/image_sample.hpp"
#include "app/deck/session.hpp"
#include "app/deck/source.hpp"
#include "app/study/study.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/deck/deck_echo.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// A key that the deck sets. A key of a list of tables (`chemistry.solution[].name`) that comes again begins the next
/// table of the list.
struct Setting {
  std::string key, value;  ///< value in TOML
};
using Settings = std::vector<Setting>;

struct InitJob {
  std::string_view name, computes;  ///< the latter as in "computes the permeability"
  Settings (*settings)();           ///< beside geometry, grid and output.directory
};

Settings permeability() { return {{"flow.model", "\"stokes\""}}; }

/// A flow along x that carries something.
Settings carried(std::string_view plot) {
  return {{"flow.model", "\"stokes\""},
          {"flow.axes", "[\"x\"]"},
          {"flow.estimate_error", "false"},
          {"transport.diffusivity", "1e-9"},
          {"output.plot", fmt::format("[\"fraction\", \"velocity\", {}]", plot)}};
}

Settings with(Settings all, const Settings& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Settings tracer() {
  return with(carried("\"concentration\""), {{"transport.peclet", "10"},
                                             {"transport.component[].name", "\"tracer\""},
                                             {"transport.component[].initial", "0.0"},
                                             {"transport.component[].inlet", "1.0"},
                                             {"time.end_pore_volumes", "2"},
                                             {"time.output_pore_volumes", "0.5"}});
}

Settings reaction() {
  return with(carried("\"concentration\""), {{"transport.mode", "\"steady\""},
                                             {"transport.peclet", "10"},
                                             {"transport.component[].name", "\"acid\""},
                                             {"transport.component[].inlet", "1.0"},
                                             {"transport.wall[].damkohler", "1"}});
}

/// Water with dissolved CO2 and grains of calcite: rate constants and orders at 25 °C as in inputs/calcite-grains.
Settings chemistry() {
  return with(
      carried("\"concentration\", \"chemistry\""),
      {{"transport.peclet", "10"},
       {"chemistry.database", "\"phreeqc.dat\""},
       {"chemistry.initial", "\"formation water\""},
       {"chemistry.inlet", "\"acid brine\""},
       {"chemistry.solution[].name", "\"formation water\""},
       {"chemistry.solution[].pH", "\"charge\""},
       {"chemistry.solution[].totals", "[\"Na 0.1\", \"Cl 0.1\", \"C(4) 1e-3 CO2(g) -2.5\", \"Ca 1e-3 Calcite 0\"]"},
       {"chemistry.solution[].name", "\"acid brine\""},
       {"chemistry.solution[].pH", "\"charge\""},
       {"chemistry.solution[].totals", "[\"Na 0.1\", \"Cl 0.1\", \"C(4) 0.03 CO2(g) 0\"]"},
       {"chemistry.mineral[].name", "\"calcite\""},
       {"chemistry.mineral[].phase", "\"Calcite\""},
       {"chemistry.mineral[].wall", "\"all\""},
       {"chemistry.mineral[].rates", "[\"0.89 H+ 1\", \"5.01e-4 CO2 1\", \"6.6e-7\"]"},
       {"time.end_pore_volumes", "1"}});
}

Settings flow_in_time() {
  return {{"flow.model", "\"unsteady-stokes\""},
          {"flow.axes", "[\"x\"]"},
          {"time.end", "\"10 ms\""},
          {"time.dt", "\"0.2 ms\""},
          {"time.output", "\"2 ms\""},
          {"output.plot", "[\"fraction\", \"velocity\", \"pressure\"]"}};
}

/// The first is that of a deck without --job; the last is that of the cases of a study.
const std::array<InitJob, 6>& init_jobs() {
  static const std::array<InitJob, 6> jobs{
      {{"permeability", "the permeability", permeability},
       {"tracer", "the breakthrough of a tracer", tracer},
       {"reaction", "the steady state of a reaction on the wall", reaction},
       {"chemistry", "the dissolution of calcite by acid water, without change of the wall", chemistry},
       {"flow-in-time", "the transient flow from rest", flow_in_time},
       {"study", "the permeability of each case", permeability}}};
  return jobs;
}

/// Throws Error with the names there are.
const InitJob& init_job(std::string_view name) {
  const auto found = std::ranges::find(init_jobs(), name, &InitJob::name);
  std::vector<std::string> names;
  for (const InitJob& job : init_jobs()) names.emplace_back(job.name);
  require(found != init_jobs().end(), "--job {}: unknown; the jobs are {}", name, join(names));
  return *found;
}

/// Tables that most decks need come first; those not named here follow in order of declaration.
constexpr std::array<std::string_view, 6> common_tables{"", "geometry", "flow", "output", "fluid", "grid"};

std::vector<std::string> tables_in_order(const std::vector<KeyInfo>& keys) {
  std::vector<std::string> tables(common_tables.begin(), common_tables.end());
  for (const KeyInfo& k : keys)
    if (std::ranges::find(tables, table_of(k.key)) == tables.end()) tables.push_back(table_of(k.key));
  std::erase_if(tables, [&](const std::string& table) {  // a study has other ones
    return std::ranges::none_of(keys, [&](const KeyInfo& k) { return table_of(k.key) == table; });
  });
  return tables;
}

/// Lines of comment, broken between words.
std::string comment(const std::string& text) {
  constexpr std::size_t width = 100;
  std::string lines, line = "#";
  for (const std::string& word : split(text, ' ')) {
    if (line.size() + word.size() + 1 > width && line.size() > 1) {
      lines += line + '\n';
      line = "#";
    }
    line += ' ' + word;
  }
  return lines + line + '\n';
}

/// What a key is, then the key: set, or as a comment with its default.
std::string key_text(const KeyInfo& key, const Settings& settings) {
  const std::string name = key.key.substr(key.key.rfind('.') + 1);
  std::string about = key.help;
  if (!key.unit.empty() && key.unit != "-") about += fmt::format(" [{}]", key.unit);
  if (!key.allowed.empty()) about += fmt::format("; {}", key.allowed);
  const auto set = std::ranges::find(settings, key.key, &Setting::key);
  if (set != settings.end()) return comment(about) + fmt::format("{} = {}\n", name, set->value);
  return comment(about) + fmt::format("#{} ={}{}\n", name, key.default_value.empty() ? "" : " ", key.default_value);
}

/// A further table of a list: what is set alone.
std::string further_table(const std::string& table, const Settings& settings) {
  std::string text = fmt::format("\n[[{}]]\n", table.substr(0, table.size() - 2));
  for (const Setting& s : settings) text += fmt::format("{} = {}\n", s.key.substr(s.key.rfind('.') + 1), s.value);
  return text;
}

/// Settings of one table: of a list those of each of its tables.
std::vector<Settings> settings_in(const std::string& table, const Settings& settings) {
  std::vector<Settings> tables(1);
  for (const Setting& s : settings) {
    if (table_of(s.key) != table) continue;
    if (table.ends_with("[]") && std::ranges::find(tables.back(), s.key, &Setting::key) != tables.back().end())
      tables.emplace_back();
    tables.back().push_back(s);
  }
  return tables;
}

std::string table_text(const std::string& table, const std::vector<KeyInfo>& keys, const Settings& settings) {
  const bool item = table.ends_with("[]");
  const std::string name = item ? table.substr(0, table.size() - 2) : table;
  const std::vector<Settings> tables = settings_in(table, settings);
  const Settings& first = tables.front();
  std::string text;
  if (!table.empty())
    text += fmt::format("\n{}{}{}{}\n", first.empty() ? "#" : "", item ? "[[" : "[", name, item ? "]]" : "]");
  for (const bool set : {true, false})
    for (const KeyInfo& k : keys)
      if (table_of(k.key) == table && k.type != "list of tables" &&
          (std::ranges::find(first, k.key, &Setting::key) != first.end()) == set)
        text += key_text(k, first);
  for (std::size_t n = 1; n < tables.size(); ++n) text += further_table(table, tables[n]);
  return text;
}

/// @param what, how  a file it is, and what is done with it
std::string deck_text(const std::string& what, const std::string& how, const std::vector<KeyInfo>& keys,
                      const Settings& settings) {
  std::string text = comment(what +
                             ", in TOML. Lines after # are comments: descriptions of the key below, and, without a "
                             "space, keys with their defaults (nothing after = if there is none). To set a key, remove "
                             "its # and that of its [table].") +
                     comment(how) + "\n";
  for (const std::string& table : tables_in_order(keys)) text += table_text(table, keys, settings);
  return text;
}

/// A packing of spheres, to be replaced by something of the user's own; periodic where nothing enters it.
/// @param enters  something does, along x
Settings settings_for_spheres(bool enters) {
  return {{"geometry.solid[].shape", "\"sphere\""},
          {"geometry.solid[].center", "[0.5e-3, 0.5e-3, 0.5e-3]"},
          {"geometry.solid[].radius", "\"0.4 mm\""},
          {"grid.cells", "[32, 32, 32]"},
          {"grid.size", "\"1 x 1 x 1 mm\""},
          {"grid.periodic", enters ? "[false, true, true]" : "[true, true, true]"},
          {"flow.drive", enters ? "\"pressure-drop\"" : "\"pressure-gradient\""},
          {"output.directory", "\"out/spheres\""}};
}

/// The value of an override as it stands in a deck, where lists have brackets and texts quotes.
std::string deck_value(const KeyInfo& key, const std::string& value) {
  const auto plain = [](const std::string& text) {
    return text == "true" || text == "false" || text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  };
  if (key.type == "number") return plain(value) ? value : toml_text(value);
  const bool words = key.type.starts_with("list") && value.starts_with('"') &&
                     (key.type == "list of texts" || value.find('x') == std::string::npos);
  if (!words) return value;
  std::vector<std::string> parts = split(value.substr(1, value.size() - 2), ',');
  for (std::string& part : parts)
    if (key.type == "list of texts" || !plain(part)) part = toml_text(part);
  return fmt::format("[{}]", join(parts));
}

/// Options of the import as keys of the deck.
Settings settings_of(const std::vector<std::string>& overrides, const std::vector<KeyInfo>& keys) {
  Settings settings;
  for (const std::string& o : overrides) {
    const std::string key = o.substr(0, o.find('='));
    const auto info = std::ranges::find(keys, key, &KeyInfo::key);
    if (info == keys.end()) continue;  // a mistake, which reading the deck tells
    settings.push_back({key, deck_value(*info, o.substr(o.find('=') + 1))});
  }
  return settings;
}

/// An image, which is named relative to the deck.
Settings settings_for_image(const std::string& image, const std::string& file, const std::vector<KeyInfo>& keys) {
  Settings settings = settings_of(deck_of_image(image), keys);
  std::erase_if(settings, [](const Setting& s) { return s.key == "flow.model"; });  // that of the job
  const fs::path folder = fs::absolute(file).parent_path();
  settings.front().value =
      toml_text(fs::absolute(image).lexically_normal().lexically_relative(folder.lexically_normal()).string());
  return settings;
}

void require_new(const Comm& comm, const std::string& file) {
  fail_together(comm, [&] {
    if (comm.rank() == 0)
      require(!fs::exists(fs::symlink_status(file)), "{}: exists already, so nothing was written; choose another name",
              file);
  });
}

/// A deck that reads as it should.
std::string checked_deck(const std::string& file, const Settings& settings, const std::vector<KeyInfo>& keys) {
  const std::string text = deck_text("A deck of Karst",
                                     "Numbers are in SI units; a text may state another unit: voxel = \"5.3 um\". "
                                     "`karst help KEY` explains a key, `karst check FILE` checks the deck, `karst run "
                                     "FILE` runs it.",
                                     keys, settings);
  Reader in = Reader::from_text(text, file);
  read_config(in);
  in.finish();
  return text;
}

/// What varies: of spheres the cells, of an image that each run imports its sub-volumes, of a geometry file the wall.
Settings settings_of_study(const std::string& deck, const std::string& deck_file) {
  Reader in = Reader::from_text(deck, deck_file);
  const Config config = read_config(in);
  Settings settings{{"deck", toml_text(fs::path(deck_file).filename().string())}, {"directory", "\"out/study\""}};
  const auto vary = [&](const std::string& key, const std::string& values, const std::string& name) {
    settings.push_back({"vary[].key", toml_text(key)});
    settings.push_back({"vary[].values", values});
    settings.push_back({"vary[].name", toml_text(name)});
  };
  if (config.geometry.image.empty()) {
    vary("grid.cells", "[\"16x16x16\", \"24x24x24\", \"32x32x32\"]", "cells");
  } else if (!needs_import(config)) {
    vary("geometry.wall_shift", "[-0.2, 0.0, 0.2]", "wall shift [voxels]");
  } else {
    const int edge = std::ranges::min(image_extent(config).size.v);
    settings.push_back({"subvolumes.sizes", fmt::format("[{}, {}]", std::max(1, edge / 4), std::max(1, edge / 2))});
    settings.push_back({"subvolumes.places", "4"});
  }
  return settings;
}

/// A study that reads as it should, of this deck. The same on every rank. Collective.
std::string checked_study(const Comm& comm, const std::string& file, const std::string& deck,
                          const std::string& deck_file) {
  std::string text;
  fail_together(comm, [&] {
    text = deck_text("A study of Karst, which runs a deck with other values, images or parts of an image",
                     "`karst study FILE --list` lists the cases, `karst study FILE` runs them.", study_keys(),
                     settings_of_study(deck, deck_file));
    Reader in = Reader::from_text(text, file);
    StudyOptions options;
    read(in, options);
    in.finish();
  });
  return text;
}

}  // namespace

void init_command(const Comm& comm, const CommandLine& line) {
  const std::vector<KeyInfo> keys = deck_keys();
  const InitJob& job = init_job(line.job.empty() ? init_jobs().front().name : line.job);
  const bool study = &job == &init_jobs().back(), enters = !study && &job != &init_jobs().front();
  const std::string file = !line.deck.empty() ? line.deck : study ? "study.toml" : "deck.toml";
  std::string deck_file = file;
  if (study) deck_file = (fs::path(file).parent_path() / (fs::path(file).stem().string() + "_deck.toml")).string();
  require_new(comm, file);
  require_new(comm, deck_file);
  Settings settings = line.image.empty() ? settings_for_spheres(enters) : settings_for_image(line.image, file, keys);
  std::ranges::move(job.settings(), std::back_inserter(settings));
  std::ranges::move(settings_of(line.overrides, keys), std::back_inserter(settings));
  const std::string text = checked_deck(deck_file, settings, keys);
  const std::string of_study = study ? checked_study(comm, file, text, deck_file) : "";
  write_file(comm, deck_file, text);
  if (study) write_file(comm, file, of_study);
  const std::string spheres = line.image.empty() ? " of a packing of spheres: replace it by your own geometry" : "";
  if (study)
    log_info("{}: a study with all keys, and {}: the deck of its cases. `karst study {}` computes {}{}", file,
             deck_file, file, job.computes, spheres);
  else
    log_info("{}: a deck with all keys. `karst check {}` checks it, `karst run {}` computes {}{}", file, file, file,
             job.computes, spheres);
}

}  // namespace karst
