// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/clusters.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/clusters_runs.hpp"

namespace karst {
namespace {

// Without branches, so that noise costs no more than large pores.

std::uint32_t count_runs(std::span<const std::uint8_t> labels, const LabelSet& set) {
  std::uint32_t n = 0;
  bool before = false;
  for (const std::uint8_t label : labels) {
    const bool in = set[label];
    n += in & !before;
    before = in;
  }
  return n;
}

/// @param[out] ends  first voxel and last + 1 of each run in turn; at least one more than the row has voxels
void find_ends(std::span<const std::uint8_t> labels, const LabelSet& set, std::span<int> ends) {
  std::size_t n = 0;
  bool before = false;
  for (std::size_t x = 0; x < labels.size(); ++x) {
    const bool in = set[labels[x]];
    ends[n] = static_cast<int>(x);
    n += in != before;
    before = in;
  }
  ends[n] = static_cast<int>(labels.size());
}

/// Labels of the rows of a slab.
std::span<const std::uint8_t> row_of(const Slabs<std::uint8_t>& labels, std::size_t row) {
  const std::size_t n = labels.voxels()[0];
  return labels.values().subspan(row * n, n);
}

std::uint8_t faces_touched(const Index& image, const ClusterRun& run, int y, int z) {
  const bool touch[6] = {run.first == 0, run.last == image[0], y == 0, y + 1 == image[1], z == 0, z + 1 == image[2]};
  unsigned bits = 0;
  for (unsigned side = 0; side < 6; ++side) bits |= unsigned{touch[side]} << side;
  return static_cast<std::uint8_t>(bits);
}

}  // namespace

LabelSet pore_labels() {
  LabelSet set{};
  set[pore_label] = true;
  return set;
}

LabelSet solid_labels() {
  LabelSet set{};
  for (std::size_t label = pore_label + 1; label < outside_label; ++label) set[label] = true;
  return set;
}

Clusters::Clusters(const Comm& comm, const Slabs<std::uint8_t>& labels, const LabelSet& set, Contact contact)
    : own_(labels.own()) {
  assert(!set[outside_label]);
  fail_together(comm, [&] {
    find_runs(labels, set);
    join_runs(contact);
    number_slots();
    measure();
  });
  join_ranks(comm, contact);
}

void Clusters::find_runs(const Slabs<std::uint8_t>& labels, const LabelSet& set) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t rows = std::int64_t{own_.planes()} * own_.image[1];
  require(rows < most, "clusters: {} rows on one rank; at most {} are allowed, use more ranks", rows, most);
  row_start_ = Array<std::uint32_t>(rows + 1, Purpose::buffers);
  row_start_[0] = 0;
  parallel_for(rows, [&](std::int64_t r) { row_start_[r + 1] = count_runs(row_of(labels, r), set); });
  std::int64_t runs = 0;
  for (std::uint32_t& start : row_start_) {
    runs += start;
    start = static_cast<std::uint32_t>(runs);
  }
  require(runs < most, "clusters: {} runs on one rank; at most {} are allowed, use more ranks", runs, most);
  runs_ = Array<ClusterRun>(runs, Purpose::buffers);
  const std::size_t nx = own_.row();
  std::vector<int> ends((nx + 1) * n_threads());
  parallel_for(rows, [&](std::int64_t r) {
    const std::span<int> mine = std::span(ends).subspan((nx + 1) * thread_number(), nx + 1);
    find_ends(row_of(labels, r), set, mine);
    for (std::uint32_t i = row_start_[r]; i < row_start_[r + 1]; ++i) {
      const std::size_t of_run = 2 * std::size_t{i - row_start_[r]};
      runs_[i] = {mine[of_run], mine[of_run + 1], i};
    }
  });
}

void Clusters::join_row(std::size_t row_number, std::size_t with, Contact contact) {
  const auto parent = [this](std::uint32_t i) -> std::uint32_t& { return runs_[i].slot; };
  for_contacts(row(row_number), row(with), contact, [&](std::size_t i, std::size_t j) {
    unite(row_start_[row_number] + static_cast<std::uint32_t>(i), row_start_[with] + static_cast<std::uint32_t>(j),
          parent);
  });
}

void Clusters::join_with_plane_below(int z, Contact contact) {
  const int ny = own_.image[1], reach = contact == Contact::corners ? 1 : 0;
  const std::size_t plane = std::size_t(z - own_.first) * std::size_t(ny), below = plane - std::size_t(ny);
  for (int y = 0; y < ny; ++y)
    for (int with = std::max(0, y - reach); with <= std::min(ny - 1, y + reach); ++with)
      join_row(plane + std::size_t(y), below + std::size_t(with), contact);
}

/// Slot = a lower run of the same cluster until number_slots. Each thread joins the runs of some planes, then these are
/// joined.
void Clusters::join_runs(Contact contact) {
  const std::int64_t planes = own_.planes(), parts = std::min<std::int64_t>(n_threads(), planes);
  const auto begin = [&](std::int64_t part) { return own_.first + static_cast<int>(planes * part / parts); };
  parallel_for(parts, [&](std::int64_t part) {
    for (int z = begin(part); z < begin(part + 1); ++z) {
      const std::size_t first = std::size_t(z - own_.first) * std::size_t(own_.image[1]);
      for (std::size_t y = 1; y < std::size_t(own_.image[1]); ++y) join_row(first + y, first + y - 1, contact);
      if (z > begin(part)) join_with_plane_below(z, contact);
    }
  });
  for (std::int64_t part = 1; part < parts; ++part) join_with_plane_below(begin(part), contact);
}

void Clusters::number_slots() {
  std::uint32_t slots = 0;
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    const std::uint32_t lower = runs_[i].slot;
    runs_[i].slot = lower == i ? slots++ : runs_[lower].slot;
  }
  clusters_ = Array<Cluster>(slots, Purpose::buffers, Cluster{});
}

void Clusters::measure() {
  const int ny = own_.image[1];
  for (std::size_t r = 0; r < rows(); ++r) {
    const int y = static_cast<int>(r % std::size_t(ny)), z = own_.first + static_cast<int>(r / std::size_t(ny));
    for (const ClusterRun& run : row(r)) {
      Cluster& cluster = clusters_[run.slot];
      if (cluster.voxels == 0) cluster.first = (std::int64_t{z} * ny + y) * own_.row() + run.first;
      cluster.voxels += run.last - run.first;
      cluster.touches |= faces_touched(own_.image, run, y, z);
    }
  }
}

std::size_t Clusters::bytes() const {
  return runs_.bytes() + row_start_.bytes() + clusters_.bytes() + first_numbers_.size() * sizeof(std::int64_t) +
         shared_.size() * sizeof(Shared);
}

}  // namespace karst
