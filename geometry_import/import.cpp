// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/import.hpp"

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "geometry_import/fail_together.hpp"
#include "geometry_import/geometry_file.hpp"
#include "geometry_import/histogram.hpp"
#include "geometry_import/level_set.hpp"
#include "geometry_import/provenance.hpp"

namespace karst {
namespace {

constexpr double volume_tolerance = 1e-3;  // relative, of the pore as the interpolant has it
constexpr double largest_shift = 0.5;      // [voxels]
constexpr int most_volume_passes = 8;

/// How voxel values become φ.
struct Method {
  bool gray = false;
  float pore = 0;   ///< segmented: value of the pore space
  float shift = 0;  ///< segmented [voxels]
  GrayScale scale;  ///< gray
  double smoothing = 0;
};

class Import {
 public:
  Import(const Comm& comm, const ImportOptions& options) : comm_(comm), options_(options) {}
  ImportReport run(const std::string& output);

 private:
  using Work = std::function<void(const ImageWindow& layer)>;
  void open();
  Vec3 spacing_of(const ImageInfo& info) const;
  void prepare_image(const std::string& output);
  void mask_sample();
  void find_range();
  void choose_method();
  void find_gradient();
  void find_shift();
  void write(const std::string& output);
  void check_phases(std::int64_t pore_voxels) const;

  int layers() const { return GeometryWriter::layers(voxels()); }
  Index voxels() const { return image_->info().size; }
  double count() const { return double(sample_plane_.voxels) * voxels()[2]; }
  double sub_samples() const { return double(sample_plane_.sub_samples) * voxels()[2]; }
  void for_own_layers(const Work& work);
  Array<float> read_window(const ImageWindow& window);
  /// Values of the sample in a layer, in `values`.
  std::span<const float> sample_values(const ImageWindow& layer, Array<float>& values);
  void keep_in_sample(const ImageWindow& window, std::span<float> phi) const;
  WallSums sums_with_shift(float shift);
  /// φ and phase in a layer and one plane around it.
  struct Fields {
    ImageWindow window;
    Array<float> phi;
    Array<std::uint8_t> phase;
  };
  Fields fields(const ImageWindow& layer);
  Fields gray_fields(const ImageWindow& layer);
  Fields segmented_fields(const ImageWindow& layer);

  Comm comm_;
  const ImportOptions& options_;
  std::unique_ptr<ImageFile> image_;
  std::vector<float> sample_distance_;  ///< of the voxels of a plane to the surface of the sample; empty: all is sample
  std::vector<std::uint8_t> in_sample_;
  WallSums sample_plane_;  ///< of the sample in one plane
  Method method_;
  ImportReport report_;
};

void Import::open() {
  fail_together(comm_, [&] {
    std::optional<RawLayout> layout;
    const bool size_given = options_.size != Index{};
    if (options_.type || size_given || options_.skip_bytes != 0 || options_.big_endian) {
      require(options_.type.has_value() || describes_itself(options_.file),
              "{}: a raw file needs its type (uint8, ...)", options_.file);
      require(size_given || describes_itself(options_.file), "{}: a raw file needs its size (nx,ny,nz)", options_.file);
      layout =
          RawLayout{options_.size, options_.type.value_or(VoxelType::uint8), options_.big_endian, options_.skip_bytes};
    }
    image_ = open_image(options_.file, layout);
    const ImageInfo& info = image_->info();
    require(!(options_.pore && options_.threshold),
            "{}: pore and threshold given; pore is for segmented images, threshold for gray ones", info.path);
    require(!(options_.pore && options_.pore_above), "{}: pore and pore_above given; pore_above is for gray images",
            info.path);
    require(!options_.pore || std::abs(*options_.pore) < 16777216.0, "{}: pore = {} given; it must be below 2^24",
            info.path, options_.pore.value_or(0));
    const double smoothing = options_.smoothing.value_or(0);
    require(smoothing >= 0 && smoothing <= 8, "smoothing = {} voxels given; allowed are 0 to 8", smoothing);
  });
}

Vec3 Import::spacing_of(const ImageInfo& info) const {
  if (options_.spacing != Vec3{}) {
    const Vec3& s = options_.spacing;
    require(options_.voxel == 0, "voxel and spacing given; one of them is enough");
    require(s[0] > 0 && s[1] > 0 && s[2] > 0, "spacing = {}, {}, {} m given; widths must be positive", s[0], s[1],
            s[2]);
    return s;
  }
  require(options_.voxel >= 0 && std::isfinite(options_.voxel), "voxel = {} m given; a width must be positive",
          options_.voxel);
  if (options_.voxel > 0) return info.proportions * options_.voxel;
  require(info.voxel || info.spacing,
          "{}: does not state the width of its voxels{}; give it with voxel = WIDTH (in m, such as 5.3e-6)", info.path,
          info.voxel_note.empty() ? "" : " (" + info.voxel_note + ")");
  return info.voxel ? Vec3::all(*info.voxel) : *info.spacing;
}

void Import::prepare_image(const std::string& output) {
  report_.file_voxels = voxels();
  fail_together(comm_, [&] { report_.file_spacing = spacing_of(image_->info()); });
  PreparedImage prepared =
      prepare(comm_, std::move(image_), report_.file_spacing, options_.prepare, options_.pore.has_value(), output);
  image_ = std::move(prepared.image);
  report_.prepared = std::move(prepared.steps);
  report_.voxel = prepared.voxel;
  report_.voxels = voxels();
  mask_sample();
}

void Import::mask_sample() {
  const std::int64_t plane = std::int64_t{voxels()[0]} * voxels()[1];
  sample_plane_ = {plane, 64 * plane};
  fail_together(comm_, [&] {
    const SampleCylinder cylinder = sample_cylinder(options_.prepare, voxels());
    if (!options_.prepare.cylinder) return;
    report_.sample = cylinder;
    sample_distance_ = cylinder.distance(voxels());
  });
  if (sample_distance_.empty()) return;
  for (float& d : sample_distance_) {
    in_sample_.push_back(d > 0);
    d = d > 0 ? std::clamp(d, phase_margin, level_set_clip) : std::clamp(d, -level_set_clip, -phase_margin);
  }
  sample_plane_ = wall_sums({{voxels()[0], voxels()[1], 1}, 0, 1}, sample_distance_, 0, 1);
  report_.sample_share = double(sample_plane_.voxels) / double(plane);
}

void Import::keep_in_sample(const ImageWindow& window, std::span<float> phi) const {
  if (sample_distance_.empty()) return;
  parallel_for(window.planes(), [&](std::int64_t z) {
    float* const plane = phi.data() + z * window.plane();
    for (std::size_t i = 0; i < sample_distance_.size(); ++i) plane[i] = std::min(plane[i], sample_distance_[i]);
  });
}

std::span<const float> Import::sample_values(const ImageWindow& layer, Array<float>& values) {
  values = read_window(layer);
  if (in_sample_.empty()) return values.span();
  std::size_t kept = 0;
  for (std::size_t n = 0; n < values.size(); ++n)
    if (in_sample_[n % in_sample_.size()]) values[kept++] = values[n];
  return values.span().first(kept);
}

void Import::for_own_layers(const Work& work) {
  fail_together(comm_, [&] {
    for (int l = comm_.rank(); l < layers(); l += comm_.size()) work(GeometryWriter::layer(voxels(), l));
  });
}

Array<float> Import::read_window(const ImageWindow& window) {
  Array<float> values(window.count(), Purpose::buffers);
  const auto plane = static_cast<std::size_t>(window.plane());
  for (int z = window.first; z < window.last; ++z)
    image_->read_plane(z, values.span().subspan(static_cast<std::size_t>(window.start_of(z)), plane));
  return values;
}

void Import::find_range() {
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  for_own_layers([&](const ImageWindow& layer) {
    Array<float> values;
    for (const float v : sample_values(layer, values)) {
      smallest = std::min(smallest, double{v});
      largest = std::max(largest, double{v});
    }
  });
  report_.smallest = comm_.min(smallest);
  report_.largest = comm_.max(largest);
  require(report_.smallest < report_.largest, "{}: all voxels have the value {}; there is nothing to segment",
          options_.file, report_.smallest);
}

void Import::choose_method() {
  const double none = std::numeric_limits<double>::quiet_NaN();
  report_.threshold = report_.pore = none;
  report_.pore_above = options_.pore_above;
  report_.smoothing = method_.smoothing =
      options_.smoothing.value_or(options_.pore ? segmented_smoothing : gray_smoothing);
  method_.gray = !options_.pore;
  if (options_.pore) {
    report_.segmentation = "pore value";
    report_.pore = *options_.pore;
    method_.pore = static_cast<float>(*options_.pore);
    return;
  }
  if (options_.threshold) {
    report_.segmentation = "threshold";
    report_.threshold = *options_.threshold;
  } else {
    report_.segmentation = "halfway threshold";
    Histogram histogram = histogram_for(report_.smallest, report_.largest, is_integer(image_->info().type));
    for_own_layers([&](const ImageWindow& layer) {
      Array<float> values;
      histogram.add(sample_values(layer, values));
    });
    comm_.sum(std::span(histogram.count));
    const auto used = std::count_if(histogram.count.begin(), histogram.count.end(), [](auto n) { return n > 0; });
    require(used > 2,
            "{}: holds the values {} and {} only, so it is segmented already; name the value of the pore space with "
            "pore = VALUE",
            options_.file, report_.smallest, report_.largest);
    report_.threshold = halfway_threshold(histogram);
  }
  method_.scale.threshold = report_.threshold;
  method_.scale.pore_above = options_.pore_above;
}

Import::Fields Import::gray_fields(const ImageWindow& layer) {
  const ImageWindow all = layer.grown(2 * smoothing_reach(method_.smoothing) + 1);
  Array<float> gray = read_window(all);
  smooth(all, method_.smoothing, SmoothedField::gray, gray.span());
  Fields f{layer.grown(1), {}, {}};
  f.phi = Array<float>(f.window.count(), Purpose::buffers);
  std::copy_n(gray.data() + all.start_of(f.window.first), f.window.count(), f.phi.data());
  return f;
}

Import::Fields Import::segmented_fields(const ImageWindow& layer) {
  const ImageWindow all = layer.grown(distance_reach + 2 * smoothing_reach(method_.smoothing) + 1);
  Array<std::uint8_t> phase(all.count(), Purpose::buffers);
  {
    const Array<float> values = read_window(all);
    std::transform(values.begin(), values.end(), phase.begin(), [&](float v) { return v == method_.pore ? 1 : 0; });
  }
  Array<float> phi(all.count(), Purpose::buffers);
  signed_distance(all, phase.span(), phi.span());
  smooth(all, method_.smoothing, SmoothedField::distance, phi.span());
  Fields f{layer.grown(1), {}, {}};
  f.phi = Array<float>(f.window.count(), Purpose::buffers);
  f.phase = Array<std::uint8_t>(f.window.count(), Purpose::buffers);
  std::copy_n(phi.data() + all.start_of(f.window.first), f.window.count(), f.phi.data());
  std::copy_n(phase.data() + all.start_of(f.window.first), f.window.count(), f.phase.data());
  return f;
}

Import::Fields Import::fields(const ImageWindow& layer) {
  if (method_.gray) {
    Fields f = gray_fields(layer);
    gray_level_set(f.phi.span(), method_.scale, f.phi.span());
    keep_in_sample(f.window, f.phi.span());
    return f;
  }
  Fields f = segmented_fields(layer);
  keep_phase(f.phase.span(), method_.shift, f.phi.span());
  keep_in_sample(f.window, f.phi.span());
  return f;
}

void Import::find_gradient() {
  std::vector<double> of_layer(2 * static_cast<std::size_t>(layers()), 0.0);
  for_own_layers([&](const ImageWindow& layer) {
    const Fields f = gray_fields(layer);
    const GradientSums sums =
        wall_gradient(f.window, f.phi.span(), method_.scale.threshold, layer.first, layer.last, in_sample_);
    const auto l = static_cast<std::size_t>(layer.first / geometry_chunk);
    of_layer[2 * l] = static_cast<double>(sums.voxels);
    of_layer[2 * l + 1] = sums.length;
  });
  comm_.sum(std::span(of_layer));  // one rank adds to each: exact, and below in the order of the layers
  double voxels_at_wall = 0, length = 0;
  for (std::size_t l = 0; l < of_layer.size(); l += 2) {
    voxels_at_wall += of_layer[l];
    length += of_layer[l + 1];
  }
  require(
      voxels_at_wall > 0 && length > 0,
      "{}: no wall: with the threshold {} all voxels are {} (values go from {} to {}{}); choose a threshold between",
      options_.file, report_.threshold, (report_.largest > report_.threshold) == options_.pore_above ? "pore" : "solid",
      report_.smallest, report_.largest, method_.smoothing > 0 ? ", before smoothing" : "");
  report_.gradient = method_.scale.gradient = length / voxels_at_wall;
}

WallSums Import::sums_with_shift(float shift) {
  method_.shift = shift;
  std::array<std::int64_t, 2> sums{};
  for_own_layers([&](const ImageWindow& layer) {
    const Fields f = fields(layer);
    const WallSums s = wall_sums(f.window, f.phi.span(), layer.first, layer.last);
    sums[0] += s.voxels;
    sums[1] += s.sub_samples;
  });
  comm_.sum(std::span(sums));
  return {sums[0], sums[1]};
}

/// Secant steps on the volume, which grows with the shift; keeps the best.
void Import::find_shift() {
  const auto excess = [&](const WallSums& s) {
    return static_cast<double>(s.sub_samples) / sub_samples() / (static_cast<double>(s.voxels) / count()) - 1;
  };
  const WallSums plain = sums_with_shift(0);
  check_phases(plain.voxels);
  double best = 0, best_excess = excess(plain);
  double previous = 0, previous_excess = best_excess, next = best_excess > 0 ? -0.05 : 0.05;
  for (int pass = 1; pass < most_volume_passes && std::abs(best_excess) > volume_tolerance; ++pass) {
    const double now = excess(sums_with_shift(static_cast<float>(next)));
    if (std::abs(now) < std::abs(best_excess)) {
      best = next;
      best_excess = now;
    }
    const double slope = (now - previous_excess) / (next - previous);
    previous = next;
    previous_excess = now;
    if (!(slope > 0)) break;
    next = std::clamp(next - now / slope, -largest_shift, largest_shift);
    if (next == previous) break;
  }
  method_.shift = static_cast<float>(best);
  report_.shift = double{method_.shift};
}

void Import::check_phases(std::int64_t pore_voxels) const {
  const bool none = pore_voxels == 0, all = static_cast<double>(pore_voxels) == count();
  if (!none && !all) return;
  throw Error(fmt::format("{}: {} voxel has the value pore = {} (values go from {} to {}); there is no wall",
                          options_.file, none ? "no" : "every", report_.pore, report_.smallest, report_.largest));
}

void Import::write(const std::string& output) {
  GeometryWriter writer(comm_, output, voxels());
  std::array<std::int64_t, 2> sums{};
  double steepest = 0;
  for (int first = 0; first < layers(); first += comm_.size()) {
    std::vector<std::byte> packed;
    fail_together(comm_, [&] {
      if (first + comm_.rank() >= layers()) return;
      const ImageWindow layer = GeometryWriter::layer(voxels(), first + comm_.rank());
      const Fields f = fields(layer);
      const WallSums s = wall_sums(f.window, f.phi.span(), layer.first, layer.last);
      sums[0] += s.voxels;
      sums[1] += s.sub_samples;
      steepest = std::max(steepest, steepest_slope(f.window, f.phi.span(), layer.first, layer.last));
      const auto phi = f.phi.span().subspan(static_cast<std::size_t>(f.window.start_of(layer.first)), layer.count());
      Array<std::uint8_t> label(layer.count(), Purpose::buffers);
      std::transform(phi.begin(), phi.end(), label.begin(), [](float v) { return v > 0 ? 0 : 1; });
      packed = GeometryWriter::pack(layer, phi, std::as_const(label).span());
    });
    writer.write(first, std::move(packed));
  }
  comm_.sum(std::span(sums));
  report_.porosity = static_cast<double>(sums[0]) / count();
  report_.level_set_porosity = static_cast<double>(sums[1]) / sub_samples();
  writer.finish({voxels(), report_.voxel, report_.porosity, report_.level_set_porosity, comm_.max(steepest),
                 report_.threshold, provenance(report_, options_)});
}

ImportReport Import::run(const std::string& output) {
  const auto start = std::chrono::steady_clock::now();
  open();
  const ImageInfo info = image_->info();
  report_.file = image_name(info.path);
  report_.format = info.format;
  report_.type = info.type;
  report_.voxel_from_file = options_.voxel == 0 && options_.spacing == Vec3{};
  prepare_image(output);
  for (int d = 0; d < 3 && info.spacing; ++d)
    if (std::abs((*info.spacing)[d] / report_.file_spacing[d] - 1) > 1e-3) {
      report_.warnings.push_back(fmt::format("the file states voxels {} m wide in {}; the {} m given are used",
                                             (*info.spacing)[d], "xyz"[d], report_.file_spacing[d]));
    }
  if (const double bytes = double(info.size[0]) * info.size[1] * info.size[2] * bytes_of(info.type);
      info.held_whole && bytes > 1e8)
    report_.warnings.push_back(
        fmt::format("every rank holds the whole image ({:.3g} MB): {} is read as one in this form; uncompressed "
                    "MetaImage and NRRD, "
                    "TIFF, NumPy and HDF5 are read by planes",
                    1e-6 * bytes, info.format));
  find_range();
  if (const std::string note = rounding_note(info.type, report_.smallest, report_.largest); !note.empty())
    report_.warnings.push_back(note);
  choose_method();
  if (method_.gray) {
    find_gradient();
  } else {
    find_shift();
  }
  write(output);
  if (std::abs(report_.level_set_porosity / report_.porosity - 1) > 0.01)
    report_.warnings.push_back(fmt::format(
        "the porosity of the smooth wall is {:.4f}, that of the voxels {:.4f}: many pores or grains are only a few "
        "voxels wide",
        report_.level_set_porosity, report_.porosity));
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report_;
}

}  // namespace

ImportReport import_image(const Comm& comm, const ImportOptions& options, const std::string& output) {
  return Import(comm, options).run(output);
}

}  // namespace karst
