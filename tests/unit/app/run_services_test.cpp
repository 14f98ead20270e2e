// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/run_services.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace karst {
namespace {

// Nothing is kept, known, written, recorded or shown, and no box moves, however they are called.
TEST(RunServicesMpi, ByDefaultTheyDoNothing) {
  const Comm comm = Comm::world();
  RunServices services;
  SolveStore& solved = services.solved;
  EXPECT_FALSE(solved.keeps());
  EXPECT_EQ(solved.dependencies("flow", Geometry(), 1.0), "");
  EXPECT_FALSE(solved.save("stokes x", "", {}, {}));
  solved.drop("stokes x");
  EXPECT_FALSE(solved.load("stokes x", "").has_value());
  EXPECT_TRUE(solved.finished().empty());
  EXPECT_FALSE(services.files.written() || services.files.plotted());
  services.files.write(comm, "nothing.csv", "text");
  EXPECT_FALSE(std::filesystem::exists("nothing.csv"));
  services.trace.step(1);
  EXPECT_FALSE(services.trace.taken() || trace::on);
  services.balance.begin_pass();
  for (int step = 0; step < 100; ++step) {
    services.balance.begin_step(0.01 * step);
    services.balance.end_step();
    EXPECT_FALSE(services.balance.begins() || services.balance.due());
  }
  EXPECT_TRUE(services.balance.json().is_null());
  services.progress.begin("flow", "flow: set-up");
  services.progress.tell(0.5, "stokes x", "iteration 1");
  services.progress.end();
  EXPECT_FALSE(services.exchanges.is_taken(ExchangeName::flow));
}

}  // namespace
}  // namespace karst
