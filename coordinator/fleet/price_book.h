// A fleet file as the coordinator's price book.
#ifndef REKINDLE_COORDINATOR_FLEET_PRICE_BOOK_H_
#define REKINDLE_COORDINATOR_FLEET_PRICE_BOOK_H_

#include "coordinator/core/prices.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// `written`: the Unix time the file is of, unless it says so itself (as_of). REQUIRES: resolved by ResolveFleet.
core::PriceBook ToPriceBook(const v1::Fleet& fleet, double written);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PRICE_BOOK_H_
