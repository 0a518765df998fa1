// Writes a timeline of a trainer's events, one JSON object a line, with times of the machine's monotonic clock. The
// demo's table and the recovery bench are made from timelines. Nothing is written unless a file is named.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_TIMELINE_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_TIMELINE_H_

#include <cstdint>
#include <string>

namespace rekindle::train {

// Each line of the timeline is written by one write, so the class is thread-safe. Errors are ignored, because a full
// disk must not stop training.
class Timeline {
 public:
  // Opens the timeline in the file `path`. If `path` is empty, nothing is ever written.
  Timeline(const std::string& path, std::string trainer, std::string job_uid = "");
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  void Mark(const char* event, int generation, int64_t step, int world_size, int micro_batches_added = 0);

 private:
  int fd_ = -1;
  const std::string trainer_;
  const std::string job_uid_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_TIMELINE_H_
