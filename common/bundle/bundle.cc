#include "common/bundle/bundle.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "common/text/utf8.h"

namespace rekindle::common {
namespace {

constexpr size_t kAddressDigits = 64;
constexpr size_t kMaxPartBytes = 255;

absl::Status Bad(std::string_view name, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("the file name '", Printable(name), "' ", why));
}

bool IsControl(char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); }

}  // namespace

bool IsBundleAddress(std::string_view text) {
  return text.size() == kAddressDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

absl::Status CheckBundleName(std::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError("a file has no name");
  if (name.size() > kMaxBundleNameBytes) {
    return Bad(name, absl::StrCat("is longer than ", kMaxBundleNameBytes, " bytes"));
  }
  if (name.front() == '/') return Bad(name, "is absolute");
  if (FindInvalidUtf8(name)) return Bad(name, "is not UTF-8");
  if (std::any_of(name.begin(), name.end(), IsControl)) return Bad(name, "has a control character");
  if (name.find('\\') != std::string_view::npos) return Bad(name, "has a backslash");
  int depth = 0;
  for (std::string_view rest = name;;) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return Bad(name, "has a part that is empty, '.' or '..'");
    if (part.size() > kMaxPartBytes) return Bad(name, absl::StrCat("has a part over ", kMaxPartBytes, " bytes"));
    if (++depth > kMaxBundleDepth) return Bad(name, absl::StrCat("has more than ", kMaxBundleDepth, " parts"));
    if (slash == std::string_view::npos) return absl::OkStatus();
    rest.remove_prefix(slash + 1);
  }
}

absl::Status BundleNames::Add(const std::string& name) {
  if (absl::Status valid = CheckBundleName(name); !valid.ok()) return valid;
  if (name <= last_) return Bad(name, "comes twice or out of order");
  last_ = name;
  Place* folder = &root_;
  for (std::string_view rest = name;;) {
    const size_t slash = rest.find('/');
    const bool is_folder = slash != std::string_view::npos;
    const std::string part(rest.substr(0, slash));
    const auto [found, is_new] = folder->below.try_emplace(absl::AsciiStrToLower(part));
    Place& place = found->second;
    if (is_new) {
      if (is_folder && ++folders_ > kMaxBundleFolders) {
        return Bad(name, absl::StrCat("needs one folder more than the ", kMaxBundleFolders, " that a bundle may have"));
      }
      place.name = part;
      place.is_folder = is_folder;
    } else if (place.name != part) {
      return Bad(name, "differs from another one only in the case of its letters");
    } else if (!is_folder || !place.is_folder) {
      return Bad(name, "is that of a file and of a folder");
    }
    if (!is_folder) return absl::OkStatus();
    folder = &place;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace rekindle::common
