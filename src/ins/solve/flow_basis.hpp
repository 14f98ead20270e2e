// SPDX-License-Identifier: BSD-3-Clause
// The vectors of a Krylov basis, four numbers per VoF, in little memory: the first ones in single precision, the others
// in 16 bits, as whole multiples of the largest number of their component in a block of VoFs over 32767. What a cycle
// of GMRES may get wrong in a vector grows as the residual falls (Simoncini & Szyld, SIAM J. Sci. Comput. 25 (2003)
// 454), so that later vectors need fewer digits. docs/measurements/010 has the iterations that this costs: none.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm/memory.hpp"

namespace karst {

class FlowBasis {
 public:
  static constexpr std::int64_t block = 512;  ///< VoFs that share their largest number
  static constexpr int n_single = 8;          ///< vectors in single precision
  using Work = std::array<float, 4 * block>;  ///< a block of a vector, 0 beyond the end

  FlowBasis() = default;
  /// Of at most so many vectors, without room for any.
  FlowBasis(std::int64_t n_vofs, int n_vectors);

  /// Room for vectors 0 to n - 1, which stays. Allocates when there were fewer. Not collective.
  void make_room(int n);
  void give_room_back();

  std::int64_t n_blocks() const { return (n_ + block - 1) / block; }
  /// Numbers of a block.
  std::int64_t size(std::int64_t b) const { return 4 * std::min(block, n_ - b * block); }

  // Of one block of vector i, which has room; any number of threads on different blocks.
  double dot(int i, std::int64_t b, const Work& w) const;
  void add(int i, std::int64_t b, double factor, Work& w) const;  ///< w += factor x vector
  /// Vector = w; w becomes what is kept.
  void keep(int i, std::int64_t b, Work& w);

  std::int64_t bytes() const;

 private:
  const float* single(int i, std::int64_t b) const { return single_[i].data() + 4 * b * block; }
  const std::int16_t* half(int i, std::int64_t b) const { return half_[i - n_single].data() + 4 * b * block; }
  std::size_t scale(int i, std::int64_t b) const { return 4 * ((i - n_single) * n_blocks() + b); }

  std::int64_t n_ = 0;
  int n_made_ = 0;                         // vectors with room
  std::vector<Array<float>> single_;       // whole blocks
  std::vector<Array<std::int16_t>> half_;  // whole blocks
  std::vector<float> scale_;               // per vector in 16 bits, block and component
};

}  // namespace karst
