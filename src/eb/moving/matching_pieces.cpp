// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/matching_pieces.hpp"

#include <algorithm>
#include <utility>

namespace karst {

namespace {

using Pair = std::pair<int, int>;

double apart2(const Vec3& a, const Vec3& b) { return dot(a - b, a - b); }

bool can_overlap(const CellPiece& a, const CellPiece& b) {
  constexpr double opposed = -0.5;  // of the product of two directions
  return a.volume > 0.0 && b.volume > 0.0 && (a.volume + b.volume > 1.0 || dot(a.wall, b.wall) > opposed);
}

/// Pairs by distance, the nearest first, each piece in one at most.
std::vector<Pair> nearest_pairs(std::span<const CellPiece> before, std::span<const CellPiece> after) {
  std::vector<std::pair<double, Pair>> all;
  for (int p = 0; p < std::ssize(before); ++p)
    for (int q = 0; q < std::ssize(after); ++q)
      if (can_overlap(before[p], after[q])) all.push_back({apart2(before[p].centroid, after[q].centroid), {p, q}});
  std::ranges::sort(all);
  std::vector<Pair> pairs;
  for (const auto& candidate : all) {
    const Pair& pair = candidate.second;
    const bool taken =
        std::ranges::any_of(pairs, [&](const Pair& o) { return o.first == pair.first || o.second == pair.second; });
    if (!taken) pairs.push_back(pair);
  }
  return pairs;
}

/// Whether `whole`, which is matched with `part`, contains `rest`, too.
bool contains(const CellPiece& whole, const CellPiece& part, const CellPiece& rest) {
  const double sum = part.volume + rest.volume;
  const Vec3 together = (1.0 / sum) * (part.volume * part.centroid + rest.volume * rest.centroid);
  return can_overlap(whole, rest) && apart2(whole.centroid, together) < apart2(whole.centroid, part.centroid);
}

/// The pairs of those in no pair, with pieces of the other side that contain them, the nearest of these.
/// @param wholes  the pieces of the other side; parts: those of this side
std::vector<Pair> leftover_pairs(std::span<const CellPiece> wholes, std::span<const CellPiece> parts,
                                 std::span<const Pair> pairs) {
  std::vector<Pair> more;
  for (int r = 0; r < std::ssize(parts); ++r) {
    if (std::ranges::any_of(pairs, [&](const Pair& o) { return o.second == r; })) continue;
    int found = -1;
    for (const auto& [w, part] : pairs)
      if (contains(wholes[w], parts[part], parts[r]) &&
          (found < 0 ||
           apart2(wholes[w].centroid, parts[r].centroid) < apart2(wholes[found].centroid, parts[r].centroid)))
        found = w;
    if (found >= 0) more.push_back({found, r});
  }
  return more;
}

std::vector<Pair> find_pairs(std::span<const CellPiece> before, std::span<const CellPiece> after) {
  const std::vector<Pair> pairs = nearest_pairs(before, after);
  std::vector<Pair> mirrored;
  for (const auto& [p, q] : pairs) mirrored.push_back({q, p});
  std::vector<Pair> all = pairs;
  for (const Pair& split : leftover_pairs(before, after, pairs)) all.push_back(split);
  for (const auto& [q, p] : leftover_pairs(after, before, mirrored)) all.push_back({p, q});
  std::ranges::sort(all, {}, [](const Pair& pair) { return Pair{pair.second, pair.first}; });
  return all;
}

}  // namespace

std::vector<MatchedPieces> match_pieces(std::span<const CellPiece> before, std::span<const CellPiece> after) {
  std::vector<MatchedPieces> matched;
  std::vector<double> with_old(before.size(), 0.0), with_new(after.size(), 0.0), kept(after.size(), 0.0);
  for (const auto& [p, q] : find_pairs(before, after)) {
    matched.push_back({p, q, 0.0, 0.0});
    with_old[p] += after[q].volume;
    with_new[q] += before[p].volume;
  }
  for (MatchedPieces& m : matched) {
    const double v = before[m.before].volume, w = after[m.after].volume;
    m.kept = std::min(v * (w / with_old[m.before]), w * (v / with_new[m.after]));
    kept[m.after] += m.kept;
  }
  for (MatchedPieces& m : matched) m.taken = after[m.after].volume * (m.kept / kept[m.after]);
  return matched;
}

}  // namespace karst
