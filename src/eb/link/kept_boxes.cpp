// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/kept_boxes.hpp"

#include "grid/morton.hpp"

namespace karst {

void KeptBoxes::begin() { before_ = std::exchange(now_, {}); }

std::optional<KeptBox> KeptBoxes::take(int level, const Box& cells) {
  const auto found = before_.find({level, morton_encode(cells.lo)});
  if (found == before_.end() || found->second.cut.cells != cells) return {};
  return std::move(before_.extract(found).mapped());
}

void KeptBoxes::put(int level, KeptBox box) {
  const Name name{level, morton_encode(box.cut.cells.lo)};
  box.cut.pieces.shrink_to_fit();
  box.cut.faces.shrink_to_fit();
  box.cut.minerals.shrink_to_fit();
  now_.insert_or_assign(name, std::move(box));
}

double KeptBoxes::weight(int level, const Box& cells, const Classify& classify) {
  const Name name{level, morton_encode(cells.lo)};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = weights_.find(name); found != weights_.end()) return found->second;
  }
  const double weight = classify(cells);
  const std::lock_guard lock(mutex_);
  return weights_[name] = weight;
}

std::int64_t KeptBoxes::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(weights_.size() * sizeof(std::pair<Name, double>));
  const auto of = [](const auto& list) { return static_cast<std::int64_t>(list.capacity() * sizeof(*list.data())); };
  for (const auto& [name, box] : now_)
    sum +=
        of(box.cut.kind) + of(box.cut.pieces) + of(box.cut.faces) + of(box.cut.minerals) + of(box.homes) + of(box.kept);
  return sum;
}

}  // namespace karst
