// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/wall_smoothing.hpp"

#include <algorithm>
#include <map>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/items_of.hpp"
#include "eb/moving/pieces_at_blocks.hpp"
#include "grid/list_exchange.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

constexpr double smoothing_reach = 2.5;  // in widths of the larger cell of two pieces

/// Of a piece, the same on all ranks.
struct PieceName {
  std::int64_t rank, level, row;
  friend auto operator<=>(const PieceName&, const PieceName&) = default;
};
PieceName name_of(const NearPiece& p) { return {p.rank, p.level, p.row}; }

/// Those that take part and have a block of corners.
std::vector<NearPiece> pieces_that_take_part(const Comm& comm, const WallPieces& walls, const WallRows& takes_part,
                                             const WallRows& amounts, const Displacement& displacement) {
  std::vector<NearPiece> pieces = pieces_here(comm, walls, takes_part, amounts, displacement);
  std::erase_if(pieces,
                [&](const NearPiece& p) { return p.value == 0.0 || block_at(displacement.blocks(), p.at) < 0; });
  return pieces;
}

/// The pieces at own blocks of corners, each with its neighbours.
class Neighbours {
 public:
  Neighbours(const Comm& comm, const CornerBlocks& blocks, const NearPieces& pieces) : pieces_(pieces) {
    place_.assign(pieces.all().size(), -1);
    for (std::size_t i = 0; i < pieces.all().size(); ++i)
      if (blocks.is_own(block_at(blocks, pieces.all()[i].at))) {
        place_[i] = std::ssize(own_);
        own_.push_back(i);
      }
    find_links();
    find_others(comm, blocks);
    make_symmetric();
  }

  void smooth(int passes) {
    std::vector<double> thickness(n_values()), next(own_.size());
    for (std::size_t i = 0; i < own_.size(); ++i) thickness[i] = piece(i).owed / piece(i).area;
    for (int pass = 0; pass < passes; ++pass) {
      exchange_.exchange(std::span(thickness));
      parallel_for(std::ssize(own_), [&](std::int64_t i) {
        next[i] = thickness[i];
        for (const Link& link : links_[i]) next[i] += link.weight * (thickness[link.to] - thickness[i]);
      });
      std::ranges::copy(next, thickness.begin());
    }
    thickness_ = std::move(thickness);
  }

  /// To the owners of the pieces. Collective.
  void give_back(const Comm& comm, WallRows& amounts) const {
    struct Answer {
      std::int64_t level, row;
      double amount;
    };
    std::map<int, ByteWriter> sent;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const NearPiece& p = piece(i);
      sent[p.rank].put(Answer{p.level, p.row, p.area * thickness_[i]});
    }
    send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
      const auto a = in.get<Answer>();
      amounts[a.level][a.row] = a.amount;
    });
  }

 private:
  struct Link {
    std::int64_t to;  ///< first in NearPieces::all(), then among own pieces and, behind them, those of other ranks
    double weight;
  };

  const NearPiece& piece(std::size_t i) const { return pieces_.all()[own_[i]]; }
  std::size_t n_values() const { return own_.size() + static_cast<std::size_t>(exchange_.n_received()); }

  void find_links() {
    links_.resize(own_.size());
    sum_.assign(own_.size(), 0.0);
    parallel_for(std::ssize(own_), [&](std::int64_t i) {
      const NearPiece& p = piece(i);
      const auto link = [&](std::size_t q, double weight) {
        const double cosine = dot(p.normal, pieces_.all()[q].normal);
        if (cosine <= 0.0) return;
        weight *= cosine * cosine;
        sum_[i] += weight;
        if (q != own_[i]) links_[i].push_back({static_cast<std::int64_t>(q), weight});
      };
      pieces_.around(p.at, smoothing_reach, link, p.width);
    });
  }

  /// Numbers of neighbours at blocks of other ranks. Collective.
  void find_others(const Comm& comm, const CornerBlocks& blocks) {
    std::map<int, std::vector<PieceName>> wanted;
    const auto owner = [&](const NearPiece& p) { return blocks.layout().owner(block_at(blocks, p.at)); };
    for (const auto& links : links_)
      for (const Link& link : links)
        if (const NearPiece& q = pieces_.all()[link.to]; place_[link.to] < 0) wanted[owner(q)].push_back(name_of(q));
    std::map<PieceName, std::int32_t> own, of_others;
    for (std::size_t i = 0; i < own_.size(); ++i) own[name_of(piece(i))] = static_cast<std::int32_t>(i);
    for (auto& [rank, names] : wanted) {
      std::ranges::sort(names);
      erase_repeated(names);
    }
    ask_ranks_per_item(
        comm, wanted, [](const PieceName& name, ByteWriter& w) { w.put(name); },
        [&](ByteReader& in, ByteWriter& w) { w.put(own.at(in.get<PieceName>())); },
        [&](const PieceName& name, ByteReader& in) { of_others[name] = in.get<std::int32_t>(); });
    std::vector<RemoteItem> items;
    for (const auto& [rank, names] : wanted)
      for (const PieceName& name : names) items.push_back({rank, of_others.at(name)});
    std::ranges::sort(items);
    exchange_ = ListExchange(comm, items);
    for (auto& links : links_)
      for (Link& link : links) {
        const NearPiece& q = pieces_.all()[link.to];
        if (place_[link.to] >= 0) {
          link.to = place_[link.to];
          continue;
        }
        const RemoteItem item{owner(q), of_others.at(name_of(q))};
        link.to = std::ssize(own_) + (std::ranges::lower_bound(items, item) - items.begin());
      }
  }

  /// Collective.
  void make_symmetric() {
    std::vector<double> sum(n_values());
    std::ranges::copy(sum_, sum.begin());
    exchange_.exchange(std::span(sum));
    for (std::size_t i = 0; i < own_.size(); ++i)
      for (Link& link : links_[i]) link.weight /= std::max(sum[i], sum[link.to]);
  }

  const NearPieces& pieces_;
  std::vector<std::int64_t> place_;  ///< [piece] among own ones; -1: of another rank
  std::vector<std::size_t> own_;
  std::vector<std::vector<Link>> links_;  ///< of own pieces
  std::vector<double> sum_;               ///< Σ a k
  std::vector<double> thickness_;
  ListExchange exchange_;
};

}  // namespace

void smooth_along_walls(const Comm& comm, const WallPieces& walls, const WallRows& takes_part, int passes,
                        const Displacement& displacement, WallRows& amounts) {
  const Timer timer("smoothing along walls");
  const NearPieces pieces(displacement.blocks().layout().domain(),
                          pieces_that_take_part(comm, walls, takes_part, amounts, displacement));
  Neighbours neighbours(comm, displacement.blocks(), pieces);
  neighbours.smooth(passes);
  neighbours.give_back(comm, amounts);
}

}  // namespace karst
