// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/errors.hpp"
#include "tests/support/plot_samples.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst {
namespace {

TEST(PlotReaderMpi, ReadsWhatWasWritten) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  test::PlotSample sample = test::plot_sample(comm, {36, 40, 19}, 8, 2, 4);
  test::connect(sample, comm);
  const std::string path = folder.path() + "/plot.vtkhdf";
  write_plotfile(comm, path, sample.plot);
  const PlotReader reader(path);
  EXPECT_EQ(reader.components(), (std::vector<std::string>{"field_0", "vector_x", "vector_y", "vector_z"}));
  EXPECT_EQ(reader.unit(0), "Pa");
  EXPECT_EQ(reader.unit(3), "m/s");
  EXPECT_EQ(reader.title(), "sample");
  EXPECT_EQ(reader.time(), 0.125);
  EXPECT_EQ(reader.cells(), (Index{36, 40, 19}));
  EXPECT_EQ(reader.cell_width(), 2.5e-6);
  ASSERT_EQ(reader.n_levels(), 2);
  for (int l = 0; l < 2; ++l) {
    const auto& boxes = reader.boxes(l);
    EXPECT_EQ(std::ssize(boxes), sample.layouts[static_cast<std::size_t>(l)].n_boxes());
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      std::vector<float> values(static_cast<std::size_t>(boxes[b].count()));
      reader.read(l, b, 2, values);
      std::size_t n = 0;
      for_each_cell(boxes[b], [&](const Index& c) { ASSERT_EQ(values[n++], test::plot_value(l, c, 2)); });
      std::vector<std::uint8_t> hidden(values.size());
      reader.read_hidden(l, b, hidden);
      n = 0;
      for_each_cell(boxes[b], [&](const Index& c) { ASSERT_EQ(hidden[n++], test::plot_hidden(c)); });
    }
  }
}

TEST(PlotReader, OtherFilesAreRefused) {
  const Comm comm = Comm::self();
  const test::SharedDirectory folder(comm);
  const auto error = [](const std::string& path) { return test::error_of([&] { const PlotReader reader(path); }); };
  EXPECT_NE(error(folder.path() + "/none.vtkhdf").find("there is no such file"), std::string::npos);
  const std::string text = folder.path() + "/text.vtkhdf";
  std::ofstream(text) << "no HDF5";
  EXPECT_NE(error(text).find("text.vtkhdf"), std::string::npos);
}

}  // namespace
}  // namespace karst
