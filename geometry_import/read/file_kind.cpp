// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/core/error.hpp"
#include "geometry_import/read/image_text.hpp"

namespace karst {
namespace {

using namespace std::string_view_literals;

/// Bytes at a place by which a kind is known.
struct Mark {
  std::size_t at;
  std::string_view bytes, name;
  std::optional<SelfDescribing> format;
  std::string_view advice = {};
  AsRaw as_raw = AsRaw::never;
  bool by_python = false;
};

constexpr std::size_t text_looked_at = 1 << 16;
constexpr std::string_view to_tiff = "save it as TIFF, for instance with Fiji (File > Save As > Tiff)",
                           unpack = "decompress it",
                           by_import = "only `karst import` reads it, through Python; convert it by that command first",
                           scanner = "export it from the program of the scanner as TIFF";

const std::array<Mark, 44> marks{{
    {0, "II*\0"sv, "a TIFF file", SelfDescribing::tiff},
    {0, "MM\0*"sv, "a TIFF file", SelfDescribing::tiff},
    {0, "II+\0"sv, "a TIFF file", SelfDescribing::tiff},
    {0, "MM\0+"sv, "a TIFF file", SelfDescribing::tiff},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG file", SelfDescribing::png},
    {0, "\x93NUMPY"sv, "a NumPy file", SelfDescribing::numpy},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", SelfDescribing::hdf5},
    {512, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", SelfDescribing::hdf5},  // MATLAB 7.3: behind a block of the user's
    {1024, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", SelfDescribing::hdf5},
    {2048, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", SelfDescribing::hdf5},
    {0, "NRRD000"sv, "an NRRD file", SelfDescribing::nrrd},
    {344, "n+1\0"sv, "a NIfTI file", SelfDescribing::nifti},
    {344, "ni1\0"sv, "a NIfTI file", SelfDescribing::nifti},
    {4, "n+2\0\r\n\x1a\n"sv, "a NIfTI file", SelfDescribing::nifti},
    {4, "ni2\0\r\n\x1a\n"sv, "a NIfTI file", SelfDescribing::nifti},
    {0, "\x1f\x8b\x08"sv, "compressed by gzip", {}, "decompress it (gunzip)", AsRaw::when_packed},
    {4, "1AY&SY"sv, "compressed by bzip2", {}, by_import, AsRaw::never, true},
    {0,
     "\xfd"sv
     "7zXZ\0"sv,
     "compressed by xz",
     {},
     by_import,
     AsRaw::never,
     true},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed by zstd", {}, by_import, AsRaw::never, true},
    {0, "PK\x03\x04"sv, "a zip archive (which .npz is, too)", {}, "unpack it; of an .npz save one array as .npy"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", {}, unpack},
    {0, "Rar!\x1a\x07"sv, "a rar archive", {}, unpack},
    {257, "ustar"sv, "a tar archive", {}, "unpack it (tar -x)"},
    {128, "DICM"sv, "a DICOM file", {}, by_import, AsRaw::behind_header, true},
    {0, "# AmiraMesh"sv, "an AmiraMesh file", {}, by_import, AsRaw::behind_header, true},
    {0, "# Avizo"sv, "an Avizo file", {}, by_import, AsRaw::behind_header, true},
    {0, "# HyperSurface"sv, "a surface of Avizo, not an image", {}, "export the labels as TIFF"},
    {0, "# vtk DataFile"sv, "a legacy VTK file", {}, by_import, AsRaw::behind_header, true},
    {0, "MATLAB 5.0 MAT-file"sv, "a MATLAB file before version 7.3", {}, by_import, AsRaw::behind_header, true},
    {0, "CDF\x01"sv, "a classic NetCDF file", {}, by_import, AsRaw::behind_header, true},
    {0, "CDF\x02"sv, "a classic NetCDF file", {}, by_import, AsRaw::behind_header, true},
    {0, "CDF\x05"sv, "a classic NetCDF file", {}, by_import, AsRaw::behind_header, true},
    {0,
     "\xff\xd8\xff"sv,
     "a JPEG file",
     {},
     "its compression changes gray values: save slices as PNG or TIFF from the scan itself"},
    {0, "\0\0\0\x0cjP  "sv, "a JPEG 2000 file", {}, to_tiff},
    {0, "GIF8"sv, "a GIF file", {}, to_tiff},
    {208, "MAP "sv, "an MRC file", {}, to_tiff, AsRaw::behind_header},
    {0, "SIMPLE  ="sv, "a FITS file", {}, to_tiff, AsRaw::behind_header},
    {0, "ZISRAWFILE"sv, "a Zeiss CZI file", {}, to_tiff},
    {0, "\xda\xce\xbe\x0a"sv, "a Nikon ND2 file", {}, to_tiff},
    {0,
     "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv,
     "a compound document, as .txm and .txrm of Zeiss Xradia are",
     {},
     scanner},
    {0, "CTDATA-HEADER_V1"sv, "an ISQ file of Scanco", {}, scanner, AsRaw::behind_header},
    {0, "%PDF"sv, "a PDF file", {}, "export the image itself"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program",
     {},
     "name the image"},
    {0, "RIFF"sv, "a RIFF file (AVI, WebP)", {}, to_tiff},
}};

std::string first_bytes(const std::string& path, std::size_t most) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(std::max<std::streamsize>(file.gcount(), 0));
  return bytes;
}

/// `Key = ` of MetaImage on the first line, or an element of VTK: known by words, not by bytes at a place.
std::optional<FileKind> kind_by_words(std::string_view bytes) {
  const std::string_view line = trimmed(bytes.substr(0, bytes.find('\n')));
  const std::size_t equal = line.find('=');
  const std::string_view key = trimmed(line.substr(0, equal == std::string_view::npos ? 0 : equal));
  if (key == "ObjectType" || key == "NDims") return FileKind{"a MetaImage file", SelfDescribing::meta_image, ""};
  if (line.starts_with('<') && bytes.find("<VTKFile") != std::string_view::npos)
    return FileKind{"an XML file of VTK", SelfDescribing::vti, ""};
  if (line.starts_with("<?xml")) return FileKind{"an XML file, no image", {}, "give the image that it describes"};
  if (bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
      (bytes[2] == '\n' || bytes[2] == ' '))
    return FileKind{"a Netpbm image (PBM, PGM, PPM)", {}, std::string(to_tiff), AsRaw::behind_header};
  return {};
}

/// "BM" alone may be voxels: the length that stands behind it is that of the file.
bool is_bmp(std::string_view bytes, const std::string& path) {
  if (bytes.size() < 14 || !bytes.starts_with("BM")) return false;
  std::int64_t length = 0;
  for (std::size_t n = 6; n-- > 2;) length = length << 8 | static_cast<unsigned char>(bytes[n]);
  return length == bytes_in(path);
}

/// MATLAB 4 has no mark: five numbers, a name and the length of the file have to fit (MAT-File Format, The MathWorks,
/// level 4).
bool is_matlab4(std::string_view bytes, const std::string& path) {
  constexpr std::size_t head = 20, longest_name = 64;
  constexpr std::array<std::int64_t, 6> widths{8, 4, 4, 2, 2, 1};
  if (bytes.size() < head) return false;
  for (const bool big : {false, true}) {
    std::array<std::int64_t, 5> n{};  // type, rows, columns, whether complex, length of the name
    for (std::size_t i = 0; i < head; ++i)
      n[i / 4] |= std::int64_t{static_cast<unsigned char>(bytes[i])} << 8 * (big ? 3 - i % 4 : i % 4);
    const std::int64_t type = n[0] - (big ? 1000 : 0);
    if (type < 0 || type / 10 >= std::ssize(widths) || type % 10 > 2 || n[1] < 1 || n[2] < 1 || n[3] > 1 || n[4] < 2)
      continue;
    if (n[1] >= std::int64_t{1} << 31 || n[2] >= std::int64_t{1} << 31 || n[4] > std::int64_t{longest_name}) continue;
    const std::string_view name = bytes.substr(head, n[4]);
    const std::string_view word = name.substr(0, name.find('\0'));
    const bool is_name = name.ends_with('\0') && !word.empty() &&
                         std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
                         std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    const double needed =
        static_cast<double>(n[1]) * static_cast<double>(n[2]) * static_cast<double>(widths[type / 10]);
    if (is_name && needed <= static_cast<double>(bytes_in(path))) return true;
  }
  return false;
}

/// NetCDF by its first bytes, also in HDF5.
bool is_netcdf(const std::string& path) {
  const std::string start = first_bytes(path, 4);
  return start == "\x89HDF" ||
         (start.starts_with("CDF") && start.size() == 4 && (start[3] == '\1' || start[3] == '\2' || start[3] == '\5'));
}

/// A store of Zarr, an image in blocks of NetCDF, or slices of DICOM where there are none of TIFF and PNG.
std::optional<FileKind> kind_of_folder(const std::string& path) {
  constexpr std::size_t dicom_mark = 128;
  std::error_code problem;
  for (const char* name : {".zarray", ".zgroup", ".zattrs", "zarr.json"})
    if (std::filesystem::is_regular_file(std::filesystem::path(path) / name, problem))
      return FileKind{"a Zarr folder", {}, std::string(by_import), AsRaw::never, true};
  bool dicom = false, netcdf = false;
  for (const auto& entry : std::filesystem::directory_iterator(path, problem)) {
    const auto named = format_named(entry.path().string());
    if (named == SelfDescribing::tiff || named == SelfDescribing::png) return {};
    netcdf = netcdf || (entry.path().extension() == ".nc" && is_netcdf(entry.path().string()));
    dicom = dicom || first_bytes(entry.path().string(), dicom_mark + 4).find("DICM", dicom_mark) == dicom_mark;
  }
  if (netcdf) return FileKind{"a folder of NetCDF blocks", {}, std::string(by_import), AsRaw::never, true};
  if (!dicom) return {};
  return FileKind{"a folder of DICOM slices", {}, std::string(by_import), AsRaw::never, true};
}

}  // namespace

bool is_read_by_python(const std::string& path) {
  const std::optional<FileKind> kind = kind_of_file(path);
  return kind && kind->by_python;
}

std::optional<FileKind> kind_of_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return kind_of_folder(path);
  const std::string bytes = first_bytes(path, 4096);
  for (const Mark& m : marks)
    if (bytes.size() >= m.at + m.bytes.size() && std::string_view(bytes).substr(m.at, m.bytes.size()) == m.bytes)
      return FileKind{std::string(m.name), m.format, std::string(m.advice), m.as_raw, m.by_python};
  if (is_matlab4(bytes, path))
    return FileKind{"a MATLAB 4 file", {}, std::string(by_import), AsRaw::behind_header, true};
  if (is_bmp(bytes, path)) return FileKind{"a BMP file", {}, std::string(to_tiff), AsRaw::behind_header};
  return kind_by_words(bytes);
}

bool is_text(std::string_view bytes) {
  bytes = bytes.substr(0, text_looked_at);
  constexpr std::string_view numbers = "0123456789+-.,;eE";
  std::size_t high = 0, words = 0, others = 0, lines = 0, empty_lines = 0, spaces = 0, wide_spaces = 0;
  std::array<bool, 256> seen{};
  char before = '\0';
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    const bool line = u == '\n' || u == '\t', blank = u == ' ' || (u >= '\t' && u <= '\r');
    if ((u < ' ' && !blank) || u == 0x7f) return false;
    lines += line;
    empty_lines += line && c == before;
    spaces += u == ' ';
    wide_spaces += u == ' ' && c == before;
    words += std::isalnum(u) != 0;
    high += u >= 0x80;
    seen[u] = seen[u] || !blank;
    others += !blank && numbers.find(c) == std::string_view::npos;
    if (u != '\r') before = c;
  }
  // Labels 10 and 50 are ends of lines and the digit 2: they come in runs, as ends of lines do not.
  const bool in_lines = lines > 0 && 10 * empty_lines <= lines + 20,
             in_a_row = lines == 0 && others == 0 && 2 * wide_spaces <= spaces + 4;
  // Words have many letters, images made by hand few values.
  const bool language = others == 0 || std::count(seen.begin(), seen.end(), true) >= 10;
  return words > 0 && language && 20 * high <= bytes.size() && (in_lines || in_a_row);
}

void require_no_text(const std::string& path) {
  if (!is_text(first_bytes(path, text_looked_at))) return;
  throw Error(fmt::format(
      "{}: its first bytes are text, not voxels: its characters would be read as gray values. Save the numbers as an "
      "array, for instance numpy.save(\"rock.npy\", numpy.loadtxt(\"{}\").reshape(nz, ny, nx).astype(numpy.uint8))",
      path, std::filesystem::path(path).filename().string()));
}

void require_readable(const std::string& path, const std::optional<RawLayout>& layout) {
  const std::optional<FileKind> kind = kind_of_file(path);
  const auto refuse = [&](const FileKind& k) {
    throw Error(fmt::format("{}: according to its first bytes it is {}{}: {}", path, k.name,
                            k.by_python ? "" : ", which is not supported", k.advice));
  };
  if (kind && !kind->format) {
    const auto named = format_named(path);
    const bool may_be_packed = named ? named == SelfDescribing::nifti : layout || is_image_name(path);
    const bool raw = kind->as_raw == AsRaw::when_packed
                         ? may_be_packed
                         : kind->as_raw == AsRaw::behind_header && layout && layout->skip_bytes > 0;
    if (!raw) refuse(*kind);
  }
  if (!format_of(path)) require_no_text(path);
}

}  // namespace karst
