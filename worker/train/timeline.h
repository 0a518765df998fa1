// What happened when, one JSON object a line, on the machine's monotonic clock: the raw material of the demo's table
// and of the recovery bench. Off unless a file is named.
#ifndef REKINDLE_WORKER_TRAIN_TIMELINE_H_
#define REKINDLE_WORKER_TRAIN_TIMELINE_H_

#include <cstdint>
#include <string>

namespace rekindle::train {

// Thread-safe: a line is one write. Errors are ignored: a full disk must not stop training.
class Timeline {
 public:
  // An empty path writes nothing.
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

#endif  // REKINDLE_WORKER_TRAIN_TIMELINE_H_
