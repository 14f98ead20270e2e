// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/key_words.hpp"

#include <gtest/gtest.h>

namespace karst::key_words_test {
namespace {

TEST(KeyWords, KeysAreSaidAsTheUserGaveThem) {
  const std::string text = "give `voxel = WIDTH`, or `spacing`; `karst import` takes `names = [\"pore\", \"a b\"]`.";
  EXPECT_EQ(with_keys_said(text, false),
            "give voxel = WIDTH, or spacing; `karst import` takes names = [\"pore\", \"a b\"].");
  EXPECT_EQ(with_keys_said(text, true), "give --voxel WIDTH, or --spacing; `karst import` takes --names pore,a b.");
  EXPECT_EQ(with_keys_said("`keep_axes = [true, false, false]`", true), "--keep_axes true,false,false");
  for (const char* plain : {"", "no keys", "a lone ` stays"}) EXPECT_EQ(with_keys_said(plain, true), plain);
}

}  // namespace
}  // namespace karst::key_words_test
