// Declares the kind of data for tables: rows of Parquet files, whose columns are named. One column is the target.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/data/declared/data_kinds.h"
#include "worker/data/declared/limits.h"

namespace rekindle::data {
namespace {

constexpr size_t kMostNameBytes = 256;
constexpr char kFeatures[] = "spec.data.table.features", kTarget[] = "spec.data.table.target";

void Check(const v1::JobSpec::Data& data, const Refuse& refuse) {
  const v1::JobSpec::Table& table = data.table();
  const auto require = [&](bool holds, const char* field, const std::string& why) {
    if (!holds) refuse(field, why, {});
  };
  require(table.features_size() > 0, kFeatures, "is missing: list the columns to learn from");
  require(table.features_size() <= kMostFeatures, kFeatures,
          absl::StrCat("has ", table.features_size(), " columns, at most ", kMostFeatures, " are supported"));
  require(!table.target().empty(), kTarget, "is missing: name the column to learn");
  require(table.target().size() <= kMostNameBytes, kTarget, "is too long for a column's name");
  std::vector<std::string> columns(table.features().begin(), table.features().end());
  for (const std::string& column : columns) {
    require(!column.empty() && column.size() <= kMostNameBytes, kFeatures, "has a name that is empty or too long");
  }
  columns.push_back(table.target());
  std::sort(columns.begin(), columns.end());
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  if (twice == columns.end()) return;
  refuse("spec.data.table", absl::StrCat("names column '", *twice, "' twice"), {kFeatures, kTarget});
}

int Values(const v1::JobSpec::Data& data) { return data.table().features_size(); }

void CopySize(const v1::JobSpec::Data& from, v1::JobSpec::Data* to) {
  *to->mutable_table()->mutable_features() = from.table().features();
}

}  // namespace

const DataKind kTableData{.name = "table",
                          .files = "of Parquet to train on",
                          .form = train::SampleForm::kRows,
                          .check = Check,
                          .values = Values,
                          .copy_size = CopySize};

}  // namespace rekindle::data
