// Lets tests of whole processes break a trainer that computes on a fake device, at a point of their choice.
//
// REKINDLE_FAKE_FAULT says what happens: "FAULT at COUNT of POINT once in FILE", as in "kill at 3 of snapshot once in
// /tmp/x/done". POINT is the name of an operation of the device, or a call of NCCL: "NCCL id", "NCCL join", "NCCL
// joining" (while ranks join), "NCCL start", "NCCL poll" or "NCCL abort". FILE is made when the fault happens, and
// where it exists, nothing happens any more. So the process that takes the place of this one does not break again.
//
//   kill, stop     the process is killed or stopped
//   hang           the queue runs nothing after the operation, or the call of NCCL does not end
//   fail           the operation or the call fails
//   lose-context   the device's memory is lost
//   lose-device    the device does not answer any more
//   misuse         the device reports that it is used wrongly
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_PLANNED_FAULT_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_PLANNED_FAULT_H_

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/device/fake/fake_device.h"

namespace rekindle::train {

struct FaultPlan {
  enum class Fault { kKill, kStop, kHang, kFail, kLoseContext, kLoseDevice, kMisuse };
  Fault fault = Fault::kKill;
  int count = 0;
  std::string point;
  std::string file;
};

// Parses the value of REKINDLE_FAKE_FAULT. Returns INVALID_ARGUMENT for any other text.
absl::StatusOr<FaultPlan> ParseFaultPlan(const std::string& text);

// Brings the fault about. The class is thread-safe and has to outlive the device.
class PlannedFault {
 public:
  // `on_report` is what the device calls with a report.
  explicit PlannedFault(FaultPlan plan, std::function<void(const std::string&)> on_report = nullptr)
      : plan_(std::move(plan)), on_report_(std::move(on_report)) {}

  // Names the device that is lost or hangs. It must be called before the device runs anything.
  void SetDevice(device::FakeDevice& device) { device_ = &device; }
  // Is called before each operation of the device, and before each call of NCCL.
  void BeforeOperation(device::Queue queue, const char* name);
  comm::FakeNcclFault AtNccl(comm::FakeNcclCall call);

 private:
  bool Comes(const std::string& point);
  void EndProcess() const;

  const FaultPlan plan_;
  const std::function<void(const std::string&)> on_report_;
  device::FakeDevice* device_ = nullptr;
  std::atomic<int> seen_ = 0;
  // `hangs_` says that calls of NCCL at the point hang from now on.
  std::atomic<bool> hangs_ = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_PLANNED_FAULT_H_
