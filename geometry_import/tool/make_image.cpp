// SPDX-License-Identifier: BSD-3-Clause
// karst-make-image: a CT-like image of a packing of grains whose exact geometry is known.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <numeric>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/main.hpp"
#include "base/text.hpp"
#include "geometry_import/ct_image.hpp"
#include "geometry_import/packing.hpp"

namespace karst {
namespace {

struct Options {
  PackingOptions packing;
  CtOptions ct;
  std::string size = "64", output, truth;
  double voxel = 5e-6;
  TiffCompression compression = TiffCompression::lzw;
};

/// N or nx,ny,nz.
Index parse_size(const std::string& text) {
  Index size;
  const std::vector<std::string> parts = split(text, ',');
  const bool counts = parts.size() == 1 || parts.size() == 3;
  for (std::size_t d = 0; d < 3 && counts; ++d) {
    const std::string& part = parts[parts.size() == 1 ? 0 : d];
    const bool digits = !part.empty() && part.size() < 7 && part.find_first_not_of("0123456789") == std::string::npos;
    size[static_cast<int>(d)] = digits ? std::stoi(part) : 0;
  }
  require(size[0] > 0 && size[1] > 0 && size[2] > 0, "--size {}: one number of voxels or three (nx,ny,nz) are needed",
          text);
  return size;
}

void declare(CLI::App& app, Options& o) {
  const std::map<std::string, TiffCompression> compressions{
      {"none", TiffCompression::none}, {"lzw", TiffCompression::lzw}, {"deflate", TiffCompression::deflate}};
  app.add_option("-o,--output", o.output, "TIFF file to write, one page per plane")->required();
  app.add_option("--truth", o.truth, "text file for the exact spheres: x y z r [voxels]");
  app.add_option("--size", o.size, "voxels: N or nx,ny,nz")->capture_default_str();
  app.add_option("--radius", o.packing.radius, "of the grains, about [voxels]")->capture_default_str();
  app.add_option("--porosity", o.packing.porosity, "of the packing")->capture_default_str();
  app.add_option("--seed", o.packing.seed, "of the random numbers")->capture_default_str();
  app.add_option("--blur", o.ct.blur, "standard deviation of the blur [voxels]")->capture_default_str();
  app.add_option("--noise", o.ct.noise, "standard deviation of the noise [contrast]")->capture_default_str();
  app.add_option("--photons", o.ct.photons, "counts in a grain voxel for Poisson noise; 0: none")
      ->capture_default_str();
  app.add_option("--ring", o.ct.ring, "standard deviation of ring artefacts [contrast]")->capture_default_str();
  app.add_option("--bits", o.ct.bits, "8 or 16")->capture_default_str();
  app.add_option("--voxel", o.voxel, "voxel width in the resolution tags [m]; 0: none")->capture_default_str();
  app.add_option("--compression", o.compression, "none, lzw or deflate")
      ->transform(CLI::CheckedTransformer(compressions));
}

std::string sphere_list(const std::vector<Sphere>& spheres) {
  std::string text;
  for (const Sphere& s : spheres)
    text += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g}\n", s.center[0], s.center[1], s.center[2], s.radius);
  return text;
}

void make(const Comm& comm, Options& o) {
  o.packing.size = parse_size(o.size);
  o.ct.seed = o.packing.seed;
  require(o.voxel == 0 || (o.voxel >= 1e-12 && o.voxel <= 1e3), "--voxel {}: allowed are 0 and 1e-12 to 1000", o.voxel);
  const std::vector<Sphere> spheres = random_packing(o.packing);
  std::vector<float> solid = solid_fraction(o.packing.size, spheres);
  const double porosity = 1 - std::accumulate(solid.begin(), solid.end(), 0.0) / static_cast<double>(solid.size());
  write_tiff(comm, o.output, o.packing.size, ct_image(o.packing.size, std::move(solid), o.ct), o.ct.bits, o.compression,
             o.voxel);
  if (!o.truth.empty()) write_file(comm, o.truth, sphere_list(spheres));
  if (comm.rank() == 0)
    std::printf("%s: %d x %d x %d voxels, grain radius %.3f voxels, true porosity %.5f\n", o.output.c_str(),
                o.packing.size[0], o.packing.size[1], o.packing.size[2], spheres.front().radius, porosity);
}

void run(const Comm& comm, int argc, char** argv) {
  Options options;
  CLI::App app{"Makes a gray-scale image like that of a CT scan, of a random packing of grains."};
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    throw ExitStatus{comm.rank() == 0 ? app.exit(e) : e.get_exit_code()};
  }
  make(comm, options);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::run(comm, argc, argv); });
}
