// Computes what stored bytes cost by a price table: the one that is shipped (prices.yaml) or the user's own.
#ifndef REKINDLE_CLI_CHECKPOINT_STORAGE_PRICES_H_
#define REKINDLE_CLI_CHECKPOINT_STORAGE_PRICES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/prices.pb.h"

namespace rekindle::cli {

// Loads the price table at `path`, or the shipped one if `path` is empty. INVALID_ARGUMENT names file and line.
absl::StatusOr<v1::PriceTable> LoadPrices(const std::string& path);

// Returns the first price of the table for the scheme of `store_uri` and for the role of the store, which is an archive
// if `archive` is set. Returns null if the table has no such price.
const v1::StoragePrice* PriceOf(const v1::PriceTable& table, const std::string& store_uri, bool archive);

// Returns the cost of keeping `bytes` for a month, in the table's currency.
double MonthlyCost(const v1::StoragePrice& price, int64_t bytes);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CHECKPOINT_STORAGE_PRICES_H_
