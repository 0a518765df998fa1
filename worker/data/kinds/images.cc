#include "worker/data/kinds/images.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/data/kinds/record_files.h"
#include "worker/numeric/random.h"

namespace rekindle::data {
namespace {

constexpr uint64_t kAugment = 0x6175676D656E74;
constexpr int kMostShift = 4;

// `Change` says how one image is changed at random for training.
struct Change {
  // For training, an image is shifted by `down` and `right` pixels.
  int down = 0, right = 0;
  bool mirror = false;
};

Change ChangeOf(uint64_t seed, int64_t number) {
  const uint64_t key = models::RandomKeyOf({seed, kAugment, static_cast<uint64_t>(number)});
  constexpr uint64_t kShifts = 2 * kMostShift + 1;
  return {.down = static_cast<int>((key >> 8) % kShifts) - kMostShift,
          .right = static_cast<int>((key >> 32) % kShifts) - kMostShift,
          .mirror = (key & 1) != 0};
}

void AppendImage(const uint8_t* pixels, const Change& change, std::vector<float>* out) {
  for (int plane = 0; plane < kImagePlanes; ++plane) {
    for (int y = 0; y < kImageSide; ++y) {
      for (int x = 0; x < kImageSide; ++x) {
        const int from_y = y - change.down;
        const int from_x = (change.mirror ? kImageSide - 1 - x : x) - change.right;
        const bool inside = from_y >= 0 && from_y < kImageSide && from_x >= 0 && from_x < kImageSide;
        const int value = inside ? pixels[(plane * kImageSide + from_y) * kImageSide + from_x] : 0;
        out->push_back(static_cast<float>(value) / 127.5f - 1.0f);
      }
    }
  }
}

class ImageBatches final : public train::BatchSource {
 public:
  ImageBatches(std::span<const uint8_t> records, bool augment, uint64_t seed, const SampleOrder& order)
      : records_(records), augment_(augment), seed_(seed), order_(order) {}

  train::MicroBatch Train(int64_t step, int index) override {
    return Gather(index, order_.Train(step, index), order_.FirstNumber(step, index), augment_);
  }
  train::MicroBatch Validation(int index) override {
    return Gather(index, order_.Validation(index), order_.FirstNumber(0, index), /*change=*/false);
  }
  int validation_micro_batches() const override { return order_.validation_micro_batches(); }
  int64_t train_samples() const override { return order_.train_samples(); }

 private:
  // Makes a micro-batch of the given samples. `first` is MicroBatch::first. With `change` the images are changed at
  // random, by the number of each in the run.
  train::MicroBatch Gather(int index, const std::vector<int64_t>& samples, int64_t first, bool change) const {
    train::MicroBatch batch{
        .index = index, .samples = samples, .first = first, .sequences = static_cast<int>(samples.size())};
    int64_t number = first;
    batch.features.reserve(samples.size() * kImagePixels);
    for (int64_t sample : samples) {
      const uint8_t* record = records_.data() + sample * kImageRecordBytes;
      batch.targets.push_back(record[0]);
      AppendImage(record + 1, change ? ChangeOf(seed_, number++) : Change{}, &batch.features);
    }
    return batch;
  }

  const std::span<const uint8_t> records_;
  const bool augment_;
  const uint64_t seed_;
  const SampleOrder order_;
};

// Keeps alive the cache in which the images of the micro-batches are.
class CachedImages final : public train::BatchSource {
 public:
  CachedImages(ByteCache cache, std::unique_ptr<train::BatchSource> images)
      : cache_(std::move(cache)), images_(std::move(images)) {}
  train::MicroBatch Train(int64_t step, int index) override { return images_->Train(step, index); }
  train::MicroBatch Validation(int index) override { return images_->Validation(index); }
  int validation_micro_batches() const override { return images_->validation_micro_batches(); }
  int64_t train_samples() const override { return images_->train_samples(); }

 private:
  const ByteCache cache_;
  const std::unique_ptr<train::BatchSource> images_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<train::BatchSource>> MakeImageBatches(std::span<const uint8_t> records, int classes,
                                                                     bool augment, const BatchShape& shape) {
  if (records.size() % kImageRecordBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(records.size(), " bytes are no whole number of ", kImageRecordBytes, "-byte records"));
  }
  const auto count = static_cast<int64_t>(records.size() / kImageRecordBytes);
  for (int64_t i = 0; i < count; ++i) {
    if (const int label = records[i * kImageRecordBytes]; label >= classes) {
      return absl::InvalidArgumentError(
          absl::StrCat("record ", i, " has label ", label, ", but model.classes is ", classes));
    }
  }
  auto order = SampleOrder::Create(count, shape);
  if (!order.ok()) return order.status();
  return std::make_unique<ImageBatches>(records, augment, shape.seed, *order);
}

absl::StatusOr<OpenedData> OpenImages(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  auto cache = OpenRecords(spec, kImagesData, folder);
  if (!cache.ok()) return cache.status();
  auto images = MakeImageBatches(cache->bytes(), needs.classes, spec.section->images().augment(), ShapeOf(spec, needs));
  if (!images.ok()) return images.status();
  OpenedData opened{.fingerprint = cache->fingerprint()};
  opened.batches = std::make_unique<CachedImages>(*std::move(cache), *std::move(images));
  return opened;
}

}  // namespace rekindle::data
