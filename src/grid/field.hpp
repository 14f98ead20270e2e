// SPDX-License-Identifier: BSD-3-Clause
// Level data: one value per slot of the own boxes (own VoFs, halo, ghosts, closed slot), component after component.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "grid/level_graph.hpp"

namespace karst {

/// Values over the VoFs of a level. The closed slot of each box always holds 0, so kernels may read it for sides
/// without fluid; it must not be written. A face field has three components: component d at slot v is the face on the
/// low side of v. Shares ownership of the slot map, so the graph may be moved.
template <class T>
class BasicField {
 public:
  BasicField() = default;
  /// All slots 0, each box is first touched by the thread that works on it in loops over boxes.
  explicit BasicField(const LevelGraph& graph, int n_components = 1, Purpose purpose = Purpose::fields);

  int n_components() const { return n_components_; }
  int n_local() const { return slots_ ? slots_->n_local() : 0; }
  const std::shared_ptr<const SlotMap>& slots() const { return slots_; }
  std::int64_t n_slots() const { return slots_ ? slots_->begin.back() : 0; }
  std::size_t bytes() const { return values_.bytes(); }

  /// All slots of an own box: own VoFs first.
  std::span<T> box(int local, int component = 0) { return {data(component) + begin(local), size(local)}; }
  std::span<const T> box(int local, int component = 0) const { return {data(component) + begin(local), size(local)}; }
  /// Own VoFs of an own box.
  std::span<T> own(int local, int component = 0) { return box(local, component).first(n_own(local)); }
  std::span<const T> own(int local, int component = 0) const { return box(local, component).first(n_own(local)); }
  /// First of the n_slots() values of a component.
  T* data(int component = 0) { return values_.data() + component * n_slots(); }
  const T* data(int component = 0) const { return values_.data() + component * n_slots(); }

  /// Sets every slot of every component except the closed ones. Threaded.
  void fill(T value);

 private:
  std::int64_t begin(int local) const { return slots_->begin[local]; }
  std::size_t size(int local) const { return begin(local + 1) - begin(local); }
  std::size_t n_own(int local) const { return slots_->n_own(local); }

  std::shared_ptr<const SlotMap> slots_;
  int n_components_ = 0;
  Array<T> values_;
};

/// Four values of one VoF, interleaved: a kernel that visits a neighbour loads all of them at once.
struct alignas(32) Quad {
  std::array<double, 4> v;
};

/// C numbers of one VoF, interleaved, in single precision.
template <int C>
struct Values {
  std::array<float, C> v;
};

using Field = BasicField<double>;
using FloatField = BasicField<float>;
using QuadField = BasicField<Quad>;
using NumberField = BasicField<std::int64_t>;
using ByteField = BasicField<std::uint8_t>;

// Over the own VoFs of this rank, one component; sums in double, in an order that does not depend on the threads.
template <class T>
double local_dot(const BasicField<T>& a, const BasicField<T>& b, int component = 0);
template <class T>
double local_sum(const BasicField<T>& a, int component = 0);
template <class T>
double local_max_norm(const BasicField<T>& a, int component = 0);  ///< 0 without VoFs; NaN if a value is NaN

// The same over all ranks (the sums depend on the distribution of the layout to round-off). Collective.
template <class T>
double dot(const Comm& comm, const BasicField<T>& a, const BasicField<T>& b, int component = 0) {
  return comm.sum(local_dot(a, b, component));
}
template <class T>
double max_norm(const Comm& comm, const BasicField<T>& a, int component = 0) {
  return comm.max(local_max_norm(a, component));
}

extern template class BasicField<double>;
extern template class BasicField<float>;
extern template class BasicField<Quad>;
extern template class BasicField<Values<2>>;
extern template class BasicField<Values<3>>;
extern template class BasicField<Values<4>>;
extern template class BasicField<Values<6>>;
extern template class BasicField<Values<12>>;
extern template class BasicField<std::int32_t>;
extern template class BasicField<std::int64_t>;
extern template class BasicField<std::uint8_t>;

}  // namespace karst
