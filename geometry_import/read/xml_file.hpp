// SPDX-License-Identifier: BSD-3-Clause
// The part of XML that VTK's files and OME-TIFF use. Inside geometry_import only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace karst {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;  ///< values as they stand, entities are not replaced
  std::vector<XmlElement> children;
  std::int64_t start = 0, end = 0;  ///< content in the file, between the tags [bytes]
  bool text = false;                ///< the content has letters beside the children

  /// The children called so.
  std::vector<const XmlElement*> all(const std::string& child) const;
  /// Throws Error when there is no such attribute.
  const std::string& attribute(const std::string& key, const std::string& path) const;
  bool has(const std::string& key) const { return attributes.contains(key); }
};

/// Reads elements, attributes, comments and the places of texts; the texts themselves stay in the file.
/// @param stop  reading ends behind the opening tag of this element, whose content may be anything and whose `end` is
/// 0;
///              elements around it have no `end` either
/// Throws Error for what is not well-formed: tags that do not match, attributes given twice, a file that ends early or
/// goes on behind the last tag.
XmlElement read_xml(const std::string& path, const std::string& stop);

/// The same of a text; `start` and `end` of its elements are places in it.
/// @param path  named in messages
XmlElement parse_xml(const std::string& text, const std::string& path);

}  // namespace karst
