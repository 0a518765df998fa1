// Chooses the user id under which the code of a job runs.
//
// Ids from 2^31 on are given to nobody: people, the system, containers (subuid(5)) and the services of systemd have
// smaller ones, because older programs take an id for a signed number of 32 bits. The usual range keeps away from both
// ends of what is left.
#ifndef REKINDLE_WORKER_USER_CODE_CODE_UIDS_H_
#define REKINDLE_WORKER_USER_CODE_CODE_UIDS_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::user_code {

struct UidRange {
  uid_t first = 4'200'000'000;
  uid_t last = 4'200'065'535;
  bool operator==(const UidRange&) const = default;
};

// Parses "FIRST-LAST". Returns INVALID_ARGUMENT if that is no range of ids that code of users may have.
absl::StatusOr<UidRange> ParseUidRange(const std::string& text);

// Where a machine says which ids are in use. Tests use others.
struct UidPlaces {
  std::string etc = "/etc";
  std::string proc = "/proc";
  // In `claims` the agents of a machine write down which ids they have.
  std::string claims = "/run/rekindle-uids";
};

// Returns OK if this process may use the ids of the range and nobody else has them: accounts, groups, or ranges that
// belong to users for their containers. Returns FAILED_PRECONDITION otherwise, with the name of what is in the way.
absl::Status CheckUidRange(const UidRange& range, const UidPlaces& places = {});

// Takes an id of the range for the folder `owner`, which has to exist. The first id that is tried depends on `name`. An
// id is free if no process has it and no folder that exists has taken it. The folder keeps the id until it is removed.
// Returns RESOURCE_EXHAUSTED if all are taken. It is safe beside other agents of the machine.
absl::StatusOr<uid_t> TakeUid(const UidRange& range, const std::string& name, const std::string& owner,
                              const UidPlaces& places = {});

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_CODE_UIDS_H_
