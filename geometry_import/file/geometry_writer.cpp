// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <zlib.h>

#include <array>
#include <cassert>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/discard_writes.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/file/provenance.hpp"
#include "geometry_import/read/h5.hpp"
#include "geometry_import/voxels/distance.hpp"

namespace karst {
namespace {

constexpr int compression = 1;
constexpr std::size_t chunk_voxels = std::size_t{geometry_chunk} * geometry_chunk * geometry_chunk;

int chunks(int voxels) { return (voxels + geometry_chunk - 1) / geometry_chunk; }

/// Chunk (cx, cy) of a layer, filled up with zeros beyond the image.
template <class T>
void gather(const ImageWindow& layer, std::span<const T> values, int cx, int cy, std::vector<T>& chunk) {
  chunk.assign(chunk_voxels, T{});
  const int x = cx * geometry_chunk, nx = std::min(geometry_chunk, layer.image[0] - x);
  for (int z = 0; z < layer.planes(); ++z)
    for (int y = cy * geometry_chunk; y < std::min(layer.image[1], (cy + 1) * geometry_chunk); ++y) {
      const T* from = values.data() + z * layer.plane() + std::int64_t{y} * layer.row() + x;
      std::copy_n(from, nx, chunk.data() + (geometry_chunk * z + y % geometry_chunk) * geometry_chunk);
    }
}

/// HDF5's shuffle filter (byte b of all numbers, for b = 0, 1, ...) and its deflate filter.
template <class T>
std::vector<std::byte> filter(const std::vector<T>& chunk) {
  const auto* bytes = reinterpret_cast<const std::byte*>(chunk.data());
  std::vector<std::byte> shuffled(chunk.size() * sizeof(T));
  for (std::size_t b = 0; b < sizeof(T); ++b)
    for (std::size_t i = 0; i < chunk.size(); ++i) shuffled[b * chunk.size() + i] = bytes[i * sizeof(T) + b];
  uLongf n = compressBound(shuffled.size());
  std::vector<std::byte> packed(n);
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &n,
                               reinterpret_cast<const Bytef*>(shuffled.data()), shuffled.size(), compression);
  require(result == Z_OK, "compressing a chunk of {} bytes failed (zlib status {}): not enough memory", shuffled.size(),
          result);
  packed.resize(n);
  return packed;
}

void append(std::vector<std::byte>& all, const std::vector<std::byte>& part) {
  const std::uint64_t n = part.size();
  const auto* head = reinterpret_cast<const std::byte*>(&n);
  all.insert(all.end(), head, head + sizeof n);
  all.insert(all.end(), part.begin(), part.end());
}

std::span<const std::byte> next_part(std::span<const std::byte>& rest) {
  std::uint64_t n = 0;
  std::memcpy(&n, rest.data(), sizeof n);
  const auto part = rest.subspan(sizeof n, n);
  rest = rest.subspan(sizeof n + n);
  return part;
}

h5::Handle create_data(hid_t file, const std::string& path, const char* name, hid_t type, const Index& voxels) {
  std::array<hsize_t, 3> size{}, chunk{}, limit{};  // chunks may be larger than the image, but not than its limit
  for (int d = 0; d < 3; ++d) size[2 - d] = static_cast<hsize_t>(voxels[d]);
  chunk.fill(geometry_chunk);
  limit.fill(H5S_UNLIMITED);
  const std::string what = fmt::format("create the data set {}", name);
  const h5::Handle space(h5::check(H5Screate_simple(3, size.data(), limit.data()), path, what), H5Sclose);
  const h5::Handle list(h5::check(H5Pcreate(H5P_DATASET_CREATE), path, what), H5Pclose);
  h5::check(H5Pset_chunk(list, 3, chunk.data()), path, what);
  h5::check(H5Pset_shuffle(list), path, what);
  h5::check(H5Pset_deflate(list, compression), path, what);
  h5::check(H5Pset_obj_track_times(list, false), path, what);
  return {h5::check(H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT), path, what), H5Dclose};
}

void put(hid_t file, const std::string& path, const char* name, hid_t type, const void* value) {
  const std::string what = fmt::format("write the attribute {}", name);
  const h5::Handle space(h5::check(H5Screate(H5S_SCALAR), path, what), H5Sclose);
  const h5::Handle attribute(h5::check(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT), path, what),
                             H5Aclose);
  h5::check(H5Awrite(attribute, type, value), path, what);
}

void put_text(hid_t file, const std::string& path, const char* name, const std::string& text) {
  const h5::Handle type(h5::check(H5Tcopy(H5T_C_S1), path, "describe a text"), H5Tclose);
  h5::check(H5Tset_size(type, text.size() + 1), path, "describe a text");
  h5::check(H5Tset_cset(type, H5T_CSET_UTF8), path, "describe a text");
  put(file, path, name, type, text.c_str());
}

}  // namespace

struct GeometryWriter::State {
  std::string path, temporary;
  Index voxels;
  int nodes_per_voxel;
  h5::Handle file, level_set, phase, wall_distance, nodes;

  ~State();
  void create();
  void write_chunk(hid_t data, int layer, int cy, int cx, std::span<const std::byte> bytes) const;
  void write_layer(int layer, std::span<const std::byte> packed) const;
  void write_layer_of(hid_t data, const Index& size, int layer, std::span<const std::byte> packed) const;
  void finish(const GeometryInfo& info);
};

namespace {

/// What HDF5 still has to write goes nowhere: on a full disk it could not close the file.
void discard_rest(hid_t file) {
  void* handle = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle) discard_writes(*static_cast<int*>(handle));
}

/// Takes the disk space of all that HDF5 has not written yet. When the disk is full only then, HDF5 may be unable to
/// close the file even to nowhere.
void reserve_space(hid_t file, const std::string& path) {
  void* handle = nullptr;
  haddr_t end = 0;
  h5::check(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), path, "write it");
  h5::check(H5Fget_eoa(file, &end), path, "write it");
  const int failure = posix_fallocate(*static_cast<int*>(handle), 0, static_cast<off_t>(end));
  require(failure == 0, "{}: cannot write it: {}", path, std::generic_category().message(failure));
}

}  // namespace

GeometryWriter::State::~State() {
  const h5::Quiet quiet;
  if (file >= 0) discard_rest(file);
  level_set.close();
  phase.close();
  wall_distance.close();
  nodes.close();
  file.close();
}

void GeometryWriter::State::create() {
  const h5::Quiet quiet;
  file = h5::Handle(h5::check(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path, "create it"),
                    H5Fclose);
  level_set = create_data(file, path, "level_set", H5T_IEEE_F32LE, voxels);
  phase = create_data(file, path, "phase", H5T_STD_U8LE, voxels);
  if (nodes_per_voxel == 0)
    wall_distance = create_data(file, path, "wall_distance", H5T_IEEE_F32LE, voxels);
  else
    nodes = create_data(file, path, "level_set_nodes", H5T_IEEE_F32LE,
                        GeometryWriter::node_lattice(voxels, nodes_per_voxel));
}

void GeometryWriter::State::write_chunk(hid_t data, int layer, int cy, int cx, std::span<const std::byte> bytes) const {
  const std::array<hsize_t, 3> start{static_cast<hsize_t>(layer) * geometry_chunk,
                                     static_cast<hsize_t>(cy) * geometry_chunk,
                                     static_cast<hsize_t>(cx) * geometry_chunk};
  h5::check(H5Dwrite_chunk(data, H5P_DEFAULT, 0, start.data(), bytes.size(), bytes.data()), path, "write a chunk");
}

void GeometryWriter::State::write_layer(int layer, std::span<const std::byte> packed) const {
  for (int cy = 0; cy < chunks(voxels[1]); ++cy)
    for (int cx = 0; cx < chunks(voxels[0]); ++cx) {
      write_chunk(level_set, layer, cy, cx, next_part(packed));
      write_chunk(phase, layer, cy, cx, next_part(packed));
    }
}

void GeometryWriter::State::write_layer_of(hid_t data, const Index& size, int layer,
                                           std::span<const std::byte> packed) const {
  for (int cy = 0; cy < chunks(size[1]); ++cy)
    for (int cx = 0; cx < chunks(size[0]); ++cx) write_chunk(data, layer, cy, cx, next_part(packed));
}

void GeometryWriter::State::finish(const GeometryInfo& info) {
  const h5::Quiet quiet;
  put(file, path, "karst_geometry", H5T_NATIVE_INT, &geometry_format_version);
  put(file, path, "voxel", H5T_NATIVE_DOUBLE, &info.voxel);
  put(file, path, "porosity", H5T_NATIVE_DOUBLE, &info.porosity);
  put(file, path, "level_set_porosity", H5T_NATIVE_DOUBLE, &info.level_set_porosity);
  put(file, path, "steepest", H5T_NATIVE_DOUBLE, &info.steepest);
  put(file, path, "threshold", H5T_NATIVE_DOUBLE, &info.threshold);
  put(file, path, "smoothing", H5T_NATIVE_DOUBLE, &info.smoothing);
  put_text(file, path, "phases", to_json(info.phases));
  put_text(file, path, "provenance", info.provenance);
  if (nodes_per_voxel > 0) put(file, path, "nodes", H5T_NATIVE_INT, &nodes_per_voxel);
  reserve_space(file, path);
  h5::check(level_set.close(), path, "write it");
  h5::check(phase.close(), path, "write it");
  h5::check(wall_distance.close(), path, "write it");
  h5::check(nodes.close(), path, "write it");
  h5::check(H5Fflush(file, H5F_SCOPE_GLOBAL), path, "write it");  // all that can fail comes before the file is closed
  h5::check(file.close(), path, "close it");
}

GeometryWriter::GeometryWriter(const Comm& comm, const std::string& path, const Index& voxels, int nodes)
    : comm_(comm), target_(std::make_unique<AtomicFile>(comm, path)) {
  fail_together(comm_, [&] {
    if (comm_.rank() != 0) return;
    state_ = std::make_unique<State>();
    state_->path = path;
    state_->temporary = target_->temporary();
    state_->voxels = voxels;
    state_->nodes_per_voxel = nodes;
    state_->create();
  });
}

GeometryWriter::~GeometryWriter() = default;

ImageWindow GeometryWriter::layer(const Index& voxels, int number) {
  return {voxels, number * geometry_chunk, std::min(voxels[2], (number + 1) * geometry_chunk)};
}

namespace {

/// add(cx, cy, part) for the chunks of a layer, in parallel; the parts one after the other.
template <class Add>
std::vector<std::byte> pack_chunks(const ImageWindow& layer, Add&& add) {
  const int nx = chunks(layer.image[0]), ny = chunks(layer.image[1]);
  std::vector<std::vector<std::byte>> part(std::int64_t{nx} * ny);
  parallel_for_dynamic(static_cast<std::int64_t>(part.size()),
                       [&](std::int64_t c) { add(static_cast<int>(c % nx), static_cast<int>(c / nx), part[c]); });
  std::vector<std::byte> all;
  for (const auto& p : part) all.insert(all.end(), p.begin(), p.end());
  return all;
}

}  // namespace

std::vector<std::byte> GeometryWriter::pack(const ImageWindow& layer, std::span<const float> phi,
                                            std::span<const std::uint8_t> phase) {
  return pack_chunks(layer, [&](int cx, int cy, std::vector<std::byte>& part) {
    std::vector<float> phi_chunk;
    std::vector<std::uint8_t> phase_chunk;
    gather(layer, phi, cx, cy, phi_chunk);
    gather(layer, phase, cx, cy, phase_chunk);
    append(part, filter(phi_chunk));
    append(part, filter(phase_chunk));
  });
}

std::vector<std::byte> GeometryWriter::pack_distance(const ImageWindow& layer,
                                                     std::span<const std::uint16_t> distance) {
  return pack_chunks(layer, [&](int cx, int cy, std::vector<std::byte>& part) {
    std::vector<std::uint16_t> chunk;
    gather(layer, distance, cx, cy, chunk);
    std::vector<float> in_voxels(chunk.size());
    std::transform(chunk.begin(), chunk.end(), in_voxels.begin(),
                   [](std::uint16_t d) { return static_cast<float>(d) / distance_unit; });
    append(part, filter(in_voxels));
  });
}

std::vector<std::byte> GeometryWriter::pack_nodes(const ImageWindow& layer, std::span<const float> phi) {
  return pack_chunks(layer, [&](int cx, int cy, std::vector<std::byte>& part) {
    std::vector<float> chunk;
    gather(layer, phi, cx, cy, chunk);
    append(part, filter(chunk));
  });
}

template <class WriteLayer>
void GeometryWriter::write_layers(int first, std::vector<std::byte> packed, WriteLayer&& write_layer) {
  std::vector<Message> out;
  if (comm_.rank() != 0 && !packed.empty()) out.push_back({0, std::exchange(packed, {})});
  const std::vector<Message> arrived = comm_.sparse_exchange(out);
  fail_together(comm_, [&] {
    if (comm_.rank() != 0) return;
    const h5::Quiet quiet;
    if (!packed.empty()) write_layer(first, packed);
    for (const Message& m : arrived) write_layer(first + m.rank, m.bytes);
  });
}

void GeometryWriter::write(int first, std::vector<std::byte> packed) {
  write_layers(first, std::move(packed),
               [&](int layer, std::span<const std::byte> bytes) { state_->write_layer(layer, bytes); });
}

void GeometryWriter::write_distance(int first, std::vector<std::byte> packed) {
  write_layers(first, std::move(packed), [&](int layer, std::span<const std::byte> bytes) {
    state_->write_layer_of(state_->wall_distance, state_->voxels, layer, bytes);
  });
}

void GeometryWriter::write_nodes(int first, std::vector<std::byte> packed) {
  write_layers(first, std::move(packed), [&](int layer, std::span<const std::byte> bytes) {
    state_->write_layer_of(state_->nodes, node_lattice(state_->voxels, state_->nodes_per_voxel), layer, bytes);
  });
}

void GeometryWriter::finish(const GeometryInfo& info) {
  fail_together(comm_, [&] {
    if (comm_.rank() == 0) state_->finish(info);
  });
  target_->commit();
}

}  // namespace karst
