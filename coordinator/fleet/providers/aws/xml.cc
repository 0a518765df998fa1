#include "coordinator/fleet/providers/aws/xml.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kMaxDepth = 32;
constexpr int kMaxElements = 1'000'000;
constexpr std::pair<std::string_view, char> kEntities[] = {
    {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  absl::StatusOr<Xml> Read() {
    // `root` holds the one element of the document.
    Xml root;
    open_ = {&root};
    while (!rest_.empty()) {
      const absl::Status status = rest_[0] == '<' ? Markup() : Text();
      if (!status.ok()) return status;
    }
    if (open_.size() != 1) return Bad(absl::StrCat("<", open_.back()->name, "> is not closed"));
    if (root.children.size() != 1) return Bad("not one element");
    return std::move(root.children.front());
  }

 private:
  static absl::Status Bad(const std::string& why) { return absl::InvalidArgumentError(absl::StrCat("bad XML: ", why)); }

  bool Skip(std::string_view begin, std::string_view end) {
    if (rest_.substr(0, begin.size()) != begin) return false;
    const size_t found = rest_.find(end, begin.size());
    rest_.remove_prefix(found == std::string_view::npos ? rest_.size() : found + end.size());
    return true;
  }

  absl::Status Markup() {
    if (Skip("<?", "?>") || Skip("<!--", "-->")) return absl::OkStatus();
    if (rest_.substr(0, 2) == "<!") return Bad("a declaration");
    const size_t end = rest_.find('>');
    if (end == std::string_view::npos) return Bad("a tag that does not end");
    std::string_view tag = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (!tag.empty() && tag[0] == '/') return Close(tag.substr(1));
    const bool empty = !tag.empty() && tag.back() == '/';
    if (empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (name.empty()) return Bad("a tag without a name");
    if (++elements_ > kMaxElements || open_.size() > kMaxDepth) return Bad("too large");
    open_.back()->children.push_back({.name = std::string(name), .text = "", .children = {}});
    if (!empty) open_.push_back(&open_.back()->children.back());
    return absl::OkStatus();
  }

  absl::Status Close(std::string_view tag) {
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (open_.size() < 2 || open_.back()->name != name) return Bad("a tag closes another element");
    open_.pop_back();
    return absl::OkStatus();
  }

  absl::Status Text() {
    const size_t end = rest_.find('<');
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(text.size());
    std::string& out = open_.back()->text;
    while (!text.empty()) {
      const size_t length = Entity(text, &out);
      if (length == 0) return Bad("an unknown entity");
      text.remove_prefix(length);
    }
    return absl::OkStatus();
  }

  // Appends the first character of `text`, or its first entity, to `out`. Returns how many characters of `text` that
  // took, or 0 where the entity is not known.
  static size_t Entity(std::string_view text, std::string* out) {
    if (text[0] != '&') {
      *out += text[0];
      return 1;
    }
    for (const auto& [name, c] : kEntities) {
      if (text.substr(0, name.size()) != name) continue;
      *out += c;
      return name.size();
    }
    const size_t end = text.find(';');
    if (text.substr(0, 2) != "&#" || end == std::string_view::npos || end > 10) return 0;
    // A character that is given by its number becomes '?', because the names and codes of AWS contain no such
    // character.
    *out += '?';
    return end + 1;
  }

  std::string_view rest_;
  std::vector<Xml*> open_;
  int elements_ = 0;
};

}  // namespace

const Xml& Xml::operator[](std::string_view child) const {
  static const Xml* nothing = new Xml;
  for (const Xml& each : children) {
    if (each.name == child) return each;
  }
  return *nothing;
}

absl::StatusOr<Xml> ParseXml(std::string_view text) { return Reader(text).Read(); }

}  // namespace rekindle::fleet
