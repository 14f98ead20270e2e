// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/pores/basin_graph.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/pores/inscribed_ball.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

// A way up that leaves the planes at hand ends at the first voxel outside; its number stands for the root (an alias)
// until the way from there is known.
using Key = std::int64_t;
constexpr Key none = -1;
using Aliases = std::unordered_map<Key, Key>;

/// Where the ways from a key end, as far as is known. Shortens them for the next time.
Key end_of(Aliases& aliases, Key key) {
  std::vector<Key> way;
  for (auto next = aliases.find(key); next != aliases.end(); next = aliases.find(key)) {
    way.push_back(key);
    key = next->second;
  }
  for (const Key k : way) aliases[k] = key;
  return key;
}

/// Two voxels that share a face and belong to different basins.
struct BasinContact {
  Key low, high;
  std::int64_t voxel;  ///< the lower one
  int level, axis;
};

/// Keeps the highest contacts of each pair of basins.
void keep_highest(std::vector<BasinContact>& contacts) {
  const auto key = [](const BasinContact& c) { return std::tuple(c.low, c.high, -c.level); };
  std::sort(contacts.begin(), contacts.end(),
            [&](const BasinContact& a, const BasinContact& b) { return key(a) < key(b); });
  std::size_t n = 0;
  for (const BasinContact& c : contacts)
    if (n == 0 || contacts[n - 1].low != c.low || contacts[n - 1].high != c.high || contacts[n - 1].level == c.level)
      contacts[n++] = c;
  contacts.resize(n);
}

/// Replaces aliases by what they stand for; pairs that are the same basin then go, and lower contacts.
void resolve(std::vector<BasinContact>& contacts, Aliases& aliases) {
  for (BasinContact& c : contacts) {
    const Key a = end_of(aliases, c.low), b = end_of(aliases, c.high);
    c.low = std::min(a, b);
    c.high = std::max(a, b);
  }
  std::erase_if(contacts, [](const BasinContact& c) { return c.low == c.high; });
  keep_highest(contacts);
}

void keep_largest(std::vector<Saddle>& saddles) {
  const auto key = [](const Saddle& s) { return std::tuple(s.low, s.high, -s.level, -s.radius); };
  std::sort(saddles.begin(), saddles.end(), [&](const Saddle& a, const Saddle& b) { return key(a) < key(b); });
  std::size_t n = 0;
  for (const Saddle& s : saddles) {
    if (n == 0 || saddles[n - 1].low != s.low || saddles[n - 1].high != s.high) {
      saddles[n++] = s;
    } else if (saddles[n - 1].level == s.level) {
      saddles[n - 1].neck |= s.neck;
    }
  }
  saddles.resize(n);
}

void combine(std::vector<Basin>& basins) {
  std::sort(basins.begin(), basins.end(), [](const Basin& a, const Basin& b) { return a.root < b.root; });
  std::size_t n = 0;
  for (const Basin& b : basins) {
    if (n == 0 || basins[n - 1].root != b.root) {
      basins[n++] = b;
      continue;
    }
    basins[n - 1].peak = std::max(basins[n - 1].peak, b.peak);
    for (std::size_t s = 0; s < 6; ++s) basins[n - 1].touch[s] = std::max(basins[n - 1].touch[s], b.touch[s]);
  }
  basins.resize(n);
}

/// Replaces aliases by what they stand for and joins what is the same then.
void resolve(BasinGraph& graph, Aliases& aliases) {
  for (Basin& b : graph.basins) b.root = end_of(aliases, b.root);
  combine(graph.basins);
  for (Saddle& s : graph.saddles) {
    const Key a = end_of(aliases, s.low), b = end_of(aliases, s.high);
    s.low = std::min(a, b);
    s.high = std::max(a, b);
  }
  std::erase_if(graph.saddles, [](const Saddle& s) { return s.low == s.high; });
  keep_largest(graph.saddles);
}

/// The distance as a field of numbered voxels.
class Heights {
 public:
  explicit Heights(const DistancePlanes& planes)
      : planes_(planes), nx_(planes.voxels()[0]), plane_(std::int64_t{planes.voxels()[0]} * planes.voxels()[1]) {}
  Index place(Key voxel) const {
    return {int(voxel % nx_), int(voxel % plane_ / nx_), static_cast<int>(voxel / plane_)};
  }
  int z(Key voxel) const { return static_cast<int>(voxel / plane_); }
  std::int64_t plane() const { return plane_; }
  int radius(Key voxel) const { return ball_radius(planes_, place(voxel)); }
  const std::uint16_t* of_plane(int z) const { return planes_.plane(z); }
  /// Highest of the voxel and its neighbours.
  Key up(Key voxel) const;
  Saddle saddle(const BasinContact& contact) const;
  /// No way through higher voxels leads from the one to the other within two voxels.
  bool is_neck(Key a, Key b, int level) const;
  /// Contacts between two planes, whose keys are given.
  void contacts_across(int z, std::span<const Key> lower, std::span<const Key> upper,
                       std::vector<BasinContact>& out) const;

 private:
  const DistancePlanes& planes_;
  std::int64_t nx_, plane_;
};

Key Heights::up(Key voxel) const {
  const Index x = place(voxel);
  const int y_low = x[1] > 0 ? -1 : 0, y_high = x[1] + 1 < planes_.voxels()[1] ? 1 : 0;
  const int x_low = x[0] > 0 ? -1 : 0, x_high = x[0] + 1 < planes_.voxels()[0] ? 1 : 0;
  int highest = 0;
  Key best = voxel;
  for (int dz = -1; dz <= 1; ++dz) {
    const std::uint16_t* plane = planes_.plane(x[2] + dz);
    if (!plane) continue;
    for (int dy = y_low; dy <= y_high; ++dy) {
      const std::int64_t row = (x[1] + dy) * nx_;
      for (int i = x[0] + x_low; i <= x[0] + x_high; ++i)
        if (plane[row + i] > highest) {
          highest = plane[row + i];
          best = (x[2] + dz) * plane_ + row + i;
        }
    }
  }
  return best;
}

bool Heights::is_neck(Key a, Key b, int level) const {
  constexpr int reach = 2, width = 2 * reach + 2;
  const Index corner = place(a) - Index::all(reach);
  const auto number = [&](const Index& x) {  // in the box, -1 outside of it or not above the level
    const Index in_box = x - corner;
    for (int d = 0; d < 3; ++d)
      if (in_box[d] < 0 || in_box[d] >= width || x[d] < 0 || x[d] >= planes_.voxels()[d]) return -1;
    const std::uint16_t* plane = planes_.plane(x[2]);
    if (!plane || plane[x[1] * nx_ + x[0]] <= level) return -1;
    return (in_box[2] * width + in_box[1]) * width + in_box[0];
  };
  const auto first_above = [&](Key voxel) {  // on the way up
    for (int step = 0; step < width && number(place(voxel)) < 0; ++step) voxel = up(voxel);
    return voxel;
  };
  const Index from = place(first_above(a)), to = place(first_above(b));
  if (number(from) < 0 || number(to) < 0) return true;
  std::array<bool, width * width * width> seen{};
  std::vector<Index> open{from};
  seen[number(from)] = true;
  while (!open.empty()) {
    const Index x = open.back();
    open.pop_back();
    if (x == to) return false;
    for (int side = 0; side < 6; ++side)
      if (const int n = number(x + side_offset(side)); n >= 0 && !std::exchange(seen[n], true))
        open.push_back(x + side_offset(side));
  }
  return true;
}

Saddle Heights::saddle(const BasinContact& c) const {
  const Key other = c.voxel + (c.axis == 0 ? 1 : c.axis == 1 ? nx_ : plane_);
  return {c.low, c.high, c.level, std::min(radius(c.voxel), radius(other)), is_neck(c.voxel, other, c.level)};
}

void Heights::contacts_across(int z, std::span<const Key> lower, std::span<const Key> upper,
                              std::vector<BasinContact>& out) const {
  const std::uint16_t *a = planes_.plane(z), *b = planes_.plane(z + 1);
  for (std::int64_t i = 0; i < plane_; ++i)
    if (lower[i] != none && upper[i] != none && lower[i] != upper[i])
      out.push_back({lower[i], upper[i], z * plane_ + i, std::min(a[i], b[i]), 2});
}

/// Some planes on their own.
class Layer {
 public:
  Layer(const Heights& heights, const Index& image, int first, int last);
  std::vector<Basin> basins;  ///< with aliases
  std::vector<BasinContact> contacts;
  std::vector<Key> low, high;              ///< keys of the first and of the last plane; none in the solid
  std::vector<Key> exits_low, exits_high;  ///< aliases in the planes before and after

 private:
  void follow(Key voxel);
  void find_contacts();
  void find_touches();
  void find_exits();
  std::vector<Key> keys_of_plane(int z) const;
  std::int32_t& number(Key voxel) { return number_[voxel - first_ * heights_.plane()]; }
  bool inside(Key voxel) const { return heights_.z(voxel) >= first_ && heights_.z(voxel) < last_; }

  const Heights& heights_;
  Index image_;
  int first_, last_;
  std::vector<std::int32_t> number_;  ///< place in basins; -1 in the solid
  std::vector<std::int32_t> way_;
  std::unordered_map<Key, std::int32_t> exits_;
};

Layer::Layer(const Heights& heights, const Index& image, int first, int last)
    : heights_(heights), image_(image), first_(first), last_(last) {
  const std::int64_t begin = first * heights.plane(), end = last * heights.plane();
  number_.assign(end - begin, -1);
  for (int z = first; z < last; ++z) {
    const std::uint16_t* d = heights.of_plane(z);
    for (std::int64_t i = 0; i < heights.plane(); ++i)
      if (d[i] != 0) follow(z * heights.plane() + i);
  }
  find_contacts();
  find_touches();
  find_exits();
  low = keys_of_plane(first);
  high = keys_of_plane(last - 1);
  number_ = {};
}

/// Numbers the voxel and those on its way up.
void Layer::follow(Key voxel) {
  const std::int64_t begin = first_ * heights_.plane();
  way_.clear();
  std::int32_t found = -1;
  while (found < 0) {
    if (!inside(voxel)) {
      const auto [place, is_new] = exits_.try_emplace(voxel, static_cast<std::int32_t>(basins.size()));
      if (is_new) basins.push_back({voxel, 0, {}});
      found = place->second;
    } else if (number(voxel) >= 0) {
      found = number(voxel);
    } else {
      way_.push_back(static_cast<std::int32_t>(voxel - begin));
      const Key next = heights_.up(voxel);
      if (next == voxel) {
        found = static_cast<std::int32_t>(basins.size());
        basins.push_back({voxel, heights_.radius(voxel), {}});
      }
      voxel = next;
    }
  }
  for (const std::int32_t v : way_) number_[v] = found;
}

void Layer::find_contacts() {
  const int nx = image_[0], ny = image_[1];
  const std::int64_t plane = heights_.plane();
  const auto add = [&](std::int64_t i, std::int64_t step, int axis, int level) {
    const std::int32_t a = number_[i], b = number_[i + step];
    const Key low_key = basins[a].root, high_key = basins[b].root;
    contacts.push_back({std::min(low_key, high_key), std::max(low_key, high_key), first_ * plane + i, level, axis});
  };
  for (int z = first_; z < last_; ++z) {
    const std::uint16_t *d = heights_.of_plane(z), *above = heights_.of_plane(z + 1);
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const std::int64_t in_plane = std::int64_t{y} * nx + x, i = (z - first_) * plane + in_plane;
        const std::int32_t* n = number_.data() + i;
        if (*n < 0) continue;
        const std::uint16_t* h = d + in_plane;
        if (x + 1 < nx && n[1] >= 0 && n[1] != *n) add(i, 1, 0, std::min(h[0], h[1]));
        if (y + 1 < ny && n[nx] >= 0 && n[nx] != *n) add(i, nx, 1, std::min(h[0], h[nx]));
        if (z + 1 < last_ && n[plane] >= 0 && n[plane] != *n) add(i, plane, 2, std::min(h[0], above[in_plane]));
      }
  }
  keep_highest(contacts);
}

void Layer::find_touches() {
  const auto look = [&](int x, int y, int z, int side) {
    const Key voxel = z * heights_.plane() + std::int64_t{y} * image_[0] + x;
    if (number(voxel) < 0) return;
    int& touch = basins[number(voxel)].touch[side];
    touch = std::max(touch, heights_.radius(voxel));
  };
  for (int z = first_; z < last_; ++z) {
    for (int y = 0; y < image_[1]; ++y) {
      look(0, y, z, 0);
      look(image_[0] - 1, y, z, 1);
      for (int x = 0; x < image_[0]; ++x) {
        if (y == 0) look(x, y, z, 2);
        if (y == image_[1] - 1) look(x, y, z, 3);
        if (z == 0) look(x, y, z, 4);
        if (z == image_[2] - 1) look(x, y, z, 5);
      }
    }
  }
}

void Layer::find_exits() {
  for (const auto& [voxel, number] : exits_) (heights_.z(voxel) < first_ ? exits_low : exits_high).push_back(voxel);
}

std::vector<Key> Layer::keys_of_plane(int z) const {
  std::vector<Key> keys;
  for (std::int64_t i = 0; i < heights_.plane(); ++i) {
    const std::int32_t n = number_[(z - first_) * heights_.plane() + i];
    keys.push_back(n < 0 ? none : basins[n].root);
  }
  return keys;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The planes of a rank, then of all.
class Watershed {
 public:
  Watershed(const Comm& comm, const Slabs<std::uint16_t>& distance)
      : comm_(comm), own_(distance.own()), planes_(distance, 3), heights_(planes_) {}
  BasinGraph run() {
    find_own();
    join_ranks();
    return gathered();
  }

 private:
  void find_own();
  void join_ranks();
  BasinGraph gathered();
  /// A key that is its own voxel is a root.
  void learn(const std::vector<Key>& exits, std::span<const Key> keys) {
    for (const Key voxel : exits)
      if (const Key key = keys[voxel % heights_.plane()]; key != voxel) aliases_[voxel] = key;
  }
  Message message(int rank, std::span<const Key> keys) {
    std::vector<Key> ends(keys.begin(), keys.end());
    for (Key& k : ends)
      if (k != none) k = end_of(aliases_, k);
    const auto bytes = std::as_bytes(std::span(ends));
    return {rank, std::vector<std::byte>(bytes.begin(), bytes.end())};
  }

  const Comm& comm_;
  ImageWindow own_;
  DistancePlanes planes_;
  Heights heights_;
  BasinGraph graph_;
  std::vector<BasinContact> contacts_;
  Aliases aliases_;
  std::vector<Key> low_, high_, exits_low_, exits_high_;  ///< of the slab, as in Layer
};

void Watershed::find_own() {
  constexpr int thickness = 16;
  const std::int64_t layers = (own_.planes() + thickness - 1) / thickness, together = n_threads();
  for (std::int64_t l = 0; l < layers; l += together) {
    std::vector<std::optional<Layer>> some(std::min(together, layers - l));
    parallel_for_dynamic(std::int64_t(some.size()), [&](std::int64_t k) {
      const int first = own_.first + static_cast<int>(l + k) * thickness;
      some[k].emplace(heights_, own_.image, first, std::min(first + thickness, own_.last));
    });
    for (std::int64_t k = 0; k < std::int64_t(some.size()); ++k) {
      Layer& layer = *some[k];
      append(graph_.basins, layer.basins);
      append(contacts_, layer.contacts);
      if (l + k == 0) {
        low_ = layer.low;
        exits_low_ = layer.exits_low;
      } else {
        learn(exits_high_, layer.low);
        learn(layer.exits_low, high_);
        heights_.contacts_across(own_.first + static_cast<int>(l + k) * thickness - 1, high_, layer.low, contacts_);
      }
      high_ = std::move(layer.high);
      exits_high_ = std::move(layer.exits_high);
    }
    resolve(contacts_, aliases_);
  }
}

/// With the keys of the neighbouring planes of other ranks. Collective.
void Watershed::join_ranks() {
  std::vector<Message> out;
  if (own_.planes() > 0) {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const int first = slab_begin(own_.image, rank, comm_.size()),
                last = slab_begin(own_.image, rank + 1, comm_.size());
      if (first < last && last == own_.first) out.push_back(message(rank, low_));
      if (first < last && first == own_.last) out.push_back(message(rank, high_));
    }
  }
  for (const Message& m : comm_.sparse_exchange(out)) {
    std::vector<Key> keys(m.bytes.size() / sizeof(Key));
    std::memcpy(keys.data(), m.bytes.data(), m.bytes.size());
    if (m.rank > comm_.rank()) {
      learn(exits_high_, keys);
      continue;
    }
    learn(exits_low_, keys);
    heights_.contacts_across(own_.first - 1, keys, low_, contacts_);
  }
  resolve(contacts_, aliases_);
  graph_.saddles.resize(contacts_.size());
  parallel_for_dynamic(std::int64_t(contacts_.size()),
                       [&](std::int64_t i) { graph_.saddles[i] = heights_.saddle(contacts_[i]); });
  contacts_ = std::vector<BasinContact>();  // = {} would keep the memory
  resolve(graph_, aliases_);
}

template <class T>
void put(std::vector<std::byte>& bytes, const std::vector<T>& values) {
  const std::size_t n = values.size(), before = bytes.size();
  bytes.resize(before + sizeof n + n * sizeof(T));
  std::memcpy(bytes.data() + before, &n, sizeof n);
  if (n > 0) std::memcpy(bytes.data() + before + sizeof n, values.data(), n * sizeof(T));
}

template <class T>
void take(std::span<const std::byte>& bytes, std::vector<T>& values) {
  std::size_t n = 0;
  std::memcpy(&n, bytes.data(), sizeof n);
  const std::size_t before = values.size();
  values.resize(before + n);
  if (n > 0) std::memcpy(values.data() + before, bytes.data() + sizeof n, n * sizeof(T));
  bytes = bytes.subspan(sizeof n + n * sizeof(T));
}

struct Known {
  Key alias, key;
};

/// On rank 0; empty elsewhere. Collective.
BasinGraph Watershed::gathered() {
  if (comm_.size() == 1) return std::move(graph_);
  std::vector<Known> learned;
  for (const auto* exits : {&exits_low_, &exits_high_})
    for (const Key voxel : *exits)
      if (const auto known = aliases_.find(voxel); known != aliases_.end()) learned.push_back({voxel, known->second});
  std::vector<Message> out(1);
  out[0].rank = 0;
  put(out[0].bytes, graph_.basins);
  put(out[0].bytes, graph_.saddles);
  put(out[0].bytes, learned);
  graph_ = {};
  BasinGraph all;
  learned.clear();
  for (const Message& m : comm_.sparse_exchange(out)) {
    std::span<const std::byte> bytes(m.bytes);
    take(bytes, all.basins);
    take(bytes, all.saddles);
    take(bytes, learned);
  }
  Aliases aliases;
  for (const Known& k : learned) aliases[k.alias] = k.key;
  resolve(all, aliases);
  return all;
}

}  // namespace

BasinGraph basin_graph(const Comm& comm, const Slabs<std::uint16_t>& distance) {
  return Watershed(comm, distance).run();
}

}  // namespace karst
