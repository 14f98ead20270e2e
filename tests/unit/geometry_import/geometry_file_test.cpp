// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/file/geometry_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::geometry_file_test {
namespace {

using test::error_of;
using test::has;

float phi_of(std::int64_t n) { return static_cast<float>(RandomNumbers(1, 1).normal(static_cast<std::uint64_t>(n))); }

/// Writes an image of random φ. Collective.
void write_random(const Comm& comm, const std::string& path, const Index& voxels, bool finish = true) {
  GeometryWriter writer(comm, path, voxels);
  for (int first = 0; first < GeometryWriter::layers(voxels); first += comm.size()) {
    std::vector<std::byte> packed;
    if (first + comm.rank() < GeometryWriter::layers(voxels)) {
      const ImageWindow layer = GeometryWriter::layer(voxels, first + comm.rank());
      std::vector<float> phi(layer.count());
      std::vector<std::uint8_t> phase(layer.count());
      for (std::size_t n = 0; n < phi.size(); ++n) {
        phi[n] = phi_of(layer.first * layer.plane() + static_cast<std::int64_t>(n));
        phase[n] = phi[n] > 0 ? 0 : 1;
      }
      packed = GeometryWriter::pack(layer, phi, phase);
    }
    writer.write(first, std::move(packed));
  }
  if (finish) writer.finish({voxels, 2.5e-6, 0.25, 0.26, 1.5, 17.5, "{\"file\": \"a \\u00b5\"}"});
}

int files_in(const std::string& directory) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

// Nodes stand in place of distances: one more than twice the voxels along each direction.
TEST(GeometryFileMpi, NodesComeBack) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/nodes.h5";
  const Index voxels{5, 17, 20}, lattice = GeometryWriter::node_lattice(voxels, 2);
  EXPECT_EQ(lattice, (Index{11, 35, 41}));
  {
    GeometryWriter writer(comm, path, voxels, 2);
    const ImageWindow voxel_layer = GeometryWriter::layer(voxels, 0);
    const std::vector<float> at_centres(voxel_layer.count(), 1.0F);
    const std::vector<std::uint8_t> phase(voxel_layer.count(), 0);
    writer.write(0, comm.rank() == 0 ? GeometryWriter::pack(voxel_layer, at_centres, phase) : std::vector<std::byte>());
    for (int first = 0; first < GeometryWriter::layers(lattice); first += comm.size()) {
      std::vector<std::byte> packed;
      if (first + comm.rank() < GeometryWriter::layers(lattice)) {
        const ImageWindow layer = GeometryWriter::layer(lattice, first + comm.rank());
        std::vector<float> phi(layer.count());
        for (std::size_t n = 0; n < phi.size(); ++n)
          phi[n] = phi_of(layer.first * layer.plane() + static_cast<std::int64_t>(n));
        packed = GeometryWriter::pack_nodes(layer, phi);
      }
      writer.write_nodes(first, std::move(packed));
    }
    writer.finish({.voxels = voxels, .voxel = 1e-6, .provenance = "{}"});
  }
  const GeometryFile file(path);
  EXPECT_EQ(file.info().nodes, 2);
  std::vector<float> phi(2 * 3 * 4);
  file.read_nodes({9, 32, 37}, {2, 3, 4}, phi.data());
  for (int n = 0; n < 24; ++n)
    ASSERT_EQ(phi[n], phi_of((std::int64_t{37 + n / 6} * 35 + 32 + n / 2 % 3) * 11 + 9 + n % 2)) << n;
  EXPECT_TRUE(has(error_of([&] { file.read_wall_distance({}, {1, 1, 1}, phi.data()); }), "no distances"));
}

TEST(GeometryFileMpi, RoundTripInBlocks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/a.h5";
  const Index voxels{37, 65, 70};
  write_random(comm, path, voxels);
  const GeometryFile file(path);
  EXPECT_EQ(file.info().voxels, voxels);
  EXPECT_EQ(file.info().voxel, 2.5e-6);
  EXPECT_EQ(file.info().porosity, 0.25);
  EXPECT_EQ(file.info().level_set_porosity, 0.26);
  EXPECT_EQ(file.info().steepest, 1.5);
  EXPECT_EQ(file.info().threshold, 17.5);
  EXPECT_EQ(file.info().provenance, "{\"file\": \"a \\u00b5\"}");
  EXPECT_TRUE(file.info().found.warnings.empty());  // a provenance without them, as older files have
  EXPECT_EQ(file.info().found.throats.count, 0);
  for (const Index lo : {Index{0, 0, 0}, Index{5, 31, 63}, Index{36, 64, 69}}) {
    const Index size{std::min(9, 37 - lo[0]), std::min(8, 65 - lo[1]), std::min(7, 70 - lo[2])};
    std::vector<float> phi(size[0] * size[1] * size[2]);
    std::vector<std::uint8_t> phase(phi.size());
    file.read_block(lo, size, phi.data());
    file.read_phase(lo, size, phase.data());
    for (int n = 0; n < static_cast<int>(phi.size()); ++n) {
      const int x = lo[0] + n % size[0], y = lo[1] + n / size[0] % size[1], z = lo[2] + n / (size[0] * size[1]);
      ASSERT_EQ(phi[n], phi_of((std::int64_t{z} * 65 + y) * 37 + x));
      ASSERT_EQ(phase[n] == 0, phi[n] > 0);
    }
  }
}

TEST(GeometryFileMpi, BytesDoNotDependOnTheNumberOfRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/all.h5", own = directory.path() + "/" + std::to_string(comm.rank());
  write_random(comm, path, {40, 33, 165});
  write_random(Comm::self(), own, {40, 33, 165});
  EXPECT_TRUE(test::bytes_of_file(path) == test::bytes_of_file(own));
  EXPECT_GT(test::bytes_of_file(path).size(), 100000u);
}

TEST(GeometryFileMpi, AnUnfinishedFileLeavesNothing) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  write_random(comm, directory.path() + "/a.h5", {40, 40, 40}, false);
  comm.any(false);
  EXPECT_EQ(files_in(directory.path()), 0);
  comm.any(false);
}

TEST(GeometryFileMpi, WhereNothingCanBeWrittenIsAnErrorOnAllRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/no_such_folder/a.h5";
  const std::string text = error_of([&] { write_random(comm, path, {8, 8, 8}); });
  EXPECT_TRUE(has(text, path)) << text;
  EXPECT_TRUE(has(error_of([&] { write_random(comm, directory.path(), {8, 8, 8}); }), "is a folder"));
}

// A small memory disk: the chunks (first size) or only the end of the file (second) do not fit. Needs the right to
// mount.
TEST(GeometryFileMpi, AFullDiskIsAnErrorOnAllRanksAndLeavesNothing) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const bool mine = comm.rank() == 0;
  const bool mounted = !comm.any(mine && mount("karst", directory.path().c_str(), "tmpfs", 0, "size=256k") != 0);
  if (!mounted) GTEST_SKIP() << "cannot mount a tmpfs here";
  int failures = 0;
  const std::string path = directory.path() + "/a.h5";
  for (int planes = 64; planes > 32; --planes) {
    const std::string text = error_of([&] { write_random(comm, path, {40, 40, planes}); });
    comm.any(false);
    if (text.empty()) break;
    ++failures;
    EXPECT_TRUE(has(text, path) && has(text, "cannot write")) << planes << ": " << text;
    EXPECT_EQ(files_in(directory.path()), 0) << planes;
    comm.any(false);
  }
  EXPECT_GT(failures, 2);
  comm.any(false);
  if (mine) std::filesystem::remove(path);
  EXPECT_EQ(error_of([&] { write_random(comm, directory.path() + "/b.h5", {8, 8, 8}); }), "") << "room for a small one";
  comm.any(false);
  if (mine) umount2(directory.path().c_str(), MNT_DETACH);
}

// The disk is full when HDF5 has only its own tables left to write: it cannot close such a file, and must not try again
// when the program ends.
TEST(GeometryFileMpi, ADiskFullAtTheEndIsAnErrorOnAllRanksAndLeavesNothing) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const bool mine = comm.rank() == 0;
  if (comm.any(mine && mount("karst", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0))
    GTEST_SKIP() << "cannot mount a tmpfs here";
  const std::string text = error_of([&] {
    GeometryWriter writer(comm, directory.path() + "/a.h5", {8, 8, 8});
    if (mine) test::write_raw(directory.path() + "/filler", std::vector<char>(1 << 20));
    writer.finish({{8, 8, 8}, 1, 1, 1, 1, 1, std::string(30000, 'x')});
  });
  comm.any(false);
  EXPECT_TRUE(has(text, "a.h5: cannot write it")) << text;
  EXPECT_EQ(files_in(directory.path()), 1) << "the filler";
  EXPECT_EQ(H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL), 0) << "HDF5 holds nothing open";
  comm.any(false);
  if (mine) umount2(directory.path().c_str(), MNT_DETACH);
}

TEST(GeometryFile, WrongFilesAreNamed) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/a.h5";
  const auto open = [&] { return error_of([&] { GeometryFile file(path); }); };
  EXPECT_TRUE(has(open(), "a.h5: no such file"));
  test::write_raw<char>(path, {}, "no HDF5");
  EXPECT_TRUE(has(open(), "a.h5: is not a geometry file (not HDF5)"));
  H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_TRUE(has(open(), "is an HDF5 file but not a geometry file"));
  write_random(comm, path, {8, 8, 8});
  EXPECT_EQ(open(), "");
  hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "phase", H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_TRUE(has(open(), "has no data set phase"));
  write_random(comm, path, {8, 8, 8});
  file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Adelete(file, "voxel");
  H5Fclose(file);
  EXPECT_TRUE(has(open(), "cannot read the attribute voxel"));
  write_random(comm, path, {8, 8, 8});
  file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "karst_geometry", H5P_DEFAULT);
  const int version = 99;
  H5Awrite(attribute, H5T_NATIVE_INT, &version);
  H5Aclose(attribute);
  H5Fclose(file);
  EXPECT_TRUE(has(open(), "version 99, this program reads version 1"));
}

TEST(GeometryFile, DamagedChunksAreAnError) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/a.h5";
  write_random(comm, path, {64, 64, 64});
  std::string bytes = test::bytes_of_file(path);
  for (std::size_t n = bytes.size() / 3; n < 2 * bytes.size() / 3; ++n) bytes[n] = 0;
  test::write_raw<char>(path, {}, bytes);
  const std::string text = error_of([&] {
    const GeometryFile file(path);
    std::vector<float> phi(64 * 64 * 64);
    file.read_block({0, 0, 0}, {64, 64, 64}, phi.data());
  });
  EXPECT_TRUE(has(text, "a.h5: cannot read a block")) << text;
}

}  // namespace
}  // namespace karst::geometry_file_test
