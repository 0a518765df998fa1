// Fuzzes the reader of safetensors headers. An input is a safetensors file. If it begins with '{', it is the JSON of
// the header on a line and then the data (framed.h).
#include <cstdint>
#include <string_view>
#include <vector>

#include "checkpoint/format/safetensors.h"
#include "checkpoint/fuzz/framed.h"

namespace rekindle::checkpoint {
namespace {

void Parse(const std::vector<uint8_t>& file) {
  const auto header = ParseSafetensorsHeader(file, file.size());
  if (!header.ok()) return;
  uint64_t at = 0;
  for (const TensorEntry& tensor : header->tensors) {
    REKINDLE_FUZZ_CHECK(tensor.begin == at && tensor.end >= tensor.begin);
    REKINDLE_FUZZ_CHECK(header->Find(tensor.name) != nullptr);
    at = tensor.end;
  }
  REKINDLE_FUZZ_CHECK(header->data_offset + at == file.size());
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
