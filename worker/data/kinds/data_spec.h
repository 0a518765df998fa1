// Describes what trainers need to open a job's data, and what they get. This header does not include protobuf, because
// trainers include it in files that also include torch's headers.
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
  // All files of the data must be in `roots`.
  DataRoots roots;
};

// `DataNeeds` has what the micro-batches depend on besides the data itself.
struct DataNeeds {
  uint64_t seed = 0;
  // `context` is the number of tokens of a sample, for samples that are windows of tokens.
  int context = 0;
  // `classes` is the number of classes of the targets. It is used only for samples with targets.
  int classes = 0;
  int global_batch = 0;
  int micro_batch = 0;
};

struct OpenedData {
  std::unique_ptr<train::BatchSource> batches;
  // `fingerprint` stands for the opened data. All ranks of a job must have the same one.
  std::string fingerprint;
  // `unigram_bits_per_byte` is the loss that a model reaches on bytes if it knows only how frequent each byte is. For
  // other data the field is 0.
  double unigram_bits_per_byte = 0;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_DATA_SPEC_H_
