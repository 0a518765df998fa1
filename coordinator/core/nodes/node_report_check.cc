#include "coordinator/core/nodes/node_report_check.h"

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/agreed/agreed_limits.h"
#include "common/agreed/amounts.h"
#include "common/agreed/version.h"
#include "coordinator/core/state/node_state.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxAddress = 256;
constexpr size_t kMaxPath = 4096;

}  // namespace

std::string FindRefusal(const v1::NodeReport& report, bool allow_fake_devices) {
  if (report.protocol_version() != common::kProtocolVersion) {
    return absl::StrCat("the agent speaks protocol version ", report.protocol_version(), ", the coordinator ",
                        common::kProtocolVersion, "; install the same release on both");
  }
  if (report.checkpoint_address().size() > kMaxAddress || report.zone().size() > kMaxAddress ||
      report.pool().size() > kMaxAddress || report.device().name().size() > kMaxAddress) {
    return absl::StrCat("malformed report: address, zone, pool and the GPU's name have at most ", kMaxAddress,
                        " characters");
  }
  for (const std::string& id :
       {report.incarnation(), report.agent_incarnation(), report.checkpoint_incarnation(), report.home()}) {
    if (id.size() > kMaxAddress)
      return absl::StrCat("malformed report: incarnations and home have at most ", kMaxAddress, " characters");
  }
  if (report.incarnation().empty() || report.agent_incarnation().empty() || report.slots() < 0 ||
      report.slots() > kMaxSlots || report.trainers_size() > 4 * kMaxSlots || report.left_alone_size() > kMaxSlots) {
    return absl::StrCat("malformed report: incarnations must be set and slots between 0 and ", kMaxSlots);
  }
  if (report.device().is_fake() && !allow_fake_devices) {
    return "the device `fake` is for tests with a coordinator on loopback; start the worker with --device auto or "
           "--device cpu";
  }
  const v1::Interpreter& interpreter = report.interpreter();
  if (interpreter.path().size() > kMaxPath || interpreter.version().size() > kMaxAddress ||
      interpreter.torch().size() > kMaxAddress || interpreter.problem().size() > kMaxPath ||
      report.allow_code().size() > kMaxAddress || report.isolation().size() > kMaxAddress) {
    return absl::StrCat("malformed report: a path or problem of its Python is longer than ", kMaxPath,
                        " bytes, or another word on code of jobs than ", kMaxAddress);
  }
  if (report.slot_faults_size() > report.slots()) return "malformed report: more slots have failed than there are";
  for (const v1::SlotFault& fault : report.slot_faults()) {
    if (FaultOf(report, fault.slot()) != &fault) return "malformed report: a slot has failed twice";
    if (fault.slot() < 0 || fault.slot() >= report.slots() || fault.words().size() > common::kLongestLastWords) {
      return absl::StrCat("malformed report: a failed slot is one of the node's, and its words have at most ",
                          common::kLongestLastWords, " characters");
    }
  }
  if (report.start_troubles_size() > kMaxSlots) return "malformed report: a node has no room for so many jobs";
  for (const v1::StartTrouble& trouble : report.start_troubles()) {
    if (StartTroubleOf(report, trouble.job_uid()) != &trouble) return "malformed report: a job has two troubles";
    if (trouble.job_uid().size() > kMaxAddress || trouble.words().size() > common::kLongestLastWords) {
      return absl::StrCat("malformed report: why a trainer does not start has at most ", common::kLongestLastWords,
                          " characters");
    }
  }
  const v1::Machine& machine = report.machine();
  if (report.absent_trainers_size() > 4 * kMaxSlots || machine.boot().size() > kMaxAddress ||
      machine.processes().size() > kMaxAddress || machine.hardware().size() > kMaxAddress) {
    return absl::StrCat("malformed report: the machine's names have at most ", kMaxAddress, " characters, and at most ",
                        4 * kMaxSlots, " trainers are absent");
  }
  if (report.stored_jobs_size() > checkpoint::kMostStoredJobs) {
    return absl::StrCat("malformed report: at most ", checkpoint::kMostStoredJobs, " jobs were read from their stores");
  }
  if (!common::IsAmount(report.drain_within_seconds())) {
    return "malformed report: the limit of a drain is a number of seconds, 0 for none";
  }
  return "";
}

}  // namespace rekindle::core
