// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/face_betas.hpp"

#include <algorithm>
#include <map>

#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// Slot of the VoF above a face of an own VoF.
int slot_above(const BoxGraph& graph, VofName v, int side, VofName neighbour) {
  if (!is_high(side)) return vof_of(v);
  if (is_vof(neighbour))
    return box_of(neighbour) == graph.box ? vof_of(neighbour) : graph.n_own + graph.halo.find(neighbour);
  int slot = vof_of(v);
  for_each_face(graph, [&](int vof, int s, int to) {
    if (vof == vof_of(v) && s == side && graph.name(to) == neighbour) slot = to;
  });
  return slot;
}

}  // namespace

FaceBetas::FaceBetas(const Comm& comm, const VofLookup& vofs, const Field& betas) : vofs_(vofs), betas_(betas) {
  std::map<int, ByteWriter> questions;
  for (const VofName v : vofs.foreign())
    if (vofs.moments(v) != nullptr) questions[vofs.layout().owner(box_of(v))].put(v);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto v = in.get<VofName>();
    std::vector<Value> values;
    for (const ListedFace& f : vofs.faces(v)) values.push_back({f.neighbour, f.side, of(v, f.side, f.neighbour)});
    w.put(v);
    w.put_vector(values);
  };
  ask_ranks(comm, std::move(questions), answer, [&](ByteReader& in, int) {
    const auto v = in.get<VofName>();
    foreign_.emplace(v, in.get_vector<Value>());
  });
}

double FaceBetas::of(VofName v, int side, VofName neighbour) const {
  if (const int b = vofs_.graph().local(box_of(v)); b >= 0)
    return betas_.box(b, direction_of(side))[slot_above(vofs_.graph().box(b), v, side, neighbour)];
  const std::vector<Value>& values = foreign_.at(v);
  return std::ranges::find_if(values, [&](const Value& f) { return f.side == side && f.neighbour == neighbour; })->beta;
}

}  // namespace karst
