#include "worker/data/open_data.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/data/dataset.h"
#include "worker/data/fingerprint.h"
#include "worker/data/images.h"
#include "worker/data/parquet.h"
#include "worker/data/text_files.h"
#include "worker/data/token_cache.h"

namespace rekindle::data {
namespace {

absl::Status In(const char* field, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(field, ": ", status.message()));
}

// Files of whole records, as one piece of memory that the node's processes share.
absl::StatusOr<TokenCache> OpenBytes(const std::vector<std::string>& entries, const DataRoots& roots, int64_t record,
                                     int64_t max_bytes, const std::string& folder) {
  const auto files = FindTextFiles(entries, roots);
  if (!files.ok()) return files.status();
  for (const TextFile& file : *files) {
    if (file.size % record == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(file.path, " has ", file.size, " bytes, no multiple of ", record,
                                                   ": it is truncated, or not of this format"));
  }
  return TokenCache::Open(*files, max_bytes / record * record, folder, roots);
}

class WindowBatches final : public train::BatchSource {
 public:
  WindowBatches(TokenCache cache, Dataset dataset) : cache_(std::move(cache)), dataset_(std::move(dataset)) {}
  train::MicroBatch Train(int64_t step, int index) override { return dataset_.TrainMicroBatch(step, index); }
  train::MicroBatch Validation(int index) override { return dataset_.ValidationMicroBatch(index); }
  int validation_micro_batches() const override { return dataset_.validation_micro_batches(); }
  int64_t train_samples() const override { return dataset_.train_samples(); }

 private:
  const TokenCache cache_;
  const Dataset dataset_;
};

absl::StatusOr<OpenedData> OpenWindows(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  const bool text = !spec.text.empty();
  const int token_bytes = text ? 1 : 2;
  auto cache = OpenBytes(text ? spec.text : spec.tokens, spec.roots, token_bytes, spec.max_bytes, folder);
  if (!cache.ok()) return cache.status();
  auto dataset = Dataset::Create(cache->tokens(), cache->fingerprint(),
                                 {.seed = needs.seed,
                                  .context = needs.context,
                                  .token_bytes = token_bytes,
                                  .global_batch = needs.global_batch,
                                  .micro_batch = needs.micro_batch,
                                  .validation_fraction = spec.validation_fraction});
  if (!dataset.ok()) return dataset.status();
  OpenedData opened{.fingerprint = dataset->fingerprint(),
                    .unigram_bits_per_byte = text ? dataset->UnigramBitsPerByte() : 0};
  opened.batches = std::make_unique<WindowBatches>(*std::move(cache), *std::move(dataset));
  return opened;
}

BatchShape ShapeOf(const DataSpec& spec, const DataNeeds& needs) {
  return {needs.seed, needs.global_batch, needs.micro_batch, spec.validation_fraction};
}

absl::StatusOr<OpenedData> OpenTable(const DataSpec& spec, const DataNeeds& needs) {
  const auto files = FindTextFiles(spec.table.files, spec.roots);
  if (!files.ok()) return files.status();
  std::vector<std::string> paths;
  for (const TextFile& file : *files) paths.push_back(file.path);
  auto table = ReadParquet(paths, spec.table.features, spec.table.target, spec.roots);
  if (!table.ok()) return table.status();
  OpenedData opened{.fingerprint = TableFingerprint(*table)};
  auto batches = MakeTableBatches(*std::move(table), needs.classes, ShapeOf(spec, needs));
  if (!batches.ok()) return batches.status();
  opened.batches = *std::move(batches);
  return opened;
}

// Keeps what the images are read from.
class CachedImages final : public train::BatchSource {
 public:
  CachedImages(TokenCache cache, std::unique_ptr<train::BatchSource> images)
      : cache_(std::move(cache)), images_(std::move(images)) {}
  train::MicroBatch Train(int64_t step, int index) override { return images_->Train(step, index); }
  train::MicroBatch Validation(int index) override { return images_->Validation(index); }
  int validation_micro_batches() const override { return images_->validation_micro_batches(); }
  int64_t train_samples() const override { return images_->train_samples(); }

 private:
  const TokenCache cache_;
  const std::unique_ptr<train::BatchSource> images_;
};

absl::StatusOr<OpenedData> OpenImages(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  auto cache = OpenBytes(spec.images, spec.roots, kImageRecordBytes, 0, folder);
  if (!cache.ok()) return cache.status();
  auto images = MakeImageBatches(cache->tokens(), needs.classes, spec.augment, ShapeOf(spec, needs));
  if (!images.ok()) return images.status();
  OpenedData opened{.fingerprint = cache->fingerprint()};
  opened.batches = std::make_unique<CachedImages>(*std::move(cache), *std::move(images));
  return opened;
}

}  // namespace

absl::StatusOr<OpenedData> OpenData(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  const char* field = !spec.table.files.empty() ? "data.table"
                      : !spec.images.empty()    ? "data.images"
                      : !spec.tokens.empty()    ? "data.tokens"
                                                : "data.text";
  auto opened = !spec.table.files.empty() ? OpenTable(spec, needs)
                : !spec.images.empty()    ? OpenImages(spec, needs, folder)
                                          : OpenWindows(spec, needs, folder);
  if (!opened.ok()) return In(field, opened.status());
  return opened;
}

}  // namespace rekindle::data
