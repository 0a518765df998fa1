#include "worker/train/arithmetic/gradient_buckets.h"

#include "common/check/check.h"

namespace rekindle::train {

namespace {

// Cuts the parameters from `first` to `end` - 1, from the last one on.
void CutPart(const ParameterLayout& layout, int first, int end, int64_t target_elements,
             std::vector<GradientBucket>* buckets) {
  bool open = false;
  for (int p = end - 1; p >= first; --p) {
    const ParameterInfo& parameter = layout.parameters[p];
    if (!open) buckets->push_back({.last_parameter = p});
    GradientBucket& bucket = buckets->back();
    bucket.offset = parameter.offset;
    bucket.count += parameter.size;
    bucket.first_parameter = p;
    open = bucket.count < target_elements;
  }
}

}  // namespace

std::vector<GradientBucket> CutIntoBuckets(const ParameterLayout& layout, int64_t target_elements) {
  const auto all = static_cast<int>(layout.parameters.size());
  int cut = all;
  while (layout.late_buffers && cut > 0 && layout.parameters[cut - 1].is_buffer()) --cut;
  std::vector<GradientBucket> buckets;
  CutPart(layout, 0, cut, target_elements, &buckets);
  CutPart(layout, cut, all, target_elements, &buckets);
  return buckets;
}

BucketReadiness::BucketReadiness(const std::vector<GradientBucket>* buckets) : buckets_(buckets) {
  for (size_t b = 0; b < buckets->size(); ++b) {
    const auto end = static_cast<size_t>((*buckets)[b].last_parameter) + 1;
    if (bucket_of_.size() < end) bucket_of_.resize(end);
    for (int p = (*buckets)[b].first_parameter; p <= (*buckets)[b].last_parameter; ++p) {
      bucket_of_[p] = static_cast<int>(b);
    }
  }
  Reset();
}

void BucketReadiness::Reset() {
  missing_.clear();
  for (const GradientBucket& bucket : *buckets_) missing_.push_back(bucket.last_parameter - bucket.first_parameter + 1);
  next_ = 0;
}

void BucketReadiness::Arrived(int parameter, const std::function<void(int bucket)>& ready) {
  common::Check(missing_[bucket_of_[parameter]] > 0, "each gradient arrives at most once in a micro-batch");
  --missing_[bucket_of_[parameter]];
  while (!AllReady() && missing_[next_] == 0) ready(next_++);
}

void BucketReadiness::End(const std::function<void(int bucket)>& ready) {
  while (!AllReady()) ready(next_++);
}

}  // namespace rekindle::train
