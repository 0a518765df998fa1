#include "worker/agent/program/lonely_end.h"

#include <cmath>
#include <utility>

#include "common/agreed/agreed_limits.h"
#include "common/log/log.h"
#include "common/time/clock.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

constexpr double kLookAgainSeconds = 1;
constexpr double kKeptSeconds = 3600;
// The file with the machine's limits is not written again if the time at which the machine has to end has moved by less
// than `kStepSeconds`.
constexpr double kStepSeconds = 60;
constexpr size_t kMaxBytes = 1024;

}  // namespace

LonelyEnd::LonelyEnd(const NodeFolder* folder, std::string boot, double first_heard_seconds)
    : folder_(folder), boot_(std::move(boot)), alone_(common::BootSeconds(), first_heard_seconds) {
  const absl::StatusOr<std::string> known = ReadSmallFile(folder_->AloneFile(), kMaxBytes);
  if (known.ok()) alone_.Recall(*known, boot_, common::BootSeconds());
}

void LonelyEnd::Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending) {
  alone_.Heard(sent, alone_seconds, spend_seconds, keeps_spending);
  WriteDown();
}

void LonelyEnd::WriteDown() {
  const double until = alone_.until();
  const bool is_same = std::isinf(until) ? std::isinf(written_until_) : std::abs(until - written_until_) < kStepSeconds;
  if (is_same) return;
  written_until_ = until;
  const absl::Status written = ReplaceFile(folder_->AloneFile(), alone_.Text(boot_));
  if (written.ok()) return;
  log::Warning("how long this machine may run alone could not be written down",
               {{"error", std::string(written.message())}});
}

bool LonelyEnd::IsDue(const LonelyView& view) {
  // While a coordinator answers, that coordinator decides whether the machine ends.
  const double now = common::BootSeconds(), until = alone_.until();
  if (now < until || view.connected) {
    if (std::exchange(told_at_, 0) != 0) log::Info("a coordinator is heard of again: this machine goes on");
    return false;
  }
  if (told_at_ == 0) {
    log::Warning(
        "nothing was heard of a coordinator for as long as this machine may run, or its jobs may spend: it ends",
        {{"saves_for_seconds", common::kMachineEndSeconds}});
    told_at_ = now;
  }
  if (view.keeps_final_state) {
    if (now >= kept_told_at_ + kKeptSeconds) {
      log::Warning("a job's final state is here and not durable: this machine runs on until it is");
      kept_told_at_ = now;
    }
    return false;
  }
  return !view.is_busy || now >= told_at_ + common::kMachineEndSeconds;
}

double LonelyEnd::SecondsToLook() const {
  if (std::isinf(alone_.until())) return alone_.until();
  return told_at_ != 0 ? kLookAgainSeconds : alone_.until() - common::BootSeconds();
}

void LonelyEnd::Forget() const { RemoveFile(folder_->AloneFile()); }

}  // namespace rekindle::agent
