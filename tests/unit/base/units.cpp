// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/units.hpp"

#include <gtest/gtest.h>

namespace karst::units_test {
namespace {

TEST(Units, LengthsAreTheSameNumbersAsInMetres) {
  EXPECT_EQ(measured("5.3 um", "m").value, 5.3e-6);  // not 5.3 * 1e-6, which is 5.2999999999999994e-06
  EXPECT_EQ(measured("5.3um", "m").value, 5.3e-6);
  EXPECT_EQ(measured("5.3 \u00b5m", "m").value, 5.3e-6);  // micro sign
  EXPECT_EQ(measured("5.3 \u03bcm", "m").value, 5.3e-6);  // Greek letter
  EXPECT_EQ(measured("700 nm", "m").value, 700e-9);
  EXPECT_EQ(measured(" +0.25e1 mm ", "m").value, 2.5e-3);
  EXPECT_EQ(measured("-3E+2 cm", "m").value, -3.0);
  EXPECT_EQ(measured("2 km", "m").value, 2000.0);
  EXPECT_EQ(measured("1e-3 m", "m").value, 1e-3);
}

TEST(Units, OtherQuantities) {
  EXPECT_EQ(measured("10 kPa", "Pa").value, 1e4);
  EXPECT_EQ(measured("1.2 bar", "Pa").value, 1.2e5);
  EXPECT_EQ(measured("1 mbar", "Pa").value, 100.0);
  EXPECT_EQ(measured("1 atm", "Pa").value, 101325.0);
  EXPECT_DOUBLE_EQ(measured("14.503773773020923 psi", "Pa").value, 1e5);  // 1 bar
  EXPECT_EQ(measured("1 mPa s", "Pa s").value, 1e-3);
  EXPECT_EQ(measured("1 mPa*s", "Pa s").value, 1e-3);
  EXPECT_EQ(measured("1 cP", "Pa s").value, 1e-3);
  EXPECT_EQ(measured("1.05 g/cm3", "kg/m3").value, 1050.0);
  EXPECT_EQ(measured("1.05 g cm^-3", "kg/m3").value, 1050.0);
  EXPECT_EQ(measured("1 g/cm\u00b3", "kg/m3").value, 1000.0);
  EXPECT_DOUBLE_EQ(measured("1 m/d", "m/s").value, 1.0 / 86400);
  EXPECT_DOUBLE_EQ(measured("6 ml/min", "m3/s").value, 1e-7);
  EXPECT_EQ(measured("1 bar/cm", "Pa/m").value, 1e7);
  EXPECT_EQ(measured("1000 um2/s", "m2/s").value, 1e-9);
  EXPECT_EQ(measured("1.5 h", "s").value, 5400.0);
}

TEST(Units, TemperaturesBeginAtOtherValues) {
  for (const char* text : {"60 C", "60C", "60 \u00b0C", "60 degC", "333.15 K"})
    EXPECT_EQ(measured(text, "\u00b0C").value, 60.0) << text;
  EXPECT_NEAR(measured("333 K", "\u00b0C").value, 59.85, 1e-12);
  EXPECT_EQ(measured("60 F", "\u00b0C").problem,
            "has an unknown unit, \"F\"; write a number, in \u00b0C, or a number with its unit: \u00b0C, C, K");
  EXPECT_NE(measured("60 K", "m").problem, "");
}

TEST(Units, WhatIsNoSuchNumberIsRefused) {
  const auto problem = [](const char* text, const char* unit) { return measured(text, unit).problem; };
  EXPECT_EQ(problem("5.3 furlong", "m"),
            "has an unknown unit, \"furlong\"; write a number, in m, or a number with its unit: m, cm, mm, um "
            "(or µm), nm");
  for (const char* text : {"", "um", "um 5", "five um", "inf m", "nan m", "1e999 m", "--5 m"})
    EXPECT_EQ(problem(text, "m").find("does not begin with a number"), 0U) << text;
  for (const char* text : {"5.3", "5.3 ", "1e-6"}) EXPECT_EQ(problem(text, "m").find("has no unit"), 0U) << text;
  for (const char* text : {"1 s", "1 m2", "1 m/s", "1 Pa", "1 1"})
    EXPECT_EQ(problem(text, "m").find("has a unit of another quantity"), 0U) << text;
  for (const char* text : {"1 UM", "1 mmm", "1 nmin", "1 m/", "1 /m", "1 m//s", "1 5 m", "1,5 mm", "1 m0", "0x1p m"})
    EXPECT_EQ(problem(text, "m").find("has an unknown unit"), 0U) << text;
  EXPECT_EQ(problem("1 kg", "Pa s").find("has a unit of another quantity"), 0U);
}

TEST(Units, PhysicalOnesAreKnown) {
  for (const std::string_view unit : units_with_others()) {
    EXPECT_TRUE(is_physical(unit)) << unit;
    EXPECT_EQ(measured("2 " + std::string(unit), unit).value, 2.0) << unit;
    EXPECT_EQ(usual_units(unit).find(unit), 0U) << unit;
  }
  for (const char* unit : {"", "-", "1", "voxels", "cells", "voxel widths", "gray value", "bytes", "degrees"}) {
    EXPECT_FALSE(is_physical(unit)) << unit;
    EXPECT_EQ(usual_units(unit), "") << unit;
  }
}

}  // namespace
}  // namespace karst::units_test
