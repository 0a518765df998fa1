#include "worker/train/engine/timeline.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/time/clock.h"

namespace rekindle::train {

Timeline::Timeline(const std::string& path, std::string trainer, std::string job_uid)
    : trainer_(std::move(trainer)), job_uid_(std::move(job_uid)) {
  if (!path.empty()) fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

Timeline::~Timeline() {
  if (fd_ >= 0) close(fd_);
}

void Timeline::Mark(const char* event, int generation, int64_t step, int world_size, int micro_batches_added) {
  if (fd_ < 0) return;
  const nlohmann::json line = {{"t", common::SteadySeconds()},
                               {"event", event},
                               {"trainer", trainer_},
                               {"job", job_uid_},
                               {"pid", getpid()},
                               {"step", step},
                               {"generation", generation},
                               {"world", world_size},
                               {"adds", micro_batches_added}};
  const std::string text = line.dump() + "\n";
  if (write(fd_, text.data(), text.size()) < 0) return;
}

}  // namespace rekindle::train
