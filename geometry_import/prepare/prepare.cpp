// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/prepare/prepare_denoise.hpp"
#include "geometry_import/prepare/prepare_narrow.hpp"
#include "geometry_import/prepare/prepare_resample.hpp"
#include "geometry_import/prepare/prepare_scratch.hpp"
#include "geometry_import/prepare/prepare_trend.hpp"
#include "geometry_import/prepare/prepare_view.hpp"
#include "geometry_import/voxels/level_set.hpp"

namespace karst {
namespace {

std::string text_of(const Index& n) { return fmt::format("{} x {} x {}", n[0], n[1], n[2]); }

class Preparation {
 public:
  Preparation(const Comm& comm, std::unique_ptr<ImageFile> image, const Vec3& spacing, const PrepareOptions& options)
      : comm_(comm), o_(options), spacing_(spacing) {
    result_.image = std::move(image);
  }
  PreparedImage run(const std::optional<double>& pore, const std::string& scratch) {
    const bool labels = pore.has_value();
    scratch_ = scratch;
    fail_together(comm_, [&] {
      Messages mistakes;
      check_prepare(o_, labels, mistakes);
      mistakes.finish();
    });
    orient();
    resample_to_cubes(pore);
    if (o_.beam_hardening) remove_trend();
    if (o_.denoise != Denoise::none) remove_noise();
    return std::move(result_);
  }

 private:
  ImageFile& image() { return *result_.image; }
  void tell(std::string step) { result_.steps.push_back(std::move(step)); }
  void orient();
  void resample_to_cubes(const std::optional<double>& pore);
  void warn_of_narrow_parts(double pore);
  void remove_trend();
  void remove_noise();
  /// Replaces the image by what fill makes of it.
  void replace(const ImageInfo& info, const FillPlanes& fill) {
    result_.image = kept_in_scratch(comm_, info, scratch_, fill);
  }
  ImageInfo as_float() {
    ImageInfo info = image().info();
    info.type = VoxelType::float32;
    return info;
  }

  Comm comm_;
  const PrepareOptions& o_;
  Vec3 spacing_;
  std::string scratch_;
  PreparedImage result_;
};

void Preparation::orient() {
  Orientation view{o_.crop_low, o_.crop_high, o_.flip, o_.axes};
  const Index n = image().info().size;
  for (int d = 0; d < 3; ++d) view.high[d] = view.high[d] == 0 ? n[d] : view.high[d];
  const bool cropped = view.low != Index{} || view.high != n, turned = view.axes != Index{0, 1, 2};
  const bool flipped = o_.flip[0] || o_.flip[1] || o_.flip[2];
  if (!cropped && !turned && !flipped) return;
  fail_together(comm_, [&] { result_.image = oriented(std::move(result_.image), view); });
  const Vec3 old = spacing_;
  for (int d = 0; d < 3; ++d) spacing_[d] = old[view.axes[d]];
  if (view.axes[2] != 2)  // read the image as often as that takes once, not once per pass
    replace(image().info(), [&, view_of_file = result_.image.get()](int first, int last, std::span<float> values) {
      const std::size_t plane = values.size() / (last - first);
      for (int z = first; z < last; ++z) view_of_file->read_plane(z, values.subspan((z - first) * plane, plane));
    });
  const auto& [low, high] = std::tie(view.low, view.high);
  if (cropped)
    tell(fmt::format("cropped to voxels {}, {}, {} to {}, {}, {}: {}", low[0], low[1], low[2], high[0] - 1, high[1] - 1,
                     high[2] - 1, text_of(high - low)));
  for (int d = 0; d < 3; ++d)
    if (o_.flip[d]) tell(fmt::format("{} of the file flipped", axis_names[d]));
  if (turned)
    tell(fmt::format("x, y, z are {}, {}, {} of the file", axis_names[view.axes[0]], axis_names[view.axes[1]],
                     axis_names[view.axes[2]]));
}

void Preparation::warn_of_narrow_parts(double pore) {
  constexpr double much = 0.25;
  std::array<double, 3> ratio{};
  for (int d = 0; d < 3; ++d) ratio[d] = result_.voxel / spacing_[d];
  const NarrowParts narrow = narrow_parts(comm_, image(), pore, ratio);
  if (narrow.pore > much)
    result_.warnings.push_back(fmt::format(
        "{:.0f} % of the pore space is narrower than {:g} of the voxels of {:g} m that `resample` asks for: "
        "they close or widen such pores by up to half a voxel, and permeability and formation factor may "
        "be off by tens of percent, which no estimated error shows; use smaller voxels",
        100 * narrow.pore, few_for_pore, result_.voxel));
  if (narrow.solid > much)
    result_.warnings.push_back(
        fmt::format("{:.0f} % of the solid is narrower than {:g} of the voxels of {:g} m that `resample` asks for: "
                    "walls between pores may vanish, and their flows join, which no estimated error shows; use "
                    "smaller voxels",
                    100 * narrow.solid, few_for_solid, result_.voxel));
}

void Preparation::resample_to_cubes(const std::optional<double>& pore) {
  const bool labels = pore.has_value();
  const double low = std::min({spacing_[0], spacing_[1], spacing_[2]});
  const double high = std::max({spacing_[0], spacing_[1], spacing_[2]});
  const Index n = image().info().size;
  if (o_.resample == 0 && high <= 1.001 * low) {
    result_.voxel = spacing_[0];
    return;
  }
  result_.voxel = o_.resample > 0 ? o_.resample : labels ? cube_width(n, spacing_) : low;
  Resampling resampling;
  fail_together(comm_, [&] {
    for (int d = 0; d < 3; ++d) {
      const double ratio = result_.voxel / spacing_[d], made = n[d] / ratio;
      require(made >= 1 - 1e-3 && made <= 65536,
              "`resample = {}` (m): an image {} m wide in {} would have {:.3g} voxels; allowed are 1 to 65536",
              result_.voxel, n[d] * spacing_[d], axis_names[d], made);
      resampling[d] = resampling_shares(n[d], ratio, labels);
    }
  });
  if (pore) warn_of_narrow_parts(*pore);
  ImageInfo info = image().info();
  info.size = resampled_size(resampling);
  if (labels) {
    result_.lattice =
        lattice_of(resampling, n, result_.voxel * Vec3{1 / spacing_[0], 1 / spacing_[1], 1 / spacing_[2]});
  } else {
    info.type = VoxelType::float32;
  }
  replace(info, [&, source = result_.image.get()](int first, int last, std::span<float> values) {
    resample(*source, resampling, labels, first, last, values);
  });
  tell(fmt::format("resampled ({}) from {} voxels of {:g} x {:g} x {:g} m to {} of {:g} m",
                   !labels                         ? "linear"
                   : result_.voxel <= 1.0001 * low ? "labels, boundaries preserved"
                                                   : "most frequent label where voxels become larger",
                   text_of(n), spacing_[0], spacing_[1], spacing_[2], text_of(info.size), result_.voxel));
}

void Preparation::remove_trend() {
  std::optional<SampleCylinder> cylinder;
  fail_together(comm_, [&] { cylinder = sample_cylinder(o_, image().info().size); });
  const RadialTrend trend = radial_trend(comm_, image(), *cylinder);
  const Index n = image().info().size;
  std::vector<double> plane;
  for (int y = 0; y < n[1]; ++y)
    for (int x = 0; x < n[0]; ++x) plane.push_back(trend.at(x + 0.5, y + 0.5));
  replace(as_float(), [&, source = result_.image.get()](int first, int last, std::span<float> values) {
    for (int z = first; z < last; ++z) {
      const auto part = values.subspan((z - first) * plane.size(), plane.size());
      source->read_plane(z, part);
      std::transform(part.begin(), part.end(), plane.begin(), part.begin(),
                     [](float g, double t) { return static_cast<float>(double{g} - t); });
    }
  });
  tell(fmt::format("beam hardening: trend {:+.4g} r^2 {:+.4g} r^4 (gray values; r = 1 at {:g} voxels) removed",
                   trend.square, trend.fourth, cylinder->radius));
}

void Preparation::remove_noise() {
  const double width = o_.width.value_or(1);
  Bilateral filter{width, o_.step.value_or(0)};
  if (o_.denoise == Denoise::bilateral && !o_.step) {
    filter.step = 4.5 * noise_of(comm_, image());
    require(filter.step > 0,
            "{}: no noise found (most neighbouring voxels are equal); remove `denoise = bilateral`, or give "
            "`denoise_step`",
            image().info().path);
  }
  const int reach = o_.denoise == Denoise::median     ? static_cast<int>(width)
                    : o_.denoise == Denoise::gaussian ? smoothing_reach(width)
                                                      : bilateral_reach(width);
  const Index n = image().info().size;
  const ImageInfo info = o_.denoise == Denoise::median ? image().info() : as_float();
  replace(info, [&, source = result_.image.get()](int first, int last, std::span<float> values) {
    const ImageWindow all = ImageWindow{n, first, last}.grown(reach);
    Array<float> in(all.count(), Purpose::buffers);
    const std::size_t plane = all.plane();
    for (int z = all.first; z < all.last; ++z) source->read_plane(z, in.span().subspan(all.start_of(z), plane));
    if (o_.denoise == Denoise::median) return median(all, std::as_const(in).span(), reach, first, last, values);
    if (o_.denoise == Denoise::bilateral) return bilateral(all, std::as_const(in).span(), filter, first, last, values);
    gaussian(all, width, in.span());
    std::copy_n(in.data() + all.start_of(first), values.size(), values.data());
  });
  if (o_.denoise == Denoise::median) {
    tell(fmt::format("median of {0} x {0} x {0} voxels", 2 * reach + 1));
  } else if (o_.denoise == Denoise::gaussian) {
    tell(fmt::format("Gaussian of {:g} voxels", width));
  } else {
    tell(fmt::format("bilateral filter of {:g} voxels, preserves steps of {:.4g} and more", width, filter.step));
  }
}

}  // namespace

std::vector<float> SampleCylinder::distance(const Index& image) const {
  std::vector<float> d;
  d.reserve(std::int64_t{image[0]} * image[1]);
  for (int j = 0; j < image[1]; ++j)
    for (int i = 0; i < image[0]; ++i) d.push_back(static_cast<float>(radius - std::hypot(i + 0.5 - x, j + 0.5 - y)));
  return d;
}

void check_prepare(const PrepareOptions& o, bool labels, Messages& m) {
  const double width = o.width.value_or(1);
  m.need(!labels || (o.denoise == Denoise::none && !o.beam_hardening),
         "`denoise` and `beam_hardening` are for gray images; with `pore = VALUE` the image is already segmented");
  m.need(o.denoise != Denoise::none || !(o.width || o.step),
         "`denoise_width` or `denoise_step` given without a filter; choose `denoise = median`, `denoise = gaussian` or "
         "`denoise = bilateral`");
  m.need(o.denoise == Denoise::bilateral || !o.step,
         "`denoise_step = {}` given; it applies only to `denoise = bilateral`", o.step.value_or(0));
  m.need(o.denoise != Denoise::median || width == 1 || width == 2,
         "`denoise_width = {}` given; the radius of the median is 1 or 2 voxels", width);
  m.need(width >= 0.3 && width <= 4, "`denoise_width = {}` (voxels) given; allowed are 0.3 to 4", width);
  m.need(!o.step || *o.step > 0, "`denoise_step = {}` given; it must be positive", o.step.value_or(0));
}

SampleCylinder sample_cylinder(const PrepareOptions& o, const Index& image) {
  require(o.cylinder || o.beam_hardening || (o.sample_center.empty() && !o.sample_radius),
          "`sample_center` or `sample_radius` given without a cylinder; choose `sample = cylinder`");
  require(o.sample_center.empty() || o.sample_center.size() == 2,
          "`sample_center`: {} numbers given; two are needed, x and y", o.sample_center.size());
  SampleCylinder c{0.5 * image[0], 0.5 * image[1], 0};
  if (!o.sample_center.empty()) c = {o.sample_center[0], o.sample_center[1], 0};
  require(c.x > 0 && c.x < image[0] && c.y > 0 && c.y < image[1],
          "`sample_center = [{}, {}]` given; it must lie inside the prepared image of {} x {} voxels", c.x, c.y,
          image[0], image[1]);
  c.radius = o.sample_radius.value_or(std::min({c.x, c.y, image[0] - c.x, image[1] - c.y}));
  if (!o.cylinder && !o.beam_hardening) return c;  // of an image that may be one voxel thick
  require(c.radius >= 1, "`sample_radius`: {} voxels; at least 1 is needed", c.radius);
  require(c.radius <= std::hypot(image[0], image[1]),
          "`sample_radius = {}` given, more than the diagonal of the prepared image of {} x {} voxels", c.radius,
          image[0], image[1]);
  return c;
}

PreparedImage prepare(const Comm& comm, std::unique_ptr<ImageFile> image, const Vec3& spacing,
                      const PrepareOptions& options, const std::optional<double>& pore, const std::string& scratch) {
  return Preparation(comm, std::move(image), spacing, options).run(pore, scratch);
}

}  // namespace karst
