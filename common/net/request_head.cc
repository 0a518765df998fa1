#include "common/net/request_head.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace rekindle::common {
namespace {

constexpr absl::string_view kEndOfLine = "\r\n";
constexpr absl::string_view kEndOfHead = "\r\n\r\n";
constexpr absl::string_view kMalformed = "\r\n\r\n";
// The headers in `kUnused` are left out, because the servers of Rekindle never send a part of an answer, never compress
// one, and never ask a client for the body of a request.
constexpr absl::string_view kUnused[] = {"Range", "If-Range", "Accept-Encoding", "Expect"};

// Returns the head of a request without the headers in `kUnused`. Returns nothing if the head is malformed, because a
// proxy and this server might read two different requests in it.
std::optional<std::string> WellFormed(absl::string_view head) {
  const std::vector<absl::string_view> lines = absl::StrSplit(absl::StripSuffix(head, kEndOfHead), kEndOfLine);
  std::string kept;
  for (size_t i = 0; i < lines.size(); ++i) {
    const absl::string_view line = lines[i];
    if (line.find_first_of(absl::string_view("\r\n\0", 3)) != absl::string_view::npos) return std::nullopt;
    const absl::string_view name = i == 0 ? absl::string_view() : line.substr(0, line.find(':'));
    if (i > 0 && (name.empty() || name.size() == line.size())) return std::nullopt;
    if (std::any_of(name.begin(), name.end(),
                    [](char c) { return !absl::ascii_isgraph(static_cast<unsigned char>(c)); })) {
      return std::nullopt;
    }
    const auto is_name = [name](absl::string_view other) { return absl::EqualsIgnoreCase(name, other); };
    if (std::none_of(std::begin(kUnused), std::end(kUnused), is_name)) absl::StrAppend(&kept, line, kEndOfLine);
  }
  return absl::StrCat(kept, kEndOfLine);
}

}  // namespace

size_t RequestHead::Take(absl::string_view bytes) {
  if (is_whole_) return 0;
  const size_t before = text_.size();
  absl::StrAppend(&text_, bytes.substr(0, most_ - before));
  const size_t searched = before < kEndOfHead.size() ? 0 : before - kEndOfHead.size() + 1;
  const size_t end = text_.find(kEndOfHead.data(), searched, kEndOfHead.size());
  if (end == std::string::npos) return text_.size() - before;
  text_.resize(end + kEndOfHead.size());
  const size_t taken = text_.size() - before;
  is_whole_ = true;
  text_ = WellFormed(text_).value_or(std::string(kMalformed));
  return taken;
}

size_t RequestHead::Read(char* to, size_t bytes) {
  const size_t given = std::min(bytes, text_.size() - read_);
  std::memcpy(to, text_.data() + read_, given);
  read_ += given;
  return given;
}

}  // namespace rekindle::common
