// What the costs of a job say, in words.
#ifndef REKINDLE_CLI_MONEY_H_
#define REKINDLE_CLI_MONEY_H_

#include <string>
#include <vector>

#include "rekindle/v1/cost.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// "12.34 USD", in the currency of `cost`.
std::string Money(double amount, const v1::Cost& cost);

std::string DescribeForecast(const v1::Job& job);
std::string DescribeBudget(const v1::Cost& cost);
std::string DescribeOnDemand(const v1::Cost& cost);

// For the jobs of a team: amounts, rates and node-hours.
void AddUp(const v1::Cost& cost, v1::Cost* total);

// One line of `rekindle savings`.
struct Saving {
  std::string by;
  double amount = 0;
  std::string how;  // Where nothing was saved: why.
};
std::vector<Saving> SavingsOf(const v1::Job& job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_MONEY_H_
