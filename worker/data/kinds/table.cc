#include "worker/data/kinds/table.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/data/files/input_files.h"
#include "worker/data/kinds/data_opener.h"
#include "worker/data/kinds/parquet.h"
#include "worker/data/samples/fingerprint.h"

namespace rekindle::data {
namespace {

class TableBatches final : public train::BatchSource {
 public:
  TableBatches(Table table, const SampleOrder& order) : table_(std::move(table)), order_(order) {}

  train::MicroBatch Train(int64_t step, int index) override {
    return Gather(index, order_.Train(step, index), order_.FirstNumber(step, index));
  }
  train::MicroBatch Validation(int index) override {
    return Gather(index, order_.Validation(index), order_.FirstNumber(0, index));
  }
  int validation_micro_batches() const override { return order_.validation_micro_batches(); }
  int64_t train_samples() const override { return order_.train_samples(); }

 private:
  // Makes a micro-batch of the given rows. `first` is MicroBatch::first.
  train::MicroBatch Gather(int index, const std::vector<int64_t>& rows, int64_t first) const {
    train::MicroBatch batch{
        .index = index, .samples = rows, .first = first, .sequences = static_cast<int>(rows.size())};
    for (int64_t row : rows) {
      const auto values = table_.features.begin() + row * table_.columns;
      batch.features.insert(batch.features.end(), values, values + table_.columns);
      batch.targets.push_back(table_.targets[row]);
    }
    return batch;
  }

  const Table table_;
  const SampleOrder order_;
};

absl::Status CheckTargets(const Table& table, int classes) {
  for (int64_t row = 0; classes > 0 && row < table.rows(); ++row) {
    const float target = table.targets[row];
    if (target >= 0 && target < static_cast<float>(classes) && target == std::floor(target)) continue;
    return absl::InvalidArgumentError(absl::StrCat("the target of row ", row, " is ", target, "; with model.classes ",
                                                   classes, " it must be a whole number from 0 to ", classes - 1));
  }
  return absl::OkStatus();
}

// Scales a column to mean 0 and standard deviation 1 over the training rows. The computation is in double and in a
// fixed order, so that every rank gets the same bits.
void Standardize(const SampleOrder& order, int64_t rows, int stride, float* column) {
  double mean = 0, square = 0;
  const int64_t count = order.train_samples();
  for (int64_t place = 0; place < count; ++place) mean += double{column[order.TrainSample(place) * stride]};
  mean /= static_cast<double>(count);
  for (int64_t place = 0; place < count; ++place) {
    const double away = column[order.TrainSample(place) * stride] - mean;
    square += away * away;
  }
  const double deviation = std::sqrt(square / static_cast<double>(count));
  const double scale = deviation > 0 ? 1 / deviation : 0;
  for (int64_t row = 0; row < rows; ++row) {
    column[row * stride] = static_cast<float>((column[row * stride] - mean) * scale);
  }
}

}  // namespace

std::string TableFingerprint(const Table& table) {
  Fingerprinter fingerprint;
  fingerprint.Add(&table.columns, sizeof(table.columns));
  fingerprint.Add(table.features.data(), table.features.size() * sizeof(float));
  fingerprint.Add(table.targets.data(), table.targets.size() * sizeof(float));
  return fingerprint.Finish();
}

absl::StatusOr<std::unique_ptr<train::BatchSource>> MakeTableBatches(Table table, int classes,
                                                                     const BatchShape& shape) {
  if (absl::Status status = CheckTargets(table, classes); !status.ok()) return status;
  auto order = SampleOrder::Create(table.rows(), shape);
  if (!order.ok()) return order.status();
  for (int c = 0; c < table.columns; ++c) {
    Standardize(*order, table.rows(), table.columns, table.features.data() + c);
  }
  // The targets of a regression may be of any size, such as prices or ppm. Scaling gives all losses the same scale,
  // which their fixed-point sum needs.
  if (classes == 0) Standardize(*order, table.rows(), 1, table.targets.data());
  return std::make_unique<TableBatches>(std::move(table), *order);
}

absl::StatusOr<OpenedData> OpenTable(const DataSpec& spec, const DataNeeds& needs, const std::string&) {
  const auto files = FindInputFiles(FilesOf(*spec.section, kTableData), spec.roots);
  if (!files.ok()) return files.status();
  std::vector<std::string> paths;
  for (const InputFile& file : *files) paths.push_back(file.path);
  const auto& features = spec.section->table().features();
  auto table = ReadParquet(paths, {features.begin(), features.end()}, spec.section->table().target(), spec.roots);
  if (!table.ok()) return table.status();
  OpenedData opened{.fingerprint = TableFingerprint(*table)};
  auto batches = MakeTableBatches(*std::move(table), needs.classes, ShapeOf(spec, needs));
  if (!batches.ok()) return batches.status();
  opened.batches = *std::move(batches);
  return opened;
}

}  // namespace rekindle::data
