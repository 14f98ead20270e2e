// SPDX-License-Identifier: BSD-3-Clause
// karst-make-image: a CT-like image of a rock whose exact geometry is known.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/run_guarded.hpp"
#include "image_generator/ct_image.hpp"
#include "image_generator/rock.hpp"

namespace karst {
namespace {

struct Options {
  RockOptions rock;
  CtOptions ct;
  std::string size = "64", axis = "z", center, minerals, output, labels, truth;
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
  require(size[0] > 0 && size[1] > 0 && size[2] > 0, "--size {}: one number of voxels, or three (nx,ny,nz), are needed",
          text);
  return size;
}

double parse_number(const std::string& text, const std::string& option) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(failure == std::errc{} && end == text.data() + text.size() && std::isfinite(value),
          "{}: \"{}\" is not a number", option, text);
  return value;
}

Vec3 parse_vector(const std::string& text, const std::string& option) {
  const std::vector<std::string> parts = split(text, ',');
  require(parts.size() == 3, "{} {}: three numbers x,y,z are needed", option, text);
  return {parse_number(parts[0], option), parse_number(parts[1], option), parse_number(parts[2], option)};
}

Vec3 parse_axis(const std::string& text) {
  if (text == "x") return {1, 0, 0};
  if (text == "y") return {0, 1, 0};
  if (text == "z") return {0, 0, 1};
  return parse_vector(text, "--axis");
}

/// name:share:gray,...
std::vector<Mineral> parse_minerals(const std::string& text) {
  std::vector<Mineral> minerals;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> words = split(part, ':');
    require(words.size() == 3, "--minerals {}: name:share:gray is needed for each, separated by commas", text);
    minerals.push_back({words[0], parse_number(words[1], "--minerals"), parse_number(words[2], "--minerals")});
  }
  return minerals;
}

void declare_rock(CLI::App& app, Options& o) {
  const std::map<std::string, RockKind> kinds{{"packing", RockKind::packing},     {"polyhedra", RockKind::polyhedra},
                                              {"fractures", RockKind::fractures}, {"slit", RockKind::slit},
                                              {"tube", RockKind::tube},           {"sphere", RockKind::sphere}};
  const char* group = "Rock";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->group(group);
  };
  add("--kind", o.rock.kind,
      "packing (of spheres), polyhedra (irregular grains), fractures (in a solid), slit, tube, sphere")
      ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case).description(""))
      ->default_str("packing");
  add("--size", o.size, "voxels: N or nx,ny,nz; 4 to 4096 each")->capture_default_str();
  add("--seed", o.rock.seed, "seed of the random numbers")->capture_default_str();
  add("--radius", o.rock.radius,
      "approximate radius of the grains (1 to a quarter of the size), of the grains of a solid of several minerals; "
      "radius of tube and sphere [voxels]")
      ->capture_default_str();
  add("--porosity", o.rock.porosity,
      "porosity of packing (0.2 to 0.95) or polyhedra (about 0.3, less without facets and spread, to 0.95)")
      ->capture_default_str();
  add("--facets", o.rock.facets, "polyhedra: random planes that cut each grain, 0 to 20")->capture_default_str();
  add("--spread", o.rock.spread, "polyhedra: largest random reduction of the grain size, as a fraction, 0 to 0.9")
      ->capture_default_str();
  add("--fractures", o.rock.fractures, "number of random fractures through the rock, 0 to 8")
      ->default_str("0; 3 for --kind fractures");
  add("--aperture", o.rock.aperture, "width of fractures and slit, 0.1 to 1000 [voxels]")->capture_default_str();
  add("--roughness", o.rock.roughness,
      "standard deviation of the height of fractures and slit, 0 to 50 [voxels]; the same on both sides")
      ->capture_default_str();
  add("--hurst", o.rock.hurst, "Hurst exponent of the roughness, 0.1 (rough) to 1 (smooth)")->capture_default_str();
  add("--axis", o.axis, "direction across the slit: x, y, z or a vector a,b,c; direction along the tube: x, y or z")
      ->capture_default_str();
  add("--center", o.center, "centre of slit, tube or sphere: x,y,z [voxels]")->default_str("the middle");
  add("--minerals", o.minerals, "name:share:gray,... e.g. quartz:0.8:180,calcite:0.2:210; gray 0 to 255 (pore: 60)")
      ->default_str("grain:1:180");
}

void declare_scan(CLI::App& app, Options& o) {
  const char* group = "Scan";
  const auto add = [&](const char* name, double& value, const char* text) {
    app.add_option(name, value, text)->capture_default_str()->group(group);
  };
  add("--blur", o.ct.blur, "standard deviation of the blur, 0 to 8 [voxels]");
  add("--noise", o.ct.noise, "standard deviation of the noise, 0 to 10 [contrast: 120 gray values]");
  add("--photons", o.ct.photons, "counts in a voxel of gray 180 for Poisson noise, 20 to 1e12; 0: none");
  add("--ring", o.ct.ring, "standard deviation of ring artefacts, 0 to 10 [contrast]");
  add("--drift", o.ct.drift, "gray value of the last plane minus that of the first, -10 to 10 [contrast]");
  add("--beam", o.ct.beam, "beam hardening: gray value at the rim minus that at the axis, -10 to 10 [contrast]");
}

void declare_files(CLI::App& app, Options& o) {
  const std::map<std::string, TiffCompression> compressions{
      {"none", TiffCompression::none}, {"lzw", TiffCompression::lzw}, {"deflate", TiffCompression::deflate}};
  const char* group = "Files";
  app.add_option("-o,--output", o.output, "NAME.tif: one page per plane; NAME_%04d.tif: one file per plane; NAME.raw")
      ->required()
      ->group(group);
  app.add_option("--labels", o.labels,
                 "image of the labels at voxel centres (8 bit; names as for --output); FILE.json with their names is "
                 "written next to it")
      ->group(group);
  app.add_option(
         "--truth", o.truth,
         "FILE.json: exact geometry, porosity and wall area; with another extension: list of spheres x y z r [voxels]")
      ->group(group);
  app.add_option("--bits", o.ct.bits, "8, 16 or 32 (float)")->capture_default_str()->group(group);
  app.add_option("--voxel", o.voxel, "voxel width in the resolution tags [m]; 0: none")
      ->capture_default_str()
      ->group(group);
  app.add_option("--compression", o.compression, "none, lzw or deflate")
      ->transform(CLI::CheckedTransformer(compressions).description(""))
      ->default_str("lzw")
      ->group(group);
}

/// No option without effect: those that the kind does not know are errors.
void check_use(const CLI::App& app, const RockOptions& o) {
  const bool grains = o.kind == RockKind::packing || o.kind == RockKind::polyhedra;
  const bool slit = o.kind == RockKind::slit, round = o.kind == RockKind::tube || o.kind == RockKind::sphere;
  const bool open = o.fractures > 0 || slit;
  const std::pair<const char*, bool> uses[] = {{"--radius", grains || round || o.minerals.size() > 1},
                                               {"--porosity", grains},
                                               {"--facets", o.kind == RockKind::polyhedra},
                                               {"--spread", o.kind == RockKind::polyhedra},
                                               {"--aperture", open},
                                               {"--roughness", open},
                                               {"--hurst", open && o.roughness > 0},
                                               {"--axis", slit || o.kind == RockKind::tube},
                                               {"--center", slit || round},
                                               {"--fractures", !slit && !round}};
  for (const auto& [name, used] : uses)
    require(used || app.count(name) == 0, "{} has no effect on {}{}; remove it", name, name_of(o.kind),
            o.kind == RockKind::tube || grains || open ? " with these options" : "");
}

std::string sphere_list(const std::vector<Sphere>& spheres) {
  std::string text;
  for (const Sphere& s : spheres)
    text += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g}\n", s.center[0], s.center[1], s.center[2], s.radius);
  return text;
}

void read_texts(const CLI::App& app, Options& o) {
  o.rock.size = parse_size(o.size);
  o.rock.normal = parse_axis(o.axis);
  if (!o.center.empty()) o.rock.center = parse_vector(o.center, "--center");
  if (!o.minerals.empty()) o.rock.minerals = parse_minerals(o.minerals);
  if (o.rock.kind == RockKind::fractures && app.count("--fractures") == 0) o.rock.fractures = 3;
  o.ct.seed = o.rock.seed;
  require(o.voxel == 0 || (o.voxel >= 1e-12 && o.voxel <= 1e3), "--voxel {}: allowed are 0 and 1e-12 to 1000", o.voxel);
  check(o.ct);
  check_use(app, o.rock);
  const bool only_spheres =
      o.rock.fractures == 0 && (o.rock.kind == RockKind::packing || o.rock.kind == RockKind::sphere);
  require(o.truth.empty() || o.truth.ends_with(".json") || only_spheres,
          "--truth {}: a list of spheres cannot describe {}; use a .json file", o.truth, name_of(o.rock.kind));
}

void make(const Comm& comm, const Options& o) {
  const Rock rock = make_rock(o.rock);
  std::vector<double> values{0.0};
  for (const Mineral& m : o.rock.minerals) values.push_back((m.gray - pore_gray) / (grain_gray - pore_gray));
  Scene::Voxels voxels = rock.scene->voxels(values, rock.samples);
  const Index& n = o.rock.size;
  const ImageBytes image = o.ct.bits == 32 ? image_bytes(n, ct_image_float(n, std::move(voxels.value), o.ct))
                                           : image_bytes(n, ct_image(n, std::move(voxels.value), o.ct), o.ct.bits);
  write_image(comm, o.output, image, o.compression, o.voxel);
  if (!o.labels.empty()) {
    write_image(comm, o.labels, {n, 8, std::move(voxels.labels)}, o.compression, o.voxel);
    write_file(comm, o.labels + ".json", label_json(rock));
  }
  if (o.truth.ends_with(".json")) {
    write_file(comm, o.truth, rock_json(rock, voxels.shares));
  } else if (!o.truth.empty()) {
    write_file(comm, o.truth, sphere_list(rock.spheres));
  }
  if (comm.rank() != 0) return;
  const bool packing = o.rock.kind == RockKind::packing;
  std::printf("%s: %d x %d x %d voxels, %strue porosity %.5f\n", o.output.c_str(), n[0], n[1], n[2],
              packing ? fmt::format("grain radius {:.3f} voxels, ", rock.spheres.front().radius).c_str()
                      : fmt::format("{}, ", name_of(o.rock.kind)).c_str(),
              true_porosity(rock, voxels.shares[0]).value);
}

void run(const Comm& comm, int argc, char** argv) {
  Options options;
  CLI::App app{
      "Generates a gray-scale image like a CT scan of a rock whose geometry is known exactly. The same options "
      "give the same bytes on every machine. Ranges are inclusive; see docs/generator.md."};
  declare_rock(app, options);
  declare_scan(app, options);
  declare_files(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    throw ExitStatus{comm.rank() == 0 ? app.exit(e) : e.get_exit_code()};
  }
  read_texts(app, options);
  make(comm, options);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::run(comm, argc, argv); });
}
