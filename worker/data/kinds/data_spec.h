// Describes what opens a job's data, and what is opened. This header does not include protobuf, because trainers
// include it in files that see torch's headers, too.
#ifndef REKINDLE_WORKER_DATA_KINDS_DATA_SPEC_H_
#define REKINDLE_WORKER_DATA_KINDS_DATA_SPEC_H_

#include <cstdint>
#include <memory>
#include <string>

#include "worker/contract/batch_source.h"
#include "worker/data/files/data_roots.h"

namespace rekindle::v1 {
class JobSpec_Data;
}  // namespace rekindle::v1

namespace rekindle::data {

struct DataSpec {
  // `section` is the job's resolved spec.data. It must not be null.
  std::shared_ptr<const v1::JobSpec_Data> section;
  // All files must be in `roots`.
  DataRoots roots;
};

// `DataNeeds` is what else of the job the batches depend on.
struct DataNeeds {
  uint64_t seed = 0;
  // Windows of tokens have `context` tokens a sample.
  int context = 0;
  // Only samples with targets use `classes`.
  int classes = 0;
  int global_batch = 0;
  int micro_batch = 0;
};

struct OpenedData {
  std::unique_ptr<train::BatchSource> batches;
  // All ranks of a job must have the same `fingerprint`.
  std::string fingerprint;
  // `unigram_bits_per_byte` is what a model reaches on bytes by knowing frequencies alone. For other data it is 0.
  double unigram_bits_per_byte = 0;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_DATA_SPEC_H_
