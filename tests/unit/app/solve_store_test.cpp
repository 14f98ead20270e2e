// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/solve_store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "app/deck/run_identity.hpp"
#include "app/flow/flow_job.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/first_ranks.hpp"
#include "support/flow_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::solve_store_test {
namespace {

namespace fs = std::filesystem;

Geometry sphere(const Comm& comm, double solid = 0.3, int n = 16, int box = 8) {
  return build_geometry(comm, test::flow_grid(Index::all(n), {true, true, true}, box), *test::one_sphere(solid, n),
                        KeepPores::all);
}

constexpr const char* deck =
    "[grid]\nbox = 8\n[fluid]\nviscosity = 0.001  # Pa s\n[flow]\nmodel = \"stokes\"\naxes = [\"x\"]\ntolerance = "
    "1e-08\n"
    "[diffusion]\ntolerance = 1e-06\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

class SolveStoreMpi : public ::testing::Test {
 protected:
  Comm comm = Comm::world();
  test::SharedDirectory place{comm};
  std::string folder = place.path() + "/solved";
};

TEST_F(SolveStoreMpi, AFinishedSolveComesBackInTheNextRun) {
  const Geometry geometry = sphere(comm);
  const CompositeNumbering numbering(comm, geometry);
  const VofPlaces places = places_of(geometry, numbering);
  std::vector<double> values(numbering.n_own());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(numbering.first()) + static_cast<double>(i));
  const std::array fields{VofTable{"solve", places, {{"pressure", 1, std::span<const double>(values)}}}};
  {
    SolveStore store(comm, folder, deck, false);
    const std::string depends = store.dependencies("flow", geometry, 1e-6);
    store.save("stokes x", depends, {Json{{"k", 1}}, Json{{"state", 2}}}, fields);
    store.save("on the way", depends, {"{}", "{}"}, {});
    store.drop("on the way");
    ASSERT_EQ(store.finished().size(), 1U);
    EXPECT_EQ(store.n_read(), 0);
    EXPECT_FALSE(store.load("stokes x", depends));  // not asked to resume
  }
  SolveStore store(comm, folder, deck, true);
  const std::string depends = store.dependencies("flow", geometry, 1e-6);
  std::vector<double> read(values.size());
  const auto state = store.load("stokes x", depends, [&](const VofFile& file, const Json&) {
    file.read("solve", "pressure", places, 1, std::span<double>(read));
  });
  ASSERT_TRUE(state);
  EXPECT_EQ(state->dump(), "{\"state\":2}");
  EXPECT_EQ(read, values);
  EXPECT_EQ(store.n_read(), 1);
  EXPECT_EQ(store.finished()[0].result.dump(), "{\"k\":1}");
  EXPECT_FALSE(store.load("stokes y", depends));
  EXPECT_FALSE(store.load("on the way", depends));
  // A field that is not there: solved again.
  EXPECT_FALSE(store.load("stokes x", depends, [&](const VofFile& file, const Json&) {
    file.read("solve", "velocity", places, 3, std::span<double>(read));
  }));
}

/// One byte of a file is another.
void damage(const Comm& comm, const std::string& path) {
  if (comm.rank() == 0) {
    const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(middle);
    const int was = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(was ^ 1));
  }
  comm.any(false);
}

TEST_F(SolveStoreMpi, AnEarlierStateServesWhereTheLastOneIsDamaged) {
  const Geometry geometry = sphere(comm);
  const CompositeNumbering numbering(comm, geometry);
  const VofPlaces places = places_of(geometry, numbering);
  std::vector<double> values(numbering.n_own());
  const std::array fields{VofTable{"solve", places, {{"c", 1, std::span<const double>(values)}}}};
  const std::string name = "transport" + std::string(checkpoint_suffix);
  SolveStore store(comm, folder, deck, true, 2);
  const std::string depends = store.dependencies("flow", geometry, 1e-6);
  for (int step = 1; step <= 3; ++step) {
    std::ranges::fill(values, step);
    store.save(name, depends, {Json::object(), Json{{"step", step}}}, fields);
  }
  const auto load = [&] {
    std::vector<double> read(values.size(), 0.0);
    const auto state = store.load(name, depends, [&](const VofFile& file, const Json&) {
      file.read("solve", "c", places, 1, std::span<double>(read));
    });
    for (const double v : read)
      EXPECT_TRUE(!state || state->dump() == fmt::format("{{\"step\":{}}}", v)) << "a value of step " << v;
    return state ? state->dump() : "";
  };
  EXPECT_EQ(load(), "{\"step\":3}");
  damage(comm, folder + "/transport_checkpoint.h5");
  EXPECT_EQ(load(), "{\"step\":2}");
  EXPECT_FALSE(fs::exists(folder + "/transport_checkpoint.2.h5"));  // two are kept
  // The damaged one is gone: the good one is not pushed out by it.
  std::ranges::fill(values, 4.0);
  store.save(name, depends, {Json::object(), Json{{"step", 4}}}, fields);
  damage(comm, folder + "/transport_checkpoint.h5");
  EXPECT_EQ(load(), "{\"step\":2}");
  damage(comm, folder + "/transport_checkpoint.h5");
  EXPECT_EQ(load(), "");
  store.drop(name);
  EXPECT_TRUE(comm.rank() > 0 || fs::is_empty(folder));
}

TEST_F(SolveStoreMpi, AKeptFileComesBackAsItWas) {
  SolveStore store(comm, folder, deck, true);
  const std::string path = place.path() + "/output_0001.vtkhdf";
  if (comm.rank() == 0) {
    std::ofstream(path) << "values";
    const std::uint32_t checksum = store.keep_file(path);
    std::ofstream(path) << "others";
    store.bring_file(path, checksum);
    std::string back;
    std::ifstream(path) >> back;
    EXPECT_EQ(back, "values");
    std::ofstream(folder + "/output_0001.vtkhdf") << "valuEs";
    EXPECT_PRED2(test::has, test::error_of([&] { store.bring_file(path, checksum); }), "is damaged");
    fs::remove(folder + "/output_0001.vtkhdf");
    EXPECT_PRED2(test::has, test::error_of([&] { store.bring_file(path, checksum); }), "cannot be read");
  }
  comm.any(false);
}

TEST_F(SolveStoreMpi, OnlyWhatFitsIsUsed) {
  const Geometry geometry = sphere(comm);
  const auto depends = [&](const std::string& text, const std::string& job, const Geometry& g, double width) {
    return SolveStore(comm, folder, text, true).dependencies(job, g, width);
  };
  const std::string flow = depends(deck, "flow", geometry, 1e-6),
                    diffusion = depends(deck, "diffusion", geometry, 1e-6);
  EXPECT_NE(flow, depends(replaced(deck, "1e-08", "1e-09"), "flow", geometry, 1e-6));
  EXPECT_EQ(diffusion, depends(replaced(deck, "1e-08", "1e-09"), "diffusion", geometry, 1e-6));
  EXPECT_NE(diffusion, depends(replaced(deck, "1e-06", "1e-07"), "diffusion", geometry, 1e-6));
  EXPECT_NE(flow, depends(replaced(deck, "0.001", "0.002"), "flow", geometry, 1e-6));
  EXPECT_NE(flow, depends(deck, "flow", geometry, 2e-6));
  // More axes do not change what one of them gives; neither do comments.
  EXPECT_EQ(flow, depends(replaced(deck, "[\"x\"]", "[\"x\", \"y\"]"), "flow", geometry, 1e-6));
  EXPECT_EQ(flow, depends(replaced(deck, "# Pa s", "# dynamic"), "flow", geometry, 1e-6));
}

// A table counts until it is said that a job does not know it; what is behind # within quotes is no comment.
TEST(RunIdentity, EveryTableCountsThatAJobMayKnow) {
  const std::string all =
      "title = \"one\"\n[geometry]\nkeep = \"all\"\n[to_come]\nkey = 1  # new\n[[output.probe]]\nname = \"a # b\"  # "
      "of it\n"
      "[[output.probe]]\n[output]\nplot = [\"velocity\"]\n[checkpoint]\nkeep = 2\n[chemistry]\nskip = 0\n";
  EXPECT_EQ(identity_of(all, "flow in time"),
            "[to_come]\n[to_come] key = 1\n[[output.probe]]\n[[output.probe]] name = \"a # "
            "b\"\n[[output.probe]]\n[output]\n");
  EXPECT_EQ(identity_of(all, "flow"), "[to_come]\n[to_come] key = 1\n");
  EXPECT_NE(identity_of(all, "transport").find("[chemistry] skip = 0"), std::string::npos);
  const std::string followed = "[grid]\nbox = 8\n[[grid.refine]]\nlow = 0.1\n";
  EXPECT_EQ(identity_of(followed, "transport"), "[[grid.refine]]\n[[grid.refine]] low = 0.1\n");
  EXPECT_EQ(identity_of(followed, "flow"), "");
  EXPECT_PRED2(test::has, test::error_of([&] { identity_of(all, "cooking"); }), "cooking");
}

// What is said of keys is said of keys and tables that there are, and of jobs that have answers.
TEST(RunIdentity, WhatIsSaidOfKeysIsOfSuchKeysAndJobs) {
  Reader in = Reader::declarations_only();
  read_config(in);
  std::set<std::string> names;
  for (const KeyInfo& key : in.keys())
    for (std::string name = without_positions(key.key); !name.empty(); name = table_of(name)) names.insert(name);
  EXPECT_GT(in.answers().size(), 15U);
  for (const auto& [name, jobs] : in.answers()) {
    EXPECT_TRUE(names.contains(name)) << name;
    for (const std::string& job : jobs) EXPECT_NO_THROW(identity_of("", job)) << name << ", " << job;
  }
}

// A file counts by what is in it, not by its name; one of the geometry by the cut cells.
TEST_F(SolveStoreMpi, WhatIsInAFileCountsInPlaceOfItsName) {
  const auto deck_of = [&](const std::string& name, const std::string& content) {
    const std::string path = place.path() + "/" + name;
    if (comm.rank() == 0) std::ofstream(path) << content;
    comm.any(false);
    const std::string text = with_contents(comm, fmt::format("[geometry]\nimage = \"{0}\"\n[[transport.component]]\n"
                                                             "name = \"{0}\"\ninlet_table = \"{0}\"  # a \\ b\n",
                                                             path));
    comm.any(false);
    EXPECT_NE(text.find(fmt::format("image = \"{}\"", path)), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("name = \"{}\"", path)), std::string::npos) << text;
    return text.substr(text.find("inlet_table"));
  };
  const std::string one = deck_of("one.csv", "0 1\n");
  EXPECT_EQ(one, deck_of("two.csv", "0 1\n"));
  EXPECT_NE(one, deck_of("one.csv", "0 2\n"));
  EXPECT_PRED2(test::has, one, "inlet_table = \"4 bytes of CRC-32 ");
}

TEST_F(SolveStoreMpi, CutCellsHaveTheSameFingerprintOnAnyNumberOfRanks) {
  const std::uint64_t all = fingerprint(comm, sphere(comm));
  EXPECT_NE(all, fingerprint(comm, sphere(comm, 0.3 + 1e-9)));
  EXPECT_NE(all, fingerprint(comm, sphere(comm, 0.3, 24)));
  EXPECT_NE(all, fingerprint(comm, sphere(comm, 0.3, 16, 16)));
  for (int n = 1; n < comm.size(); ++n) {
    const test::FirstRanks some(comm, n);
    if (!some.is_in()) continue;
    EXPECT_EQ(all, fingerprint(some.comm(), sphere(some.comm()))) << n << " ranks";
  }
}

TEST(FlowRecord, NumbersComeBackToTheLastBit) {
  FlowColumn column;
  column.axis = 2;
  column.periodic = true;
  column.permeability = {1.0 / 3.0, -1e-300, 0.1 + 0.2};
  column.pressure_drag = std::numeric_limits<double>::quiet_NaN();
  column.divergence = std::nextafter(1.0, 2.0);
  column.counts.flow_cells = (std::int64_t{1} << 53) + 1;
  column.histogram.share[7] = std::exp(-1.0);
  column.seconds = 1.5;
  column.inertia.emplace_back();
  column.inertia[0].permeability = std::sqrt(2.0);
  column.inertia[0].newton_steps = 3;
  column.forchheimer = ForchheimerFit{1.0 / 7.0, 2.0, 3.0};
  const FlowColumn back = flow_column(record_of(Comm::self(), column).state);
  EXPECT_EQ(back.axis, 2);
  EXPECT_TRUE(back.periodic);
  EXPECT_EQ(back.permeability, column.permeability);
  EXPECT_TRUE(std::isnan(back.pressure_drag));
  EXPECT_EQ(back.divergence, column.divergence);
  EXPECT_EQ(back.counts.flow_cells, column.counts.flow_cells);
  EXPECT_EQ(back.histogram.share, column.histogram.share);
  EXPECT_EQ(back.seconds, 1.5);
  ASSERT_EQ(back.inertia.size(), 1U);
  EXPECT_EQ(back.inertia[0].permeability, std::sqrt(2.0));
  EXPECT_EQ(back.inertia[0].newton_steps, 3);
  EXPECT_EQ(back.forchheimer->permeability, 1.0 / 7.0);
  const PausedSweep sweep{column, 0.7, {column.inertia, 0.1, 0.2, 0.3, 0.4}};
  const PausedSweep again = paused_sweep(record_of(Comm::self(), sweep).state);
  EXPECT_EQ(again.fall, 0.7);
  EXPECT_EQ(again.state.velocity, 0.2);
  EXPECT_EQ(again.state.points.size(), 1U);
  EXPECT_EQ(again.slow.permeability, column.permeability);
}

}  // namespace
}  // namespace karst::solve_store_test
