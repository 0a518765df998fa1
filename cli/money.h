// What the costs of a job say, in words: the coordinator's, whose web page says the same.
#ifndef REKINDLE_CLI_MONEY_H_
#define REKINDLE_CLI_MONEY_H_

#include "coordinator/money.h"

namespace rekindle::cli {

using coordinator::DescribeBudget;
using coordinator::DescribeCarbon;
using coordinator::DescribeForecast;
using coordinator::DescribeNeverRegistered;
using coordinator::DescribeOnDemand;
using coordinator::ForecastRange;
using coordinator::KgCo2;
using coordinator::Money;
using coordinator::Saving;
using coordinator::SavingsOf;
using coordinator::TotalOf;

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_MONEY_H_
