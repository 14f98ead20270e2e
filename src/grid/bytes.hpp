// SPDX-License-Identifier: BSD-3-Clause
// Writes numbers one after the other into the bytes of a message, and reads them back in the same order.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace karst {

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> &&(!requires(T t) { t.data(); }) void put(const T& x) {
    put(std::span<const T>(&x, 1));
  }
  template <class T>
  void put(std::span<const T> x) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto raw = std::as_bytes(x);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  /// The length, then the elements.
  template <class T>
  void put_vector(const std::vector<T>& x) {
    put(x.size());
    put(std::span<const T>(x));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    assert(at_ + sizeof(T) <= bytes_.size());
    T x;
    std::memcpy(&x, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return x;
  }
  template <class T>
  std::vector<T> get_vector() {
    std::vector<T> x(get<std::size_t>());
    assert(at_ + x.size() * sizeof(T) <= bytes_.size());
    if (!x.empty()) std::memcpy(x.data(), bytes_.data() + at_, x.size() * sizeof(T));
    at_ += x.size() * sizeof(T);
    return x;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace karst
