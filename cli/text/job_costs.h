// Makes the coordinator's texts about the costs of a job available to the command. The web page uses the same texts.
#ifndef REKINDLE_CLI_TEXT_JOB_COSTS_H_
#define REKINDLE_CLI_TEXT_JOB_COSTS_H_

#include "coordinator/market/cost_text.h"

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

#endif  // REKINDLE_CLI_TEXT_JOB_COSTS_H_
