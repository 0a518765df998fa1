// Fuzzes the strict JSON parser. An input is a text, which is parsed without changes.
#include <cstdint>
#include <string_view>

#include "checkpoint/fuzz/framed.h"
#include "common/text/strict_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::checkpoint;
  constexpr rekindle::common::JsonLimits kLimits{.depth = 4, .values = 1000};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = rekindle::common::ParseStrictJson(text, kLimits);
  if (!parsed.ok()) return 0;
  const auto again = rekindle::common::ParseStrictJson(parsed->dump(), kLimits);
  REKINDLE_FUZZ_CHECK(again.ok() && *again == *parsed);
  return 0;
}
