#include "checkpoint/format/framed_json.h"

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {
namespace {

constexpr std::string_view kStart = "{\"xxh3\":\"";
constexpr std::string_view kEnd = "}\n";
constexpr size_t kHashDigits = 32;

std::string Middle(const std::string& name) { return absl::StrCat("\",\"", name, "\":"); }

}  // namespace

std::string FrameJson(const std::string& name, std::string_view inner) {
  std::string text(kStart);
  text += common::Xxh3_128Hex(inner) + Middle(name);
  text += inner;
  text += kEnd;
  return text;
}

absl::StatusOr<std::string_view> UnframeJson(const std::string& name, std::string_view text) {
  const std::string middle = Middle(name);
  const size_t begin = kStart.size() + kHashDigits + middle.size();
  if (text.size() < begin + kEnd.size() || !text.starts_with(kStart) ||
      text.substr(kStart.size() + kHashDigits, middle.size()) != middle || !text.ends_with(kEnd)) {
    return absl::DataLossError(absl::StrCat(name, ": truncated or damaged: its frame is wrong"));
  }
  const std::string_view inner = text.substr(begin, text.size() - begin - kEnd.size());
  if (common::Xxh3_128Hex(inner) != text.substr(kStart.size(), kHashDigits)) {
    return absl::DataLossError(absl::StrCat(name, ": damaged: its checksum is wrong"));
  }
  return inner;
}

}  // namespace rekindle::checkpoint
