// SPDX-License-Identifier: BSD-3-Clause
// Generalised conjugate residuals with a short memory, for A x = b and a preconditioner M that may change from step to
// step (single precision, inner iterations): among the last few directions p_j with images q_j = A p_j,
//
//   p = M r,  q = A p,   p, q -= Σ_j <q, q_j> / <q_j, q_j> p_j, q_j,   α = <q, r> / <q, q>,   x += α p,  r -= α q
//
// Source: Vinsome, SPE 5729 (1976); Eisenstat, Elman & Schultz, SIAM J. Numer. Anal. 20 (1983) 345. With all directions
// kept it is flexible GMRES; for operators as nearly symmetric as ours two do as well (decision 008). The residual is
// that of x to round-off, whatever M does: GMRES preconditioned on the right by a cycle in single precision believes
// in 1e-8 where it has 1e-6.
//
// Where a step gains nothing (<q, r> = 0) the same direction would come again. The next one is then p = M q of the last
// image, the step of Orthodir: it needs no gain to go on through the Krylov space. Source: Young & Jea, Linear Algebra
// Appl. 34 (1980) 159.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"

namespace karst {

/// How many directions are kept: `first`, and `later` of them once a solve has taken `patience` steps. Few are enough
/// for most solves, and cheaper; with two some stand still where M is far from symmetric.
struct GcrMemory {
  int first = 2, patience = 0, later = 2;
  constexpr GcrMemory(int always = 2) : first(always), later(always) {}  // NOLINT(google-explicit-constructor)
  constexpr GcrMemory(int few, int steps, int many) : first(few), patience(steps), later(many) {}
};

/// The vector work for C right-hand sides side by side (component c of unknown i at C i + c), threaded, in three passes
/// and three sums over the ranks per step for all of them. Each right-hand side has its own factors and sizes, so its
/// iterates have the same bits whoever is beside it, for any number of threads. Use:
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

  /// r = b - A x and no directions; |r|. Nobody rests. Collective.
  Sizes start(std::span<const double> b, std::span<const double> ax);
  /// The same for x = 0: r = b.
  Sizes start(std::span<const double> b);
  std::span<const double> residual() const { return r_.span(); }
  /// The residual; the last image, as large, of right-hand sides whose last step gained nothing. May lie in image().
  /// Not collective.
  std::span<const double> to_precondition();
  std::span<double> direction() { return slots_[next_].p.span(); }
  std::span<double> image() { return slots_[next_].q.span(); }
  /// Right-hand side c stands still until the next start(): neither its x nor its r changes, whatever its directions
  /// are (finite numbers). All ranks must ask for the same. Not collective.
  void rest(int c) { rests_[c] = true; }
  /// Takes the step; |r| after it. NaN where the image is no new direction (the method has broken down there, and that
  /// right-hand side rests). Collective; allocates in the first steps only.
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
  std::array<bool, C> rests_{}, stands_{};  // stands: the last step gained nothing
  Values left_{};                           // |r|
};

/// Sizes of C right-hand sides, which are a number where there is one.
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
