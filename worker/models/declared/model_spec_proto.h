// Converts the job's `model` section to a ModelSpec. This header includes protobuf and must never be included beside
// torch.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_MODEL_SPEC_PROTO_H_
#define REKINDLE_WORKER_MODELS_DECLARED_MODEL_SPEC_PROTO_H_

#include "common/spec/message_fields.h"
#include "rekindle/v1/job.pb.h"
#include "worker/data/declared/data_kind.h"
#include "worker/models/declared/model_spec.h"

namespace rekindle::models {

// Converts the model of a resolved job spec. The caller sets the type in which the model computes.
inline ModelSpec ModelSpecOf(const v1::JobSpec& spec) {
  const data::DataKind& data = data::KindOf(spec.data());
  ModelSpec model{.kind = spec.model().kind(),
                  .dropout = spec.model().dropout(),
                  .inputs = data.values == nullptr ? 0 : data.values(spec.data()),
                  .recompute = spec.training().activations() == "recompute"};
  for (const ModelField& field : kModelFields) {
    model.*field.member = static_cast<int>(common::NumberOf(spec.model(), field.name));
  }
  return model;
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_MODEL_SPEC_PROTO_H_
