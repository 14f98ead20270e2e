// SPDX-License-Identifier: BSD-3-Clause
#include "io/surface_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <numeric>

#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/growing_file.hpp"

namespace karst {

namespace {

static_assert(std::endian::native == std::endian::little);

struct Counts {
  std::int64_t points = 0, polygons = 0;
};

/// Bytes of the blocks of a rank, in their order in the file: points, connectivity, ends, arrays.
std::vector<std::uint64_t> block_sizes(const Counts& n, std::size_t n_arrays) {
  const auto points = static_cast<std::uint64_t>(n.points), polygons = static_cast<std::uint64_t>(n.polygons);
  std::vector<std::uint64_t> sizes{12 * points, 4 * points, 4 * polygons};
  sizes.insert(sizes.end(), n_arrays, 4 * polygons);
  return sizes;
}

std::uint64_t bytes_of(const Counts& n, std::size_t n_arrays) {
  std::uint64_t sum = 0;
  for (const std::uint64_t size : block_sizes(n, n_arrays)) sum += sizeof(std::uint64_t) + size;
  return sum;
}

std::vector<std::byte> blocks_of(const Surface& surface, const Counts& n) {
  std::vector<std::byte> bytes(bytes_of(n, surface.arrays.size()));
  std::size_t at = 0;
  const auto put = [&](const void* data, std::uint64_t size) {
    std::memcpy(bytes.data() + at, &size, sizeof(size));
    if (size > 0) std::memcpy(bytes.data() + at + sizeof(size), data, size);
    at += sizeof(size) + size;
  };
  std::vector<std::int32_t> connectivity(n.points);
  std::iota(connectivity.begin(), connectivity.end(), 0);
  put(surface.points.data(), surface.points.size() * sizeof(float));
  put(connectivity.data(), connectivity.size() * sizeof(std::int32_t));
  put(surface.ends.data(), surface.ends.size() * sizeof(std::int32_t));
  for (const SurfaceArray& a : surface.arrays) put(a.values.data(), a.values.size() * sizeof(float));
  return bytes;
}

std::string head(const std::vector<Counts>& ranks, const std::vector<SurfaceArray>& arrays) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<PolyData>\n";
  std::uint64_t offset = 0;
  for (const Counts& n : ranks) {
    const std::vector<std::uint64_t> sizes = block_sizes(n, arrays.size());
    std::size_t block = 0;
    const auto array = [&](const char* type, const std::string& more) {
      text += fmt::format("<DataArray type=\"{}\" {} format=\"appended\" offset=\"{}\"/>\n", type, more, offset);
      offset += sizeof(std::uint64_t) + sizes[block++];
    };
    text += fmt::format(
        "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
        "NumberOfPolys=\"{}\">\n<Points>\n",
        n.points, n.polygons);
    array("Float32", "Name=\"Points\" NumberOfComponents=\"3\"");
    text += "</Points>\n<Polys>\n";
    array("Int32", "Name=\"connectivity\"");
    array("Int32", "Name=\"offsets\"");
    text += "</Polys>\n<CellData>\n";
    for (const SurfaceArray& a : arrays) array("Float32", fmt::format("Name=\"{}\"", a.name));
    text += "</CellData>\n</Piece>\n";
  }
  return text + "</PolyData>\n<AppendedData encoding=\"raw\">\n_";
}

}  // namespace

void write_surface(const Comm& comm, const std::string& path, const Surface& surface) {
  const Timer timer("surface");
  const Counts mine{static_cast<std::int64_t>(surface.points.size() / 3), std::ssize(surface.ends)};
  const std::vector<Counts> all = comm.all_gather<Counts>(std::span<const Counts>(&mine, 1));
  AtomicFile atomic(comm, path);
  GrowingFile file;  // of rank 0
  std::string problem;
  const auto write = [&](std::string_view bytes) {
    if (comm.rank() != 0 || !problem.empty()) return;
    try {
      file.append(bytes);
      file.flush();
    } catch (const Error& e) {
      problem = e.what();
    }
  };
  fail_together(comm, [&] {
    if (comm.rank() == 0) file.open(atomic.temporary(), false, path);
  });
  write(head(all, surface.arrays));
  constexpr int tag = 411;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (comm.rank() != 0 && comm.rank() != rank) continue;
    std::vector<std::byte> bytes;
    if (comm.rank() == rank)
      bytes = blocks_of(surface, mine);
    else
      bytes.resize(bytes_of(all[rank], surface.arrays.size()));
    if (rank != 0) {
      Exchange exchange(comm, tag);
      if (comm.rank() == 0) exchange.receive(rank, bytes);
      if (comm.rank() == rank) exchange.send(0, bytes);
      while (exchange.wait_any() >= 0) {
      }
      exchange.wait_sends();
    }
    write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  write("\n</AppendedData>\n</VTKFile>\n");
  fail_together(comm, [&] {
    require(problem.empty(), "{}", problem);
    file.finish();
  });
  atomic.commit();
}

}  // namespace karst
