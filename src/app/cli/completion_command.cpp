// SPDX-License-Identifier: BSD-3-Clause
// `karst completion`: what commands, options and keys there are as functions of the shell, which are the same for bash
// and zsh, and a few lines for each that ask them.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

/// Candidates for a word, one per line; "@file" stands for names of files, "@value" for what nobody can name. Keys are
/// named once the deck is.
constexpr const char* candidates = R"(
# command, number of words behind it that are no options, word before, word
_karst_candidates() {
  if [[ -z $1 ]]; then
    printf '%s\n' $(_karst_commands) $(_karst_options '')
    return
  fi
  local choices choice
  choices=$(_karst_words "$3")
  if [[ $3 == -* && -n $choices ]]; then
    [[ $choices == @value ]] || printf '%s\n' $choices
  elif [[ $4 == -* ]]; then
    printf '%s\n' $(_karst_options "$1")
  elif [[ $4 == *=* ]]; then
    for choice in $(_karst_words "${4%%=*}"); do printf '%s=%s\n' "${4%%=*}" "$choice"; done
  elif [[ $1 == help ]]; then
    _karst_keys | sed 's/\[0\]//g'
  elif [[ $1 == completion ]]; then
    printf '%s\n' bash zsh
  elif (($2 > 0)) && _karst_takes_keys "$1"; then
    _karst_keys | sed 's/$/=/'
  else
    printf '@file\n'
  fi
}
)";

// bash parts words at =, which zsh does not.
constexpr const char* for_bash = R"(
_karst() {
  local line=${COMP_LINE:0:COMP_POINT} words command='' prev='' cur n=0 word all
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  cur=${words[-1]}
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ -z $command ]]; then
      [[ $word == -* ]] || command=$word
    elif [[ $word != -* && ! ($prev == -* && -n $(_karst_words "$prev")) ]]; then
      n=$((n + 1))
    fi
    prev=$word
  done
  all=$(_karst_candidates "$command" "$n" "$prev" "$cur")
  compopt +o nospace 2>/dev/null
  if [[ $all == *@file* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "${cur#*=}")
    compopt -o filenames 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -W "$all" -- "$cur")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${cur%%=*}="}")
  fi
  return 0
}
complete -F _karst karst
)";

constexpr const char* for_zsh = R"(
_karst() {
  local command='' prev='' n=0 i word all
  for ((i = 2; i < CURRENT; ++i)); do
    word=$words[i]
    if [[ -z $command ]]; then
      [[ $word == -* ]] || command=$word
    elif [[ $word != -* && ! ( $prev == -* && -n $(_karst_words "$prev") ) ]]; then
      n=$((n + 1))
    fi
    prev=$word
  done
  all=$(setopt shwordsplit; _karst_candidates "$command" "$n" "$prev" "$words[CURRENT]")
  if [[ $all == *@file* ]]; then
    [[ $words[CURRENT] == *=* ]] && compset -P '*='
    _files
  else
    local -a whole open
    for word in ${=all}; do
      if [[ $word == *= ]]; then open+=("$word"); else whole+=("$word"); fi
    done
    compadd -a whole
    compadd -S '' -a open
  fi
}
if [[ $funcstack[1] == _karst ]]; then _karst "$@"; else compdef _karst karst; fi
)";

/// geometry.solid[].shape as it stands on the command line.
std::string on_command_line(std::string key) {
  for (std::size_t at; (at = key.find("[]")) != std::string::npos;) key.replace(at, 2, "[0]");
  return key;
}

/// The words that a value may be: those of a choice without what they mean, true and false, "@file"; empty: any.
std::string words_of(const KeyInfo& key) {
  if (key.type == "true/false") return "true false";
  if (key.type == "file name") return "@file";
  if (key.type != "word") return {};
  std::string words;
  std::string_view rest = key.allowed;
  while (!rest.empty()) {
    const std::size_t end = rest.find(" | ");
    const std::string_view choice = rest.substr(0, end);
    words += fmt::format("{}{}", words.empty() ? "" : " ", choice.substr(0, choice.find(' ')));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 3);
  }
  return words;
}

/// What an option takes: as those of a key, "@value" for all else; empty: nothing.
std::string words_of(const OptionInfo& option, const std::vector<KeyInfo>& imports) {
  if (option.value == "FILE" || option.value == "DIR" || option.value == "IMAGE") return "@file";
  for (const KeyInfo& key : imports)
    if (option.names.back() == "--" + key.key.substr(key.key.rfind('.') + 1) && !words_of(key).empty())
      return words_of(key);
  return option.value.empty() ? "" : "@value";
}

/// A function of the shell that prints a text for each first argument.
std::string function(const std::string& name, const std::vector<std::pair<std::string, std::string>>& cases) {
  std::string text = fmt::format("{}() {{\n  case $1 in\n", name);
  for (const auto& [pattern, words] : cases) text += fmt::format("    {}) echo '{}' ;;\n", pattern, words);
  return text + "  esac\n}\n";
}

std::string quoted(const std::string& text) { return fmt::format("'{}'", text); }

}  // namespace

std::string completion_command(const CommandLine& line) {
  const std::vector<KeyInfo> keys = deck_keys(), imports = import_keys();
  std::vector<std::string> names, with_keys;
  std::vector<std::pair<std::string, std::string>> options, words;
  for (const CommandInfo& command : command_infos()) {
    std::vector<std::string> all;
    for (const OptionInfo& option : command.options) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      const std::string allowed = words_of(option, imports);
      const std::string pattern = join(option.names, "|");
      const bool known = std::ranges::any_of(words, [&](const auto& w) { return w.first == pattern; });
      if (!allowed.empty() && !known) words.emplace_back(pattern, allowed);
    }
    options.emplace_back(quoted(command.name), join(all, " "));
    if (!command.name.empty()) names.push_back(command.name);
    if (command.takes_keys) with_keys.push_back(command.name);
  }
  std::string key_names;
  for (const KeyInfo& key : keys) {
    if (key.type == "list of tables") continue;
    const std::string name = quoted(on_command_line(key.key));
    key_names += " " + name;
    if (!words_of(key).empty()) words.emplace_back(name, words_of(key));
  }
  const bool zsh = line.shell == "zsh";
  return fmt::format("{}# Made by `karst completion {}`.\n", zsh ? "#compdef karst\n" : "", line.shell) +
         fmt::format("_karst_commands() {{ echo '{}'; }}\n", join(names, " ")) +
         fmt::format("_karst_takes_keys() {{ [[ ' {} ' == *\" $1 \"* ]]; }}\n", join(with_keys, " ")) +
         fmt::format("_karst_keys() {{ printf '%s\\n'{}; }}\n", key_names) + function("_karst_options", options) +
         function("_karst_words", words) + candidates + (zsh ? for_zsh : for_bash);
}

}  // namespace karst
