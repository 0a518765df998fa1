// A fleet file as the coordinator's price book.
#ifndef REKINDLE_COORDINATOR_FLEET_PRICE_BOOK_H_
#define REKINDLE_COORDINATOR_FLEET_PRICE_BOOK_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/core/prices.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// `source` is what errors call the text; `written` the Unix time it is of, unless it says so itself (as_of).
// INVALID_ARGUMENT names source, field and fix.
absl::StatusOr<core::PriceBook> ToPriceBook(const std::string& text, const std::string& source, double written);
// Of a file that ParseFleet has read.
core::PriceBook ToPriceBook(const v1::Fleet& fleet, double written);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PRICE_BOOK_H_
