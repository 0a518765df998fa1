#include "coordinator/fleet/providers/contract/provider_kind.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/spec/field_check.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kLongestName = 255;

}  // namespace

absl::Status CheckName(const std::string& field, const std::string& name) {
  const bool fit = name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                     return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
                   });
  if (fit && name != "." && name != "..") return absl::OkStatus();
  return common::WrongField(field, "must be letters, digits, '-', '_' and '.', at most 255");
}

bool IsPriceAsked(const v1::Fleet::Pool& pool) { return pool.price_from() == "provider"; }

std::string OpenablePath(const std::string& path, const ProviderOptions& options) {
  return path.empty() || path[0] == '/' || options.beside.empty() ? path : absl::StrCat(options.beside, "/", path);
}

}  // namespace rekindle::fleet
