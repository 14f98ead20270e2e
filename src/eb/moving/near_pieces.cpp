// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/near_pieces.hpp"

#include <bit>

namespace karst {

Index NearPieces::cell_of(const Vec3& x) const {
  Index c;
  for (int d = 0; d < 3; ++d) {
    const int n = domain_.cells[d], i = static_cast<int>(std::floor(x[d]));
    c[d] = domain_.periodic[d] ? (i % n + n) % n : std::clamp(i, 0, n - 1);
  }
  return c;
}

NearPieces::NearPieces(const Domain& domain, std::vector<NearPiece> pieces)
    : domain_(domain), parts_((domain.cells[0] + row_part - 1) / row_part) {
  struct InCell {
    std::int64_t cell;
    std::int64_t piece;
  };
  std::vector<InCell> order(pieces.size());
  const Box cells = domain.box();
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = {cells.offset(cell_of(pieces[i].at)), static_cast<std::int64_t>(i)};
  std::ranges::sort(order, [&](const InCell& a, const InCell& b) {
    return a.cell != b.cell ? a.cell < b.cell : pieces[a.piece].at < pieces[b.piece].at;
  });
  pieces_.reserve(pieces.size());
  std::vector<std::int64_t> of_piece;
  of_piece.reserve(pieces.size());
  for (const InCell& at : order) {
    pieces_.push_back(pieces[at.piece]);
    of_piece.push_back(at.cell);
  }
  for (const NearPiece& p : pieces_) widest_ = std::max(widest_, p.width);
  list_parts(of_piece);
}

/// @param cells  of the sorted pieces, as places in the box of the domain
void NearPieces::list_parts(std::span<const std::int64_t> cells) {
  const std::int64_t n = domain_.cells[0];
  std::vector<std::int64_t> parts;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::int64_t row = cells[i] / n, x = cells[i] % n, part = row * parts_ + x / row_part;
    if (parts.empty() || parts.back() != part) {
      parts.push_back(part);
      begin_.resize(row_part * parts.size(), static_cast<std::int32_t>(i));
    }
    // Those of later cells begin behind this piece.
    for (std::int64_t at = x % row_part + 1; at < row_part; ++at)
      begin_[row_part * (std::ssize(parts) - 1) + at] = static_cast<std::int32_t>(i + 1);
  }
  begin_.push_back(static_cast<std::int32_t>(cells.size()));
  slots_.assign(std::bit_ceil(2 * parts.size() + 1), {-1, 0});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::size_t slot = hash(parts[p]);
    while (slots_[slot].part >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {parts[p], static_cast<std::int32_t>(p)};
  }
}

}  // namespace karst
