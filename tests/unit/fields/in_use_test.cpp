// SPDX-License-Identifier: BSD-3-Clause
#include "fields/in_use.hpp"

#include <gtest/gtest.h>

namespace karst::in_use_test {
namespace {

struct One {
  int number;
};
struct Other {
  int number;
};

TEST(InUse, AValueIsMadeOnceAndGoesWithItsLastUser) {
  InUse values;
  int n_made = 0;
  const auto make = [&] { return std::make_shared<One>(One{++n_made}); };
  EXPECT_EQ(values.find<One>(), nullptr);
  std::shared_ptr<One> first = values.get<One>(make), second = values.get<One>(make);
  EXPECT_EQ(first, second);
  EXPECT_EQ(values.find<One>(), first);
  EXPECT_EQ(first.use_count(), 2);
  first.reset();
  EXPECT_EQ(values.find<One>(), second);
  second.reset();
  EXPECT_EQ(values.find<One>(), nullptr);
  EXPECT_EQ(values.get<One>(make)->number, 2);
}

TEST(InUse, HasOneOfEachType) {
  InUse values;
  const auto one = values.get<One>([] { return std::make_shared<One>(One{1}); });
  EXPECT_EQ(values.find<Other>(), nullptr);
  const auto other = values.get<Other>([] { return std::make_shared<Other>(Other{2}); });
  EXPECT_EQ(values.find<One>()->number, 1);
  EXPECT_EQ(values.find<Other>()->number, 2);
}

}  // namespace
}  // namespace karst::in_use_test
