// Declares what the coordinator says to a trainer, as plain values (see proto/rekindle/v1/trainer.proto).
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_H_

#include <cstdint>
#include <string>

#include "worker/train/control/membership.h"

namespace rekindle::train {

struct Directive {
  enum class Action { kNone, kWait, kRun, kYield, kExit };
  // `action` is kNone before the first directive arrives.
  Action action = Action::kNone;
  Membership membership;
  // With kYield, `checkpoint` requests a checkpoint at the boundary.
  bool checkpoint = false;
  // `checkpoint_until` is the deadline of that checkpoint, in steady seconds. It counts from the first directive that
  // requested it. The value 0 means no limit.
  double checkpoint_until = 0;
  // With kWait, `find_checkpoint` names the manifest to look for. It is empty if there is nothing to look for.
  std::string find_checkpoint;
  // `verify_checkpoint` says that the checkpoint counts only once every byte of it has been read.
  bool verify_checkpoint = false;
  // When Report::looked is below `look`, the trainer has to look for the newest checkpoint again.
  int64_t look = 0;
  // `without_store` tells the trainer not to wait until the job's store can be read.
  bool without_store = false;
  std::string reason;
  std::string error;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_H_
