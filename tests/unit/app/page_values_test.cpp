// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/page_values.hpp"

#include <gtest/gtest.h>

#include "base/file/json.hpp"
#include "support/errors.hpp"

namespace karst::page_values_test {
namespace {

/// A table of so many components with two quantities.
std::string table_of(int n) {
  std::vector<Json> all;
  for (int i = 0; i < n; ++i) all.push_back(Json{{"a", i}, {"b", 10 * i}});
  ColumnTable table("corner");
  for (int i = 0; i < n; ++i) table.add_column("c" + std::to_string(i), all[i]);
  for (const char* key : {"a", "b"})
    table.row(key, [&](const Json& c) { return std::to_string(c.at(key).get<int>()); });
  return table.html();
}

// A row for each quantity; from seven components on a row for each of them.
TEST(ColumnTable, ManyColumnsBecomeRows) {
  EXPECT_PRED2(test::has, table_of(6), "<tr><td>b</td><td class=\"n\">0</td><td class=\"n\">10</td>");
  const std::string turned = table_of(7);
  EXPECT_PRED2(test::has, turned, "<tr><th>corner</th><th class=\"n\">a</th><th class=\"n\">b</th></tr>");
  EXPECT_PRED2(test::has, turned, "<tr><td>c6</td><td class=\"n\">6</td><td class=\"n\">60</td></tr>");
}

}  // namespace
}  // namespace karst::page_values_test
