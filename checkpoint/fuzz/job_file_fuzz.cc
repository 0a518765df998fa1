// Fuzzes the reader of job.json. An input is a job.json of the job "job", or its inner text, to which frame and
// checksum are added.
#include <cstdint>
#include <string>

#include "checkpoint/format/framed_job_file.h"
#include "checkpoint/format/manifest_release.h"
#include "checkpoint/fuzz/framed.h"

namespace rekindle::checkpoint {
namespace {

void Decode(const std::string& text) {
  const bool fit = CheckJobFile(text, "job").ok();
  const auto inner = DecodeJobFile(text, "job");
  if (!inner.ok()) {
    REKINDLE_FUZZ_CHECK(absl::IsDataLoss(inner.status()) || IsOfNewerRelease(inner.status()));
    REKINDLE_FUZZ_CHECK(fit == IsOfNewerRelease(inner.status()));
    return;
  }
  REKINDLE_FUZZ_CHECK(fit && text.size() <= kMaxJobFileBytes);
  REKINDLE_FUZZ_CHECK(FrameJobFile(*inner) == text);
}

}  // namespace
}  // namespace rekindle::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::checkpoint;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Decode(text);
  Decode(FrameJobFile(text));
  return 0;
}
