// Makes micro-batches of small colour images in CIFAR's binary layout (image_record.h).
//
// Pixels are scaled to [-1, 1]. In training an image is shifted by up to 4 pixels in each direction, with black in the
// part that becomes free, and mirrored half the time. The changes are a function of (seed, number of the sample in the
// run), so any rank makes the same changes.
#ifndef REKINDLE_WORKER_DATA_KINDS_IMAGES_H_
#define REKINDLE_WORKER_DATA_KINDS_IMAGES_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/data/declared/image_record.h"
#include "worker/data/samples/sample_order.h"

namespace rekindle::data {

// Cuts image records into micro-batches. `records` must outlive the result. Returns INVALID_ARGUMENT if the bytes are
// not a whole number of records, if a label is `classes` or above (and names the record), and in the cases of
// SampleOrder::Create.
absl::StatusOr<std::unique_ptr<train::BatchSource>> MakeImageBatches(std::span<const uint8_t> records, int classes,
                                                                     bool augment, const BatchShape& shape);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_IMAGES_H_
