// SPDX-License-Identifier: BSD-3-Clause
#include "transport/volumes/special_volumes.hpp"

#include <algorithm>
#include <utility>

namespace karst {
namespace {

/// A face as a volume sees it that is not plain. They are sorted by their places, so that what is summed over them has
/// the same last bits whoever owns the volumes beside.
struct FaceOfVolume {
  VolumeFace face;
  Vec3 at;  ///< centroid, from that of the volume
};

/// How much there is of a box, then where it begins in the lists of the grid.
struct Places {
  std::int64_t listed = 0, special = 0, faces = 0;
};

/// The faces of the volumes of a box that are not plain.
class FacesOfVolumes {
 public:
  FacesOfVolumes(const FacesOfBox& box, std::span<const std::uint8_t> is_plain)
      : box_(box), is_plain_(is_plain), begin_(box.end - box.begin + 1, 0) {}

  /// First all faces are counted, then they are added: make_room() and begin() come between.
  void count(const MadeFace& f) {
    for_ends(f, [&](std::int32_t v, bool) { ++begin_[v - box_.begin + 1]; });
  }
  /// Returns how many there are.
  std::int64_t make_room() {
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    return begin_.back();
  }
  void begin() {
    next_.assign(begin_.begin(), begin_.end() - 1);
    faces_.resize(begin_.back());
  }
  void add(const MadeFace& f) {
    for_ends(f, [&](std::int32_t v, bool left) {
      faces_[next_[v - box_.begin]++] = {{f.face, left ? f.right : f.left, left},
                                         left ? f.at.from_left : f.at.from_right};
    });
  }
  /// Those of a volume, by their places.
  std::span<const FaceOfVolume> of(std::int32_t v) {
    const std::int32_t first = begin_[v - box_.begin];
    const std::span<FaceOfVolume> some = std::span(faces_).subspan(first, begin_[v - box_.begin + 1] - first);
    std::ranges::sort(some, {}, &FaceOfVolume::at);
    return some;
  }
  /// Leaves their memory to the next box.
  void clear() { faces_ = {}; }

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

/// The lists of one box.
class SpecialLister {
 public:
  SpecialLister(const FacesOfBox& box, const FacesFromElsewhere& elsewhere, std::span<const std::uint8_t> is_plain)
      : box_(box), elsewhere_(elsewhere), is_plain_(is_plain), faces_(box, is_plain) {}

  Places count(std::int32_t n_own) {
    Places n;
    n.listed = std::ranges::count_if(box_.faces, [&](const MadeFace& f) { return is_listed(f, n_own); });
    n.special = std::count(is_plain_.begin() + box_.begin, is_plain_.begin() + box_.end, std::uint8_t{0});
    for_all([&](const MadeFace& f) { faces_.count(f); });
    n.faces = faces_.make_room();
    return n;
  }
  void list(Places at, ScalarGrid& grid) {
    for (const MadeFace& f : box_.faces)
      if (is_listed(f, grid.n_own)) list_face(f, at.listed++, grid);
    faces_.begin();
    for_all([&](const MadeFace& f) { faces_.add(f); });
    for (std::int32_t v = box_.begin; v < box_.end; ++v) {
      if (is_plain_[v] != 0) continue;
      for (const FaceOfVolume& f : faces_.of(v)) grid.volume_faces[at.faces++] = f.face;
      grid.special[at.special++] = v;
      grid.special_begin[at.special] = at.faces;
    }
    faces_.clear();
  }
  static void list_face(const MadeFace& f, std::int64_t at, ScalarGrid& grid) {
    grid.listed[at] = {f.face, f.left, f.right, f.fragment};
    grid.offsets[at] = f.at;
    grid.conductance[at] = f.conductance;
  }

 private:
  bool is_listed(const MadeFace& f, std::int32_t n_own) const { return f.right >= n_own || is_plain_[f.right] == 0; }
  template <class F>
  void for_all(F&& f) const {
    for (const MadeFace* face : elsewhere_.before) f(*face);
    for (const MadeFace& face : box_.faces) f(face);
    for (const MadeFace* face : elsewhere_.after) f(*face);
  }

  const FacesOfBox& box_;
  const FacesFromElsewhere& elsewhere_;
  std::span<const std::uint8_t> is_plain_;
  FacesOfVolumes faces_;
};

}  // namespace

void list_special(std::span<const FacesOfBox* const> boxes, const std::vector<MadeFace>& others,
                  std::span<const std::uint8_t> is_plain, ScalarGrid& grid) {
  const std::vector<FacesFromElsewhere> elsewhere = hand_over(boxes, others, grid.n_own);
  std::vector<SpecialLister> listers;
  for (std::size_t b = 0; b < boxes.size(); ++b) listers.emplace_back(*boxes[b], elsewhere[b], is_plain);
  std::vector<Places> places(boxes.size());
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) { places[b] = listers[b].count(grid.n_own); });
  Places n;
  for (Places& at : places) {
    const Places here = std::exchange(at, n);
    n = {n.listed + here.listed, n.special + here.special, n.faces + here.faces};
  }
  const std::size_t n_listed = n.listed + others.size();
  grid.listed = {n_listed, Purpose::connectivity};
  grid.offsets = {n_listed, Purpose::connectivity};
  grid.conductance = {n_listed, Purpose::connectivity};
  grid.special = {static_cast<std::size_t>(n.special), Purpose::connectivity};
  grid.special_begin = {grid.special.size() + 1, Purpose::connectivity};
  grid.special_begin[0] = 0;
  grid.volume_faces = {static_cast<std::size_t>(n.faces), Purpose::connectivity};
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) { listers[b].list(places[b], grid); });
  for (const MadeFace& f : others) SpecialLister::list_face(f, n.listed++, grid);
}

}  // namespace karst
