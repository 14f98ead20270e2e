// SPDX-License-Identifier: BSD-3-Clause
// Generalised conjugate residuals with a short memory, for A x = b and a preconditioner M that may change from step to
// step (single precision, inner iterations): among the last few directions p_j with images q_j = A p_j,
//
//   p = M r,  q = A p,   p, q -= Σ_j <q, q_j> / <q_j, q_j> p_j, q_j,   α = <q, r> / <q, q>,   x += α p,  r -= α q
//
// Source: Vinsome, SPE 5729 (1976); Eisenstat, Elman & Schultz, SIAM J. Numer. Anal. 20 (1983) 345. With all directions
// stored it is flexible GMRES; for the nearly symmetric operators of Karst two are as good (decision 008). The residual
// is that of x to round-off for any M, whereas right-preconditioned GMRES with a cycle in single precision reports 1e-8
// where the true residual is 1e-6.
//
// Where a step makes no progress (<q, r> = 0), the same direction would be generated again. The next one is then p = M
// q with the last image, the step of Orthodir, which extends the Krylov space without progress. Source: Young & Jea,
// Linear Algebra Appl. 34 (1980) 159.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"

namespace karst {

/// Number of stored directions: `first`, and `later` after `patience` steps of a solve. Few suffice for most solves and
/// are cheaper; with two some stagnate where M is far from symmetric.
struct GcrMemory {
  int first = 2, patience = 0, later = 2;
  constexpr GcrMemory(int always = 2) : first(always), later(always) {}  // NOLINT(google-explicit-constructor)
  constexpr GcrMemory(int few, int steps, int many) : first(few), patience(steps), later(many) {}
};

/// The vector operations for C interleaved right-hand sides (component c of unknown i at C i + c), threaded, in three
/// passes and three sums over the ranks per step for all of them. Each right-hand side has its own coefficients and
/// norms, so its iterates are bitwise the same for any other right-hand sides and any number of threads. Use:
///   auto left = gcr.start(b, ax);                              // ax = A x
///   while (left is too large) { direction = M to_precondition; image = A direction; left = gcr.advance(x); }
/// and, for C > 1, rest(c) as soon as left[c] is small enough.
template <int C>
class BasicTruncatedGcr {
 public:
  static constexpr int largest_memory = 20;
  /// A number per right-hand side.
  using Sizes = std::conditional_t<C == 1, double, std::array<double, C>>;

  /// @param n       own unknowns
  /// @param memory  1 to largest_memory
  BasicTruncatedGcr(const Comm& comm, std::int64_t n, GcrMemory memory = {});

  /// Sets r = b - A x without directions; returns |r|. All right-hand sides are active. Collective.
  Sizes start(std::span<const double> b, std::span<const double> ax);
  /// The same for x = 0: r = b.
  Sizes start(std::span<const double> b);
  std::span<const double> residual() const { return r_.span(); }
  /// The vector to precondition: the residual, or the last image, scaled to its norm, of right-hand sides whose last
  /// step made no progress. May be stored in image(). Not collective.
  std::span<const double> to_precondition();
  std::span<double> direction() { return slots_[next_].p.span(); }
  std::span<double> image() { return slots_[next_].q.span(); }
  /// Deactivates right-hand side c until the next start(): neither its x nor its r changes, for any (finite)
  /// directions. All ranks must make the same call. Not collective.
  void rest(int c) { rests_[c] = true; }
  /// Makes the step and returns |r| after it; NaN where the image is not a new direction (breakdown; this right-hand
  /// side is deactivated). Collective; allocates in the first steps only.
  Sizes advance(std::span<double> x);
  std::int64_t bytes() const;

 private:
  using Values = std::array<double, C>;
  struct Slot {
    Array<double> p, q;
    Values square{};  // <q, q>; 0: not in use
  };
  struct Factors {  // of the kept directions
    std::size_t n = 0;
    std::array<const Slot*, largest_memory> slot{};
    std::array<Values, largest_memory> value{};
  };
  Factors kept() const;
  void find_factors(Factors& kept) const;
  std::array<Values, 2> make_orthogonal(const Factors& kept);
  void prepare(std::size_t slot);
  Sizes begin(const Values& squares);
  Sizes sizes() const;
  template <std::size_t k, class F>
  std::array<Values, k> over_blocks(F&& f) const;

  Comm comm_;
  std::int64_t n_;
  GcrMemory memory_;
  int steps_ = 0;                    // of this solve
  std::size_t next_ = 0, last_ = 0;  // slots of the next direction, of the last one
  Array<double> r_;
  std::vector<Slot> slots_;
  std::array<bool, C> rests_{}, stands_{};  // the last step made no progress
  Values left_{};                           // |r|
};

/// Norms of C right-hand sides; convertible to a number for C = 1.
template <int C>
std::array<double, C> sizes_of(const typename BasicTruncatedGcr<C>::Sizes& sizes) {
  if constexpr (C == 1)
    return {sizes};
  else
    return sizes;
}

extern template class BasicTruncatedGcr<1>;
extern template class BasicTruncatedGcr<2>;
extern template class BasicTruncatedGcr<3>;
extern template class BasicTruncatedGcr<4>;
using TruncatedGcr = BasicTruncatedGcr<1>;

}  // namespace karst
