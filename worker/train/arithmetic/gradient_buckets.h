// Cuts the flat gradient into contiguous buckets for overlapped reduction, and tracks which are ready during a
// backward.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_BUCKETS_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_BUCKETS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "worker/contract/model_interface.h"

namespace rekindle::train {

// Describes the elements [offset, offset + count) of the flat gradient. They belong to the whole parameters from
// `first_parameter` to `last_parameter`, both included.
struct GradientBucket {
  int64_t offset = 0;
  int64_t count = 0;
  int first_parameter = 0;
  int last_parameter = 0;
};

// Cuts the layout so that every element is in exactly one bucket. Bucket 0 holds the last parameters, because backward
// delivers them first. With ParameterLayout::late_buffers the buffers are in buckets of their own after all others. A
// bucket closes once it has `target_elements`, and parameters are never split.
std::vector<GradientBucket> CutIntoBuckets(const ParameterLayout& layout, int64_t target_elements);

// Follows one backward. Buckets are announced in index order, whatever the order in which parameters arrive, because
// all ranks must issue the same collectives in the same order. The class is thread-compatible.
class BucketReadiness {
 public:
  // The `buckets` must cover the layout of the gradient and outlive the BucketReadiness.
  explicit BucketReadiness(const std::vector<GradientBucket>* buckets);

  // Forgets which parameters have arrived. The caller must call Reset() before each backward.
  void Reset();
  // Notes that the gradient of `parameter` has arrived. Calls ready(b) for each bucket b that is now complete and whose
  // predecessors are all complete. Each bucket is announced once between two calls of Reset(). REQUIRES: each parameter
  // arrives at most once between two calls of Reset().
  void Arrived(int parameter, const std::function<void(int bucket)>& ready);
  bool AllReady() const { return next_ == static_cast<int>(buckets_->size()); }
  // Announces the buckets that are left at the end of a backward. Their missing parameters got no gradient.
  void End(const std::function<void(int bucket)>& ready);

 private:
  const std::vector<GradientBucket>* buckets_;
  // `bucket_of_` gives the bucket of each parameter.
  std::vector<int> bucket_of_;
  // `missing_` counts for each bucket the parameters that have not arrived.
  std::vector<int> missing_;
  // `next_` is the first bucket that has not been announced.
  int next_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_BUCKETS_H_
