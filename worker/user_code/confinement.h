// Confines a process before it runs code of a user: another user id, no privileges, limits, and Landlock.
#ifndef REKINDLE_WORKER_USER_CODE_CONFINEMENT_H_
#define REKINDLE_WORKER_USER_CODE_CONFINEMENT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "common/process/process.h"
#include "worker/user_code/landlock.h"

namespace rekindle::user_code {

struct Limits {
  // A process may have `memory_bytes` of memory of its own. 0 stands for no limit.
  uint64_t memory_bytes = 0;
  // A file may have `file_bytes` bytes.
  uint64_t file_bytes = uint64_t{4} << 30;
  // All processes of the user id together may have `processes` threads.
  uint64_t processes = 1024;
  // A process may have so many files open.
  uint64_t open_files = 4096;
};

struct ConfinementOptions {
  // `uid` is also the group.
  uid_t uid = 0;
  // The process starts in `folder`.
  std::string folder;
  // `rules` applies if `has_landlock` is set.
  bool has_landlock = false;
  FileRules rules;
  Limits limits;
};

// Everything that is needed is made by Prepare(), so that between fork and exec there are system calls alone. It is
// movable, and may be used for any number of processes, from any thread.
class Confinement {
 public:
  // Returns INVALID_ARGUMENT if the user id is that of a person or of the system.
  static absl::StatusOr<Confinement> Prepare(ConfinementOptions options);

  // Has the child that `spawn` describes be confined. `spawn` must be used before this object is gone.
  void AddTo(common::SpawnOptions* spawn) const;
  uid_t uid() const { return options_.uid; }

 private:
  Confinement(ConfinementOptions options, common::UniqueFd ruleset)
      : options_(std::move(options)), ruleset_(std::move(ruleset)) {}
  // Confines this process. Returns what went wrong, or null.
  const char* Apply() const;

  ConfinementOptions options_;
  common::UniqueFd ruleset_;
};

// The smallest user id that code of users may have. Ids of people, of the system and of containers are below it.
inline constexpr uid_t kLeastUid = uid_t{1} << 31;

// Sends SIGKILL to all processes of a user id, and to what they fork meanwhile, and removes what they have left in
// memory of System V. Returns INVALID_ARGUMENT if the id is below kLeastUid, and PERMISSION_DENIED if this process may
// not do it.
absl::Status KillAll(uid_t uid);

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_CONFINEMENT_H_
