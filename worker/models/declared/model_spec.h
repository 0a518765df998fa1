// Describes what a job says about its model. This header does not use torch.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_MODEL_SPEC_H_
#define REKINDLE_WORKER_MODELS_DECLARED_MODEL_SPEC_H_

#include <string>
#include <string_view>

#include "worker/contract/spec.h"
#include "worker/models/declared/compute_device.h"

namespace rekindle::models {

// Mirrors the `model` section of a job's spec. Each kind of model declares which fields of the section it has, and
// their ranges.
struct ModelSpec {
  std::string kind = "gpt";
  int layers = 0;
  int heads = 0;
  int width = 0;
  int context = 0;
  double dropout = 0;
  // `inputs` is the number of values of a sample that is not a window of tokens. It comes from the job's data, not from
  // its `model` section.
  int inputs = 0;
  // With 0 `classes` a model that reads samples with targets predicts one number.
  int classes = 0;
  int vocabulary = 0;
  train::ComputeType compute = train::ComputeType::kFloat32;
  ComputeDevice device = ComputeDevice::kCpu;
  // With `recompute` the blocks of a model run again in backward instead of keeping their activations (recompute.h).
  bool recompute = false;
};

struct ModelField {
  // `name` is the name that a field of a job's `model` section has in the proto.
  const char* name;
  int ModelSpec::*member;
};
inline constexpr ModelField kModelFields[] = {
    {"layers", &ModelSpec::layers},   {"heads", &ModelSpec::heads},     {"width", &ModelSpec::width},
    {"context", &ModelSpec::context}, {"classes", &ModelSpec::classes}, {"vocabulary", &ModelSpec::vocabulary},
};

// Returns the value of the field of `spec` that is called `field`. `dropout` is the only field that is not an integer.
inline double ValueOf(const ModelSpec& spec, std::string_view field) {
  for (const ModelField& known : kModelFields) {
    if (field == known.name) return spec.*known.member;
  }
  return spec.dropout;
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_MODEL_SPEC_H_
