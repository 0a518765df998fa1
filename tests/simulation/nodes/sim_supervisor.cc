#include "tests/simulation/nodes/sim_supervisor.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/agreed/version.h"
#include "tests/simulation/nodes/agent_reports.h"

namespace rekindle::core::simulation {

Process Supervisor::ProcessOf(const SimNode& node, int slot, SimJob& job) {
  const int started = node.slots[slot].started;
  Process process;
  process.job = &job;
  process.node = node.name;
  process.slot = slot;
  process.started_at = world_.now();
  process.id = absl::StrCat(node.name, "/", slot, "/", node.incarnation, ".", started);
  v1::TrainerReport identity;
  identity.set_trainer(process.id);
  identity.set_node(node.name);
  identity.set_job_uid(job.uid);
  identity.set_job_secret("secret");
  identity.set_protocol_version(common::kProtocolVersion);
  identity.set_wait_ms(1000);
  identity.mutable_process()->set_pid(1000 * slot + started);
  *identity.mutable_process()->mutable_machine() = MachineOf(node);
  process.reporting = std::make_unique<Reporting>(identity);
  voice_.Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.data_fingerprint = node.data;
          report.probe_digest = node.probe;
          if (node.nccl_version > 0) report.device = {.uuid = process.id, .nccl_version = node.nccl_version};
        },
        false);
  });
  process.lease = std::make_unique<train::Lease>([this, rate = node.clock_rate] { return world_.now() * rate; });
  return process;
}

void Supervisor::Start(SimNode& node, int slot, SimJob& job) {
  ++node.slots[slot].started;
  Process process = ProcessOf(node, slot, job);
  node.slots[slot].process = process.id;
  const std::string id = process.id;
  world_.processes[id] = std::move(process);
  world_.Tell([&](Observer& observer) { observer.ProcessStarted(world_.processes[id]); });
  world_.journal.Note(absl::StrCat("starts ", id));
  if (node.slots[slot].broken_until > world_.now()) {
    return world_.AtProcess(id, world_.chance.Uniform(0.05, 0.2),
                            [this](Process& p) { Stop(p, common::kExitDeviceGone, false); });
  }
  trainer_start_.Begin(id);
}

void Supervisor::Stop(Process& process, int code, bool silent) {
  if (!process.alive) return;
  world_.journal.Note(absl::StrCat("trainer ", process.id, " dies, code ", code, silent ? ", silently" : ""));
  world_.Tell([&](Observer& observer) { observer.ProcessEnds(process); });
  process.alive = false;
  process.ended_at = world_.now();
  SimNode& node = world_.nodes[process.node];
  SimSlot& place = node.slots[process.slot];
  if (place.process == process.id) place.process.clear();
  if (!silent) aborting_.TellPeers(process.id, process.report.generation(), 0.01);
  if (!node.up) return;
  node.exits.push_back({process.id, process.job->uid, process.slot, code});
  place.last_ended = process.id;
  if (node.agent) ended_(node, process.slot, code);
}

}  // namespace rekindle::core::simulation
