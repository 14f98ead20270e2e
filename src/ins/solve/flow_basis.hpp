// SPDX-License-Identifier: BSD-3-Clause
// The vectors of a Krylov basis, four numbers per VoF, in compressed form: 16 bits, as multiples of the largest number
// of their component in a block of VoFs / 32767. The permissible error of a vector in a cycle of GMRES increases as the
// residual decreases (Simoncini & Szyld, SIAM J. Sci. Comput. 25 (2003) 454), so the first ones of a long basis are in
// single precision. It costs no additional iterations (docs/measurements/010).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm/memory.hpp"

namespace karst {

class FlowBasis {
 public:
  static constexpr std::int64_t block = 512;  ///< VoFs that share their largest number
  /// A basis of at most so many vectors is short: all in 16 bits. Of longer ones the first n_single are in single
  /// precision, as a cycle then reduces the residual by more than 16 bits resolve.
  static constexpr int short_basis = 12, n_single = 8;
  using Work = std::array<float, 4 * block>;  ///< a block of a vector, 0 beyond the end

  FlowBasis() = default;
  /// A basis of at most this number of vectors; allocates none of them.
  FlowBasis(std::int64_t n_vofs, int n_vectors);

  /// Allocates vectors 0 to n - 1 if there are fewer; they are retained. Not collective.
  void make_room(int n);
  void give_room_back();

  std::int64_t n_blocks() const { return (n_ + block - 1) / block; }
  /// Numbers of a block.
  std::int64_t size(std::int64_t b) const { return 4 * std::min(block, n_ - b * block); }

  // For one block of vector i, which must be allocated; different threads may work on different blocks.
  double dot(int i, std::int64_t b, const Work& w) const;
  void add(int i, std::int64_t b, double factor, Work& w) const;  ///< w += factor x vector
  /// Vector = w; w is replaced by the rounded values.
  void keep(int i, std::int64_t b, Work& w);

  std::int64_t bytes() const;

 private:
  const float* single(int i, std::int64_t b) const { return single_[i].data() + 4 * b * block; }
  const std::int16_t* half(int i, std::int64_t b) const { return half_[i - n_single_].data() + 4 * b * block; }
  std::size_t scale(int i, std::int64_t b) const { return 4 * ((i - n_single_) * n_blocks() + b); }

  std::int64_t n_ = 0;
  int n_single_ = 0;
  int n_made_ = 0;                         // allocated vectors
  std::vector<Array<float>> single_;       // whole blocks
  std::vector<Array<std::int16_t>> half_;  // whole blocks
  std::vector<float> scale_;               // per vector in 16 bits, block and component
};

}  // namespace karst
