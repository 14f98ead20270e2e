// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/gray_pass.hpp"

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "geometry_import/wall/gray_layer.hpp"

namespace karst {

Slabs<std::uint8_t> GrayPass::run(Histogram& histogram) {
  Slabs<std::uint8_t> labels(image_.comm(), image_.voxels(), Purpose::geometry);
  Histogram* const to_fill = histogram.count.empty() ? &histogram : nullptr;
  if (to_fill) histogram = histogram_for(report_.smallest, report_.largest, gray_values_of(image_.info().type));
  image_.for_rounds([&](int, const ImageWindow& layer) {
    Array<std::uint8_t> of_layer(layer.count(), Purpose::buffers);
    fail_together(image_.comm(), [&] {
      if (layer.planes() > 0) work(layer, to_fill, of_layer.span());
    });
    labels.store(layer, of_layer.span());
  });
  if (to_fill) image_.comm().sum(std::span(histogram.count));
  image_.comm().sum(std::span(smoothed_.count));
  noise_.sum(image_.comm());
  image_.comm().sum(std::span(gradients_));  // one rank adds to each: exact
  return labels;
}

void GrayPass::work(const ImageWindow& layer, Histogram* histogram, std::span<std::uint8_t> labels) {
  GrayLayer g(image_, layer, report_.smoothing);
  const auto of_layer = [&] { return g.values().subspan(g.window().start_of(layer.first), layer.count()); };
  const auto count_into = [&](Histogram& h) {
    Array<float> copy(layer.count(), Purpose::buffers);
    std::copy(of_layer().begin(), of_layer().end(), copy.begin());
    h.add(image_.sample().values_inside(copy.span()));
  };
  if (histogram) count_into(*histogram);
  if (pictures_) pictures_->add_gray(layer, of_layer());
  g.smooth();
  count_into(smoothed_);
  const float wall = static_cast<float>(classes_.wall());
  const auto seed = static_cast<float>(options_.seed_threshold.value_or(0));
  const std::span<const float> gray = of_layer();
  parallel_for(static_cast<std::int64_t>(gray.size()), [&](std::int64_t at) {
    labels[at] = classes_.label_of(gray[at]);
    const bool sure = !options_.seed_threshold || (classes_.pore_above ? gray[at] > seed : gray[at] < seed);
    if (labels[at] == pore_label && !sure) labels[at] = candidate_label;
  });
  image_.sample().mark(layer, labels);
  if (classes_.limits.size() == 1 && !options_.seed_threshold)
    noise_.add(layer, gray, inner_phases(layer, labels, layer).span());
  const GradientSums sums =
      wall_gradient(g.window(), g.values(), double{wall}, layer.first, layer.last, image_.sample().inside());
  const std::size_t l = layer.first / geometry_chunk;
  gradients_[2 * l] = static_cast<double>(sums.voxels);
  gradients_[2 * l + 1] = sums.length;
}

double GrayPass::gradient() {
  double voxels = 0, length = 0;
  for (std::size_t l = 0; l < gradients_.size(); l += 2) {
    voxels += gradients_[l];
    length += gradients_[l + 1];
  }
  require(voxels > 0 && length > 0,
          "{}: no wall: with the threshold {} all voxels are {} (values are from {} to {}{}); choose a threshold in "
          "between",
          options_.file, classes_.wall(), (report_.largest > classes_.wall()) == classes_.pore_above ? "pore" : "solid",
          report_.smallest, report_.largest, report_.smoothing > 0 ? ", before smoothing" : "");
  return length / voxels;
}

}  // namespace karst
