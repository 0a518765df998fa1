// Declares a table in memory, as it is read from files and cut into micro-batches. Each row has numbers as features and
// one target.
#ifndef REKINDLE_WORKER_DATA_KINDS_TABLE_ROWS_H_
#define REKINDLE_WORKER_DATA_KINDS_TABLE_ROWS_H_

#include <cstdint>
#include <vector>

namespace rekindle::data {

struct Table {
  // `columns` counts the features.
  int columns = 0;
  // `features` has rows x columns values, row after row.
  std::vector<float> features;
  // `targets` has one value per row.
  std::vector<float> targets;

  int64_t rows() const { return static_cast<int64_t>(targets.size()); }
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_TABLE_ROWS_H_
