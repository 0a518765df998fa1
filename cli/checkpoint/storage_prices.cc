#include "cli/checkpoint/storage_prices.h"

#include "cli/checkpoint/prices_yaml.h"
#include "common/files/file.h"
#include "common/spec/yaml.h"

namespace rekindle::cli {

absl::StatusOr<v1::PriceTable> LoadPrices(const std::string& path) {
  std::string text = kShippedPrices;
  if (!path.empty()) {
    auto read = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
    if (!read.ok()) return read.status();
    text = *std::move(read);
  }
  v1::PriceTable table;
  const std::string source = path.empty() ? "the shipped price table" : path;
  if (absl::Status status = common::ParseYaml(text, source, &table); !status.ok()) return status;
  for (const v1::StoragePrice& price : table.storage()) {
    if (price.scheme().empty() || (price.role() != "store" && price.role() != "archive") || !(price.gb_month() >= 0)) {
      return absl::InvalidArgumentError(source +
                                        ": a price needs a scheme, the role store or archive, and gb_month >= 0");
    }
  }
  return table;
}

const v1::StoragePrice* PriceOf(const v1::PriceTable& table, const std::string& store_uri, bool archive) {
  const std::string scheme = store_uri.substr(0, store_uri.find("://"));
  for (const v1::StoragePrice& price : table.storage()) {
    if (price.scheme() == scheme && (price.role() == "archive") == archive) return &price;
  }
  return nullptr;
}

double MonthlyCost(const v1::StoragePrice& price, int64_t bytes) {
  return price.gb_month() * static_cast<double>(bytes) / 1e9;
}

}  // namespace rekindle::cli
