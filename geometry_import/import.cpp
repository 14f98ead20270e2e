// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/import.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/core/wall_clock.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/key_words.hpp"
#include "geometry_import/pores/statistics.hpp"
#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/read/voxel_order.hpp"
#include "geometry_import/report/import_json.hpp"
#include "geometry_import/segment/segment.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "geometry_import/wall/wall.hpp"

namespace karst {
namespace {

constexpr double wide_share = 0.01;    // of the pore volume that the image is too small for, likewise
constexpr double thin_share = 0.1;     // of the throats, from which on they are warned of
constexpr double widest_voxel = 1e-3;  // [m] of scans whose pores are looked at, from which on the unit is asked for

/// Planes of one phase alone at both ends of an axis.
struct Frame {
  std::ptrdiff_t low = 0, high = 0;
};

/// Nothing where an end has none, or all planes are such.
/// @param profile   porosity of each plane
/// @param porosity  of planes of the phase: 0 or 1
std::optional<Frame> frame_along(const std::vector<double>& profile, double porosity) {
  const auto differs = [&](double p) { return p != porosity; };
  const auto first = std::ranges::find_if(profile, differs);
  if (first == profile.end()) return {};
  const Frame frame{first - profile.begin(),
                    std::find_if(profile.rbegin(), profile.rend(), differs) - profile.rbegin()};
  if (frame.low == 0 || frame.high == 0) return {};
  return frame;
}

class Import {
 public:
  Import(const Comm& comm, const ImportOptions& options) : comm_(comm), options_(options) {}
  ImportReport run(const std::string& output);

 private:
  void open();
  Vec3 spacing_of(const ImageInfo& info) const;
  void prepare_image(const std::string& output);
  void clean_labels(Slabs<std::uint8_t>& labels);
  void write_distance(const ImageLayers& image, const Slabs<std::uint16_t>& distance, GeometryWriter& writer);
  void warn_of_layout(const ImageInfo& info);
  void warn_of_file(const ImageInfo& info);
  void warn_of_surroundings();
  void warn_of_result();
  void warn_of_frame();
  void tell_range(double sample_voxels);

  Comm comm_;
  const ImportOptions& options_;
  std::unique_ptr<ImageFile> image_;
  Sample sample_;
  SourceLattice lattice_;
  ImportReport report_;
};

void Import::open() {
  fail_together(comm_, [&] {
    Messages mistakes;
    check_segmentation(options_, mistakes);
    check_prepare(options_.prepare, is_segmented(options_), mistakes);
    mistakes.attempt([&] { image_ = open_image(options_); });
    if (image_) {
      const ImageInfo& info = image_->info();
      mistakes.need(info.labels_only.empty() || is_segmented(options_),
                    "{}: {}: give the value of the pore space with `pore = VALUE`, or `label_values` with `names`",
                    info.path, info.labels_only);
      mistakes.attempt([&] { report_.file_spacing = spacing_of(info); });
    }
    mistakes.finish();
  });
}

Vec3 Import::spacing_of(const ImageInfo& info) const {
  if (options_.spacing != Vec3{}) {
    const Vec3& s = options_.spacing;
    require(options_.voxel == 0, "`voxel` and `spacing` given; only one of them is allowed");
    require(s[0] > 0 && s[1] > 0 && s[2] > 0, "`spacing = [{}, {}, {}]` (m) given; widths must be positive", s[0], s[1],
            s[2]);
    return s;
  }
  require(options_.voxel >= 0 && std::isfinite(options_.voxel), "`voxel = {}` (m) given; a width must be positive",
          options_.voxel);
  const bool same = options_.voxel > 0 && info.cubic();
  if (!info.width_doubt.empty() && !same) {
    const Vec3 w = info.spacing.value_or(info.proportions * (options_.voxel > 0 ? options_.voxel : 1));
    throw Error(
        fmt::format("{}: {}. If this is correct, confirm it with `spacing = [{:.6g}, {:.6g}, {:.6g}]` (metres); "
                    "otherwise give the correct widths in the same way",
                    info.path, info.width_doubt, w[0], w[1], w[2]));
  }
  if (options_.voxel > 0) return info.proportions * options_.voxel;
  require(info.voxel || info.spacing,
          "{}: does not contain the voxel width{}; give it with `voxel = WIDTH`, such as 5.3um", info.path,
          info.voxel_note.empty() ? "" : " (" + info.voxel_note + ")");
  return info.voxel ? Vec3::all(*info.voxel) : *info.spacing;
}

void Import::prepare_image(const std::string& output) {
  report_.file_voxels = image_->info().size;
  std::optional<double> pore;
  fail_together(comm_, [&] { pore = pore_of_labels(options_); });
  PreparedImage prepared = prepare(comm_, std::move(image_), report_.file_spacing, options_.prepare, pore, output);
  report_.warnings.insert(report_.warnings.end(), prepared.warnings.begin(), prepared.warnings.end());
  image_ = std::move(prepared.image);
  lattice_ = std::move(prepared.lattice);
  report_.prepared = std::move(prepared.steps);
  report_.voxel = prepared.voxel;
  report_.voxels = image_->info().size;
  fail_together(comm_, [&] {
    const SampleCylinder cylinder = sample_cylinder(options_.prepare, report_.voxels);
    if (options_.prepare.cylinder) report_.sample = cylinder;
  });
  sample_ = Sample(report_.voxels, report_.sample);
  report_.sample_share = static_cast<double>(sample_.plane().voxels) / report_.voxels[0] / report_.voxels[1];
}

void Import::clean_labels(Slabs<std::uint8_t>& labels) {
  const int few = is_segmented(options_) ? 0 : few_voxels;
  report_.cleaned =
      clean(comm_, labels,
            {options_.specks.value_or(few), options_.holes.value_or(few), options_.keep,
             options_.keep == KeepClusters::connected ? options_.keep_axes : std::array{true, true, true}});
}

void Import::write_distance(const ImageLayers& image, const Slabs<std::uint16_t>& distance, GeometryWriter& writer) {
  image.for_rounds([&](int first, const ImageWindow& layer) {
    const Array<std::uint16_t> of_layer = distance.fetch(layer);
    std::vector<std::byte> packed;
    fail_together(comm_, [&] {
      if (layer.planes() > 0) packed = GeometryWriter::pack_distance(layer, of_layer.span());
    });
    writer.write_distance(first, std::move(packed));
  });
}

/// The surroundings of a cylindrical sample would count as pore, or as solid. Excluded here, they are solid of a run,
/// whose porosity and permeability are those of all of its domain.
void Import::warn_of_surroundings() {
  if (report_.sample) {
    const SampleCylinder& c = *report_.sample;
    const Index& n = report_.voxels;
    const bool inside = c.radius <= std::min({c.x, c.y, n[0] - c.x, n[1] - c.y});
    const double share = inside ? std::numbers::pi * c.radius * c.radius / n[0] / n[1] : report_.sample_share;
    if (share < 1.0)
      report_.warnings.push_back(fmt::format(
          "the sample is a cylinder in {:.1f} % of the cross-section of the image, and a run takes the rest as solid: "
          "porosity, permeability, effective diffusivity and Darcy velocity of a run refer to all of the "
          "cross-section; along z those of the cylinder are larger, by 1 / {:.4f}",
          100.0 * share, share));
    return;
  }
  bool cylindrical = false;
  fail_together(comm_, [&] {
    if (comm_.rank() != 0) return;
    const Index& n = report_.voxels;
    if (is_segmented(options_)) {
      cylindrical = labels_look_cylindrical(n, [&](int z, std::span<float> values) { image_->read_plane(z, values); });
      return;
    }
    Array<float> plane(std::int64_t{n[0]} * n[1], Purpose::buffers);
    image_->read_plane(n[2] / 2, plane.span());
    cylindrical = looks_cylindrical(n, plane.span());
  });
  if (comm_.any(cylindrical))
    report_.warnings.push_back(
        "the corners of the planes contain a single value, as around a cylindrical sample: `sample = cylinder` "
        "excludes the surroundings");
}

/// What the user says of a raw file makes its neighbours less alike than they could be.
void Import::warn_of_layout(const ImageInfo& info) {
  if (!info.format.starts_with("raw")) return;
  std::string doubt;
  fail_together(comm_, [&] {
    if (comm_.rank() == 0) doubt = doubt_about_layout(*image_, options_.big_endian);
  });
  comm_.broadcast(doubt);
  if (!doubt.empty()) report_.warnings.push_back(doubt);
}

/// What the file says about itself and what is made of it differ.
void Import::warn_of_file(const ImageInfo& info) {
  report_.warnings.insert(report_.warnings.end(), info.notes.begin(), info.notes.end());
  if (info.black)
    report_.warnings.push_back(fmt::format(
        "according to the file 0 is white: {}",
        is_segmented(options_)
            ? fmt::format("values are given and reported as stored; a viewer may show {:g} minus these values",
                          *info.black)
            : "dark pores have the large values (values are given and reported as stored)"));
  const Vec3& used = report_.file_spacing;
  bool differs = false;
  for (int d = 0; d < 3 && info.spacing; ++d) differs = differs || std::abs((*info.spacing)[d] / used[d] - 1) > 1e-3;
  if (differs) {
    const Vec3& stated = *info.spacing;
    const auto text = [](const Vec3& v) {
      return v == Vec3::all(v[0]) ? fmt::format("{:.6g}", v[0])
                                  : fmt::format("{:.6g}, {:.6g}, {:.6g}", v[0], v[1], v[2]);
    };
    report_.warnings.push_back(
        fmt::format("the voxel width in the file is {} m; the given {} m is used instead", text(stated), text(used)));
  }
  if (report_.voxel > widest_voxel)
    report_.warnings.push_back(
        fmt::format("voxels are {} wide, more than a millimetre: is that the right unit? A width of 5.3 µm is 5.3um, "
                    "or 5.3e-6 in metres; the permeability is proportional to the square of the width",
                    format_si(report_.voxel, "m")));
  const double bytes = double(info.size[0]) * info.size[1] * info.size[2] * bytes_of(info.type);
  if (info.held_whole && bytes > 1e8)
    report_.warnings.push_back(fmt::format(
        "every rank stores the whole image ({:.3g} MB): {} is read as a whole if its voxels are compressed or text, "
        "and plane by plane if they are uncompressed; TIFF, NumPy and HDF5 are always read plane by plane",
        1e-6 * bytes, info.format));
}

/// An image that was padded: free fluid around a sample carries most of the flow, solid around it none.
void Import::warn_of_frame() {
  if (report_.sample) return;
  for (int d = 0; d < 3; ++d) {
    const std::vector<double>& profile = report_.statistics.profile[d];
    if (const auto pore = frame_along(profile, 1.0))
      report_.warnings.push_back(fmt::format(
          "the first {} and last {} planes across {} are pore alone: was the image padded? Fluid flows past a "
          "sample there, and porosity and permeability are those of both; `crop_low` and `crop_high` remove "
          "them",
          pore->low, pore->high, axis_names[d]));
    const auto solid = frame_along(profile, 0.0);
    if (!solid) continue;
    const std::ptrdiff_t inside = std::ssize(profile) - solid->low - solid->high;
    report_.warnings.push_back(fmt::format(
        "the first {} and last {} planes across {} are solid alone: a frame around the sample? Nothing flows along {}, "
        "and along the other axes porosity, permeability and Darcy velocity are those of the whole cross-section, {} "
        "of {} planes of which lie between; `crop_low` and `crop_high` remove the frame (plates of a flow cell, or "
        "walls of a duct, are right as they are)",
        solid->low, solid->high, axis_names[d], axis_names[d], inside, profile.size()));
  }
}

void Import::warn_of_result() {
  warn_of_frame();
  const ImageStatistics& s = report_.statistics;
  if (!s.percolates[0] && !s.percolates[1] && !s.percolates[2])
    report_.warnings.push_back("no pore percolates through the image along any axis: there will be no flow through it");
  if (s.throats > 0 && s.thin_throats > thin_share)
    report_.warnings.push_back(
        fmt::format("{:.0f} % of the throats are narrower than 3 voxels: flow through them is poorly resolved; use a "
                    "scan with smaller voxels",
                    100 * s.thin_throats));
  if (const SizeDistribution& pores = s.pore_size; pores.share_bound > wide_share)
    report_.warnings.push_back(
        fmt::format("{:.0f} % of the pore volume belongs to pores as wide as the shortest side of the image ({:g} "
                    "voxels) or wider: their width cannot be determined from this image; diameters of pores and "
                    "throats are limited to this length",
                    100 * pores.share_bound, pores.bound));
  if (std::abs(report_.level_set_porosity - report_.porosity) <= 0.01 * report_.porosity) return;
  report_.warnings.push_back(fmt::format(
      "the porosity is {:.4f} with the smooth wall, but {:.4f} from counting voxels: {}; the simulation uses the "
      "former",
      report_.level_set_porosity, report_.porosity,
      std::isnan(report_.threshold)
          ? "many pores or grains are only a few voxels wide, and no shift of the wall makes both equal"
          : "many pores or grains are only a few voxels wide, or noise makes the wall rough (`smoothing`, `denoise`)"));
}

/// The range of porosity is that of the wall used.
void Import::tell_range(double sample_voxels) {
  const double porosity = report_.level_set_porosity;
  if (!report_.scan) {
    report_.porosity_low += porosity - report_.uncleaned_share;
    report_.porosity_high += porosity - report_.uncleaned_share;
    return;
  }
  const double moved = report_.wall_area * report_.moved_wall / sample_voxels;
  report_.porosity_low = porosity - moved;
  report_.porosity_high = porosity + moved;
}

ImportReport Import::run(const std::string& output) {
  const WallClock clock;
  open();
  const ImageInfo info = image_->info();
  report_.file = image_name(info.path);
  report_.format = info.format;
  report_.type = info.type;
  report_.voxel_from_file = options_.voxel == 0 && options_.spacing == Vec3{};
  report_.z_assumed = report_.voxel_from_file && info.z_assumed && info.size[2] > 1;
  warn_of_layout(info);
  prepare_image(output);
  warn_of_file(info);
  warn_of_surroundings();

  const ImageLayers image(comm_, *image_, sample_, lattice_);
  std::optional<ReportPictures> pictures;
  if (options_.pictures) pictures.emplace(image.voxels());
  ReportPictures* const wanted = pictures ? &*pictures : nullptr;
  Segmentation parts = timed("segmentation", [&] { return segment(image, options_, report_, wanted); });
  trim_heap();
  if (const std::string note = rounding_note(info.type, report_.smallest, report_.largest); !note.empty())
    report_.warnings.push_back(note);
  if (wanted) wanted->add_segmented(parts.labels.own(), std::as_const(parts.labels).values());
  timed("cleaning", [&] { clean_labels(parts.labels); });
  if (wanted) wanted->add_labels(parts.labels.own(), std::as_const(parts.labels).values());
  const std::vector<double> volumes = label_volumes(comm_, parts.labels, lattice_);
  report_.phases = phase_shares(parts.names, volumes);

  GeometryWriter writer(comm_, output, image.voxels());
  Wall wall(image, parts, report_.smoothing);
  if (!parts.gray) report_.shift = timed("volume of the wall", [&] { return wall.keep_volume(volumes[pore_label]); });
  const Wall::Written written = timed("level set", [&] { return wall.write(writer, wanted); });
  parts.fitted.reset();
  trim_heap();
  report_.porosity = volumes[pore_label] / image.sample_voxels();
  report_.level_set_porosity = static_cast<double>(written.sums.pore_volume) / image.sample_volume();
  report_.wall_area = written.area;
  tell_range(image.sample_voxels());

  Slabs<std::uint16_t> distance = wall.take_offsets();
  timed("distances", [&] {
    wall_distance(comm_, parts.labels, distance);
    write_distance(image, distance, writer);
  });
  report_.statistics = timed("statistics", [&] {
    return image_statistics(comm_, std::move(parts.labels), std::move(distance), written.area, parts.names);
  });
  if (wanted) report_.pictures = timed("pictures", [&] { return wanted->gather(comm_); });
  if (wanted && info.black) show_white_as_zero(report_.pictures);

  warn_of_result();
  for (std::string& w : report_.warnings) w = with_keys_said(w, options_.by_options);
  writer.finish({image.voxels(), report_.voxel, report_.porosity, report_.level_set_porosity, written.steepest,
                 report_.threshold, provenance(report_, options_), report_.phases, report_.smoothing});
  report_.memory_peak_bytes = comm_.sum(arena::peak_resident_set());
  report_.seconds = clock.seconds();
  return report_;
}

std::int64_t voxels_of(const Index& n) { return std::int64_t{n[0]} * n[1] * n[2]; }

/// Of a raw file, behind its header; nothing where that is not known.
std::optional<std::int64_t> raw_bytes(const ImportOptions& options) {
  std::error_code problem;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(options.file, problem));
  return problem ? std::optional<std::int64_t>() : bytes - options.skip_bytes;
}

/// One per voxel: such a raw file is of type uint8 unless another is given.
bool has_bytes(const ImportOptions& options) {
  return options.size != Index{} && raw_bytes(options) == voxels_of(options.size);
}

/// What the bytes of a raw file say of its size.
std::string bytes_told(const ImportOptions& options) {
  const std::optional<std::int64_t> bytes = raw_bytes(options);
  const std::int64_t voxels = voxels_of(options.size);
  if (!bytes || voxels <= 0 || options.file.ends_with(".gz")) return "";
  return fmt::format(
      " ({} bytes for {}x{}x{} = {} voxels{})", *bytes, options.size[0], options.size[1], options.size[2], voxels,
      *bytes % voxels == 0 ? "" : ", no whole number of bytes for each: are `size` and `skip_bytes` right?");
}

}  // namespace

std::unique_ptr<ImageFile> open_image(const ImportOptions& options) {
  std::optional<RawLayout> layout;
  const bool size_given = options.size != Index{};
  if (options.type || size_given || options.skip_bytes != 0 || options.big_endian) {
    require(size_given || describes_itself(options.file),
            "{}: a raw file needs its `size` (voxels in x, y, z: 128x128x64)", options.file);
    require(options.type.has_value() || describes_itself(options.file) || has_bytes(options),
            "{}: a raw file needs its type (uint8, ...), as it does not have one byte per voxel{}", options.file,
            bytes_told(options));
    layout = RawLayout{options.size, options.type.value_or(VoxelType::uint8), options.big_endian, options.skip_bytes};
  }
  return open_image(options.file, layout);
}

ImportReport import_image(const Comm& comm, const ImportOptions& options, const std::string& output) {
  try {
    return Import(comm, options).run(output);
  } catch (const Error& e) {
    throw Error(with_keys_said(e.what(), options.by_options));
  }
}

}  // namespace karst
