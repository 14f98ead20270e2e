// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/neighbour_rounds.hpp"

#include <algorithm>
#include <map>

#include "grid/questions.hpp"

namespace karst {

namespace {

struct WeightedNeighbour {
  std::int32_t other;
  double weight;
};

/// Across the faces of some volumes.
std::vector<std::vector<WeightedNeighbour>> neighbours_of(const ScalarGrid& grid,
                                                          std::span<const std::int32_t> volumes) {
  constexpr double closed = 1e-9;  // conductance of faces that are too small for a flux: they lead somewhere, too
  std::vector<double> conductance(grid.n_faces, 0.0);
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t, std::int32_t, int, int level) { conductance[face] = grid.width(level); },
      [&](const ScalarFace& f, std::int64_t i) { conductance[f.face] = grid.conductance[i]; });
  std::vector<std::int32_t> place(grid.n_own, -1);
  for (std::size_t i = 0; i < volumes.size(); ++i) place[volumes[i]] = static_cast<std::int32_t>(i);
  std::vector<std::vector<WeightedNeighbour>> all(volumes.size());
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    if (place[v] < 0) return;
    faces([&](std::int32_t face, std::int32_t other, double) {
      if (other < grid.n_all && other != v) all[place[v]].push_back({other, std::max(conductance[face], closed)});
    });
  });
  return all;
}

/// Adds a volume with those of its neighbours that have a value; false where none has.
bool add(std::int32_t volume, std::span<const WeightedNeighbour> neighbours, std::span<const double> has_value,
         NeighbourRounds& rounds) {
  double sum = 0.0;
  for (const auto& [other, weight] : neighbours)
    if (has_value[other] != 0.0) sum += weight;
  if (sum == 0.0) return false;
  for (const auto& [other, weight] : neighbours) {
    if (has_value[other] == 0.0) continue;
    rounds.neighbour.push_back(other);
    rounds.weight.push_back(weight / sum);
  }
  rounds.volume.push_back(volume);
  rounds.begin.push_back(std::ssize(rounds.neighbour));
  return true;
}

/// Calls f(volume, its first neighbour, the last one's end) for the volumes of a round.
template <class F>
void for_round(const NeighbourRounds& rounds, std::size_t round, F&& f) {
  for (std::int64_t i = rounds.rounds[round]; i < rounds.rounds[round + 1]; ++i)
    f(rounds.volume[i], rounds.begin[i], rounds.begin[i + 1]);
}

}  // namespace

NeighbourRounds find_rounds(ScalarGrid& grid, std::span<const std::uint8_t> has_value) {
  const Comm& comm = grid.composite->comm();
  NeighbourRounds rounds;
  std::vector<std::int32_t> missing;
  for (std::int32_t v = 0; v < grid.n_own; ++v)
    if (has_value[v] == 0) missing.push_back(v);
  if (!comm.any(!missing.empty())) return rounds;
  const std::vector<std::vector<WeightedNeighbour>> neighbours = neighbours_of(grid, missing);
  std::vector<double> known(grid.n_all, 0.0);
  std::copy_n(has_value.begin(), grid.n_own, known.begin());
  std::vector<std::uint8_t> done(missing.size(), 0);
  for (bool found = true; comm.any(found);) {
    fetch_remote(grid, known);
    found = false;
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (done[i] == 0 && add(missing[i], neighbours[i], known, rounds)) {
        done[i] = 1;
        found = true;
      }
    for (std::int64_t i = rounds.rounds.back(); i < std::ssize(rounds.volume); ++i) known[rounds.volume[i]] = 1.0;
    rounds.rounds.push_back(std::ssize(rounds.volume));
  }
  rounds.rounds.pop_back();  // that of nobody
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (done[i] == 0) rounds.isolated.push_back(missing[i]);
  return rounds;
}

void fill_from_neighbours(ScalarGrid& grid, const NeighbourRounds& rounds, std::span<double> values) {
  for (std::size_t r = 0; r + 1 < rounds.rounds.size(); ++r) {
    fetch_remote(grid, values);
    for_round(rounds, r, [&](std::int32_t v, std::int64_t first, std::int64_t end) {
      const double one = values[rounds.neighbour[first]];  // a constant keeps its bits
      double others = 0.0;
      for (std::int64_t k = first + 1; k < end; ++k) others += rounds.weight[k] * (values[rounds.neighbour[k]] - one);
      values[v] = one + others;
    });
  }
}

void give_to_neighbours(ScalarGrid& grid, const NeighbourRounds& rounds, std::span<double> amounts) {
  const CompositeNumbering& numbering = grid.composite->numbering();
  for (std::size_t r = rounds.rounds.size() - 1; r-- > 0;) {
    std::map<int, ByteWriter> sent;
    for_round(rounds, r, [&](std::int32_t v, std::int64_t first, std::int64_t end) {
      for (std::int64_t k = first; k < end; ++k) {
        const std::int32_t other = rounds.neighbour[k];
        const double part = rounds.weight[k] * amounts[v];
        if (other < grid.n_own) {
          amounts[other] += part;
          continue;
        }
        const GlobalNumber number = grid.remote.numbers()[other - grid.n_own];
        const int owner = numbering.owner(number);
        sent[owner].put(number);
        sent[owner].put(part);
      }
      amounts[v] = 0.0;
    });
    send_to_ranks(grid.composite->comm(), std::move(sent), [&](ByteReader& in, int) {
      const auto number = in.get<GlobalNumber>();
      amounts[number - numbering.first()] += in.get<double>();
    });
  }
}

}  // namespace karst
