// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall_fit.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/diffusion.hpp"
#include "geometry_import/voxels/histogram.hpp"
#include "geometry_import/voxels/window.hpp"
#include "geometry_import/wall/plane_noise.hpp"

namespace karst {
namespace {

constexpr std::uint8_t solid_label = 1;
constexpr int most_rounds = 8;
constexpr float relaxation = 0.4F, prior = 0.2F;
constexpr double prior_variance = 0.64;                   // [voxel²]
constexpr double enough = 1.05;                           // misfit at the wall over noise
constexpr double damping = 0.5;                           // of the changes of the model after the first
constexpr double first_blur = 0.25, most_blur = 9.0;      // variances [voxel²]
constexpr double least_change = -0.3, most_change = 0.6;  // of that variance in a round [voxel²]
constexpr double most_shift = 0.3;                        // of φ in a round [voxels]
constexpr float small_shift = 0.1F;                       // for ∂m, by a shift of φ [voxels]
constexpr float most_phi = 2.5F;                          // [voxels]
constexpr float held_phi = 0.25F;                         // |φ| at least where the phase is held [voxels]
constexpr float inside_phase = 1e-3F;                     // share of the other phase in the picture
constexpr double few_inside = 1000;                       // voxels that tell the noise of a phase

std::int16_t to_stored(float phi) {
  return static_cast<std::int16_t>(std::lround(std::clamp(phi, -most_phi, most_phi) * float{fitted_unit}));
}

/// Sums over voxels of the sample.
struct Sums {
  static constexpr std::size_t parameters = 4, n_products = 14, wall = n_products, pore = wall + 2, solid = pore + 3,
                               n = solid + 3;
  /// Products of (1, m, Δm / 2, ∂m) with themselves and with the gray value, row by row of the upper triangle; number
  /// and Σ r² of the voxels at the wall; number, Σ r and Σ r² of those inside the pore, and inside the solid.
  std::array<double, n> v{};

  void add(float m, float half_laplacian, float by_shift, float g, float r) {
    const std::array<double, parameters + 1> x{1.0, double{m}, double{half_laplacian}, double{by_shift}, double{g}};
    std::size_t k = 0;
    for (std::size_t i = 0; i < parameters; ++i)
      for (std::size_t j = i; j <= parameters; ++j) v[k++] += x[i] * x[j];
    const double square = double{r} * double{r};
    if (m >= inside_phase && m <= 1 - inside_phase) {
      v[wall] += 1;
      v[wall + 1] += square;
    } else {
      const std::size_t phase = m > 0.5F ? pore : solid;
      v[phase] += 1;
      v[phase + 1] += double{r};
      v[phase + 2] += square;
    }
  }
  void add(const Sums& s) {
    for (std::size_t i = 0; i < n; ++i) v[i] += s.v[i];
  }
  double misfit() const { return v[wall] > 0 ? std::sqrt(v[wall + 1] / v[wall]) : 0.0; }
  /// Enough voxels to tell the noise inside a phase.
  bool knows(std::size_t phase) const { return v[phase] > 0 && v[phase] >= std::min(few_inside, 0.01 * v[0]); }
  /// Σ (r - mean r)² inside a phase.
  double scatter(std::size_t phase) const {
    return std::max(v[phase + 2] - v[phase + 1] * v[phase + 1] / v[phase], 0.0);
  }
  /// Root mean square inside a phase, around the mean; inside both.
  double rms(std::size_t phase) const { return std::sqrt(scatter(phase) / v[phase]); }
  double rms() const {
    double voxels = 0, squares = 0;
    for (const std::size_t phase : {pore, solid}) {
      if (!knows(phase)) continue;
      voxels += v[phase];
      squares += scatter(phase);
    }
    return voxels > 0 ? std::sqrt(squares / voxels) : 0.0;
  }
  /// Least squares g = c0 + c1 m + c2 Δm / 2 + c3 ∂m.
  std::array<double, parameters> coefficients() const {
    std::array<std::array<double, parameters + 1>, parameters> a{};
    std::size_t next = 0;
    for (std::size_t i = 0; i < parameters; ++i)
      for (std::size_t j = i; j <= parameters; ++j) {
        a[i][j] = v[next++];
        if (j < parameters) a[j][i] = a[i][j];
      }
    for (std::size_t i = 0; i < parameters; ++i)
      for (std::size_t k = i + 1; k < parameters; ++k) {
        const double factor = a[k][i] / a[i][i];
        for (std::size_t j = i; j <= parameters; ++j) a[k][j] -= factor * a[i][j];
      }
    std::array<double, parameters> c{};
    for (std::size_t i = parameters; i-- > 0;) {
      c[i] = a[i][parameters];
      for (std::size_t j = i + 1; j < parameters; ++j) c[i] -= a[i][j] * c[j];
      c[i] /= a[i][i];
    }
    return c;
  }
};

/// Values in a window.
struct Values {
  ImageWindow window;
  Array<float> value;

  std::int64_t place(int y, int z) const { return window.start_of(z) + y * window.row(); }
  const float* row(int y, int z) const { return value.data() + place(y, z); }
};

/// f(y, z, number of the row) for the rows of a window, threaded.
template <class F>
void for_rows(const ImageWindow& window, F&& f) {
  const std::int64_t ny = window.image[1];
  parallel_for(ny * window.planes(),
               [&](std::int64_t r) { f(static_cast<int>(r % ny), window.first + static_cast<int>(r / ny), r); });
}

Values decoded(const ImageWindow& window, const Array<std::int16_t>& stored, float shift = 0.0F) {
  Values v{window, Array<float>(window.count(), Purpose::buffers)};
  for_rows(window, [&](int y, int z, std::int64_t) {
    const std::int64_t from = v.place(y, z);
    for (std::int64_t n = from; n < from + window.row(); ++n)
      v.value[n] = static_cast<float>(stored[n]) / float{fitted_unit} + shift;
  });
  return v;
}

/// Share of the part between two values, linear in between, that is positive.
float positive_share(float a, float b) {
  return std::clamp(std::max(a, b) / std::max(std::abs(a - b), 1e-6F), 0.0F, 1.0F);
}

/// Shares of the voxels of a row in which a field, known along it and along its eight neighbours, is positive: mean
/// over four lines through each voxel along x, along y and along z, exact on each, weighted with the squares of its
/// slopes.
class RowShares {
 public:
  explicit RowShares(std::int64_t nx) : nx_(nx), rows_(9 * (nx + 2)), along_(3 * nx) {}

  /// Row (b, c) of the neighbours, b and c 0 to 2 along y and z, plus a shift.
  void set(std::size_t b, std::size_t c, const float* values, float shift) {
    float* const to = row(b, c);
    for (std::int64_t x = 0; x < nx_; ++x) to[x] = values[x] + shift;
    to[-1] = to[0];
    to[nx_] = to[nx_ - 1];
  }
  void find(float* shares) {
    std::ranges::fill(along_, 0.0F);
    for (const std::size_t c : {0U, 2U}) add_along_x(c);
    for (const std::size_t other : {0U, 2U}) {
      add_across(1, {row(0, 1), row(1, 1), row(2, 1)}, {row(0, other), row(1, other), row(2, other)},
                 {row(0, 2 - other), row(1, 2 - other), row(2, 2 - other)});
      add_across(2, {row(1, 0), row(1, 1), row(1, 2)}, {row(other, 0), row(other, 1), row(other, 2)},
                 {row(2 - other, 0), row(2 - other, 1), row(2 - other, 2)});
    }
    const float *here = row(1, 1), *y0 = row(0, 1), *y1 = row(2, 1), *z0 = row(1, 0), *z1 = row(1, 2);
    const float *along_x = along(0), *along_y = along(1), *along_z = along(2);
    for (std::int64_t x = 0; x < nx_; ++x) {
      const auto square = [](float d) { return d * d + 1e-12F; };
      const float a = square(here[x + 1] - here[x - 1]), b = square(y1[x] - y0[x]), c = square(z1[x] - z0[x]);
      const double sum =
          double{a} * double{along_x[x]} + double{b} * double{along_y[x]} + double{c} * double{along_z[x]};
      shares[x] = static_cast<float>(sum / (8 * (double{a} + double{b} + double{c})));
    }
  }

 private:
  /// Its place 0 is x = 0; there is one more value at each end.
  float* row(std::size_t b, std::size_t c) { return rows_.data() + (b + 3 * c) * (nx_ + 2) + 1; }
  float* along(std::size_t d) { return along_.data() + d * nx_; }
  static float quarter_way(float here, float b, float c, float both) { return (9 * here + 3 * (b + c) + both) / 16; }
  static float on_line(float low, float here, float high) {
    return positive_share(0.5F * (low + here), here) + positive_share(here, 0.5F * (here + high));
  }
  /// Two opposite lines at a time: a mirrored field has shares of the same bits.
  void add_along_x(std::size_t c) {
    float* const to = along(0);
    const float *here = row(1, 1), *y0 = row(0, 1), *y1 = row(2, 1), *z0 = row(1, c), *z1 = row(1, 2 - c);
    const float *corner0 = row(0, c), *corner1 = row(2, 2 - c);
    const auto value0 = [&](std::int64_t x) { return quarter_way(here[x], y0[x], z0[x], corner0[x]); };
    const auto value1 = [&](std::int64_t x) { return quarter_way(here[x], y1[x], z1[x], corner1[x]); };
    for (std::int64_t x = 0; x < nx_; ++x)
      to[x] += on_line(value0(x - 1), value0(x), value0(x + 1)) + on_line(value1(x - 1), value1(x), value1(x + 1));
  }
  /// @param main  rows at the three places along direction d
  /// @param low, high  those beside them across it: of the line towards -x, and of that towards +x
  void add_across(std::size_t d, const std::array<const float*, 3>& main, const std::array<const float*, 3>& low,
                  const std::array<const float*, 3>& high) {
    float* const to = along(d);
    const auto value0 = [&](std::size_t t, std::int64_t x) {
      return quarter_way(main[t][x], main[t][x - 1], low[t][x], low[t][x - 1]);
    };
    const auto value1 = [&](std::size_t t, std::int64_t x) {
      return quarter_way(main[t][x], main[t][x + 1], high[t][x], high[t][x + 1]);
    };
    for (std::int64_t x = 0; x < nx_; ++x)
      to[x] += on_line(value0(0, x), value0(1, x), value0(2, x)) + on_line(value1(0, x), value1(1, x), value1(2, x));
  }

  std::int64_t nx_;
  std::vector<float> rows_, along_;
};

/// Share of each voxel where φ + shift > 0.
void set_pore_shares(const Values& phi, float shift, Values& shares) {
  const std::int64_t nx = phi.window.row();
  const int last_y = phi.window.image[1] - 1, last_z = phi.window.last - 1;
  for_rows(shares.window, [&](int y, int z, std::int64_t r) {
    RowShares row(nx);
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3; ++c)
        row.set(b, c, phi.row(std::clamp(y + b - 1, 0, last_y), std::clamp(z + c - 1, phi.window.first, last_z)),
                shift);
    row.find(shares.value.data() + r * nx);
  });
}

/// The phase of the start stays in every voxel whose 26 neighbours have it, too.
/// @param labels  of the start: the window of φ and one plane around it
void hold_phases(const ImageWindow& window, std::span<const std::uint8_t> labels, Values& phi) {
  const Array<std::uint8_t> held = inner_phases(window, labels, phi.window);
  parallel_for(static_cast<std::int64_t>(held.size()), [&](std::int64_t n) {
    float& value = phi.value[n];
    if (held[n] == inner_pore) value = std::max(value, held_phi);
    if (held[n] == inner_solid) value = std::min(value, -held_phi);
  });
}

class WallFit {
 public:
  WallFit(const ImageLayers& image, const FitStart& start, double smoothing)
      : image_(image),
        start_(start.scale),
        labels_(start.labels),
        smoothing_(smoothing * smoothing),
        phi_(image.comm(), image.voxels(), Purpose::geometry) {}

  std::optional<FittedWall> run() {
    const double gain = (start_.pore_above ? 1.0 : -1.0) * start_.gradient;
    begin(0.0, gain);
    if (!correct_model(1.0)) return {};
    begin(-shift_ * gain, contrast_ * slope());
    if (!correct_model(1.0)) return {};
    int rounds = 0;
    for (bool differs = true; differs && rounds < most_rounds; ++rounds) {
      if (rounds > 0 && !correct_model(damping)) return {};
      update();
      differs = sums_.misfit() > enough * sums_.rms();
    }
    const double wall_slope = slope_at_wall();
    if (!(wall_slope > 0.0)) return {};
    const ScanModel scan = inspect(rounds);
    return FittedWall{std::move(phi_), wall_slope, scan};
  }

 private:
  int picture_reach() const { return diffusion_reach(smoothing_ + blur_); }
  /// The smoothed image less the first threshold, right in `part`.
  Values smoothed(const ImageWindow& part) const;
  /// D f(φ + shift), right in `part`; φ reaches picture_reach() + 1 planes further.
  Values picture(const ImageWindow& part, const Values& phi, float shift) const;
  /// Slope of the picture at a plane wall [contrast per voxel].
  double slope() const { return 1 / std::sqrt(2 * std::numbers::pi * (smoothing_ + blur_ + 1.0 / 12)); }
  float residual(float g, float m) const {
    return (g - static_cast<float>(solid_)) / static_cast<float>(contrast_) - m;
  }
  Sums sums_of(const ImageWindow& layer, const Values& gray, const Values& pictured, const Values& phi) const;

  void begin(double level, double gain);
  void update();
  Values update(const ImageWindow& layer, const Values& phi, Sums& sums) const;
  void add_up(std::vector<double>& by_layer);
  bool correct_model(double share);
  double slope_at_wall() const;
  ScanModel inspect(int rounds);

  const ImageLayers& image_;
  GrayScale start_;
  const Slabs<std::uint8_t>& labels_;
  double smoothing_;  ///< variance [voxel²]
  Slabs<std::int16_t> phi_;
  double solid_ = 0, contrast_ = 1;  ///< gray value less the threshold; that of the pore less that of the solid
  double blur_ = first_blur;         ///< variance [voxel²]
  double shift_ = 0;                 ///< to be added to φ [voxels]
  Sums sums_;
};

Values WallFit::smoothed(const ImageWindow& part) const {
  const ImageWindow window = part.grown(diffusion_reach(smoothing_));
  Values v{window, image_.read(window)};
  const auto threshold = static_cast<float>(start_.threshold);
  for_rows(window, [&](int y, int z, std::int64_t) {
    const std::int64_t from = v.place(y, z);
    for (std::int64_t n = from; n < from + window.row(); ++n) v.value[n] -= threshold;
  });
  diffuse(window, smoothing_, v.value.span());
  return v;
}

Values WallFit::picture(const ImageWindow& part, const Values& phi, float shift) const {
  const ImageWindow window = part.grown(picture_reach());
  Values v{window, Array<float>(window.count(), Purpose::buffers)};
  set_pore_shares(phi, shift, v);
  diffuse(window, smoothing_ + blur_, v.value.span());
  return v;
}

/// @param pictured  right one plane around the layer
Sums WallFit::sums_of(const ImageWindow& layer, const Values& gray, const Values& pictured, const Values& phi) const {
  const Values shifted = picture(layer, phi, small_shift);
  const int nx = layer.image[0], ny = layer.image[1], nz = layer.image[2];
  const std::span<const std::uint8_t> inside = image_.sample().inside();
  std::vector<Sums> of_row(std::int64_t{ny} * layer.planes());
  for_rows(layer, [&](int y, int z, std::int64_t r) {
    const float *m = pictured.row(y, z), *g = gray.row(y, z), *s = shifted.row(y, z);
    const std::array<const float*, 4> beside{
        pictured.row(std::max(y - 1, 0), z), pictured.row(std::min(y + 1, ny - 1), z),
        pictured.row(y, std::max(z - 1, 0)), pictured.row(y, std::min(z + 1, nz - 1))};
    for (int x = 0; x < nx; ++x) {
      if (!inside.empty() && inside[std::int64_t{y} * nx + x] == 0) continue;
      double around = double{m[std::max(x - 1, 0)]} + double{m[std::min(x + 1, nx - 1)]};
      for (const float* b : beside) around += double{b[x]};
      of_row[r].add(m[x], static_cast<float>(0.5 * (around - 6 * double{m[x]})), (s[x] - m[x]) / small_shift, g[x],
                    residual(g[x], m[x]));
    }
  });
  Sums sums;
  for (const Sums& s : of_row) sums.add(s);
  return sums;
}

/// φ = (smoothed gray value less the threshold - level) / gain, and the sums of its picture.
void WallFit::begin(double level, double gain) {
  const auto at_wall = static_cast<float>(level), per_voxel = static_cast<float>(gain);
  std::vector<double> by_layer(Sums::n * image_.count(), 0.0);
  image_.for_rounds([&](int, const ImageWindow& layer) {
    Array<std::int16_t> stored(layer.count(), Purpose::buffers);
    const ImageWindow near = layer.planes() > 0 ? layer.grown(picture_reach() + 2) : layer;
    const ImageWindow around = layer.planes() > 0 ? near.grown(1) : layer;
    const Array<std::uint8_t> labels = labels_.fetch(around);
    fail_together(image_.comm(), [&] {
      if (layer.planes() == 0) return;
      const Values gray = smoothed(near);
      Values phi{near, Array<float>(near.count(), Purpose::buffers)};
      for_rows(near, [&](int y, int z, std::int64_t) {
        const float* const g = gray.row(y, z);
        float* const to = phi.value.data() + phi.place(y, z);
        for (std::int64_t x = 0; x < layer.row(); ++x)
          to[x] = std::clamp((g[x] - at_wall) / per_voxel, -most_phi, most_phi);
      });
      hold_phases(around, labels.span(), phi);
      std::ranges::transform(phi.value.span().subspan(phi.window.start_of(layer.first), layer.count()), stored.begin(),
                             to_stored);
      const Sums sums = sums_of(layer, gray, picture(layer.grown(1), phi, 0.0F), phi);
      std::ranges::copy(sums.v, by_layer.begin() + layer.first / geometry_chunk * static_cast<int>(Sums::n));
    });
    phi_.store(layer, stored.span());
  });
  add_up(by_layer);
}

/// One round. What a layer needs lies in its neighbours, so the planes of the round before are put in place when this
/// one has what they were.
void WallFit::update() {
  const int reach = diffusion_reach(prior_variance) + picture_reach() + 1;
  assert(reach <= geometry_chunk);
  std::vector<double> by_layer(Sums::n * image_.count(), 0.0);
  ImageWindow waiting{image_.voxels(), 0, 0};
  Array<std::int16_t> values;
  image_.for_rounds([&](int, const ImageWindow& layer) {
    const ImageWindow around = layer.planes() > 0 ? layer.grown(reach) : layer;
    const Values phi = decoded(around, phi_.fetch(around), static_cast<float>(shift_));
    const ImageWindow beside = layer.planes() > 0 ? layer.grown(1) : layer;
    const Array<std::uint8_t> labels = labels_.fetch(beside);
    phi_.store(waiting, values.span());
    values = Array<std::int16_t>(layer.count(), Purpose::buffers);
    waiting = layer;
    fail_together(image_.comm(), [&] {
      if (layer.planes() == 0) return;
      Sums sums;
      Values updated = update(layer, phi, sums);
      hold_phases(beside, labels.span(), updated);
      std::ranges::transform(updated.value, values.begin(), to_stored);
      std::ranges::copy(sums.v, by_layer.begin() + layer.first / geometry_chunk * static_cast<int>(Sums::n));
    });
  });
  phi_.store(waiting, values.span());
  shift_ = 0;
  add_up(by_layer);
}

Values WallFit::update(const ImageWindow& layer, const Values& phi, Sums& sums) const {
  const ImageWindow near = layer.grown(diffusion_reach(prior_variance));
  const Values gray = smoothed(near), pictured = picture(near, phi, 0.0F);
  sums = sums_of(layer, gray, pictured, phi);
  const auto step = relaxation / static_cast<float>(slope());
  Values moved{near, Array<float>(near.count(), Purpose::buffers)};
  for_rows(near, [&](int y, int z, std::int64_t) {
    const float *p = phi.row(y, z), *g = gray.row(y, z), *m = pictured.row(y, z);
    float* const to = moved.value.data() + moved.place(y, z);
    for (std::int64_t x = 0; x < near.row(); ++x) to[x] = p[x] + step * residual(g[x], m[x]);
  });
  const auto of_layer = moved.value.span().subspan(near.start_of(layer.first), layer.count());
  Values updated{layer, Array<float>(layer.count(), Purpose::buffers)};
  std::ranges::copy(of_layer, updated.value.begin());
  diffuse(near, prior_variance, moved.value.span());
  for_rows(layer, [&](int y, int z, std::int64_t) {
    const std::int64_t from = layer.start_of(z) + y * layer.row();
    for (std::int64_t n = from; n < from + layer.row(); ++n)
      updated.value[n] = (1 - prior) * updated.value[n] + prior * of_layer[n];
  });
  return updated;
}

/// Layer by layer, one rank adds to each: the same sums on any number of ranks.
void WallFit::add_up(std::vector<double>& by_layer) {
  image_.comm().sum(std::span(by_layer));
  sums_ = {};
  for (std::size_t i = 0; i < by_layer.size(); ++i) sums_.v[i % Sums::n] += by_layer[i];
}

/// By `share` of what the sums say; false when they say that this is no picture of two phases.
bool WallFit::correct_model(double share) {
  const auto [solid, contrast, blur, shift] = sums_.coefficients();
  if (!((start_.pore_above ? contrast : -contrast) > 0.0)) return false;
  solid_ += share * (solid - solid_);
  contrast_ += share * (contrast - contrast_);
  blur_ = std::clamp(blur_ + share * std::clamp(blur / contrast, least_change, most_change), 0.0, most_blur);
  shift_ = share * std::clamp(shift / contrast, -most_shift, most_shift);
  return true;
}

/// Mean |∇φ| there; 0 when there is no wall.
double WallFit::slope_at_wall() const {
  std::vector<double> by_layer(2 * image_.count(), 0.0);
  image_.for_rounds([&](int, const ImageWindow& layer) {
    const ImageWindow window = layer.planes() > 0 ? layer.grown(1) : layer;
    const Values phi = decoded(window, phi_.fetch(window));
    if (layer.planes() == 0) return;
    const GradientSums sums =
        wall_gradient(window, phi.value.span(), 0.0, layer.first, layer.last, image_.sample().inside());
    by_layer[2 * (layer.first / geometry_chunk)] = static_cast<double>(sums.voxels);
    by_layer[2 * (layer.first / geometry_chunk) + 1] = sums.length;
  });
  image_.comm().sum(std::span(by_layer));
  double voxels = 0, length = 0;
  for (std::size_t l = 0; l < by_layer.size(); l += 2) {
    voxels += by_layer[l];
    length += by_layer[l + 1];
  }
  return voxels > 0 ? length / voxels : 0.0;
}

/// Image less picture inside the phases.
class InsidePhases {
 public:
  /// @param residual, picture  of the layer
  void add(const ImageWindow& layer, std::span<const std::uint8_t> sample, std::span<const float> residual,
           std::span<const float> picture) {
    Array<std::uint8_t> phases(layer.count(), Purpose::buffers), all(layer.count(), Purpose::buffers);
    for (std::size_t n = 0; n < phases.size(); ++n) {
      const float m = picture[n];
      const bool outside = !sample.empty() && sample[n % sample.size()] == 0;
      const InnerPhase phase = outside                ? near_wall
                               : m < inside_phase     ? inner_solid
                               : m > 1 - inside_phase ? inner_pore
                                                      : near_wall;
      phases[n] = phase;
      all[n] = outside ? near_wall : inner_pore;
      if (phase != near_wall) ++residuals_[phase].count[bin(residual[n])];
    }
    noise_.add(layer, residual, phases.span());
    everywhere_.add(layer, residual, all.span());
  }
  void sum(const Comm& comm) {
    noise_.sum(comm);
    everywhere_.sum(comm);
    for (Histogram& h : residuals_) comm.sum(std::span(h.count));
  }
  /// Where no place is inside a phase, small features count as noise.
  double noise() const {
    const double inside = noise_.of_both();
    return std::isfinite(inside) ? inside : everywhere_.of_both();
  }
  double noise(InnerPhase phase) const { return noise_.of(phase); }
  double median(InnerPhase phase) const {
    const Histogram& h = residuals_[phase];
    return h.quantile(0.5);
  }

 private:
  static constexpr std::size_t bins = 4096;
  static std::size_t bin(float residual) {
    return static_cast<std::size_t>(std::clamp((residual + 2) * (bins / 4.0F), 0.0F, bins - 1.0F));
  }

  PlaneNoise noise_{2.0}, everywhere_{2.0};
  std::array<Histogram, 2> residuals_{
      {{-2, 2, std::vector<std::int64_t>(bins, 0)}, {-2, 2, std::vector<std::int64_t>(bins, 0)}}};
};

/// Compares the wall as it is with the image.
ScanModel WallFit::inspect(int rounds) {
  InsidePhases inside;
  std::vector<double> by_layer(Sums::n * image_.count(), 0.0);
  image_.for_rounds([&](int, const ImageWindow& layer) {
    const ImageWindow around = layer.planes() > 0 ? layer.grown(picture_reach() + 2) : layer;
    const Values phi = decoded(around, phi_.fetch(around));
    fail_together(image_.comm(), [&] {
      if (layer.planes() == 0) return;
      const Values gray = smoothed(layer), pictured = picture(layer.grown(1), phi, 0.0F);
      const Sums sums = sums_of(layer, gray, pictured, phi);
      std::ranges::copy(sums.v, by_layer.begin() + layer.first / geometry_chunk * static_cast<int>(Sums::n));
      Array<float> residuals(layer.count(), Purpose::buffers), of_layer(layer.count(), Purpose::buffers);
      for_rows(layer, [&](int y, int z, std::int64_t r) {
        const float *m = pictured.row(y, z), *g = gray.row(y, z);
        for (std::int64_t x = 0; x < layer.row(); ++x) {
          of_layer[r * layer.row() + x] = m[x];
          residuals[r * layer.row() + x] = residual(g[x], m[x]);
        }
      });
      inside.add(layer, image_.sample().inside(), residuals.span(), of_layer.span());
    });
  });
  add_up(by_layer);
  inside.sum(image_.comm());
  const double solid = start_.threshold + solid_;
  ScanModel scan{solid + contrast_, solid, std::sqrt(blur_), sums_.misfit(), sums_.rms(), inside.noise()};
  scan.rounds = rounds;
  if (sums_.knows(Sums::pore)) scan.pore_offset = inside.median(inner_pore);
  if (sums_.knows(Sums::solid)) scan.solid_offset = inside.median(inner_solid);
  const double ratio =
      sums_.rms(Sums::solid) / inside.noise(inner_solid) * inside.noise(inner_pore) / sums_.rms(Sums::pore);
  if (sums_.knows(Sums::pore) && sums_.knows(Sums::solid) && std::isfinite(ratio)) scan.minerals = ratio;
  return scan;
}

}  // namespace

std::optional<FittedWall> fit_wall(const ImageLayers& image, const FitStart& start, double smoothing) {
  assert(smoothing >= 0 && smoothing <= most_fitted_smoothing);
  return WallFit(image, start, smoothing).run();
}

double moved_wall(const ScanModel& scan, double share) {
  return share * std::sqrt(2 * std::numbers::pi * (scan.blur * scan.blur + 1.0 / 12));
}

void fitted_level_set(std::span<const std::int16_t> fitted, double slope, std::span<float> phi) {
  parallel_for(static_cast<std::int64_t>(phi.size()),
               [&](std::int64_t n) { phi[n] = static_cast<float>(fitted[n]) / float{fitted_unit}; });
  gray_level_set(phi, {0.0, slope, true}, phi);
}

Slabs<std::uint8_t> fitted_labels(const ImageLayers& image, const FittedWall& wall) {
  Slabs<std::uint8_t> labels(image.comm(), image.voxels(), Purpose::geometry);
  image.for_rounds([&](int, const ImageWindow& layer) {
    const Array<std::int16_t> phi = wall.phi.fetch(layer);
    Array<std::uint8_t> of_layer(layer.count(), Purpose::buffers);
    std::ranges::transform(phi, of_layer.begin(),
                           [](std::int16_t p) { return static_cast<std::uint8_t>(p > 0 ? pore_label : solid_label); });
    image.sample().mark(layer, of_layer.span());
    labels.store(layer, of_layer.span());
  });
  return labels;
}

}  // namespace karst
