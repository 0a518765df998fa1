#include "worker/user_code/scrubber.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace rekindle::user_code {
namespace {

// Returns the text as JSON has it between quotation marks.
std::string AsJson(const std::string& text, bool ascii) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<std::string> FormsOf(const std::string& value) {
  std::vector<std::string> forms = {value, AsJson(value, false), AsJson(value, true), absl::CEscape(value),
                                    absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\n", "\\n"}, {"'", "\\'"}})};
  const std::vector<std::string> lines = absl::StrSplit(value, '\n');
  forms.insert(forms.end(), lines.begin(), lines.end());
  return forms;
}

}  // namespace

Scrubber::Scrubber(const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    if (value.size() < kShortest) continue;
    for (std::string& form : FormsOf(value)) {
      if (form.size() >= kShortest) forms_.emplace_back(std::move(form), absl::StrCat("[", name, "]"));
    }
  }
  std::stable_sort(forms_.begin(), forms_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string Scrubber::ScrubWhole(std::string_view text) const {
  std::string clean(text);
  for (const auto& [form, place] : forms_) absl::StrReplaceAll({{form, place}}, &clean);
  return clean;
}

std::string Scrubber::Scrub(std::string_view text) const {
  std::string clean = ScrubWhole(text);
  for (const auto& [form, place] : forms_) {
    for (size_t size = std::min(form.size() - 1, clean.size()); size >= kShortest; --size) {
      if (!clean.ends_with(std::string_view(form).substr(0, size))) continue;
      clean.replace(clean.size() - size, size, place);
      return clean;
    }
  }
  return clean;
}

}  // namespace rekindle::user_code
