// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/version.hpp"
#include "support/errors.hpp"

namespace karst::text_test {
namespace {

TEST(Text, EditDistanceCountsLetters) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // Levenshtein's classical example
  EXPECT_EQ(edit_distance("titel", "title"), 1);     // a swap
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
}

TEST(Text, NearestIsASlipOrNothing) {
  const std::vector<std::string> keys{"box", "cells", "size", "periodic"};
  EXPECT_EQ(nearest("bos", keys), "box");
  EXPECT_EQ(nearest("cell", keys), "cells");
  EXPECT_EQ(nearest("peroidic", keys), "periodic");
  EXPECT_EQ(nearest("viscosity", keys), "");
  EXPECT_EQ(nearest("foo", keys), "");
  EXPECT_EQ(nearest("x", keys), "");
  EXPECT_EQ(nearest("box", {}), "");
  EXPECT_EQ(did_you_mean("bos", keys), " (did you mean \"box\"?)");
  EXPECT_EQ(or_rather("bos", keys), "; did you mean box?");
  EXPECT_EQ(did_you_mean("foo", keys) + or_rather("foo", keys), "");
}

TEST(Text, SplitsAndJoins) {
  EXPECT_EQ(split("a.b..c", '.'), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", '.'), (std::vector<std::string>{""}));
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, "; "), "a; b");
  EXPECT_EQ(join({}), "");
}

TEST(Format, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1073741824.0), "1.50 GiB");
  EXPECT_EQ(format_bytes(1048575), "1.00 MiB");  // not 1024 KiB
  EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
}

TEST(Format, Seconds) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(35e-9), "35.0 ns");
  EXPECT_EQ(format_seconds(1.25e-3), "1.25 ms");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(59.999), "60.0 s");
  EXPECT_EQ(format_seconds(245), "4 min 05 s");
  EXPECT_EQ(format_seconds(3599.9), "1 h 00 min");
  EXPECT_EQ(format_seconds(10925), "3 h 02 min");
  EXPECT_EQ(format_seconds(86400 * 2 + 3600 * 5), "2 d 05 h");
  EXPECT_EQ(format_seconds(-2), "-2.00 s");
  EXPECT_EQ(format_seconds(HUGE_VAL), "inf s");
}

TEST(Format, SiPrefixes) {
  EXPECT_EQ(format_si(5.3e-6, "m"), "5.30 µm");
  EXPECT_EQ(format_si(999.6, "Pa"), "1.00 kPa");
  EXPECT_EQ(format_si(-1e-3, "m"), "-1.00 mm");
  EXPECT_EQ(format_si(1.0, "m"), "1.00 m");
  EXPECT_EQ(format_si(0, "m"), "0 m");
  EXPECT_EQ(format_si(1e-30, "m"), "1.00e-30 m");
}

TEST(Version, NamesProjectAndCommit) {
  EXPECT_EQ(version().substr(0, 2), "0.");
  EXPECT_FALSE(git_id().empty());
  EXPECT_EQ(version_and_git_id(), std::string(version()) + " (" + std::string(git_id()) + ")");
}

TEST(Messages, MistakesAreThrownTogether) {
  Messages m;
  m.finish();
  m.need(true, "{} is right", 1);
  m.need(false, "{} is wrong", 2);
  m.attempt([] { throw Error("not there"); }, "file: ");
  m.add({"a", "b"});
  EXPECT_EQ(test::error_of([&] { m.finish(); }), "2 is wrong\nfile: not there\na\nb");
}

}  // namespace
}  // namespace karst::text_test
