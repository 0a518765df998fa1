// Lists the kinds of data. Each NAME is declared by `const DataKind kNAMEData` in a file of this folder, and opened by
// the function OpenNAME in worker/data/kinds.
#ifndef REKINDLE_WORKER_DATA_DECLARED_DATA_KINDS_H_
#define REKINDLE_WORKER_DATA_DECLARED_DATA_KINDS_H_

#include "worker/data/declared/data_kind.h"

#define REKINDLE_DATA_KINDS(KIND) \
  KIND(Text)                      \
  KIND(Tokens)                    \
  KIND(Table)                     \
  KIND(Images)

namespace rekindle::data {

#define REKINDLE_DECLARE(Name) extern const DataKind k##Name##Data;
REKINDLE_DATA_KINDS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DECLARED_DATA_KINDS_H_
