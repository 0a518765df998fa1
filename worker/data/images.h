// Micro-batches of small colour images in CIFAR's binary layout: records of one byte of label and 3072 of a 32 x 32
// image, the red plane first, row by row.
//
// Pixels are scaled to [-1, 1]. In training an image is shifted by up to 4 pixels each way (black moves in) and
// mirrored half the time; how is a function of (seed, number of the sample in the run), so any rank makes the same.
#ifndef REKINDLE_WORKER_DATA_IMAGES_H_
#define REKINDLE_WORKER_DATA_IMAGES_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "worker/data/sample_order.h"
#include "worker/train/batch_source.h"

namespace rekindle::data {

inline constexpr int kImageSide = 32;
inline constexpr int kImagePixels = 3 * kImageSide * kImageSide;
inline constexpr int kImageRecordBytes = 1 + kImagePixels;

// `records` must outlive it. INVALID_ARGUMENT: no whole number of records, a label of `classes` or above (names the
// record), or as SampleOrder::Create.
absl::StatusOr<std::unique_ptr<train::BatchSource>> MakeImageBatches(std::span<const uint8_t> records, int classes,
                                                                     bool augment, const BatchShape& shape);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_IMAGES_H_
