// Lists the models that a job can name. Each NAME is declared by `const ModelKind kNAMEModel` in a file of this folder,
// and made by the function MakeNAME in worker/models/kinds.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_MODEL_KINDS_H_
#define REKINDLE_WORKER_MODELS_DECLARED_MODEL_KINDS_H_

#include "worker/models/declared/model_kind.h"

#define REKINDLE_MODELS(MODEL) \
  MODEL(Gpt)                   \
  MODEL(Gpt2)                  \
  MODEL(Mlp)                   \
  MODEL(Resnet18)              \
  MODEL(Resnet50)

namespace rekindle::models {

#define REKINDLE_DECLARE(Name) extern const ModelKind k##Name##Model;
REKINDLE_MODELS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE
// The user's own model is no model that a job's trainer makes by itself.
extern const ModelKind kPythonModel;

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_MODEL_KINDS_H_
