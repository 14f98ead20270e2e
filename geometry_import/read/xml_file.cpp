// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/xml_file.hpp"

#include <cctype>
#include <fstream>
#include <sstream>

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr int end_of_file = -1;

class Parser {
 public:
  Parser(std::istream& text, const std::string& path, const std::string& stop)
      : path_(path), stop_(stop), text_(*text.rdbuf()) {
    next();
  }

  XmlElement document() {
    check(!skip_text(), "there is text before the first tag");
    while (c_ == '?' || c_ == '!') {
      skip_aside();
      check(!skip_text(), "there is text before the first tag");
    }
    check(c_ != end_of_file, "it contains no tag");
    XmlElement root = element(0);
    while (!stopped_ && c_ != end_of_file) {
      check(!skip_text() && (c_ == end_of_file || c_ == '!'), "there is text after the last tag");
      if (c_ == '!') skip_aside();
    }
    return root;
  }

 private:
  void next() {
    c_ = text_.sbumpc();
    ++at_;
  }
  void check(bool ok, const char* what) const {
    require(ok, "{}: its XML is damaged: {} (byte {})", path_, what, at_ - 1);
  }
  void expect(char c, const char* what) {
    check(c_ == static_cast<unsigned char>(c), what);
    next();
  }
  bool blank() const { return c_ == ' ' || c_ == '\t' || c_ == '\r' || c_ == '\n'; }
  void skip_blanks() {
    while (blank()) next();
  }
  /// Up to behind the next `<`, or the end; true when there were letters.
  bool skip_text() {
    bool letters = false;
    for (; c_ != '<' && c_ != end_of_file; next()) letters = letters || !blank();
    if (c_ == '<') next();
    return letters;
  }
  /// Behind `<![`: letters as they stand, up to `]]>`.
  void skip_letters() {
    for (int brackets = 0; c_ != '>' || brackets < 2; next()) {
      check(c_ != end_of_file, "it ends inside CDATA");
      brackets = c_ == ']' ? brackets + 1 : 0;
    }
    next();
  }
  /// Behind `<`: a declaration `?...?>`, a comment `!--...-->` or letters `![CDATA[...]]>`.
  void skip_aside() {
    if (c_ == '!') {
      next();
      if (c_ == '[') return skip_letters();
      expect('-', "only comments may follow <!");
      expect('-', "only comments may follow <!");
      for (int dashes = 0; c_ != '>' || dashes < 2; next()) {
        check(c_ != end_of_file, "it ends inside a comment");
        dashes = c_ == '-' ? dashes + 1 : 0;
      }
    } else {
      bool mark = false;
      for (; c_ != '>' || !mark; next()) {
        check(c_ != end_of_file && c_ != '<', "its declaration is not closed");
        mark = c_ == '?';
      }
    }
    next();
  }
  std::string name() {
    std::string text;
    while (c_ != end_of_file && (std::isalnum(c_) != 0 || c_ == '_' || c_ == ':' || c_ == '-' || c_ == '.')) {
      text += static_cast<char>(c_);
      check(text.size() <= 256, "a name is longer than 256 letters");
      next();
    }
    check(!text.empty(), "a name is missing");
    return text;
  }
  std::string value() {
    const int quote = c_;
    check(quote == '"' || quote == '\'', "the value of an attribute is not in quotes");
    std::string text;
    for (next(); c_ != quote; next()) {
      check(c_ != end_of_file && c_ != '<' && text.size() < (1 << 16), "the value of an attribute is not closed");
      text += static_cast<char>(c_);
    }
    next();
    return text;
  }

  /// From behind `<` of its opening tag to behind `>` of its closing tag.
  XmlElement element(int depth) {
    check(depth < 16 && ++elements_ < 200000, "it has too many elements");
    XmlElement e;
    e.name = name();
    for (;;) {
      const bool separate = blank();
      skip_blanks();
      if (c_ == '>' || c_ == '/') break;
      check(separate, "attributes are not separated by blanks");
      const std::string key = name();
      skip_blanks();
      expect('=', "an attribute has no value");
      skip_blanks();
      check(e.attributes.emplace(key, value()).second, "an attribute is given twice");
    }
    const bool empty = c_ == '/';
    if (empty) next();
    expect('>', "a tag is not closed");
    e.start = e.end = at_ - 1;
    stopped_ = e.name == stop_ && !empty;
    if (!empty) content(e, depth);
    return e;
  }

  void content(XmlElement& e, int depth) {
    while (!stopped_) {
      e.text = skip_text() || e.text;
      check(c_ != end_of_file, "it ends before all tags are closed");
      const std::int64_t tag = at_ - 2;  // of `<`
      if (c_ == '!') {
        skip_aside();
      } else if (c_ == '/') {
        next();
        check(name() == e.name, "a closing tag has no opening tag");
        skip_blanks();
        expect('>', "a closing tag is incomplete");
        e.end = tag;
        return;
      } else {
        e.children.push_back(element(depth + 1));
      }
    }
  }

  std::string path_, stop_;
  std::streambuf& text_;
  int c_ = end_of_file;  // the letter that comes next ...
  std::int64_t at_ = 0;  // ... and how many have been taken, with that
  int elements_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::vector<const XmlElement*> XmlElement::all(const std::string& child) const {
  std::vector<const XmlElement*> found;
  for (const XmlElement& e : children)
    if (e.name == child) found.push_back(&e);
  return found;
}

const std::string& XmlElement::attribute(const std::string& key, const std::string& path) const {
  const auto found = attributes.find(key);
  require(found != attributes.end(), "{}: its element {} has no attribute {}", path, name, key);
  return found->second;
}

XmlElement read_xml(const std::string& path, const std::string& stop) {
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot be opened for reading", path);
  return Parser(file, path, stop).document();
}

XmlElement parse_xml(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  return Parser(in, path, "").document();
}

}  // namespace karst
