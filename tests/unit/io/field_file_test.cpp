// SPDX-License-Identifier: BSD-3-Clause
#include "io/field_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.hpp"
#include "support/field_cases.hpp"
#include "support/first_ranks.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::field_file_test {
namespace {

std::shared_ptr<const Composite> grid_on(const Comm& comm, const Index& cells = Index::all(16)) {
  return test::composite_of(comm, test::refined_in(test::flow_grid(cells), 1, {5, 0, 3}, {13, 11, 12}),
                            *test::packing(14, 3.3, 16, true, 3));
}

double value(const Vec3& x, int component) { return std::exp(0.1 * x[0]) + std::sin(x[1] + component) / 3.0 - x[2]; }

std::int64_t wrong_values(const CellField& field) {
  std::int64_t wrong = 0;
  test::for_unknowns(field.grid(), [&](const Vec3& x, std::size_t vof, int l, int b) {
    for (int c = 0; c < field.n_components(); ++c) wrong += field.level(l).box(b, c)[vof] != value(x, c);
  });
  return field.grid().comm().sum(wrong);
}

// Two levels, joined pieces: bit by bit the same on any number of ranks.
TEST(FieldFileMpi, FieldsComeBackOnAnyRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const std::string path = folder.path() + "/state.h5";
  CellField one(grid_on(comm)), three(one.composite(), 3);
  test::set_by_place(one, value);
  test::set_by_place(three, value);
  write_fields(comm, path, "t = 3 s", std::array{NamedField{"pressure", &one}, NamedField{"solutes", &three}});
  for (int n = 1; n <= comm.size(); ++n) {
    const test::FirstRanks some(comm, n);
    if (!some.is_in()) continue;
    CellField pressure(grid_on(some.comm())), solutes(pressure.composite(), 3);
    const VofFile file(path);
    EXPECT_EQ(file.text(), "t = 3 s");
    read_field(some.comm(), file, "pressure", pressure);
    read_field(some.comm(), file, "solutes", solutes);
    EXPECT_EQ(wrong_values(pressure), 0) << n << " ranks";
    EXPECT_EQ(wrong_values(solutes), 0) << n << " ranks";
  }
}

TEST(FieldFileMpi, AFileThatDoesNotFitLeavesTheFieldAsItIs) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const std::string path = folder.path() + "/state.h5";
  CellField field(grid_on(comm)), wider(grid_on(comm, {24, 16, 16})), pair(field.composite(), 2);
  test::set_by_place(field, value);
  test::set_by_place(wider, value);
  write_fields(comm, path, "", std::array{NamedField{"pressure", &field}});
  const VofFile file(path);
  EXPECT_PRED2(test::has, test::error_of([&] { read_field(comm, file, "pressure", wider); }),
               "belongs to another grid");
  EXPECT_PRED2(test::has, test::error_of([&] { read_field(comm, file, "pressure", pair); }),
               "1 components, 2 are expected");
  EXPECT_PRED2(test::has, test::error_of([&] { read_field(comm, file, "salt", field); }), "open salt");
  EXPECT_EQ(wrong_values(wider) + wrong_values(field), 0);
  EXPECT_PRED2(test::has, test::error_of([&] {
                 write_fields(comm, path, "", std::array{NamedField{"a", &field}, NamedField{"b", &wider}});
               }),
               "on another grid");
}

}  // namespace
}  // namespace karst::field_file_test
