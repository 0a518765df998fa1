// Names the files of a node's folder that belong to one trainer.
#ifndef REKINDLE_COMMON_PROCESS_TRAINER_FILE_H_
#define REKINDLE_COMMON_PROCESS_TRAINER_FILE_H_

#include <algorithm>
#include <string>

namespace rekindle::common {

// Returns a trainer's name, which has the form "node/slot/incarnation", as one component of a path.
inline std::string TrainerFileName(std::string trainer) {
  std::replace(trainer.begin(), trainer.end(), '/', '_');
  return trainer;
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_TRAINER_FILE_H_
