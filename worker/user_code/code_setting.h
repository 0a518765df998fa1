// Says with what code of users runs on a node: where its files are, what it can read, and how it is confined.
//
// The folder of code of users is beside the node's own folder, which stays closed to it. For each job it has a folder,
// which agent and trainers make nothing in but this:
//
//   bundle/    what the user has sent; the job can read it
//   scratch/   the job's own: HOME and temporary files; it is removed with the job
//   faults/    one file for each trainer, which the job can write to
//
// The job's folder belongs to the agent's user and the job's group, and no other job can enter it.
#ifndef REKINDLE_WORKER_USER_CODE_CODE_SETTING_H_
#define REKINDLE_WORKER_USER_CODE_CODE_SETTING_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/user_code/code_uids.h"
#include "worker/user_code/confinement.h"
#include "worker/user_code/environment.h"
#include "worker/user_code/scrubber.h"

namespace rekindle::user_code {

// How code of users is kept from what is not its own. With `kNone` it runs as the agent's own user. The names are
// "none", "uid" and "uid+landlock".
enum class Isolation { kNone, kUid, kUidAndLandlock };
std::string NameOf(Isolation isolation);
std::optional<Isolation> IsolationOf(const std::string& name);

// What an agent tells its trainers of a job's code.
struct CodeSetting {
  Isolation isolation = Isolation::kNone;
  // `uid` is the job's user id and group. Without isolation it means nothing.
  uid_t uid = 0;
  // `folder` is the job's folder in that of code of users.
  std::string folder;
  std::string interpreter;
  // `task_folder` is where the task's module lies.
  std::string task_folder;
  std::vector<std::string> data_roots;
  // A process may have so much memory of its own, but never less than kLeastMemory. 0 stands for no limit.
  double memory_bytes = 0;
};

// Folders of ProbeIsolation() have names that begin with this.
inline constexpr char kProbe[] = "probe-";

inline constexpr double kLeastMemory = 2.0 * (1 << 30);

std::string ScratchOf(const std::string& folder);
std::string BundleOf(const std::string& folder);
std::string FaultsOf(const std::string& folder);
// Returns the file for faults of the processes of `trainer`, whose name has the form "node/slot/incarnation".
std::string FaultsFileOf(const std::string& folder, const std::string& trainer);

// Makes the folder of code of users at `root`.
absl::Status MakeCodeRoot(const std::string& root);
// Makes the job's folder with what is in it, or makes it right again.
absl::Status MakeCodeFolder(const CodeSetting& setting);
// Lets the job, and nobody else but the agent's user, read what is in `path`: for a bundle that was unpacked. It
// follows no links.
absl::Status GiveToRead(const CodeSetting& setting, const std::string& path);
// Copies the bundle that was unpacked in the folder `from` to BundleOf() the job's folder, and lets the job read it.
// There is either no copy or a whole one, whatever happens meanwhile. It may take seconds.
absl::Status CopyBundle(const CodeSetting& setting, const std::string& from);
// Removes the job's folder. REQUIRES: no process of the job runs.
void RemoveCodeFolder(const std::string& folder);

// Returns the folders that an interpreter needs, as the paths of its program say. A virtual environment needs those of
// the interpreter that has made it as well.
std::vector<std::string> InterpreterFolders(const std::string& interpreter);
// Returns what a confined process of the job can reach.
FileRules RulesOf(const CodeSetting& setting, const std::vector<std::string>& own_environment);

// Returns how the job's processes are confined, or null if they are not. Returns FAILED_PRECONDITION, with the path and
// the fix, if the job's user cannot reach the interpreter or the task.
absl::StatusOr<std::shared_ptr<const Confinement>> Confine(const CodeSetting& setting,
                                                           const std::vector<std::string>& own_environment);
// Returns the whole environment of the job's processes. `own` is the environment of this process.
std::vector<std::string> EnvironmentOf(const CodeSetting& setting, const std::vector<std::string>& own,
                                       const NamedValues& pinned, const NamedValues& from_node);

// Returns OK if the user can enter the folder and read what is at each path. Returns FAILED_PRECONDITION with the first
// one at which that is not so, and PERMISSION_DENIED if this process cannot find out.
absl::Status CheckReach(uid_t uid, const std::vector<std::string>& paths);

// Finds the strongest isolation that works here, and is not stronger than `at_most`. It runs the interpreter, if there
// is one, and leaves nothing behind. `why` is set to what is in the way of a stronger one. It takes an id of the range
// as a job does, so that no process of a job can be in its way on purpose.
Isolation ProbeIsolation(const std::string& root, const UidRange& uids, const std::string& interpreter,
                         std::string* why, Isolation at_most = Isolation::kUidAndLandlock,
                         const UidPlaces& places = {});

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_CODE_SETTING_H_
