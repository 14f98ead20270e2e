// SPDX-License-Identifier: BSD-3-Clause
#include "grid/graph_compile.hpp"

#include <algorithm>
#include <cassert>

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr int shortest_run = 2;  // one VoF is shorter as a row

using Slots = std::array<std::uint16_t, 6>;

/// An own face without a VoF behind it.
struct Ghost {
  VofName kind;
  std::uint8_t side;
  std::uint16_t vof;
  std::uint32_t extra;  // 0: the primary face, else 1 + its place among the extra faces
  friend auto operator<=>(const Ghost&, const Ghost&) = default;
};

class Compiler {
 public:
  Compiler(const Layout& layout, std::int64_t box, const BoxAdjacency& in)
      : in_(in), box_(box), cells_(layout.box(box)), n_own_(static_cast<int>(in.cell.size())) {
    assert(in.irregular.size() == in.cell.size() && in.primary.size() == in.cell.size());
    assert(std::is_sorted(in.cell.begin(), in.cell.end()));
    const Index at = layout.lattice_position(box);
    for (int side = 0; side < 6; ++side) wraps_[side] = layout.find(at + side_offset(side)) == box;
  }

  CompiledBox compile() {
    find_halo();
    const std::size_t n_slots = n_own_ + halo_.size() + ghosts_.size() + 1;
    require(n_slots <= 65536,
            "grid: box {} with cells from ({}, {}, {}) needs {} slots ({} VoFs, {} in the halo); 65536 fit, use "
            "smaller boxes",
            box_, cells_.lo[0], cells_.lo[1], cells_.lo[2], n_slots, n_own_, n_slots - n_own_);
    closed_ = static_cast<std::uint16_t>(n_slots - 1);
    number_faces();
    find_runs();
    list_rows();
    out_.n_own = n_own_;
    return std::move(out_);
  }

 private:
  bool is_own(int vof, int side, VofName name) const {
    if (box_of(name) != box_) return false;
    if (!wraps_[side]) return true;
    const int d = direction_of(side);
    return cells_.cell(in_.cell[vof])[d] != (is_high(side) ? cells_.hi[d] - 1 : cells_.lo[d]);
  }

  void note(int vof, int side, VofName name, std::uint32_t extra) {
    if (name == no_face) return;
    if (!is_vof(name))
      ghosts_.push_back({name, static_cast<std::uint8_t>(side), static_cast<std::uint16_t>(vof), extra});
    else if (!is_own(vof, side, name))
      halo_.push_back(name);
  }

  void find_halo() {
    for (int v = 0; v < n_own_; ++v)
      for (int s = 0; s < 6; ++s) note(v, s, in_.primary[v][s], 0);
    for (std::size_t e = 0; e < in_.extra.size(); ++e)
      note(in_.extra[e].vof, in_.extra[e].side, in_.extra[e].neighbour, static_cast<std::uint32_t>(e + 1));
    std::sort(halo_.begin(), halo_.end());
    halo_.erase(std::unique(halo_.begin(), halo_.end()), halo_.end());
    static_assert(coarse_face < domain_face);
    std::sort(ghosts_.begin(), ghosts_.end());
    for (const Ghost& g : ghosts_) ++(g.kind == coarse_face ? out_.n_coarse : out_.n_domain);
    for (std::size_t h = 0; h < halo_.size(); ++h) {
      if (out_.groups.empty() || out_.groups.back().box != box_of(halo_[h]))
        out_.groups.push_back({box_of(halo_[h]), static_cast<std::uint16_t>(h)});
      out_.halo_vof.push_back(static_cast<std::uint16_t>(vof_of(halo_[h])));
    }
  }

  std::uint16_t slot(int vof, int side, VofName name) const {
    if (!is_vof(name)) return closed_;
    if (is_own(vof, side, name)) {
      assert(vof_of(name) < n_own_);
      return static_cast<std::uint16_t>(vof_of(name));
    }
    const auto at = std::lower_bound(halo_.begin(), halo_.end(), name);
    return static_cast<std::uint16_t>(n_own_ + (at - halo_.begin()));
  }

  void number_faces() {
    slots_.resize(n_own_);
    for (int v = 0; v < n_own_; ++v)
      for (int s = 0; s < 6; ++s) slots_[v][s] = slot(v, s, in_.primary[v][s]);
    has_extra_.assign(n_own_, false);
    out_.extra.reserve(in_.extra.size());
    for (const ExtraConnection& e : in_.extra) {
      out_.extra.push_back({e.vof, slot(e.vof, e.side, e.neighbour), e.side});
      has_extra_[e.vof] = true;
    }
    for (std::size_t g = 0; g < ghosts_.size(); ++g) {
      const auto place = static_cast<std::uint16_t>(n_own_ + halo_.size() + g);
      if (ghosts_[g].extra == 0)
        slots_[ghosts_[g].vof][ghosts_[g].side] = place;
      else
        out_.extra[ghosts_[g].extra - 1].neighbour = place;
    }
  }

  bool fits_a_run(int v) const {
    const Slots& s = slots_[v];
    return !in_.irregular[v] && !has_extra_[v] && std::find(s.begin(), s.end(), closed_) == s.end();
  }

  bool continues(int v) const {
    if (in_.cell[v] != in_.cell[v - 1] + 1 || !fits_a_run(v)) return false;
    const Slots &before = slots_[v - 1], &here = slots_[v];
    if (before[1] != v || here[0] != v - 1) return false;
    for (std::size_t side = 2; side < 6; ++side)
      if (here[side] != before[side] + 1) return false;
    return true;
  }

  void find_runs() {
    in_run_.assign(n_own_, false);
    for (int v = 0; v < n_own_;) {
      int end = v;
      if (fits_a_run(v))
        for (++end; end < n_own_ && continues(end);) ++end;
      if (end - v >= shortest_run) {
        const Slots& s = slots_[v];
        out_.runs.push_back({static_cast<std::uint16_t>(v),
                             static_cast<std::uint16_t>(end - v),
                             in_.cell[v],
                             s[0],
                             slots_[end - 1][1],
                             {s[2], s[3], s[4], s[5]}});
        std::fill(in_run_.begin() + v, in_run_.begin() + end, true);
      }
      v = std::max(end, v + 1);
    }
  }

  void list_rows() {
    for (const bool irregular : {true, false})
      for (int v = 0; v < n_own_; ++v) {
        if (in_run_[v] || (in_.irregular[v] != 0) != irregular) continue;
        out_.row_vof.push_back(static_cast<std::uint16_t>(v));
        out_.row_cell.push_back(in_.cell[v]);
        out_.neighbours.push_back(slots_[v]);
        out_.n_irregular += irregular;
      }
  }

  const BoxAdjacency& in_;
  std::int64_t box_;
  Box cells_;
  int n_own_;
  std::uint16_t closed_ = 0;
  std::array<bool, 6> wraps_{};  // the box is its own neighbour across this side
  std::vector<VofName> halo_;
  std::vector<Ghost> ghosts_;
  std::vector<Slots> slots_;
  std::vector<bool> has_extra_, in_run_;
  CompiledBox out_;
};

/// FNV-1a over 16-bit words.
class Hash {
 public:
  template <class T>
  void add(T x) {
    value_ = (value_ ^ static_cast<std::uint64_t>(x)) * 0x100000001b3ULL;
  }
  std::uint64_t value() const { return value_ ^ value_ >> 29; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::uint64_t CompiledBox::hash() const {
  Hash h;
  for (const int n : {n_own, n_irregular, n_coarse, n_domain}) h.add(n);
  for (const Run& r : runs) {
    h.add(r.first);
    h.add(r.length);
    h.add(r.cell);
    h.add(r.low_end);
    h.add(r.high_end);
    for (const std::uint16_t s : r.lateral) h.add(s);
  }
  for (std::size_t r = 0; r < row_vof.size(); ++r) {
    h.add(row_vof[r]);
    h.add(row_cell[r]);
    for (const std::uint16_t s : neighbours[r]) h.add(s);
  }
  for (const ExtraFace& e : extra) h.add(std::uint64_t{e.vof} << 24 | std::uint64_t{e.neighbour} << 8 | e.side);
  for (const std::uint16_t v : halo_vof) h.add(v);
  return h.value();
}

bool CompiledBox::same_table(const CompiledBox& o) const {
  return n_own == o.n_own && n_irregular == o.n_irregular && n_coarse == o.n_coarse && n_domain == o.n_domain &&
         row_vof == o.row_vof && row_cell == o.row_cell && neighbours == o.neighbours && halo_vof == o.halo_vof &&
         runs == o.runs && extra == o.extra;
}

CompiledBox compile_box(const Layout& layout, std::int64_t box, const BoxAdjacency& adjacency) {
  return Compiler(layout, box, adjacency).compile();
}

}  // namespace karst
