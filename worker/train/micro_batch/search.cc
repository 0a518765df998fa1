#include "worker/train/micro_batch/search.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/memory/memory_limit.h"

namespace rekindle::train {
namespace {

// A micro-batch size counts as faster only if its seconds per sample are below `kAsFast` times the best.
constexpr double kAsFast = 0.97;
// The search stops doubling the size after `kPatience` sizes in a row that are no faster. A single slow measurement may
// be noise.
constexpr int kPatience = 2;

std::vector<int> Sizes(const MicroBatchBounds& bounds) {
  std::vector<int> sizes;
  for (int size = 1; size <= std::min(bounds.at_most, bounds.global_batch); ++size) {
    if (bounds.global_batch % size == 0) sizes.push_back(size);
  }
  return sizes;
}

class Search {
 public:
  Search(const MicroBatchBounds& bounds, const std::function<absl::StatusOr<MicroBatchTrial>(int)>& trial)
      : bounds_(bounds), trial_(trial), sizes_(Sizes(bounds)), beyond_(sizes_.size()) {}

  absl::StatusOr<MicroBatchChoice> Run() {
    const absl::StatusOr<bool> fits = Try(0);
    if (!fits.ok()) return fits.status();
    if (!*fits) return NothingFits();
    if (absl::Status status = Double(); !status.ok()) return status;
    if (absl::Status status = Bisect(); !status.ok()) return status;
    return Choose();
  }

 private:
  double SecondsASample(int size) const { return tried_.at(size).seconds / size; }
  bool Fits(const MicroBatchTrial& trial) const { return trial.refused.empty() && trial.bytes <= bounds_.bytes; }

  absl::StatusOr<bool> Try(size_t index) {
    const int size = sizes_[index];
    absl::StatusOr<MicroBatchTrial> trial = trial_(size);
    if (!trial.ok()) return trial.status();
    const bool fits = Fits(*trial);
    tried_[size] = *std::move(trial);
    return fits;
  }

  absl::Status Double() {
    double best = SecondsASample(sizes_[0]);
    while (largest_ + 1 < sizes_.size() && no_faster_ < kPatience) {
      size_t next = largest_ + 1;
      while (next + 1 < sizes_.size() && sizes_[next] < 2 * sizes_[largest_]) ++next;
      const absl::StatusOr<bool> fits = Try(next);
      if (!fits.ok()) return fits.status();
      if (!*fits) {
        beyond_ = next;
        return absl::OkStatus();
      }
      largest_ = next;
      const double seconds = SecondsASample(sizes_[next]);
      no_faster_ = seconds > kAsFast * best ? no_faster_ + 1 : 0;
      best = std::min(best, seconds);
    }
    return absl::OkStatus();
  }

  // Bisects between the sizes that fit and those that do not. This is worth its time only if the newest size was
  // faster.
  absl::Status Bisect() {
    while (no_faster_ == 0 && beyond_ < sizes_.size() && beyond_ - largest_ > 1) {
      const size_t middle = (largest_ + beyond_) / 2;
      const absl::StatusOr<bool> fits = Try(middle);
      if (!fits.ok()) return fits.status();
      (*fits ? largest_ : beyond_) = middle;
    }
    return absl::OkStatus();
  }

  MicroBatchChoice Choose() const {
    int fastest = sizes_[0];
    for (const auto& [size, trial] : tried_) {
      if (Fits(trial) && SecondsASample(size) < SecondsASample(fastest)) fastest = size;
    }
    // `tried_` is in ascending order of the sizes. So of the sizes that are about as fast as the best one, the loop
    // finds the smallest first.
    for (const auto& [size, trial] : tried_) {
      if (Fits(trial) && SecondsASample(fastest) >= kAsFast * SecondsASample(size)) return {size, WhyNotMore(size)};
    }
    return {fastest, WhyNotMore(fastest)};
  }

  std::string WhyNotMore(int size) const {
    const auto next = tried_.upper_bound(size);
    if (next == tried_.end()) {
      return absl::StrCat(size, " is the most that leaves enough micro-batches of ", bounds_.global_batch,
                          " samples to deal out");
    }
    const auto& [more, trial] = *next;
    if (!Fits(trial)) return absl::StrCat(more, " ", Unfit(trial));
    constexpr double kMilli = 1e3;
    return absl::StrFormat("%d is no faster: %.4g ms a sample, %d: %.4g ms", more, kMilli * SecondsASample(more), size,
                           kMilli * SecondsASample(size));
  }

  std::string Unfit(const MicroBatchTrial& trial) const {
    if (!trial.refused.empty()) return "ran out of memory: " + trial.refused;
    return absl::StrCat("would need ", common::BytesText(trial.bytes), " of ", common::BytesText(bounds_.bytes));
  }

  absl::Status NothingFits() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("training.micro_batch auto: one sample a micro-batch ", Unfit(tried_.at(sizes_[0])),
                     "; train a smaller model, set training.activations recompute, or give the node more memory"));
  }

  const MicroBatchBounds bounds_;
  const std::function<absl::StatusOr<MicroBatchTrial>(int)>& trial_;
  const std::vector<int> sizes_;
  std::map<int, MicroBatchTrial> tried_;
  // `largest_` is the index of the largest micro-batch size that is known to fit.
  size_t largest_ = 0;
  // `beyond_` is the index of the smallest micro-batch size that is known not to fit.
  size_t beyond_;
  // `no_faster_` is the number of newest sizes in a row that were no faster than a smaller one.
  int no_faster_ = 0;
};

}  // namespace

absl::StatusOr<MicroBatchChoice> SearchMicroBatch(const MicroBatchBounds& bounds,
                                                  const std::function<absl::StatusOr<MicroBatchTrial>(int)>& trial) {
  return Search(bounds, trial).Run();
}

}  // namespace rekindle::train
