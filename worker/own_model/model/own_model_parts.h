// What an own model is made of.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_PARTS_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_PARTS_H_

#include <functional>
#include <string>

#include "worker/device/host/shared_memories.h"
#include "worker/own_model/child/frozen_watch.h"
#include "worker/own_model/child/model_process.h"
#include "worker/own_model/model/admission.h"

namespace rekindle::own_model {

struct OwnModelParts {
  ModelProcessOptions process;
  FrozenLimits limits;
  JobFacts job;
  // `weights` has the memory in which the state's weights lie, and gets that of the initial ones. It must outlive the
  // model.
  device::SharedMemories* weights = nullptr;
  // `note` is told what the model process does, why it is replaced, and with an empty text that it computes again. It
  // may be called by the thread that uses the model only.
  std::function<void(const std::string& text)> note;
  // `go_on` returns false if the trainer has to end. Calls of the model then return CANCELLED soon.
  std::function<bool()> go_on;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_PARTS_H_
