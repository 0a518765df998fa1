// Declares the fields of spec.optimizer: their ranges, and the defaults of AdamW. An optimizer with other defaults says
// so by WithDefault.
#ifndef REKINDLE_WORKER_CONTRACT_OPTIMIZER_FIELDS_H_
#define REKINDLE_WORKER_CONTRACT_OPTIMIZER_FIELDS_H_

#include "worker/contract/parameter.h"

namespace rekindle::train {

inline constexpr Parameter kLearningRate{
    .field = "learning_rate", .initial = 1e-3, .low = 0, .high = 100, .ends = Parameter::Ends::kLowOut};
inline constexpr Parameter kBeta1{
    .field = "beta1", .initial = 0.9, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut};
inline constexpr Parameter kBeta2{
    .field = "beta2", .initial = 0.95, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut};
inline constexpr Parameter kEpsilon{
    .field = "epsilon", .initial = 1e-8, .low = 0, .high = 1, .ends = Parameter::Ends::kLowOut};
inline constexpr Parameter kWeightDecay{.field = "weight_decay", .initial = 0.1, .low = 0, .high = 100};
// `kMomentum` has no default, because AdamW has no momentum. Each optimizer that has one sets its default.
inline constexpr Parameter kMomentum{.field = "momentum", .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_OPTIMIZER_FIELDS_H_
