// The job's `model` section as models take it. The one header here that sees protobuf; never included beside torch.
#ifndef REKINDLE_WORKER_MODELS_MODEL_SPEC_PROTO_H_
#define REKINDLE_WORKER_MODELS_MODEL_SPEC_PROTO_H_

#include "rekindle/v1/job.pb.h"
#include "worker/models/registry.h"

namespace rekindle::models {

// Of a resolved spec; the type that it computes in is job_file.cc's.
inline ModelSpec ModelSpecOf(const v1::JobSpec& spec) {
  const v1::JobSpec::Model& model = spec.model();
  return {.kind = model.kind(),
          .layers = model.layers(),
          .heads = model.heads(),
          .width = model.width(),
          .context = model.context(),
          .dropout = model.dropout(),
          .inputs = spec.data().table().features_size(),
          .classes = model.classes(),
          .vocabulary = model.vocabulary(),
          .recompute = spec.training().activations() == "recompute"};
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_MODEL_SPEC_PROTO_H_
