// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/database.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numbers>
#include <sstream>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "chemistry/constants.hpp"
#include "chemistry/rate_parameters.hpp"

namespace karst {

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The options of species and phases that are read, by what PHREEQC lets users shorten them to.
enum class Option : std::uint8_t {
  none,
  log_k,
  enthalpy,
  analytic,
  gamma,
  volume,
  critical_t,
  critical_p,
  acentric,
  davies,
  three_planes,
  unchecked,
  other
};

Option option_of(std::string word) {
  const bool dashed = word.front() == '-' && word.size() > 1 && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
  if (dashed) word.erase(0, 1);
  word = lower(word);
  if (word == "log_k" || word == "logk") return Option::log_k;
  if (word == "delta_h" || word == "deltah") return Option::enthalpy;
  if (word.starts_with("analytic") || word == "a_e" || word == "ae") return Option::analytic;
  if (word == "gamma") return Option::gamma;
  if (word == "davies") return Option::davies;
  if (word == "cd_music") return Option::three_planes;
  if (word == "vm" && dashed) return Option::volume;
  if (word == "t_c" && dashed) return Option::critical_t;
  if (word == "p_c" && dashed) return Option::critical_p;
  if (word == "omega" && dashed) return Option::acentric;
  if (word == "no_check") return Option::unchecked;
  return dashed || word == "dw" || word == "viscosity" || word == "vm" ? Option::other : Option::none;
}

/// File and line of entries, by what they are and their name: "species X-", "phase Calcite", "element Ca", "site X".
using EntryLines = std::map<std::string, std::string>;

const char* block_of(SpeciesPlace place) {
  constexpr std::array<const char*, 3> blocks{"SOLUTION_SPECIES", "EXCHANGE_SPECIES", "SURFACE_SPECIES"};
  return blocks[static_cast<std::size_t>(place)];
}

/// Master species are there, and in the block that is theirs. Throws Error.
void check_masters(const Database& database, const EntryLines& lines) {
  const auto check = [&](const std::string& what, const std::string& name, const std::string& species,
                         SpeciesPlace place) {
    const DatabaseSpecies* found = database.find_species(species);
    const std::string line = lines.at(fmt::format("{} {}", what, name));
    require(found != nullptr, "{}: master species {} of {} is not defined in {}", line, species, name, block_of(place));
    require(found->place == place, "{}: master species {} of {} stands under {} ({}); it belongs under {}", line,
            species, name, block_of(found->place), lines.at("species " + species), block_of(place));
  };
  for (const MasterSpecies& m : database.masters) check("element", m.element, m.species, SpeciesPlace::dissolved);
  for (const SorptionMaster& m : database.sorption_masters) {
    require(database.master(m.site) == nullptr, "{}: {} is an element of solutions ({}); a site needs another name",
            lines.at("site " + m.site), m.site,
            lines.contains("element " + m.site) ? lines.at("element " + m.site) : "");
    check("site", m.site, m.species, m.place);
  }
}

/// What is dissolved has no site in it, and what sorbs has one of its kind: it stands in the block of its place.
/// Throws Error.
void check_place(const Database& database, const std::string& line, const std::string& name,
                 const ChemicalFormula& formula, SpeciesPlace place) {
  bool on_site = false;
  for (const auto& [element, n] : formula.elements) {
    const SorptionMaster* m = database.sorption_master(element);
    if (m == nullptr) continue;
    require(m->place == place, "{}: {} holds the site {} of {}; it belongs under {}", line, name, element,
            m->place == SpeciesPlace::surface ? "a surface" : "an exchanger", block_of(m->place));
    on_site = true;
  }
  require(place == SpeciesPlace::dissolved || on_site,
          "{}: {} under {} holds no site of {}; it belongs under SOLUTION_SPECIES", line, name, block_of(place),
          place == SpeciesPlace::surface ? "SURFACE_MASTER_SPECIES" : "EXCHANGE_MASTER_SPECIES");
}

/// Blocks as a whole: an entry that stands in the wrong one is an Error with its line.
void check_blocks(const Database& database, const EntryLines& lines) {
  check_masters(database, lines);
  const auto check = [&](const std::string& entry, const std::string& name, const ChemicalFormula& formula,
                         const std::vector<ReactionTerm>& terms, SpeciesPlace place) {
    const std::string& line = lines.at(entry);
    check_place(database, line, name, formula, place);
    if (place != SpeciesPlace::dissolved) return;
    for (const ReactionTerm& t : terms) {
      const DatabaseSpecies* s = database.find_species(t.species);
      require(s == nullptr || s->place == SpeciesPlace::dissolved,
              "{}: {} contains {}, which is a sorption site ({}); dissolved species cannot contain sites", line, name,
              t.species, block_of(s == nullptr ? place : s->place));
    }
  };
  for (const DatabaseSpecies& s : database.species) check("species " + s.name, s.name, s.formula, s.from, s.place);
  for (const DatabasePhase& p : database.phases)
    check("phase " + p.name, p.name, p.formula, p.dissolved, SpeciesPlace::dissolved);
}

/// Reads the lines one after the other.
class DatabaseParser {
 public:
  explicit DatabaseParser(const std::string& name) { database_.name = file_ = name; }

  /// What follows stands in another file, which begins with a keyword.
  void add_file(const std::string& name) {
    close_entry();
    block_ = Block::none;
    waiting_.clear();
    file_ = name;
    database_.name += " with " + name;
  }

  bool in_block() const { return block_ != Block::none; }

  void line(const std::string& text, int number) {
    line_ = number;
    try {
      take(text);
    } catch (const Error& e) {
      throw Error(fmt::format("database {}, line {}: {}", file_, number, e.what()));
    }
  }

  /// What was read, as a whole database.
  Database finish() {
    close_entry();
    require(!database_.masters.empty() && !database_.species.empty(),
            "database {}: there are no {}; is it a database in PHREEQC's format?", database_.name,
            database_.masters.empty() ? "SOLUTION_MASTER_SPECIES" : "SOLUTION_SPECIES");
    check_blocks(database_, lines_);
    return std::move(database_);
  }

  /// The rates alone; nothing else needs to be there.
  std::vector<DatabaseRate> finish_rates() {
    close_entry();
    return std::move(database_.rates);
  }

 private:
  /// The entry of the line that is read.
  void note(const std::string& entry) { lines_[entry] = fmt::format("database {}, line {}", file_, line_); }

  void close_entry() {
    try {
      end_entry();
    } catch (const Error& e) {
      throw Error(fmt::format("database {}: {}", file_, e.what()));
    }
  }

  enum class Block : std::uint8_t { none, masters, sorption_masters, species, phases, rates, ignored };

  void take(const std::string& text) {
    const std::vector<std::string> words = words_of(text);
    if (words.empty() || begins_block(words)) return;
    if (block_ == Block::masters) take_master(words);
    if (block_ == Block::sorption_masters) take_sorption_master(words);
    if (block_ == Block::species) take_species(text, words);
    if (block_ == Block::phases) take_phase(text, words);
    if (block_ == Block::rates) take_rate(words);
  }

  /// Keywords are words of capitals alone on their line.
  bool begins_block(const std::vector<std::string>& words) {
    const std::string& word = words.front();
    const bool capitals = word.size() > 2 && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
    if (!capitals || (words.size() > 1 && word != "TITLE")) return false;
    require(
        word != "PITZER" && word != "SIT" && word != "LLNL_AQUEOUS_MODEL_PARAMETERS",
        "{}: activity coefficients of this model are not supported; use an ion-association database, e.g. phreeqc.dat",
        word);
    if (block_ == Block::phases && word != "PHASES" && word.find('_') == std::string::npos && word != "RATES" &&
        word != "END" && word != "TITLE")
      return false;  // a phase may have a name of capitals
    end_entry();
    const bool rates = word == "RATE_PARAMETERS_PK" || word == "RATE_PARAMETERS_HERMANSKA";
    block_ = word.ends_with("_SPECIES") ? Block::species
             : word == "PHASES"         ? Block::phases
             : rates                    ? Block::rates
                                        : Block::ignored;
    if (rates) rate_source_ = word.substr(word.rfind('_') + 1);
    place_ = word.starts_with("EXCHANGE")  ? SpeciesPlace::exchanger
             : word.starts_with("SURFACE") ? SpeciesPlace::surface
                                           : SpeciesPlace::dissolved;
    if (word.ends_with("_MASTER_SPECIES"))
      block_ = place_ == SpeciesPlace::dissolved ? Block::masters : Block::sorption_masters;
    if (block_ == Block::ignored && word != "END" && word != "TITLE") database_.ignored.push_back(word);
    return true;
  }

  static double number(const std::vector<std::string>& words, std::size_t at, const char* what) {
    require(at < words.size(), "{}: a number is missing", what);
    char* end = nullptr;
    const double value = std::strtod(words[at].c_str(), &end);
    require(end == words[at].c_str() + words[at].size() && std::isfinite(value), "{}: '{}' is not a number", what,
            words[at]);
    return value;
  }

  void take_master(const std::vector<std::string>& words) {
    require(words.size() >= 3, "a master species needs element, species, alkalinity and gram formula weight");
    MasterSpecies m{words[0], species_name(words[1]), number(words, 2, "alkalinity"), words.size() > 3 ? words[3] : ""};
    if (const auto plus = m.element.find("(+"); plus != std::string::npos) m.element.erase(plus + 1, 1);
    if (words.size() > 4) m.element_weight = number(words, 4, "element weight");
    for (const auto& [element, species] : {std::pair{"H", "H+"}, {"O", "H2O"}})
      require(m.element != element || m.species == species,
              "{} is counted by {}; expected: {}, from which Karst makes all species; databases that count it "
              "otherwise, such as PHREEQC's iso.dat for isotopes, are not read",
              element, m.species, species);
    note("element " + m.element);
    std::erase_if(database_.masters, [&](const MasterSpecies& old) { return old.element == m.element; });
    database_.masters.push_back(std::move(m));
  }

  void take_sorption_master(const std::vector<std::string>& words) {
    require(words.size() >= 2, "a sorption master species needs the name of its site and the species");
    std::erase_if(database_.sorption_masters, [&](const SorptionMaster& old) { return old.site == words[0]; });
    note("site " + words[0]);
    database_.sorption_masters.push_back({words[0], species_name(words[1]), place_});
  }

  void take_species(const std::string& text, const std::vector<std::string>& words) {
    if (text.find('=') != std::string::npos && option_of(words.front()) == Option::none) return begin_species(text);
    const Option option = option_of(words.front());
    require(option != Option::none, "'{}' is neither a reaction nor an option of the species before", text);
    if (option == Option::unchecked) unchecked_ = true;
    require(species_ != nullptr, "option {} without a species before it", words.front());
    if (option == Option::three_planes) species_->three_planes = true;
    if (option == Option::davies) species_->activity = ActivityModel::davies;
    if (option == Option::gamma) {
      species_->activity = ActivityModel::debye_hueckel;
      species_->ion_size = number(words, 1, "-gamma");
      species_->linear = number(words, 2, "-gamma");
    } else {
      take_constant(option, words, species_->constant);
    }
  }

  /// A later line of a mineral takes the place of an earlier one.
  void take_rate(const std::vector<std::string>& words) {
    std::vector<double> parameters;
    for (std::size_t w = 1; w < words.size(); ++w) parameters.push_back(number(words, w, "rate parameters"));
    DatabaseRate rate{words.front(), rate_source_,
                      rate_source_ == "PK" ? paths_of_palandri_kharaka(parameters) : paths_of_hermanska(parameters)};
    std::erase_if(database_.rates, [&](const DatabaseRate& old) {
      return old.source == rate.source && lower(old.mineral) == lower(rate.mineral);
    });
    database_.rates.push_back(std::move(rate));
  }

  void begin_entry(const Reaction& reaction) {
    reaction_ = reaction;
    reaction_line_ = line_;
    unchecked_ = false;
  }

  /// The species or phase before is complete: what must balance does. With -no_check a reaction does not tell what the
  /// species consists of, as polysulfides "from HS-": it is left out.
  void end_entry() {
    if (species_ != nullptr && unchecked_) {
      database_.unchecked.push_back(species_->name);
      database_.species.pop_back();
    } else if ((species_ != nullptr || phase_ != nullptr) && !unchecked_) {
      try {
        check_balance(reaction_);
      } catch (const Error& e) {
        throw Error(fmt::format("the reaction of line {}: {}", reaction_line_, e.what()));
      }
    }
    species_ = nullptr;
    phase_ = nullptr;
    unchecked_ = false;
  }

  /// The species defined is the first on the right; what is left of the equation forms one mole of it.
  void begin_species(const std::string& text) {
    end_entry();
    const Reaction reaction = parse_reaction(text);
    const ReactionTerm& defined = reaction.right.front();
    DatabaseSpecies s;
    s.name = defined.species;
    s.place = place_;
    s.formula = parse_formula(s.name);
    require(std::abs(defined.coefficient - 1.0) < 1e-9, "{} must have the coefficient 1, not {}", s.name,
            defined.coefficient);
    const bool is_master =
        reaction.right.size() == 1 && reaction.left.size() == 1 && reaction.left.front().species == s.name;
    if (!is_master) {
      s.from = reaction.left;
      for (std::size_t t = 1; t < reaction.right.size(); ++t)
        s.from.push_back({reaction.right[t].species, -reaction.right[t].coefficient});
    }
    if (s.name == "H2O" || s.name == "e-" || place_ != SpeciesPlace::dissolved)
      s.activity = ActivityModel::one;
    else if (s.formula.charge == 0.0)
      s.activity = ActivityModel::uncharged;
    std::erase_if(database_.species, [&](const DatabaseSpecies& old) { return old.name == s.name; });
    note("species " + s.name);
    database_.species.push_back(std::move(s));
    species_ = &database_.species.back();
    begin_entry(reaction);
  }

  void take_phase(const std::string& text, const std::vector<std::string>& words) {
    const Option option = option_of(words.front());
    if (option != Option::none) {
      require(phase_ != nullptr, "option {} without a phase before it", words.front());
      return take_phase_option(option, words);
    }
    if (text.find('=') == std::string::npos) {
      waiting_ = words.front();
      return;
    }
    require(!waiting_.empty(), "a reaction without the name of its phase");
    end_entry();
    const Reaction reaction = parse_reaction(text);
    DatabasePhase p;
    p.name = waiting_;
    waiting_.clear();
    const ReactionTerm& solid = reaction.left.front();
    require(solid.coefficient > 0.0, "phase {}: {} mol of {} react; expected: more than 0", p.name, solid.coefficient,
            solid.species);
    p.formula = parse_formula(solid.species);
    for (const ReactionTerm& t : reaction.right) p.dissolved.push_back({t.species, t.coefficient / solid.coefficient});
    for (std::size_t t = 1; t < reaction.left.size(); ++t)
      p.dissolved.push_back({reaction.left[t].species, -reaction.left[t].coefficient / solid.coefficient});
    std::erase_if(database_.phases, [&](const DatabasePhase& old) { return old.name == p.name; });
    note("phase " + p.name);
    database_.phases.push_back(std::move(p));
    phase_ = &database_.phases.back();
    begin_entry(reaction);
  }

  void take_phase_option(Option option, const std::vector<std::string>& words) {
    if (option == Option::unchecked) unchecked_ = true;
    if (option == Option::volume) phase_->molar_volume = number(words, 1, "-Vm");
    if (option == Option::critical_t) phase_->critical_temperature = number(words, 1, "-T_c");
    if (option == Option::critical_p) phase_->critical_pressure = number(words, 1, "-P_c");
    if (option == Option::acentric) phase_->acentric = number(words, 1, "-Omega");
    take_constant(option, words, phase_->constant);
  }

  static void take_constant(Option option, const std::vector<std::string>& words, EquilibriumConstant& k) {
    if (option == Option::log_k) k.log_k_25 = number(words, 1, "log_k");
    if (option == Option::enthalpy) {
      k.enthalpy = number(words, 1, "delta_h");
      const std::string unit = words.size() > 2 ? lower(words[2]) : "kj";
      require(unit.starts_with("k") || unit.starts_with("j") || unit.starts_with("c"),
              "delta_h: unit '{}' is none of kJ, J, kcal, cal", unit);
      if (unit.find("cal") != std::string::npos) k.enthalpy *= 4.184;
      if (unit.front() != 'k') k.enthalpy *= 1e-3;
    }
    if (option == Option::analytic) {
      k.has_analytic = true;
      k.analytic = {};
      for (std::size_t i = 0; i < k.analytic.size() && i + 1 < words.size(); ++i)
        k.analytic[i] = number(words, i + 1, "analytical expression");
    }
  }

  Database database_;
  EntryLines lines_;
  Block block_ = Block::none;
  SpeciesPlace place_ = SpeciesPlace::dissolved;
  DatabaseSpecies* species_ = nullptr;
  DatabasePhase* phase_ = nullptr;
  Reaction reaction_;  // of the entry that is being read, in reaction_line_
  int line_ = 0, reaction_line_ = 0;
  bool unchecked_ = false;
  std::string file_;         // that the lines are of
  std::string waiting_;      // name of a phase whose reaction comes next
  std::string rate_source_;  // of the block of rates
};

template <class T>
const T* find(const std::vector<T>& list, std::string_view name, std::string T::*member) {
  const auto at = std::ranges::find(list, name, member);
  return at == list.end() ? nullptr : &*at;
}

template <class T>
const T& require_entry(const char* what, const std::string& name, const Database& database, const std::vector<T>& list,
                       std::string T::*member) {
  const T* found = find(list, name, member);
  std::vector<std::string> names;
  for (const T& entry : list) names.push_back(entry.*member);
  require(found != nullptr, "{} {} is not in database {}{}", what, name, database.name, or_rather(name, names));
  return *found;
}

}  // namespace

double EquilibriumConstant::log_k(double kelvin) const {
  if (!has_analytic)
    return log_k_25 - enthalpy / (phreeqc_gas_constant_kj * std::numbers::ln10) * (1.0 / kelvin - 1.0 / kelvin_25);
  const auto& a = analytic;
  return a[0] + a[1] * kelvin + a[2] / kelvin + a[3] * std::log10(kelvin) + a[4] / (kelvin * kelvin) +
         a[5] * kelvin * kelvin;
}

const MasterSpecies* Database::master(std::string_view element) const {
  return find(masters, element, &MasterSpecies::element);
}
const SorptionMaster* Database::sorption_master(std::string_view site) const {
  return find(sorption_masters, site, &SorptionMaster::site);
}
const DatabaseSpecies* Database::find_species(std::string_view wanted) const {
  return find(species, wanted, &DatabaseSpecies::name);
}
const DatabasePhase* Database::phase(std::string_view wanted) const {
  return find(phases, wanted, &DatabasePhase::name);
}

const MasterSpecies& require_element(const Database& database, const std::string& element) {
  return require_entry("element", element, database, database.masters, &MasterSpecies::element);
}
const DatabasePhase& require_phase(const Database& database, const std::string& phase) {
  return require_entry("phase", phase, database, database.phases, &DatabasePhase::name);
}

double Database::gram_formula_weight(const std::string& text) const {
  char* end = nullptr;
  const double plain = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0') return plain;
  double weight = 0.0;
  for (const auto& [element, n] : parse_formula(text).elements) {
    const MasterSpecies* m = master(element);
    require(m != nullptr && m->element_weight > 0.0, "{}: the weight of {} is not in database {}", text, element, name);
    weight += n * m->element_weight;
  }
  return weight;
}

namespace {

/// FNV-1a (Fowler, Noll & Vo).
/// @param hash  of the text before
std::uint64_t fingerprint_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325U) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

/// Lines without comments and continuations, parted at semicolons.
void read_lines(std::string_view text, DatabaseParser& parser) {
  std::istringstream in{std::string(text)};
  int number = 0;
  std::string joined;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    line = line.substr(0, line.find('#'));
    const std::size_t last = line.find_last_not_of(" \t");
    if (last != std::string::npos && line[last] == '\\') {
      joined += line.substr(0, last) + ' ';
      continue;
    }
    for (const std::string& part : split(joined + line, ';')) parser.line(part, number);
    joined.clear();
  }
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  in.peek();  // a folder opens like a file
  require(!in.fail() || in.eof(), "database {}: cannot be read: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Database parse_database(std::string_view text, const std::string& name) {
  DatabaseParser parser(name);
  read_lines(text, parser);
  Database database = parser.finish();
  database.fingerprint = fingerprint_of(text);
  return database;
}

std::string left_out(const Database& database) {
  std::vector<std::string> blocks;
  for (const std::string& block : database.ignored)
    if (std::ranges::find(blocks, block) == blocks.end()) blocks.push_back(block);
  std::string text;
  if (!blocks.empty()) text += fmt::format("blocks {}", join(blocks));
  if (!database.unchecked.empty())
    text += fmt::format("{}species {}, whose reactions are marked as unchecked (-no_check)", text.empty() ? "" : "; ",
                        join(database.unchecked));
  return text.empty() ? text : fmt::format("Ignored in database {}: {}", database.name, text);
}

Database read_database(const std::string& path, const std::vector<std::string>& additions) {
  const std::string text = text_of(path);
  DatabaseParser parser(path);
  read_lines(text, parser);
  std::uint64_t fingerprint = fingerprint_of(text);
  for (const std::string& addition : additions) {
    const std::string added = text_of(addition);
    parser.add_file(addition);
    read_lines(added, parser);
    require(parser.in_block(), "database {}: contains no keyword such as SOLUTION_SPECIES or PHASES", addition);
    fingerprint = fingerprint_of(added, fingerprint);
  }
  Database database = parser.finish();
  database.fingerprint = fingerprint;
  return database;
}

std::vector<DatabaseRate> read_rates(const std::string& path) {
  DatabaseParser parser(path);
  read_lines(text_of(path), parser);
  std::vector<DatabaseRate> rates = parser.finish_rates();
  require(!rates.empty(), "{}: contains neither RATE_PARAMETERS_PK nor RATE_PARAMETERS_HERMANSKA", path);
  return rates;
}

}  // namespace karst
