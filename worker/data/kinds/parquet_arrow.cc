// Implements the plugin that reads Parquet files (parquet.h). It decodes one column of one row group at a time, and its
// memory is capped.
#include <arrow/array.h>
#include <arrow/chunked_array.h>
#include <arrow/io/file.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/data/kinds/parquet.h"

namespace rekindle::data {
namespace {

// `kMaxHeaderString` limits each string in a Parquet file's headers, in bytes.
constexpr int32_t kMaxHeaderString = 64 << 20;
constexpr int32_t kMaxHeaderItems = 1 << 20;
// `kMaxDecodeBytes` limits the memory to decode one column of one row group.
constexpr int64_t kMaxDecodeBytes = int64_t{2} << 30;
constexpr size_t kMostNamesShown = 20;

absl::Status Bad(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// Returns value `i` of a numeric array as a float.
template <typename Array>
float ValueOf(const arrow::Array& array, int64_t i) {
  return static_cast<float>(static_cast<const Array&>(array).Value(i));
}

using Reader = float (*)(const arrow::Array& array, int64_t i);

// Returns the function that reads a value of the type, or null if the type is not numeric.
Reader ReaderOf(arrow::Type::type type) {
  switch (type) {
    case arrow::Type::BOOL:
      return ValueOf<arrow::BooleanArray>;
    case arrow::Type::INT8:
      return ValueOf<arrow::Int8Array>;
    case arrow::Type::INT16:
      return ValueOf<arrow::Int16Array>;
    case arrow::Type::INT32:
      return ValueOf<arrow::Int32Array>;
    case arrow::Type::INT64:
      return ValueOf<arrow::Int64Array>;
    case arrow::Type::UINT8:
      return ValueOf<arrow::UInt8Array>;
    case arrow::Type::UINT16:
      return ValueOf<arrow::UInt16Array>;
    case arrow::Type::UINT32:
      return ValueOf<arrow::UInt32Array>;
    case arrow::Type::UINT64:
      return ValueOf<arrow::UInt64Array>;
    case arrow::Type::FLOAT:
      return ValueOf<arrow::FloatArray>;
    case arrow::Type::DOUBLE:
      return ValueOf<arrow::DoubleArray>;
    default:
      return nullptr;
  }
}

class File {
 public:
  File(int file, const std::string& path)
      : file_(file), path_(path), pool_(arrow::default_memory_pool(), kMaxDecodeBytes) {}

  absl::Status Open() {
    auto file = arrow::io::ReadableFile::Open(file_, &pool_);
    if (!file.ok()) return Bad(path_, file.status().message());
    parquet::ReaderProperties properties(&pool_);
    properties.set_thrift_string_size_limit(kMaxHeaderString);
    properties.set_thrift_container_size_limit(kMaxHeaderItems);
    parquet::arrow::FileReaderBuilder builder;
    if (arrow::Status status = builder.Open(*file, properties); !status.ok()) return Bad(path_, status.message());
    auto reader = builder.memory_pool(&pool_)->Build();
    if (!reader.ok()) return Bad(path_, reader.status().message());
    reader_ = *std::move(reader);
    if (arrow::Status status = reader_->GetSchema(&schema_); !status.ok()) return Bad(path_, status.message());
    return absl::OkStatus();
  }

  int64_t rows() const { return reader_->parquet_reader()->metadata()->num_rows(); }

  // Returns all values of a column. The memory grows with the decoded data, not with the number of rows that the file
  // claims.
  absl::StatusOr<std::vector<float>> ReadColumn(const std::string& name) {
    const auto column = Find(name);
    if (!column.ok()) return column.status();
    std::vector<float> read;
    for (int group = 0; group < reader_->num_row_groups(); ++group) {
      std::shared_ptr<arrow::ChunkedArray> values;
      const arrow::Status status = reader_->RowGroup(group)->Column(*column)->Read(&values);
      if (!status.ok()) return Bad(path_, absl::StrCat("column '", name, "': ", status.message()));
      if (values->length() > rows() - static_cast<int64_t>(read.size())) break;
      for (const auto& chunk : values->chunks()) {
        if (absl::Status appended = Append(name, *chunk, &read); !appended.ok()) return appended;
      }
    }
    if (static_cast<int64_t>(read.size()) == rows()) return read;
    return Bad(path_, absl::StrCat("column '", name, "' has not the ", rows(), " values that the file claims"));
  }

 private:
  absl::StatusOr<int> Find(const std::string& name) const {
    const int found = schema_->GetFieldIndex(name);
    if (found < 0) {
      std::vector<std::string> names = schema_->field_names();
      if (names.size() > kMostNamesShown) names.resize(kMostNamesShown);
      return Bad(path_, absl::StrCat("has no one column '", name, "'; its first are: ", absl::StrJoin(names, ", ")));
    }
    const arrow::DataType& type = *schema_->field(found)->type();
    if (ReaderOf(type.id()) == nullptr) {
      return Bad(path_, absl::StrCat("column '", name, "' is ", type.ToString(), "; use numbers or booleans"));
    }
    // `found` is an index for Arrow's Column(), which counts the top-level fields of the schema. A nested field counts
    // once, however many leaves it has.
    return found;
  }

  absl::Status Append(const std::string& name, const arrow::Array& from, std::vector<float>* to) const {
    const Reader reader = ReaderOf(from.type_id());
    if (reader == nullptr) return Bad(path_, absl::StrCat("column '", name, "' is not of numbers"));
    for (int64_t i = 0; i < from.length(); ++i) {
      const float value = from.IsNull(i) ? NAN : reader(from, i);
      if (!std::isfinite(value)) {
        return Bad(path_, absl::StrCat("column '", name, "', row ", to->size(), " is ",
                                       from.IsNull(i) ? "missing" : "not finite in FP32",
                                       ": fill it in, or leave the row out"));
      }
      to->push_back(value);
    }
    return absl::OkStatus();
  }

  const int file_;
  const std::string path_;
  arrow::CappedMemoryPool pool_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
};

absl::Status CheckSize(const std::string& path, int64_t rows, const Table& table) {
  const int64_t width = (int64_t{table.columns} + 1) * static_cast<int64_t>(sizeof(float));
  const int64_t most = kMaxTableBytes / width - table.rows();
  if (rows >= 0 && rows <= most) return absl::OkStatus();
  return Bad(path, absl::StrCat("has ", rows, " rows; at most ", most, " more fit: the whole table must be below ",
                                kMaxTableBytes, " bytes"));
}

absl::Status AppendFile(int opened, const std::string& path, const std::vector<std::string>& features,
                        const std::string& target, Table* table) {
  File file(opened, path);
  if (absl::Status status = file.Open(); !status.ok()) return status;
  const int64_t before = table->rows(), rows = file.rows();
  if (absl::Status status = CheckSize(path, rows, *table); !status.ok()) return status;
  const auto targets = file.ReadColumn(target);
  if (!targets.ok()) return targets.status();
  table->targets.insert(table->targets.end(), targets->begin(), targets->end());
  table->features.resize((before + rows) * table->columns);
  for (int c = 0; c < table->columns; ++c) {
    const auto column = file.ReadColumn(features[c]);
    if (!column.ok()) return column.status();
    for (int64_t row = 0; row < rows; ++row) table->features[(before + row) * table->columns + c] = (*column)[row];
  }
  return absl::OkStatus();
}

absl::Status Append(int file, const std::string& path, const std::vector<std::string>& features,
                    const std::string& target, Table* table) {
  try {
    return AppendFile(file, path, features, target, table);
  } catch (const std::exception& error) {
    // Arrow's Parquet reader throws if a file is damaged.
    return Bad(path, error.what());
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ParquetPlugin RekindleParquetPlugin;
const ParquetPlugin RekindleParquetPlugin = {kParquetPluginVersion, Append};

}  // namespace rekindle::data
