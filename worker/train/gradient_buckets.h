// The flat gradient cut into contiguous buckets for overlapped reduction, and which are ready during a backward.
#ifndef REKINDLE_WORKER_TRAIN_GRADIENT_BUCKETS_H_
#define REKINDLE_WORKER_TRAIN_GRADIENT_BUCKETS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "worker/train/model.h"

namespace rekindle::train {

// Elements [offset, offset + count) of the flat gradient: parameters [first_parameter, last_parameter] whole.
struct GradientBucket {
  int64_t offset = 0;
  int64_t count = 0;
  int first_parameter = 0;
  int last_parameter = 0;
};

// Bucket 0 holds the last parameters, as backward delivers them first. A bucket closes once it has target_elements;
// a larger parameter has a bucket of its own kind. Every element is in exactly one bucket.
std::vector<GradientBucket> CutIntoBuckets(const ParameterLayout& layout, int64_t target_elements);

// Follows one backward. Buckets are announced in index order, whatever the order in which parameters arrive, because
// all ranks must issue the same collectives in the same order. Thread-compatible.
class BucketReadiness {
 public:
  // `buckets` must outlive it and cover the layout.
  explicit BucketReadiness(const std::vector<GradientBucket>* buckets);

  // Forgets what arrived, before each backward.
  void Reset();
  // Calls ready(b), for each bucket that is whole now and whose predecessors all are. Each bucket once between Resets.
  // Precondition: each parameter arrives once between Resets.
  void Arrived(int parameter, const std::function<void(int bucket)>& ready);
  bool AllReady() const { return next_ == static_cast<int>(buckets_->size()); }

 private:
  const std::vector<GradientBucket>* buckets_;
  std::vector<int> bucket_of_;  // By parameter.
  std::vector<int> missing_;    // By bucket.
  int next_ = 0;                // First bucket not announced.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_GRADIENT_BUCKETS_H_
