// SPDX-License-Identifier: BSD-3-Clause
// What a file is, by its first bytes: names may lie, and text is never voxels. Inside geometry_import only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "geometry_import/read/readers.hpp"

namespace karst {

/// How a file of a kind that is not read as such may still be taken for a raw one.
enum class AsRaw {
  never,
  when_packed,   ///< by gzip, as raw files may be
  behind_header  ///< voxels behind a header, whose bytes are skipped
};

struct FileKind {
  std::string name;                      ///< such as "an HDF5 file"
  std::optional<SelfDescribing> format;  ///< none: it is not read
  std::string advice;                    ///< how to make one of it that is read
  AsRaw as_raw = AsRaw::never;
  bool by_python = false;  ///< karst.formats reads it, for `karst import`
};

/// What the first bytes say, or the files in a folder of no slices; nothing when it is no known kind, which voxels are,
/// too.
std::optional<FileKind> kind_of_file(const std::string& path);

/// True for numbers and letters in lines: nothing but what is printed in the first 64 KiB, and ends of lines that do
/// not follow each other, or numbers alone. (Voxels of a narrow range of gray values have no ends of lines; of labels
/// that are letters of text they have runs.)
bool is_text(std::string_view bytes);

/// Throws Error when the file that should hold voxels is text.
void require_no_text(const std::string& path);

/// Throws Error, with the name of what it is and with what to do, unless the file may be opened: of a format that is
/// read, or of bytes that may be voxels.
void require_readable(const std::string& path, const std::optional<RawLayout>& layout);

}  // namespace karst
