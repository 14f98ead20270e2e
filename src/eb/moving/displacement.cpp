// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/displacement.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/comm/parallel.hpp"
#include "eb/cut/cut_edge.hpp"
#include "eb/moving/wall_band.hpp"
#include "grid/hierarchy.hpp"
#include "grid/layout_builder.hpp"
#include "grid/morton.hpp"
#include "grid/questions.hpp"

namespace karst {

static_assert(displacement_reach > WallBand::halo);

namespace {

/// Equal numbers of boxes for all ranks.
std::vector<std::int64_t> even_ranges(std::int64_t boxes, int ranks) {
  std::vector<std::int64_t> begin(ranks + 1);
  for (int r = 0; r <= ranks; ++r) begin[r] = boxes * r / ranks;
  return begin;
}

std::unique_ptr<CornerBlocks> blocks_of(const Comm& comm, const Domain& domain, int box_size,
                                        std::vector<std::uint64_t> keys) {
  auto ranges = even_ranges(std::ssize(keys), comm.size());
  return std::make_unique<CornerBlocks>(comm, Layout(domain, box_size, std::move(keys), std::move(ranges)),
                                        WallBand::halo);
}

}  // namespace

Displacement::Displacement(const Comm& comm, const Domain& domain, int box_size, int level)
    : level_(level), blocks_(blocks_of(comm, domain_on_level(domain, level), box_size, {})) {}

bool Displacement::add_boxes(const Comm& comm, std::span<const std::uint64_t> keys) {
  const Layout& old = blocks_->layout();
  std::vector<std::uint64_t> fresh(keys.begin(), keys.end());
  std::ranges::sort(fresh);
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  std::erase_if(fresh, [&](std::uint64_t key) { return std::ranges::binary_search(old.keys(), key); });
  std::vector<std::uint64_t> all = comm.all_gather<std::uint64_t>(fresh);
  if (all.empty()) return false;
  all.insert(all.end(), old.keys().begin(), old.keys().end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());

  auto blocks = blocks_of(comm, old.domain(), old.box_size(), std::move(all));
  const Layout& layout = blocks->layout();
  Array<double> values(blocks->n_stored(), Purpose::geometry, 0.0);
  std::vector<double> slopes(blocks->n_own(), 0.0);
  std::map<int, ByteWriter> moved;
  for (int own = 0; own < blocks_->n_own(); ++own) {
    const std::int64_t box = layout.find(old.lattice_position(blocks_->first_own() + own));
    ByteWriter& to = moved[layout.owner(box)];
    to.put(box);
    to.put(slopes_[own]);
    to.put_vector(std::vector<double>(values_.data() + blocks_->begin(own),
                                      values_.data() + blocks_->begin(own) + blocks_->own_corners(own).count()));
  }
  send_to_ranks(comm, std::move(moved), [&](ByteReader& in, int) {
    const auto own = static_cast<int>(in.get<std::int64_t>() - blocks->first_own());
    slopes[own] = in.get<double>();
    const auto block = in.get_vector<double>();
    std::ranges::copy(block, values.data() + blocks->begin(own));
  });
  blocks_ = std::move(blocks);
  values_ = std::move(values);
  slopes_ = std::move(slopes);
  return true;
}

std::vector<std::uint64_t> boxes_around(const Layout& lattice, const Box& corners,
                                        std::span<const std::uint8_t> flags) {
  constexpr int part = 4;
  const Domain& domain = lattice.domain();
  std::vector<std::uint64_t> keys;
  const auto add = [&](const Box& reached) {
    std::array<std::vector<int>, 3> positions;
    for (int d = 0; d < 3; ++d)
      for (int c = reached.lo[d]; c < reached.hi[d]; ++c) {
        const int n = domain.cells[d];
        const int position = (domain.periodic[d] ? (c % n + n) % n : std::clamp(c, 0, n - 1)) / lattice.box_size();
        if (positions[d].empty() || positions[d].back() != position) positions[d].push_back(position);
      }
    for (const int k : positions[2])
      for (const int j : positions[1])
        for (const int i : positions[0]) keys.push_back(morton_encode({i, j, k}));
  };
  const Index parts{(corners.size(0) - 1) / part + 1, (corners.size(1) - 1) / part + 1,
                    (corners.size(2) - 1) / part + 1};
  for_each_cell({Index{}, parts}, [&](const Index& at) {
    const Index lo = corners.lo + part * at;
    const Box block = intersect({lo, lo + Index::all(part)}, corners);
    bool any = false;
    for_each_cell(block, [&](const Index& c) { any |= flags[corners.offset(c)] != 0; });
    if (any) add(block.grown(displacement_reach));
  });
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

void add_boxes_at_walls(const Comm& comm, const LevelSet& phi0, Displacement& displacement) {
  const Layout& lattice = displacement.blocks().layout();
  const double h = std::ldexp(1.0, -displacement.level()), lipschitz = phi0.smoothness().lipschitz;
  const Index size = lattice.lattice_size();
  const std::int64_t n = std::int64_t{size[0]} * size[1] * size[2];
  const std::vector<std::uint64_t> mine =
      lattice_keys(size, n * comm.rank() / comm.size(), n * (comm.rank() + 1) / comm.size());
  std::vector<std::vector<std::uint64_t>> keys(mine.size());
  parallel_for_dynamic(std::ssize(mine), [&](std::int64_t i) {
    const Index low = lattice.box_size() * morton_decode(mine[i]);
    const Box cells = intersect({low, low + Index::all(lattice.box_size())}, lattice.domain().box());
    const Box corners{cells.lo, cells.hi + Index::all(1)}, around = corners.grown(1);
    const auto phi = phi0.local(h * to_vec(around.lo), h * to_vec(around.hi));
    const Vec3 center = 0.5 * h * (to_vec(cells.lo) + to_vec(cells.hi));
    const double half = 0.5 * h * norm(to_vec(around.size()));
    if (lipschitz > 0.0 && std::abs((*phi)(center)) > lipschitz * half) return;
    std::vector<double> p(around.count());
    evaluate_at_corners(*phi, around, displacement.level(), p);
    std::vector<std::uint8_t> flags(corners.count());
    std::size_t at = 0;
    for_each_cell(corners, [&](const Index& c) {
      flags[at++] = WallBand::what_is_near({around, p}, c) != WallBand::Near::nothing;
    });
    keys[i] = boxes_around(lattice, corners, flags);
  });
  std::vector<std::uint64_t> all;
  for (const auto& some : keys) all.insert(all.end(), some.begin(), some.end());
  displacement.add_boxes(comm, all);
}

}  // namespace karst
