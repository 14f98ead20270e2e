// SPDX-License-Identifier: BSD-3-Clause
#include "fields/ground.hpp"

#include <gtest/gtest.h>

#include "fields/cell_field.hpp"
#include "support/geometry_cases.hpp"

namespace karst::ground_test {
namespace {

Geometry ball(const Comm& comm) {
  return build_geometry(comm, test::grid_of(16, 2), *make_level_set(Sphere{{7.2, 8.1, 8.6}, 4.3}), KeepPores::all);
}

TEST(GroundMpi, EachHasANumberOfItsOwnWhichIsThatOfAllRanks) {
  const Comm comm = Comm::world();
  const Ground one(comm, ball(comm)), other(comm, ball(comm));
  EXPECT_NE(one.id(), other.id());
  EXPECT_EQ(one.composite()->id(), one.id());
  EXPECT_EQ(static_cast<double>(one.id()), comm.max(static_cast<double>(one.id())));
}

TEST(GroundMpi, WhatFollowsFromItIsMadeOnce) {
  const Comm comm = Comm::world();
  const Ground ground(comm, ball(comm));
  const auto joined = ground.joined();
  EXPECT_EQ(&joined->numbering(), ground.numbering().get());
  EXPECT_EQ(&ground.composite()->numbering(), ground.numbering().get());
  EXPECT_EQ(ground.composite(), ground.composite());
  EXPECT_EQ(&ground.composite()->geometry(), &ground.geometry());
}

// What is left of a ground when a field is all that uses it.
TEST(GroundMpi, LivesAsLongAsAFieldOnIt) {
  const Comm comm = Comm::world();
  std::weak_ptr<const Composite> composite;
  {
    auto ground = std::make_unique<const Ground>(comm, ball(comm));
    CellField field(ground->composite(), 1);
    composite = ground->composite();
    const std::int64_t id = ground->id(), n = ground->numbering()->n_global();
    ground.reset();
    EXPECT_EQ(field.grid().id(), id);
    EXPECT_EQ(field.grid().numbering().n_global(), n);
    EXPECT_EQ(field.grid().geometry().levels.size(), 2U);
  }
  EXPECT_TRUE(composite.expired());
}

// A geometry that is replaced where it stood is another one, also for what still refers to its place.
TEST(GroundMpi, AGeometryReplacedInPlaceIsAnotherOne) {
  const Comm comm = Comm::world();
  Geometry geometry = ball(comm);
  const std::shared_ptr<const Geometry> place(std::shared_ptr<void>{}, &geometry);
  const Composite before(comm, place);
  geometry = ball(comm);
  EXPECT_NE(Composite(comm, place).id(), before.id());
}

}  // namespace
}  // namespace karst::ground_test
