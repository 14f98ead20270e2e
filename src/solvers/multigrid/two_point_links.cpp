// SPDX-License-Identifier: BSD-3-Clause
// Which coarse VoF lies across each coarse-fine face. The owner of the coarse cell is asked; it knows the faces of its
// VoFs towards covered cells by the cell they lie in.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/parallel.hpp"
#include "eb/link/faces.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/multigrid/two_point.hpp"

namespace karst {
namespace {

/// The cell, on the VoF's side, that a face lies on; a VoF may hold pieces of neighbouring cells.
Index cell_of_face(const Index& vof_cell, const FaceView& face) {
  Index cell = vof_cell;
  for (int d = 0; d < 3; ++d) {
    const double in_cells = d == direction_of(face.side)
                                ? std::round(face.centroid[d] - (is_high(face.side) ? 0.5 : -0.5))
                                : std::floor(face.centroid[d] + 0.5);
    cell[d] += static_cast<int>(in_cells);
  }
  return cell;
}

Index wrapped(const Domain& domain, Index cell) {
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[static_cast<std::size_t>(d)]) cell[d] = (cell[d] + domain.cells[d]) % domain.cells[d];
  return cell;
}

/// 1 in covered VoFs, halo included.
ByteField find_covered(const Comm& comm, const GridHierarchy& grid, TwoPointLevel& level) {
  const LevelGraph& graph = level.geometry->graph;
  const auto& refined = grid.levels[static_cast<std::size_t>(level.geometry->level)].refined;
  ByteField covered(graph, 1, Purpose::buffers);
  level.covered_begin.assign(1, 0);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    if (refined[static_cast<std::size_t>(g.box)] != 0)
      for_each_vof(g, [&](int vof, int cell) {
        if (!grid.cell_is_refined(level.geometry->level, g.cells.cell(cell))) return;
        level.covered.push_back(static_cast<std::uint16_t>(vof));
        covered.box(b)[static_cast<std::size_t>(vof)] = 1;
      });
    level.covered_begin.push_back(std::ssize(level.covered));
  }
  fill_halo(comm, graph, covered);
  return covered;
}

struct Candidate {
  VofName vof = no_face;
  double aperture = 0.0;
};
using Candidates = std::unordered_map<std::int64_t, Candidate>;  ///< by 6 (cell of the domain) + side

std::int64_t key_of(const Domain& domain, const Index& cell, int side) { return 6 * domain.box().offset(cell) + side; }

/// Own VoFs with faces towards covered ones, by the cell and side of the face; the largest face wins.
Candidates find_candidates(const TwoPointLevel& level, const ByteField& covered) {
  Candidates candidates;
  const LevelGraph& graph = level.geometry->graph;
  const Domain& domain = graph.layout().domain();
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    const auto is_covered = covered.box(b);
    if (std::ranges::none_of(is_covered, [](std::uint8_t c) { return c != 0; })) continue;
    for_each_face(g, level.geometry->box(b), [&](const FaceView& face) {
      if (is_covered[static_cast<std::size_t>(face.vof)] != 0) return;
      if (is_covered[static_cast<std::size_t>(face.neighbour)] == 0) return;
      const Index cell = wrapped(domain, cell_of_face(g.cells.cell(face.cell), face));
      Candidate& best = candidates[key_of(domain, cell, face.side)];
      if (face.aperture > best.aperture) best = {vof_name(g.box, face.vof), face.aperture};
    });
  }
  return candidates;
}

/// The VoF with a face on this cell and side. Faces of a VoF that joined its neighbours are merged, so that one may be
/// listed at the next cell: then the largest face beside the cell, at last any VoF of the cell itself, or no_face.
VofName find_coarse(const LevelGraph& graph, const Candidates& candidates, std::int64_t key) {
  if (const auto found = candidates.find(key); found != candidates.end()) return found->second.vof;
  const Domain& domain = graph.layout().domain();
  const Index cell = domain.box().cell(key / 6);
  const int side = static_cast<int>(key % 6);
  Candidate best;
  for (int to = 0; to < 6; ++to) {
    if (direction_of(to) == direction_of(side)) continue;
    const Index beside = wrapped(domain, cell + side_offset(to));
    if (!domain.box().contains(beside)) continue;
    const auto found = candidates.find(key_of(domain, beside, side));
    if (found != candidates.end() && found->second.aperture > best.aperture) best = found->second;
  }
  if (best.vof != no_face) return best.vof;
  const BoxGraph g = graph.box(graph.local(graph.layout().find_cell(cell)));
  for_each_vof(g, [&](int vof, int at) {
    if (best.vof == no_face && at == g.cells.offset(cell)) best.vof = vof_name(g.box, vof);
  });
  return best.vof;
}

struct Question {
  std::int64_t key;
  VofName fine;
  float weight;
};

template <class T>
Message message_to(int rank, const std::vector<T>& items) {
  const auto bytes = std::as_bytes(std::span(items));
  return {rank, {bytes.begin(), bytes.end()}};
}

template <class T>
std::vector<T> items_of(const Message& message) {
  std::vector<T> items(message.bytes.size() / sizeof(T));
  if (!items.empty()) std::memcpy(items.data(), message.bytes.data(), message.bytes.size());
  return items;
}

/// Questions about the coarse-fine faces (two thirds of a face of the level: h_f² / (3/4 · 2 h_f)) of the own VoFs of a
/// level, by owner of the coarse cell.
std::vector<std::vector<Question>> ask(const TwoPointLevel& fine, const Layout& coarse, WallForm form, int n_ranks) {
  std::vector<std::vector<Question>> questions(static_cast<std::size_t>(n_ranks));
  const LevelGraph& graph = fine.geometry->graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    if (g.halo.n_coarse() == 0) continue;
    const auto covered = fine.covered_in(b);
    const auto centers = fine.geometry->box(b).centers;
    std::vector<std::int32_t> row(static_cast<std::size_t>(g.n_own), -1);
    for (std::size_t r = 0; r < centers.size(); ++r) row[g.row_vof[r]] = static_cast<std::int32_t>(r);
    const auto part_of = [&](const FaceView& face) {
      if (form == WallForm::fluxes) return face.aperture;
      const std::int32_t r = row[static_cast<std::size_t>(face.vof)];
      if (r < 0) return 1.0;
      const VofCenter& center = centers[static_cast<std::size_t>(r)];
      const float wall = center.wall_distance[static_cast<std::size_t>(face.side)];
      return center.inside && face.primary && wall > 1.0F ? 1.0 : 0.0;
    };
    for_each_face(g, fine.geometry->box(b), [&](const FaceView& face) {
      const double part = part_of(face);
      if (g.name(face.neighbour) != coarse_face || part <= 0.0) return;
      if (std::ranges::binary_search(covered, static_cast<std::uint16_t>(face.vof))) return;
      const Index across =
          wrapped(graph.layout().domain(), cell_of_face(g.cells.cell(face.cell), face) + side_offset(face.side));
      const Index cell{across[0] / 2, across[1] / 2, across[2] / 2};
      const std::int64_t box = coarse.find_cell(cell);
      if (box < 0) return;
      const float weight = fine.whole_weight(b, face.vof, face.side, face.neighbour) * static_cast<float>(part / 1.5);
      if (weight <= 0.0F) return;
      questions[static_cast<std::size_t>(coarse.owner(box))].push_back(
          {key_of(coarse.domain(), cell, opposite(face.side)), vof_name(g.box, face.vof), weight});
    });
  }
  return questions;
}

}  // namespace

void find_coarse_fine_links(const Comm& comm, const Geometry& geometry, WallForm form,
                            std::vector<TwoPointLevel>& levels) {
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    TwoPointLevel& fine = levels[l + 1];
    const Candidates candidates = find_candidates(levels[l], find_covered(comm, geometry.grid, levels[l]));
    const auto questions = ask(fine, levels[l].geometry->graph.layout(), form, comm.size());
    std::vector<Message> out, answers;
    for (std::size_t rank = 0; rank < questions.size(); ++rank)
      if (!questions[rank].empty()) out.push_back(message_to(static_cast<int>(rank), questions[rank]));
    for (const Message& m : comm.sparse_exchange(out)) {
      std::vector<VofName> found;
      for (const Question& q : items_of<Question>(m))
        found.push_back(find_coarse(levels[l].geometry->graph, candidates, q.key));
      answers.push_back(message_to(m.rank, found));
    }
    for (const Message& m : comm.sparse_exchange(answers)) {
      const std::vector<VofName> found = items_of<VofName>(m);
      const auto& asked = questions[static_cast<std::size_t>(m.rank)];
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == no_face)
          ++fine.unlinked;
        else
          fine.links.push_back({asked[i].fine, found[i], asked[i].weight});
      }
    }
  }
}

}  // namespace karst
