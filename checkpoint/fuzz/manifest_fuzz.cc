// Fuzzes the reader of manifests. An input is a manifest file, or its body, to which frame and checksum are added.
#include <algorithm>
#include <cstdint>
#include <string>

#include "checkpoint/format/manifest_release.h"
#include "checkpoint/fuzz/framed.h"
#include "checkpoint/testing/manifest_testing.h"

namespace rekindle::checkpoint {
namespace {

void Decode(const std::string& text) {
  const auto decoded = DecodeManifest(text);
  if (!decoded.ok()) {
    REKINDLE_FUZZ_CHECK(absl::IsDataLoss(decoded.status()) || absl::IsInvalidArgument(decoded.status()) ||
                        IsOfNewerRelease(decoded.status()));
    return;
  }
  REKINDLE_FUZZ_CHECK(Validate(*decoded).ok());
  const auto again = DecodeManifest(EncodeManifest(*decoded));
  REKINDLE_FUZZ_CHECK(again.ok() && *again == *decoded);
}

}  // namespace
}  // namespace rekindle::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::checkpoint;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Decode(text);
  Decode(Framed(text));
  if (const auto name = ParseName(text); name.ok()) REKINDLE_FUZZ_CHECK(FormatName(*name) == text);
  if (size < kShardRecordBytes) return 0;
  if (const auto ref = DecodeShardRef(data); ref.ok()) {
    const auto record = EncodeShardRef(*ref);
    REKINDLE_FUZZ_CHECK(std::equal(record.begin(), record.end(), data));
  }
  return 0;
}
