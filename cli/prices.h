// What stored bytes cost, by a price table: the one shipped (prices.yaml), or the user's.
#ifndef REKINDLE_CLI_PRICES_H_
#define REKINDLE_CLI_PRICES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/prices.pb.h"

namespace rekindle::cli {

// `path` empty: the one shipped. INVALID_ARGUMENT names file and line.
absl::StatusOr<v1::PriceTable> LoadPrices(const std::string& path);

// Of the first line that fits; null where the table has none.
const v1::StoragePrice* PriceOf(const v1::PriceTable& table, const std::string& store_uri, bool archive);

// A month of `bytes`, in the table's currency.
double MonthlyCost(const v1::StoragePrice& price, int64_t bytes);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_PRICES_H_
