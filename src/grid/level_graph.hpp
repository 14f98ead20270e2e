// SPDX-License-Identifier: BSD-3-Clause
// The VoF graph of a level: which pieces of fluid exist in each box and which of them share a face.
//
// The own VoFs of a box are numbered in lexicographic order of their cells (x fastest; pieces of one cell follow
// each other). After them come the halo slots and one last "closed" slot. A field is one array over those slots.
//   own VoFs | halo VoFs (sorted by owner box and VoF) | coarse-fine ghosts | domain ghosts | closed slot
// Ghosts: one per own face that is a coarse_face or domain_face, by side, then by VoF. In a periodic domain one box
// wide a box is its own neighbour: the images of its VoFs are halo slots like all others. Connectivity is stored in two
// forms:
//   runs    two or more x-consecutive VoFs that are regular (κ = 1, six fully open faces) and whose neighbours
//           across each lateral side have consecutive slots; the slots beyond the two ends are arbitrary. 18 bytes
//           per run, 1.3 to 2.6 per regular VoF in rocks; unit stride inside;
//   rows    all other VoFs, 16 bytes each: a table of six 16-bit slots, sides in the order -x +x -y +y -z +z; a side
//           without fluid points to the closed slot. Irregular VoFs come first among the rows of a box.
// Further connections (a second neighbour across one side, or a diagonal one) are extra faces.
// A face in direction d belongs to the VoF on its high side: a face field stores it in component d at that slot.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "grid/layout.hpp"
#include "grid/peer_exchange.hpp"

namespace karst {

/// Global name of a VoF: its box in the layout and its number among the VoFs of the box, packed in 64 bits.
using VofName = std::uint64_t;
constexpr VofName vof_name(std::int64_t box, int vof) {
  return (static_cast<std::uint64_t>(box) << 16) | static_cast<std::uint64_t>(vof);
}
constexpr std::int64_t box_of(VofName n) { return static_cast<std::int64_t>(n >> 16); }
constexpr int vof_of(VofName n) { return static_cast<int>(n & 0xffff); }

/// Special names for sides without a neighbouring VoF of this level.
constexpr VofName no_face = ~VofName{0};          ///< solid: no fluid face
constexpr VofName domain_face = ~VofName{0} - 1;  ///< open domain face
constexpr VofName coarse_face = ~VofName{0} - 2;  ///< open face towards the next coarser level
constexpr bool is_vof(VofName n) { return n < coarse_face; }

struct ExtraConnection {
  std::uint16_t vof;  ///< own VoF
  std::uint8_t side;  ///< 0..5: side of vof
  VofName neighbour;
};

/// Adjacency of one box, the input of the graph builder.
struct BoxAdjacency {
  std::vector<std::uint16_t> cell;              ///< n_own: offset of the VoF's cell in the box, not decreasing
  std::vector<std::uint8_t> irregular;          ///< n_own: 1 when κ or an aperture differs from 1
  std::vector<std::array<VofName, 6>> primary;  ///< n_own: neighbour across each side
  std::vector<ExtraConnection> extra;           ///< sorted by vof, then in any order
};

/// VoFs first, first + 1, ... in x-consecutive cells, length >= 2. The neighbour across -x is the previous VoF, across
/// +x the next one, except at the two ends; across side 2 + s of the VoF first + t it is slot lateral[s] + t.
struct Run {
  std::uint16_t first, length, cell;
  std::uint16_t low_end, high_end;  ///< slot across -x of the first, across +x of the last VoF
  std::array<std::uint16_t, 4> lateral;

  /// Slots across the six sides of the VoF first + t.
  std::array<std::uint16_t, 6> neighbours(int t) const {
    const auto slot = [](int s) { return static_cast<std::uint16_t>(s); };
    return {slot(t == 0 ? low_end : first + t - 1),
            slot(t == length - 1 ? high_end : first + t + 1),
            slot(lateral[0] + t),
            slot(lateral[1] + t),
            slot(lateral[2] + t),
            slot(lateral[3] + t)};
  }
  friend bool operator==(const Run&, const Run&) = default;
};
static_assert(sizeof(Run) == 18);

/// One more face of a VoF (both slots of this box).
struct ExtraFace {
  std::uint16_t vof, neighbour;
  std::uint8_t side;
  friend bool operator==(const ExtraFace&, const ExtraFace&) = default;
};

/// Consecutive halo slots whose VoFs belong to one box.
struct HaloGroup {
  std::int64_t box;     ///< in the layout
  std::uint16_t begin;  ///< first halo slot, counted from the end of the own VoFs
};

/// Names of the halo slots of one box, stored in two bytes each.
class HaloNames {
 public:
  class Iterator {
   public:
    using value_type = VofName;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const HaloNames* names, int at) : names_(names), at_(at) {}
    VofName operator*() const { return (*names_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {names_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const HaloNames* names_ = nullptr;
    int at_ = 0;
  };

  HaloNames() = default;
  HaloNames(std::span<const HaloGroup> groups, std::span<const std::uint16_t> vof, int n_coarse, int n_domain)
      : groups_(groups), vof_(vof), n_coarse_(n_coarse), n_domain_(n_domain) {}

  int n_vofs() const { return static_cast<int>(vof_.size()); }
  int n_coarse() const { return n_coarse_; }
  int n_domain() const { return n_domain_; }
  int size() const { return n_vofs() + n_coarse_ + n_domain_; }
  /// Name of halo slot i (field slot n_own + i), or coarse_face / domain_face. O(log n_groups).
  VofName operator[](int i) const;
  /// Halo slot of a VoF (field slot n_own + it), -1 if it is not in the halo. O(log n).
  int find(VofName) const;
  std::span<const HaloGroup> groups() const { return groups_; }
  /// Numbers of the VoFs of group g in their own box, in slot order.
  std::span<const std::uint16_t> vofs_of_group(std::size_t g) const {
    const std::size_t begin = groups_[g].begin;
    return vof_.subspan(begin, (g + 1 < groups_.size() ? groups_[g + 1].begin : vof_.size()) - begin);
  }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  std::span<const HaloGroup> groups_;
  std::span<const std::uint16_t> vof_;
  int n_coarse_ = 0, n_domain_ = 0;
};

/// Read-only view of one box of a LevelGraph.
struct BoxGraph {
  Box cells;
  std::int64_t box = 0;  ///< position in the layout
  int n_own = 0, n_halo = 0, n_irregular = 0;
  std::span<const Run> runs;                ///< by increasing VoF
  std::span<const std::uint16_t> row_vof;   ///< VoF of each row: the n_irregular irregular ones, increasing, then the
                                            ///< others, increasing
  std::span<const std::uint16_t> row_cell;  ///< offset of its cell in the box
  std::span<const std::array<std::uint16_t, 6>> neighbours;  ///< per row: slots
  std::span<const ExtraFace> extra;                          ///< as handed in: sorted by vof
  HaloNames halo;                                            ///< n_halo: name, or coarse_face / domain_face
  int closed() const { return n_own + n_halo; }
  int n_slots() const { return n_own + n_halo + 1; }
  /// Name of the VoF in a slot; no_face for the closed slot.
  VofName name(int slot) const {
    if (slot < n_own) return vof_name(box, slot);
    return slot < closed() ? halo[slot - n_own] : no_face;
  }
};

/// Position of the slots of each own box in a field, and of its own VoFs in a list of own VoFs. Shared by all fields.
struct SlotMap {
  std::vector<std::int64_t> begin;      ///< n_local + 1
  std::vector<std::int64_t> vof_begin;  ///< n_local + 1
  int n_local() const { return static_cast<int>(begin.size()) - 1; }
  int n_own(int local) const { return static_cast<int>(vof_begin[local + 1] - vof_begin[local]); }
};

/// Copies and messages that fill the halo VoFs; see halo_plan.cpp.
struct HaloPlan {
  /// count values: field[to + t] = field[from + vof[t]] (local), or one part of a message.
  struct Copy {
    std::int64_t to, from;  ///< first slot in the field of the target / of the source box
    std::int64_t list;      ///< first entry in the list of VoF numbers
    std::int32_t count;
  };
  /// count values from one place of a message: field[to + t] = message[from + t].
  struct Received {
    std::int64_t to, from;
    std::int32_t count, peer;
  };
  std::vector<Copy> local;               ///< lists in LevelGraph::halo_vofs()
  std::vector<std::size_t> local_begin;  ///< n_local + 1: copies into each box
  std::vector<Received> receives;
  std::vector<std::size_t> receives_begin;  ///< n_local + 1: parts received into each box
  std::vector<int> n_messages;              ///< per own box: messages with VoFs of its halo
  std::vector<int> interior, boundary;      ///< own boxes without / with halo VoFs of other ranks

  std::vector<ExchangePeer> peers;       ///< by increasing rank; ranges count values per component
  std::vector<Copy> sends;               ///< `to` is the place in the message; lists in send_vofs
  std::vector<std::size_t> sends_begin;  ///< n_peers + 1
  Array<std::uint16_t> send_vofs;
  std::vector<int> readers;                ///< own boxes that read the message of each peer
  std::vector<std::size_t> readers_begin;  ///< n_peers + 1

  std::span<const Copy> sends_to(std::size_t peer) const {
    return std::span(sends).subspan(sends_begin[peer], sends_begin[peer + 1] - sends_begin[peer]);
  }
  std::span<const int> readers_of(std::size_t peer) const {
    return std::span(readers).subspan(readers_begin[peer], readers_begin[peer + 1] - readers_begin[peer]);
  }
  std::int64_t bytes() const;
};

/// Arrays of a LevelGraph, one of each for the whole level. Boxes with equal tables (same runs, rows, extra faces and
/// halo numbers, as nearly all boxes without a wall) share them.
struct GraphStorage {
  struct Table {
    std::int64_t runs, rows, extra, halo;  ///< first entries
    std::int32_t n_own, n_irregular, n_runs, n_rows, n_extra, n_halo_vofs, n_coarse, n_domain;
  };
  struct Entry {
    std::int32_t table, n_groups;
    std::int64_t groups;
  };
  std::vector<Table> tables;
  std::vector<Entry> boxes;
  Array<Run> runs;
  Array<std::uint16_t> row_vof, row_cell, halo_vof;
  Array<std::array<std::uint16_t, 6>> neighbours;
  Array<ExtraFace> extra;
  Array<HaloGroup> groups;
  std::int64_t bytes() const;
};

struct GraphCounts {
  std::int64_t vofs = 0, irregular = 0, in_runs = 0, in_rows = 0, extra_faces = 0;
  std::int64_t halo_vofs = 0, coarse_ghosts = 0, domain_ghosts = 0;
  std::int64_t slots = 0;          ///< length of a field, closed slots included
  std::int64_t shared_tables = 0;  ///< boxes that use the table of another box
};

/// The part of the VoF graph of a level that one rank owns. Immutable.
class LevelGraph {
 public:
  LevelGraph() = default;
  LevelGraph(Layout layout, int rank, GraphStorage storage);

  const Layout& layout() const { return layout_; }
  int rank() const { return rank_; }
  int n_local() const { return static_cast<int>(storage_.boxes.size()); }
  std::int64_t first_box() const { return first_box_; }  ///< layout position of own box 0
  /// Own number of a layout box; -1 if another rank owns it.
  int local(std::int64_t box) const {
    return box >= first_box_ && box < first_box_ + n_local() ? static_cast<int>(box - first_box_) : -1;
  }
  BoxGraph box(int local) const;
  const GraphCounts& counts() const { return counts_; }  ///< of this rank
  std::int64_t bytes() const;                            ///< connectivity, halo lists and plans of this rank

  std::int64_t slot_begin(int local) const { return slots_->begin[local]; }
  std::int64_t vof_begin(int local) const { return slots_->vof_begin[local]; }
  const std::shared_ptr<const SlotMap>& slots() const { return slots_; }
  const HaloPlan& halo_plan() const { return plan_; }
  std::span<const std::uint16_t> halo_vofs() const { return storage_.halo_vof.span(); }
  void set_halo_plan(HaloPlan plan) { plan_ = std::move(plan); }

 private:
  Layout layout_;
  int rank_ = 0;
  std::int64_t first_box_ = 0;
  GraphStorage storage_;
  GraphCounts counts_;
  std::shared_ptr<const SlotMap> slots_ = std::make_shared<SlotMap>(SlotMap{{0}, {0}});
  HaloPlan plan_;
};

/// Own boxes of a graph that are the same in another one, neighbours included.
struct KeptGraph {
  const LevelGraph* before = nullptr;
  std::span<const int> box{};  ///< of each own box that of the graph before; -1: none; empty: none of them
  int of(std::int64_t local) const { return box.empty() ? -1 : box[local]; }
};

/// The number in a layout of a box of another layout of the same lattice. It must be there.
std::int64_t place_in(const Layout& from, std::int64_t box, const Layout& to);

/// Builds the graph of the own boxes and the plan of their halo exchange. Collective.
///
/// @param adjacency  VoFs of a box of the layout and their neighbours; called once per own box from several
///                   threads, its result is released box by box. Both sides of a face must be given (see check()).
/// @param kept       boxes that are copied, for which nothing is called
/// Throws Error if a box and its halo need more than 65536 slots.
LevelGraph build_level_graph(const Comm& comm, Layout layout,
                             const std::function<BoxAdjacency(std::int64_t layout_box)>& adjacency,
                             const KeptGraph& kept = {});

/// The adjacency a box was built from. Not collective.
BoxAdjacency adjacency_of(const BoxGraph& graph);

/// Checks for faces that only one of their two VoFs lists, and for neighbours that do not exist. Returns the errors of
/// the own VoFs (at most 20 sentences), empty if there are none. Collective; for tests and Debug runs.
std::vector<std::string> check(const Comm& comm, const LevelGraph& graph);

}  // namespace karst
