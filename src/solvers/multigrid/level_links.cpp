// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/level_links.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "base/core/items_of.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

template <class T>
std::vector<Message> messages(const std::vector<std::vector<T>>& items) {
  std::vector<Message> out;
  for (std::size_t rank = 0; rank < items.size(); ++rank) {
    const auto bytes = std::as_bytes(std::span(items[rank]));
    if (!bytes.empty()) out.push_back({static_cast<int>(rank), {bytes.begin(), bytes.end()}});
  }
  return out;
}

/// Faces of unknowns towards covered VoFs, whose plain passes see a value of 0.
void add_exposed(const Comm& comm, const TwoPointLevel& level, std::int32_t l, std::vector<LinkEnd>& ends) {
  const LevelGeometry& geometry = *level.geometry;
  ByteField covered(geometry.graph, 1, Purpose::buffers);
  for (int b = 0; b < geometry.graph.n_local(); ++b)
    for (const std::uint16_t v : level.covered_in(b)) covered.box(b)[v] = 1;
  fill_halo(comm, geometry.graph, covered);
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const BoxGraph g = geometry.graph.box(b);
    const auto is_covered = covered.box(b);
    if (std::ranges::none_of(is_covered, [](std::uint8_t c) { return c != 0; })) continue;
    std::vector<float> sum(g.n_own);
    const auto add = [&](int vof, int slot, float weight) {
      if (is_covered[slot] != 0) sum[vof] += weight;
    };
    const std::size_t first = geometry.moments_begin[b];
    std::vector<std::int32_t> row(sum.size(), -1);
    for (int r = 0; r < g.n_irregular; ++r) row[g.row_vof[r]] = r;
    for_each_vof(g, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      const std::int32_t r = row[vof];
      for (std::size_t side = 0; side < 6; ++side)
        add(vof, slots[side],
            r < 0 ? level.whole_weight(b, vof, static_cast<int>(side), slots[side]) : level.weight[first + r][side]);
    });
    const std::size_t first_extra = geometry.extra_begin[b];
    for (std::size_t e = 0; e < g.extra.size(); ++e)
      add(g.extra[e].vof, g.extra[e].neighbour, level.extra[first_extra + e]);
    for (int v = 0; v < g.n_own; ++v)
      if (sum[v] > 0.0F && is_covered[v] == 0) ends.push_back({l, b, v, -sum[v], -1});
  }
}

/// Per own VoF of a box that is a row, the weights of its faces towards the coarser level: ghosts that have its own
/// value; a negative number where it is no row.
std::vector<float> weights_to_coarse(const TwoPointLevel& level, int b) {
  const LevelGeometry& geometry = *level.geometry;
  const BoxGraph g = geometry.graph.box(b);
  const int first = g.n_own + g.halo.n_vofs(), end = first + g.halo.n_coarse();
  std::vector<float> sum(g.n_own, level.has_rows_only() ? 0.0F : -1.0F);
  std::vector<std::int32_t> row(sum.size(), -1);
  for (std::size_t r = 0; r < g.row_vof.size(); ++r) sum[g.row_vof[r]] = 0.0F;
  for (int r = 0; r < g.n_irregular; ++r) row[g.row_vof[r]] = r;
  const auto add = [&](int vof, int slot, float weight) {
    if (slot >= first && slot < end && sum[vof] >= 0.0F) sum[vof] += weight;
  };
  for_each_vof(g, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
    for (std::size_t side = 0; side < 6; ++side)
      add(vof, slots[side],
          row[vof] < 0 ? level.whole_weight(b, vof, static_cast<int>(side), slots[side])
                       : level.weight[geometry.moments_begin[b] + row[vof]][side]);
  });
  for (std::size_t e = 0; e < g.extra.size(); ++e)
    add(g.extra[e].vof, g.extra[e].neighbour, level.extra[geometry.extra_begin[b] + e]);
  return sum;
}

template <class T>
std::vector<T> items_of(const Message& message) {
  std::vector<T> items(message.bytes.size() / sizeof(T));
  if (!items.empty()) std::memcpy(items.data(), message.bytes.data(), message.bytes.size());
  return items;
}

template <class T>
void sort_unique(std::vector<T>& items) {
  std::ranges::sort(items);
  erase_repeated(items);
}

template <class T>
std::int32_t place_of(const std::vector<T>& sorted, const T& item) {
  return static_cast<std::int32_t>(std::ranges::lower_bound(sorted, item) - sorted.begin());
}

}  // namespace

/// An end with the name of its other end.
struct LevelLinks::OpenEnd {
  std::int32_t level;
  VofName vof;
  float weight;
  FarVof other;
};

/// Both ends of the links that touch own VoFs.
std::vector<LevelLinks::OpenEnd> LevelLinks::find_ends(const Comm& comm, std::span<const TwoPointLevel> levels) {
  std::vector<OpenEnd> ends;
  std::vector<std::vector<OpenEnd>> out(comm.size());
  for (std::size_t l = 1; l < levels.size(); ++l) {
    const Layout& coarse = levels[l - 1].geometry->graph.layout();
    const auto level = static_cast<std::int32_t>(l);
    for (const CoarseFineLink& link : levels[l].links) {
      const int owner = coarse.owner(box_of(link.coarse));
      ends.push_back({level, link.fine, link.weight, {owner, level - 1, link.coarse}});
      out[owner].push_back({level - 1, link.coarse, link.weight, {comm.rank(), level, link.fine}});
    }
  }
  for (const Message& m : comm.sparse_exchange(messages(out))) {
    const std::vector<OpenEnd> came = items_of<OpenEnd>(m);
    ends.insert(ends.end(), came.begin(), came.end());
  }
  std::ranges::sort(ends, {},
                    [](const OpenEnd& e) { return std::tuple(e.level, e.vof, e.other.level, e.other.name, e.weight); });
  return ends;
}

/// Lists the values that ends read and the ranks that hold them. The owners put what is asked for among their own
/// values and tell the places. Returns the VoFs of other ranks, in the order of their values.
std::vector<LevelLinks::FarVof> LevelLinks::list_values(const Comm& comm, std::span<const TwoPointLevel> levels,
                                                        const std::vector<OpenEnd>& open) {
  std::vector<FarVof> far;
  for (const OpenEnd& e : open) {
    if (e.other.rank == comm.rank())
      others_.push_back(own(levels, e.other.level, e.other.name));
    else
      far.push_back(e.other);
  }
  sort_unique(far);
  std::vector<std::vector<FarVof>> asked(comm.size());
  for (const FarVof& f : far) asked[f.rank].push_back(f);
  const std::vector<Message> wanted = comm.sparse_exchange(messages(asked));
  for (const Message& m : wanted)
    for (const FarVof& f : items_of<FarVof>(m)) others_.push_back(own(levels, f.level, f.name));
  sort_unique(others_);
  std::vector<std::vector<std::int32_t>> places(comm.size());
  for (const Message& m : wanted)
    for (const FarVof& f : items_of<FarVof>(m))
      places[m.rank].push_back(place_of(others_, own(levels, f.level, f.name)));
  for (const Message& m : comm.sparse_exchange(messages(places)))
    for (const std::int32_t node : items_of<std::int32_t>(m)) remote_.push_back({m.rank, node});
  halo_ = ListExchange(comm, remote_);
  return far;
}

LevelLinks::Other LevelLinks::own(std::span<const TwoPointLevel> levels, std::int32_t level, VofName name) {
  return {level, levels[level].geometry->graph.local(box_of(name)), vof_of(name)};
}

LevelLinks::LevelLinks(const Comm& comm, std::span<const TwoPointLevel> levels) : rank_(comm.rank()) {
  const std::vector<OpenEnd> open = find_ends(comm, levels);
  const std::vector<FarVof> far = list_values(comm, levels, open);
  const auto zero = static_cast<std::int32_t>(others_.size());
  for (const OpenEnd& e : open) {
    const Other at = own(levels, e.level, e.vof);
    const std::int32_t other = e.other.rank == comm.rank() ? place_of(others_, own(levels, e.other.level, e.other.name))
                                                           : zero + 1 + place_of(far, e.other);
    ends_.push_back({at.level, at.box, at.vof, e.weight, other});
  }
  const std::size_t n_links = ends_.size();
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) add_exposed(comm, levels[l], static_cast<std::int32_t>(l), ends_);
  for (std::size_t i = n_links; i < ends_.size(); ++i) ends_[i].other = zero;
  const auto place = [](const LinkEnd& e) { return std::tuple(e.level, e.box, e.vof); };
  std::ranges::stable_sort(ends_, {}, place);
  raise_diagonals(levels, zero);
  std::ranges::stable_sort(ends_, {}, place);
  constexpr std::size_t enough = 2048;
  for (std::size_t i = 1; i < ends_.size(); ++i)
    if (i - chunks_.back() >= enough && (ends_[i].box != ends_[i - 1].box || ends_[i].level != ends_[i - 1].level))
      chunks_.push_back(i);
  if (!ends_.empty()) chunks_.push_back(ends_.size());
}

/// @param zero  index of the value 0
void LevelLinks::raise_diagonals(std::span<const TwoPointLevel> levels, std::int32_t zero) {
  std::vector<float> in_place;
  const std::size_t n = ends_.size();
  for (std::size_t i = 0; i < n;) {
    const LinkEnd first = ends_[i];
    if (i == 0 || first.level != ends_[i - 1].level || first.box != ends_[i - 1].box)
      in_place = weights_to_coarse(levels[first.level], first.box);
    float more = 0.0F;
    for (; i < n && ends_[i].level == first.level && ends_[i].box == first.box && ends_[i].vof == first.vof; ++i)
      more += ends_[i].weight;
    const float here = in_place[first.vof];
    if (here < 0.0F || more <= here) continue;
    raised_.push_back({first.level, first.box, first.vof, more - here});
    ends_.push_back({first.level, first.box, first.vof, here - more, zero});
  }
}

std::int64_t LevelLinks::bytes() const {
  return halo_.bytes() +
         static_cast<std::int64_t>(ends_.capacity() * sizeof(LinkEnd) + others_.capacity() * sizeof(Other) +
                                   remote_.capacity() * sizeof(RemoteItem) + raised_.capacity() * sizeof(Raised));
}

}  // namespace karst
