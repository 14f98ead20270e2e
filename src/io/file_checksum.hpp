// SPDX-License-Identifier: BSD-3-Clause
// Checksums of files: CRC-32 (ISO 3309, that of zlib, gzip and PNG), which finds every flipped bit and every run of up
// to 32 damaged ones.
#pragma once

#include <cstdint>
#include <string>

#include "base/comm/comm.hpp"

namespace karst {

/// Of all bytes from `begin` on. Throws Error when the file cannot be read. Not collective.
std::uint32_t checksum_of(const std::string& path, std::int64_t begin = 0);

/// The same number; each rank reads a part. Throws the same Error on all ranks. Collective.
std::uint32_t checksum_of(const Comm& comm, const std::string& path, std::int64_t begin = 0);

}  // namespace karst
