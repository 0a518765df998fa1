#include "worker/data/kinds/window_files.h"

#include <memory>
#include <utility>

#include "worker/data/kinds/record_files.h"
#include "worker/data/kinds/token_windows.h"

namespace rekindle::data {
namespace {

class WindowBatches final : public train::BatchSource {
 public:
  WindowBatches(ByteCache cache, TokenWindows windows) : cache_(std::move(cache)), windows_(std::move(windows)) {}
  train::MicroBatch Train(int64_t step, int index) override { return windows_.TrainMicroBatch(step, index); }
  train::MicroBatch Validation(int index) override { return windows_.ValidationMicroBatch(index); }
  int validation_micro_batches() const override { return windows_.validation_micro_batches(); }
  int64_t train_samples() const override { return windows_.train_samples(); }

 private:
  const ByteCache cache_;
  const TokenWindows windows_;
};

}  // namespace

absl::StatusOr<OpenedData> OpenWindows(const DataSpec& spec, const DataKind& kind, const DataNeeds& needs,
                                       const std::string& folder) {
  auto cache = OpenRecords(spec, kind, folder);
  if (!cache.ok()) return cache.status();
  auto windows = TokenWindows::Create(cache->bytes(), cache->fingerprint(),
                                      {.seed = needs.seed,
                                       .context = needs.context,
                                       .token_bytes = kind.record_bytes,
                                       .global_batch = needs.global_batch,
                                       .micro_batch = needs.micro_batch,
                                       .validation_fraction = spec.section->validation_fraction()});
  if (!windows.ok()) return windows.status();
  OpenedData opened{
      .fingerprint = windows->fingerprint(),
      .unigram_bits_per_byte = kind.form == train::SampleForm::kBytes ? windows->UnigramBitsPerByte() : 0};
  opened.batches = std::make_unique<WindowBatches>(*std::move(cache), *std::move(windows));
  return opened;
}

}  // namespace rekindle::data
