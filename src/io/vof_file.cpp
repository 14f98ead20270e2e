// SPDX-License-Identifier: BSD-3-Clause
#include "io/vof_file.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unordered_map>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/items_of.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/discard_writes.hpp"
#include "base/file/mpi_files.hpp"
#include "grid/vof_loops.hpp"
#include "io/file_checksum.hpp"
#include "io/hdf5_handle.hpp"
#include "io/reserve.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

/// In front of what HDF5 writes (its user block): how many bytes follow, and their checksum.
constexpr std::int64_t seal_bytes = 512;
std::string seal_of(std::int64_t bytes, std::uint32_t checksum) {
  return fmt::format("karst values: {} bytes, CRC-32 {:08x}, follow these {}\n", bytes, checksum, seal_bytes);
}

std::string level_name(std::size_t level) { return "level_" + std::to_string(level); }

template <class T>
hid_t type_of() {
  if constexpr (std::is_same_v<T, float>)
    return H5T_NATIVE_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return H5T_NATIVE_DOUBLE;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return H5T_NATIVE_INT64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return H5T_NATIVE_INT32;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return H5T_NATIVE_UINT16;
  else
    return H5T_NATIVE_UINT8;
}

/// A VoF by its place in a box.
struct VofOfBox {
  std::uint16_t cell;  ///< offset
  std::uint8_t piece;  ///< which VoF of the cell
  friend auto operator<=>(const VofOfBox&, const VofOfBox&) = default;
};

/// Calls f(number in the box, VofOfBox) for the own VoFs of a box.
template <class F>
void for_each_place(const BoxGraph& graph, F&& f) {
  int before = -1, piece = 0;
  for_each_vof(graph, [&](int vof, int cell) {
    piece = cell == before ? piece + 1 : 0;
    before = cell;
    f(vof, VofOfBox{static_cast<std::uint16_t>(cell), static_cast<std::uint8_t>(piece)});
  });
}

/// Calls f(VofOfBox, row) for the own VoFs of a box that have values.
template <class F>
void for_each_named(const VofPlaces& places, std::size_t level, int box, F&& f) {
  for_each_place(places.levels[level]->box(box), [&](int vof, const VofOfBox& at) {
    const std::int64_t row = places.row(static_cast<int>(level), box, vof);
    if (row >= 0) f(at, row);
  });
}

/// The VoFs of this rank on a level, in the order of the file.
struct Names {
  std::vector<std::int64_t> count;  ///< per own box
  std::vector<std::uint16_t> cell;  ///< per VoF, as the next two
  std::vector<std::uint8_t> piece;
  std::vector<std::size_t> row;
};

Names names_of(const VofPlaces& places, std::size_t level) {
  Names names;
  for (int b = 0; b < places.levels[level]->n_local(); ++b) {
    const std::size_t before = names.cell.size();
    for_each_named(places, level, b, [&](const VofOfBox& at, std::size_t row) {
      names.cell.push_back(at.cell);
      names.piece.push_back(at.piece);
      names.row.push_back(row);
    });
    names.count.push_back(static_cast<std::int64_t>(names.cell.size() - before));
  }
  return names;
}

/// A file that all ranks write together.
struct Target {
  const Comm& comm;
  hid_t file;
  const std::string& path;
};

enum class Shape { table, list };  ///< [rows][components], or [rows] of one component

/// Rows [first, first + own) of a list of `all` rows; the rows of the ranks follow each other. Collective.
template <class T>
void write_rows(const Target& to, hid_t group, const std::string& name, int components, std::span<const T> own,
                Shape shape = Shape::table) {
  const auto n = static_cast<std::int64_t>(own.size()) / components;
  const std::int64_t first = to.comm.exclusive_sum(n), all = to.comm.sum(n);
  const hsize_t sizes[2] = {static_cast<hsize_t>(all), static_cast<hsize_t>(components)};
  const std::span<const hsize_t> extent(sizes, shape == Shape::list ? 1 : 2);
  Handle space = hdf5::simple_space(extent, to.path);
  Handle list(check(H5Dcreate2(group, name.c_str(), type_of<T>(), space, H5P_DEFAULT, hdf5::set_properties(to.path),
                               H5P_DEFAULT),
                    "create " + name, to.path),
              H5Dclose);
  if (all == 0) return;  // has no place in the file
  Handle transfer(check(H5Pcreate(H5P_DATASET_XFER), "prepare writing", to.path), H5Pclose);
  check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "prepare writing", to.path);
  const hsize_t start[2] = {static_cast<hsize_t>(first), 0}, count[2] = {static_cast<hsize_t>(n), sizes[1]};
  Handle memory = hdf5::simple_space(std::span(count, extent.size()), to.path);
  if (n > 0)
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr), "select " + name, to.path);
  else {
    check(H5Sselect_none(space), "select " + name, to.path);
    check(H5Sselect_none(memory), "select " + name, to.path);
  }
  require_written(to.comm, to.path);  // as in write_round()
  check(H5Dwrite(list, type_of<T>(), memory, space, transfer, own.data()), "write " + name, to.path);
}

/// Where the boxes are and which cells have how many VoFs. Collective.
void write_names(const Target& to, hid_t group, const LevelGraph& graph, const Names& names) {
  const Layout& layout = graph.layout();
  const Index cells = layout.domain().cells;
  const hsize_t three[1] = {3};
  hdf5::put(group, "cells", H5T_NATIVE_INT, hdf5::simple_space(three, to.path), cells.v.data(), to.path);
  hdf5::put_int(group, "box_size", layout.box_size(), to.path);
  std::vector<std::int32_t> corners;
  for (int b = 0; b < graph.n_local(); ++b)
    for (const int x : graph.box(b).cells.lo.v) corners.push_back(x);
  std::vector<std::int64_t> begin;
  std::int64_t next = to.comm.exclusive_sum(static_cast<std::int64_t>(names.cell.size()));
  for (const std::int64_t n : names.count) {
    begin.push_back(next);
    next += n;
  }
  if (to.comm.rank() == to.comm.size() - 1) begin.push_back(next);
  write_rows<std::int32_t>(to, group, "box", 3, corners);
  write_rows<std::int64_t>(to, group, "begin", 1, begin, Shape::list);
  write_rows<std::uint16_t>(to, group, "cell", 1, names.cell, Shape::list);
  write_rows<std::uint8_t>(to, group, "piece", 1, names.piece, Shape::list);
}

template <class T>
void write_values(const Target& to, hid_t group, const VofValues& quantity, std::span<const T> values,
                  const Names& names) {
  const std::size_t n = quantity.components;
  std::vector<T> rows(names.row.size() * n);
  fail_together(to.comm, [&] {
    for (std::size_t i = 0; i < names.row.size(); ++i) {
      require((names.row[i] + 1) * n <= values.size(), "{}: {} has {} values, too few for its VoFs", to.path,
              quantity.name, values.size());
      std::copy_n(values.begin() + names.row[i] * n, n, rows.begin() + i * n);
    }
  });
  write_rows<T>(to, group, quantity.name, quantity.components, rows);
}

Handle create_file(const Comm& comm, const AtomicFile& target) {
  Handle creation(check(H5Pcreate(H5P_FILE_CREATE), "prepare the file", target.path()), H5Pclose);
  check(H5Pset_userblock(creation, seal_bytes), "prepare the file", target.path());
  return hdf5::create_shared_file(comm, target.temporary(), target.path(), creation);
}

/// More than a table takes. Of this rank.
std::int64_t bytes_of(const VofTable& table, const std::vector<Names>& names) {
  std::int64_t vofs = 0, boxes = 0;
  for (const Names& level : names) {
    vofs += static_cast<std::int64_t>(level.cell.size());
    boxes += static_cast<std::int64_t>(level.count.size());
  }
  std::int64_t row = sizeof(std::uint16_t) + sizeof(std::uint8_t);
  for (const VofValues& q : table.values)
    row += q.components * static_cast<std::int64_t>(q.values.index() == 0 ? sizeof(double) : sizeof(float));
  return vofs * row + boxes * 20;
}

/// What a file holds.
struct Content {
  const std::string& text;
  std::span<const VofTable> tables;
  std::span<const RankedList> lists;
};

void write_all(const Comm& comm, const AtomicFile& target, const Content& content, Reservation& room) {
  const auto& [text, tables, ranked] = content;
  std::vector<std::vector<Names>> names;  // [table][level]
  std::int64_t bytes = 0, lists = 4;
  for (const VofTable& table : tables) {
    names.emplace_back();
    for (std::size_t l = 0; l < table.places.levels.size(); ++l) names.back().push_back(names_of(table.places, l));
    bytes += bytes_of(table, names.back());
    lists += 1 + std::ssize(names.back()) * (5 + std::ssize(table.values));
  }
  for (const RankedList& list : ranked) bytes += static_cast<std::int64_t>(list.values.size_bytes());
  lists += std::ssize(ranked);
  room.reserve(comm.sum(bytes) + 4096 * lists + seal_bytes + std::ssize(text));
  Handle file = create_file(comm, target);
  DiscardUnfinished unfinished(target.temporary());
  const Target to{comm, file, target.path()};
  const auto* letters = reinterpret_cast<const std::uint8_t*>(text.data());
  write_rows<std::uint8_t>(to, file, "text", 1, {letters, comm.rank() == 0 ? text.size() : 0}, Shape::list);
  for (const RankedList& list : ranked) write_rows<double>(to, file, list.name, 1, list.values, Shape::list);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Handle table = hdf5::create_group(file, tables[t].name, to.path);
    for (std::size_t l = 0; l < names[t].size(); ++l) {
      Handle group = hdf5::create_group(table, level_name(l), to.path);
      write_names(to, group, *tables[t].places.levels[l], names[t][l]);
      for (const VofValues& q : tables[t].values)
        std::visit([&](const auto& values) { write_values(to, group, q, values, names[t][l]); }, q.values);
    }
  }
  hdf5::finish_file(comm, file, to.path);
  unfinished.finished();
}

/// Writes the seal into the closed file. Collective.
void seal(const Comm& comm, const AtomicFile& target) {
  const std::uint32_t checksum = checksum_of(comm, target.temporary(), seal_bytes);
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(target.temporary())) - seal_bytes;
    std::fstream file(target.temporary(), std::ios::in | std::ios::out | std::ios::binary);
    file << seal_of(bytes, checksum) << std::flush;
    require(file.good(), "{}: cannot be written", target.path());
  });
}

}  // namespace

void check_vof_file(const Comm& comm, const std::string& path) {
  const std::uint32_t is = checksum_of(comm, path, seal_bytes);
  fail_together(comm, [&] {
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path)) - seal_bytes;
    std::string line;
    std::getline(std::ifstream(path, std::ios::binary), line);
    std::int64_t was_bytes = 0;
    std::uint32_t was = 0;
    const bool read = std::sscanf(line.c_str(), "karst values: %ld bytes, CRC-32 %x", &was_bytes, &was) == 2;
    // Letter for letter: what is read does not show every bit that is another (a digit of the checksum in upper case).
    require(read && line + '\n' == seal_of(was_bytes, was),
            "{}: its first line is damaged, or it is not a file of this version", path);
    require(bytes == was_bytes, "{}: is damaged: {} bytes instead of {}", path, bytes + seal_bytes,
            was_bytes + seal_bytes);
    require(is == was, "{}: is damaged: its checksum is {:08x}, {:08x} was written", path, is, was);
  });
}

void write_vof_file(const Comm& comm, const std::string& path, const std::string& text,
                    std::span<const VofTable> tables, std::span<const RankedList> lists) {
  const hdf5::Quiet quiet;
  AtomicFile target(comm, path);
  Reservation room(comm, target);
  fail_together(comm, [&] { write_all(comm, target, {text, tables, lists}, room); });
  room.finish();
  seal(comm, target);
  target.commit();
}

struct VofFile::File {
  Handle handle;
};

namespace {

/// Rows of a list: begin, end of each part.
using RowRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The parts of a list one after the other. Throws Error unless it has rows of so many components.
template <class T>
std::vector<T> read_parts(hid_t group, const std::string& name, int components, const RowRanges& parts,
                          const std::string& path) {
  Handle list(check(H5Dopen2(group, name.c_str(), H5P_DEFAULT), "open " + name, path), H5Dclose);
  Handle space(check(H5Dget_space(list), "describe " + name, path), H5Sclose);
  hsize_t sizes[2] = {0, 1};
  const int n_sizes = check(H5Sget_simple_extent_ndims(space), "describe " + name, path);
  require(n_sizes <= 2, "{}: {} has {} dimensions", path, name, n_sizes);
  check(H5Sget_simple_extent_dims(space, sizes, nullptr), "describe " + name, path);
  require(static_cast<int>(sizes[1]) == components, "{}: {} has {} components, {} are expected", path, name, sizes[1],
          components);
  std::int64_t n = 0;
  check(H5Sselect_none(space), "select " + name, path);
  for (const auto& [begin, end] : parts) {
    require(begin <= end && end <= static_cast<std::int64_t>(sizes[0]), "{}: {} is cut short", path, name);
    if (begin == end) continue;
    const hsize_t start[2] = {static_cast<hsize_t>(begin), 0}, count[2] = {static_cast<hsize_t>(end - begin), sizes[1]};
    check(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, nullptr, count, nullptr), "select " + name, path);
    n += end - begin;
  }
  std::vector<T> values(n * components);
  if (n == 0) return values;
  const hsize_t all[1] = {values.size()};
  Handle memory = hdf5::simple_space(all, path);
  check(H5Dread(list, type_of<T>(), memory, space, H5P_DEFAULT, values.data()), "read " + name, path);
  return values;
}

template <class T>
std::vector<T> read_list(hid_t group, const std::string& name, int components, const std::string& path) {
  Handle list(check(H5Dopen2(group, name.c_str(), H5P_DEFAULT), "open " + name, path), H5Dclose);
  Handle space(check(H5Dget_space(list), "describe " + name, path), H5Sclose);
  const auto n = check(H5Sget_simple_extent_npoints(space), "describe " + name, path);
  list.close();
  return read_parts<T>(group, name, components, {{0, n / components}}, path);
}

/// Boxes of a level in a file.
class FileBoxes {
 public:
  FileBoxes(hid_t group, const std::string& path) : begin_(read_list<std::int64_t>(group, "begin", 1, path)) {
    get(group, "box_size", &box_size_, path);
    get(group, "cells", cells_.v.data(), path);
    require(box_size_ > 0, "{}: box_size is {}", path, box_size_);
    const std::vector<std::int32_t> corners = read_list<std::int32_t>(group, "box", 3, path);
    require(begin_.size() == corners.size() / 3 + 1, "{}: {} boxes, {} ends", path, corners.size() / 3, begin_.size());
    for (std::size_t b = 0; b + 1 < begin_.size(); ++b)
      box_at_[key(Index{corners[3 * b], corners[3 * b + 1], corners[3 * b + 2]})] = b;
  }
  const Index& cells() const { return cells_; }
  std::int64_t begin(std::size_t box) const { return begin_[box]; }
  std::int64_t end(std::size_t box) const { return begin_[box + 1]; }
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  /// Box that holds a cell.
  std::size_t find(const Index& cell) const {
    const auto at = box_at_.find(key(cell));
    return at == box_at_.end() ? none : at->second;
  }
  /// Offset of a cell in its box: boxes at the end of the domain are clipped.
  std::uint16_t offset(const Index& cell) const {
    Index at, size;
    for (int d = 0; d < 3; ++d) {
      const int low = cell[d] / box_size_ * box_size_;
      at[d] = cell[d] - low;
      size[d] = std::min(box_size_, cells_[d] - low);
    }
    return static_cast<std::uint16_t>((at[2] * size[1] + at[1]) * size[0] + at[0]);
  }
  /// Boxes that share cells with another one.
  std::vector<std::size_t> touching(const Box& box) const {
    std::vector<std::size_t> found;
    Index first;
    for (int d = 0; d < 3; ++d) first[d] = box.lo[d] / box_size_ * box_size_;
    for (int k = first[2]; k < box.hi[2]; k += box_size_)
      for (int j = first[1]; j < box.hi[1]; j += box_size_)
        for (int i = first[0]; i < box.hi[0]; i += box_size_)
          if (const std::size_t b = find({i, j, k}); b != none) found.push_back(b);
    return found;
  }

 private:
  static void get(hid_t group, const char* name, int* into, const std::string& path) {
    Handle attribute(check(H5Aopen(group, name, H5P_DEFAULT), std::string("open ") + name, path), H5Aclose);
    check(H5Aread(attribute, H5T_NATIVE_INT, into), std::string("read ") + name, path);
  }
  std::int64_t key(const Index& cell) const {
    constexpr std::int64_t most = std::int64_t{1} << 21;
    return ((cell[2] / box_size_) * most + cell[1] / box_size_) * most + cell[0] / box_size_;
  }

  int box_size_ = 0;
  Index cells_;
  std::vector<std::int64_t> begin_;
  std::unordered_map<std::int64_t, std::size_t> box_at_;
};

/// The boxes of a file that a rank needs, as they stand one after the other in what it reads.
struct Needed {
  RowRanges parts;
  std::unordered_map<std::size_t, std::pair<std::size_t, std::size_t>> rows;  ///< of a box: begin, end
};

Needed needed_by(const LevelGraph& graph, const FileBoxes& boxes) {
  std::vector<std::size_t> list;
  for (int b = 0; b < graph.n_local(); ++b)
    for (const std::size_t box : boxes.touching(graph.box(b).cells)) list.push_back(box);
  std::ranges::sort(list);
  erase_repeated(list);
  Needed needed;
  std::size_t at = 0;
  for (const std::size_t box : list) {
    if (needed.parts.empty() || needed.parts.back().second != boxes.begin(box))
      needed.parts.emplace_back(boxes.begin(box), boxes.begin(box));
    needed.parts.back().second = boxes.end(box);
    const std::size_t n = boxes.end(box) - boxes.begin(box);
    needed.rows[box] = {at, at + n};
    at += n;
  }
  return needed;
}

/// A level of a table, as far as a rank needs it.
class FileLevel {
 public:
  FileLevel(hid_t file, const std::string& table, std::size_t level, const LevelGraph& graph, const std::string& path)
      : path_(path), level_(level), group_(open(file, table, level, path)), boxes_(group_, path) {
    require(boxes_.cells() == graph.layout().domain().cells,
            "{}: belongs to another grid: {} x {} x {} cells on level {}", path, boxes_.cells()[0], boxes_.cells()[1],
            boxes_.cells()[2], level);
    needed_ = needed_by(graph, boxes_);
    cell_ = read<std::uint16_t>("cell", 1);
    piece_ = read<std::uint8_t>("piece", 1);
  }
  /// Of the needed boxes.
  template <class T>
  std::vector<T> read(const std::string& name, int components) const {
    return read_parts<T>(group_, name, components, needed_.parts, path_);
  }
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  /// Row in what was read.
  std::size_t find(const Index& cell, std::uint8_t piece) const {
    const std::size_t box = boxes_.find(cell);
    if (box == FileBoxes::none) return none;
    const auto [begin, end] = needed_.rows.at(box);
    const VofOfBox wanted{boxes_.offset(cell), piece};
    const auto first = cell_.begin() + begin, last = cell_.begin() + end;
    std::size_t row = std::lower_bound(first, last, wanted.cell) - cell_.begin();
    while (row < end && VofOfBox{cell_[row], piece_[row]} < wanted) ++row;
    return row < end && VofOfBox{cell_[row], piece_[row]} == wanted ? row : none;
  }
  /// The same. Throws Error: not there.
  std::size_t row_of(const std::string& name, const Index& cell, std::uint8_t piece) const {
    const std::size_t row = find(cell, piece);
    require(row != none, "{}: contains no {} of fragment {} of cell ({}, {}, {}) on level {}", path_, name, piece,
            cell[0], cell[1], cell[2], level_);
    return row;
  }

 private:
  static Handle open(hid_t file, const std::string& table, std::size_t level, const std::string& path) {
    const std::string name = table + '/' + level_name(level);
    return {check(H5Gopen2(file, name.c_str(), H5P_DEFAULT), "open " + name, path), H5Gclose};
  }

  std::string path_;
  std::size_t level_;
  Handle group_;
  FileBoxes boxes_;
  Needed needed_;
  std::vector<std::uint16_t> cell_;
  std::vector<std::uint8_t> piece_;
};

}  // namespace

VofFile::VofFile(const std::string& path) : path_(path) {
  const hdf5::Quiet quiet;
  file_ = std::make_unique<File>(
      File{{check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open the file", path), H5Fclose}});
  const std::vector<std::uint8_t> letters = read_list<std::uint8_t>(file_->handle, "text", 1, path);
  text_.assign(letters.begin(), letters.end());
}

VofFile::~VofFile() = default;
VofFile::VofFile(VofFile&&) noexcept = default;

void VofFile::read(const std::string& list, std::int64_t first, std::span<double> values) const {
  const hdf5::Quiet quiet;
  const auto part = read_parts<double>(file_->handle, list, 1, {{first, first + std::ssize(values)}}, path_);
  std::ranges::copy(part, values.begin());
}

std::vector<std::int64_t> VofFile::vofs_in(const std::string& table, std::span<const LevelGraph* const> levels) const {
  const hdf5::Quiet quiet;
  std::vector<std::int64_t> found;
  std::int64_t place = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const FileLevel level(file_->handle, table, l, *levels[l], path_);
    for (int b = 0; b < levels[l]->n_local(); ++b) {
      const BoxGraph graph = levels[l]->box(b);
      for_each_place(graph, [&](int, const VofOfBox& at) {
        if (level.find(graph.cells.cell(at.cell), at.piece) != FileLevel::none) found.push_back(place);
        ++place;
      });
    }
  }
  return found;
}

template <class T>
void VofFile::read_all(const std::string& table, const std::string& name, const VofPlaces& places, int components,
                       std::span<T> values) const {
  const hdf5::Quiet quiet;
  const std::size_t n = components;
  for (std::size_t l = 0; l < places.levels.size(); ++l) {
    const FileLevel level(file_->handle, table, l, *places.levels[l], path_);
    const std::vector<T> rows = level.read<T>(name, components);
    for (int b = 0; b < places.levels[l]->n_local(); ++b) {
      const Box own = places.levels[l]->box(b).cells;
      for_each_named(places, l, b, [&](const VofOfBox& at, std::size_t row) {
        const std::size_t from = level.row_of(name, own.cell(at.cell), at.piece);
        assert((row + 1) * n <= values.size());
        std::copy_n(rows.begin() + from * n, n, values.begin() + row * n);
      });
    }
  }
}

void VofFile::read(const std::string& table, const std::string& name, const VofPlaces& places, int components,
                   std::span<double> values) const {
  read_all(table, name, places, components, values);
}

void VofFile::read(const std::string& table, const std::string& name, const VofPlaces& places, int components,
                   std::span<float> values) const {
  read_all(table, name, places, components, values);
}

}  // namespace karst
