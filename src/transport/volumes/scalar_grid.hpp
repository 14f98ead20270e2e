// SPDX-License-Identifier: BSD-3-Clause
// The composite grid of transport: one list of control volumes and one of faces for all levels and boxes. A quantity of
// a volume is its mean, which to second order is the value at the centroid x of its fluid; the flux through a face,
// positive from `left` to `right`, is that at the centroid of the face.
//
//   volumes  own unknowns in their numbering, then those of other ranks that share a face with them, then one entry per
//            domain face, for values there ("boundary"): n_own | n_all | n_values
//   faces    d n_all + v: the face in direction d below volume v, between neighbours on a grid line of one level; then
//            all others: extra ones, those between levels, domain faces (flux out of the domain)
//
// Plain volumes are regular cells with six regular neighbours on the same level: they are stored as intervals without
// tables, and their gradients are central differences. All other volumes list their faces, with the weights of their
// gradient.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/comm/parallel.hpp"
#include "fields/face_field.hpp"
#include "fields/remote_values.hpp"

namespace karst {

/// Volumes first .. first + count - 1; across side s of the t-th lies volume beyond[s] + t.
struct PlainVolumes {
  std::int32_t first, count;
  std::array<std::int32_t, 6> beyond;
  std::int32_t level;
};

/// A face that is not the low face of a plain volume. A step reads this list many times, so data for some loops only
/// are in separate, parallel lists.
struct ScalarFace {
  std::int32_t face, left, right;  ///< right >= n_all: domain face
  bool fragment;  ///< one of the two volumes is an isolated fragment: it does not contain its cell centre and has no
                  ///< home
};

/// From the centroids of the two volumes of a face to that of the face [h0]; without a volume on the right: only the
/// first.
struct FaceOffsets {
  Vec3 from_left, from_right;
};

/// Face of a volume that is not plain.
class VolumeFace {
 public:
  VolumeFace() = default;
  /// @param left  whether the volume is its left one
  VolumeFace(std::int32_t face, std::int32_t other, bool left) : code_(left ? face : ~face), other_(other) {}
  std::int32_t face() const { return code_ ^ (code_ >> 31); }
  std::int32_t other() const { return other_; }
  double outward() const { return code_ >= 0 ? 1.0 : -1.0; }  ///< 1: the volume is its left one, -1: its right one

 private:
  std::int32_t code_ = 0;  // the face; its complement where the volume is its right one
  std::int32_t other_ = 0;
};

/// A domain face.
struct BoundaryFace {
  std::int32_t face, volume;
  std::int32_t side;  ///< 0..5
  Vec3 at;            ///< centroid, from the low corner of the domain [h0]
};

struct ScalarGridCounts {
  std::int64_t volumes = 0, plain = 0, listed_faces = 0;
  std::int64_t unresolved = 0;  ///< volumes whose gradient, the first one, lacks a direction that the domain has
  std::int64_t fragments = 0;   ///< volumes without cell centre and home
};

/// Sides -x +x -y +y -z +z whose boundary values take part in the gradients of the volumes there.
using GivenSides = std::array<bool, 6>;

/// Gradient weights of the volumes that are not plain: gradient = Σ weight (value of the other - own value) [1/h0].
struct GradientWeights {
  GivenSides given{};
  Array<Vec3> weight;  ///< parallel to ScalarGrid::volume_faces
};

/// Data of transport on a composite. Constant after make_scalar_grid(), but for weights that are added and for buffers.
struct ScalarGrid {
  std::shared_ptr<const Composite> composite;
  std::int32_t n_own = 0, n_all = 0, n_values = 0;
  std::int32_t n_faces = 0;
  std::vector<PlainVolumes> plain;
  Array<std::int32_t> special;        ///< all other own volumes, increasing
  Array<std::int64_t> special_begin;  ///< first of their faces, and the end
  Array<VolumeFace> volume_faces;
  std::vector<GradientWeights> gradients;  ///< for quantities prescribed on different sides; more may be added
  Array<ScalarFace> listed;                ///< every face except the low ones of plain volumes
  Array<FaceOffsets> offsets;              ///< parallel to it
  Array<double> conductance;  ///< parallel: area / distance of two-point differences, normal to the face [h0]
  std::vector<BoundaryFace> boundary;
  Array<double> volume;          ///< n_all [h0³]
  Array<Vec3> centroid;          ///< n_own, from the low corner of the domain [h0]
  Array<std::uint8_t> fragment;  ///< n_all
  RemoteUnknowns remote;
  Array<double> arrived;    ///< work array of fetch_together()
  ScalarGridCounts counts;  ///< over all ranks

  /// Position of the flux of a face in a FaceField, with its sign.
  struct Place {
    enum class Kind : std::uint8_t { primary, extra, coarse_fine, entering } kind;
    std::uint8_t level, direction;
    std::int8_t sign;
    std::int32_t face;
    std::int64_t place;
  };
  std::vector<Place> places;        ///< all entries of own volumes in a FaceField except the low faces in `low_slot`
  std::vector<Place> read_only;     ///< faces whose entry belongs to another rank
  std::vector<std::int64_t> slots;  ///< n_own: slot of an own volume in the fields of its level
  std::vector<std::int32_t> level_begin;  ///< first own volume per level, and the end

  /// Composite::width() without a call, so that loops over faces can be vectorised.
  static double width(int level) { return 1.0 / static_cast<double>(std::int64_t{1} << level); }
  std::int64_t bytes() const;  ///< of this rank
};

/// @param given  of quantities whose gradients are needed, each once. Collective.
ScalarGrid make_scalar_grid(std::shared_ptr<const Composite> composite, const std::vector<GivenSides>& given);
inline ScalarGrid make_scalar_grid(std::shared_ptr<const Composite> composite, const GivenSides& given = {}) {
  return make_scalar_grid(std::move(composite), std::vector<GivenSides>{given});
}
/// The transport grid of a composite that is in use, or a new one, shared by all who hold it: a composite has one at a
/// time. It gets the weights that it lacks. Exchanges use its buffers: one of them ends before the next begins.
/// Collective.
std::shared_ptr<ScalarGrid> scalar_grid_of(const std::shared_ptr<const Composite>& composite,
                                           const std::vector<GivenSides>& given);
/// The same where one is in use; nullptr otherwise. Not collective.
std::shared_ptr<ScalarGrid> scalar_grid_in_use(const Composite& composite);

/// The weights for values prescribed on these sides; the combination must be one that the grid was constructed with.
/// Valid as long as the grid.
std::span<const Vec3> gradient_weights(const ScalarGrid& grid, const GivenSides& given);
/// Makes them where the grid lacks them. Threaded; not collective.
std::span<const Vec3> find_gradient_weights(ScalarGrid& grid, const GivenSides& given);

/// Calls visit(volume, faces) for every own volume, threaded; faces(f) calls f(face, other, outward) for its faces, six
/// in a plain volume. visit must write only data of the volume.
template <class Visit>
void for_each_volume(const ScalarGrid& grid, Visit&& visit) {
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const std::int32_t n = grid.n_all;
#pragma GCC ivdep
    for (std::int32_t t = 0; t < p.count; ++t) {
      visit(p.first + t, [&](auto&& f) {
        f(p.first + t, p.beyond[0] + t, -1.0);
        f(p.beyond[1] + t, p.beyond[1] + t, 1.0);
        f(n + p.first + t, p.beyond[2] + t, -1.0);
        f(n + p.beyond[3] + t, p.beyond[3] + t, 1.0);
        f(2 * n + p.first + t, p.beyond[4] + t, -1.0);
        f(2 * n + p.beyond[5] + t, p.beyond[5] + t, 1.0);
      });
    }
  });
  parallel_for(static_cast<std::int64_t>(grid.special.size()), [&](std::int64_t s) {
    visit(grid.special[s], [&](auto&& f) {
      for (auto k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k) {
        const VolumeFace e = grid.volume_faces[k];
        f(e.face(), e.other(), e.outward());
      }
    });
  });
}

/// Calls plain(face, left, right, direction, level) for the low faces of plain volumes and listed(ScalarFace, its index
/// in the list) for all others, threaded; every face once.
template <class Plain, class Listed>
void for_all_faces(const ScalarGrid& grid, Plain&& plain, Listed&& listed) {
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    for (int d = 0; d < 3; ++d) {
      const std::int32_t face = d * grid.n_all + p.first, left = p.beyond[2 * d];
#pragma GCC ivdep
      for (std::int32_t t = 0; t < p.count; ++t) plain(face + t, left + t, p.first + t, d, p.level);
    }
  });
  parallel_for(static_cast<std::int64_t>(grid.listed.size()), [&](std::int64_t i) { listed(grid.listed[i], i); });
}

/// Isolated fragments whose faces (or wall) are larger than this times their volume, in cells, exchange nothing through
/// them: the flux would be lost in round-off compared with their content. They keep their content.
inline constexpr double crumb = 30.0;

/// Fluxes of a FaceField as one number per face, and back; entries of a FaceField without a face become 0, and its halo
/// is filled. Collective.
void list_fluxes(const ScalarGrid& grid, FaceField& faces, std::span<double> flux);
void store_fluxes(const ScalarGrid& grid, std::span<const double> flux, FaceField& faces);

// For C interleaved fields (component c of entry i at C i + c; instantiated for 1 to 4); each is bitwise the same as
// alone.

/// Fills values [n_own, n_all) from their owners. Collective.
template <int C = 1>
void fetch_remote(ScalarGrid& grid, std::span<double> values);
/// The same for K lists of C fields (2 or 3), in one message per neighbour. Collective.
template <int C, std::size_t K>
void fetch_together(ScalarGrid& grid, const std::array<std::span<double>, K>& lists);

/// Σ of the fluxes out of each own volume. Threaded; not collective.
template <int C = 1>
void add_up(const ScalarGrid& grid, std::span<const double> flux, std::span<double> out);

/// The three components of a gradient, n_all each [1/h0].
using Gradient = std::array<std::span<double>, 3>;

/// Least-squares gradients over the neighbours across faces; plain differences in plain volumes; 0 in directions that
/// the neighbours do not resolve. Isolated fragments are left out where the other neighbours suffice, because their
/// values hardly follow the fluid around them. Exact for linear values. Those of other ranks are fetched. Collective.
/// @param weights  gradient_weights()
/// @param values   n_values
template <int C = 1>
void find_gradient(ScalarGrid& grid, std::span<const Vec3> weights, std::span<const double> values,
                   const Gradient& gradient);
/// For a grid that was constructed for quantities prescribed on the same sides.
template <int C = 1>
void find_gradient(ScalarGrid& grid, std::span<const double> values, const Gradient& gradient) {
  find_gradient<C>(grid, grid.gradients[0].weight.span(), values, gradient);
}

/// A first-order step: after = values - dt / V Σ F c out of each own volume, c the value of the volume that F leaves (F
/// > 0 from left to right; into the domain: the boundary value). Threaded; not collective.
/// @param flow   F, n_faces
/// @param after  C n_own at its front
template <int C = 1>
void upwind_step(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values, double dt,
                 std::span<double> after);
/// Second-order flux: F (c_k + g_k·(x_f - x_k)), k the volume that F leaves.
template <int C = 1>
void linear_upwind_flux(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values,
                        const Gradient& gradient, std::span<double> flux);
/// factor x (second-order flux - first-order flux of `before`).
template <int C = 1>
void upwind_difference(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values,
                       const Gradient& gradient, std::span<const double> before, double factor,
                       std::span<double> difference);

}  // namespace karst
