#include "worker/train/program/planned_fault.h"

#include <fcntl.h>
#include <signal.h>

#include <array>
#include <regex>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/files/unique_fd.h"

namespace rekindle::train {
namespace {

using Fault = FaultPlan::Fault;

constexpr std::pair<const char*, Fault> kFaults[] = {{"kill", Fault::kKill},
                                                     {"stop", Fault::kStop},
                                                     {"hang", Fault::kHang},
                                                     {"fail", Fault::kFail},
                                                     {"lose-context", Fault::kLoseContext},
                                                     {"lose-device", Fault::kLoseDevice},
                                                     {"misuse", Fault::kMisuse}};

const char* PointOf(comm::FakeNcclCall call) {
  switch (call) {
    case comm::FakeNcclCall::kMakeId:
      return "NCCL id";
    case comm::FakeNcclCall::kJoin:
      return "NCCL join";
    case comm::FakeNcclCall::kPollJoin:
      return "NCCL joining";
    case comm::FakeNcclCall::kStart:
      return "NCCL start";
    case comm::FakeNcclCall::kPoll:
      return "NCCL poll";
    case comm::FakeNcclCall::kAbort:
      return "NCCL abort";
    case comm::FakeNcclCall::kRelease:
      break;
  }
  return "NCCL release";
}

}  // namespace

absl::StatusOr<FaultPlan> ParseFaultPlan(const std::string& text) {
  static const std::regex form("([a-z-]+) at ([0-9]+) of (.+) once in (/.+)");
  std::smatch parts;
  FaultPlan plan;
  bool is_known = false;
  if (std::regex_match(text, parts, form) && absl::SimpleAtoi(parts[2].str(), &plan.count) && plan.count > 0) {
    for (const auto& [name, fault] : kFaults) {
      if (parts[1].str() != name) continue;
      plan.fault = fault;
      is_known = true;
    }
  }
  if (!is_known) {
    return absl::InvalidArgumentError(
        absl::StrCat("REKINDLE_FAKE_FAULT: '", text, "' is not 'FAULT at COUNT of POINT once in FILE'"));
  }
  plan.point = parts[3].str();
  plan.file = parts[4].str();
  return plan;
}

// Returns whether the point is there for the planned time, and no process has broken before.
bool PlannedFault::Comes(const std::string& point) {
  if (point != plan_.point || ++seen_ != plan_.count) return false;
  return common::UniqueFd(::open(plan_.file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)).valid();
}

void PlannedFault::EndProcess() const { (void)::raise(plan_.fault == Fault::kKill ? SIGKILL : SIGSTOP); }

void PlannedFault::BeforeOperation(device::Queue queue, const char* name) {
  if (!Comes(name)) return;
  switch (plan_.fault) {
    case Fault::kKill:
    case Fault::kStop:
      return EndProcess();
    case Fault::kHang:
      return device_->Hang(queue);
    case Fault::kFail:
    case Fault::kLoseContext:
      return device_->LoseContext(absl::StrCat("a test has broken '", name, "'"));
    case Fault::kLoseDevice:
      return device_->LoseDevice(absl::StrCat("a test has broken '", name, "'"));
    case Fault::kMisuse:
      return on_report_(absl::StrCat("a test has asked for a report at '", name, "'"));
  }
}

comm::FakeNcclFault PlannedFault::AtNccl(comm::FakeNcclCall call) {
  const std::string point = PointOf(call);
  if (hangs_ && point == plan_.point) return comm::FakeNcclFault::kHang;
  if (!Comes(point)) return comm::FakeNcclFault::kNone;
  if (plan_.fault == Fault::kHang) {
    hangs_ = true;
    return comm::FakeNcclFault::kHang;
  }
  if (plan_.fault == Fault::kKill || plan_.fault == Fault::kStop) {
    EndProcess();
    return comm::FakeNcclFault::kNone;
  }
  return comm::FakeNcclFault::kFail;
}

}  // namespace rekindle::train
