// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/labels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::labels_test {
namespace {

using test::error_of;
using test::has;

TEST(LabelMap, PoreIsZeroAndTheOthersFollowTheirValues) {
  const LabelMap map({{"calcite", 9}, {"pore", 3}, {"quartz", -2}});
  EXPECT_EQ(map.names(), (std::vector<std::string>{"pore", "quartz", "calcite"}));
  EXPECT_EQ(map.label(3), 0);
  EXPECT_EQ(map.label(-2), 1);
  EXPECT_EQ(map.label(9), 2);
  EXPECT_EQ(map.label(4), -1);
  EXPECT_EQ(map.text(), "quartz = -2, pore = 3, calcite = 9");
  const LabelMap two = LabelMap::of_pore(5);
  EXPECT_EQ(two.label(5), 0);
  EXPECT_EQ(two.label(-7), 1);
}

TEST(LabelMap, WrongNamesAreErrors) {
  const auto error = [](const std::vector<NamedValue>& values) { return error_of([&] { LabelMap map(values); }); };
  EXPECT_TRUE(has(error({{"quartz", 0}, {"calcite", 1}}), "none of the labels is named \"pore\""));
  EXPECT_TRUE(has(error({{"pore", 0}, {"pore", 1}}), "more than one of the labels"));
  EXPECT_TRUE(has(error({{"pore", 0}}), "1 labels given"));
  EXPECT_TRUE(has(error({{"pore", 0}, {"a", 1}, {"a", 2}}), "two values have the name \"a\""));
  EXPECT_TRUE(has(error({{"pore", 0}, {"a", 1}, {"b", 1}}), "the value 1 has two names"));
  EXPECT_TRUE(has(error({{"pore", 0}, {"a", 16777217}}), "below 2^24"));
  EXPECT_TRUE(has(error({{"pore", 0}, {"", 1}}), "has no name"));
  const std::string all = error({{"a", 1}, {"a", 2}, {"b", 2}});
  for (const char* part : {"none of the labels", "two values have the name \"a\"", "the value 2 has two names"})
    EXPECT_TRUE(has(all, part)) << part << " is not in: " << all;
  std::vector<NamedValue> many{{"pore", 0}};
  for (int n = 1; n <= 255; ++n) many.push_back({fmt::format("m{}", n), double(n)});
  EXPECT_TRUE(has(error(many), "256 labels given"));
}

TEST(LabelMap, NamesAreReadFromJson) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/a.json";
  const auto read = [&](const std::string& text) {
    test::write_raw<char>(path, {}, text);
    return read_label_names(path);
  };
  const auto values = read("{\"labels\": {\"pore\": 0, \"quartz\": 7}}");
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[1].name, "quartz");
  EXPECT_EQ(values[1].value, 7.0);
  for (const char* wrong : {"", "[1]", "{\"labels\": 3}", "{\"pore\": 0}"})
    EXPECT_TRUE(has(error_of([&] { read(wrong); }), "a.json: is not a file of labels")) << wrong;
  EXPECT_TRUE(has(error_of([&] { read("{\"labels\": {\"pore\": \"x\"}}"); }), "\"pore\" has the value \"x\""));
  EXPECT_TRUE(has(error_of([&] { read("{\"labels\": {\"pore\": 0, \"a\": 1, \"a\": 2}}"); }),
                  "two values have the name \"a\""));
  EXPECT_EQ(read("{\"colours\": {\"pore\": 1}, \"labels\": {\"pore\": 0, \"a\": 1}}").size(), 2U);
  EXPECT_TRUE(has(error_of([&] { read_label_names(path + "x"); }), "there is no file"));
}

/// Labels of f(x, y, z) in slabs. Collective.
template <class F>
Slabs<std::uint8_t> slabs_of(const Comm& comm, const Index& n, F&& f) {
  Slabs<std::uint8_t> labels(comm, n, Purpose::geometry);
  std::size_t at = 0;
  for (int z = labels.own().first; z < labels.own().last; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) labels.values()[at++] = static_cast<std::uint8_t>(f(x, y, z));
  return labels;
}

TEST(LabelsMpi, ValuesWithoutANameAreCountedAndFound) {
  const Comm comm = Comm::world();
  const Index n{5, 4, 12};
  const LabelMap map({{"pore", 0}, {"quartz", 1}});
  LabelTally mine;
  for (int z = comm.rank(); z < n[2]; z += comm.size()) {
    std::vector<float> values(20, float(z % 2));
    std::vector<std::uint8_t> labels(20), inside(20, 1);
    inside[0] = 0;
    values[0] = 50;  // not in the sample
    if (z == 7) values[13] = values[14] = 8;
    if (z == 9) values[2] = 3;
    label_values(map, {n, z, z + 1}, values, inside, labels, mine);
    EXPECT_EQ(labels[5], z % 2);
  }
  const LabelTally all = mine.over_ranks(comm);
  EXPECT_EQ(all.unknown, 3);
  EXPECT_EQ(all.largest, 8.0);
  EXPECT_EQ(all.smallest, 0.0);
  EXPECT_EQ(all.values, (std::set<float>{0, 1, 3, 8}));
  const std::string text = error_of([&] { require_known(all, map, n, "a.raw"); });
  EXPECT_TRUE(has(text, "a.raw: 3 voxels") && has(text, "at (3, 2, 7), has the value 8")) << text;
  EXPECT_TRUE(has(text, "pore = 0, quartz = 1")) << text;
}

// Pore | rim of phase 1 | phase 2 in half of the image, phase 1 alone in the other: the rim becomes what lies behind.
TEST(LabelsMpi, TheRimTakesThePhaseBehindIt) {
  const Comm comm = Comm::world();
  const Index n{12, 10, 40};
  const auto truth = [](int x, int, int z) { return x < 4 ? 0 : z < 20 ? 2 : 1; };
  auto labels = slabs_of(comm, n, [&](int x, int y, int z) { return x == 4 ? 1 : truth(x, y, z); });
  EXPECT_EQ(correct_rim(comm, labels), 20 * 10);
  auto right = slabs_of(comm, n, truth);
  EXPECT_TRUE(std::ranges::equal(labels.values(), right.values()));
}

// A voxel that touches no decided one keeps its label, and so does the outside; pore never changes.
TEST(LabelsMpi, TheRimLeavesWhatItCannotDecide) {
  const Comm comm = Comm::world();
  const Index n{9, 9, 30};
  const auto lonely = [](int x, int y, int z) { return x == 0 ? 255 : (x == 4 && y == 4 && z % 10 == 5) ? 3 : 0; };
  auto labels = slabs_of(comm, n, lonely);
  EXPECT_EQ(correct_rim(comm, labels), 0);
  auto before = slabs_of(comm, n, lonely);
  EXPECT_TRUE(std::ranges::equal(labels.values(), before.values()));
}

TEST(LabelsMpi, TheRimDoesNotDependOnTheRanks) {
  const Comm comm = Comm::world();
  const Index n{30, 28, 75};
  const RandomNumbers random(5, 0);
  const auto any = [&](int x, int y, int z) {
    const double u = random.uniform(std::uint64_t((z * n[1] + y / 2) * n[0] + x / 2));
    return u < 0.12 ? 0 : u < 0.4 ? 1 : u < 0.7 ? 2 : 4;
  };
  auto labels = slabs_of(comm, n, any);
  auto alone = slabs_of(Comm::self(), n, any);
  const std::int64_t changed = correct_rim(comm, labels);
  EXPECT_EQ(changed, correct_rim(Comm::self(), alone));
  EXPECT_GT(changed, 500);
  const auto own = static_cast<std::size_t>(labels.own().first) * 30 * 28;
  EXPECT_TRUE(std::ranges::equal(labels.values(), alone.values().subspan(own, labels.own().count())));
}

TEST(LabelsMpi, CountsAndSharesAreOfTheSample) {
  const Comm comm = Comm::world();
  const auto labels = slabs_of(comm, {4, 5, 10}, [](int x, int, int) { return x == 3 ? 255 : x == 0 ? 0 : 2; });
  const std::vector<double> counts = label_volumes(comm, labels, {});
  EXPECT_EQ(counts[0], 50);
  EXPECT_EQ(counts[2], 100);
  EXPECT_EQ(counts[255], 50);
  const std::vector<std::string> names{"pore", "a", "b"};
  const std::vector<PhaseShare> shares = phase_shares(names, counts);
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].share, 50.0 / 150);
  EXPECT_EQ(shares[1].share, 0.0);
  EXPECT_EQ(shares[2].name, "b");
}

}  // namespace
}  // namespace karst::labels_test
