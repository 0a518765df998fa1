#include "coordinator/core/record/decided.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "coordinator/core/choices/first_epoch.h"
#include "coordinator/core/record/record_age.h"

namespace rekindle::core {
namespace {

// The reason of a halt for off-peak hours begins with this word.
constexpr char kWaitsUntil[] = "waits ";

bool HasNote(const v1::JobStatus& status, const char* name) {
  return std::any_of(status.levers().begin(), status.levers().end(),
                     [&](const v1::LeverStatus& lever) { return lever.lever() == name; });
}

}  // namespace

void FillDecided(v1::JobRecord* record) {
  if (record->has_decided()) return;
  const v1::JobStatus& status = record->job().status();
  v1::JobRecord::Decided* decided = record->mutable_decided();
  decided->set_brought_back(absl::StartsWith(status.reason(), kBroughtBack));
  decided->set_halt_off_peak(absl::StartsWith(record->halt(), kWaitsUntil));
  decided->set_smoke_test_passed(HasNote(status, kSmokeTest));
  decided->set_first_epoch_over(HasNote(status, kFirstEpoch));
}

}  // namespace rekindle::core
