// Declares the fields of spec.model that several kinds of model have. Each kind adds its own defaults.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_SHARED_FIELDS_H_
#define REKINDLE_WORKER_MODELS_DECLARED_SHARED_FIELDS_H_

#include "worker/contract/parameter.h"

namespace rekindle::models {

inline constexpr train::Parameter kLayers{.field = "layers", .low = 1, .high = 512};
inline constexpr train::Parameter kHeads{.field = "heads", .low = 1, .high = 512};
inline constexpr train::Parameter kWidth{.field = "width", .low = 1, .high = 65536};
// The width of a model with attention must be a multiple of its number of heads.
inline constexpr train::Parameter kHeadsWidth{.field = "width", .low = 1, .high = 65536, .multiple_of = "heads"};
inline constexpr train::Parameter kContext{.field = "context", .low = 1, .high = 1 << 20};
// The coordinator checks `dropout` for every kind of model, so its range is the same for all that have it.
inline constexpr train::Parameter kDropout{
    .field = "dropout", .low = 0, .high = 1, .ends = train::Parameter::Ends::kHighOut};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_SHARED_FIELDS_H_
