// Makes the models that a job can name. The models are listed in worker/models/declared/model_kinds.h. This header does
// not use torch.
#ifndef REKINDLE_WORKER_MODELS_REGISTRY_MODEL_REGISTRY_H_
#define REKINDLE_WORKER_MODELS_REGISTRY_MODEL_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/models/declared/model_spec.h"

namespace rekindle::models {

// Makes the model of a job. The caller must call PinThreads (numeric_runtime.h) before the first call. Returns
// INVALID_ARGUMENT for an unknown kind, with the name of the nearest known one, or for a field out of range, with the
// field's name.
absl::StatusOr<std::unique_ptr<train::Model>> MakeModel(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_REGISTRY_MODEL_REGISTRY_H_
