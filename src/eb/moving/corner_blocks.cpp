// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/corner_blocks.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "base/core/error.hpp"

namespace karst {

CornerBlocks::CornerBlocks(const Comm& comm, Layout layout, int reach) : layout_(std::move(layout)) {
  std::tie(first_, last_) = layout_.owned(comm.rank());
  begin_.assign(layout_.n_boxes() + 1, 0);
  for (std::int64_t b = 0; b < layout_.n_boxes(); ++b) begin_[b + 1] = begin_[b] + corners(b).count();
  plan_halo(comm, reach);
}

Box CornerBlocks::corners(std::int64_t box) const {
  Box held = layout_.box(box);
  for (int d = 0; d < 3; ++d) {
    if (layout_.domain().periodic[d]) continue;
    if (held.lo[d] == 0) held.lo[d] -= outside;
    if (held.hi[d] == layout_.domain().cells[d]) held.hi[d] += outside + 1;
  }
  return held;
}

std::vector<CornerRun> CornerBlocks::runs_of(int d, int lo, int hi) const {
  const int n = layout_.domain().cells[d], width = layout_.box_size();
  std::vector<CornerRun> runs;
  for (int c = lo; c < hi; ++c) {
    const int at = layout_.domain().periodic[d] ? (c % n + n) % n : std::clamp(c, -outside, n + outside);
    const int position = std::clamp(at, 0, n - 1) / width;
    if (runs.empty() || runs.back().shift != at - c || runs.back().position != position)
      runs.push_back({c, c, at - c, position});
    ++runs.back().end;
  }
  return runs;
}

void CornerBlocks::plan_halo(const Comm& comm, int reach) {
  std::map<std::int64_t, Box> read;
  for (int own = 0; own < n_own(); ++own)
    for_parts(own_corners(own).grown(reach), [&](std::int64_t box, const Box& part, const Index& shift) {
      if (box < 0 || is_own(box)) return;
      Box& all = read.try_emplace(box, part.shifted(shift)).first->second;
      for (int d = 0; d < 3; ++d) {
        all.lo[d] = std::min(all.lo[d], part.lo[d] + shift[d]);
        all.hi[d] = std::max(all.hi[d], part.hi[d] + shift[d]);
      }
    });
  std::vector<RemoteItem> wanted;
  for (const auto& [box, part] : read) {
    const int rank = layout_.owner(box);
    images_.push_back({box, part, n_own_corners() + std::ssize(wanted)});
    const std::int64_t first = begin_[box] - begin_[layout_.owned(rank).first];
    const Box held = corners(box);
    require(first + held.count() < std::int64_t{1} << 31, "moving wall: rank {} holds more than 2^31 corners", rank);
    for_each_cell(part, [&](const Index& c) {
      wanted.push_back({rank, static_cast<std::int32_t>(first + held.offset(c))});
    });
  }
  exchange_ = ListExchange(comm, wanted);
}

void copy_corners(const Box& part, const Index& shift, const Box& source, const double* from, const Box& region,
                  double* to) {
  for (int k = part.lo[2]; k < part.hi[2]; ++k)
    for (int j = part.lo[1]; j < part.hi[1]; ++j) {
      const Index row{part.lo[0], j, k};
      std::copy_n(from + source.offset(row + shift), part.size(0), to + region.offset(row));
    }
}

void CornerBlocks::gather(int own, int margin, std::span<const double> values, Missing missing,
                          std::span<double> out) const {
  const Box held = own_corners(own), region = held.grown(margin);
  const double* mine = values.data() + begin(own);
  for_parts(region, [&](std::int64_t box, const Box& part, const Index& shift) {
    if (is_own(box)) {
      copy_corners(part, shift, corners(box), values.data() + begin(static_cast<int>(box - first_)), region,
                   out.data());
    } else if (box >= 0) {
      const auto image = std::ranges::lower_bound(images_, box, {}, &Image::box);
      copy_corners(part, shift, image->part, values.data() + image->begin, region, out.data());
    } else {
      for_each_cell(part, [&](const Index& c) {
        Index nearest;
        for (int d = 0; d < 3; ++d) nearest[d] = std::clamp(c[d], held.lo[d], held.hi[d] - 1);
        out[region.offset(c)] = missing == Missing::zero ? 0.0 : mine[held.offset(nearest)];
      });
    }
  });
}

}  // namespace karst
