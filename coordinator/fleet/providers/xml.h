// The XML that AWS answers with: elements, text and the five entities. No DTD, no namespaces, attributes are skipped.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_XML_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_XML_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

struct Xml {
  std::string name;
  std::string text;          // Its own, without that of its children.
  std::deque<Xml> children;  // Stay where they are while more are added.

  // The first child of that name; an empty element where there is none.
  const Xml& operator[](std::string_view child) const;
};

// INVALID_ARGUMENT for text that is not one whole element, or is deeper or larger than an answer would be.
absl::StatusOr<Xml> ParseXml(std::string_view text);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_XML_H_
