// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"

namespace karst {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = std::size_t{2} << 20;
#ifdef KARST_FP_TRAPS
constexpr bool fill_new_arrays =
    true;  // whoever reads a value before it is set stops, or gets a result that is no number
#else
constexpr bool fill_new_arrays = false;
#endif
constexpr std::uint32_t unset_word = 0x7ff7ffff;  // twice: a signalling NaN as double; as float a quiet one

struct Counter {
  std::atomic<std::int64_t> now{0}, peak{0};

  void add(std::int64_t bytes) {
    const std::int64_t reached = now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t seen = peak.load(std::memory_order_relaxed);
    while (seen < reached && !peak.compare_exchange_weak(seen, reached, std::memory_order_relaxed)) {
    }
  }
  void remove(std::int64_t bytes) { now.fetch_sub(bytes, std::memory_order_relaxed); }
};

// Counts of this process: what is counted, the memory of the process, exists once.
std::array<Counter, n_purposes> by_purpose;
Counter total;

Counter& counter(Purpose p) { return by_purpose[static_cast<std::size_t>(p)]; }

}  // namespace

std::string_view name_of(Purpose p) {
  constexpr std::array<std::string_view, n_purposes> names{"geometry", "connectivity", "fields", "stencils",
                                                           "solver",   "metadata",     "buffers"};
  return names[static_cast<std::size_t>(p)];
}

namespace arena {

void* allocate(std::size_t bytes, Purpose purpose) {
  void* p = nullptr;
  const bool huge = bytes >= huge_from;
  const int failure = posix_memalign(&p, huge ? huge_page : alignment, bytes == 0 ? alignment : bytes);
  require(failure == 0 && p != nullptr,
          "out of memory: {} ({} bytes) for {} were refused by the system; this process holds {} in its arrays. "
          "Use more ranks on more nodes, or fewer cells",
          format_bytes(static_cast<double>(bytes)), bytes, name_of(purpose),
          format_bytes(static_cast<double>(bytes_now())));
  // Only whole pages, so that no page is filled up beyond the array. A refusal costs speed alone.
  if (huge) static_cast<void>(madvise(p, bytes / huge_page * huge_page, MADV_HUGEPAGE));
  if (fill_new_arrays) std::fill_n(static_cast<std::uint32_t*>(p), bytes / sizeof(std::uint32_t), unset_word);
  counter(purpose).add(static_cast<std::int64_t>(bytes));
  total.add(static_cast<std::int64_t>(bytes));
  return p;
}

void release(void* p, std::size_t bytes, Purpose purpose) noexcept {
  if (p == nullptr) return;
  std::free(p);
  counter(purpose).remove(static_cast<std::int64_t>(bytes));
  total.remove(static_cast<std::int64_t>(bytes));
}

std::size_t array_bytes(std::size_t n, std::size_t size, Purpose purpose) {
  require(n <= std::numeric_limits<std::ptrdiff_t>::max() / size,
          "array of {} elements of {} bytes for {} is larger than the address space; check the number of cells", n,
          size, name_of(purpose));
  return n * size;
}

std::int64_t bytes_now(Purpose p) { return counter(p).now.load(std::memory_order_relaxed); }
std::int64_t bytes_peak(Purpose p) { return counter(p).peak.load(std::memory_order_relaxed); }
std::int64_t bytes_now() { return total.now.load(std::memory_order_relaxed); }
std::int64_t bytes_peak() { return total.peak.load(std::memory_order_relaxed); }

std::int64_t peak_resident_set() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::string report(const Comm& comm) {
  std::vector<std::string> names;
  std::vector<std::int64_t> peak;
  for (int p = 0; p < n_purposes; ++p) {
    names.emplace_back(name_of(static_cast<Purpose>(p)));
    peak.push_back(bytes_peak(static_cast<Purpose>(p)));
  }
  names.emplace_back("all arrays");
  peak.push_back(bytes_peak());
  names.emplace_back("resident set");
  peak.push_back(peak_resident_set());
  const std::vector<std::int64_t> all = comm.all_gather(std::span<const std::int64_t>(peak));
  std::string text = fmt::format("{:<14} {:>14} {:>14}\n", "memory (peak)", "sum of ranks", "largest rank");
  for (std::size_t row = 0; row < names.size(); ++row) {
    std::int64_t sum = 0, largest = 0;
    for (std::size_t i = row; i < all.size(); i += names.size()) {
      sum += all[i];
      largest = std::max(largest, all[i]);
    }
    if (sum == 0) continue;
    text += fmt::format("{:<14} {:>14} {:>14}\n", names[row], format_bytes(static_cast<double>(sum)),
                        format_bytes(static_cast<double>(largest)));
  }
  return text;
}

}  // namespace arena

}  // namespace karst
