// This file parses the XML that AWS answers with: elements, text and the five entities. It supports no DTD and no
// namespaces, and it skips attributes.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_XML_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_XML_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

struct Xml {
  std::string name;
  // `text` is the element's own text, without that of its children.
  std::string text;
  // The children of an element are in a deque, which keeps them at their addresses while more are added.
  std::deque<Xml> children;

  // Returns the first child element with the name `child`, or an empty element where there is none.
  const Xml& operator[](std::string_view child) const;
};

// Returns INVALID_ARGUMENT for text that is not one whole element, or that is deeper or larger than an answer would be.
absl::StatusOr<Xml> ParseXml(std::string_view text);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_XML_H_
