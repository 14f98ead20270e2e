// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/memory.hpp"

#include <gtest/gtest.h>

#include "base/comm/comm.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"

// Under the sanitizers a refused allocation shall come back to us, as it does without them.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): their names
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace karst::memory_test {
namespace {

TEST(Memory, CountsNowAndPeakByPurpose) {
  const std::int64_t before = arena::bytes_now(Purpose::stencils), all = arena::bytes_now();
  {
    const Array<double> a(1000, Purpose::stencils);
    Array<char> b(77, Purpose::stencils);
    EXPECT_EQ(arena::bytes_now(Purpose::stencils), before + 8077);
    EXPECT_EQ(arena::bytes_now(), all + 8077);
    const Array<char> c = std::move(b);
    EXPECT_EQ(arena::bytes_now(Purpose::stencils), before + 8077);
    EXPECT_EQ(c.size(), 77U);
  }
  EXPECT_EQ(arena::bytes_now(Purpose::stencils), before);
  EXPECT_EQ(arena::bytes_now(), all);
  EXPECT_GE(arena::bytes_peak(Purpose::stencils), before + 8077);
  EXPECT_GE(arena::bytes_peak(), all + 8077);
}

TEST(Memory, CountsAreRightWithThreads) {
  const std::int64_t before = arena::bytes_now(Purpose::buffers);
  parallel_for_dynamic(2000, [](std::int64_t i) { const Array<char> a(i + 1, Purpose::buffers); });
  EXPECT_EQ(arena::bytes_now(Purpose::buffers), before);
  EXPECT_GE(arena::bytes_peak(Purpose::buffers), before + 2000);
}

TEST(Memory, ArraysAreAlignedAndFilled) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{700001}}) {  // below and above a huge page
    const Array<double> a(n, Purpose::fields, 2.5);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
    EXPECT_EQ(a[0], 2.5);
    EXPECT_EQ(a[n - 1], 2.5);
    EXPECT_EQ(a.bytes(), 8 * n);
  }
  const Array<int> none(0, Purpose::fields);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.begin(), none.end());
}

TEST(Memory, ARefusedAllocationSaysHowMuchAndForWhat) {
  const std::int64_t before = arena::bytes_now();
  const auto refused = [](std::size_t n, Purpose purpose) {
    return test::error_of([&] { const Array<double> a(n, purpose); });
  };
  const std::string large = refused(std::size_t{1} << 57, Purpose::geometry);
  EXPECT_TRUE(test::has(large, "1.00 EiB (1152921504606846976 bytes) for geometry")) << large;
  const std::string wraps = refused(std::size_t{1} << 61, Purpose::fields);  // 2^64 bytes
  EXPECT_TRUE(test::has(wraps, "2305843009213693952 elements of 8 bytes for fields")) << wraps;
  EXPECT_EQ(arena::bytes_now(), before);
}

TEST(Memory, PeakResidentSetGrowsWithTouchedMemory) {
  constexpr std::size_t n = std::size_t{64} << 20;
  const Array<char> a(n, Purpose::fields, 'x');
  EXPECT_GE(arena::peak_resident_set(), static_cast<std::int64_t>(n));
  EXPECT_LT(arena::peak_resident_set(), std::int64_t{1} << 40);
}

TEST(MemoryMpi, ReportAddsTheRanks) {
  const Comm comm = Comm::world();
  const Array<char> a(std::size_t{1} << 20, Purpose::metadata);
  const std::string text = arena::report(comm);
  const std::string sum = std::to_string(comm.size()) + ".00 MiB";
  EXPECT_NE(text.find("metadata             " + sum + "       1.00 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("resident set"), std::string::npos);
}

TEST(Memory, EveryPurposeHasAName) {
  for (int p = 0; p < n_purposes; ++p) EXPECT_FALSE(name_of(static_cast<Purpose>(p)).empty());
}

}  // namespace
}  // namespace karst::memory_test
