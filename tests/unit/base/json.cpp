// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace karst::json_test {
namespace {

using Library = nlohmann::ordered_json;

Json everything() {
  Json json{{"none", nullptr},
            {"yes", true},
            {"n", -7},
            {"large", std::int64_t{1} << 62},
            {"axes", {"x", "z"}},
            {"pairs", {{1, 2}, {3, 4}}},
            {"points", {{{"re", 0.5}}, {{"re", 1e-300}}}},
            {"empty", Json::array()},
            {"bare", Json::object()},
            {"text", "k \"µ\" \\ \n"}};
  json["numbers"] = std::vector<double>{0.1, 1.0, 1e22, -0.0, 1.0 / 3.0, std::nan(""), 5e-324};
  json["matrix"] = std::array<std::array<int, 2>, 2>{{{1, 2}, {3, 4}}};
  json["words"] = detail::TextByName{{"b", "2"}, {"a", "1"}};
  return json;
}

// The same text as the library makes of the same data, in the order in which members came.
TEST(JsonTest, WritesWhatTheLibraryWrites) {
  const Json json = everything();
  EXPECT_EQ(json.dump().substr(0, 60), R"({"none":null,"yes":true,"n":-7,"large":4611686018427387904,")");
  EXPECT_EQ(json["pairs"].dump(), "[[1,2],[3,4]]");
  for (const int indent : {-1, 2}) EXPECT_EQ(json.dump(indent), Library::parse(json.dump()).dump(indent));
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json("a\xff").dump(), "\"a\uFFFD\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(JsonTest, ReadsWhatItWrote) {
  const Json json = Json::parse(everything().dump());
  EXPECT_EQ(json.dump(2), everything().dump(2));
  EXPECT_EQ(json["large"].get<std::int64_t>(), std::int64_t{1} << 62);
  EXPECT_EQ(json["numbers"][4].get<double>(), 1.0 / 3.0);
  EXPECT_EQ(json["numbers"][6].get<double>(), 5e-324);
  EXPECT_TRUE(std::signbit(json["numbers"][3].get<double>()));
  EXPECT_EQ((json["matrix"].get<std::array<std::array<int, 2>, 2>>()[1][0]), 3);
  EXPECT_EQ(json["words"].get<detail::TextByName>().at("a"), "1");
  const std::string text = json["text"];
  EXPECT_EQ(text, "k \"µ\" \\ \n");
  EXPECT_EQ(json["text"], "k \"µ\" \\ \n");
  EXPECT_EQ(json.value("n", 3), -7);
  EXPECT_EQ(json.value("m", 3), 3);
  EXPECT_EQ(json.value("m", "none"), "none");
}

// Null in the object itself, not in its text alone: who asks is_null() before a text is made gets the same answer.
TEST(JsonTest, WhatIsNoNumberIsNull) {
  for (const double x :
       {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(Json(x).is_null());
    EXPECT_TRUE(std::isnan(number_or_nan(Json(x))));
  }
  EXPECT_EQ(number_or_nan(Json::parse(Json(0.1).dump())), 0.1);
}

TEST(JsonTest, IsBuiltStepByStep) {
  Json json;
  json["list"].push_back({{"a", 1}});
  json["list"].back().update({{"b", 2}, {"a", 3}});
  json["list"].push_back({4, 5});
  Json copy = json;  // NOLINT(performance-unnecessary-copy-initialization)
  copy["list"][1][0] = "six";
  EXPECT_EQ(json.dump(), R"({"list":[{"a":3,"b":2},[4,5]]})");
  EXPECT_EQ(copy.dump(), R"({"list":[{"a":3,"b":2},["six",5]]})");
  int n = 0;
  for (const Json& item : json["list"]) n += static_cast<int>(item.size());
  EXPECT_EQ(n, 4);
  EXPECT_EQ(json["list"][0].names(), (std::vector<std::string>{"a", "b"}));
}

TEST(JsonTest, NamesGivenTwiceAreFound) {
  const std::string text =
      R"({"a": {"x": 1, "y": {"x": 2}, "x": 3}, "b": [{"x": 1}, [{"x": 2, "x": 3}]], "x": 4, "b": 5})";
  const std::vector<std::vector<std::string>> wanted{{"a", "x"}, {"b", "", "", "x"}, {"b"}};
  EXPECT_EQ(names_given_twice(text), wanted);
  EXPECT_TRUE(names_given_twice("{\"a\": 1, ").empty());
  EXPECT_EQ(Json::parse("18446744073709551615").get<double>(), 18446744073709551615.0);
}

std::string message(const std::function<void(const Json&)>& read) {
  try {
    read(everything());
  } catch (const JsonError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(JsonTest, SaysWhatIsNotThere) {
  EXPECT_EQ(message([](const Json& j) { j.at("m"); }), "no member \"m\"");
  EXPECT_EQ(message([](const Json& j) { j.at("axes").at(2); }), "item 2 of an array of 2");
  EXPECT_EQ(message([](const Json& j) { j.at("axes").at("x"); }), "an array instead of an object");
  EXPECT_EQ(message([](const Json& j) { j.at("none").get<double>(); }), "null instead of a number");
  EXPECT_EQ(message([](const Json& j) { j.at("n").get<std::string>(); }), "a whole number instead of a text");
  EXPECT_EQ(message([](const Json& j) { j.at("axes").get<std::array<double, 3>>(); }), "an array of 2 instead of 3");
  EXPECT_THROW(Json::parse("{\"a\": "), JsonError);
  EXPECT_TRUE(Json::parse_or_null("{\"a\": ").is_null());
  EXPECT_TRUE(Json::of_file("/nowhere/summary.json").is_null());
}

// A number that the wanted type cannot hold is an error, not another number.
TEST(JsonTest, NumbersFitTheirTypes) {
  EXPECT_EQ(Json::parse("7").get<int>(), 7);
  EXPECT_EQ(Json::parse("7.0").get<int>(), 7);
  EXPECT_EQ(Json::parse("-1").get<std::int64_t>(), -1);
  EXPECT_EQ(Json::parse("4294967295").get<std::uint32_t>(), 4294967295U);
  for (const char* text : {"2147483648", "-2147483649", "1e300", "-1e300", "1.5", "18446744073709551615"})
    EXPECT_THROW((void)Json::parse(text).get<int>(), JsonError) << text;
  EXPECT_THROW((void)Json::parse("-1").get<std::size_t>(), JsonError);
  EXPECT_THROW((void)Json::parse("4294967296").get<std::uint32_t>(), JsonError);
  EXPECT_THROW((void)Json::parse("1e19").get<std::int64_t>(), JsonError);
}

// Towers of brackets would overrun the stack.
TEST(JsonTest, TowersAreRefused) {
  const auto tower = [](int n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_NO_THROW(Json::parse(tower(200)));
  EXPECT_THROW(Json::parse(tower(201)), JsonError);
  EXPECT_THROW(Json::parse(tower(1'000'000)), JsonError);
  EXPECT_TRUE(Json::parse_or_null(tower(1'000'000)).is_null());
  EXPECT_EQ(Json::parse('"' + std::string(1000, '[') + "\\\"[[\"").get<std::string>().size(), 1003U);
}

}  // namespace
}  // namespace karst::json_test
