// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall_faces.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

constexpr int stair = 2;  // voxels, highest that a link passes
// Added to |φ| of voxels at a corner [voxels]: without it φ is zero all along the edge of a cell that ends in the
// corner of a duct, and a cutter that asks for the signs at cell corners leaves the whole corner out.
constexpr float corner_excess = 1.0F / 256;
// |φ| across the edge of a sharp corner [voxels]: the interpolant rounds the corner less than with √2 - 1/2.
constexpr float across_corner = 0.25F;
// Factors of φ of voxels with four, five and six faces at flat walls: a capillary one voxel wide, its end, and a voxel
// by itself keep 92 to 98 % of their volume.
constexpr std::array<float, 3> widening{1.4F, 1.6F, 2.0F};

int sweeps_of(double sigma) { return static_cast<int>(std::ceil(3 * sigma * sigma)); }

/// The faces between voxels x and x + e_d of different phase, in the order of x; 64 voxels of a row share a word.
class FaceSet {
 public:
  FaceSet(const ImageWindow& window, std::span<const std::uint8_t> phase, int d)
      : extent_(Index{window.image[0], window.image[1], window.planes()}),
        words_((extent_[0] + 63) / 64),
        phase_(phase.data()),
        d_(d),
        step_{1, window.row(), window.plane()},
        bits_(words_ * rows(), Purpose::buffers),
        before_(words_ * rows() + 1, Purpose::buffers) {
    parallel_for(rows(), [&](std::int64_t r) { mark_row(r); });
    before_[0] = 0;
    for (std::size_t w = 0; w < bits_.size(); ++w) before_[w + 1] = before_[w] + std::popcount(bits_[w]);
  }
  std::int64_t rows() const { return std::int64_t{extent_[1]} * extent_[2]; }
  std::int64_t count() const { return before_[bits_.size()]; }
  std::int64_t step(int e) const { return step_[e]; }
  bool has(int x, std::int64_t r) const { return bits_[word(x, r)] >> (x & 63) & 1U; }
  std::int32_t number(int x, std::int64_t r) const {
    const std::size_t w = word(x, r);
    return before_[w] + std::popcount(bits_[w] & ((std::uint64_t{1} << (x & 63)) - 1));
  }
  /// f(number of the face, its low voxel) for the faces of row r = y + ny z.
  template <class F>
  void for_row(std::int64_t r, F&& f) const {
    std::int32_t n = before_[r * words_];
    for (std::int64_t w = 0; w < words_; ++w)
      for (std::uint64_t left = bits_[r * words_ + w]; left != 0; left &= left - 1)
        f(n++, Index{static_cast<int>(64 * w) + std::countr_zero(left), static_cast<int>(r % extent_[1]),
                     static_cast<int>(r / extent_[1])});
  }
  struct Link {
    std::int32_t face;  ///< -1: none
    int height;         ///< of that face above this one [voxels]
  };
  /// From the face at low voxel c to the next column along ± e_t: the face that the wall goes on with there. Where
  /// the two voxels are of the other phase in that column it could go on above as well as below: towards the solid, so
  /// that pores that meet at an edge go on into each other.
  Link link(const Index& c, int t, int side) const {
    if (c[t] + side < 0 || c[t] + side >= extent_[t]) return {-1, 0};
    const std::uint8_t* const here = phase_ + c[0] + step_[1] * c[1] + step_[2] * c[2];
    const std::uint8_t* const beside = here + side * step_[t];
    const std::int64_t up = step_[d_];
    // Both voxels beside the face are of the other phase: a face towards the solid, whichever way that is.
    const bool upwards = *beside != *here && beside[up] == *here && *here == 1;
    int k = upwards ? 1 : 0;
    if (*beside == *here || upwards) {
      while (k <= stair && c[d_] + k + 1 < extent_[d_] && beside[(k + 1) * up] == *here) ++k;
      if (k > stair || c[d_] + k + 1 == extent_[d_]) return {-1, 0};
    } else {
      do {
        --k;
        if (k < -stair || c[d_] + k < 0) return {-1, 0};
      } while (beside[k * up] != *here);
    }
    Index to = c;
    to[t] += side;
    to[d_] += k;
    return {number(to[0], to[1] + std::int64_t{extent_[1]} * to[2]), k};
  }

 private:
  std::size_t word(int x, std::int64_t r) const { return r * words_ + (x >> 6); }
  void mark_row(std::int64_t r) {
    std::fill_n(bits_.data() + r * words_, words_, std::uint64_t{0});
    const int place = d_ == 1 ? static_cast<int>(r % extent_[1]) : static_cast<int>(r / extent_[1]);
    if (d_ > 0 && place + 1 == extent_[d_]) return;
    const std::uint8_t* const row = phase_ + r * extent_[0];
    const int last = d_ == 0 ? extent_[0] - 1 : extent_[0];
    for (int x = 0; x < last; ++x) bits_[word(x, r)] |= std::uint64_t{row[x] != row[x + step_[d_]]} << (x & 63);
  }

  Index extent_;
  std::int64_t words_;
  const std::uint8_t* phase_;
  int d_;
  std::array<std::int64_t, 3> step_;
  Array<std::uint64_t> bits_;
  Array<std::int32_t> before_;  ///< faces before each word
};

/// Of the wall at a face: its height above it [voxels], at most 1/2, and |∇h|².
struct Lie {
  float height, slope_squared;
};

/// Heights of the faces along + e_d, and how the wall lies there.
class Heights {
 public:
  Heights(const FaceSet& faces, int d, double sigma)
      : to_(faces.count(), Purpose::buffers),
        above_(faces.count(), Purpose::buffers),
        height_(faces.count(), Purpose::buffers, 0.0F) {
    const std::array<int, 2> across{d == 0 ? 1 : 0, d == 2 ? 1 : 2};
    parallel_for(faces.rows(), [&](std::int64_t r) {
      faces.for_row(r, [&](std::int32_t n, const Index& c) {
        for (int m = 0; m < 4; ++m) {
          const FaceSet::Link l = faces.link(c, across[m / 2], m % 2 ? 1 : -1);
          to_[n][m] = l.face;
          above_[n][m] = static_cast<std::int8_t>(l.height);
        }
      });
    });
    const int sweeps = sweeps_of(sigma);
    if (sweeps == 0) return;
    const auto share = static_cast<float>(sigma * sigma / (2 * sweeps));
    Array<float> work(height_.size(), Purpose::buffers), once(height_.size(), Purpose::buffers);
    spread(share, sweeps, work);
    std::copy_n(height_.data(), height_.size(), once.data());
    spread(share, sweeps, work);
    parallel_for(std::ssize(height_), [&](std::int64_t n) { height_[n] = 2 * once[n] - height_[n]; });
  }
  /// How the wall lies at each face.
  Array<Lie> lies() const {
    Array<Lie> all(height_.size(), Purpose::buffers);
    parallel_for(std::ssize(all), [&](std::int64_t n) {
      all[n] = {std::clamp(height_[n], -0.5F, 0.5F), slope_squared(n)};
    });
    return all;
  }

 private:
  /// |∇h|²; one-sided where one side has no link.
  float slope_squared(std::int64_t n) const {
    const auto& to = to_[n];
    float sum = 0;
    for (std::size_t m = 0; m < 4; m += 2) {
      const int sides = (to[m] >= 0) + (to[m + 1] >= 0);
      const float slope = rise(n, m + 1) - rise(n, m);
      if (sides > 0) sum += slope * slope / static_cast<float>(sides * sides);
    }
    return sum;
  }
  /// To the wall at the other end of link m; 0 without one.
  float rise(std::int64_t n, std::size_t m) const {
    const std::int32_t to = to_[n][m];
    return to < 0 ? 0.0F : height_[to] + static_cast<float>(above_[n][m]) - height_[n];
  }
  void spread(float share, int sweeps, Array<float>& work) {
    for (int s = 0; s < sweeps; ++s) {
      parallel_for(static_cast<std::int64_t>(height_.size()), [&](std::int64_t n) {
        // Pairs: the order of axes and sides does not matter to the last bit.
        const float sum = (rise(n, 0) + rise(n, 1)) + (rise(n, 2) + rise(n, 3));
        work[n] = height_[n] + share * sum;
      });
      std::swap(height_, work);
    }
  }

  Array<std::array<std::int32_t, 4>> to_;    ///< faces linked, - + along one direction across, - + along the other
  Array<std::array<std::int8_t, 4>> above_;  ///< how much higher they are [voxels]
  Array<float> height_;                      ///< of the wall above the face [voxels]
};

/// What the faces of a voxel say. The sums are of integers: the order of the faces does not matter.
struct Gathered {
  static constexpr float unit = 1 << 27;  // of six faces at most, with weights up to 1 and distances up to 1.5
  static constexpr std::uint16_t quite_flat = 4096;
  std::int32_t weight = 0, sum = 0;        ///< of the distances to the wall
  std::uint8_t faces = 0, directions = 0;  ///< of the latter a bit each
  std::uint16_t flat = quite_flat;         ///< of the face that is least so; 0: an inclined wall

  void add(int d, float distance, float w, float incline) {
    weight += static_cast<std::int32_t>(std::lrint(unit * w));
    sum += static_cast<std::int32_t>(std::lrint(unit * w * distance));
    ++faces;
    directions = static_cast<std::uint8_t>(directions | 1U << d);
    flat = std::min(flat, static_cast<std::uint16_t>(std::lrint(quite_flat * (1 - incline))));
  }
  /// |φ|
  float distance() const {
    const float mean = static_cast<float>(sum) / static_cast<float>(weight);
    const float wider = faces > 3 ? (widening[faces - 4] - 1) * static_cast<float>(flat) / quite_flat : 0.0F;
    return (mean + (std::popcount(directions) > 1 ? corner_excess : 0.0F)) * (1 + wider);
  }
};

}  // namespace

/// Of the planes of the window.
struct WallFaces::State {
  struct Direction {
    FaceSet faces;
    Array<Lie> lies;  ///< of the faces
  };

  ImageWindow window, kept, part;  ///< part: kept, and one plane around it
  Array<std::uint8_t> phase;       ///< of `part`
  Array<std::int16_t> square;      ///< of the distance of signed_distance(), over `kept`
  std::vector<Direction> directions;

  void gather_row(std::int64_t row, float shift, std::span<Gathered> gathered) const;
  std::uint16_t sharpest_corner(std::span<const std::uint16_t> flat, const Index& c) const;
};

/// @param row  of `part`
void WallFaces::State::gather_row(std::int64_t row, float shift, std::span<Gathered> gathered) const {
  const int ny = window.image[1];
  const std::int64_t r = std::int64_t{ny} * (part.first - window.first) + row;
  const std::uint8_t* const phase_of_row = phase.data() + row * window.row();
  std::ranges::fill(gathered, Gathered{});
  for (int d = 0; d < 3; ++d) {
    const auto& [faces, lies] = directions[d];
    const auto add = [&](const Lie& lie, std::int64_t x, float side) {
      const float normal2 = 1 / (1 + lie.slope_squared), normal = std::sqrt(normal2);
      const float incline = std::min(1.0F, 2 * (std::abs(lie.height) + std::sqrt(lie.slope_squared)));
      const float moved = shift * incline;
      gathered[x].add(d, (0.5F + side * lie.height) * normal + (phase_of_row[x] ? moved : -moved), normal2, incline);
    };
    faces.for_row(r, [&](std::int32_t n, const Index& c) {
      add(lies[n], c[0], 1.0F);
      if (d == 0) add(lies[n], c[0] + 1, -1.0F);
    });
    const bool has_low = d == 1 ? r % ny > 0 : r >= ny;
    if (d > 0 && has_low)
      faces.for_row(r - (d == 1 ? 1 : ny), [&](std::int32_t n, const Index& c) { add(lies[n], c[0], -1.0F); });
  }
}

/// The flattest of the voxels of the other phase across the twelve edges of voxel c, which has no face at the wall: how
/// sharp the corner is that they make. 0: there are none.
/// @param flat  Gathered::flat over `part`
std::uint16_t WallFaces::State::sharpest_corner(std::span<const std::uint16_t> flat, const Index& c) const {
  const Index lo{0, 0, part.first}, hi{window.image[0], window.image[1], part.last};
  const std::uint8_t own = phase[part.start_of(c[2]) + c[1] * part.row() + c[0]];
  std::uint16_t sharpest = 0;
  for (int d = 0; d < 3; ++d)
    for (int m = 0; m < 4; ++m) {
      Index to = c;
      to[(d + 1) % 3] += m % 2 ? 1 : -1;
      to[(d + 2) % 3] += m / 2 ? 1 : -1;
      bool inside = true;
      for (int e = 0; e < 3; ++e) inside = inside && to[e] >= lo[e] && to[e] < hi[e];
      if (!inside) continue;
      const std::int64_t at = part.start_of(to[2]) + to[1] * part.row() + to[0];
      if (phase[at] != own) sharpest = std::max(sharpest, flat[at]);
    }
  return sharpest;
}

int segmented_reach(double sigma) { return std::max(distance_reach, stair * (2 * sweeps_of(sigma) + 2) + 2); }

WallFaces::WallFaces(const ImageWindow& window, std::span<const std::uint8_t> phase, double sigma,
                     const ImageWindow& kept)
    : state_(std::make_unique<State>(State{window, kept, kept.grown(1), {}, {}, {}})) {
  State& s = *state_;
  s.phase = Array<std::uint8_t>(s.part.count(), Purpose::buffers);
  std::ranges::copy(phase.subspan(window.start_of(s.part.first), s.part.count()), s.phase.begin());
  s.square = Array<std::int16_t>(kept.count(), Purpose::buffers);
  squared_distance(window, phase, kept, s.square.span());
  for (int d = 0; d < 3; ++d) {
    FaceSet faces(window, phase, d);
    Array<Lie> lies = Heights(faces, d, sigma).lies();
    s.directions.push_back({std::move(faces), std::move(lies)});
  }
}

WallFaces::WallFaces(WallFaces&&) noexcept = default;
WallFaces& WallFaces::operator=(WallFaces&&) noexcept = default;
WallFaces::~WallFaces() = default;

void WallFaces::level_set(float shift, std::span<float> phi) const {
  const State& s = *state_;
  const std::int64_t nx = s.window.row(), ny = s.window.image[1];
  const std::int64_t before = ny * (s.kept.first - s.part.first);  // rows of `part` that are not of `kept`
  Array<std::uint16_t> flat(s.part.count(), Purpose::buffers);
  const auto row_of = [&](std::int64_t r) { return phi.subspan(r * nx, nx); };
  parallel_for(ny * s.part.planes(), [&](std::int64_t row) {
    thread_local std::vector<Gathered> gathered;
    gathered.resize(nx);
    s.gather_row(row, shift, gathered);
    for (std::int64_t x = 0; x < nx; ++x) flat[row * nx + x] = gathered[x].flat;
    const std::int64_t r = row - before;
    if (r < 0 || r >= ny * s.kept.planes()) return;
    const std::span<float> to = row_of(r);
    distances_of_squares(s.square.span().subspan(r * nx, nx), to);
    for (std::int64_t x = 0; x < nx; ++x)
      if (gathered[x].faces > 0) to[x] = (to[x] > 0 ? 1.0F : -1.0F) * gathered[x].distance();
  });
  parallel_for(ny * s.kept.planes(), [&](std::int64_t r) {
    const int y = static_cast<int>(r % ny), z = s.kept.first + static_cast<int>(r / ny);
    const std::span<float> to = row_of(r);
    for (int x = 0; x < nx; ++x) {
      if (std::abs(s.square[r * nx + x]) != 2) continue;  // not across an edge: √2 - 1/2
      const float sharp = static_cast<float>(s.sharpest_corner(flat.span(), {x, y, z})) / Gathered::quite_flat;
      to[x] += sharp * (std::copysign(across_corner, to[x]) - to[x]);
    }
    keep_phase(s.phase.span().subspan((before + r) * nx, nx), to);
  });
}

}  // namespace karst
