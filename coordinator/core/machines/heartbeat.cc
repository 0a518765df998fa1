#include "coordinator/core/machines/heartbeat.h"

#include <algorithm>

namespace rekindle::core {
namespace {

template <typename Message>
bool SameBytes(const Message& a, const Message& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

}  // namespace

// The two reports are compared field by field, because comparing them as bytes took a quarter of a heartbeat's time in
// the core. heartbeat_test.cc fails if a field of the message is forgotten here.
bool SaysTheSame(const v1::NodeReport& a, const v1::NodeReport& b) {
  return a.node() == b.node() && a.incarnation() == b.incarnation() && a.agent_incarnation() == b.agent_incarnation() &&
         a.protocol_version() == b.protocol_version() && a.version() == b.version() && a.slots() == b.slots() &&
         a.draining() == b.draining() && a.drain_within_seconds() == b.drain_within_seconds() &&
         a.drain_reason() == b.drain_reason() && a.checkpoint_incarnation() == b.checkpoint_incarnation() &&
         a.checkpoint_address() == b.checkpoint_address() && a.zone() == b.zone() && a.pool() == b.pool() &&
         a.home() == b.home() && a.has_machine() == b.has_machine() &&
         (!a.has_machine() || SameBytes(a.machine(), b.machine())) &&
         std::equal(a.absent_trainers().begin(), a.absent_trainers().end(), b.absent_trainers().begin(),
                    b.absent_trainers().end()) &&
         std::equal(a.left_alone().begin(), a.left_alone().end(), b.left_alone().begin(), b.left_alone().end(),
                    SameBytes<v1::DesiredTrainer>) &&
         std::equal(a.stored_jobs().begin(), a.stored_jobs().end(), b.stored_jobs().begin(), b.stored_jobs().end(),
                    SameBytes<v1::StoredJob>) &&
         std::equal(a.slot_faults().begin(), a.slot_faults().end(), b.slot_faults().begin(), b.slot_faults().end(),
                    SameBytes<v1::SlotFault>) &&
         std::equal(a.start_troubles().begin(), a.start_troubles().end(), b.start_troubles().begin(),
                    b.start_troubles().end(), SameBytes<v1::StartTrouble>) &&
         a.allow_code() == b.allow_code() && a.isolation() == b.isolation() &&
         a.has_interpreter() == b.has_interpreter() &&
         (!a.has_interpreter() || SameBytes(a.interpreter(), b.interpreter())) && a.heard_at() == b.heard_at() &&
         a.has_device() == b.has_device() && (!a.has_device() || SameBytes(a.device(), b.device())) &&
         std::equal(a.trainers().begin(), a.trainers().end(), b.trainers().begin(), b.trainers().end(),
                    SameBytes<v1::TrainerProcess>);
}

}  // namespace rekindle::core
