// SPDX-License-Identifier: BSD-3-Clause
// How an EllipticOperator is made.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "fields/same_boxes.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/elliptic/face_stencils.hpp"
#include "solvers/elliptic/operator_copy.hpp"
#include "solvers/elliptic/row_counts.hpp"
#include "solvers/elliptic/row_makers.hpp"

namespace karst {

namespace {

void check(const EllipticProblem& problem, const Geometry& geometry) {
  require(problem.a >= 0.0, "elliptic problem: a = {}; it must not be negative", problem.a);
  require(problem.beta > 0.0 || !problem.face_beta.empty(), "elliptic problem: beta = {}; it must be positive",
          problem.beta);
  require(problem.face_beta.empty() || problem.face_beta.size() == geometry.levels.size(),
          "elliptic problem: {} fields of beta on faces for {} levels; one per level is needed",
          problem.face_beta.size(), geometry.levels.size());
}

/// Calls f(piece) for the wall of every own VoF that has one, at its centroid.
template <class F>
void for_each_wall(const Geometry& geometry, F&& f) {
  for (const LevelGeometry& level : geometry.levels)
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      const auto moments = level.box(b).moments;
      for (std::size_t r = 0; r < moments.size(); ++r) {
        if (moments[r].wall_area <= 0.0) continue;
        const Index c = graph.cells.cell(graph.row_cell[r]);
        const std::int64_t row = level.moments_begin[b] + std::int64_t(r);
        f(wall_piece(
            moments[r], level.level, row, wall_parts(level, row),
            std::ldexp(1.0, -level.level) * (Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} + moments[r].wall_centroid)));
      }
    }
}

/// Lines when the whole wall is Dirichlet. Throws Error when a rate is negative. Collective.
WallForm choose_form(const Comm& comm, const Geometry& geometry, const EllipticProblem& problem) {
  bool other = !problem.wall;
  double rate = 0.0;
  if (problem.wall) {
    for_each_wall(geometry, [&](const WallPiece& piece) {
      const Condition c = problem.wall(piece);
      rate = std::min(rate, c.rate);
      other = other || c.kind != BoundaryKind::dirichlet;
    });
  }
  require_rate(comm.min(rate));
  return comm.any(other) ? WallForm::fluxes : WallForm::lines;
}

/// Merges the terms of a row, unknowns of its coefficients included.
/// @param sum  empty before and after
void finish(Row& row, TermSum& sum) {
  std::vector<StencilTerm>& terms = row.stencil.terms;
  sum.add(terms, 1.0);
  sum.add(row.volume.terms, 0.0);
  for (const RobinWall& wall : row.robin) sum.add(wall.value_at_wall.terms, 0.0);
  terms.resize(sum.size());
  sum.move_to(terms.data());
}

/// What an operator before knows of the faces between levels.
class LevelFacesBefore {
 public:
  LevelFacesBefore(const OperatorBefore& before, const Composite& now) : before_(before), now_(now) {
    if (before.op == nullptr || before.op->faces() == nullptr || now.n_levels() == 1) return;
    far_ = far_from_others(*before.same, now);
    has_row_.assign(now.numbering().n_own(), 0);
    for (int l = 0; l < now.n_levels(); ++l)
      for (int b = 0; b < now.graph(l).n_local(); ++b)
        if (before.same->of(l, b).box >= 0)
          std::fill(has_row_.begin() + now.numbering().box_begin(l, b),
                    has_row_.begin() + now.numbering().box_end(l, b), std::uint8_t{1});
  }

  /// Of the faces of a level and the next finer one; to be dropped before this.
  KnownFluxes between(int level) const {
    KnownFluxes known;
    if (far_.empty() || level + 1 >= before_.op->numbering().n_levels()) return known;
    const std::vector<std::int32_t> flux = fluxes_before(level);
    known.known.assign(flux.size(), 0);
    for (std::size_t i = 0; i < flux.size(); ++i) known.known[i] = flux[i] >= 0 ? 1 : 0;
    known.read = [this, flux](std::size_t face, Stencil& to) {
      const FaceStencils& from = *before_.op->faces();
      for (std::int32_t e = from.entries_begin[flux[face]]; e < from.entries_begin[flux[face] + 1]; ++e)
        to.add(now_.numbering().first() + before_.same->now[from.columns[e]], -from.weights[e]);
    };
    known.has_row = [this](GlobalNumber row) {
      return now_.numbering().is_own(row) && has_row_[row - now_.numbering().first()] != 0;
    };
    known.is_far = [this](int l, VofName v) {
      const int b = now_.graph(l).local(box_of(v));
      return b >= 0 && far_[l][b] != 0;
    };
    return known;
  }

 private:
  /// Per face: its flux among those of the operator before; -1: it is in a box that is not the same, or closed.
  std::vector<std::int32_t> fluxes_before(int level) const {
    const FaceStencils& from = *before_.op->faces();
    const Composite& was = *before_.op->composite();
    std::vector<std::int32_t> of_face(was.coarse_fine(level).size(), -1);
    for (std::int32_t i = from.fluxes_begin[level]; i < from.fluxes_begin[level + 1];
         ++i)  // windows of levels come first
      of_face[from.places[i].at] = i;
    std::vector<std::int32_t> now(now_.coarse_fine(level).size(), -1);
    for (int b = 0; b < now_.graph(level + 1).n_local(); ++b)
      if (const int box = before_.same->of(level + 1, b).box; box >= 0)
        std::copy(of_face.begin() + was.coarse_fine_begin(level, box),
                  of_face.begin() + was.coarse_fine_begin(level, box + 1),
                  now.begin() + now_.coarse_fine_begin(level, b));
    return now;
  }

  const OperatorBefore& before_;
  const Composite& now_;
  std::vector<std::vector<std::uint8_t>> far_;
  std::vector<std::uint8_t> has_row_;  // per own unknown
};

}  // namespace

struct EllipticOperator::Build {
  RowMakers makers;
  RowAdditions additions;
  std::vector<std::uint8_t> has_addition;  // per own unknown; empty: none has
  std::vector<RowLists> rows;              // of the boxes of all levels
  bool with_faces;
  std::vector<ListedFluxes> fluxes;              // of boxes, and between levels
  std::vector<std::vector<std::uint8_t>> plain;  // of list_fluxes()
  OperatorBefore before;

  bool adds_to(std::int32_t own) const { return !has_addition.empty() && has_addition[own] != 0; }
};

void require_rate(double least) {
  require(least >= 0.0, "elliptic problem: a Robin condition of the wall has the rate {}; it must not be negative",
          least);
}

EllipticOperator::EllipticOperator(const std::shared_ptr<const Composite>& grid, const EllipticProblem& problem,
                                   Faces faces)
    : EllipticOperator(grid, problem, choose_form(grid->comm(), grid->geometry(), problem), faces) {}

EllipticOperator::EllipticOperator(std::shared_ptr<const Composite> grid, const EllipticProblem& problem, WallForm form,
                                   Faces faces, const OperatorBefore& before)
    : comm_(grid->comm()),
      geometry_(&grid->geometry()),
      problem_(problem),
      form_(form),
      composite_(std::move(grid)),
      numbering_(composite_->numbering()),
      first_wall_(problem.wall) {
  check(problem, *geometry_);
  const Timer timer("elliptic operator");
  build(faces, before);
  if (problem.a > 0.0 || comm_.any(!boundary_.robin.empty())) use_coefficients();
}

EllipticOperator::~EllipticOperator() = default;

void EllipticOperator::build(Faces faces, const OperatorBefore& before) {
  // A coarse row of lines counts the fine faces that exist for those that walls close: one flux would be two numbers.
  const bool one_number = form_ == WallForm::fluxes || composite_->n_levels() == 1;
  Build build{{*composite_, problem_, form_}, {}, {}, {}, faces == Faces::keep && one_number, {}, {}, before};
  require(before.op == nullptr || (before.op->form() == form_ && (before.op->faces() != nullptr) == build.with_faces),
          "operator: rows of another form are not those of this one");
  const LevelFacesBefore faces_before(before, *composite_);
  for (int l = 0; l + 1 < composite_->n_levels(); ++l) {
    ListedFluxes listed;
    listed.window = {l, -1};
    const auto list = [&listed, this](std::size_t face, const Stencil& flux) {
      Row row;
      row.stencil.add(flux, -1.0);
      listed.add(row, {FluxPlace::Kind::coarse_fine, 0, 1, static_cast<std::int32_t>(face)}, *geometry_);
    };
    std::function<void(std::size_t, const Stencil&)> told;
    if (build.with_faces) told = list;
    const CoarseFineCounts n = add_coarse_fine_fluxes(*composite_, build.makers.rows(l), build.makers.rows(l + 1),
                                                      faces_before.between(l), build.additions, told);
    if (build.with_faces) build.fluxes.push_back(std::move(listed));
    counts_.level_faces += n.faces;
    counts_.level_faces_closed += n.closed;
  }
  if (!build.additions.empty()) build.has_addition.assign(numbering_.n_own(), 0);
  for (const auto& [own, more] : build.additions) build.has_addition[own] = 1;
  if (geometry_->levels.size() > 1)
    for (int l = 0; l < composite_->n_levels(); ++l) build.makers.vofs(l).fetch_beyond(comm_);
  symmetric_ = form_ == WallForm::lines && geometry_->levels.size() == 1;
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    parts_.emplace_back();
    make_wide_rows(build, l);
    add_plain_boundaries(build, l);
  }
  if (build.with_faces)
    faces_ = std::make_unique<FaceStencils>(gather_fluxes(*composite_, build.fluxes, std::move(build.plain)));
  number_columns(build);
  choose_boxes();
  for (int l = 0; l < composite_->n_levels(); ++l) foreign_walls_.push_back(build.makers.vofs(l).foreign_walls());
}

namespace {

/// Calls f(vof) for the own VoFs that are irregular or have other fluxes, by increasing number.
template <class F, class HasOthers>
void for_wide_vofs(const BoxGraph& graph, F&& f, HasOthers&& has_others) {
  std::size_t irregular = 0;
  for (int vof = 0; vof < graph.n_own; ++vof) {
    const bool cut = std::cmp_less(irregular, graph.n_irregular) && graph.row_vof[irregular] == vof;
    irregular += cut;
    if (cut || has_others(vof)) f(vof);
  }
}

}  // namespace

void EllipticOperator::make_wide_rows(Build& build, int level) {
  const LevelGeometry& geometry = geometry_->levels[level];
  const RowMaker& maker = build.makers.maker(level);
  const int n = geometry.graph.n_local();
  std::vector<BoxRows> of_box(n);
  const std::size_t first = build.fluxes.size();
  if (build.with_faces) {
    build.fluxes.resize(first + n);
    build.plain.emplace_back(geometry.graph.vof_begin(n));
  }
  parallel_for_dynamic(n, [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const BoxGraph graph = geometry.graph.box(b);
    BoxRows& out = of_box[i];
    std::span<std::uint8_t> plain;
    if (build.with_faces) plain = std::span(build.plain.back()).subspan(geometry.graph.vof_begin(b), graph.n_own);
    BoxBefore before(build.before, *this, level, b);
    if (before.is_whole()) {
      before.take_rows(out);
      if (!build.before.known.empty()) before.tell_known(out.rows, build.before.known);
      if (build.with_faces) before.take_fluxes(plain, build.fluxes[first + i]);
      return;
    }
    MadeFaces made;
    Row row;  // keeps its room, as the next does
    TermSum sum;
    const auto make = [&](int vof) {
      const std::int32_t number = numbering_.number(level, b, vof);
      if (number < 0) return;
      const RowAddition* const more = build.adds_to(number) ? &build.additions.at(number) : nullptr;
      if (more == nullptr && before.take_row(number, out)) return;
      const unsigned sides = more != nullptr ? more->sides : 0U;
      RowCounts counts;
      maker.make(vof_name(graph.box, vof), number, sides, made, counts, row);
      if (sides != 0) row.stencil.add(more->stencil, 1.0);
      finish(row, sum);
      out.methods.append(counts);
      out.counts += counts;
      out.counts.entries += std::ssize(row.stencil.terms);
      out.flags.push_back(static_cast<std::uint8_t>((row.orphan ? row_flags::orphan : 0) |
                                                    (more != nullptr ? row_flags::between_levels : 0)));
      out.boundary.append(row, *geometry_, out.rows);
    };
    for_wide_vofs(graph, make, [&](int vof) {
      const std::int32_t number = build.additions.empty() ? -1 : numbering_.number(level, b, vof);
      return number >= 0 && build.adds_to(number);
    });
    out.counts.wide_rows = static_cast<std::int64_t>(out.rows.size());
    if (!build.before.known.empty()) before.tell_known(out.rows, build.before.known);
    if (!build.with_faces) return;
    ListedFluxes& fluxes = build.fluxes[first + i];
    list_fluxes(
        *composite_, build.makers, level, b, made, plain, [&](int vof) { return before.take_fluxes_of(vof, fluxes); },
        fluxes);
  });
  for (BoxRows& box : of_box) append_rows(std::move(box), build);
}

void EllipticOperator::append_rows(BoxRows&& box, Build& build) {
  counts_ += box.counts;
  wide_flags_.insert(wide_flags_.end(), box.flags.begin(), box.flags.end());
  const BoundaryTerms::Sizes begin = boundary_.sizes();
  boundary_.append(std::move(box.boundary), box.rows);
  box_terms_.push_back({begin, boundary_.sizes(), std::ssize(methods_.method), box.counts});
  methods_.append(box.methods);
  build.rows.push_back(std::move(box.rows));
}

void EllipticOperator::add_plain_boundaries(const Build& build, int level) {
  const LevelGraph& level_graph = geometry_->levels[level].graph;
  const double h = level_width(level);
  OperatorHalo& part = parts_[level];
  part.ghost_begin.assign(1, 0);
  for (int b = 0; b < level_graph.n_local(); ++b) {
    const BoxGraph graph = level_graph.box(b);
    const int first_domain = graph.n_own + graph.halo.n_vofs() + graph.halo.n_coarse();
    const auto irregular = graph.row_vof.first(graph.n_irregular);
    if (graph.halo.n_domain() > 0)
      for_each_vof(graph, [&](int vof, int cell, const std::array<std::uint16_t, 6>& neighbours) {
        const std::int32_t row = numbering_.number(level, b, vof);
        if (row < 0 || std::ranges::binary_search(irregular, vof) || build.adds_to(row)) return;
        for (int side = 0; side < 6; ++side) {
          const int slot = neighbours[side];
          if (slot < first_domain || slot == graph.closed()) continue;
          const Index c = graph.cells.cell(cell);
          Vec3 at = h * Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
          at[direction_of(side)] += is_high(side) ? 0.5 * h : -0.5 * h;
          const ConditionAt& condition = problem_.sides[side];
          const Condition c_at = condition ? condition(at) : Condition{};
          double beta = problem_.beta;
          if (!problem_.face_beta.empty())
            beta = problem_.face_beta[level].box(b, direction_of(side))[is_high(side) ? slot : vof];
          double factor = 1.0, weight = h * h;
          if (c_at.kind == BoundaryKind::dirichlet) {
            factor = -1.0;
            weight = 2.0 * beta * h;
          } else if (c_at.kind == BoundaryKind::robin) {
            weight = h * h / (1.0 + 0.5 * c_at.rate * h / beta);
            factor = 1.0 - c_at.rate * weight / (beta * h);
          }
          part.ghosts.push_back({static_cast<std::uint16_t>(slot), static_cast<std::uint16_t>(vof), factor});
          if (condition) boundary_.sides.push_back({row, static_cast<std::int8_t>(side), weight, at});
        }
      });
    part.ghost_begin.push_back(std::ssize(part.ghosts));
  }
}

void EllipticOperator::number_columns(Build& build) {
  std::vector<GlobalNumber> wanted = foreign_unknowns(build.rows, numbering_);
  std::vector<std::vector<GlobalNumber>> halo(geometry_->levels.size());
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    const LevelGraph& graph = geometry_->levels[l].graph;
    const NumberField& numbers = build.makers.numbers(l);
    OperatorHalo& part = parts_[l];
    part.halo_begin.assign(1, 0);
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      const auto values = numbers.box(b).subspan(box.n_own, box.halo.n_vofs());
      for (const GlobalNumber g : values) {
        halo[l].push_back(g);
        if (g >= 0 && !numbering_.is_own(g)) wanted.push_back(g);
      }
      part.halo_begin.push_back(part.halo_begin.back() + box.halo.n_vofs());
    }
  }
  std::vector<GlobalNumber> foreign_walls;
  for (const ForeignWall& wall : boundary_.foreign) foreign_walls.push_back(wall.unknown);
  foreign_ = RemoteValues<RateAndValue>(comm_, numbering_, std::move(foreign_walls));
  remote_ = RemoteValues<double>(comm_, numbering_, std::move(wanted));
  require(numbering_.n_own() + std::ssize(remote_.numbers()) < (std::int64_t{1} << 31),
          "operator: more than 2^31 unknowns and values of other ranks on one rank; use more ranks");
  for (std::size_t l = 0; l < halo.size(); ++l)
    for (const GlobalNumber g : halo[l])
      parts_[l].halo.push_back(g < 0 ? -1
                               : numbering_.is_own(g)
                                   ? static_cast<std::int32_t>(g - numbering_.first())
                                   : static_cast<std::int32_t>(numbering_.n_own()) + remote_.place(g));
  split_halos();
  std::size_t first_window = 0;
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    parts_[l].first_window = first_window;
    first_window += geometry_->levels[l].graph.n_local();
  }
  wide_ = WideRows(build.rows, std::numeric_limits<std::size_t>::max(), numbering_, remote_);
}

/// Consecutive own unknowns in consecutive halo slots are copied as one.
void EllipticOperator::split_halos() {
  constexpr std::int64_t shortest = 4;
  const auto n_own = static_cast<std::int32_t>(numbering_.n_own());
  for (OperatorHalo& part : parts_)
    for (std::size_t b = 0; b + 1 < part.halo_begin.size(); ++b) {
      const std::span<const std::int32_t> halo(part.halo.data() + part.halo_begin[b],
                                               part.halo.data() + part.halo_begin[b + 1]);
      for (std::size_t i = 0; i < halo.size();) {
        std::size_t end = i + 1;
        if (halo[i] >= 0)
          while (end < halo.size() && halo[end] == halo[end - 1] + 1 && halo[end] < n_own) ++end;
        if (std::ssize(halo.subspan(i, end - i)) >= shortest && halo[i] < n_own) {
          part.stretches.push_back({halo[i], static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(end - i)});
        } else {
          for (std::size_t s = i; s < end; ++s) part.singles.push_back({halo[s], static_cast<std::uint16_t>(s)});
        }
        i = end;
      }
      part.stretch_begin.push_back(std::ssize(part.stretches));
      part.single_begin.push_back(std::ssize(part.singles));
    }
}

void EllipticOperator::choose_boxes() {
  std::size_t slots = 0;
  for (int l = 0; l < numbering_.n_levels(); ++l) {
    const LevelGraph& graph = geometry_->levels[l].graph;
    const OperatorHalo& part = parts_[l];
    for (int b = 0; b < graph.n_local(); ++b) {
      const std::int32_t begin = numbering_.box_begin(l, b), end = numbering_.box_end(l, b);
      if (begin == end) continue;
      slots = std::max<std::size_t>(slots, graph.box(b).n_slots());
      bool far = false;
      for (auto i = part.halo_begin[b]; i < part.halo_begin[b + 1]; ++i)
        far = far || part.halo[i] >= numbering_.n_own();
      far = far || wide_.reads_remote(window(l, b));
      (far ? border_ : interior_).push_back({l, b});
    }
  }
  scratch_size_ = 2 * ((slots + 15) / 8 * 8);
  // Faces between levels are counted over all ranks.
  const auto level_faces = std::pair(counts_.level_faces, counts_.level_faces_closed);
  std::vector<std::int64_t> sums;
  for_each_count(counts_, [&](const char*, std::int64_t n) { sums.push_back(n); });
  comm_.sum(std::span(sums));
  auto next = sums.begin();
  for_each_count(counts_, [&](const char*, std::int64_t& n) { n = *next++; });
  std::tie(counts_.level_faces, counts_.level_faces_closed) = level_faces;
}

}  // namespace karst
