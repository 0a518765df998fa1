// Declares what the coordinator says to a trainer, as plain values (see proto/rekindle/v1/trainer.proto).
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_H_

#include <cstdint>
#include <string>

#include "worker/train/control/membership.h"

namespace rekindle::train {

struct Directive {
  enum class Action { kNone, kWait, kRun, kYield, kExit };
  // `action` is what the trainer has to do. It is kNone before the first directive arrives.
  Action action = Action::kNone;
  Membership membership;
  // With kYield, `checkpoint` requests a checkpoint at the step boundary at which the trainer yields.
  bool checkpoint = false;
  // `checkpoint_until` is the deadline of the checkpoint that a yield requests, by the trainer's clock. Further
  // directives that request the same checkpoint do not move the deadline. The value 0 means no limit.
  double checkpoint_until = 0;
  // With kWait, `find_checkpoint` names the manifest that the trainer has to look for in the store. It is empty if
  // there is none to look for.
  std::string find_checkpoint;
  // `verify_checkpoint` says that a checkpoint counts as found only once every byte of it has been read.
  bool verify_checkpoint = false;
  // When Report::looked is below Directive::look, the trainer has to look for the newest checkpoint again.
  int64_t look = 0;
  // `without_store` allows the trainer to go on although the job's store cannot be read yet.
  bool without_store = false;
  std::string reason;
  std::string error;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_DIRECTIVE_H_
