// Parses the flags of `rekindle-worker agent`.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_OPTIONS_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/agent/decisions/slot_health.h"
#include "worker/agent/decisions/slot_plan.h"
#include "worker/agent/notices/notice_sources.h"
#include "worker/gpus/gpu.h"
#include "worker/user_code/code_setting.h"
#include "worker/user_code/code_uids.h"
#include "worker/user_code/disk_use.h"

namespace rekindle::agent {

inline constexpr int kMaxSlots = 64;

// These are the values of --device. With `kAnyGpus` trainers compute on the machine's GPUs, if it has any, and with
// `kNoGpus` on the processor. With `kFakeDevices` a device for tests stands in for a GPU.
inline constexpr char kAnyGpus[] = "auto";
inline constexpr char kNoGpus[] = "cpu";
inline constexpr char kFakeDevices[] = "fake";

struct AgentOptions {
  std::string dir;
  std::string coordinator;
  // `node` is the name of the node. By default it is the host's name.
  std::string node;
  // `device` is kAnyGpus, kNoGpus or kFakeDevices.
  std::string device = kAnyGpus;
  // Trainers compute on the GPUs in `gpus`, broken ones included. If there are none, they compute on the processor.
  // SettleGpus fills in `gpus`.
  std::vector<gpus::Gpu> gpus;
  // `gpu_share` is the number of trainers that may compute on one GPU.
  int gpu_share = 1;
  // The driver is asked again for the first time `ask_driver_seconds` after a GPU has failed.
  double ask_driver_seconds = SlotHealthPolicy().first_seconds;
  // `slots` is the number of trainers that the node can run at once. 0 stands for the default, which is `gpu_share` for
  // each GPU, and 1 without GPUs. SettleGpus fills it in.
  int slots = 0;
  // `trainer_binary` is by default the rekindle-trainer in the folder of this program.
  std::string trainer_binary;
  // `own_trainer_binary` is by default the rekindle-own-trainer in the folder of this program.
  std::string own_trainer_binary;
  // `python` is the absolute path of the interpreter that runs users' own models. It may be empty.
  std::string python;
  // `allow_code` says whether jobs may bring code of their own (common/agreed/allow_code.h). ParseOptions fills in the
  // default.
  std::string allow_code;
  std::string advertise = "127.0.0.1";
  // `memory_bytes` is the memory for all trainers of the node together. 0 means all that the machine or its control
  // group has.
  uint64_t memory_bytes = 0;
  // `zone` is the failure domain, as the cloud names it. It is empty if unknown.
  std::string zone;
  // `pool` is the node's pool in the coordinator's fleet file. It is empty if unknown.
  std::string pool;
  // `metrics` is the address at which metrics are served. If it is empty, none are served.
  std::string metrics;
  // `data_roots` are the folders that jobs may read on this node, within what the trainers' user may read. For a
  // coordinator on loopback the default is everything, because every caller of that coordinator needs its token, which
  // belongs to this user. Otherwise the default is data::DataRoots::kUsual.
  std::vector<std::string> data_roots;
  // Code of jobs has user ids of the range `code_uids`, where it is isolated, and a job's code may write `code_disk`
  // bytes to disks.
  user_code::UidRange code_uids;
  uint64_t code_disk = static_cast<uint64_t>(user_code::DiskLimits().bytes);
  // Only tests set `isolation_at_most`.
  user_code::Isolation isolation_at_most = user_code::Isolation::kUidAndLandlock;
  // `isolation` is how code of jobs is kept from what is not its own. SettleIsolation fills it in.
  user_code::Isolation isolation = user_code::Isolation::kNone;
  NoticeOptions notices;
  double drain_seconds = 30;
  double stop_grace_seconds = 10;
  double stuck_seconds = Policy().stuck_seconds;
  // The machine ends if it hears of no coordinator within `first_heard_seconds` after the start. 0 means without limit.
  double first_heard_seconds = 0;
};

// Parses the arguments after "agent". `version` is what --version prints. If no agent has to run (help, version, wrong
// use), the function prints why on stdout or stderr, sets *exit_code to 0 or 2, and returns nothing.
std::optional<AgentOptions> ParseOptions(const std::vector<std::string>& arguments, const std::string& version,
                                         int* exit_code);

// Returns the path of the program that runs.
std::string OwnProgram();

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_OPTIONS_H_
