// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/level_coupling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/core/items_of.hpp"
#include "eb/link/least_squares.hpp"
#include "grid/questions.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst {
namespace {

constexpr int highest_degree = 3;  ///< of the polynomials
/// fit_polynomial(): decay below that degree. A plane or a paraboloid through all points of a pore is flatter than its
/// flow, which made refined regions resist; close points have more to say about the value between them.
constexpr int decay_of_lower = 3;
/// Of a polynomial, Σ |weights|. With 5, flow at the steps of refined regions in a packing grew, or did not converge.
constexpr double largest_weights = 2.5;
constexpr double most_own = 0.75;    ///< weight of its own cell in a ghost
constexpr double most_coarse = 0.5;  ///< |Σ weights| of coarse cells in a covered cell

/// Each point once; by place, those on the wall first: numbers of unknowns are others on other ranks, and which of
/// several points a fit leaves out where they do not suffice must not depend on them.
void sort_unique(std::vector<LevelPoint>& points) {
  constexpr double same_place = 1e-6;
  const auto key = [](const LevelPoint& p) {
    const auto cut = [](double x) { return std::llround(x / same_place); };
    return std::tuple(p.unknown != no_unknown, cut(p.at[0]), cut(p.at[1]), cut(p.at[2]));
  };
  std::ranges::sort(points, {}, key);
  erase_repeated(points, key);
}

/// An end without friction near the points: 2 d + (1 when it is the high end), and its place along d, where they are.
struct Mirror {
  int side;
  double at;
};

/// A point or its image behind such ends: the value there is that of the point times a sign per component.
struct Image {
  std::size_t point;
  Vec3 at;
  Vec3 sign{1.0, 1.0, 1.0};
};

/// The points with their images: what a polynomial near the end has on its other side. Without them it would
/// extrapolate along the end, and flow in time grow there.
std::vector<Image> with_images(const std::vector<LevelPoint>& points, const std::vector<Mirror>& mirrors) {
  constexpr double reach = 1.6;  // [coarse cells] from the end: two coarse cells, three fine ones
  std::vector<Image> images;
  for (std::size_t i = 0; i < points.size(); ++i) images.push_back({i, points[i].at});
  for (const Mirror& m : mirrors) {
    const int d = m.side / 2;
    for (std::size_t i = 0, n = images.size(); i < n; ++i) {
      const double away = images[i].at[d] - m.at;
      if (std::abs(away) > reach || std::abs(away) < 1e-9) continue;
      Image image = images[i];
      image.at[d] -= 2.0 * away;
      image.sign[d] = -image.sign[d];
      images.push_back(image);
    }
  }
  return images;
}

/// Sums over the images of each of n points.
std::vector<double> by_point(const std::vector<Image>& images, std::span<const double> weight, std::size_t n) {
  std::vector<double> sum(n);
  for (std::size_t i = 0; i < images.size(); ++i) sum[images[i].point] += weight[i];
  return sum;
}

/// What is asked of the weights by point.
using Demand = std::function<bool(std::span<const double>)>;

/// Weights of the images in the value at a place: of the polynomial of the highest degree that does not extrapolate far
/// and meets the demand; none where there is no such one.
std::vector<double> polynomial_at(const std::vector<Image>& images, const Vec3& at, std::size_t n_points,
                                  const Demand& is_met) {
  std::vector<Vec3> r;
  for (const Image& i : images) r.push_back(i.at - at);
  for (int degree = highest_degree; degree > 0; --degree) {
    std::vector<double> weight = fit_polynomial(r, degree, degree < highest_degree ? decay_of_lower : 1);
    double sum = 0.0;
    for (const double w : weight) sum += std::abs(w);
    if (sum <= largest_weights && is_met(by_point(images, weight, n_points))) return weight;
  }
  return {};
}

/// Weights of the images where points have these.
std::vector<double> on_images(const std::vector<Image>& images, std::vector<double> of_point) {
  std::vector<double> weight;
  for (const Image& i : images) weight.push_back(std::exchange(of_point[i.point], 0.0));
  return weight;
}

std::uint64_t key_of(VofName v, int side) { return 8 * v + static_cast<std::uint64_t>(side); }

}  // namespace

/// A target whose terms name unknowns.
struct LevelCoupling::OpenTarget {
  struct Term {
    GlobalNumber unknown;
    std::array<double, 4> weight;  ///< of velocities and pressure
    double beyond;
  };
  /// Where a target is, and what is asked of its values. Weights are by point.
  struct Place {
    Vec3 at;
    std::vector<Mirror> mirrors;
    Demand velocity, pressure;
    std::vector<double> otherwise;  ///< where no polynomial meets a demand
    std::optional<Vec3> beyond{};   ///< of the pressure one cell further out; the first point is then the own cell
    std::function<bool(std::span<const double> at, std::span<const double> beyond)> both{};
  };
  Target head;
  GlobalNumber nearest = no_unknown;
  std::vector<Term> terms;

  /// @param to_level  over the level of an unknown: 1/2 when that is finer, 2 when it is coarser. Of pressures.
  template <class F>
  void set(const std::vector<LevelPoint>& points, const Place& place, F&& to_level) {
    std::vector<std::int64_t> term(points.size(), -1);
    double least = 1e30;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (const LevelPoint& p = points[i]; p.unknown != no_unknown) {
        term[i] = std::ssize(terms);
        terms.push_back({p.unknown, {}, 0.0});
        const Vec3 away = p.at - place.at;
        if (dot(away, away) < least - 1e-9) {
          least = dot(away, away);
          nearest = p.unknown;
        }
      }
    const std::vector<Image> all = with_images(points, place.mirrors);
    std::vector<Image> held;  // pressures: not on walls
    std::ranges::copy_if(all, std::back_inserter(held), [&](const Image& i) { return term[i.point] >= 0; });
    const auto value = [&](const std::vector<Image>& images, const Demand& demand) {
      const std::vector<double> weight = polynomial_at(images, place.at, points.size(), demand);
      return weight.empty() ? on_images(images, place.otherwise) : weight;
    };
    const std::vector<double> u = value(all, place.velocity), p = value(held, place.pressure);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (const std::int64_t t = term[all[k].point]; t >= 0)
        for (int c = 0; c < 3; ++c) terms[t].weight[c] += all[k].sign[c] * u[k];
    for (std::size_t k = 0; k < held.size(); ++k) terms[term[held[k].point]].weight[kernels::p] += p[k];
    if (place.beyond) {
      const std::vector<double> further = weights_beyond(place, held, p);
      for (std::size_t k = 0; k < held.size(); ++k) terms[term[held[k].point]].beyond += further[k];
    }
    for (Term& t : terms) {
      const double factor = to_level(t.unknown);
      t.weight[kernels::p] *= factor;
      t.beyond *= factor;
    }
  }

 private:
  /// Weights of the pressure one cell further out. Where no polynomial will do, it is on the line through the own cell
  /// and the place.
  /// @param p  those at the place
  static std::vector<double> weights_beyond(const Place& place, const std::vector<Image>& images,
                                            const std::vector<double>& p) {
    const std::size_t n = place.otherwise.size();
    const std::vector<double> at = by_point(images, p, n);
    std::vector<double> weight = polynomial_at(
        images, *place.beyond, n, [&](std::span<const double> further) { return place.both(at, further); });
    if (!weight.empty()) return weight;
    std::vector<double> own(n);
    own[0] = -1.0;
    weight = on_images(images, std::move(own));
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] += 2.0 * p[i];
    return weight;
  }
};

/// What the set-up of one pair of levels needs.
struct LevelCoupling::Builder {
  const Comm& comm;
  const FlowLookup& coarse;
  const FlowLookup& fine;
  const std::vector<LevelFace>& faces;
  std::span<const std::unique_ptr<StokesOperator>> levels;
  std::vector<OpenTarget>& targets;

  std::vector<LevelPoint> fine_points(const LevelFace& f, int rings) const {
    return points_around(fine.vofs(), f.vof, rings, 0.5, f.own_center(),
                         [&](VofName v, int side) { return fine.wall_on(v, side); });
  }

  /// Ends without friction near a coarse cell, from its centre.
  std::vector<Mirror> mirrors_of(const Index& cell) const {
    constexpr double near = 2.6;  // [coarse cells]
    const Domain& domain = coarse.graph().layout().domain();
    std::vector<Mirror> mirrors;
    for (int side = 0; side < 6; ++side) {
      const int d = side / 2;
      const double at = (side % 2 == 0 ? 0 : domain.cells[d]) - (cell[d] + 0.5);
      if (!domain.periodic[d] && coarse.sides()[side] == FlowSide::symmetry && std::abs(at) < near)
        mirrors.push_back({side, at});
    }
    return mirrors;
  }

  /// A ghost changes with the coarse cell behind it, and not as its own cell does: otherwise no friction and no
  /// difference of pressures would be left between them. For the same reason the term of Rhie & Chow,
  ///
  ///   (∂p + ∂p of the ghost) / 2 - (p_ghost - p),   ∂p = (p_ghost - p_opposite) / 2 or, without it, p_ghost - p
  ///
  /// must not decrease with p nor increase with the pressure of that cell.
  /// @param n       points, of which the first is the own cell
  /// @param behind  place of the coarse cell behind the face among them
  OpenTarget::Place place_of_ghost(const LevelFace& f, std::size_t n, std::size_t behind, bool has_opposite) const {
    OpenTarget::Place place{f.ghost, mirrors_of(f.place.cell), {}, {}, std::vector<double>(n)};
    place.otherwise[0] = 1.0 / 3.0;  // on the line between the two
    place.otherwise[behind] = 2.0 / 3.0;
    place.velocity = [](std::span<const double> w) { return w[0] <= most_own; };
    place.pressure = [behind](std::span<const double> w) { return w[0] <= most_own && w[behind] >= 0.0; };
    place.beyond = f.ghost + 0.5 * to_vec(side_offset(f.face.side));
    place.both = [behind, has_opposite](std::span<const double> at, std::span<const double> beyond) {
      const double own = has_opposite ? 3.0 * (1.0 - at[0]) + beyond[0] : 2.0 * (1.0 - at[0]) + beyond[0] - 1.0;
      return own >= 0.0 && beyond[behind] <= 3.0 * at[behind];
    };
    return place;
  }

  std::vector<OpenTarget> make_fine_ghosts() const {
    std::unordered_map<std::uint64_t, const LevelFace*> at;
    for (const LevelFace& f : faces)
      if (is_linked(f)) at.emplace(key_of(f.vof, f.face.side), &f);
    StokesOperator& op = *levels[fine.geometry().level];
    const auto ghosts = op.level_ghosts();
    std::vector<OpenTarget> made(ghosts.size());
    parallel_for_dynamic(std::ssize(ghosts), [&](std::int64_t i) {
      const StokesOperator::LevelGhost& g = ghosts[i];
      const LevelFace& f = *at.at(key_of(vof_name(fine.graph().first_box() + g.box, g.vof), g.side));
      OpenTarget& t = made[i];
      t.head = {fine.geometry().level, static_cast<std::int32_t>(i), fine.graph().slot_begin(g.box) + g.slot, 0, 0, 0};
      std::vector<LevelPoint> points = fine_points(f, 2);
      const std::size_t n_fine = points.size();
      points.insert(points.end(), f.behind.points.begin(), f.behind.points.end());
      std::vector<GlobalNumber> own;
      for (std::size_t k = 0; k < n_fine; ++k) own.push_back(points[k].unknown);
      t.set(points, place_of_ghost(f, points.size(), n_fine, g.there != 0.0F),
            [&](GlobalNumber n) { return std::ranges::find(own, n) != own.end() ? 1.0 : 0.5; });
      t.nearest = f.behind.row;
    });
    return made;
  }

  /// Both grid lines through the face, that of the fine and that of the coarse VoF, meet no wall nearby.
  static bool is_plain(const FlowLookup& lookup, VofName v, int side) {
    return lookup.vofs().moments(v) == nullptr && lookup.wall_on(v, opposite(side)) > 1.0;
  }

  /// What the covered VoF behind a face learns from it: the points around, and the stress on the face.
  void tell_covered(const LevelFace& f, const OpenTarget& ghost, ByteWriter& w) const {
    const Vec3 center = f.behind.center + to_vec(side_offset(f.place.side));
    w.put(f.behind.covered);
    w.put(CoarseSide{f.behind.vof, f.place.side});
    for (std::vector<LevelPoint> points : {fine_points(f, 2), f.behind.points}) {
      for (LevelPoint& p : points) p.at -= center;
      w.put_vector(points);
    }
    std::vector<OpenTarget::Term> stress;
    if (is_plain(fine, f.vof, f.face.side)) {
      stress.push_back({fine.vofs().number(f.vof), {0.5, 0.5, 0.5, 0.5}, 0.0});
      for (const OpenTarget::Term& t : ghost.terms) {
        OpenTarget::Term& term = stress.emplace_back(t);
        for (int c = 0; c < 3; ++c) term.weight[c] *= -0.5;
        term.weight[kernels::p] *= 0.5;
        term.beyond = 0.0;
      }
    }
    w.put_vector(stress);
  }

  struct Covered {
    std::vector<LevelPoint> fine, coarse;
    std::vector<CoarseSide> seen_from;
    std::vector<OpenTarget::Term> stress;
    bool plain = true;  ///< all faces have a stress
  };

  /// Asks for what the covered VoFs of own boxes need; collective.
  std::map<VofName, Covered> gather_covered(const std::vector<OpenTarget>& ghosts) const {
    std::unordered_map<std::uint64_t, const OpenTarget*> of_face;
    const auto level_ghosts = levels[fine.geometry().level]->level_ghosts();
    for (std::size_t i = 0; i < ghosts.size(); ++i)
      of_face.emplace(
          key_of(vof_name(fine.graph().first_box() + level_ghosts[i].box, level_ghosts[i].vof), level_ghosts[i].side),
          &ghosts[i]);
    std::map<int, ByteWriter> to_owner;
    for (const LevelFace& f : faces)
      if (is_linked(f) && f.behind.covered != no_face)
        tell_covered(f, *of_face.at(key_of(f.vof, f.face.side)),
                     to_owner[coarse.graph().layout().owner(box_of(f.behind.covered))]);
    std::map<VofName, Covered> around;
    send_to_ranks(comm, std::move(to_owner), [&](ByteReader& in, int) {
      Covered& c = around[in.get<VofName>()];
      c.seen_from.push_back(in.get<CoarseSide>());
      for (std::vector<LevelPoint>* list : {&c.fine, &c.coarse}) {
        const auto more = in.get_vector<LevelPoint>();
        list->insert(list->end(), more.begin(), more.end());
      }
      const auto stress = in.get_vector<OpenTarget::Term>();
      c.plain = c.plain && !stress.empty();
      c.stress.insert(c.stress.end(), stress.begin(), stress.end());
    });
    return around;
  }

  /// The value with which the second difference and the mean pressure of the coarse VoF are those of its four fine
  /// faces; only one coarse VoF may look at it, away from walls.
  bool match_stress(Covered& c, OpenTarget& t) const {
    const CoarseSide& first = c.seen_from.front();
    const bool alone = std::ranges::all_of(
        c.seen_from, [&](const CoarseSide& s) { return s.vof == first.vof && s.side == first.side; });
    if (!alone || !c.plain || c.seen_from.size() != 4 || !is_plain(coarse, first.vof, first.side)) return false;
    t.nearest = c.stress.front().unknown;
    c.stress.push_back({coarse.vofs().number(first.vof), {1.0, 1.0, 1.0, -1.0}, 0.0});
    std::ranges::stable_sort(c.stress, {}, &OpenTarget::Term::unknown);
    for (const OpenTarget::Term& term : c.stress) {
      if (!t.terms.empty() && t.terms.back().unknown == term.unknown) {
        for (int k = 0; k < 4; ++k) t.terms.back().weight[k] += term.weight[k];
      } else {
        t.terms.push_back(term);
      }
    }
    return true;
  }

  /// The value in a covered cell is that of the fine ones in it; where no polynomial is, the mean of the nearest.
  /// @param points  from its centre
  template <class F>
  static OpenTarget::Place place_of_covered(const std::vector<LevelPoint>& points, std::vector<Mirror> mirrors,
                                            F&& is_coarse) {
    std::vector<std::size_t> of_coarse, of_fine;
    double least = 1e30;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].unknown == no_unknown) continue;
      (is_coarse(points[i].unknown) ? of_coarse : of_fine).push_back(i);
      if (of_fine.size() > 0 && of_fine.back() == i) least = std::min(least, dot(points[i].at, points[i].at));
    }
    std::erase_if(of_fine, [&](std::size_t i) { return dot(points[i].at, points[i].at) > least + 1e-6; });
    OpenTarget::Place place{{}, std::move(mirrors), {}, {}, std::vector<double>(points.size())};
    for (const std::size_t i : of_fine) place.otherwise[i] = 1.0 / static_cast<double>(of_fine.size());
    place.velocity = place.pressure = [of_coarse](std::span<const double> w) {
      double sum = 0.0;
      for (const std::size_t i : of_coarse) sum += w[i];
      return std::abs(sum) <= most_coarse;
    };
    return place;
  }

  void add_covered(const std::vector<OpenTarget>& ghosts) {
    for (auto& [name, c] : gather_covered(ghosts)) {
      OpenTarget& t = targets.emplace_back();
      const int b = coarse.graph().local(box_of(name));
      t.head = {coarse.geometry().level, -1, coarse.graph().slot_begin(b) + vof_of(name), 0, 0, 0};
      if (match_stress(c, t)) continue;
      std::vector<GlobalNumber> of_coarse;
      for (const LevelPoint& p : c.coarse) of_coarse.push_back(p.unknown);
      c.fine.insert(c.fine.end(), c.coarse.begin(), c.coarse.end());
      sort_unique(c.fine);
      const auto is_coarse = [&](GlobalNumber n) { return std::ranges::find(of_coarse, n) != of_coarse.end(); };
      t.set(c.fine, place_of_covered(c.fine, mirrors_of(coarse.vofs().cell(name)), is_coarse),
            [&](GlobalNumber n) { return is_coarse(n) ? 1.0 : 2.0; });
    }
  }

  /// What a rank with fine faces tells the owner of the coarse VoF behind one.
  struct Exit {
    VofName coarse;
    std::int32_t side, value;
    Vec3 at;
  };

  /// Appends the own fluxes and tells where they enter.
  void add_fluxes(std::vector<std::pair<std::int32_t, std::int32_t>>& exits, std::vector<VofName>& behind,
                  std::vector<std::pair<int, Exit>>& found) const {
    std::unordered_map<std::uint64_t, std::int32_t> ghost;
    const int level = fine.geometry().level;
    const auto ghosts = levels[level]->level_ghosts();
    for (std::size_t i = 0; i < ghosts.size(); ++i)
      ghost.emplace(key_of(vof_name(fine.graph().first_box() + ghosts[i].box, ghosts[i].vof), ghosts[i].side),
                    static_cast<std::int32_t>(i));
    std::map<int, ByteWriter> to_owner;
    for (const LevelFace& f : faces) {
      if (!is_linked(f)) continue;
      const auto value = static_cast<std::int32_t>(exits.size());
      exits.emplace_back(level, ghost.at(key_of(f.vof, f.face.side)));
      behind.push_back(f.behind.vof);
      const Vec3 at = f.own_center() + 0.25 * to_vec(side_offset(f.face.side)) - f.behind.center;
      to_owner[coarse.graph().layout().owner(box_of(f.behind.vof))].put(Exit{f.behind.vof, f.place.side, value, at});
    }
    send_to_ranks(comm, std::move(to_owner),
                  [&](ByteReader& in, int rank) { found.emplace_back(rank, in.get<Exit>()); });
  }
};

LevelCoupling::LevelCoupling(const Comm& comm, const CompositeNumbering& numbering,
                             const std::vector<std::unique_ptr<FlowLookup>>& lookups,
                             const std::vector<std::vector<LevelFace>>& faces,
                             std::span<const std::unique_ptr<StokesOperator>> levels) {
  std::vector<OpenTarget> targets;
  struct Arrival {
    std::int32_t level;
    int rank;
    Builder::Exit exit;
  };
  std::vector<Arrival> arrivals;
  for (std::size_t l = 0; l < faces.size(); ++l) {
    Builder builder{comm, *lookups[l], *lookups[l + 1], faces[l], levels, targets};
    const std::vector<OpenTarget> ghosts = builder.make_fine_ghosts();
    builder.add_covered(ghosts);
    targets.insert(targets.end(), ghosts.begin(), ghosts.end());
    std::vector<std::pair<int, Builder::Exit>> found;
    builder.add_fluxes(exits_, behind_, found);
    for (const auto& [rank, exit] : found) arrivals.push_back({static_cast<std::int32_t>(l), rank, exit});
  }
  number_sources(comm, numbering, targets, levels);
  std::vector<RemoteItem> remote;
  for (const Arrival& a : arrivals)
    if (a.rank != comm.rank()) remote.push_back({a.rank, a.exit.value});
  std::ranges::sort(remote);
  const auto n_own = static_cast<std::int32_t>(exits_.size());
  for (const Arrival& a : arrivals) {
    const auto value =
        a.rank == comm.rank()
            ? a.exit.value
            : n_own + static_cast<std::int32_t>(std::ranges::lower_bound(remote, RemoteItem{a.rank, a.exit.value}) -
                                                remote.begin());
    const int box = lookups[a.level]->graph().local(box_of(a.exit.coarse));
    entrances_.push_back({a.level, box, vof_of(a.exit.coarse), a.exit.side, value, a.exit.at});
  }
  std::ranges::sort(entrances_, {}, [](const Entrance& e) {
    return std::tuple(e.level, e.box, e.vof, e.side, e.at[0], e.at[1], e.at[2]);
  });
  flux_exchange_ = ListExchange(comm, remote);
  fluxes_ = Array<double>(n_own + remote.size(), Purpose::buffers, 0.0);
}

void LevelCoupling::number_sources(const Comm& comm, const CompositeNumbering& numbering,
                                   const std::vector<OpenTarget>& open,
                                   std::span<const std::unique_ptr<StokesOperator>> levels) {
  std::vector<GlobalNumber> own, far;
  for (const OpenTarget& t : open)
    for (const OpenTarget::Term& term : t.terms) (numbering.is_own(term.unknown) ? own : far).push_back(term.unknown);
  std::ranges::sort(own);
  own.erase(std::unique(own.begin(), own.end()), own.end());
  remote_ = RemoteUnknowns(comm, numbering, far);
  std::unordered_map<std::int32_t, Source> places;
  for (const GlobalNumber g : own) places[static_cast<std::int32_t>(g - numbering.first())] = {};
  for (const std::int32_t n : remote_.exchange().sent()) places[n] = {};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelGraph& graph = levels[l]->geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b)
      for (int v = 0; v < graph.box(b).n_own; ++v)
        if (const auto at = places.find(numbering.number(static_cast<int>(l), b, v)); at != places.end())
          at->second = {static_cast<std::int32_t>(l), graph.slot_begin(b) + v};
  }
  for (const GlobalNumber g : own) own_.push_back(places.at(static_cast<std::int32_t>(g - numbering.first())));
  for (const std::int32_t n : remote_.exchange().sent()) sent_.push_back(places.at(n));
  const auto n_own = static_cast<std::int32_t>(own.size());
  const auto place_of = [&](GlobalNumber g) {
    return numbering.is_own(g) ? static_cast<std::int32_t>(std::ranges::lower_bound(own, g) - own.begin())
                               : n_own + remote_.place(g);
  };
  for (const OpenTarget& t : open) {
    Target& target = targets_.emplace_back(t.head);
    target.nearest = place_of(t.nearest);
    target.begin = std::ssize(terms_);
    for (const OpenTarget::Term& term : t.terms) terms_.push_back({place_of(term.unknown), term.weight, term.beyond});
    target.end = std::ssize(terms_);
  }
  pool_ = Array<Quad>(own.size() + remote_.numbers().size(), Purpose::buffers, Quad{});
}

/// pool: value_at(source) of all sources, in the order of pool_.
template <class T, class F>
void LevelCoupling::gather(std::span<T> pool, F&& value_at) {
  remote_.exchange().begin(pool.subspan(own_.size()), [&](std::size_t i) { return value_at(sent_[i]); });
  parallel_for(std::ssize(own_), [&](std::int64_t i) { pool[i] = value_at(own_[i]); });
  remote_.exchange().finish();
}

template <class Q>
void LevelCoupling::fill(std::span<BasicLevelValues<Q>> levels) {
  using namespace kernels;
  gather(pool_.span(), [&](const Source& s) {
    Quad value;
    store(load(levels[s.level].x.data()[s.at]), value);
    return value;
  });
  parallel_for(std::ssize(targets_), [&](std::int64_t i) {
    const Target& t = targets_[i];
    Four sum{};
    double beyond = 0.0;
    for (auto k = t.begin; k < t.end; ++k) {
      const Term& term = terms_[k];
      const Four value = load(pool_.data()[term.source]);
      const std::array<double, 4>& w = term.weight;
      sum += Four{w[0], w[1], w[2], w[3]} * value;
      beyond += term.beyond * value[p];
    }
    BasicLevelValues<Q>& u = levels[t.level];
    store(sum, u.x.data()[t.at]);
    if (t.ghost >= 0) u.beyond[t.ghost] = beyond;
  });
}

void LevelCoupling::fill_lengths(std::span<FloatField> levels) {
  struct Length {
    float cells;
    std::int32_t level;
  };
  std::vector<Length> pool(pool_.size());
  gather(std::span(pool), [&](const Source& s) { return Length{levels[s.level].data()[s.at], s.level}; });
  parallel_for(std::ssize(targets_), [&](std::int64_t i) {
    const Target& t = targets_[i];
    const Length& from = pool[t.nearest];
    levels[t.level].data()[t.at] = std::ldexp(from.cells, t.level - from.level);
  });
}

template <class Q>
void LevelCoupling::return_fluxes(std::span<const std::unique_ptr<StokesOperator>> levels,
                                  std::span<BasicLevelValues<Q>> u, std::span<const std::span<Q>> y,
                                  std::span<const StokesDrive> drives, std::span<const LevelTime> times) {
  parallel_for(std::ssize(exits_), [&](std::int64_t i) {
    const auto [level, ghost] = exits_[i];
    const auto& from = levels[level]->level_ghosts()[ghost];
    fluxes_.data()[i] = levels[level]->level_flux(u[level], from, drives[level].force, times[level]);
  });
  flux_exchange_.exchange(fluxes_.span());
  for (const Entrance& e : entrances_) {
    const std::size_t l = e.level;
    const double out = -0.25 * fluxes_.data()[e.value];
    const std::int64_t first = levels[l]->geometry().graph.vof_begin(e.box);
    y[l][first + e.vof].v[kernels::p] -= static_cast<kernels::NumberOf<Q>>(out);
    u[l].along[e.box] += out * e.at;
  }
}

template void LevelCoupling::fill(std::span<BasicLevelValues<Quad>>);
template void LevelCoupling::fill(std::span<BasicLevelValues<FloatQuad>>);
template void LevelCoupling::return_fluxes(std::span<const std::unique_ptr<StokesOperator>>,
                                           std::span<BasicLevelValues<Quad>>, std::span<const std::span<Quad>>,
                                           std::span<const StokesDrive>, std::span<const LevelTime>);
template void LevelCoupling::return_fluxes(std::span<const std::unique_ptr<StokesOperator>>,
                                           std::span<BasicLevelValues<FloatQuad>>,
                                           std::span<const std::span<FloatQuad>>, std::span<const StokesDrive>,
                                           std::span<const LevelTime>);

std::int64_t LevelCoupling::bytes() const {
  return static_cast<std::int64_t>((own_.capacity() + sent_.capacity()) * sizeof(Source) + pool_.bytes() +
                                   targets_.capacity() * sizeof(Target) + terms_.capacity() * sizeof(Term) +
                                   exits_.capacity() * sizeof(exits_[0]) + behind_.capacity() * sizeof(VofName) +
                                   entrances_.capacity() * sizeof(Entrance) + fluxes_.bytes()) +
         remote_.bytes() + flux_exchange_.bytes();
}

}  // namespace karst
