// Declares the kind of data for files of token ids of 16 bits, the low byte first.
#include "worker/data/declared/data_kinds.h"

namespace rekindle::data {

const DataKind kTokensData{.name = "tokens",
                           .files = "of 16-bit token ids to train on",
                           .form = train::SampleForm::kTokenIds,
                           .record_bytes = sizeof(uint16_t)};

}  // namespace rekindle::data
