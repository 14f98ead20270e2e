// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/fine_coarsen.hpp"

#include <algorithm>
#include <bit>

#include "grid/halo_exchange.hpp"
#include "grid/morton.hpp"
#include "solvers/row_builder.hpp"

namespace karst {
namespace {

constexpr int tag_nodes = 24;

/// Faces of the VoFs of one box as plain lists; keeps its memory from box to box.
class BoxFaces {
 public:
  void set(const TwoPointLevel& level, int local) {
    const LevelGeometry& geometry = *level.geometry;
    graph_ = geometry.graph.box(local);
    level_ = &level;
    const auto b = static_cast<std::size_t>(local);
    weight_ = level.weight.span().subspan(static_cast<std::size_t>(geometry.moments_begin[b]));
    shift_ = level.shift.span().subspan(static_cast<std::size_t>(geometry.moments_begin[b]));
    extra_weight_ = level.extra.span().subspan(static_cast<std::size_t>(geometry.extra_begin[b]));
    const auto n = static_cast<std::size_t>(graph_.n_own);
    slots_.resize(n);
    cell_.resize(n);
    row_.assign(n, -1);
    for (const Run& run : graph_.runs)
      for (int t = 0; t < run.length; ++t) {
        const auto v = static_cast<std::size_t>(run.first + t);
        slots_[v] = run.neighbours(t);
        cell_[v] = static_cast<std::uint16_t>(run.cell + t);
      }
    for (std::size_t r = 0; r < graph_.row_vof.size(); ++r) {
      const std::size_t v = graph_.row_vof[r];
      slots_[v] = graph_.neighbours[r];
      cell_[v] = graph_.row_cell[r];
      if (r < static_cast<std::size_t>(graph_.n_irregular)) row_[v] = static_cast<std::int32_t>(r);
    }
    extra_begin_.assign(static_cast<std::size_t>(graph_.n_irregular) + 1, 0);
    std::size_t e = 0;
    for (std::size_t r = 0; r + 1 < extra_begin_.size(); ++r) {
      while (e < graph_.extra.size() && graph_.extra[e].vof == graph_.row_vof[r]) ++e;
      extra_begin_[r + 1] = static_cast<std::int32_t>(e);
    }
  }

  const BoxGraph& graph() const { return graph_; }
  int cell(std::size_t vof) const { return cell_[vof]; }
  double shift(std::size_t vof) const {
    return row_[vof] < 0 ? level_->regular_shift : shift_[static_cast<std::size_t>(row_[vof])];
  }
  /// f(slot, side, weight) for every face of positive weight.
  template <class F>
  void for_each(std::size_t vof, F&& f) const {
    const std::array<std::uint16_t, 6>& slots = slots_[vof];
    if (row_[vof] < 0) {
      for (std::size_t side = 0; side < 6; ++side) f(slots[side], side, level_->face_weight);
      return;
    }
    const auto r = static_cast<std::size_t>(row_[vof]);
    for (std::size_t side = 0; side < 6; ++side)
      if (weight_[r][side] > 0.0F) f(slots[side], side, weight_[r][side]);
    for (auto e = static_cast<std::size_t>(extra_begin_[r]); e < static_cast<std::size_t>(extra_begin_[r + 1]); ++e)
      if (extra_weight_[e] > 0.0F) f(graph_.extra[e].neighbour, std::size_t{graph_.extra[e].side}, extra_weight_[e]);
  }

 private:
  BoxGraph graph_;
  const TwoPointLevel* level_ = nullptr;
  std::span<const std::array<float, 6>> weight_;
  std::span<const float> shift_, extra_weight_;
  std::vector<std::array<std::uint16_t, 6>> slots_;
  std::vector<std::uint16_t> cell_;
  std::vector<std::int32_t> row_, extra_begin_;
};

/// Pieces of the blocks of one box: numbers from 0, by Morton order of the blocks, then by first VoF.
class PieceFinder {
 public:
  /// @param[out] child   VoFs by piece
  /// @param[out] parent  per VoF
  void find(const BoxFaces& faces, std::span<std::uint16_t> child, std::vector<std::uint16_t>& parent) {
    const BoxGraph& graph = faces.graph();
    const auto n = static_cast<std::size_t>(graph.n_own);
    sort_by_block(faces);
    parent.assign(n, none);
    end.clear();
    block.clear();
    std::size_t k = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint16_t seed = order_[i];
      if (parent[seed] != none) continue;
      const auto number = static_cast<std::uint16_t>(end.size());
      const std::uint16_t in = block_of_[seed];
      parent[seed] = number;
      child[k++] = seed;
      for (std::size_t next = k - 1; next < k; ++next)
        faces.for_each(child[next], [&](std::uint16_t slot, std::size_t, float) {
          if (slot >= n || parent[slot] != none || block_of_[slot] != in) return;
          parent[slot] = number;
          child[k++] = slot;
        });
      end.push_back(static_cast<std::uint16_t>(k));
      block.push_back(in);
    }
  }
  std::vector<std::uint16_t> end, block;  ///< per piece: end of its children; Morton key of its block in the box

 private:
  static constexpr std::uint16_t none = 0xffff;

  void sort_by_block(const BoxFaces& faces) {
    const BoxGraph& graph = faces.graph();
    if (cells_ != graph.cells.size()) number_blocks(graph.cells);
    const auto n = static_cast<std::size_t>(graph.n_own);
    block_of_.resize(n);
    order_.resize(n);
    first_.assign(static_cast<std::size_t>(n_blocks_) + 1, 0);
    for (std::size_t v = 0; v < n; ++v) {
      block_of_[v] = block_of_cell_[static_cast<std::size_t>(faces.cell(v))];
      ++first_[std::size_t{block_of_[v]} + 1];
    }
    for (std::size_t b = 0; b + 1 < first_.size(); ++b) first_[b + 1] += first_[b];
    for (std::size_t v = 0; v < n; ++v)
      order_[static_cast<std::size_t>(first_[block_of_[v]]++)] = static_cast<std::uint16_t>(v);
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
};

/// Tools of one thread.
struct Workspace {
  BoxFaces faces;
  PieceFinder pieces;
  std::vector<std::uint16_t> parent;
  std::vector<std::int32_t> column;  // per slot
};

class Coarsener {
 public:
  Coarsener(const Comm& comm, const TwoPointLevel& level, float scale)
      : comm_(comm), level_(level), graph_(level.geometry->graph), scale_(scale) {}

  CoarsenedLevel run() {
    const auto n = static_cast<std::size_t>(graph_.n_local());
    tools_.resize(static_cast<std::size_t>(n_threads()));
    block_.resize(n);
    end_.resize(n);
    result_.children.child = Array<std::uint16_t>(static_cast<std::size_t>(graph_.counts().vofs), Purpose::solver);
    Field number(graph_, 1, Purpose::buffers);
    parallel_for_dynamic(graph_.n_local(), [&](std::int64_t b) { find_pieces(static_cast<int>(b), number); });
    number_nodes(number);
    HaloExchange(comm_, graph_, 1, tag_nodes)(number);
    find_remote(number);
    std::vector<RowBuilder> rows(n);
    parallel_for_dynamic(graph_.n_local(), [&](std::int64_t b) {
      build_rows(static_cast<int>(b), number, rows[static_cast<std::size_t>(b)]);
    });
    join_rows(rows, result_.graph);
    return std::move(result_);
  }

 private:
  std::span<std::uint16_t> children_of(int b) {
    const auto first = static_cast<std::size_t>(graph_.vof_begin(b));
    return result_.children.child.span().subspan(first, static_cast<std::size_t>(graph_.vof_begin(b + 1)) - first);
  }

  void find_pieces(int b, Field& number) {
    Workspace& tools = tools_[static_cast<std::size_t>(thread_number())];
    tools.faces.set(level_, b);
    tools.pieces.find(tools.faces, children_of(b), tools.parent);
    std::ranges::copy(tools.parent, number.own(b).begin());
    block_[static_cast<std::size_t>(b)] = tools.pieces.block;
    end_[static_cast<std::size_t>(b)] = tools.pieces.end;
  }

  /// Numbers of boxes become numbers of the rank.
  void number_nodes(Field& number) {
    FineChildren& children = result_.children;
    for (const auto& end : end_) children.node_begin.push_back(children.node_begin.back() + std::ssize(end));
    children.end = Array<std::uint16_t>(static_cast<std::size_t>(children.n_nodes()), Purpose::solver);
    parallel_for(graph_.n_local(), [&](std::int64_t b) {
      const auto i = static_cast<std::size_t>(b);
      for (double& x : number.own(static_cast<int>(b))) x += static_cast<double>(children.node_begin[i]);
      std::ranges::copy(end_[i], children.end.begin() + children.node_begin[i]);
    });
  }

  void find_remote(const Field& number) {
    std::vector<RemoteNode>& remote = result_.graph.remote;
    for (const int b : graph_.halo_plan().boundary)
      for_each_halo(b, [&](int slot, int owner) {
        if (owner != comm_.rank()) remote.push_back({owner, node_at(number, b, slot)});
      });
    std::ranges::sort(remote);
    const auto repeated = std::ranges::unique(remote);
    remote.erase(repeated.begin(), repeated.end());
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
  static std::int32_t node_at(const Field& number, int b, int slot) {
    return static_cast<std::int32_t>(number.box(b)[static_cast<std::size_t>(slot)]);
  }

  void number_columns(int b, const Field& number, std::vector<std::int32_t>& column) const {
    const auto own = number.own(b);
    column.resize(number.box(b).size());
    for (std::size_t v = 0; v < own.size(); ++v) column[v] = static_cast<std::int32_t>(own[v]);
    const std::vector<RemoteNode>& remote = result_.graph.remote;
    for_each_halo(b, [&](int slot, int owner) {
      std::int32_t node = node_at(number, b, slot);
      if (owner != comm_.rank()) {
        const auto at = std::ranges::lower_bound(remote, RemoteNode{owner, node}) - remote.begin();
        node = static_cast<std::int32_t>(result_.children.n_nodes() + at);
      }
      column[static_cast<std::size_t>(slot)] = node;
    });
  }

  void build_rows(int b, const Field& number, RowBuilder& rows) {
    Workspace& tools = tools_[static_cast<std::size_t>(thread_number())];
    const BoxFaces& faces = tools.faces;
    tools.faces.set(level_, b);
    number_columns(b, number, tools.column);
    const BoxGraph& g = faces.graph();
    const auto i = static_cast<std::size_t>(b);
    const auto first_ghost = static_cast<std::uint16_t>(g.n_own + g.halo.n_vofs());
    const int bits = 3 * (std::bit_width(static_cast<unsigned>(graph_.layout().box_size())) - 2);
    const std::uint64_t grid_level = static_cast<std::uint64_t>(level_.geometry->level) << 60;
    const std::uint64_t box_key = grid_level | graph_.layout().keys()[static_cast<std::size_t>(graph_.first_box() + b)]
                                                   << bits;
    const std::span<const std::uint16_t> child = children_of(b);
    std::size_t k = 0;
    for (std::size_t c = 0; c < end_[i].size(); ++c) {
      rows.begin_row(static_cast<std::int32_t>(result_.children.node_begin[i] + static_cast<std::int64_t>(c)));
      for (const std::size_t end = end_[i][c]; k < end; ++k) {
        rows.add_shift(faces.shift(child[k]));
        faces.for_each(child[k], [&](std::uint16_t slot, std::size_t side, float weight) {
          if (slot < first_ghost)
            rows.add(tools.column[slot], weight);
          else
            rows.add_shift(weight * (1.0F - level_.ghost_factor[side]));
        });
      }
      rows.end_row(box_key | block_[i][c], scale_);
    }
  }

  const Comm& comm_;
  const TwoPointLevel& level_;
  const LevelGraph& graph_;
  float scale_;
  std::vector<Workspace> tools_;
  std::vector<std::vector<std::uint16_t>> block_, end_;  // per box, per node
  CoarsenedLevel result_;
};

}  // namespace

CoarsenedLevel coarsen(const Comm& comm, const TwoPointLevel& level, float scale) {
  return Coarsener(comm, level, scale).run();
}

}  // namespace karst
