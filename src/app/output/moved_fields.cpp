// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/moved_fields.hpp"

#include <algorithm>

#include "fields/other_owners.hpp"

namespace karst {

void move_fields(const Comm& comm, const std::shared_ptr<const Ground>& to, std::vector<JobComponent>& fields) {
  if (fields.empty()) return;
  const Geometry &was = fields.front().ground->geometry(), &is = to->geometry();
  // [level][own box]: values of all fields, one after the other.
  const auto values = std::make_shared<std::vector<std::vector<std::vector<float>>>>();
  for (const LevelGeometry& level : is.levels) values->emplace_back(level.graph.n_local());
  send_boxes(
      comm, other_owners(was, is),
      [&](int level, int box) {
        const std::size_t n = was.levels[level].graph.box(box).cells.count();
        std::vector<float> cells(n * fields.size());
        for (std::size_t i = 0; i < fields.size(); ++i) fields[i].fill(level, box, std::span(cells).subspan(i * n, n));
        BoxBytes bytes;
        pack<float>(bytes, cells);
        return bytes;
      },
      [&](int level, int box, std::span<const std::byte> bytes) {
        std::vector<float>& cells = (*values)[level][box];
        cells.resize(bytes.size() / sizeof(float));
        unpack<float>(bytes, cells);
      });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].ground = to;
    fields[i].fill = [values, i](int level, std::int64_t box, std::span<float> cells) {
      const std::vector<float>& all = (*values)[level][box];
      std::ranges::copy(std::span(all).subspan(i * cells.size(), cells.size()), cells.begin());
    };
  }
}

}  // namespace karst
