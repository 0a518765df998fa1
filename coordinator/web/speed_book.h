// How fast each job was, over its time: the coordinator keeps what it is now alone.
//
// Samples are in memory, from when this process first saw the job train; a restart begins anew.
#ifndef REKINDLE_COORDINATOR_WEB_SPEED_BOOK_H_
#define REKINDLE_COORDINATOR_WEB_SPEED_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "coordinator/web/source.h"

namespace rekindle::coordinator::web {

// Thread-safe.
class SpeedBook {
 public:
  static constexpr size_t kSamples = 240;  // A job; then every other one goes, and half as many come.
  static constexpr size_t kJobs = 2000;    // Those that trained last; where more train at once, some of them.

  struct Sample {
    double at = 0;  // Unix seconds.
    int step = 0;
    double tokens_per_second = 0;
    double step_seconds = 0;
  };

  // All jobs as they are at that time. Call it every so often, with times that do not go back.
  void Take(const std::vector<JobPointer>& jobs, double at);
  // The oldest first.
  std::vector<Sample> Of(const std::string& uid) const;

 private:
  struct Line {
    std::vector<Sample> samples;
    uint64_t every = 1;  // One of so many looks is kept.
    uint64_t looks = 0;
    uint64_t touched = 0;
  };
  void Add(const v1::JobStatus& status, double at, Line& line);
  // Makes room for so many lines, as far as there are jobs that did not train at the last look.
  void DropUntouched(size_t wanted);

  mutable std::mutex mutex_;
  std::map<std::string, Line> lines_;  // By uid.
  uint64_t turn_ = 0;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SPEED_BOOK_H_
