// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/moved_fields.hpp"

#include <algorithm>

#include "fields/other_owners.hpp"

namespace karst {

namespace {

/// [level][own box] values of all fields, one after the other.
struct MovedValues {
  std::vector<std::vector<std::vector<float>>> cells;
  std::vector<std::int64_t> first_box;  ///< [level]
};

}  // namespace

void move_fields(const Comm& comm, const std::shared_ptr<const Ground>& to, std::vector<JobComponent>& fields) {
  if (fields.empty()) return;
  const Geometry &was = fields.front().ground->geometry(), &is = to->geometry();
  const auto values = std::make_shared<MovedValues>();
  for (const LevelGeometry& level : is.levels) {
    values->cells.emplace_back(level.graph.n_local());
    values->first_box.push_back(level.graph.first_box());
  }
  send_boxes(
      comm, other_owners(was, is),
      [&](int level, int box) {
        const LevelGraph& graph = was.levels[level].graph;
        const std::size_t n = graph.box(box).cells.count();
        std::vector<float> cells(n * fields.size());
        for (std::size_t i = 0; i < fields.size(); ++i)
          fields[i].fill(level, graph.first_box() + box, std::span(cells).subspan(i * n, n));
        BoxBytes bytes;
        pack<float>(bytes, cells);
        return bytes;
      },
      [&](int level, int box, std::span<const std::byte> bytes) {
        std::vector<float>& cells = values->cells[level][box];
        cells.resize(bytes.size() / sizeof(float));
        unpack<float>(bytes, cells);
      });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].ground = to;
    fields[i].fill = [values, i](int level, std::int64_t box, std::span<float> cells) {
      const std::vector<float>& all = values->cells[level][box - values->first_box[level]];
      std::ranges::copy(std::span(all).subspan(i * cells.size(), cells.size()), cells.begin());
    };
  }
}

}  // namespace karst
