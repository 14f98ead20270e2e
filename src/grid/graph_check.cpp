// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "grid/bytes.hpp"
#include "grid/level_graph.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// A face as one of its VoFs sees it.
struct SeenFace {
  VofName from, to;
  std::int32_t side;
  SeenFace mirrored() const { return {to, from, opposite(side)}; }
  friend auto operator<=>(const SeenFace&, const SeenFace&) = default;
};

std::string sentence(const SeenFace& f, std::string_view what) {
  return fmt::format("VoF {} of box {} across side {}: VoF {} of box {} {}", vof_of(f.from), box_of(f.from), f.side,
                     vof_of(f.to), box_of(f.to), what);
}

}  // namespace

std::vector<std::string> check(const Comm& comm, const LevelGraph& graph) {
  constexpr std::size_t most = 20;
  std::vector<std::string> wrong;
  const auto note = [&](const SeenFace& f, std::string_view what) {
    if (wrong.size() < most) wrong.push_back(sentence(f, what));
  };
  std::vector<SeenFace> seen, expected;  // from own VoFs; expected: mirrored from the other side
  std::map<int, ByteWriter> to_owner;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    for_each_face(g, [&](int vof, int side, int slot) {
      const SeenFace face{vof_name(g.box, vof), g.name(slot), side};
      if (!is_vof(face.to)) return;
      seen.push_back(face);
      if (box_of(face.to) >= graph.layout().n_boxes()) {
        note(face, "is in a box that does not exist");
        return;
      }
      if (graph.local(box_of(face.to)) >= 0) {
        expected.push_back(face.mirrored());
        return;
      }
      const SeenFace mirrored = face.mirrored();
      ByteWriter& out = to_owner[graph.layout().owner(box_of(face.to))];
      out.put(mirrored.from);
      out.put(mirrored.to);
      out.put(mirrored.side);
    });
  }
  std::vector<Message> messages;
  for (auto& [rank, writer] : to_owner) messages.push_back({rank, writer.take()});
  for (const Message& m : comm.sparse_exchange(messages))
    for (ByteReader in(m.bytes); !in.at_end();) {
      SeenFace f{};
      f.from = in.get<VofName>();
      f.to = in.get<VofName>();
      f.side = in.get<std::int32_t>();
      expected.push_back(f);
    }
  std::sort(seen.begin(), seen.end());
  std::sort(expected.begin(), expected.end());
  std::vector<SeenFace> one_sided;
  std::set_difference(seen.begin(), seen.end(), expected.begin(), expected.end(), std::back_inserter(one_sided));
  for (const SeenFace& f : one_sided) note(f, "does not see it across the opposite side");
  one_sided.clear();
  std::set_difference(expected.begin(), expected.end(), seen.begin(), seen.end(), std::back_inserter(one_sided));
  for (const SeenFace& f : one_sided) note(f, "sees it across the opposite side, but is not seen");
  return wrong;
}

}  // namespace karst
