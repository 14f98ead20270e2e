// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/deck_echo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/text.hpp"

namespace karst {

std::string toml_text(double x) {
  std::string text = fmt::format("{}", x);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // 1 -> 1.0; inf, nan and 1e+30 stay
  return text;
}

std::string toml_text(int x) { return fmt::format("{}", x); }
std::string toml_text(bool x) { return x ? "true" : "false"; }

std::string toml_text(const std::string& x) {
  std::string text = "\"";
  for (const char c : x) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

struct DeckEcho::Table {
  struct Line {
    std::string key, value, comment;
    bool live = true;
  };
  std::string name;  // solid, or solid[2] for a table of a list
  std::vector<Line> lines;
  std::vector<std::unique_ptr<Table>> tables;

  bool is_item() const { return name.ends_with(']'); }

  /// @param path    full name with positions, "" or ending in a dot
  /// @param header  the same without positions
  /// @returns true when something in it is more than a comment
  bool write(std::string& out, const std::string& path, const std::string& header, bool is_absent,
             const std::set<std::string>& absent) const {
    bool live = is_item() && !is_absent;
    std::string body;
    for (const Line& line : lines) {
      const bool line_live = line.live && !is_absent && !absent.contains(path + line.key);
      live = live || line_live;
      body += fmt::format("{:<32}{}\n", fmt::format("{}{} = {}", line_live ? "" : "# ", line.key, line.value),
                          line.comment.empty() ? "" : fmt::format("  # {}", line.comment));
    }
    if (!header.empty() && !(lines.empty() && !is_item())) {
      const std::string_view title = std::string_view(header).substr(0, header.size() - 1);
      out += fmt::format("\n{}{}{}{}\n", live ? "" : "# ", is_item() ? "[[" : "[", title, is_item() ? "]]" : "]");
    }
    out += body;
    for (const auto& t : tables) {
      const std::string inner = path + t->name;
      live = t->write(out, inner + ".", header + t->name.substr(0, t->name.find('[')) + ".",
                      is_absent || absent.contains(inner), absent) ||
             live;
    }
    return live;
  }
};

DeckEcho::DeckEcho() : root_(std::make_unique<Table>()) {}
DeckEcho::DeckEcho(DeckEcho&&) noexcept = default;
DeckEcho::~DeckEcho() = default;

DeckEcho::Table& DeckEcho::table(std::string_view path) {
  Table* at = root_.get();
  if (path.empty()) return *at;
  for (const std::string& name : split(path, '.')) {
    const auto found = std::find_if(at->tables.begin(), at->tables.end(), [&](auto& t) { return t->name == name; });
    if (found != at->tables.end()) {
      at = found->get();
    } else {
      at->tables.push_back(std::make_unique<Table>());
      at = at->tables.back().get();
      at->name = name;
    }
  }
  return *at;
}

void DeckEcho::set(std::string_view path, std::string value, std::string comment, bool live) {
  const std::size_t dot = path.rfind('.');
  Table& t = table(dot == std::string_view::npos ? "" : path.substr(0, dot));
  Table::Line line{std::string(dot == std::string_view::npos ? path : path.substr(dot + 1)), std::move(value),
                   std::move(comment), live};
  const auto found = std::find_if(t.lines.begin(), t.lines.end(), [&](auto& l) { return l.key == line.key; });
  if (found == t.lines.end()) {
    t.lines.push_back(std::move(line));
  } else {
    *found = std::move(line);
  }
}

void DeckEcho::item(std::string_view path) { table(path); }

std::string DeckEcho::text(const std::set<std::string>& absent) const {
  std::string out;
  root_->write(out, "", "", false, absent);
  return out;
}

}  // namespace karst
