// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare_narrow.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/fail_together.hpp"

namespace karst {

namespace {

constexpr double larger = 1.001;  ///< ratio from which on voxels count as larger

/// Voxels of pore (0) and solid (1) along each axis: all, and those in short runs.
struct Counts {
  std::array<double, 2> all{};
  std::array<std::array<double, 2>, 3> narrow{};
};

std::array<double, 2> longest(double ratio) { return {few_for_pore * ratio, few_for_solid * ratio}; }

/// Runs along a row of n voxels that are `step` apart.
void count_runs(const float* row, int n, std::int64_t step, float pore, double ratio, std::array<double, 2>& narrow) {
  const std::array<double, 2> limit = longest(ratio);
  int start = 0;
  bool was_solid = row[0] != pore;
  for (int i = 1; i < n; ++i) {
    const bool solid = row[i * step] != pore;
    if (solid == was_solid) continue;
    if (start > 0 && i - start < limit[was_solid]) narrow[was_solid] += i - start;
    start = i;
    was_solid = solid;
  }
}

/// Runs along z that end while planes go by, as far as they lie in [first, last).
class RunsAlongZ {
 public:
  RunsAlongZ(std::int64_t columns, int read_from, int first, int last)
      : start_(columns, read_from), solid_(columns, 2), read_from_(read_from), first_(first), last_(last) {}
  void take(int z, std::span<const float> plane, float pore, double ratio, std::array<double, 2>& narrow) {
    const std::array<double, 2> limit = longest(ratio);
    for (std::size_t c = 0; c < plane.size(); ++c) {
      const std::uint8_t solid = plane[c] != pore ? 1 : 0;
      if (solid == solid_[c]) continue;
      // What begins with the first plane read began before it, or at a face of the image.
      if (start_[c] > read_from_ && z - start_[c] < limit[solid_[c]])
        narrow[solid_[c]] += std::max(0, std::min(z, last_) - std::max(start_[c], first_));
      start_[c] = z;
      solid_[c] = solid;
    }
  }

 private:
  std::vector<int> start_;
  std::vector<std::uint8_t> solid_;
  int read_from_, first_, last_;
};

}  // namespace

NarrowParts narrow_parts(const Comm& comm, ImageFile& image, double pore, const std::array<double, 3>& ratio) {
  const Index n = image.info().size;
  const auto pore_value = static_cast<float>(pore);
  const auto part = [&](int rank) { return static_cast<int>(std::int64_t{n[2]} * rank / comm.size()); };
  const int first = part(comm.rank()), last = part(comm.rank() + 1);
  const bool along_z = ratio[2] > larger;
  const int reach = along_z ? static_cast<int>(std::ceil(few_for_pore * ratio[2])) + 1 : 0;
  const int from = std::max(first - reach, 0), to = std::min(last + reach, n[2]);
  Counts counts;
  fail_together(comm, [&] {
    if (first == last) return;
    std::vector<float> plane(std::int64_t{n[0]} * n[1]);
    RunsAlongZ runs(std::ssize(plane), from, first, last);
    for (int z = from; z < to; ++z) {
      image.read_plane(z, plane);
      if (along_z) runs.take(z, plane, pore_value, ratio[2], counts.narrow[2]);
      if (z < first || z >= last) continue;
      const auto pores = static_cast<double>(std::ranges::count(plane, pore_value));
      counts.all[0] += pores;
      counts.all[1] += static_cast<double>(plane.size()) - pores;
      for (int y = 0; y < n[1] && ratio[0] > larger; ++y)
        count_runs(plane.data() + std::int64_t{y} * n[0], n[0], 1, pore_value, ratio[0], counts.narrow[0]);
      for (int x = 0; x < n[0] && ratio[1] > larger; ++x)
        count_runs(plane.data() + x, n[1], n[0], pore_value, ratio[1], counts.narrow[1]);
    }
  });
  std::array<double, 2> most{};
  for (std::size_t phase = 0; phase < 2; ++phase) {
    const double all = comm.sum(counts.all[phase]);
    for (const auto& narrow : counts.narrow) most[phase] = std::max(most[phase], comm.sum(narrow[phase]));
    if (all > 0.0) most[phase] /= all;
  }
  return {most[0], most[1]};
}

}  // namespace karst
