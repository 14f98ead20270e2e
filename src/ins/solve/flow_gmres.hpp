// SPDX-License-Identifier: BSD-3-Clause
// Restarted GMRES, preconditioned from the right (Saad & Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856), for vectors
// of four numbers per VoF. The basis is in 16 bits or single precision (flow_basis.hpp); each cycle starts from the
// true residual, in double precision, so the accuracy of the basis limits a cycle but not the solution.
// Orthogonalisation by blocks (classical Gram-Schmidt, repeated where cancellation is strong), two sums over the ranks
// per iteration. Sums do not depend on the number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "grid/field.hpp"
#include "ins/operator/float_quad.hpp"
#include "ins/solve/flow_basis.hpp"

namespace karst {

struct GmresOptions {
  double tolerance = 1e-8;  ///< of |b - K x| / |b|
  int max_iterations = 300;
  int restart = 20;  ///< vectors of the basis at most (flow_basis.hpp)
};

struct GmresReport {
  int iterations = 0;
  double relative_residual = 0.0;  ///< true one, at the end
  std::vector<double> history;     ///< relative residual per iteration, by the recurrence
};

/// The linear problem of GMRES. All functions are collective and work on the own VoFs of this rank.
/// @tparam Q  Quad, or FloatQuad: the work vector in single precision, so that only residual() is in double precision
template <class Q>
struct BasicGmresProblem {
  std::string name;                               ///< for messages
  std::function<void(std::span<Q> r)> residual;   ///< r = b - K x
  std::function<void(std::span<Q> v)> apply;      ///< v = K M v
  std::function<void(std::span<const Q> v)> add;  ///< x += M v
  /// Linear functionals of the vector of the last apply(), of this rank; summed over the ranks.
  std::function<Vec3()> functional;
  /// Called after each iteration: iterations, relative residual, the functional of the update of x since the last call
  /// of residual(). May be empty.
  std::function<void(int, double, const Vec3&)> progress;
};

using GmresProblem = BasicGmresProblem<Quad>;

template <class Q>
class BasicFlowGmres {
 public:
  BasicFlowGmres(const Comm& comm, std::int64_t n_own, const GmresOptions& options);

  /// @param size  |b| Throws Error if it does not converge. Allocates a vector of the basis in iterations that no
  /// earlier solve reached, otherwise nothing. Collective.
  GmresReport solve(const BasicGmresProblem<Q>& problem, double size);
  /// One cycle from the residual in work(), `start` long: iterations until it is `goal` long by the recurrence or the
  /// basis is full, counted in the report and at most max_iterations there. Leaves in work() the argument of
  /// problem.add(). Allocates as solve() does, and the history. Collective.
  /// @param size  what the history refers to
  void cycle(const BasicGmresProblem<Q>& problem, double size, double start, double goal, GmresReport& report);
  /// |v| over all ranks. Collective.
  double norm(std::span<const Q> v);
  std::span<Q> work() { return w_.span(); }
  /// Frees the vectors of the basis; the next solve allocates those that it needs. Not collective.
  void give_room_back() { basis_.give_room_back(); }
  std::int64_t bytes() const;

 private:
  std::int64_t n_blocks() const { return basis_.n_blocks(); }
  using Number = typename decltype(Q::v)::value_type;
  Number* block_of_w(std::int64_t b) { return w_.data()->v.data() + 4 * b * FlowBasis::block; }
  double* partial(std::int64_t b) { return partial_.data() + b * (options_.restart + 2); }
  void sum_partials(int n, std::span<double> to) const;
  template <class F>
  void for_blocks(double factor, F&& f);
  template <class F>
  void change_blocks(double factor, F&& f);
  std::span<double> find_parts(int m, const Vec3& more);
  double take_out(int m, std::span<const double> parts);
  void keep(int j, double length);
  double orthogonalize(int j, const Vec3& functional);
  void rotate(int j, double next);
  void back_substitute(int n);
  void combine(int n);
  double& h(int i, int j) { return h_[j * (options_.restart + 1) + i]; }

  Comm comm_;
  GmresOptions options_;
  Array<Q> w_;
  FlowBasis basis_;
  Array<double> partial_;
  std::vector<double> h_, sums_, g_, cosine_, sine_, y_;
  std::vector<Vec3> functionals_;
};

extern template class BasicFlowGmres<Quad>;
extern template class BasicFlowGmres<FloatQuad>;
using FlowGmres = BasicFlowGmres<Quad>;

}  // namespace karst
