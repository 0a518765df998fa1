// Remembers how fast each job was over time. The coordinator itself keeps only the present speed.
//
// Samples are in memory, from when this process first saw the job train. A restart begins anew.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_SPEED_BOOK_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_SPEED_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/sync/mutex.h"
#include "coordinator/web/parts/source.h"

namespace rekindle::coordinator::web {

// A SpeedBook is thread-safe.
class SpeedBook {
 public:
  // A job has at most `kSamples` samples. When it has more, every second one is dropped, and new ones are taken half as
  // often.
  static constexpr size_t kSamples = 240;
  // `kJobs` jobs have samples: those that trained last. If more train at once, some of them have none.
  static constexpr size_t kJobs = 2000;

  struct Sample {
    // `at` is when the sample was taken, in Unix seconds.
    double at = 0;
    int step = 0;
    double tokens_per_second = 0;
    double step_seconds = 0;
  };

  // Takes a sample of the speed of all jobs at the time `at`. The caller must call Take regularly, with times that do
  // not go back.
  void Take(const std::vector<JobPointer>& jobs, double at);
  // Returns the samples of a job's speed, the oldest first.
  std::vector<Sample> Of(const std::string& uid) const;

 private:
  struct Line {
    std::vector<Sample> samples;
    // Among the calls of Take that see the job train, one in `every` adds a sample.
    uint64_t every = 1;
    uint64_t looks = 0;
    uint64_t touched = 0;
  };
  void Add(const v1::JobStatus& status, double at, Line& line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes room for the samples of `wanted` more jobs, by dropping those of jobs that did not train at the last call of
  // Take.
  void DropUntouched(size_t wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable common::Mutex mutex_;
  // `lines_` maps the uid of a job to the samples of the job's speed.
  std::map<std::string, Line> lines_ ABSL_GUARDED_BY(mutex_);
  uint64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_SPEED_BOOK_H_
