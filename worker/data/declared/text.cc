// Declares the kind of data for text, which is read as bytes.
#include "worker/data/declared/data_kinds.h"

namespace rekindle::data {

const DataKind kTextData{.name = "text", .files = "to train on", .form = train::SampleForm::kBytes, .record_bytes = 1};

}  // namespace rekindle::data
