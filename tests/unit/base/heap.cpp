// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/heap.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace karst::heap_test {
namespace {

constexpr std::int64_t mib = 1 << 20;

std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

std::unique_ptr<char[]> filled(std::int64_t bytes) {
  auto memory = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));
  std::memset(memory.get(), 1, static_cast<std::size_t>(bytes));
  return memory;
}

/// Another allocator than that of the C library (of the sanitizers) does as it likes.
bool other_allocator() {
  const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = used();
  const auto memory = filled(mib);
  return used() < before + mib;
}

// Whatever a library has forbidden when it was loaded.
TEST(Heap, LargeArraysGoBackAtOnceAndSmallOnesWhenAsked) {
  if (other_allocator()) GTEST_SKIP() << "another allocator";
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  set_up_heap();
  const std::int64_t before = resident();
  filled(64 * mib).reset();
  EXPECT_LT(resident(), before + 8 * mib);

  std::vector<std::unique_ptr<char[]>> small(20000);
  for (auto& s : small) s = filled(1024);
  for (std::size_t i = 0; i + 1 < small.size(); ++i) small[i].reset();  // the last one holds the end of the heap
  EXPECT_GT(resident(), before + 16 * mib);
  trim_heap();
  EXPECT_LT(resident(), before + 8 * mib);
}

}  // namespace
}  // namespace karst::heap_test
