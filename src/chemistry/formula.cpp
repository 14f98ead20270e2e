// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/formula.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/core/error.hpp"

namespace karst {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// A number at the front of the text, taken off it; 1 where there is none.
double take_number(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && (is_digit(text[n]) || text[n] == '.')) ++n;
  double value = 1.0;
  if (n > 0) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + n, value);
    require(problem == std::errc() && end == text.data() + n, "'{}' is not a number", text.substr(0, n));
  }
  text.remove_prefix(n);
  return value;
}

/// "Ca", "[13C]", "Hfo_w" taken off the text.
std::string take_element(std::string_view& text) {
  std::size_t n = 1;
  if (text.front() == '[') {
    n = text.find(']');
    require(n != std::string_view::npos, "a bracket [ without its ]");
    ++n;
  }
  while (n < text.size() && (is_lower(text[n]) || text[n] == '_')) ++n;
  std::string name(text.substr(0, n));
  text.remove_prefix(n);
  return name;
}

using Elements = std::map<std::string, double>;

void add(Elements& sum, const Elements& part, double times) {
  for (const auto& [element, n] : part) sum[element] += times * n;
}

/// Groups up to the end or a closing parenthesis.
/// @param depth  of groups around them
Elements take_groups(std::string_view& text, int depth = 0) {
  constexpr int deepest = 100;
  require(depth < deepest, "more than {} nested groups", deepest);
  Elements sum;
  while (!text.empty() && text.front() != ')') {
    if (text.front() == ':') {  // hydrates: CaSO4:2H2O
      text.remove_prefix(1);
      const double times = take_number(text);
      add(sum, take_groups(text, depth + 1), times);
    } else if (text.front() == '(') {
      text.remove_prefix(1);
      const Elements group = take_groups(text, depth + 1);
      require(!text.empty(), "a parenthesis ( without its )");
      text.remove_prefix(1);
      add(sum, group, take_number(text));
    } else {
      require(is_upper(text.front()) || text.front() == '[', "an element begins with a capital letter, not with '{}'",
              text.front());
      const std::string element = take_element(text);
      sum[element] += take_number(text);
    }
  }
  return sum;
}

/// Begin of the charge: a sign after which only signs and a number follow.
std::size_t charge_begin(std::string_view text) {
  std::size_t at = text.find_last_not_of("0123456789.");
  if (at == std::string_view::npos || (text[at] != '+' && text[at] != '-')) return text.size();
  while (at > 0 && text[at - 1] == text[at]) --at;
  return at;
}

double parse_charge(std::string_view text) {
  if (text.empty()) return 0.0;
  const double sign = text.front() == '+' ? 1.0 : -1.0;
  const std::size_t signs = text.find_first_not_of("+-");
  if (signs == std::string_view::npos) return sign * static_cast<double>(text.size());
  text.remove_prefix(signs);
  return sign * take_number(text);
}

/// Terms of one side of a reaction.
std::vector<ReactionTerm> parse_side(std::string_view text) {
  std::vector<ReactionTerm> terms;
  std::istringstream words{std::string(text)};
  double coefficient = 1.0, sign = 1.0;
  for (std::string word; words >> word;) {
    if (word == "+" || word == "-") {
      sign = word == "+" ? 1.0 : -1.0;
      continue;
    }
    std::string_view rest = word;
    if (word.size() > 1 && (word[0] == '+' || word[0] == '-') && (is_digit(word[1]) || word[1] == '.')) {  // "+0.25 O2"
      sign = word[0] == '+' ? 1.0 : -1.0;
      rest.remove_prefix(1);
    }
    if (is_digit(rest.front()) || rest.front() == '.') coefficient = take_number(rest);
    if (rest.empty()) continue;  // a coefficient alone
    terms.push_back({species_name(rest), sign * coefficient});
    coefficient = sign = 1.0;
  }
  return terms;
}

}  // namespace

std::string element_name(std::string_view valence) { return std::string(valence.substr(0, valence.find('('))); }

std::string species_name(std::string_view text) {
  const std::size_t end = charge_begin(text);
  const double charge = parse_charge(text.substr(end));
  std::string name(text.substr(0, end));
  if (charge == 0.0 || name == "e") return std::string(text);
  name += charge > 0.0 ? '+' : '-';
  return std::abs(charge) == 1.0 ? name : fmt::format("{}{}", name, std::abs(charge));
}

ChemicalFormula parse_formula(std::string_view text) {
  require(!text.empty(), "an empty formula");
  if (text == "e-") return {{}, -1.0};
  const std::size_t end = charge_begin(text);
  require(end > 0, "'{}' is a charge without a formula", text);
  ChemicalFormula formula;
  formula.charge = parse_charge(text.substr(end));
  std::string_view groups = text.substr(0, end);
  try {
    formula.elements = take_groups(groups);
    require(groups.empty(), "a parenthesis ) without its (");
  } catch (const Error& e) {
    throw Error(fmt::format("formula {}: {}", text, e.what()));
  }
  return formula;
}

Reaction parse_reaction(std::string_view text) {
  const std::size_t equals = text.find('=');
  require(equals != std::string_view::npos, "reaction '{}': there is no =", text);
  Reaction reaction{parse_side(text.substr(0, equals)), parse_side(text.substr(equals + 1))};
  require(!reaction.left.empty() && !reaction.right.empty(), "reaction '{}': a side is empty", text);
  return reaction;
}

void check_balance(const Reaction& reaction) {
  Elements sum;
  double charge = 0.0;
  for (const double side : {-1.0, 1.0})
    for (const ReactionTerm& term : side < 0.0 ? reaction.left : reaction.right) {
      const ChemicalFormula f = parse_formula(term.species);
      add(sum, f.elements, side * term.coefficient);
      charge += side * term.coefficient * f.charge;
    }
  for (const auto& [element, n] : sum)
    require(std::abs(n) < 1e-3, "{} does not balance: {:+.4g} on the right", element, n);
  require(std::abs(charge) < 1e-3, "the charge does not balance: {:+.4g} on the right", charge);
}

}  // namespace karst
