// SPDX-License-Identifier: BSD-3-Clause
// Messages in the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding), for writing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace karst {

/// Fields in the order in which they are added.
class ProtoMessage {
 public:
  struct Fixed {
    std::uint64_t value;
  };

  void add(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(value);
  }
  void add(int field, Fixed number) {
    varint(static_cast<std::uint64_t>(field) << 3U | 1U);
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(number.value >> shift & 0xffU));
  }
  void add(int field, std::string_view text) {
    varint(static_cast<std::uint64_t>(field) << 3U | 2U);
    varint(text.size());
    bytes_ += text;
  }
  void add(int field, const ProtoMessage& message) { add(field, std::string_view(message.bytes_)); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t x) {
    for (; x >= 0x80U; x >>= 7U) bytes_.push_back(static_cast<char>((x & 0x7fU) | 0x80U));
    bytes_.push_back(static_cast<char>(x));
  }
  std::string bytes_;
};

}  // namespace karst
