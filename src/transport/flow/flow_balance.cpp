// SPDX-License-Identifier: BSD-3-Clause
#include "transport/flow/flow_balance.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/comm/parallel_fill.hpp"
#include "base/comm/timer.hpp"
#include "transport/flow/flow_projection.hpp"
#include "transport/flow/part_graph.hpp"

namespace karst {
namespace {

constexpr double along_trees = 1e-4;  ///< of what a volume exchanges
constexpr int sweeps = 6;
constexpr double widest = 2.0;  ///< eigenvalue of D^-1 A; sweeps are for those down to `narrow`
constexpr double narrow = 0.15;
constexpr int most_steps_in_box = 200;  ///< in a box
constexpr VolumeKey none = -2;

/// A volume and the part of the fluid that it is in.
struct Name {
  VolumeKey volume, part;
};

/// A face from a volume of a box to one of another box, or out of the domain.
struct Link {
  std::int32_t volume, pair;
  VolumeFace face;
  double conductance;
};

/// A part of a box and one beside it.
struct PartPair {
  std::int32_t part;  ///< among those of the box
  VolumeKey other;
  std::int32_t chosen;                  ///< the link that leads what trees lead
  std::int32_t node = -1, beside = -1;  ///< of the graph
};

/// Of an own box.
struct BoxParts {
  std::int32_t begin, end;  ///< own volumes
  VolumeKey key;
  std::vector<VolumeKey> parts;
  std::vector<std::int32_t> rim;  ///< volumes with a face to another box, or out of the domain; increasing
  std::vector<PartPair> pairs;
  std::vector<Link> links;
};

/// The potential of a box whose volumes exchange nothing with others: A x = -divergence by conjugate gradients with the
/// diagonal.
class BoxSolve {
 public:
  explicit BoxSolve(std::int32_t n) : begin_{0}, inverse_(n, 0.0), r_(n), x_(n, 0.0), p_(n, 0.0), q_(n) {
    terms_.reserve(6 * static_cast<std::size_t>(n));
    begin_.reserve(static_cast<std::size_t>(n) + 1);
  }
  void add(std::int32_t other, double conductance) { terms_.push_back({other, conductance}); }
  void end_row() { begin_.push_back(static_cast<std::int32_t>(terms_.size())); }

  void solve(std::span<const double> divergence, std::span<const double> exchange) {
    const auto n = static_cast<std::int32_t>(x_.size());
    for (std::int32_t v = 0; v < n; ++v) {
      double sum = 0.0;
      for_row(v, [&](const Term& t) { sum += t.conductance; });
      if (sum > 0.0) inverse_[v] = 1.0 / sum;
      r_[v] = sum > 0.0 ? -divergence[v] : 0.0;
    }
    double before = 0.0;
    for (int k = 0; k < most_steps_in_box; ++k) {
      double now = 0.0;
      bool enough = true;
      for (std::int32_t v = 0; v < n; ++v) {
        now += r_[v] * r_[v] * inverse_[v];
        enough = enough && std::abs(r_[v]) <= along_trees * exchange[v];
      }
      if (enough || !(now > 0.0)) return;
      const double factor = k == 0 ? 0.0 : now / before;
      before = now;
      for (std::int32_t v = 0; v < n; ++v) p_[v] = inverse_[v] * r_[v] + factor * p_[v];
      double curvature = 0.0;
      for (std::int32_t v = 0; v < n; ++v) {
        double sum = 0.0;
        for_row(v, [&](const Term& t) { sum += t.conductance * (p_[v] - p_[t.other]); });
        q_[v] = sum;
        curvature += sum * p_[v];
      }
      if (!(curvature > 0.0)) return;
      for (std::int32_t v = 0; v < n; ++v) {
        x_[v] += now / curvature * p_[v];
        r_[v] -= now / curvature * q_[v];
      }
    }
  }
  std::span<const double> potential() const { return x_; }

 private:
  struct Term {
    std::int32_t other;
    double conductance;
  };
  template <class F>
  void for_row(std::int32_t v, F&& f) const {
    for (std::int32_t k = begin_[v]; k < begin_[v + 1]; ++k) f(terms_[k]);
  }

  std::vector<Term> terms_;
  std::vector<std::int32_t> begin_;
  std::vector<double> inverse_, r_, x_, p_, q_;
};

class Balance {
 public:
  Balance(ScalarGrid& grid, const Conductances& open, std::span<const double> exchange, std::span<double> flow)
      : grid_(grid),
        open_(open),
        exchange_(exchange),
        flow_(flow),
        divergence_(grid.n_own, Purpose::buffers),
        place_(grid.n_own, Purpose::buffers),
        order_(grid.n_own, Purpose::buffers),
        way_(grid.n_own, Purpose::buffers),
        names_(grid.n_all, Purpose::buffers) {
    const Composite& composite = *grid.composite;
    for (int l = 0; l < composite.n_levels(); ++l)
      for (int b = 0; b < composite.graph(l).n_local(); ++b)
        boxes_.push_back({composite.numbering().box_begin(l, b),
                          composite.numbering().box_end(l, b),
                          (VolumeKey{l} << 56) | ((composite.graph(l).first_box() + b) << 16),
                          {},
                          {},
                          {},
                          {}});
    parallel_for(std::ssize(grid.special),
                 [&](std::int64_t s) { place_[grid.special[s]] = static_cast<std::int32_t>(s); });
    parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
      std::fill_n(place_.begin() + grid.plain[i].first, grid.plain[i].count, ~static_cast<std::int32_t>(i));
    });
  }

  /// Collective.
  void run() {
    for_boxes([&](BoxParts& box) { grow(box); });
    ListExchange& exchange = grid_.remote.exchange();
    exchange.begin(names_.span().subspan(grid_.n_own), [&](std::size_t i) { return names_[exchange.sent()[i]]; });
    exchange.finish();
    const PartGraph graph = link_parts();
    add_up(grid_, flow_, divergence_.span());
    const bool much = parallel_max(grid_.n_own, [&](std::int64_t v) { return is_much(v) ? 1.0 : 0.0; }) > 0.0;
    if (comm().any(much)) {
      add_sweeps();
      add_potentials(graph);
      add_up(grid_, flow_, divergence_.span());
    }
    lead(graph);
  }

 private:
  const Comm& comm() const { return grid_.composite->comm(); }
  template <class F>
  void for_boxes(F&& f) {
    parallel_for_dynamic(std::ssize(boxes_), [&](std::int64_t b) { f(boxes_[b]); });
  }
  bool is_open(std::int64_t v) const { return open_.sum[v] > 0.0; }
  bool is_much(std::int64_t v) const { return is_open(v) && std::abs(divergence_[v]) > along_trees * exchange_[v]; }
  /// f(VolumeFace, conductance) for the open faces of an own volume.
  template <class F>
  void for_open(std::int32_t v, F&& f) const {
    if (const std::int32_t s = place_[v]; s >= 0) {
      for (auto k = grid_.special_begin[s]; k < grid_.special_begin[s + 1]; ++k)
        if (open_.of_faces[k] > 0.0) f(grid_.volume_faces[k], open_.of_faces[k]);
      return;
    }
    const PlainVolumes& p = grid_.plain[~place_[v]];
    const double whole = open_.factor * ScalarGrid::width(p.level);
    for (std::int32_t d = 0; d < 3; ++d) {
      const std::int32_t low = p.beyond[2 * d] + (v - p.first), high = p.beyond[2 * d + 1] + (v - p.first);
      f(VolumeFace(d * grid_.n_all + v, low, false), whole);
      f(VolumeFace(d * grid_.n_all + high, high, true), whole);
    }
  }

  /// The trees of a box.
  void grow(BoxParts& box) {
    for (std::int32_t v = box.begin; v < box.end; ++v) names_[v] = {box.key + (v - box.begin), none};
    std::vector<std::uint8_t> at_rim(box.end - box.begin, 0);
    std::int32_t last = box.begin;
    for (std::int32_t first = box.begin; first < box.end; ++first) {
      if (names_[first].part != none) continue;
      const VolumeKey part = names_[first].part = names_[first].volume;
      if (is_open(first)) box.parts.push_back(part);
      way_[first] = {0, -1, true};
      order_[last++] = first;
      for (std::int32_t i = last - 1; i < last; ++i) {
        for_open(order_[i], [&](const VolumeFace& face, double) {
          const std::int32_t other = face.other();
          const bool inner = other >= box.begin && other < box.end;
          if (!inner) at_rim[order_[i] - box.begin] = 1;
          if (!inner || names_[other].part != none) return;
          names_[other].part = part;
          way_[other] = {face.face(), order_[i], face.outward() < 0.0};
          order_[last++] = other;
        });
      }
    }
    for (std::int32_t v = box.begin; v < box.end; ++v)
      if (at_rim[v - box.begin] != 0) box.rim.push_back(v);
  }

  /// Collective.
  PartGraph link_parts() {
    std::vector<std::vector<PartLink>> of_box(boxes_.size());
    parallel_for_dynamic(std::ssize(boxes_), [&](std::int64_t b) { of_box[b] = find_links(boxes_[b]); });
    std::vector<PartLink> links;
    std::vector<VolumeKey> parts;
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      links.insert(links.end(), of_box[b].begin(), of_box[b].end());
      parts.insert(parts.end(), boxes_[b].parts.begin(), boxes_[b].parts.end());
    }
    PartGraph graph(comm(), parts, links);
    for_boxes([&](BoxParts& box) {
      for (PartPair& pair : box.pairs) {
        pair.node = graph.node(box.parts[pair.part]);
        pair.beside = graph.node(pair.other);
      }
    });
    return graph;
  }
  /// Fills the pairs and links of a box. Of each pair the first face is chosen, the same by the boxes of both parts:
  /// volumes list those that they share by their places. Returns the pairs of which its part is the higher one.
  std::vector<PartLink> find_links(BoxParts& box) const {
    struct Found {
      VolumeKey part, other;
      std::pair<VolumeKey, VolumeKey> between;  // volumes, that of the lower part first
      Link link;
    };
    std::vector<Found> all;
    all.reserve(2 * box.rim.size());
    for (const std::int32_t v : box.rim)
      for_open(v, [&](const VolumeFace& face, double conductance) {
        if (face.other() >= box.begin && face.other() < box.end) return;
        const Name mine = names_[v], other = face.other() < grid_.n_all ? names_[face.other()] : Name{outside, outside};
        const std::pair between{mine.volume, other.volume}, turned{other.volume, mine.volume};
        all.push_back({mine.part, other.part, mine.part < other.part ? between : turned, {v, -1, face, conductance}});
      });
    const auto order = [](const Found& f) { return std::tuple(f.part, f.other, f.between); };
    std::ranges::stable_sort(all, {}, order);
    std::vector<PartLink> pairs;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Found& found = all[i];
      const bool is_new = i == 0 || all[i - 1].part != found.part || all[i - 1].other != found.other;
      if (is_new)
        box.pairs.push_back(
            {static_cast<std::int32_t>(std::ranges::lower_bound(box.parts, found.part) - box.parts.begin()),
             found.other, static_cast<std::int32_t>(i)});
      if (found.part > found.other) {
        if (is_new) pairs.push_back({found.other, found.part, 0.0});
        pairs.back().conductance += found.link.conductance;
      }
      box.links.push_back(found.link);
      box.links.back().pair = static_cast<std::int32_t>(box.pairs.size()) - 1;
    }
    return pairs;
  }

  /// f(place of the part among those of this rank, own volume), box by box; f must write only data of the part and the
  /// volume.
  template <class F>
  void for_volumes_of_parts(F&& f) {
    std::vector<std::int64_t> first;
    std::int64_t n = 0;
    for (const BoxParts& box : boxes_) {
      first.push_back(n);
      n += std::ssize(box.parts);
    }
    parallel_for_dynamic(std::ssize(boxes_), [&](std::int64_t b) {
      std::int64_t part = first[b] - 1;
      for (std::int32_t i = boxes_[b].begin; i < boxes_[b].end; ++i) {
        if (!is_open(order_[i])) continue;
        part += way_[order_[i]].other() < 0 ? 1 : 0;
        f(part, order_[i]);
      }
    });
  }
  std::int64_t n_parts() const {
    std::int64_t n = 0;
    for (const BoxParts& box : boxes_) n += std::ssize(box.parts);
    return n;
  }
  /// Σ divergence of parts, by node of the graph, after what no flow can take away has gone from the volumes.
  /// Collective.
  std::vector<double> find_sums(const PartGraph& graph) {
    std::vector<double> sums(n_parts(), 0.0);
    for_volumes_of_parts([&](std::int64_t part, std::int32_t v) { sums[part] += divergence_[v]; });
    if (weights_.empty()) {
      std::vector<double> weights(sums.size(), 0.0);
      for_volumes_of_parts([&](std::int64_t part, std::int32_t v) { weights[part] += exchange_[v]; });
      weights_ = graph.gather(weights);
    }
    std::vector<double> all = graph.gather(sums);
    const std::vector<double> rest = graph.take_rest(weights_, all);
    if (std::ranges::none_of(rest, [](double r) { return r != 0.0; })) return all;
    std::vector<double> of_parts;
    for (const BoxParts& box : boxes_)
      for (const VolumeKey part : box.parts) of_parts.push_back(rest[graph.node(part)]);
    for_volumes_of_parts([&](std::int64_t part, std::int32_t v) { divergence_[v] -= of_parts[part] * exchange_[v]; });
    return all;
  }

  /// Chebyshev's method from 0 for A x = -divergence, D the diagonal: spreads what is left over the cells around it.
  /// Source: Saad, Iterative methods for sparse linear systems (2003), algorithm 12.1. Collective.
  void add_sweeps() {
    constexpr double middle = 0.5 * (widest + narrow), half = 0.5 * (widest - narrow), sigma = middle / half;
    Array<double> x(grid_.n_values, Purpose::buffers), d(grid_.n_values, Purpose::buffers);
    parallel_fill(x.span(), 0.0);
    parallel_fill(d.span(), 0.0);
    double* const r = divergence_.data();  // D^-1 (-divergence - A x)
    parallel_for(grid_.n_own, [&](std::int64_t v) {
      r[v] = is_open(v) ? -r[v] / open_.sum[v] : 0.0;
      d[v] = r[v] / middle;
    });
    double rho = 1.0 / sigma;
    for (int k = 0; k < sweeps; ++k) {
      fetch_remote(grid_, d.span());
      for_sums_across<1>(
          grid_, open_, d.data(), [&](std::int32_t v) { return is_open(v) ? 1.0 / open_.sum[v] : 0.0; },
          [&](std::int64_t v, double across, double scale) { r[v] -= scale > 0.0 ? d[v] - scale * across : 0.0; });
      const double before = std::exchange(rho, 1.0 / (2.0 * sigma - rho));
      parallel_for(grid_.n_own, [&](std::int64_t v) {
        x[v] += d[v];
        d[v] = rho * before * d[v] + 2.0 * rho / half * r[v];
      });
    }
    add_irrotational(grid_, open_, x.span(), flow_);
    parallel_for(grid_.n_own, [&](std::int64_t v) { r[v] *= -open_.sum[v]; });
  }
  /// Between the parts, then in boxes. Collective.
  void add_potentials(const PartGraph& graph) {
    const std::vector<double> y = graph.potentials(find_sums(graph));
    for (const BoxParts& box : boxes_)
      for (const Link& link : box.links) {
        const PartPair& pair = box.pairs[link.pair];
        lead_through(link, pair, link.conductance * (y[pair.node] - y[pair.beside]));
      }
    for_boxes([&](const BoxParts& box) { add_potential(box); });
  }
  /// In a box where much is left.
  void add_potential(const BoxParts& box) {
    bool much = false;
    for (std::int32_t v = box.begin; v < box.end && !much; ++v) much = is_much(v);
    if (!much) return;
    const auto for_inner = [&](std::int32_t v, auto&& f) {
      for_open(v, [&](const VolumeFace& face, double conductance) {
        if (face.other() >= box.begin && face.other() < box.end && face.other() != v) f(face, conductance);
      });
    };
    const std::int32_t n = box.end - box.begin;
    BoxSolve solve(n);
    for (std::int32_t v = box.begin; v < box.end; ++v) {
      for_inner(v, [&](const VolumeFace& face, double g) { solve.add(face.other() - box.begin, g); });
      solve.end_row();
    }
    solve.solve(divergence_.span().subspan(box.begin, n), exchange_.subspan(box.begin, n));
    const std::span<const double> x = solve.potential();
    for (std::int32_t v = box.begin; v < box.end; ++v)
      for_inner(v, [&](const VolumeFace& face, double g) {
        if (face.outward() > 0.0) flow_[face.face()] += g * (x[v - box.begin] - x[face.other() - box.begin]);
      });
  }

  /// A flux out of a part through a link. Both parts have the link, and the flow has it once.
  void lead_through(const Link& link, const PartPair& pair, double out) {
    divergence_[link.volume] += out;
    if (link.face.other() >= grid_.n_own || pair.node > pair.beside)
      flow_[link.face.face()] += link.face.outward() * out;
  }
  /// The rest, along trees. Collective.
  void lead(const PartGraph& graph) {
    const std::vector<PartGraph::Lead> leads = graph.leads(find_sums(graph));
    for (const BoxParts& box : boxes_)
      for (const PartPair& pair : box.pairs) {
        const PartGraph::Lead &from = leads[pair.node], &to = leads[pair.beside];
        if (from.to == pair.beside)
          lead_through(box.links[pair.chosen], pair, from.out);
        else if (to.to == pair.node)
          lead_through(box.links[pair.chosen], pair, -to.out);
      }
    for_boxes([&](const BoxParts& box) {
      for (std::int32_t i = box.end - 1; i >= box.begin; --i) {
        const std::int32_t v = order_[i];
        const VolumeFace way = way_[v];
        if (way.other() < 0) continue;
        flow_[way.face()] -= way.outward() * divergence_[v];
        divergence_[way.other()] += divergence_[v];
      }
    });
  }

  ScalarGrid& grid_;
  const Conductances& open_;
  std::span<const double> exchange_;
  std::span<double> flow_;
  std::vector<BoxParts> boxes_;
  Array<double> divergence_;     // n_own
  Array<std::int32_t> place_;    // own: among special volumes; ~ its interval of plain ones
  Array<std::int32_t> order_;    // of the volumes of each box, part by part, roots before what leads to them
  Array<VolumeFace> way_;        // own: towards the root; to no volume at a root
  Array<Name> names_;            // n_all
  std::vector<double> weights_;  // of find_sums(): Σ exchange of parts, by node of the graph
};

}  // namespace

void balance_flow(ScalarGrid& grid, const Conductances& open, std::span<const double> exchange,
                  std::span<double> flow) {
  const Timer timer("balance of the flow");
  Balance(grid, open, exchange, flow).run();
}

}  // namespace karst
