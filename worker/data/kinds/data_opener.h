// Declares how trainers open the data of a job. A function of its own opens each kind of data.
#ifndef REKINDLE_WORKER_DATA_KINDS_DATA_OPENER_H_
#define REKINDLE_WORKER_DATA_KINDS_DATA_OPENER_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/data/declared/data_kinds.h"
#include "worker/data/kinds/data_spec.h"
#include "worker/data/samples/sample_order.h"

namespace rekindle::data {

inline BatchShape ShapeOf(const DataSpec& spec, const DataNeeds& needs) {
  return {needs.seed, needs.global_batch, needs.micro_batch, spec.section->validation_fraction()};
}

// Opens a job's data of one kind. All processes of a node share the cache files in `folder`. Errors name the file.
#define REKINDLE_DECLARE(Name) \
  absl::StatusOr<OpenedData> Open##Name(const DataSpec& spec, const DataNeeds& needs, const std::string& folder);
REKINDLE_DATA_KINDS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_DATA_OPENER_H_
