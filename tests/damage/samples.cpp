// SPDX-License-Identifier: BSD-3-Clause
#include "tests/damage/samples.hpp"

#include <fmt/core.h>
#include <hdf5.h>
#include <tiffio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <random>

#include "tests/unit/geometry_import/packed.hpp"

namespace karst::test {
namespace {

constexpr int nx = sample_size[0], ny = sample_size[1], nz = sample_size[2];
constexpr std::size_t count = std::size_t{nx} * ny * nz, plane = std::size_t{nx} * ny;

/// Noise, so that no two parts of the image are alike.
template <class T>
std::vector<T> values() {
  std::mt19937 random(7);
  std::vector<T> v(count);
  for (T& x : v) x = static_cast<T>(random() % 250 + (sizeof(T) > 1 ? 300 * (random() % 2) : 0));
  return v;
}

template <class T>
std::string voxels(bool big = false) {
  std::string bytes;
  for (const T v : values<T>()) bytes += bytes_of_value(v, big);
  return bytes;
}

template <class T>
std::string text() {
  std::string t;
  std::size_t n = 0;
  for (const T v : values<T>()) t += fmt::format("{}{}", v, ++n % nx == 0 ? "\n" : " ");
  return t;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Header, voxels as the file has them, what follows.
Sample sample(const std::string& name, VoxelType type, const std::string& head, const std::string& body,
              Storage storage = Storage::plain, const std::string& tail = "") {
  Sample s;
  s.name = name;
  s.type = type;
  s.bytes = head + body + tail;
  if (!body.empty()) s.where = {{head.size(), head.size() + body.size()}};
  s.storage = storage;
  s.voxels = type == VoxelType::uint8 ? voxels<std::uint8_t>() : voxels<std::uint16_t>();
  return s;
}

void raw(std::vector<Sample>& all) {
  Sample s = sample("a.raw", VoxelType::uint16, "head of 16 bytes", voxels<std::uint16_t>());
  s.layout = RawLayout{sample_size, VoxelType::uint16, false, 16};
  all.push_back(s);
}

void numpy(std::vector<Sample>& all) {
  for (const bool wide : {false, true}) {
    std::string dict =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (5, 36, 40), }}", wide ? "<u2" : "|u1");
    dict.append(117 - dict.size(), ' ');
    dict += '\n';
    const std::string head =
        std::string("\x93NUMPY\x01\0", 8) + bytes_of_value(static_cast<std::uint16_t>(dict.size())) + dict;
    all.push_back(sample("a.npy", wide ? VoxelType::uint16 : VoxelType::uint8, head,
                         wide ? voxels<std::uint16_t>() : voxels<std::uint8_t>()));
  }
}

void meta(std::vector<Sample>& all) {
  const std::string head =
      "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n"
      "Offset = 0 0 0\nElementSpacing = 0.002 0.002 0.002\nDimSize = 40 36 5\n";
  const std::string wide = "ElementType = MET_USHORT\n", local = "ElementDataFile = LOCAL\n";
  const std::string w = voxels<std::uint16_t>();
  all.push_back(sample("a.mha", VoxelType::uint16, head + wide + local, w));
  Sample beside = sample("a.mhd", VoxelType::uint16, head + wide + "ElementDataFile = a.raw\n", "");
  beside.beside = {{"a.raw", w}};
  all.push_back(beside);
  const std::string binary = "BinaryData = True\n", no = "CompressedData = False\n";
  std::string as_text = head, as_zlib = head;
  as_text.replace(head.find(binary), binary.size(), "BinaryData = False\n");
  const std::string z = zlib(w);
  as_zlib.replace(head.find(no), no.size(), fmt::format("CompressedData = True\nCompressedDataSize = {}\n", z.size()));
  all.push_back(sample("b.mha", VoxelType::uint16, as_text + wide + local, text<std::uint16_t>(), Storage::letters));
  all.push_back(sample("c.mha", VoxelType::uint16, as_zlib + wide + local, z, Storage::checked));
  const std::string u8 = voxels<std::uint8_t>();
  Sample list = sample("d.mhd", VoxelType::uint8, head + "ElementType = MET_UCHAR\nElementDataFile = LIST\n", "");
  Sample counted =
      sample("e.mhd", VoxelType::uint8, head + "ElementType = MET_UCHAR\nElementDataFile = p%02d.raw 1 5 1\n", "");
  for (std::size_t p = 0; p < std::size_t{nz}; ++p) {
    list.bytes += fmt::format("p{:02}.raw\n", p + 1);
    list.beside.emplace_back(fmt::format("p{:02}.raw", p + 1), u8.substr(p * plane, plane));
  }
  counted.beside = list.beside;
  all.push_back(list);
  all.push_back(counted);
}

void nrrd(std::vector<Sample>& all) {
  const std::string head =
      "NRRD0004\n# a comment\ntype: uint16\ndimension: 3\nsizes: 40 36 5\nspacings: 2 2 2\nunits: \"um\" \"um\" "
      "\"um\"\nendian: little\n";
  const std::string turned =
      "NRRD0005\ntype: uchar\ndimension: 3\nspace: left-posterior-superior\nsizes: 40 36 5\nspace "
      "directions: (0.1,0,0) (0,0.1,0) (0,0,0.2)\nkinds: domain domain domain\nspace units: \"mm\" "
      "\"mm\" \"mm\"\n";
  const std::string w = voxels<std::uint16_t>(), u8 = voxels<std::uint8_t>();
  all.push_back(sample("a.nrrd", VoxelType::uint16, head + "encoding: raw\n\n", w));
  all.push_back(sample("b.nrrd", VoxelType::uint16, head + "encoding: gzip\n\n", gzip(w), Storage::checked));
  all.push_back(
      sample("c.nrrd", VoxelType::uint16, head + "encoding: ascii\n\n", text<std::uint16_t>(), Storage::letters));
  all.push_back(sample("d.nrrd", VoxelType::uint16, head + "encoding: hex\n\n", hex(w), Storage::letters));
  all.push_back(sample("e.nrrd", VoxelType::uint8, turned + "encoding: gzip\n\n", gzip(u8), Storage::checked));
  Sample beside = sample("a.nhdr", VoxelType::uint8, turned + "encoding: raw\ndata file: a.raw\n", "");
  beside.beside = {{"a.raw", u8}};
  all.push_back(beside);
}

std::string nifti_header(bool big, bool one_file) {
  std::string h(one_file ? 352 : 348, '\0');
  const auto put = [&](std::size_t at, auto v) { h.replace(at, sizeof v, bytes_of_value(v, big)); };
  put(0, std::int32_t{348});
  const std::array<std::int16_t, 8> dim{3, nx, ny, nz, 1, 1, 1, 1};
  for (std::size_t d = 0; d < 8; ++d) put(40 + 2 * d, dim[d]);
  put(70, std::int16_t{512});  // uint16
  put(72, std::int16_t{16});   // bits
  for (std::size_t d = 0; d < 4; ++d) put(76 + 4 * d, d == 0 ? 1.0F : 2.5F);
  put(108, one_file ? 352.0F : 0.0F);
  h[123] = 3;  // micrometres
  h.replace(344, 4, one_file ? std::string("n+1\0", 4) : std::string("ni1\0", 4));
  return h;
}

std::string nifti_2_header() {
  std::string h(544, '\0');
  const auto put = [&](std::size_t at, auto v) { h.replace(at, sizeof v, bytes_of_value(v)); };
  put(0, std::int32_t{540});
  h.replace(4, 8, std::string("n+2\0\r\n\x1a\n", 8));
  put(12, std::int16_t{512});
  put(14, std::int16_t{16});
  const std::array<std::int64_t, 8> dim{3, nx, ny, nz, 1, 1, 1, 1};
  for (std::size_t d = 0; d < 8; ++d) put(16 + 8 * d, dim[d]);
  for (std::size_t d = 0; d < 4; ++d) put(104 + 8 * d, d == 0 ? 1.0 : 2.5);
  put(168, std::int64_t{544});
  put(500, std::int32_t{3});
  return h;
}

void nifti(std::vector<Sample>& all) {
  const std::string w = voxels<std::uint16_t>(), big = voxels<std::uint16_t>(true);
  all.push_back(sample("a.nii", VoxelType::uint16, nifti_header(false, true), w));
  all.push_back(sample("b.nii", VoxelType::uint16, nifti_header(true, true), big));
  all.back().voxels = big;
  all.back().big_endian = true;
  all.push_back(sample("c.nii", VoxelType::uint16, nifti_2_header(), w));
  all.push_back(sample("d.nii.gz", VoxelType::uint16, "", gzip(nifti_header(false, true) + w), Storage::checked));
  Sample beside = sample("e.hdr", VoxelType::uint16, nifti_header(false, false), "");
  beside.beside = {{"e.img", w}};
  all.push_back(beside);
}

/// @param points  voxels are points, else cells
std::string vti_head(const std::string& root, const std::string& array, bool points) {
  const std::string extent = points ? "0 39 0 35 0 4" : "0 40 0 36 0 5", data = points ? "PointData" : "CellData";
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" " + root +
         ">\n  <ImageData WholeExtent=\"" + extent + "\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n    <Piece Extent=\"" +
         extent + "\">\n      <" + data + " Scalars=\"g\">\n        <DataArray type=\"UInt16\" Name=\"g\" " + array;
}

std::string vti_tail(bool points) {
  const std::string data = points ? "PointData" : "CellData";
  return "\n        </DataArray>\n      </" + data + ">\n    </Piece>\n  </ImageData>\n";
}

std::string blocks(const std::string& bytes, bool text) {
  const auto [head, body] = vtk_blocks<std::uint64_t>(bytes, 4000);
  return text ? base64(head) + base64(body) : head + body;
}

void vti(std::vector<Sample>& all) {
  const std::string u32 = "header_type=\"UInt32\"", u64 = "header_type=\"UInt64\"",
                    zipped = u64 + " compressor=\"vtkZLibDataCompressor\"";
  const std::string close = "</VTKFile>\n", w = voxels<std::uint16_t>();
  const std::string plain_32 = bytes_of_value(static_cast<std::uint32_t>(w.size())) + w,
                    plain_64 = bytes_of_value(static_cast<std::uint64_t>(w.size())) + w;
  const auto inside = [&](const std::string& root, const char* format, const std::string& body, Storage storage,
                          bool points) {
    all.push_back(sample(fmt::format("{}.vti", all.size()), VoxelType::uint16,
                         vti_head(root, fmt::format("format=\"{}\">\n", format), points), body, storage,
                         vti_tail(points) + close));
  };
  inside(u32, "ascii", text<std::uint16_t>(), Storage::letters, true);
  inside(u32, "binary", base64(plain_32), Storage::letters, false);
  inside(zipped, "binary", blocks(w, true), Storage::checked, true);
  const auto appended = [&](const std::string& root, const char* encoding, const std::string& body, Storage storage,
                            bool points) {
    const std::string head = vti_head(root, "format=\"appended\" offset=\"0\">", points) + vti_tail(points) +
                             fmt::format("  <AppendedData encoding=\"{}\">\n   _", encoding);
    all.push_back(sample(fmt::format("{}.vti", all.size()), VoxelType::uint16, head, body, storage,
                         "\n  </AppendedData>\n" + close));
  };
  appended(u32, "raw", plain_32, Storage::plain, false);
  all.back().where[0].first += 4;
  appended(u64, "raw", plain_64, Storage::plain, true);
  all.back().where[0].first += 8;
  appended(zipped, "raw", blocks(w, false), Storage::checked, false);
  appended(u64, "base64", base64(plain_64), Storage::letters, true);
  appended(zipped, "base64", blocks(w, true), Storage::checked, true);
}

std::string png(const std::string& rows) {
  const auto chunk = [](const std::string& kind, const std::string& data) {
    const std::string all = kind + data;
    const auto crc =
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(all.data()), static_cast<uInt>(all.size())));
    return bytes_of_value(static_cast<std::uint32_t>(data.size()), true) + all + bytes_of_value(crc, true);
  };
  std::string filtered;
  for (std::size_t y = 0; y < std::size_t{ny}; ++y) filtered += '\0' + rows.substr(y * nx, nx);
  const std::string head = bytes_of_value(std::uint32_t{nx}, true) + bytes_of_value(std::uint32_t{ny}, true) +
                           std::string("\x08\0\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", zlib(filtered)) + chunk("IEND", "");
}

/// A folder of slices of which one is damaged.
void stack(std::vector<Sample>& all) {
  const std::string u8 = voxels<std::uint8_t>();
  Sample s = sample("s_3.png", VoxelType::uint8, "", png(u8.substr(2 * plane, plane)), Storage::checked);
  for (std::size_t z = 0; z < std::size_t{nz}; ++z)
    if (z != 2) s.beside.emplace_back(fmt::format("s_{}.png", z + 1), png(u8.substr(z * plane, plane)));
  s.opened = "s_*.png";
  all.push_back(s);
}

template <class T>
std::string tiff(const std::string& path, int compression, bool tiles) {
  std::vector<T> v = values<T>();
  TIFF* t = TIFFOpen(path.c_str(), "w");
  for (int z = 0; z < nz; ++z) {
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, nx);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, ny);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * sizeof(T)));
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    T* rows = v.data() + static_cast<std::size_t>(z) * plane;
    if (tiles) {
      TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
      TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
      std::vector<T> tile(256);
      for (int y0 = 0; y0 < ny; y0 += 16)
        for (int x0 = 0; x0 < nx; x0 += 16) {
          for (int y = y0; y < std::min(y0 + 16, ny); ++y)
            for (int x = x0; x < std::min(x0 + 16, nx); ++x) tile[(y - y0) * 16 + x - x0] = rows[y * nx + x];
          TIFFWriteTile(t, tile.data(), static_cast<std::uint32_t>(x0), static_cast<std::uint32_t>(y0), 0, 0);
        }
    } else {
      TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 16);
      for (int y = 0; y < ny; ++y) TIFFWriteScanline(t, rows + y * nx, static_cast<std::uint32_t>(y));
    }
    TIFFWriteDirectory(t);
  }
  TIFFClose(t);
  return content(path);
}

std::string hdf5(const std::string& path, bool chunks) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), made = H5Pcreate(H5P_DATASET_CREATE);
  const std::array<hsize_t, 3> size{nz, ny, nx}, chunk{2, 18, 32};
  if (chunks) {
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_chunk(made, 3, chunk.data());
    H5Pset_deflate(made, 4);
    H5Pset_fletcher32(made);
  }
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access),
              space = H5Screate_simple(3, size.data(), nullptr);
  const hid_t data = H5Dcreate2(file, "gray", H5T_STD_U16LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
  const std::vector<std::uint16_t> v = values<std::uint16_t>();
  H5Dwrite(data, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.data());
  H5Dclose(data);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(made);
  H5Pclose(access);
  return content(path);
}

/// Files that libraries write: where the voxels are is looked for.
void of_libraries(std::vector<Sample>& all, const std::string& folder) {
  const auto add = [&](const char* format, const char* name, VoxelType type, const std::string& bytes,
                       Storage storage) {
    Sample s = sample(name, type, "", bytes, storage);
    s.format = format;
    s.where.clear();
    const std::size_t length = s.voxels.size() / std::size_t{nz};
    for (std::size_t z = 0; z < std::size_t{nz}; ++z) {
      const std::size_t at = bytes.find(s.voxels.substr(z * length, length));
      if (at != std::string::npos) s.where.emplace_back(at, at + length);
    }
    all.push_back(s);
  };
  const std::string t = folder + "/made.tif", h = folder + "/made.h5";
  add("TIFF", "a.tif", VoxelType::uint8, tiff<std::uint8_t>(t, COMPRESSION_NONE, false), Storage::plain);
  add("TIFF", "b.tif", VoxelType::uint16, tiff<std::uint16_t>(t, COMPRESSION_LZW, false), Storage::packed);
  add("TIFF", "c.tif", VoxelType::uint16, tiff<std::uint16_t>(t, COMPRESSION_ADOBE_DEFLATE, true), Storage::checked);
  add("HDF5", "a.h5", VoxelType::uint16, hdf5(h, false), Storage::plain);
  add("HDF5", "b.h5", VoxelType::uint16, hdf5(h, true), Storage::checked);
}

}  // namespace

std::vector<Sample> samples(const std::string& folder) {
  std::vector<Sample> all;
  const auto add = [&](const char* format, auto make) {
    std::vector<Sample> some;
    make(some);
    for (Sample& s : some) {
      s.format = format;
      all.push_back(std::move(s));
    }
  };
  add("raw", raw);
  add("NumPy", numpy);
  add("MetaImage", meta);
  add("NRRD", nrrd);
  add("NIfTI", nifti);
  add("VTI", vti);
  add("PNG stack", stack);
  of_libraries(all, folder);
  return all;
}

}  // namespace karst::test
