// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/source_marks.hpp"

#include <utility>

#include "grid/questions.hpp"

namespace karst {

void SourceMarks::finish() {
  send_values(change_.to.composite->comm(), std::exchange(of_others_, {}),
              [&](std::int32_t number, int) { place_[number] = 0; });
  change_.exchange.exchange(std::span(place_));
  for (std::int32_t& place : place_)
    if (place >= 0) place = size_++;
}

std::vector<std::uint8_t> SourceMarks::of_volumes(std::span<const RemoteItem> sources) const {
  ScalarGrid& grid = change_.from;
  const Comm& comm = grid.composite->comm();
  std::vector<std::uint8_t> all(grid.n_values, 1);
  struct Asked {
    std::int32_t volume, number;
  };
  std::map<int, std::vector<Asked>> asked;
  for (std::int32_t v = 0; v < grid.n_own; ++v) {
    const RemoteItem& source = sources[v];
    all[v] = source.rank == comm.rank() && has(source.number) ? 1 : 0;
    if (source.rank >= 0 && source.rank != comm.rank()) asked[source.rank].push_back({v, source.number});
  }
  ask_values(
      comm, asked, [](const Asked& a) { return a.number; },
      [&](std::int32_t number) { return std::uint8_t{has(number)}; },
      [&](const Asked& a, std::uint8_t marked) { all[a.volume] = marked; });
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(std::span(all).subspan(grid.n_own, grid.n_all - grid.n_own),
                 [&](std::size_t i) { return all[exchange.sent()[i]]; });
  exchange.finish();
  return all;
}

}  // namespace karst
