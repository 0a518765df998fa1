// Declares the functions that make the models. Each model is one file in this folder. This header does not use torch.
#ifndef REKINDLE_WORKER_MODELS_KINDS_MAKERS_H_
#define REKINDLE_WORKER_MODELS_KINDS_MAKERS_H_

#include <memory>

#include "worker/contract/model_interface.h"
#include "worker/models/declared/model_kinds.h"

namespace rekindle::models {

// Makes a model of one kind. REQUIRES: `spec` has passed CheckSpec, and `layout` is that of the kind.
//
// A gradient has the same bits whenever a micro-batch is recomputed, in any process with the same PinnedEnvironment and
// thread count. Backward and Evaluate return INVALID_ARGUMENT for a malformed batch, with the micro-batch's number. For
// an exception of ATen they return RESOURCE_EXHAUSTED if memory ran out, else INTERNAL, with ATen's message.
#define REKINDLE_DECLARE(Name) \
  std::unique_ptr<train::Model> Make##Name(const ModelSpec& spec, train::ParameterLayout layout);
REKINDLE_MODELS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_KINDS_MAKERS_H_
