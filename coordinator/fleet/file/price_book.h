// This file turns a fleet file into the coordinator's price book.
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_PRICE_BOOK_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_PRICE_BOOK_H_

#include "coordinator/market/prices.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Returns the price book of a fleet file. `written` is the Unix time at which the file was written. Prices without a
// history are known from that time on, unless the file itself states a time (`as_of`). REQUIRES: ResolveFleet has
// resolved the fleet.
core::PriceBook ToPriceBook(const v1::Fleet& fleet, double written);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_PRICE_BOOK_H_
