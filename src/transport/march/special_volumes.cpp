// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/special_volumes.hpp"

#include <algorithm>

#include "eb/link/least_squares.hpp"

namespace karst {
namespace {

constexpr double least_gradient = 0.2;  ///< eigenvalue of a resolved direction: 2 in whole cells

/// A face as a volume sees it that is not plain. They are sorted by their places, so that what is summed over them has
/// the same last bits whoever owns the volumes beside.
struct FaceOfVolume {
  VolumeFace face;
  Vec3 at;       ///< centroid, from that of the volume
  Vec3 towards;  ///< centroid of the other volume, or of the face on an end, from there; 0: no part in the gradient
};

/// Part of the lists of a box.
struct SpecialOfBox {
  std::vector<ScalarFace> listed;
  std::vector<FaceOffsets> offsets;
  std::vector<double> conductance;
  std::vector<std::int32_t> special;
  std::vector<std::int64_t> end;  ///< of their faces
  std::vector<VolumeFace> faces;
  std::vector<std::vector<Vec3>> weights;  ///< for each of the given sides, parallel to the faces
  std::int64_t unresolved = 0;

  void list(const MadeFace& f) {
    listed.push_back({f.face, f.left, f.right, f.fragment});
    offsets.push_back(f.at);
    conductance.push_back(f.conductance);
  }
};

/// Weights of the gradient of one volume after another.
class Gradients {
 public:
  explicit Gradients(const ScalarGrid& grid) : grid_(grid) {
    const Domain& domain = grid.composite->graph(0).layout().domain();
    for (int d = 0; d < 3; ++d) wanted_ += domain.periodic[d] && domain.cells[d] == 1 ? 0 : 1;
  }

  /// Appends the weights of what is given on some sides, parallel to the faces of a volume. Isolated fragments take
  /// part only where a direction hangs on them. Returns whether all directions that the domain has are resolved.
  bool fit(std::span<const FaceOfVolume> faces, const GivenSides& given, std::vector<Vec3>& weights) {
    const bool fragments = choose(faces, given, Fragments::with);
    GradientFit best = fit_chosen();
    if (fragments) {
      choose(faces, given, Fragments::without);
      if (GradientFit without = fit_chosen(); without.resolved == best.resolved)
        best = std::move(without);
      else
        choose(faces, given, Fragments::with);
    }
    const std::size_t first = weights.size();
    weights.resize(first + faces.size());
    for (std::size_t k = 0; k < of_.size(); ++k) weights[first + of_[k]] = best.weight[k];
    return best.resolved >= wanted_;
  }

 private:
  enum class Fragments { with, without };

  /// Returns whether there are fragments among the volumes across the faces.
  bool choose(std::span<const FaceOfVolume> faces, const GivenSides& given, Fragments which) {
    points_.clear();
    of_.clear();
    bool any = false;
    for (std::size_t k = 0; k < faces.size(); ++k) {
      if (faces[k].towards == Vec3{}) continue;
      const std::int32_t o = faces[k].face.other();
      if (o >= grid_.n_all && !given[grid_.boundary[o - grid_.n_all].side]) continue;
      const bool fragment = o < grid_.n_all && grid_.fragment[o] != 0;
      any = any || fragment;
      if (which == Fragments::without && fragment) continue;
      points_.push_back(faces[k].towards);
      of_.push_back(k);
    }
    return any;
  }
  GradientFit fit_chosen() const { return points_.empty() ? GradientFit{} : fit_gradient(points_, least_gradient); }

  const ScalarGrid& grid_;
  int wanted_ = 0;  ///< directions
  std::vector<Vec3> points_;
  std::vector<std::size_t> of_;  ///< their faces
};

/// The faces of the volumes of a box that are not plain.
class FacesOfVolumes {
 public:
  FacesOfVolumes(const FacesOfBox& box, std::span<const std::uint8_t> is_plain)
      : box_(box), is_plain_(is_plain), begin_(box.end - box.begin + 1, 0) {}

  /// First all faces are counted, then they are added.
  void count(const MadeFace& f) {
    for_ends(f, [&](std::int32_t v, bool) { ++begin_[v - box_.begin + 1]; });
  }
  void make_room() {
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    next_.assign(begin_.begin(), begin_.end() - 1);
    faces_.resize(begin_.back());
  }
  void add(const MadeFace& f, std::int32_t n_all) {
    for_ends(f, [&](std::int32_t v, bool left) {
      const std::int32_t other = left ? f.right : f.left;
      const bool end = other >= n_all;
      const Vec3 r =
          end ? f.at.from_left : (left ? f.at.from_left - f.at.from_right : f.at.from_right - f.at.from_left);
      faces_[next_[v - box_.begin]++] = {{f.face, other, left}, left ? f.at.from_left : f.at.from_right, r};
    });
  }
  /// Those of a volume, by their places.
  std::span<const FaceOfVolume> of(std::int32_t v) {
    const std::int32_t first = begin_[v - box_.begin];
    const std::span<FaceOfVolume> some = std::span(faces_).subspan(first, begin_[v - box_.begin + 1] - first);
    std::ranges::sort(some, {}, &FaceOfVolume::at);
    return some;
  }

 private:
  /// Calls f(volume, whether it is the left one) for the volumes of the face that are meant.
  template <class F>
  void for_ends(const MadeFace& face, F&& f) const {
    const auto meant = [&](std::int32_t v) { return v >= box_.begin && v < box_.end && is_plain_[v] == 0; };
    if (meant(face.left)) f(face.left, true);
    if (meant(face.right)) f(face.right, false);
  }

  const FacesOfBox& box_;
  std::span<const std::uint8_t> is_plain_;
  std::vector<std::int32_t> begin_, next_;  ///< per volume of the box
  std::vector<FaceOfVolume> faces_;
};

/// Faces that are listed elsewhere, of volumes of a box: by boxes before it, and all others.
struct FacesFromElsewhere {
  std::vector<const MadeFace*> before, after;
};

std::vector<FacesFromElsewhere> hand_over(std::span<const FacesOfBox* const> boxes, const std::vector<MadeFace>& others,
                                          std::int32_t n_own) {
  std::vector<FacesFromElsewhere> to(boxes.size());
  const auto box_of = [&](std::int32_t v) {
    return std::ranges::upper_bound(boxes, v, {}, [](const FacesOfBox* b) { return b->begin; }) - boxes.begin() - 1;
  };
  for (std::ptrdiff_t b = 0; b < std::ssize(boxes); ++b)
    for (const std::int32_t k : boxes[b]->crossing) {
      const MadeFace& f = boxes[b]->faces[k];
      const std::ptrdiff_t at = box_of(f.left);
      (b < at ? to[at].before : to[at].after).push_back(&f);
    }
  for (const MadeFace& f : others) {
    const std::ptrdiff_t left = f.left < n_own ? box_of(f.left) : -1, right = f.right < n_own ? box_of(f.right) : -1;
    if (left >= 0) to[left].after.push_back(&f);
    if (right >= 0 && right != left) to[right].after.push_back(&f);
  }
  return to;
}

SpecialOfBox list_box(const FacesOfBox& box, const FacesFromElsewhere& elsewhere,
                      std::span<const std::uint8_t> is_plain, const std::vector<GivenSides>& given,
                      const ScalarGrid& grid) {
  SpecialOfBox out;
  for (const MadeFace& f : box.faces)
    if (f.right >= grid.n_own || is_plain[f.right] == 0) out.list(f);
  FacesOfVolumes faces(box, is_plain);
  const auto for_all = [&](auto&& f) {
    for (const MadeFace* face : elsewhere.before) f(*face);
    for (const MadeFace& face : box.faces) f(face);
    for (const MadeFace* face : elsewhere.after) f(*face);
  };
  for_all([&](const MadeFace& f) { faces.count(f); });
  faces.make_room();
  for_all([&](const MadeFace& f) { faces.add(f, grid.n_all); });
  Gradients gradients(grid);
  out.weights.resize(given.size());
  for (std::int32_t v = box.begin; v < box.end; ++v) {
    if (is_plain[v] != 0) continue;
    const std::span<const FaceOfVolume> some = faces.of(v);
    for (std::size_t g = 0; g < given.size(); ++g) {
      const bool resolved = gradients.fit(some, given[g], out.weights[g]);
      out.unresolved += g == 0 && !resolved ? 1 : 0;
    }
    out.special.push_back(v);
    for (const FaceOfVolume& f : some) out.faces.push_back(f.face);
    out.end.push_back(std::ssize(out.faces));
  }
  return out;
}

/// One list after another. Threaded.
/// @param list_of  (part) -> its list
/// @param at       first place of each part, and the end
template <class T, class Of>
Array<T> joined(const std::vector<SpecialOfBox>& parts, std::vector<std::int64_t>& at, Of&& list_of) {
  at.assign(1, 0);
  for (const SpecialOfBox& part : parts) at.push_back(at.back() + std::ssize(list_of(part)));
  Array<T> all(at.back(), Purpose::connectivity);
  parallel_for(std::ssize(parts), [&](std::int64_t i) { std::ranges::copy(list_of(parts[i]), all.begin() + at[i]); });
  return all;
}

}  // namespace

void list_special(std::span<const FacesOfBox* const> boxes, const std::vector<MadeFace>& others,
                  std::span<const std::uint8_t> is_plain, const std::vector<GivenSides>& given, ScalarGrid& grid) {
  const std::vector<FacesFromElsewhere> elsewhere = hand_over(boxes, others, grid.n_own);
  std::vector<SpecialOfBox> parts(boxes.size());
  parallel_for_dynamic(std::ssize(boxes),
                       [&](std::int64_t b) { parts[b] = list_box(*boxes[b], elsewhere[b], is_plain, given, grid); });
  parts.emplace_back();
  for (const MadeFace& f : others) parts.back().list(f);
  std::vector<std::int64_t> at;
  grid.listed = joined<ScalarFace>(
      parts, at, [](const SpecialOfBox& p) -> auto& { return p.listed; });
  grid.offsets = joined<FaceOffsets>(
      parts, at, [](const SpecialOfBox& p) -> auto& { return p.offsets; });
  grid.conductance = joined<double>(
      parts, at, [](const SpecialOfBox& p) -> auto& { return p.conductance; });
  for (std::size_t g = 0; g < given.size(); ++g) {
    grid.gradients.push_back({given[g], {}});
    grid.gradients.back().weight = joined<Vec3>(parts, at, [g](const SpecialOfBox& p) {
      return g < p.weights.size() ? std::span(p.weights[g]) : std::span<const Vec3>{};
    });
  }
  grid.special = joined<std::int32_t>(
      parts, at, [](const SpecialOfBox& p) -> auto& { return p.special; });
  const std::vector<std::int64_t> first_special = at;
  grid.volume_faces = joined<VolumeFace>(
      parts, at, [](const SpecialOfBox& p) -> auto& { return p.faces; });
  grid.special_begin = Array<std::int64_t>(grid.special.size() + 1, Purpose::connectivity);
  grid.special_begin[0] = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t s = 0; s < parts[i].end.size(); ++s)
      grid.special_begin[first_special[i] + s + 1] = at[i] + parts[i].end[s];
    grid.counts.unresolved += parts[i].unresolved;
  }
}

}  // namespace karst
