// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/operator_copy.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "solvers/elliptic/row_counts.hpp"

namespace karst {
namespace {

/// Of a row without isolated fragments beside it and without fluxes between levels: it reads differences at faces two
/// steps away, and what is next to these (RowMaker).
constexpr int faces_read = 3;

/// Of the walls of a box among the irregular VoFs of all levels.
std::int64_t first_place(const Geometry& geometry, int level, int box) {
  std::int64_t place = geometry.levels[level].moments_begin[box];
  for (int l = 0; l < level; ++l) place += std::ssize(geometry.levels[l].moments);
  return place;
}

/// Moves `at` over the terms of rows below `row`.
/// @param end  of the terms of the box
void pass_rows_below(std::int32_t row, const BoundaryTerms& all, const BoundaryTerms::Sizes& end,
                     BoundaryTerms::Sizes& at) {
  while (at.sides < end.sides && all.sides[at.sides].row < row) ++at.sides;
  while (at.walls < end.walls && all.walls[at.walls].row < row) ++at.walls;
  while (at.robin < end.robin && all.walls[all.robin[at.robin].term].row < row) ++at.robin;
}

}  // namespace

void MethodsOfRows::append(const RowCounts& row) {
  std::uint8_t number = 0;
  const std::size_t before = method.size();
  for_each_count(row, [&](const char*, std::int64_t times) {
    method.insert(method.end(), times, number);
    ++number;
  });
  n.push_back(static_cast<std::uint16_t>(method.size() - before));
}

void MethodsOfRows::append(const MethodsOfRows& all) {
  method.insert(method.end(), all.method.begin(), all.method.end());
  n.insert(n.end(), all.n.begin(), all.n.end());
}

EllipticOperator::BoxBefore::BoxBefore(const OperatorBefore& before, const EllipticOperator& now, int level, int box)
    : before_(before), now_(now), op_(before.op), level_(level), box_(box) {
  if (op_ == nullptr) return;
  was_ = before.same->of(level, box);
  is_whole_ = was_.box >= 0;
  if (!is_whole_) was_ = before.same->partly[level][box];
  if (was_.box < 0) {
    op_ = nullptr;
    return;
  }
  number_begin_ = now.numbering_.box_begin(level, box);
  row_ = op_->wide_.first_from(was_.begin);
  const TermsOfBox& terms = op_->box_terms_[op_->window(level, was_.box)];
  method_ = terms.first_method;
  row_terms_ = terms.begin;
  if (is_whole_) return;
  taken_.assign(was_.end - was_.begin, 0);
  if (op_->faces_ == nullptr) return;
  const std::size_t w = window_of_fluxes();
  flux_ = op_->faces_->fluxes_begin[w];
  flux_terms_ = {op_->faces_->sides_begin[w], op_->faces_->walls_begin[w], op_->faces_->robin_begin[w]};
}

/// Those of levels come first.
std::size_t EllipticOperator::BoxBefore::window_of_fluxes() const {
  return op_->numbering_.n_levels() - 1 + op_->window(level_, was_.box);
}

void EllipticOperator::BoxBefore::take_rows(BoxRows& out) {
  const TermsOfBox& terms = op_->box_terms_[op_->window(level_, was_.box)];
  const std::int64_t end = op_->wide_.first_from(was_.end);
  append_rows(row_, end, terms.begin, terms.end, out);
  for (std::int64_t r = row_; r < end; ++r) method_ += op_->methods_.n[r];
  out.methods.method.assign(op_->methods_.method.begin() + terms.first_method, op_->methods_.method.begin() + method_);
  out.methods.n.assign(op_->methods_.n.begin() + row_, op_->methods_.n.begin() + end);
  out.counts = terms.counts;
}

bool EllipticOperator::BoxBefore::take_row(std::int32_t number, BoxRows& out) {
  if (op_ == nullptr || before_.same->stays[number] < faces_read) return false;
  const std::int32_t was = was_.begin + (number - number_begin_);
  for (; op_->wide_.row(row_) < was; ++row_) method_ += op_->methods_.n[row_];
  if ((op_->wide_flags_[row_] & row_flags::between_levels) != 0) return false;
  const BoundaryTerms::Sizes& last = op_->box_terms_[op_->window(level_, was_.box)].end;
  pass_rows_below(was, op_->boundary_, last, row_terms_);
  BoundaryTerms::Sizes end = row_terms_;
  pass_rows_below(was + 1, op_->boundary_, last, end);
  append_rows(row_, row_ + 1, row_terms_, end, out);
  const auto method = op_->methods_.method.begin() + method_;
  const std::uint16_t n = op_->methods_.n[row_];
  out.methods.method.insert(out.methods.method.end(), method, method + n);
  out.methods.n.push_back(n);
  std::array<std::int64_t, n_counts> times{};
  for (std::uint16_t i = 0; i < n; ++i) ++times[method[i]];
  auto next = times.begin();
  for_each_count(out.counts, [&](const char*, std::int64_t& count) { count += *next++; });
  out.counts.entries += out.rows.begin.back() - out.rows.begin[out.rows.size() - 1];
  taken_[number - number_begin_] = 1;
  return true;
}

void EllipticOperator::BoxBefore::tell_known(const RowLists& rows, std::span<KnownRow> known) const {
  if (op_ == nullptr) return;
  const std::size_t n = was_.end - was_.begin;
  const std::span<KnownRow> mine = known.subspan(number_begin_, n);
  if (is_whole_) {
    std::ranges::fill(mine, KnownRow::with_all_around);
    return;
  }
  // Seven points, on both grids.
  for (std::size_t i = 0; i < n; ++i)
    mine[i] = before_.same->stays[number_begin_ + i] < faces_read ? KnownRow::no : KnownRow::alone;
  for (const std::int32_t number : rows.number) mine[number - number_begin_] = KnownRow::no;
  const std::int64_t end = op_->wide_.first_from(was_.end);
  for (std::int64_t r = op_->wide_.first_from(was_.begin); r < end; ++r)
    mine[op_->wide_.row(r) - was_.begin] = KnownRow::no;
  for (std::size_t i = 0; i < n; ++i)
    if (taken_[i] != 0) mine[i] = KnownRow::alone;
}

/// All of one box.
/// @param first  of their boundary terms
/// @param last   where these end
void EllipticOperator::BoxBefore::append_rows(std::int64_t begin, std::int64_t end, const BoundaryTerms::Sizes& first,
                                              const BoundaryTerms::Sizes& last, BoxRows& out) const {
  const std::vector<std::int32_t>& number_now = before_.same->now;
  const std::size_t varying = out.rows.varying.size(), sides = out.boundary.sides.size(),
                    walls = out.boundary.walls.size();
  op_->wide_.read_back(
      begin, end, now_.numbering_.first(), [&](std::int32_t own) { return number_now[own]; }, out.rows);
  const auto shift = static_cast<std::int32_t>(std::ssize(out.boundary.robin) - first.robin);
  for (std::size_t t = varying; t < out.rows.varying.size(); ++t)
    if (out.rows.varying[t].coefficient > 0) out.rows.varying[t].coefficient += shift;
  out.flags.insert(out.flags.end(), op_->wide_flags_.begin() + begin, op_->wide_flags_.begin() + end);
  append_terms(op_->boundary_, first, last, out.boundary);
  for (std::size_t t = sides; t < out.boundary.sides.size(); ++t)
    out.boundary.sides[t].row = number_now[out.boundary.sides[t].row];
  for (std::size_t t = walls; t < out.boundary.walls.size(); ++t)
    out.boundary.walls[t].row = number_now[out.boundary.walls[t].row];
}

/// With the rows that they had.
void EllipticOperator::BoxBefore::append_terms(const BoundaryTerms& from, const BoundaryTerms::Sizes& begin,
                                               const BoundaryTerms::Sizes& end, BoundaryTerms& to) const {
  const std::size_t walls = to.walls.size(), robin = to.robin.size();
  to.sides.insert(to.sides.end(), from.sides.begin() + begin.sides, from.sides.begin() + end.sides);
  to.walls.insert(to.walls.end(), from.walls.begin() + begin.walls, from.walls.begin() + end.walls);
  to.robin.insert(to.robin.end(), from.robin.begin() + begin.robin, from.robin.begin() + end.robin);
  for (std::size_t t = walls; t < to.walls.size(); ++t) to.walls[t].place = place_now(to.walls[t].place);
  for (std::size_t r = robin; r < to.robin.size(); ++r) {  // as made, whatever rates were set since
    RobinWall& wall = to.robin[r];
    wall.term += walls - begin.walls;
    KeptWall& term = to.walls[wall.term];
    term.weight = wall.area;
    wall.rate = now_.problem_.wall(to.piece(term, *now_.geometry_)).rate;
  }
}

/// Of a piece of wall: nearly always in the box itself, else of a fragment in another box near it.
std::int32_t EllipticOperator::BoxBefore::place_now(std::int32_t place) const {
  const Geometry &was = *op_->geometry_, &now = *now_.geometry_;
  const LevelGeometry& level = was.levels[level_];
  const std::int64_t in_level = place - (first_place(was, level_, was_.box) - level.moments_begin[was_.box]);
  int from = was_.box, to = box_;
  if (in_level < level.moments_begin[from] || in_level >= level.moments_begin[from + 1]) {
    from = static_cast<int>(std::ranges::upper_bound(level.moments_begin, in_level) - level.moments_begin.begin()) - 1;
    const LevelGraph& graph = now.levels[level_].graph;
    to = graph.local(graph.layout().find(level.graph.layout().lattice_position(level.graph.first_box() + from)));
  }
  return static_cast<std::int32_t>(place + first_place(now, level_, to) - first_place(was, level_, from));
}

void EllipticOperator::BoxBefore::append_fluxes(std::int32_t begin, std::int32_t end, const BoundaryTerms::Sizes& first,
                                                const BoundaryTerms::Sizes& last, ListedFluxes& out) const {
  const FaceStencils& from = *op_->faces_;
  const auto shift = static_cast<std::int32_t>(out.places.size()) - begin;
  const std::size_t sides = out.boundary.sides.size(), walls = out.boundary.walls.size();
  const auto n_terms = static_cast<std::int32_t>(out.terms.size());
  out.places.insert(out.places.end(), from.places.begin() + begin, from.places.begin() + end);
  for (std::int32_t i = begin; i < end; ++i)
    out.ends.push_back(n_terms + from.entries_begin[i + 1] - from.entries_begin[begin]);
  for (std::int32_t e = from.entries_begin[begin]; e < from.entries_begin[end]; ++e)
    out.terms.push_back({now_.numbering_.first() + before_.same->now[from.columns[e]], from.weights[e]});
  append_terms(from.boundary, first, last, out.boundary);
  for (std::size_t t = sides; t < out.boundary.sides.size(); ++t) out.boundary.sides[t].row += shift;
  for (std::size_t t = walls; t < out.boundary.walls.size(); ++t) out.boundary.walls[t].row += shift;
}

void EllipticOperator::BoxBefore::take_fluxes(std::span<std::uint8_t> plain, ListedFluxes& out) const {
  const FaceStencils& from = *op_->faces_;
  const SameBoxes& same = *before_.same;
  const std::size_t w = window_of_fluxes();
  out.window = {level_, box_};
  append_fluxes(from.fluxes_begin[w], from.fluxes_begin[w + 1],
                {from.sides_begin[w], from.walls_begin[w], from.robin_begin[w]},
                {from.sides_begin[w + 1], from.walls_begin[w + 1], from.robin_begin[w + 1]}, out);
  const auto in_box = [&](const auto& all) {  // by level, then box
    return std::ranges::equal_range(all, std::pair(level_, was_.box), {}, [](const auto& item) {
      return std::pair(static_cast<int>(item.window.level), static_cast<int>(item.window.box));
    });
  };
  for (WayToHost way : in_box(from.ways)) {
    way.window = out.window;
    for (GlobalNumber& g : way.behind) g = now_.numbering_.first() + same.now[g - op_->numbering_.first()];
    out.ways.push_back(std::move(way));
  }
  for (JoinedOrphan orphan : in_box(from.orphans)) {
    orphan.window = out.window;
    orphan.unknown = same.now[orphan.unknown];
    out.orphans.push_back(orphan);
  }
  const auto bits = from.plain[level_].begin() + op_->geometry_->levels[level_].graph.vof_begin(was_.box);
  std::copy_n(bits, plain.size(), plain.begin());
}

/// -1: not known (at a high end of the domain).
int EllipticOperator::BoxBefore::vof_of(const FluxPlace& place) const {
  const BoxGraph graph = op_->geometry_->levels[level_].graph.box(was_.box);
  if (place.kind == FluxPlace::Kind::wall) return graph.row_vof[place.at];
  if (place.kind == FluxPlace::Kind::extra) return graph.extra[place.at].vof;
  return place.sign < 0 ? place.at : -1;
}

// Fluxes are listed VoF by VoF, and all of this one are known.
bool EllipticOperator::BoxBefore::take_fluxes_of(int vof, ListedFluxes& out) {
  if (op_ == nullptr || taken_[now_.numbering_.number(level_, box_, vof) - number_begin_] == 0) return false;
  const FaceStencils& from = *op_->faces_;
  const std::size_t next = window_of_fluxes() + 1;
  const std::int32_t last = from.fluxes_begin[next];
  while (flux_ < last && vof_of(from.places[flux_]) < vof) ++flux_;
  const std::int32_t begin = flux_;
  while (flux_ < last && vof_of(from.places[flux_]) == vof) ++flux_;
  if (flux_ == begin) return true;
  const BoundaryTerms::Sizes last_terms{from.sides_begin[next], from.walls_begin[next], from.robin_begin[next]};
  pass_rows_below(begin, from.boundary, last_terms, flux_terms_);
  BoundaryTerms::Sizes end = flux_terms_;
  pass_rows_below(flux_, from.boundary, last_terms, end);
  append_fluxes(begin, flux_, flux_terms_, end, out);
  return true;
}

}  // namespace karst
