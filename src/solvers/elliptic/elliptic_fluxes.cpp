// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/elliptic_fluxes.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/timer.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/elliptic/row_makers.hpp"

namespace karst {

/// What is listed of one box.
struct EllipticFluxes::OfBox {
  std::vector<FluxRow> rows;
  std::vector<Way> ways;
  RowCounts counts;  // those of the operator again
};

EllipticFluxes::EllipticFluxes(EllipticOperator& op) : op_(&op), cells_(op.composite()), sums_(op.composite()) {
  const Timer timer("elliptic fluxes");
  require(op.form() == WallForm::fluxes || cells_.n_levels() == 1,
          "elliptic fluxes: {} levels with Dirichlet conditions on the whole wall; make the operator with "
          "WallForm::fluxes",
          cells_.n_levels());
  RowMakers makers(*op.composite(), op.problem(), op.form());
  std::vector<OfBox> boxes;
  for (int l = 0; l < cells_.n_levels(); ++l) {
    const LevelGraph& graph = op.composite()->graph(l);
    plain_.emplace_back(static_cast<std::size_t>(graph.vof_begin(graph.n_local())));
    const std::size_t first = boxes.size();
    boxes.resize(first + static_cast<std::size_t>(graph.n_local()));
    parallel_for_dynamic(graph.n_local(), [&](std::int64_t b) {
      list_box(makers, l, static_cast<int>(b), boxes[first + static_cast<std::size_t>(b)]);
    });
    if (l + 1 < cells_.n_levels()) list_coarse_fine(makers, l, boxes.emplace_back());
  }
  store(boxes);
}

void EllipticFluxes::list_box(RowMakers& makers, int level, int b, OfBox& out) {
  const LevelGeometry& geometry = op_->composite()->level(level);
  const BoxGraph graph = geometry.graph.box(b);
  const auto numbers = makers.numbers(level).box(b);
  const int first_domain = graph.n_own + graph.halo.n_vofs() + graph.halo.n_coarse();
  const auto irregular = graph.row_vof.first(static_cast<std::size_t>(graph.n_irregular));
  const auto is_cut = [&](int slot) { return slot < graph.n_own && std::ranges::binary_search(irregular, slot); };
  std::size_t e = 0;
  for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
    const auto first_extra = geometry.extra_begin[static_cast<std::size_t>(b)] + static_cast<std::int64_t>(e);
    while (e < graph.extra.size() && graph.extra[e].vof == vof) ++e;
    if (numbers[static_cast<std::size_t>(vof)] < 0) return;
    const Place at{level, b, vof, vof_name(graph.box, vof), slots, first_extra};
    if (is_cut(vof)) {
      if (op_->form() == WallForm::lines) return list_lines(makers, at, out);
      list_faces(makers, at, false, out);
      return list_ways(makers, at, out);
    }
    auto& bits = plain_[static_cast<std::size_t>(level)][static_cast<std::size_t>(geometry.graph.vof_begin(b) + vof)];
    bool at_end = false;
    for (int side = 0; side < 6; ++side) {
      const int slot = slots[static_cast<std::size_t>(side)];
      at_end = at_end || (slot >= first_domain && slot < graph.closed());
      if (is_high(side) || numbers[static_cast<std::size_t>(slot)] < 0) continue;
      bits = static_cast<std::uint8_t>(bits | (1U << direction_of(side)));
    }
    if (at_end) list_faces(makers, at, true, out);
  });
}

EllipticFluxes::Target EllipticFluxes::target_of(const Place& at, int side, int extra) const {
  const auto level = static_cast<std::uint8_t>(at.level), d = static_cast<std::uint8_t>(direction_of(side));
  if (extra >= 0) return {Kind::extra, level, d, 1, at.extra + extra};
  const std::int64_t begin = op_->composite()->graph(at.level).slot_begin(at.box);
  if (!is_high(side)) return {Kind::primary, level, d, -1, begin + at.vof};
  return {Kind::primary, level, d, 1, begin + at.slots[static_cast<std::size_t>(side)]};
}

/// @param ends_only  the other faces are plain
void EllipticFluxes::list_faces(RowMakers& makers, const Place& at, bool ends_only, OfBox& out) {
  const RowMaker& maker = makers.maker(at.level);
  const VofLookup& vofs = makers.vofs(at.level);
  const auto shared = ends_only ? decltype(vofs.shared_faces(at.name)){} : vofs.shared_faces(at.name);
  std::size_t k = 0;
  int n_extra = 0;
  const auto keep = [&](Row&& row, const Target& target) {
    if (!row.stencil.terms.empty() || !row.sides.empty() || !row.walls.empty())
      out.rows.push_back({std::move(row), target});
  };
  for (const ListedFace& f : vofs.faces(at.name)) {
    const int extra = f.primary ? -1 : n_extra++;
    Row row;
    if (f.neighbour == domain_face) {
      const bool lines = op_->form() == WallForm::lines;
      maker.add_domain_face(at.name, f, lines ? 1.0 : f.aperture, row);
      keep(std::move(row), target_of(at, f.side, extra));
    }
    if (ends_only || !is_vof(f.neighbour)) continue;
    const SharedFace& face = shared[k++].first;
    if (vofs.number(f.neighbour) == no_unknown || (f.primary && is_high(f.side))) continue;
    maker.add_face(at.name, face, f.side, row, out.counts);
    keep(std::move(row), target_of(at, f.side, extra));
  }
  const VofMoments* m = vofs.moments(at.name);
  if (m == nullptr || m->wall_area <= 0.0) return;
  Row row;
  maker.add_wall_flux(at.name, row, out.counts);
  keep(std::move(row), {Kind::wall, static_cast<std::uint8_t>(at.level), 0, 1, vofs.row(at.name)});
}

void EllipticFluxes::list_lines(RowMakers& makers, const Place& at, OfBox& out) {
  const VofLookup& vofs = makers.vofs(at.level);
  if (!vofs.inside(at.name)) return;
  Row wall;
  for (int side = 0; side < 6; ++side) {
    Row row;
    switch (makers.maker(at.level).add_line(at.name, side, row, out.counts)) {
      case RowMaker::LineEnd::vof:
        if (!is_high(side)) out.rows.push_back({std::move(row), target_of(at, side, -1)});
        break;
      case RowMaker::LineEnd::domain:
        out.rows.push_back({std::move(row), target_of(at, side, -1)});
        break;
      case RowMaker::LineEnd::wall:
        wall.stencil.add(row.stencil, 1.0);
        wall.walls.insert(wall.walls.end(), row.walls.begin(), row.walls.end());
        break;
    }
  }
  if (!wall.walls.empty())
    out.rows.push_back({std::move(wall), {Kind::wall, static_cast<std::uint8_t>(at.level), 0, 1, vofs.row(at.name)}});
}

namespace {

VofName other_end(const std::pair<SharedFace, int>& face) {
  return is_high(face.second) ? face.first.high : face.first.low;
}

/// Unknowns of an orphan and of those whose way to their host leads through it.
std::vector<GlobalNumber> orphans_behind(const VofLookup& vofs, const RowMaker& maker, VofName orphan) {
  std::vector<VofName> reached{orphan};
  std::vector<GlobalNumber> numbers;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    numbers.push_back(vofs.number(reached[i]));
    for (const auto& face : vofs.shared_faces(reached[i])) {
      const VofName n = other_end(face);
      if (vofs.inside(n) || vofs.number(n) == no_unknown || std::ranges::find(reached, n) != reached.end()) continue;
      const int way = maker.face_to_host(n);
      if (way >= 0 && other_end(vofs.shared_faces(n)[static_cast<std::size_t>(way)]) == reached[i])
        reached.push_back(n);
    }
  }
  return numbers;
}

bool same(const SharedFace& a, const SharedFace& b) {
  return a.low == b.low && a.high == b.high && a.direction == b.direction && a.centroid == b.centroid;
}

}  // namespace

void EllipticFluxes::list_ways(RowMakers& makers, const Place& at, OfBox& out) {
  const RowMaker& maker = makers.maker(at.level);
  const VofLookup& vofs = makers.vofs(at.level);
  const auto shared = vofs.shared_faces(at.name);
  const int own_way = maker.face_to_host(at.name);
  int k = 0, n_extra = 0;
  for (const ListedFace& f : vofs.faces(at.name)) {
    const int extra = f.primary ? -1 : n_extra++;
    if (!is_vof(f.neighbour)) continue;
    const SharedFace& face = shared[static_cast<std::size_t>(k)].first;
    const bool own = k++ == own_way;
    if ((f.primary && is_high(f.side)) || vofs.number(f.neighbour) == no_unknown) continue;
    Target target = target_of(at, f.side, extra);
    if (own) {
      out.ways.push_back({target, orphans_behind(vofs, maker, at.name)});
    } else if (!vofs.inside(f.neighbour)) {
      const int way = maker.face_to_host(f.neighbour);
      if (way < 0 || !same(vofs.shared_faces(f.neighbour)[static_cast<std::size_t>(way)].first, face)) continue;
      target.sign = static_cast<std::int8_t>(-target.sign);
      out.ways.push_back({target, orphans_behind(vofs, maker, f.neighbour)});
    }
  }
}

/// Between `level` and the next finer one.
void EllipticFluxes::list_coarse_fine(RowMakers& makers, int level, OfBox& out) {
  std::vector<LevelFace> faces(op_->composite()->coarse_fine(level).begin(),
                               op_->composite()->coarse_fine(level).end());
  look_behind(op_->comm(), {makers.vofs(level), [](VofName) { return no_unknown; }, {}}, faces);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (!faces[i].behind.found) continue;
    Row row;
    row.stencil.add(coarse_fine_flux(makers.rows(level + 1), faces[i]), -1.0);
    out.rows.push_back(
        {std::move(row), {Kind::coarse_fine, static_cast<std::uint8_t>(level), 0, 1, static_cast<std::int64_t>(i)}});
  }
}

void EllipticFluxes::store(std::vector<OfBox>& boxes) {
  std::vector<WideRow> rows;
  std::vector<std::int32_t> windows{0};
  std::vector<GlobalNumber> wanted, behind;
  const CompositeNumbering& numbering = op_->numbering();
  for (OfBox& box : boxes) {
    for (FluxRow& flux : box.rows) {
      Row& row = flux.row;
      row.number = static_cast<std::int32_t>(rows.size());
      for (SideTerm& t : row.sides) t.row = row.number;
      for (WallTerm& t : row.walls) t.row = row.number;
      for (const RobinWall& wall : row.robin) row.stencil.add(wall.value_at_wall, 0.0);
      row.stencil.merge();
      for (const StencilTerm& t : row.stencil.terms)
        if (!numbering.is_own(t.unknown)) wanted.push_back(t.unknown);
      targets_.push_back(flux.target);
      rows.push_back(boundary_.take(std::move(row)));
    }
    windows.push_back(static_cast<std::int32_t>(rows.size()));
    for (Way& way : box.ways) {
      for (const GlobalNumber g : way.behind)
        if (!numbering.is_own(g)) behind.push_back(g);
      ways_.push_back(std::move(way));
    }
  }
  remote_ = RemoteValues<double>(op_->comm(), numbering, std::move(wanted));
  taken_up_ = RemoteValues<double>(op_->comm(), numbering, std::move(behind));
  rows_ = WideRows(rows, windows, numbering, remote_);
  n_windows_ = std::ssize(windows) - 1;
  result_.resize(rows.size());
  any_ways_ = op_->comm().any(!ways_.empty());
}

void EllipticFluxes::follow_operator() {
  if (version_ == op_->version()) return;
  for (RobinWall& wall : boundary_.robin) wall.rate = op_->problem().wall(boundary_.walls[wall.term].piece).rate;
  if (!boundary_.robin.empty()) rows_.set_coefficients(boundary_.coefficients(0.0));
  version_ = op_->version();
}

double& EllipticFluxes::value_at(const Target& t, FaceField& faces, std::vector<std::vector<double>>& wall) const {
  const auto place = static_cast<std::size_t>(t.place);
  switch (t.kind) {
    case Kind::primary:
      return faces.primary(t.level).data(t.direction)[place];
    case Kind::extra:
      return faces.extra(t.level)[place];
    case Kind::coarse_fine:
      return faces.coarse_fine(t.level)[place];
    case Kind::wall:
      break;
  }
  return wall[t.level][place];
}

void EllipticFluxes::find(std::span<const double> x, FaceField& faces, std::vector<std::vector<double>>& wall) {
  require(faces.composite() == op_->composite(), "elliptic fluxes: the face field is on another grid");
  follow_operator();
  wall.resize(static_cast<std::size_t>(cells_.n_levels()));
  for (int l = 0; l < cells_.n_levels(); ++l) {
    wall[static_cast<std::size_t>(l)].assign(op_->composite()->level(l).moments.size(), 0.0);
    faces.primary(l).fill(0.0);
    std::ranges::fill(faces.extra(l), 0.0);
    if (l + 1 < cells_.n_levels()) std::ranges::fill(faces.coarse_fine(l), 0.0);
  }
  find_plain(x, faces);
  remote_.begin(x);
  remote_.finish();
  parallel_for(n_windows_,
               [&](std::int64_t w) { rows_.apply(static_cast<std::size_t>(w), x, remote_.values(), result_.data()); });
  const EllipticProblem& problem = op_->problem();
  boundary_.add_values([&](const SideTerm& t) { return problem.sides[static_cast<std::size_t>(t.side)](t.at).value; },
                       [&](std::size_t t) { return problem.wall(boundary_.walls[t].piece).value; }, -1.0, result_);
  for (std::size_t i = 0; i < targets_.size(); ++i) value_at(targets_[i], faces, wall) = targets_[i].sign * result_[i];
  if (any_ways_) close_orphans(x, faces, wall);
}

/// Between VoFs of which the high one is regular.
void EllipticFluxes::find_plain(std::span<const double> x, FaceField& faces) {
  const CompositeNumbering& numbering = op_->numbering();
  const EllipticProblem& problem = op_->problem();
  for (int l = 0; l < cells_.n_levels(); ++l) {
    const LevelGraph& graph = op_->composite()->graph(l);
    Field& cells = cells_.level(l);
    parallel_for(graph.n_local(), [&](std::int64_t b) {
      const auto own = cells.own(static_cast<int>(b));
      for (std::size_t v = 0; v < own.size(); ++v)
        if (const auto n = numbering.number(l, static_cast<int>(b), static_cast<int>(v)); n >= 0)
          own[v] = x[static_cast<std::size_t>(n)];
    });
    fill_halo(op_->comm(), graph, cells);
    const double h = Composite::width(l);
    parallel_for(graph.n_local(), [&](std::int64_t i) {
      const int b = static_cast<int>(i);
      const double* value = cells.box(b).data();
      const std::uint8_t* plain = plain_[static_cast<std::size_t>(l)].data() + graph.vof_begin(b);
      for_each_vof(graph.box(b), [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
        for (int d = 0; d < 3; ++d) {
          if ((plain[vof] >> d & 1U) == 0) continue;
          const double beta = problem.face_beta.empty() ? problem.beta
                                                        : problem.face_beta[static_cast<std::size_t>(l)].box(
                                                              b, d)[static_cast<std::size_t>(vof)];
          const auto low = slots[static_cast<std::size_t>(side_of(d, false))];
          faces.primary(l).box(b, d)[static_cast<std::size_t>(vof)] = beta * h * (value[low] - value[vof]);
        }
      });
    });
  }
}

void EllipticFluxes::close_orphans(std::span<const double> x, FaceField& faces,
                                   std::vector<std::vector<double>>& wall) {
  divergence(faces, sums_);
  std::vector<std::uint8_t> joined(x.size());
  for (const std::int32_t o : op_->joined_orphans()) joined[static_cast<std::size_t>(o)] = 1;
  std::vector<double> taken_up(x.size(), 0.0);
  for (int l = 0; l < cells_.n_levels(); ++l) {
    const LevelGeometry& level = op_->composite()->level(l);
    const double shift = op_->problem().a * std::pow(Composite::width(l), 3);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      auto row = static_cast<std::size_t>(level.moments_begin[static_cast<std::size_t>(b)]);
      for (std::size_t r = 0; r < static_cast<std::size_t>(graph.n_irregular); ++r, ++row) {
        const auto n = static_cast<std::size_t>(op_->numbering().number(l, b, graph.row_vof[r]));
        if (n >= x.size() || joined[n] == 0) continue;
        taken_up[n] = shift * level.moments[row].kappa * x[n] + sums_.level(l).box(b)[graph.row_vof[r]] +
                      wall[static_cast<std::size_t>(l)][row];
      }
    }
  }
  taken_up_.begin(taken_up);
  taken_up_.finish();
  const CompositeNumbering& numbering = op_->numbering();
  for (const Way& way : ways_)
    for (const GlobalNumber g : way.behind)
      value_at(way.target, faces, wall) -=
          way.target.sign * (numbering.is_own(g) ? taken_up[static_cast<std::size_t>(g - numbering.first())]
                                                 : taken_up_.values()[static_cast<std::size_t>(taken_up_.place(g))]);
}

std::int64_t EllipticFluxes::bytes() const {
  std::int64_t sum = rows_.bytes() + boundary_.bytes() + cells_.bytes() + sums_.bytes() + remote_.bytes() +
                     taken_up_.bytes() + static_cast<std::int64_t>(targets_.size() * sizeof(Target)) +
                     static_cast<std::int64_t>(result_.size() * sizeof(double));
  for (const auto& level : plain_) sum += std::ssize(level);
  for (const Way& way : ways_) sum += static_cast<std::int64_t>(sizeof(Way) + 8 * way.behind.size());
  return sum;
}

}  // namespace karst
