#include "coordinator/fleet/providers/local/local_state.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/files/file.h"
#include "common/text/strict_json.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kLongestPrefix = 40;
constexpr size_t kMaxBytes = 4096;

std::optional<double> NumberIn(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

absl::StatusOr<LocalState> ReadLocalState(const std::string& path) {
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, kMaxBytes);
  if (!text.ok()) return text.status();
  const auto document = common::ParseDocument(*text);
  if (!document.ok() || !document->is_object())
    return absl::DataLossError(absl::StrCat(path, " is damaged: remove it"));
  LocalState state{.next_number = static_cast<int>(std::clamp(NumberIn(*document, "next").value_or(1), 1.0, 1e9)),
                   .began = NumberIn(*document, "began").value_or(0),
                   .notice_seconds = NumberIn(*document, "notice_seconds")};
  if (const auto nodes = NumberIn(*document, "nodes")) state.nodes = static_cast<int>(std::clamp(*nodes, 0.0, 1e6));
  return state;
}

absl::Status WriteLocalState(const std::string& path, const LocalState& state) {
  nlohmann::json document = {{"next", state.next_number}, {"began", state.began}};
  if (state.nodes) document["nodes"] = *state.nodes;
  if (state.notice_seconds) document["notice_seconds"] = *state.notice_seconds;
  return common::WriteFileAtomic(*common::PosixFileSystem(), path, document.dump() + "\n");
}

std::string NodePrefix(const std::string& pool) {
  std::string prefix = absl::AsciiStrToLower(pool.substr(0, kLongestPrefix));
  for (char& c : prefix) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '-';
  }
  return prefix[0] == '-' ? "p" + prefix : prefix;
}

int NodeNumber(absl::string_view node, const std::string& prefix) {
  int number = 0;
  if (!absl::ConsumePrefix(&node, prefix) || !absl::ConsumePrefix(&node, "-")) return 0;
  const bool digits = node.find_first_not_of("0123456789") == absl::string_view::npos;
  return digits && absl::SimpleAtoi(node, &number) ? number : 0;
}

}  // namespace rekindle::fleet
