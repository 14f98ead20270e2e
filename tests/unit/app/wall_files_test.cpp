// SPDX-License-Identifier: BSD-3-Clause
// Geometry files and surfaces of walls that move: another run begins where the walls were.
#include "app/walls/wall_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/deck/source.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "support/walls_runs.hpp"

namespace karst::wall_files_test {
namespace {

const std::string flow = R"(
[flow]
model = "stokes"
drive = "pressure-drop"
axes = ["x"]
estimate_error = false
tolerance = 1e-9
)";

struct Begun {
  double porosity, permeability;
  std::vector<MineralWall> minerals;
};

/// Of a run that begins with a geometry file. Collective.
Begun begun_from(const Comm& comm, const std::string& file) {
  const Config config = test::config_of("[geometry]\nkeep = \"all\"\nimage = \"" + file + "\"\n" + flow);
  const Source source = open_source(comm, config, {});
  test::JobCase run(source.grid, *source.level_set, comm);
  run.config = config;
  const GeometryReport& report = run.context.geometry().report;
  return {report.porosity, run_job(flow_job(), run.context).json["permeability_m2"][0][0].get<double>(),
          report.minerals};
}

/// A solid above a channel, which dissolves by 0.9 cells, with an output after two thirds of that.
std::string deck_of(const std::string& solids) {
  return "[geometry]\nkeep = \"all\"\n" + solids + "[grid]\ncells = [12, 10, 9]\nsize = [12, 10, 9]\n" + flow +
         "[[walls.mineral]]\nspeed = 0.1\n[time]\nend = 9\noutput = 6\n[output]\ngeometry = true\n";
}

constexpr const char* oblique = R"([[geometry.solid]]
shape = "plane"
point = [0, 6.3, 0]
normal = [0.2, -0.9, 0.3]
)";

TEST(WallFiles, NodesContainTheSamplesOfImages) {
  EXPECT_EQ(nodes_per_cell(1, 0.0), 2);    // described: half of the spacing of s
  EXPECT_EQ(nodes_per_cell(1, 0.5), 2);    // voxels as wide as cells, or nodes of such a file
  EXPECT_EQ(nodes_per_cell(1, 0.25), 4);   // two voxels in a cell
  EXPECT_EQ(nodes_per_cell(1, 1.0), 2);    // two cells in a voxel
  EXPECT_EQ(nodes_per_cell(2, 0.5), 4);    // half of the spacing of s on the finer level
  EXPECT_EQ(nodes_per_cell(1, 0.375), 8);  // 4/3 voxels in a cell
  EXPECT_EQ(nodes_per_cell(1, 0.3), 2);    // nothing fits
}

// Where φ is linear between nodes the other run has the same walls: porosity to round-off of the file's φ (6e-8 of a
// cell), permeability to the tolerance of the flow; also at the output time.
TEST(WallFilesMpi, AnotherRunBeginsWhereTheWallsWere) {
  const PetscSession petsc;
  test::run_walls(deck_of(oblique), [](test::JobCase& run, const test::WallsRun& ran) {
    const auto lines = ran.columns.at("time_s").size();
    for (const auto& [name, time] : {std::pair("moved_geometry_0001.h5", 6.0), std::pair("moved_geometry.h5", 9.0)}) {
      std::size_t line = 0;
      while (line + 1 < lines && ran.columns.at("time_s")[line] < time - 1e-9) ++line;
      const Begun begun = begun_from(run.comm, run.folder.path() + "/" + name);
      EXPECT_NEAR(begun.porosity, ran.columns.at("porosity")[line], 1e-8) << name;
      EXPECT_NEAR(begun.permeability / ran.columns.at("permeability_x_m2")[line], 1.0, 1e-6) << name;
    }
    for (const char* name :
         {"moved_geometry.h5.series", "moved_wall_0001.vtp", "moved_wall.vtp", "moved_wall.vtp.series"})
      EXPECT_TRUE(std::filesystem::exists(run.folder.path() + "/" + name)) << name;
  });
}

// Between nodes half a cell apart a sphere of radius R is trilinear: its wall lies h²/(72 R) inside on the mean, as
// (1/2)²/12 of the curvature along the edges does, 2/3 of 1/R. Minerals are there by their names.
TEST(WallFiles, DescribedSolidsAreThereToSecondOrder) {
  const PetscSession petsc;
  const std::string solids = R"([[geometry.solid]]
shape = "sphere"
center = [4.3, 4.7, 4.4]
radius = 3.6
[[geometry.solid]]
shape = "sphere"
center = [10.2, 4.9, 4.1]
radius = 3.4
mineral = "quartz"
)";
  test::run_walls(deck_of(solids), [](test::JobCase& run, const test::WallsRun& ran) {
    const Begun begun = begun_from(run.comm, run.folder.path() + "/moved_geometry.h5");
    const double area = ran.last("solid_area_m2") + ran.last("quartz_area_m2"), cells = 12.0 * 10.0 * 9.0;
    const double inside = (begun.porosity - ran.last("porosity")) * cells / area;
    EXPECT_GT(inside, 0.5 / (72.0 * 2.6));
    EXPECT_LT(inside, 1.5 / (72.0 * 2.6));
    EXPECT_NEAR(begun.permeability / ran.last("permeability_x_m2"), 1.0, 0.01);
    ASSERT_EQ(begun.minerals.size(), 2U);
    EXPECT_EQ(begun.minerals[1].name, "quartz");
    EXPECT_NEAR(begun.minerals[1].area / ran.last("quartz_area_m2"), 1.0, 0.03);
  });
}

}  // namespace
}  // namespace karst::wall_files_test
