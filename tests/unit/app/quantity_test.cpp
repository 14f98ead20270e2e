// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/quantity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace karst::quantity_test {
namespace {

struct Sample {
  double time = 0.1;  // no finite number of binary digits: comes back to the last bit or not
  Vec3 force{1.0, -2.0, 3.0};
  int steps = 7;
  double drag = std::numeric_limits<double>::quiet_NaN();
  double twice() const { return 2.0 * time; }
};

void each_quantity(Of<Sample> auto& s, auto&& f) {
  using namespace shown;
  f(Quantity{"time", "s", csv | json | history | record | text, "{:.3g}", "time [s]"}, s.time);
  f(Quantity{"force", "N", csv | record | text, "{:.10g}", "force [N]"}, s.force);
  f(Quantity{"steps", "", csv | record}, s.steps);
  f(Quantity{"drag", "", csv | json | record | text, "{:.10g}", "drag"}, s.drag);
  f(Quantity{"twice", "s", json}, s.twice());
}

struct Series {
  Sample first;
  std::vector<Sample> all;
  std::optional<Sample> last{};
};

void each_quantity(Of<Series> auto& s, auto&& f) {
  f(Quantity{"first", "", shown::json | shown::record}, s.first);
  f(Quantity{"all"}, s.all);
  f(Quantity{"last"}, s.last);
}

TEST(Quantity, ACsvHasThreeColumnsOfAVectorAndNothingForWhatIsNoNumber) {
  const Sample s;
  std::string head, line;
  each_quantity(s, CsvHead{head});
  each_quantity(s, CsvLine{line});
  EXPECT_EQ(head, "time_s,force_x_N,force_y_N,force_z_N,steps,drag");
  EXPECT_EQ(line, "0.1,1,-2,3,7,");
}

TEST(Quantity, NamesOfAPartStandBeforeThose) {
  const Sample s;
  std::string head = "axis";
  each_quantity(s, CsvHead{head, "dye_"});
  EXPECT_EQ(head, "axis,dye_time_s,dye_force_x_N,dye_force_y_N,dye_force_z_N,dye_steps,dye_drag");
}

TEST(Quantity, ARecordComesBackToTheLastBit) {
  Sample s;
  s.time = 1.0 / 3.0;
  s.steps = -4;
  Json kept;
  each_quantity(s, ToJson{kept, shown::record});
  EXPECT_FALSE(kept.contains("twice_s"));
  Sample back;
  back.drag = 5.0;
  each_quantity(back, FromRecord{Json::parse(kept.dump())});
  EXPECT_EQ(back.time, s.time);
  EXPECT_EQ(back.force, s.force);
  EXPECT_EQ(back.steps, -4);
  EXPECT_TRUE(std::isnan(back.drag));
}

TEST(Quantity, ResultsWithinAResultAreObjects) {
  const Series series{{.steps = 1}, {{.steps = 2}, {.time = 1.0 / 3.0}}};
  EXPECT_EQ(json_of(series, shown::json).dump(), R"({"first":{"time_s":0.1,"drag":null,"twice_s":0.2}})");
  const Json kept = json_of(series, shown::record);
  EXPECT_TRUE(kept.at("all").is_array());
  Series back{{}, {{}, {}, {}}};
  take_value(Json::parse(kept.dump()), back);
  EXPECT_EQ(back.first.steps, 1);
  ASSERT_EQ(back.all.size(), 2U);
  EXPECT_EQ(back.all[0].steps, 2);
  EXPECT_EQ(back.all[1].time, 1.0 / 3.0);
  EXPECT_TRUE(json_of(std::vector<Sample>(), shown::record).is_array());
}

TEST(Quantity, AnOptionalResultIsNullOrAnObject) {
  Series series{{}, {}, Sample{.steps = 3}}, back;
  take_value(json_of(series, shown::record), back);
  ASSERT_TRUE(back.last);
  EXPECT_EQ(back.last->steps, 3);
  series.last.reset();
  EXPECT_TRUE(json_of(series, shown::record).at("last").is_null());
  take_value(json_of(series, shown::record), back);
  EXPECT_FALSE(back.last);
}

TEST(Quantity, ColumnsOfSeveralTablesHaveOneHeadAndOneLine) {
  const Sample sample;
  const auto each = [&](auto&& reader) {
    for (const char* name : {"a_", "b_"}) each_quantity(sample, reader(name));
  };
  EXPECT_TRUE(csv_head_of(each).starts_with("a_time_s,a_force_x_N"));
  EXPECT_EQ(csv_line_of(each), "0.1,1,-2,3,7,,0.1,1,-2,3,7,\n");
}

TEST(Quantity, HistoriesOfPartsAreListsOfEach) {
  const std::vector<Series> lines{{{}, {{.time = 1.0}, {.time = 2.0}}}, {{}, {{.time = 3.0}, {.time = 4.0}}}};
  Json history;
  add_histories(lines, 2, history, [](const Series& l, std::size_t i, OverTime f) { each_quantity(l.all[i], f); });
  EXPECT_EQ(history.dump(), R"({"time_s":[[1.0,3.0],[2.0,4.0]]})");
}

TEST(Quantity, WhatARecordLacksIsAnError) {
  const Json kept{{"time_s", 1.0}};
  Sample s;
  EXPECT_THROW(each_quantity(s, FromRecord{kept}), JsonError);
}

TEST(Quantity, JsonHasNullForWhatIsNoNumber) {
  const Sample s;
  Json json;
  each_quantity(s, ToJson{json, shown::json});
  EXPECT_EQ(json.dump(), R"({"time_s":0.1,"drag":null,"twice_s":0.2})");
}

TEST(Quantity, ListsOverTheTimeGrow) {
  Json lists;
  for (const double t : {1.0, 2.0, 4.0}) {
    const Sample s{.time = t};
    each_quantity(s, OverTime{lists});
  }
  EXPECT_EQ(lists.dump(), R"({"time_s":[1.0,2.0,4.0]})");
}

TEST(Quantity, RowsOfTextHaveAColumnForEachAndADashWhereOneHasNone) {
  const Sample a, b{.time = 12345.0, .drag = 0.25};
  TextRows rows("sample");
  each_quantity(a, rows.column("a", 2));
  rows.column();
  each_quantity(b, rows.column("b"));
  EXPECT_EQ(rows.text(10, 11),
            "  sample              a          -          b\n"
            "  time [s]          0.1          -  1.234e+04\n"
            "  force [N]           3          -          1\n"
            "  drag                -          -       0.25\n");
}

}  // namespace
}  // namespace karst::quantity_test
