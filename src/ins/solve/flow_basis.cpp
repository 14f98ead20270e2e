// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/flow_basis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace karst {
namespace {

constexpr std::size_t n_lanes = 16;  // four VoFs
constexpr float most_stored = 32767.0F;

using Lanes16 = std::array<float, n_lanes>;

/// The scales of the components, four times.
Lanes16 repeated(const float* scale, float factor) {
  Lanes16 all;
  for (std::size_t l = 0; l < n_lanes; ++l) all[l] = factor * scale[l % 4];
  return all;
}

template <class T>
Lanes16 products(const T* v, const FlowBasis::Work& w) {
  Lanes16 sum{}, other{};
  for (std::size_t i = 0; i < w.size(); i += 2 * n_lanes) {
    for (std::size_t l = 0; l < n_lanes; ++l) sum[l] += static_cast<float>(v[i + l]) * w[i + l];
    for (std::size_t l = 0; l < n_lanes; ++l) other[l] += static_cast<float>(v[i + n_lanes + l]) * w[i + n_lanes + l];
  }
  for (std::size_t l = 0; l < n_lanes; ++l) sum[l] += other[l];
  return sum;
}

template <class T>
void add_products(const T* v, const Lanes16& factor, FlowBasis::Work& w) {
  for (std::size_t i = 0; i < w.size(); i += n_lanes)
    for (std::size_t l = 0; l < n_lanes; ++l) w[i + l] += factor[l] * static_cast<float>(v[i + l]);
}

/// Nearest whole number of |x| < 2^21, in a way that compilers turn into vectors.
std::int32_t nearest(float x) {
  constexpr float shift = 12582912.0F;  // 3 · 2^22: ulp 1
  return std::bit_cast<std::int32_t>(x + shift) - std::bit_cast<std::int32_t>(shift);
}

}  // namespace

FlowBasis::FlowBasis(std::int64_t n_vofs, int n_vectors)
    : n_(n_vofs),
      n_single_(n_vectors <= short_basis ? 0 : n_single),
      single_(n_single_),
      half_(n_vectors - n_single_),
      scale_(half_.size() * (4 * n_blocks())) {}

void FlowBasis::make_room(int n) {
  const std::size_t numbers = 4 * block * n_blocks();
  for (; n_made_ < n; ++n_made_)
    if (n_made_ < n_single_)
      single_[n_made_] = Array<float>(numbers, Purpose::solver);
    else
      half_[n_made_ - n_single_] = Array<std::int16_t>(numbers, Purpose::solver);
}

void FlowBasis::give_room_back() {
  for (Array<float>& vector : single_) vector = {};
  for (Array<std::int16_t>& vector : half_) vector = {};
  n_made_ = 0;
}

double FlowBasis::dot(int i, std::int64_t b, const Work& w) const {
  double all = 0.0;
  if (i < n_single_) {
    for (const float s : products(single(i, b), w)) all += double{s};
    return all;
  }
  const Lanes16 sum = products(half(i, b), w);
  for (std::size_t l = 0; l < n_lanes; ++l) all += double{sum[l]} * double{scale_[scale(i, b) + l % 4]};
  return all;
}

void FlowBasis::add(int i, std::int64_t b, double factor, Work& w) const {
  const auto f = static_cast<float>(factor);
  if (i < n_single_) {
    Lanes16 all;
    all.fill(f);
    add_products(single(i, b), all, w);
  } else {
    add_products(half(i, b), repeated(&scale_[scale(i, b)], f), w);
  }
}

void FlowBasis::keep(int i, std::int64_t b, Work& w) {
  if (i < n_single_) {
    std::ranges::copy(w, single_[i].data() + 4 * b * block);
    return;
  }
  Lanes16 largest{};
  for (std::size_t k = 0; k < w.size(); k += n_lanes)
    for (std::size_t l = 0; l < n_lanes; ++l) largest[l] = std::max(largest[l], std::abs(w[k + l]));
  float *scales = &scale_[scale(i, b)], inverse[4];
  for (std::size_t c = 0; c < 4; ++c) {
    const float top = std::max({largest[c], largest[c + 4], largest[c + 8], largest[c + 12]});
    scales[c] = top / most_stored;
    inverse[c] = scales[c] > 0.0F ? 1.0F / scales[c] : 0.0F;
  }
  const Lanes16 to_whole = repeated(inverse, 1.0F), back = repeated(scales, 1.0F);
  std::int16_t* to = half_[i - n_single_].data() + 4 * b * block;
  for (std::size_t k = 0; k < w.size(); k += n_lanes)
    for (std::size_t l = 0; l < n_lanes; ++l) {
      const std::int32_t whole = std::clamp(nearest(w[k + l] * to_whole[l]), -32767, 32767);
      to[k + l] = static_cast<std::int16_t>(whole);
      w[k + l] = back[l] * static_cast<float>(whole);
    }
}

std::int64_t FlowBasis::bytes() const {
  std::size_t sum = scale_.size() * sizeof(float);
  for (const auto& v : single_) sum += v.bytes();
  for (const auto& v : half_) sum += v.bytes();
  return static_cast<std::int64_t>(sum);
}

}  // namespace karst
