// SPDX-License-Identifier: BSD-3-Clause
#include "grid/deep_halo.hpp"

#include <algorithm>
#include <map>

#include "grid/bytes.hpp"

namespace karst {
namespace {

using Names = std::vector<VofName>;

void sort_unique(Names& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

/// Neighbours of a sorted list of VoFs: those of vofs[i] are neighbours[begin[i]] .. neighbours[begin[i + 1]].
struct NeighbourLists {
  Names vofs, neighbours;
  std::vector<std::size_t> begin{0};

  std::span<const VofName> of(VofName vof) const {
    const auto i = static_cast<std::size_t>(std::lower_bound(vofs.begin(), vofs.end(), vof) - vofs.begin());
    return std::span(neighbours).subspan(begin[i], begin[i + 1] - begin[i]);
  }
};

/// Appends the neighbours of own VoFs (sorted names), box by box.
void append_own(const LevelGraph& graph, std::span<const VofName> vofs, NeighbourLists& out) {
  BoxAdjacency box;
  std::int64_t opened = -1;
  for (const VofName v : vofs) {
    if (box_of(v) != opened) {
      opened = box_of(v);
      box = adjacency_of(graph.box(graph.local(opened)));
    }
    out.vofs.push_back(v);
    for (const VofName n : box.primary[static_cast<std::size_t>(vof_of(v))])
      if (is_vof(n)) out.neighbours.push_back(n);
    auto e = std::lower_bound(box.extra.begin(), box.extra.end(), vof_of(v),
                              [](const ExtraConnection& x, int vof) { return x.vof < vof; });
    for (; e != box.extra.end() && e->vof == vof_of(v); ++e)
      if (is_vof(e->neighbour)) out.neighbours.push_back(e->neighbour);
    out.begin.push_back(out.neighbours.size());
  }
}

Names read_names(const Message& m) {
  Names names;
  for (ByteReader in(m.bytes); !in.at_end();) names.push_back(in.get<VofName>());
  return names;
}

/// The neighbours of any VoFs of the level (sorted names); collective.
NeighbourLists ask_owners(const Comm& comm, const LevelGraph& graph, const Names& vofs) {
  std::map<int, Names> by_owner;
  for (const VofName v : vofs) by_owner[graph.layout().owner(box_of(v))].push_back(v);
  std::vector<Message> questions;
  for (const auto& [rank, names] : by_owner) {
    if (rank == comm.rank()) continue;
    ByteWriter out;
    out.put(std::span<const VofName>(names));
    questions.push_back({rank, out.take()});
  }
  std::vector<Message> replies;
  for (const Message& question : comm.sparse_exchange(questions)) {
    NeighbourLists lists;
    append_own(graph, read_names(question), lists);
    ByteWriter out;
    for (std::size_t i = 0; i < lists.vofs.size(); ++i) {
      out.put(lists.begin[i + 1] - lists.begin[i]);
      out.put(std::span(std::as_const(lists.neighbours)).subspan(lists.begin[i], lists.begin[i + 1] - lists.begin[i]));
    }
    replies.push_back({question.rank, out.take()});
  }
  const std::vector<Message> answers = comm.sparse_exchange(replies);

  // Owners hold increasing intervals of boxes, so rank order is name order.
  NeighbourLists all;
  for (const auto& [rank, names] : by_owner) {
    if (rank == comm.rank()) {
      append_own(graph, names, all);
      continue;
    }
    const auto answer =
        std::find_if(answers.begin(), answers.end(), [r = rank](const Message& m) { return m.rank == r; });
    ByteReader in(answer->bytes);
    for (const VofName v : names) {
      all.vofs.push_back(v);
      for (auto n = in.get<std::size_t>(); n > 0; --n) all.neighbours.push_back(in.get<VofName>());
      all.begin.push_back(all.neighbours.size());
    }
  }
  return all;
}

}  // namespace

std::vector<std::vector<VofName>> find_deep_halo(const Comm& comm, const LevelGraph& graph, int depth) {
  const auto n = static_cast<std::size_t>(graph.n_local());
  std::vector<Names> known(n), layer(n), found(n);  // known: the halo so far; layer: its last layer
  for (std::size_t b = 0; b < n; ++b) {
    const HaloNames halo = graph.box(static_cast<int>(b)).halo;
    for (int i = 0; i < halo.n_vofs(); ++i) known[b].push_back(halo[i]);
    layer[b] = known[b];
  }
  for (int d = 2; d <= depth; ++d) {
    Names all;
    for (const Names& names : layer) all.insert(all.end(), names.begin(), names.end());
    sort_unique(all);
    const NeighbourLists lists = ask_owners(comm, graph, all);
    for (std::size_t b = 0; b < n; ++b) {
      Names next, fresh;
      for (const VofName v : layer[b])
        for (const VofName neighbour : lists.of(v))
          if (box_of(neighbour) != graph.first_box() + static_cast<std::int64_t>(b)) next.push_back(neighbour);
      sort_unique(next);
      std::set_difference(next.begin(), next.end(), known[b].begin(), known[b].end(), std::back_inserter(fresh));
      found[b].insert(found[b].end(), fresh.begin(), fresh.end());
      known[b].insert(known[b].end(), fresh.begin(), fresh.end());
      std::sort(known[b].begin(), known[b].end());
      layer[b] = std::move(fresh);
    }
  }
  for (Names& names : found) std::sort(names.begin(), names.end());
  return found;
}

}  // namespace karst
