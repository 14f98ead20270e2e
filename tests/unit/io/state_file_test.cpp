// SPDX-License-Identifier: BSD-3-Clause
#include "io/state_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"
#include "support/first_ranks.hpp"
#include "support/flow_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::state_file_test {
namespace {

/// A refined grid, and numbers that say which VoF they belong to: of all, of the unknowns, of a third of these.
struct Sample {
  explicit Sample(const Comm& comm)
      : geometry(build_geometry(
            comm, test::refined_in(test::flow_grid(Index::all(16), {true, true, true}, 8), 1, {4, 0, 0}, {8, 8, 8}),
            *test::packing(40, 3.2, 16, true), KeepPores::all, ControlVolumes::pieces)),
        numbering(comm, geometry) {
    for (int l = 0; l < numbering.n_levels(); ++l) {
      const LevelGraph& graph = geometry.levels[l].graph;
      for (int b = 0; b < graph.n_local(); ++b) {
        const BoxGraph box = graph.box(b);
        int before = -1, piece = 0;
        for_each_vof(box, [&](int vof, int offset) {
          piece = offset == before ? piece + 1 : 0;
          before = offset;
          const Index cell = box.cells.cell(offset);
          const double value = std::sin(1.0 + cell[0] + 100.0 * cell[1] + 1e4 * cell[2] + 1e6 * l) + piece;
          all.push_back(value);
          const std::int32_t number = numbering.number(l, b, vof);
          if (number < 0) return;
          if ((cell[0] + cell[1] + cell[2] + piece) % 3 == 0) thirds.push_back(number);
          for (int c = 0; c < 2; ++c) unknowns.push_back(static_cast<float>(value + c));
        });
      }
    }
    for (const std::int32_t v : thirds) some.push_back(unknowns[2 * static_cast<std::size_t>(v)]);
  }
  State state() const {
    State state;
    state.numbers = {{"time", 0.1}};
    const VofSet of_unknowns = unknowns_of(geometry, numbering);
    add_set(state, all_vofs(geometry));
    add_set(state, of_unknowns);
    add_set(state, some_of(of_unknowns, "thirds", thirds));
    state.items.push_back({"pressure", "Pa", ItemKind::point_value, 1, "vofs", std::span<const double>(all)});
    state.items.push_back({"salt", "mol/kgw", ItemKind::content, 2, "unknowns", std::span<const float>(unknowns)});
    state.items.push_back({"rate", "1/s", ItemKind::memory, 1, "thirds", std::span<const double>(some)});
    return state;
  }
  Geometry geometry;
  CompositeNumbering numbering;
  std::vector<double> all, some;
  std::vector<float> unknowns;
  std::vector<std::int32_t> thirds;
};

// Every bit of two states in one file, on fewer ranks than wrote it, with other owners.
TEST(StateFileMpi, StatesComeBackOnAnyNumberOfRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const std::string path = folder.path() + "/state.h5";
  Json description;
  {
    const Sample sample(comm);
    EXPECT_GT(comm.sum(std::ssize(sample.thirds)), 0);
    const State state = sample.state();
    std::vector<VofTable> tables = tables_of(state, sample.geometry, "flow");
    for (VofTable& table : tables_of(state, sample.geometry, "transport")) tables.push_back(std::move(table));
    description = description_of(state);
    write_vof_file(comm, path, description.dump(), tables);
  }
  for (int n = 1; n <= comm.size(); ++n) {
    const test::FirstRanks some(comm, n);
    if (!some.is_in()) continue;
    const Sample sample(some.comm());
    const VofFile file(path);
    for (const char* prefix : {"flow", "transport"}) {
      const State read = read_state(file, Json::parse(file.text()), sample.geometry, prefix), wanted = sample.state();
      EXPECT_EQ(read.numbers.dump(), wanted.numbers.dump());
      ASSERT_EQ(read.sets.size(), wanted.sets.size());
      for (std::size_t i = 0; i < read.sets.size(); ++i) {
        EXPECT_EQ(read.sets[i].name, wanted.sets[i].name);
        EXPECT_EQ(read.sets[i].size, wanted.sets[i].size);
        EXPECT_EQ(read.sets[i].vofs, wanted.sets[i].vofs);
      }
      EXPECT_EQ(description_of(read).dump(), description.dump());
      std::vector<double> all(sample.all.size()), thirds(sample.some.size());
      std::vector<float> unknowns(sample.unknowns.size());
      take_item(read, "pressure", 1, std::span(all));
      take_item(read, "salt", 2, std::span(unknowns));
      take_item(read, "rate", 1, std::span(thirds));
      EXPECT_EQ(all, sample.all) << n << " ranks";
      EXPECT_EQ(unknowns, sample.unknowns) << n << " ranks";
      EXPECT_EQ(thirds, sample.some) << n << " ranks";
    }
    EXPECT_THROW(read_state(file, description, sample.geometry, "chemistry"), Error);
  }
}

}  // namespace
}  // namespace karst::state_file_test
