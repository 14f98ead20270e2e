// SPDX-License-Identifier: BSD-3-Clause
#include "tests/damage/damage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <string_view>

namespace karst::test {
namespace {

constexpr std::array<std::string_view, 58> meaningful{
    "0",      "-1",           "1",         "2",       "3",          "4",          "7",          "8",
    "16",     "348",          "540",       "65536",   "2147483647", "2147483648", "4294967295", "9223372036854775807",
    "1e308",  "1e-300",       "nan",       "inf",     "-0",         "7.0",        "0x7",        "True",
    "False",  "true",         "raw",       "gzip",    "ascii",      "hex",        "bzip2",      "little",
    "big",    "LittleEndian", "BigEndian", "LOCAL",   "LIST",       "%d",         "%s%s%s",     "uint8",
    "uint16", "int16",        "float",     "double",  "MET_UCHAR",  "MET_USHORT", "MET_SHORT",  "MET_FLOAT",
    "UInt8",  "UInt16",       "Int16",     "Float32", "UInt32",     "UInt64",     "appended",   "binary",
    "base64", "(1,0,0)"};

class Breaker {
 public:
  Breaker(const Sample& sample, std::uint64_t seed) : sample_(sample), random_(seed), out_{sample.bytes} {}

  Damaged run() {
    const std::size_t times = 1 + below(3) / 2 + below(3) / 2;
    std::size_t held = 0;
    for (const auto& [first, last] : sample_.where) held += last - first;
    if (held > 0 && below(4) == 0) {
      out_.voxels = true;
      for (std::size_t n = 0; n < times; ++n) in_voxels(held);
    } else {
      for (std::size_t n = 0; n < times && !out_.bytes.empty(); ++n) anywhere();
    }
    return std::move(out_);
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  char any() { return static_cast<char>(random_()); }

  void in_voxels(std::size_t held) {
    std::size_t n = below(held);
    for (const auto& [first, last] : sample_.where) {
      if (n >= last - first) {
        n -= last - first;
        continue;
      }
      const std::size_t length = std::min<std::size_t>(1 + below(3) * below(4), last - first - n);
      for (std::size_t b = 0; b < length; ++b)
        out_.bytes[first + n + b] = below(2) ? any() : static_cast<char>(out_.bytes[first + n + b] ^ 1 << below(8));
      out_.changed += length;
      return;
    }
  }

  /// Place of a change: mostly where the voxels are not.
  std::size_t place() {
    const std::string& b = out_.bytes;
    const std::size_t front =
        sample_.where.empty() ? b.size() : std::clamp<std::size_t>(sample_.where[0].first, 1, b.size());
    const std::size_t choice = below(8);
    if (choice < 6) return below(std::min(front, b.size()));
    if (choice == 6 && !sample_.where.empty()) {
      const std::size_t behind = std::min(sample_.where.back().second, b.size() - 1);
      return behind + below(b.size() - behind);
    }
    return below(b.size());
  }

  void anywhere() {
    const bool header_is_text =
        out_.bytes.size() > 16 && std::all_of(out_.bytes.begin(), out_.bytes.begin() + 4,
                                              [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
    const std::size_t kind = below(header_is_text ? 16 : 11);
    kind < 11 ? bytes(kind) : words(kind);
  }

  void bytes(std::size_t kind) {
    std::string& b = out_.bytes;
    const std::size_t at = place(), length = std::min<std::size_t>(1 + below(16), b.size() - at);
    constexpr std::array<const char*, 4> numbers{"\xff\xff\xff\xff", "\0\0\0\0", "\xff\xff\xff\x7f", "\0\0\0\x80"};
    switch (kind) {
      case 0:
      case 1:
        b[at] = static_cast<char>(b[at] ^ 1 << below(8));
        return;
      case 2:
        b[at] = any();
        return;
      case 3:
        b.erase(at, length);
        return;
      case 4:
        b.insert(at, b.substr(at, length));
        return;
      case 5:
        for (std::size_t n = 0; n < length; ++n) b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), any());
        return;
      case 6:
        b.resize(below(3) ? at : below(b.size()));
        return;
      case 7:
        std::swap(b[at], b[place()]);
        return;
      case 8:
        std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(at), length, below(2) ? '\0' : any());
        return;
      case 9:
        for (std::size_t n = 0; n < length; ++n) b += any();
        return;
      default:
        const std::string number(numbers[below(4)], 4);
        b.replace(at, std::min<std::size_t>(b.size() - at, 1 + below(4)), number, 0, 1 + below(4));
    }
  }

  /// Bounds of the line or of the word around a place.
  std::pair<std::size_t, std::size_t> around(std::size_t at, std::string_view ends) const {
    const std::string& b = out_.bytes;
    const std::size_t before = at == 0 ? std::string::npos : b.find_last_of(ends, at - 1),
                      behind = b.find_first_of(ends, at);
    return {before == std::string::npos ? 0 : before + 1, behind == std::string::npos ? b.size() : behind};
  }

  void words(std::size_t kind) {
    std::string& b = out_.bytes;
    const std::size_t at = place();
    const auto [first, last] = around(at, kind < 14 ? "\n" : " \n\"=<>(),:");
    const std::string piece = b.substr(first, last - first);
    if (kind == 11) {
      b.erase(first, std::min(last + 1, b.size()) - first);
    } else if (kind == 12) {
      b.insert(first, piece + "\n");
    } else if (kind == 14) {
      b.replace(first, last - first, meaningful[below(meaningful.size())]);
    } else {  // exchanged with another line or word
      const auto [from, to] = around(place(), kind < 14 ? "\n" : " \n\"=<>(),:");
      const std::string other = b.substr(from, to - from);
      if (from >= last || to <= first) {
        b.replace(std::max(first, from), first > from ? piece.size() : other.size(), first > from ? other : piece);
        b.replace(std::min(first, from), first > from ? other.size() : piece.size(), first > from ? piece : other);
      } else {
        b.replace(first, piece.size(), std::string(below(40), piece.empty() ? ' ' : piece[0]));
      }
    }
  }

  const Sample& sample_;
  std::mt19937_64 random_;
  Damaged out_;
};

}  // namespace

Damaged damage(const Sample& sample, std::uint64_t seed) {
  return Breaker(sample, seed * 0x9e3779b97f4a7c15u + 1).run();
}

}  // namespace karst::test
