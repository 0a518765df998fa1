#include "common/spec/spec_digest.h"

#include <google/protobuf/util/json_util.h>

#include "common/digest/hash.h"

namespace rekindle::common {

std::string SpecDigest(v1::JobSpec resolved) {
  resolved.mutable_workers()->clear_min();
  resolved.mutable_workers()->clear_max();
  resolved.clear_checkpoint();
  resolved.mutable_model()->clear_weights();
  resolved.mutable_model()->clear_folder();
  resolved.mutable_model()->clear_interpreter();
  resolved.mutable_model()->clear_data_workers();
  resolved.mutable_model()->clear_start_minutes();
  resolved.mutable_model()->clear_env_from();
  resolved.mutable_data()->clear_fingerprint();
  resolved.mutable_training()->clear_activations();
  resolved.mutable_training()->clear_optimizer_state();
  if (resolved.training().reduce() != "exact") {
    resolved.mutable_training()->clear_micro_batch();
    resolved.mutable_training()->clear_evaluate_micro_batches();
  }
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(resolved, &json).ok()) return "";
  return Xxh3_128Hex(json);
}

}  // namespace rekindle::common
