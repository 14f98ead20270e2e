// SPDX-License-Identifier: BSD-3-Clause
// All large arrays of Karst: one arena that counts bytes by purpose and requests huge pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace karst {

class Comm;

enum class Purpose { geometry, connectivity, fields, stencils, solver, metadata, buffers };
inline constexpr int n_purposes = 7;
std::string_view name_of(Purpose);

namespace arena {
void* allocate(std::size_t bytes,
               Purpose);  ///< 64-byte aligned; huge pages asked for from 2 MiB on; throws Error when it fails
void release(void*, std::size_t bytes, Purpose) noexcept;
/// n * size; throws Error when that is beyond the address space.
std::size_t array_bytes(std::size_t n, std::size_t size, Purpose);
std::int64_t bytes_now(Purpose);
std::int64_t bytes_peak(Purpose);  ///< largest bytes_now so far
std::int64_t bytes_now();          ///< of all purposes
std::int64_t bytes_peak();         ///< largest bytes_now() so far
std::int64_t peak_resident_set();  ///< of this process, from the system [bytes]
/// Table of bytes by purpose (peak; sum and largest over the ranks) and the peak resident set. Collective; same text on
/// every rank.
std::string report(const Comm& comm);
}  // namespace arena

/// Fixed-size array from the arena. Not initialised unless a value is given: first touch is the user's.
template <class T>
class Array {
 public:
  Array() = default;
  Array(std::size_t n, Purpose purpose)
      : data_(n ? static_cast<T*>(arena::allocate(arena::array_bytes(n, sizeof(T), purpose), purpose)) : nullptr),
        n_(n),
        purpose_(purpose) {}
  Array(std::size_t n, Purpose purpose, T value) : Array(n, purpose) {
    for (auto& x : *this) x = value;
  }
  Array(Array&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), n_(std::exchange(o.n_, 0)), purpose_(o.purpose_) {}
  Array& operator=(Array&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(n_, o.n_);
    std::swap(purpose_, o.purpose_);
    return *this;
  }
  ~Array() {
    if (data_) arena::release(data_, n_ * sizeof(T), purpose_);
  }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + n_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + n_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<T> span() { return {data_, n_}; }
  std::span<const T> span() const { return {data_, n_}; }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  T* data_ = nullptr;
  std::size_t n_ = 0;
  Purpose purpose_ = Purpose::fields;
};

}  // namespace karst
