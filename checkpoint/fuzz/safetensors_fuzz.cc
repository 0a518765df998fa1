// Input: a safetensors file, or, when it begins with '{', the JSON of its header on a line and its data (framed.h).
#include <cstdint>
#include <string_view>
#include <vector>

#include "checkpoint/fuzz/framed.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/state_shards.h"
#include "checkpoint/testing.h"

namespace rekindle::checkpoint {
namespace {

constexpr int64_t kTotal = 40;  // Elements of the state that the corpus is of.

void Parse(const std::vector<uint8_t>& file) {
  const auto header = ParseSafetensorsHeader(file, file.size());
  if (header.ok()) {
    uint64_t at = 0;
    for (const TensorEntry& tensor : header->tensors) {
      REKINDLE_FUZZ_CHECK(tensor.begin == at && tensor.end >= tensor.begin);
      at = tensor.end;
    }
    REKINDLE_FUZZ_CHECK(header->data_offset + at == file.size());
  }
  TestState state(kTotal);
  const auto read = ReadShard(file, state.writable());
  REKINDLE_FUZZ_CHECK(!read.ok() || header.ok());
  // Outside of what it says it holds nothing may change (inside of the arrays: the sanitizers).
  const int64_t begin = read.ok() ? read->begin : 0, end = read.ok() ? read->end : 0;
  for (int64_t e = 0; e < kTotal; ++e) {
    REKINDLE_FUZZ_CHECK((e >= begin && e < end) || state.weights[static_cast<size_t>(e)] == 0);
  }
}

}  // namespace
}  // namespace rekindle::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::checkpoint;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size == 0 || data[0] != '{') {
    Parse({data, data + size});
    return 0;
  }
  const std::string_view json = TakeLine(&text);
  Parse(SafetensorsFile(json, text));
  return 0;
}
