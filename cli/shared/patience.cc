#include "cli/shared/patience.h"

#include <chrono>
#include <iostream>
#include <thread>

#include "cli/text/number_text.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

constexpr auto kRetry = std::chrono::milliseconds(200);

}  // namespace

Patience::Patience(std::string endpoint)
    : Patience(std::move(endpoint), {common::SteadySeconds, [] { std::this_thread::sleep_for(kRetry); }, &std::cerr}) {}

void Patience::Heard() {
  was_there_ = true;
  if (away_since_) *options_.says << "rekindle: the coordinator at " << endpoint_ << " is back" << std::endl;
  away_since_.reset();
}

bool Patience::Waits(const absl::Status& status) {
  const bool is_away = absl::IsUnavailable(status) || absl::IsCancelled(status);
  if (!is_away || !was_there_) return false;
  const double now = options_.now();
  if (!away_since_) {
    away_since_ = now;
    *options_.says << "rekindle: the coordinator at " << endpoint_ << " is away; waiting for it, for "
                   << Fixed(kSeconds, 0) << " s at most" << std::endl;
  }
  if (now - *away_since_ >= kSeconds) return false;
  options_.pause();
  return true;
}

}  // namespace rekindle::cli
