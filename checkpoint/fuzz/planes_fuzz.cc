// Fuzzes the reader of plane files. An input is the JSON of plane 0 on a line, the JSON of plane 1 on a line (empty if
// there is no plane 1), the length of plane 0's data in two bytes, little endian, and then the data of both planes.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "checkpoint/format/planes.h"
#include "checkpoint/fuzz/framed.h"
#include "checkpoint/testing/testing.h"

namespace rekindle::checkpoint {
namespace {

// The corpus holds planes of a state of `kTotal` elements.
constexpr int64_t kTotal = 60;

void Read(const std::vector<uint8_t>& plane0, const std::vector<uint8_t>& plane1) {
  TestState state(kTotal);
  const auto read = ReadPlanes(plane0, plane1, state.writable());
  if (!read.ok()) {
    REKINDLE_FUZZ_CHECK(absl::IsInvalidArgument(read.status()));
    REKINDLE_FUZZ_CHECK(state == TestState(kTotal));
    return;
  }
  for (int64_t e = 0; e < kTotal; ++e) {
    const auto i = static_cast<size_t>(e);
    REKINDLE_FUZZ_CHECK((e >= read->range.begin && e < read->range.end) ||
                        (state.weights[i] == 0 && state.first_moment[i] == 0 && state.second_moment[i] == 0));
  }
}

}  // namespace
}  // namespace rekindle::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::checkpoint;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view json0 = TakeLine(&text), json1 = TakeLine(&text);
  size_t length = 0;
  for (size_t i = 0; i < std::min<size_t>(2, text.size()); ++i) {
    length |= static_cast<size_t>(static_cast<uint8_t>(text[i])) << (8 * i);
  }
  text.remove_prefix(std::min<size_t>(2, text.size()));
  const std::string_view data0 = text.substr(0, length);
  text.remove_prefix(data0.size());
  const auto plane0 = SafetensorsFile(json0, data0);
  Read(plane0, json1.empty() ? std::vector<uint8_t>() : SafetensorsFile(json1, text));
  return 0;
}
