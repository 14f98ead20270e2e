// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/fine_coarsen.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/core/items_of.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/morton.hpp"
#include "solvers/multigrid/row_builder.hpp"

namespace karst {
namespace {

/// Faces of the VoFs of one box, with one access for runs, rows and extra faces; retains its memory from box to box.
class BoxFaces {
 public:
  void set(const TwoPointLevel& level, int local) {
    const LevelGeometry& geometry = *level.geometry;
    graph_ = geometry.graph.box(local);
    level_ = &level;
    box_ = local;
    weight_ = level.weight.span().subspan(geometry.moments_begin[local]);
    shift_ = level.shift.span().subspan(geometry.moments_begin[local]);
    extra_weight_ = level.extra.span().subspan(geometry.extra_begin[local]);
    const std::size_t n = graph_.n_own;
    slots_.resize(n);
    cell_.resize(n);
    row_.assign(n, -1);
    for (const Run& run : graph_.runs)
      for (int t = 0; t < run.length; ++t) {
        const std::size_t v = run.first + t;
        slots_[v] = run.neighbours(t);
        cell_[v] = static_cast<std::uint16_t>(run.cell + t);
      }
    for (std::size_t r = 0; r < graph_.row_vof.size(); ++r) {
      const std::size_t v = graph_.row_vof[r];
      slots_[v] = graph_.neighbours[r];
      cell_[v] = graph_.row_cell[r];
      if (std::cmp_less(r, graph_.n_irregular)) row_[v] = static_cast<std::int32_t>(r);
    }
    extra_begin_.assign(graph_.n_irregular + 1, 0);
    std::size_t e = 0;
    for (std::size_t r = 0; r + 1 < extra_begin_.size(); ++r) {
      while (e < graph_.extra.size() && graph_.extra[e].vof == graph_.row_vof[r]) ++e;
      extra_begin_[r + 1] = static_cast<std::int32_t>(e);
    }
  }

  const BoxGraph& graph() const { return graph_; }
  int cell(std::size_t vof) const { return cell_[vof]; }
  double shift(std::size_t vof) const { return row_[vof] < 0 ? level_->regular_shift : shift_[row_[vof]]; }
  /// f(slot, side, weight) for every face of positive weight.
  template <class F>
  void for_each(std::size_t vof, F&& f) const {
    const std::array<std::uint16_t, 6>& slots = slots_[vof];
    if (row_[vof] < 0) {
      for (std::size_t side = 0; side < 6; ++side)
        f(slots[side], side, level_->whole_weight(box_, static_cast<int>(vof), static_cast<int>(side), slots[side]));
      return;
    }
    const std::size_t r = row_[vof];
    for (std::size_t side = 0; side < 6; ++side)
      if (weight_[r][side] > 0.0F) f(slots[side], side, weight_[r][side]);
    for (auto e = extra_begin_[r]; e < extra_begin_[r + 1]; ++e)
      if (extra_weight_[e] > 0.0F) f(graph_.extra[e].neighbour, std::size_t{graph_.extra[e].side}, extra_weight_[e]);
  }

 private:
  BoxGraph graph_;
  const TwoPointLevel* level_ = nullptr;
  int box_ = 0;
  std::span<const std::array<float, 6>> weight_;
  std::span<const float> shift_, extra_weight_;
  std::vector<std::array<std::uint16_t, 6>> slots_;
  std::vector<std::uint16_t> cell_;
  std::vector<std::int32_t> row_, extra_begin_;
};

/// Links of one box of one level, of all ends in their order.
std::span<const LinkEnd> ends_of(const std::vector<LinkEnd>& ends, std::size_t level, std::int64_t box) {
  return items_of(ends, std::pair(static_cast<std::int32_t>(level), static_cast<std::int32_t>(box)),
                  [](const LinkEnd& e) { return std::pair(e.level, e.box); });
}

/// Pieces of the blocks of one box: numbers from 0, by Morton order of the blocks, then by first VoF. VoFs without
/// connections (isolated fragments) belong to no piece: D^-1 A is 1 there, so the smoother alone solves them.
class PieceFinder {
 public:
  /// @param covered      VoFs that are no unknowns
  /// @param[out] child   VoFs by piece
  /// @param ends         of the links of the box
  /// @param[out] parent  per VoF; none where covered or alone
  void find(const BoxFaces& faces, std::span<const std::uint16_t> covered, std::span<const LinkEnd> ends,
            std::span<std::uint16_t> child, std::vector<std::uint16_t>& parent) {
    const BoxGraph& graph = faces.graph();
    const std::size_t n = graph.n_own;
    sort_by_block(faces);
    find_strongest(faces);
    parent.assign(n, none);
    for (const std::uint16_t v : covered) parent[v] = hidden;
    end.clear();
    block.clear();
    std::size_t k = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint16_t seed = order_[i];
      if (parent[seed] != none || is_alone(faces, ends, seed)) continue;
      const auto number = static_cast<std::uint16_t>(end.size());
      const std::uint16_t in = block_of_[seed];
      parent[seed] = number;
      child[k++] = seed;
      for (std::size_t next = k - 1; next < k; ++next)
        faces.for_each(child[next], [&](std::uint16_t slot, std::size_t, float weight) {
          if (slot >= n || parent[slot] != none || block_of_[slot] != in) return;
          if (is_weak(weight, strongest_[child[next]], strongest_[slot])) return;
          parent[slot] = number;
          child[k++] = slot;
        });
      end.push_back(static_cast<std::uint16_t>(k));
      block.push_back(in);
    }
    for (const std::uint16_t v : covered) parent[v] = none;
  }
  static constexpr std::uint16_t none = 0xffff;
  std::vector<std::uint16_t> end, block;  ///< per piece: end of its children; Morton key of its block in the box

 private:
  static constexpr std::uint16_t hidden = 0xfffe;  // covered; only during the search

  static bool is_alone(const BoxFaces& faces, std::span<const LinkEnd> ends, std::uint16_t vof) {
    bool alone = true;
    faces.for_each(vof, [&](std::uint16_t, std::size_t, float) { alone = false; });
    return alone && !std::ranges::binary_search(ends, int{vof}, {}, &LinkEnd::vof);
  }
  void sort_by_block(const BoxFaces& faces) {
    const BoxGraph& graph = faces.graph();
    if (cells_ != graph.cells.size()) number_blocks(graph.cells);
    const std::size_t n = graph.n_own;
    block_of_.resize(n);
    order_.resize(n);
    first_.assign(n_blocks_ + 1, 0);
    for (std::size_t v = 0; v < n; ++v) {
      block_of_[v] = block_of_cell_[faces.cell(v)];
      ++first_[std::size_t{block_of_[v]} + 1];
    }
    for (std::size_t b = 0; b + 1 < first_.size(); ++b) first_[b + 1] += first_[b];
    for (std::size_t v = 0; v < n; ++v) order_[first_[block_of_[v]]++] = static_cast<std::uint16_t>(v);
  }
  void find_strongest(const BoxFaces& faces) {
    strongest_.assign(faces.graph().n_own, 0.0F);
    for (std::size_t v = 0; v < strongest_.size(); ++v)
      faces.for_each(
          v, [&](std::uint16_t, std::size_t, float weight) { strongest_[v] = std::max(strongest_[v], weight); });
  }
  void number_blocks(const Box& cells) {
    cells_ = cells.size();
    block_of_cell_.clear();
    n_blocks_ = 0;
    for_each_cell({{}, cells_}, [&](const Index& c) {
      const auto key = static_cast<std::uint16_t>(morton_encode({c[0] / 2, c[1] / 2, c[2] / 2}));
      block_of_cell_.push_back(key);
      n_blocks_ = std::max(n_blocks_, key + 1);
    });
  }

  Index cells_{};
  int n_blocks_ = 0;
  std::vector<std::uint16_t> block_of_cell_, block_of_, order_;
  std::vector<std::int32_t> first_;
  std::vector<float> strongest_;  // link of each VoF
};

/// Work arrays of one thread.
struct Workspace {
  BoxFaces faces;
  PieceFinder pieces;
  std::vector<std::uint16_t> parent;
  std::vector<std::int32_t> column;  // per slot
};

/// Coarsens one grid level; find() on all levels comes before build() on any.
class Coarsener {
 public:
  Coarsener(const Comm& comm, const TwoPointLevel& level, std::vector<Workspace>& tools)
      : comm_(comm),
        level_(level),
        graph_(level.geometry->graph),
        tools_(tools),
        number_(graph_, 1, Purpose::buffers) {}

  /// Finds and numbers the nodes, from first_node on; numbers of the halo are known then.
  /// @param place  of the level among the levels
  void find(std::int64_t first_node, std::size_t place, const std::vector<LinkEnd>& ends) {
    const std::size_t n = graph_.n_local();
    block_.resize(n);
    end_.resize(n);
    children_.child = Array<std::uint16_t>(graph_.counts().vofs, Purpose::solver);
    parallel_for_dynamic(graph_.n_local(),
                         [&](std::int64_t b) { find_pieces(static_cast<int>(b), ends_of(ends, place, b)); });
    number_nodes(first_node);
    fill_halo(comm_, graph_, number_);
  }

  std::int64_t end_node() const { return children_.node_begin.back(); }
  /// Own number of the node of a VoF (its owner's number in the halo); -1 where covered or alone.
  std::int32_t node(int b, int slot) const { return number_.box(b)[slot]; }

  void list_remote(std::vector<RemoteItem>& remote) const {
    for (const int b : graph_.halo_plan().boundary)
      for_each_halo(b, [&](int slot, int owner) {
        if (owner != comm_.rank() && node(b, slot) >= 0) remote.push_back({owner, node(b, slot)});
      });
  }

  /// Rows of the nodes of one box.
  /// @param column  (owner, its number) -> column
  /// @param ends    of the links of this box, by VoF
  template <class F>
  void build_rows(int b, F&& column, std::span<const LinkEnd> ends, std::span<const std::int32_t> link_column,
                  float scale, RowBuilder& rows) {
    Workspace& tools = tools_[thread_number()];
    tools.faces.set(level_, b);
    number_columns(b, column, tools.column);
    const BoxGraph& g = tools.faces.graph();
    const auto first_ghost = static_cast<std::uint16_t>(g.n_own + g.halo.n_vofs());
    const auto first_domain = static_cast<std::uint16_t>(first_ghost + g.halo.n_coarse());
    const float* factor = level_.ghost_factor.data() + level_.ghost_begin[b];
    const std::uint64_t box_key = key_of_box(b);
    const std::span<const std::uint16_t> child = children_of(b);
    const auto add = [&](std::int32_t node, float weight, int vof, std::size_t side) {
      rows.add(node, weight);
      if (level_.has_flow()) rows.add_inflow(node, level_.inflow_of(b, vof, side));
    };
    std::size_t k = 0;
    for (std::size_t c = 0; c < end_[b].size(); ++c) {
      rows.begin_row(static_cast<std::int32_t>(children_.node_begin[b] + static_cast<std::int64_t>(c)));
      for (const std::size_t end = end_[b][c]; k < end; ++k) {
        rows.add_shift(tools.faces.shift(child[k]));
        rows.add_entering(level_.entering_of(b, child[k]));
        tools.faces.for_each(child[k], [&](std::uint16_t slot, std::size_t side, float weight) {
          if (slot >= first_domain) {
            const float of_all = weight * (1.0F - factor[slot - first_domain]);
            rows.add_side_shift(of_all);
            if (level_.mirrors[side]) rows.add_shift(side / 2, 2.0F * weight - of_all);
          } else if (slot < first_ghost && tools.column[slot] >= 0) {
            add(tools.column[slot], weight, child[k], side);
          }
        });
        for (auto e = std::ranges::lower_bound(ends, int{child[k]}, {}, &LinkEnd::vof);
             e != ends.end() && e->vof == child[k]; ++e)
          if (e->weight > 0.0F) rows.add(link_column[e->other], e->weight);
      }
      rows.end_row(box_key | block_[b][c], scale);
    }
  }

  FineChildren take_children() { return std::move(children_); }

 private:
  std::span<std::uint16_t> children_of(int b) {
    const std::size_t first = graph_.vof_begin(b);
    return children_.child.span().subspan(first, graph_.vof_begin(b + 1) - first);
  }
  std::uint64_t key_of_box(int b) const {
    const int bits = 3 * (std::bit_width(static_cast<unsigned>(graph_.layout().box_size())) - 2);
    return static_cast<std::uint64_t>(level_.geometry->level) << 60 | graph_.layout().keys()[graph_.first_box() + b]
                                                                          << bits;
  }

  void find_pieces(int b, std::span<const LinkEnd> ends) {
    Workspace& tools = tools_[thread_number()];
    tools.faces.set(level_, b);
    tools.pieces.find(tools.faces, level_.covered_in(b), ends, children_of(b), tools.parent);
    const auto number = number_.own(b);
    for (std::size_t v = 0; v < number.size(); ++v)
      number[v] = tools.parent[v] == PieceFinder::none ? -1 : std::int32_t{tools.parent[v]};
    block_[b] = tools.pieces.block;
    end_[b] = tools.pieces.end;
  }

  /// Numbers of boxes become numbers of the rank.
  void number_nodes(std::int64_t first_node) {
    children_.node_begin.push_back(first_node);
    for (const auto& end : end_) children_.node_begin.push_back(children_.node_begin.back() + std::ssize(end));
    children_.end = Array<std::uint16_t>(end_node() - first_node, Purpose::solver);
    parallel_for(graph_.n_local(), [&](std::int64_t b) {
      for (std::int32_t& x : number_.own(static_cast<int>(b)))
        if (x >= 0) x += static_cast<std::int32_t>(children_.node_begin[b]);
      std::ranges::copy(end_[b], children_.end.begin() + (children_.node_begin[b] - first_node));
    });
  }

  template <class F>
  void for_each_halo(int b, F&& f) const {
    const BoxGraph g = graph_.box(b);
    int slot = g.n_own;
    for (std::size_t group = 0; group < g.halo.groups().size(); ++group) {
      const int owner = graph_.layout().owner(g.halo.groups()[group].box);
      for (std::size_t i = 0; i < g.halo.vofs_of_group(group).size(); ++i) f(slot++, owner);
    }
  }

  template <class F>
  void number_columns(int b, F&& column_of, std::vector<std::int32_t>& column) const {
    const auto n_own = static_cast<int>(number_.own(b).size());
    column.resize(number_.box(b).size());
    for (int v = 0; v < n_own; ++v) column[v] = node(b, v);
    for_each_halo(
        b, [&](int slot, int owner) { column[slot] = node(b, slot) < 0 ? -1 : column_of(owner, node(b, slot)); });
  }

  const Comm& comm_;
  const TwoPointLevel& level_;
  const LevelGraph& graph_;
  std::vector<Workspace>& tools_;
  std::vector<std::vector<std::uint16_t>> block_, end_;  // per box, per node
  BasicField<std::int32_t> number_;
  FineChildren children_;
};

}  // namespace

CoarsenedLevels coarsen(const Comm& comm, std::span<const TwoPointLevel> levels, LevelLinks& links, float scale) {
  std::vector<Workspace> tools(n_threads());
  std::vector<std::unique_ptr<Coarsener>> coarseners;
  std::int64_t n_nodes = 0;
  CoarsenedLevels result;
  std::vector<RemoteItem>& remote = result.graph.remote;
  for (const TwoPointLevel& level : levels) {
    coarseners.push_back(std::make_unique<Coarsener>(comm, level, tools));
    coarseners.back()->find(n_nodes, coarseners.size() - 1, links.ends());
    n_nodes = coarseners.back()->end_node();
    coarseners.back()->list_remote(remote);
  }
  const auto node_of = [&](int level, int box, int vof) { return coarseners[level]->node(box, vof); };
  for (LinkEnd& e : links.ends()) e.node = node_of(e.level, e.box, e.vof);
  std::vector<std::int32_t> link_node;
  links.fetch(link_node, node_of);
  for (std::size_t i = 0; i < link_node.size(); ++i)
    if (const int owner = links.rank_of(static_cast<std::int32_t>(i)); owner != comm.rank())
      remote.push_back({owner, link_node[i]});
  std::ranges::sort(remote);
  erase_repeated(remote);
  const auto column_of = [&](int owner, std::int32_t node) {
    if (owner == comm.rank()) return node;
    const auto at = std::ranges::lower_bound(remote, RemoteItem{owner, node}) - remote.begin();
    return static_cast<std::int32_t>(n_nodes + at);
  };
  for (std::size_t i = 0; i < link_node.size(); ++i)
    link_node[i] = column_of(links.rank_of(static_cast<std::int32_t>(i)), link_node[i]);

  std::vector<RowBuilder> rows;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::int64_t n = levels[l].geometry->graph.n_local();
    const std::size_t first = rows.size();
    rows.resize(first + n);
    parallel_for_dynamic(n, [&](std::int64_t b) {
      coarseners[l]->build_rows(static_cast<int>(b), column_of, ends_of(links.ends(), l, b), link_node, scale,
                                rows[first + b]);
    });
    result.children.push_back(coarseners[l]->take_children());
  }
  join_rows(rows, result.graph);
  return result;
}

}  // namespace karst
