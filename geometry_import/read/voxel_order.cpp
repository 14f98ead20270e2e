// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/voxel_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {
namespace {

constexpr std::int64_t most_bases =
    8;  ///< planes whose voxels are compared with their neighbours; of small images more
constexpr std::int64_t most_compared = 1 << 26;  ///< voxels of these planes, if more than one
constexpr std::int64_t most_pairs = 1 << 20;     ///< along an axis, of all planes; beyond, not of every voxel
constexpr double clearly = 1.2;                  ///< times as alike along one of the axes
constexpr double least_alike = 1.05;             ///< of the differences along the other: less alike
constexpr double far_more = 20.0;       ///< times as alike along one of the axes: then it may be stretched, too
constexpr double most_stretched = 8.0;  ///< ratio of the differences along two axes of the order that is proposed
constexpr double dependent = 8.0;       ///< voxels that tell as much as one would
constexpr double by_chance = 5.0;       ///< standard deviations
constexpr double at_ends = 2.0;         ///< the same of differences across the ends of rows and planes
/// Differences over those of unrelated voxels, of which neighbours along an axis have nothing in common while those
/// along another resemble each other: sheared, and no order of the sizes is better.
constexpr double unlike = 0.8, alike = 0.35;
constexpr double bytes_clearly = 0.5;  ///< of the difference as given

/// Values whose differences are summed.
struct Sum {
  double n = 0.0, first = 0.0, second = 0.0;
  void add(double x) {
    n += 1.0;
    first += x;
    second += x * x;
  }
  double mean() const { return n > 0.0 ? first / n : 0.0; }
  /// Of the mean.
  double deviation() const {
    if (n == 0.0) return 0.0;
    const double m = mean();
    return std::sqrt(std::max(second / n - m * m, 0.0) * dependent / n);
  }
};

/// Mean |a - b| of all pairs: Σ_i (2 i - n + 1) x_i over half the number of pairs, x in order.
double unrelated_difference(std::vector<float> x) {
  std::ranges::sort(x);
  const auto n = static_cast<double>(x.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (2.0 * static_cast<double>(i) - n + 1.0) * double{x[i]};
  return n > 1.0 ? sum / (0.5 * n * (n - 1.0)) : 0.0;
}

/// Orders of the sizes other than the one given; axes of one voxel stay.
std::vector<Index> other_orders(const Index& size) {
  std::vector<Index> all;
  std::array<int, 3> at{0, 1, 2};
  do {
    const Index n{size[at[0]], size[at[1]], size[at[2]]};
    bool stays = true;
    for (int d = 0; d < 3; ++d) stays = stays && (size[d] == 1) == (n[d] == 1);
    if (stays && n != size && std::ranges::count(all, n) == 0) all.push_back(n);
  } while (std::ranges::next_permutation(at).found);
  return all;
}

/// From a voxel to its neighbour along an axis, in the file.
std::int64_t step(const Index& n, int axis) { return axis == 0 ? 1 : axis == 1 ? n[0] : std::int64_t{n[0]} * n[1]; }

/// The place is not the last one along the axis.
bool has_neighbour(const Index& n, int axis, std::int64_t place) {
  return place / step(n, axis) % n[axis] + 1 < n[axis];
}

std::vector<int> base_planes(const Index& n) {
  const std::int64_t allowed = std::max<std::int64_t>(most_compared / (std::int64_t{n[0]} * n[1]), 1);
  const std::int64_t wanted = std::max(most_bases, most_pairs / (std::int64_t{n[0]} * n[1]));
  const std::int64_t planes = n[2], count = std::min({planes, wanted, allowed});
  std::vector<int> all;
  for (std::int64_t k = 0; k < count; ++k) all.push_back(static_cast<int>((2 * k + 1) * planes / (2 * count)));
  return all;
}

class Comparison {
 public:
  explicit Comparison(ImageFile& image)
      : image_(image), size_(image.info().size), in_plane_(std::int64_t{size_[0]} * size_[1]) {
    orders_ = other_orders(size_);
    orders_.insert(orders_.begin(), size_);
    sums_.resize(orders_.size());
    ends_.resize(orders_.size());
  }

  /// In the order given; after find().
  NeighbourDifference given() const { return unrelated_ > 0.0 ? difference(0) : NeighbourDifference{}; }

  std::optional<OtherOrder> find() {
    const std::vector<int> planes = base_planes(size_);
    stride_ = std::max<std::int64_t>(std::ssize(planes) * in_plane_ / most_pairs, 1) | 1;
    std::vector<float> some;
    for (const int plane : planes) {
      base_ = read(plane);
      for (std::int64_t i = 0; i < in_plane_; i += stride_ * std::ssize(planes)) some.push_back(base_[i]);
      std::vector<std::int64_t> done;
      for (const Index& n : orders_)
        for (int axis = 0; axis < 3; ++axis)
          if (n[axis] > 1 && std::ranges::count(done, step(n, axis)) == 0) {
            done.push_back(step(n, axis));
            compare(plane, done.back());
          }
    }
    unrelated_ = unrelated_difference(std::move(some));
    if (!(unrelated_ > 0.0)) return {};
    std::optional<OtherOrder> best;
    for (std::size_t o = 1; o < orders_.size(); ++o) {
      const OtherOrder found{orders_[o], difference(0), difference(o)};
      const bool stretched = found.other.largest(size_) > most_stretched * found.other.least(size_);
      if (!is_better(o) || (stretched && !is_far_better(found))) continue;
      if (!best || found.other.largest(found.size) < best->other.largest(best->size)) best = found;
    }
    return best;
  }

 private:
  std::vector<float> read(int plane) {
    std::vector<float> values(in_plane_);
    image_.read_plane(plane, values);
    return values;
  }

  /// The voxels of a plane with those that are `apart` further on in the file.
  void compare(int plane, std::int64_t apart) {
    const std::int64_t past = apart % in_plane_;
    const auto first = plane + apart / in_plane_;
    if (first >= size_[2]) return;
    const std::vector<float> here = first == plane ? base_ : read(static_cast<int>(first));
    const std::vector<float> next =
        past > 0 && first + 1 < size_[2] ? read(static_cast<int>(first + 1)) : std::vector<float>();
    const std::int64_t end = next.empty() ? in_plane_ - past : in_plane_;
    std::vector<std::pair<std::size_t, int>> neighbours;  // orders and axes along which these are
    for (std::size_t o = 0; o < orders_.size(); ++o)
      for (int axis = 0; axis < 3; ++axis)
        if (orders_[o][axis] > 1 && step(orders_[o], axis) == apart) neighbours.emplace_back(o, axis);
    for (std::int64_t i = 0; i < end; i += stride_) {
      const float there = i + past < in_plane_ ? here[i + past] : next[i + past - in_plane_];
      const double differ = std::abs(double{base_[i]} - double{there});
      const std::int64_t place = plane * in_plane_ + i;
      for (const auto& [o, axis] : neighbours) add(o, axis, place, differ);
    }
  }

  void add(std::size_t order, int axis, std::int64_t place, double differ) {
    const bool inside = has_neighbour(orders_[order], axis, place);
    if (inside) sums_[order][axis].add(differ);
    if (order == 0) return;
    if (step(size_, axis) != step(orders_[order], axis) || inside == has_neighbour(size_, axis, place)) return;
    ends_[order][axis][inside ? 0 : 1].add(differ);
  }

  NeighbourDifference difference(std::size_t order) const {
    NeighbourDifference d;
    for (int axis = 0; axis < 3; ++axis) d.along[axis] = sums_[order][axis].mean() / unrelated_;
    return d;
  }

  bool is_far_better(const OtherOrder& found) const {
    for (int axis = 0; axis < 3; ++axis)
      if (size_[axis] > 1 && found.given.along[axis] > far_more * found.other.along[axis]) return true;
    return false;
  }

  bool is_better(std::size_t order) const {
    bool better = false;
    for (int axis = 0; axis < 3; ++axis) {
      if (size_[axis] == 1) continue;
      const Sum &given = sums_[0][axis], &other = sums_[order][axis];
      if (given.n == 0.0 || other.n == 0.0) return false;
      if (other.mean() > unrelated_) return false;
      const double more = other.mean() - given.mean();
      if (step(orders_[order], axis) == step(size_, axis)) {
        const auto& [of_given, at_other] = ends_[order][axis];
        const Sum& of_other = at_other.n > 0.0 ? at_other : given;  // its ends are ends of the one given, too
        if (of_given.mean() - of_other.mean() > at_ends * std::hypot(of_given.deviation(), of_other.deviation()))
          return false;
        continue;
      }
      const double chance = by_chance * std::hypot(given.deviation(), other.deviation());
      if (more > chance && other.mean() > least_alike * given.mean()) return false;
      better = better || (-more > 2.0 * chance && given.mean() > clearly * other.mean());
    }
    return better;
  }

  ImageFile& image_;
  Index size_;
  std::int64_t in_plane_, stride_ = 1;
  std::vector<Index> orders_;             ///< the one given first
  std::vector<std::array<Sum, 3>> sums_;  ///< by order, along its axes
  /// Where neighbours in the order and in the one given are the same number of voxels apart: pairs across ends of rows
  /// or planes of the one given, and of the order.
  std::vector<std::array<std::array<Sum, 2>, 3>> ends_;
  std::vector<float> base_;
  double unrelated_ = 0.0;
};

std::string sizes(const Index& n) { return fmt::format("{}x{}x{}", n[0], n[1], n[2]); }

/// "3 % along x, 24 % along y"
std::string text_of(const NeighbourDifference& d, const Index& n) {
  std::string text;
  for (int axis = 0; axis < 3; ++axis)
    if (n[axis] > 1)
      text += fmt::format("{}{:.0f} % along {}", text.empty() ? "" : ", ", 100.0 * d.along[axis], axis_names[axis]);
  return text;
}

}  // namespace

double NeighbourDifference::least(const Index& size) const {
  double least = largest(size);
  for (int axis = 0; axis < 3; ++axis)
    if (size[axis] > 1) least = std::min(least, along[axis]);
  return least;
}

double NeighbourDifference::largest(const Index& size) const {
  double most = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    if (size[axis] > 1) most = std::max(most, along[axis]);
  return most;
}

std::optional<OtherOrder> other_order(ImageFile& image) { return Comparison(image).find(); }

std::optional<OtherBytes> other_bytes(ImageFile& image) {
  const VoxelType type = image.info().type;
  if (type != VoxelType::uint16 && type != VoxelType::int16) return {};
  const Index& n = image.info().size;
  const std::int64_t in_plane = std::int64_t{n[0]} * n[1];
  std::array<Sum, 2> sums;  // as given, with bytes exchanged
  std::array<std::vector<float>, 2> some;
  std::vector<float> plane(in_plane);
  const std::vector<int> planes = base_planes(n);
  const std::int64_t stride = std::max<std::int64_t>(std::ssize(planes) * in_plane / most_pairs, 1) | 1;
  const auto exchanged = [&](float value) {
    const auto bits = static_cast<std::uint16_t>(static_cast<std::int32_t>(value));
    const auto other = static_cast<std::uint16_t>(bits << 8U | bits >> 8U);
    return type == VoxelType::int16 ? static_cast<float>(static_cast<std::int16_t>(other)) : static_cast<float>(other);
  };
  for (const int p : planes) {
    image.read_plane(p, plane);
    for (std::int64_t i = 0; i < in_plane; i += stride) {
      some[0].push_back(plane[i]);
      some[1].push_back(exchanged(plane[i]));
      if (!has_neighbour(n, 0, i)) continue;
      sums[0].add(std::abs(double{plane[i]} - double{plane[i + 1]}));
      sums[1].add(std::abs(double{exchanged(plane[i])} - double{exchanged(plane[i + 1])}));
    }
  }
  const double as_given = unrelated_difference(std::move(some[0])), other = unrelated_difference(std::move(some[1]));
  if (!(as_given > 0.0) || !(other > 0.0)) return {};
  const OtherBytes found{sums[0].mean() / as_given, sums[1].mean() / other};
  return found.exchanged < bytes_clearly * found.given ? std::optional(found) : std::nullopt;
}

std::optional<double> two_in_one(ImageFile& image) {
  const VoxelType type = image.info().type;
  if (type != VoxelType::uint16 && type != VoxelType::int16) return {};
  const Index& n = image.info().size;
  std::vector<float> plane(std::int64_t{n[0]} * n[1]), bytes;
  Sum apart;
  const std::vector<int> planes = base_planes(n);
  const std::int64_t stride = std::max<std::int64_t>(std::ssize(planes) * std::ssize(plane) / most_pairs, 1) | 1;
  for (const int p : planes) {
    image.read_plane(p, plane);
    for (std::int64_t i = 0; i < std::ssize(plane); i += stride) {
      const auto bits = static_cast<std::uint16_t>(static_cast<std::int32_t>(plane[i]));
      const auto low = static_cast<float>(bits & 0xffU), high = static_cast<float>(bits >> 8U);
      apart.add(std::abs(double{low} - double{high}));
      bytes.push_back(low);
      bytes.push_back(high);
    }
  }
  const double unrelated = unrelated_difference(std::move(bytes));
  if (!(unrelated > 0.0) || apart.mean() >= bytes_clearly * unrelated) return {};
  return apart.mean() / unrelated;
}

namespace {

/// Voxels with the next one in the file, and how they differ from the one `period` further on.
struct Part {
  std::vector<float> here, next;
  Sum near, far;
};

std::vector<Part> parts_of(ImageFile& image, std::int64_t period) {
  const Index& n = image.info().size;
  std::vector<float> plane(std::int64_t{n[0]} * n[1]);
  const std::vector<int> planes = base_planes(n);
  // Every part equally often.
  const std::int64_t most = std::ssize(planes) * std::ssize(plane) / most_pairs, stride = period * most + 1;
  std::vector<Part> parts(period);
  for (const int p : planes) {
    image.read_plane(p, plane);
    for (std::int64_t i = 0; i + period < std::ssize(plane); i += stride) {
      Part& part = parts[(p * std::ssize(plane) + i) % period];
      part.near.add(std::abs(double{plane[i]} - double{plane[i + 1]}));
      part.far.add(std::abs(double{plane[i]} - double{plane[i + period]}));
      part.here.push_back(plane[i]);
      part.next.push_back(plane[i + 1]);
    }
  }
  return parts;
}

/// Mean difference of voxels of the part from those that follow any of it: of all pairs of both kinds half are such.
double from_others(const Part& part) {
  std::vector<float> both = part.here;
  both.insert(both.end(), part.next.begin(), part.next.end());
  const double within = 0.5 * (unrelated_difference(part.here) + unrelated_difference(part.next));
  return 2.0 * unrelated_difference(std::move(both)) - within;
}

}  // namespace

std::optional<int> part_of_wider(ImageFile& image) {
  constexpr std::size_t enough = 200;
  constexpr double least_unlike = 0.6, most_unlike = 1.4;  // over from_others()
  constexpr int least_row = 32;                            // in shorter ones what is drawn repeats by itself
  const VoxelType type = image.info().type;
  const int bytes = bytes_of(type);
  if (bytes > 2 || image.info().size[0] < least_row) return {};
  for (const int wider : {2, 4, 8}) {
    if (wider <= bytes) continue;
    const std::vector<Part> parts = parts_of(image, wider / bytes);
    if (std::ranges::any_of(parts, [](const Part& p) { return p.here.size() < enough; })) return {};
    if (std::ranges::all_of(parts, [](const Part& p) { return p.far.mean() == 0.0; })) continue;
    for (const Part& part : parts) {
      const double near = part.near.mean();
      if (!(part.far.mean() < 0.5 * near)) continue;
      if (const double others = from_others(part); near > least_unlike * others && near < most_unlike * others)
        return wider;
    }
  }
  return {};
}

std::string doubt_about_layout(ImageFile& image, bool big_endian) {
  if (const auto bytes = part_of_wider(image))
    return fmt::format(
        "voxels resemble those {} further on in a row more than their neighbours, as parts of values of {} bytes do: "
        "is `type = {}` right, with {} times fewer voxels?",
        *bytes / bytes_of(image.info().type), *bytes,
        *bytes == 2   ? "uint16"
        : *bytes == 4 ? "float32"
                      : "float64",
        *bytes / bytes_of(image.info().type));
  if (const auto apart = two_in_one(image))
    return fmt::format(
        "the two bytes of each value differ by {:.0f} % as much as unrelated ones do, as neighbouring voxels of one "
        "byte "
        "do: is `type = uint8` right, with twice as many voxels?",
        100.0 * *apart);
  if (const auto found = other_bytes(image))
    return fmt::format(
        "neighbouring voxels differ by {:.0f} % as much as unrelated ones do, with the bytes of each value exchanged "
        "by "
        "{:.0f} %: is `endian = {}` right?",
        100.0 * found->given, 100.0 * found->exchanged, big_endian ? "little" : "big");
  Comparison comparison(image);
  const auto found = comparison.find();
  const Index& given = image.info().size;
  if (const NeighbourDifference d = comparison.given(); !found && d.largest(given) > unlike && d.least(given) < alike)
    return fmt::format(
        "neighbouring voxels differ by {} as much as unrelated ones do: are `size`, `type` and `skip_bytes` right? "
        "Where "
        "they are not, the image is sheared",
        text_of(d, given));
  if (!found) return {};
  return fmt::format(
      "the sizes may be in the wrong order: read as {} neighbouring voxels differ by {} as much as unrelated ones do, "
      "read as {} by {}. The size whose voxels follow one another in the file (x) comes first, that of its planes (z) "
      "last (an array of numpy in C order: the last axis first); is `size = {}` right?",
      sizes(given), text_of(found->given, given), sizes(found->size), text_of(found->other, found->size),
      sizes(found->size));
}

}  // namespace karst
