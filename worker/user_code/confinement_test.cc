// Tests that code of users reaches nothing that is not its own, by programs that try.
#include "worker/user_code/confinement.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "worker/user_code/testing/confined_testing.h"

namespace rekindle::user_code {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Confined : public ConfinedTest {};
INSTANTIATE_TEST_SUITE_P(Isolations, Confined, ::testing::Values(Isolation::kUid, Isolation::kUidAndLandlock),
                         [](const auto& each) { return each.param == Isolation::kUid ? "Uid" : "UidAndLandlock"; });

TEST_P(Confined, ItIsAUserOfItsOwnWithoutAnyPrivilege) {
  EXPECT_EQ(Run("import os; print(os.getresuid(), os.getresgid(), os.getgroups())"),
            absl::StrCat("(", kTestUid, ", ", kTestUid, ", ", kTestUid, ") (", kTestUid, ", ", kTestUid, ", ", kTestUid,
                         ") []\n"));
  const std::string status = Run("print(open('/proc/self/status').read())");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_THAT(status, HasSubstr(absl::StrCat(set, ":\t0000000000000000\n")));
  }
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1\n"));
  EXPECT_EQ(Raises("os.setuid(0)"), "PermissionError");
}

TEST_P(Confined, ItReadsItsDataAndWritesInItsFolderAlone) {
  EXPECT_EQ(Run(absl::StrCat("print(open('", root_, "/data/set').read(), end='')")), "samples");
  EXPECT_EQ(Run("import os; open('mine', 'w').write('x'); print(os.listdir('.'), oct(os.stat('mine').st_mode))"),
            "['mine'] 0o100600\n");
  EXPECT_EQ(Raises(absl::StrCat("open('", root_, "/data/new', 'w')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("open('", root_, "/data/set', 'a')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("open('", root_, "/secret/key')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("os.listdir('", other_.folder, "')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("os.listdir('", ScratchOf(other_.folder), "')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("os.listdir('", root_, "/code')")), "PermissionError") << "which jobs there are";
  EXPECT_EQ(Raises("open('/etc/shadow')"), "PermissionError");
}

TEST_P(Confined, LandlockKeepsItFromWhatAnyUserCanRead) {
  const bool has_landlock = GetParam() == Isolation::kUidAndLandlock;
  EXPECT_EQ(Raises(absl::StrCat("open('", root_, "/secret/open')")), has_landlock ? "PermissionError" : "nothing");
  EXPECT_EQ(Raises("os.unlink(os.open('/tmp/', os.O_TMPFILE | os.O_RDWR) and '/tmp/none')"),
            has_landlock ? "PermissionError" : "FileNotFoundError");
}

TEST_P(Confined, ABundleIsReadByItsJobAlone) {
  const std::string bundle = BundleOf(job_.folder);
  std::filesystem::create_directories(bundle + "/part");
  Write(bundle + "/part/train.py", "code", 0600);
  Write(root_ + "/secret/target", "of the node", 0600);
  std::filesystem::create_symlink(root_ + "/secret/target", bundle + "/link");
  ASSERT_TRUE(GiveToRead(job_, bundle).ok());
  const std::string read = absl::StrCat("print(open('", bundle, "/part/train.py').read(), end='')");
  EXPECT_EQ(Run(read), "code");
  EXPECT_THAT(Run(read, other_), HasSubstr("PermissionError"));
  EXPECT_EQ(Raises(absl::StrCat("open('", bundle, "/part/train.py', 'w')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("open('", bundle, "/new', 'w')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("open('", bundle, "/link')")), "PermissionError") << "links are not followed";
}

TEST_P(Confined, FaultsAreWrittenAndNoOtherFileBesideThem) {
  const std::string faults = FaultsFileOf(job_.folder, "n1/0/abcd");
  Write(faults, "", 0600);
  ASSERT_EQ(chown(faults.c_str(), job_.uid, job_.uid), 0);
  EXPECT_EQ(Raises(absl::StrCat("os.write(os.open('", faults, "', os.O_WRONLY | os.O_CREAT | os.O_APPEND), b'x')")),
            "nothing");
  EXPECT_EQ(Raises(absl::StrCat("open('", faults, ".more', 'w')")), "PermissionError");
}

TEST_P(Confined, ItSeesAndTouchesNoOtherProcess) {
  const std::string pid = absl::StrCat(getpid());
  EXPECT_EQ(Raises("os.kill(" + pid + ", signal.SIGKILL)"), "PermissionError");
  EXPECT_EQ(Raises("os.kill(" + pid + ", 0)"), "PermissionError");
  EXPECT_EQ(Raises("open('/proc/" + pid + "/environ').read()"), "PermissionError");
  EXPECT_EQ(Raises("open('/proc/" + pid + "/mem', 'rb')"), "PermissionError");
  EXPECT_EQ(Raises("os.listdir('/proc/" + pid + "/fd')"), "PermissionError");
  // PTRACE_ATTACH has the number 16, and a memory that another process has may be read by process_vm_readv as well.
  EXPECT_EQ(Run("import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
                "print(libc.ptrace(16, " +
                pid + ", 0, 0), ctypes.get_errno())"),
            "-1 1\n");
  EXPECT_EQ(Run("import os; print('REKINDLE_SECRET' in os.environ, os.environ['HOME'])"),
            absl::StrCat("False ", ScratchOf(job_.folder), "\n"));
}

TEST_P(Confined, TheMemoryOfAnotherJobIsNotItsOwn) {
  const auto confinement = Confine(other_, {});
  ASSERT_TRUE(confinement.ok()) << confinement.status();
  const common::Process process = StartSleeper(confinement->get());
  const pid_t pid = process.identity().pid;
  EXPECT_EQ(Raises(absl::StrCat("open('/proc/", pid, "/mem', 'rb')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("open('/proc/", pid, "/environ')")), "PermissionError");
  EXPECT_EQ(Raises(absl::StrCat("os.kill(", pid, ", signal.SIGKILL)")), "PermissionError");
  EXPECT_TRUE(KillAll(other_.uid).ok());
  EXPECT_EQ(AwaitExit(process)->code, -SIGKILL);
}

TEST_P(Confined, ItConnectsToNoServiceOfTheNode) {
  const std::string path = root_ + "/agent.sock";
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const common::UniqueFd service(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(service.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(listen(service.get(), 1), 0);
  EXPECT_EQ(Raises("socket.socket(socket.AF_UNIX).connect('" + path + "')"), "PermissionError");
}

TEST_P(Confined, ItForksNoMoreThanItsLimit) {
  const std::string forks =
      "import os, time\n"
      "made = 0\n"
      "try:\n"
      "  for made in range(10000):\n"
      "    if os.fork() == 0: time.sleep(60)\n"
      "  print('all')\n"
      "except BlockingIOError:\n"
      "  print('refused', made < 8192, flush=True)\n"
      "os.killpg(0, 9)\n";
  EXPECT_THAT(Run(forks, job_, 60), StartsWith("refused True"));
  EXPECT_EQ(Run("print('as before')", other_), "as before\n") << "another job has its own number";
}

TEST_P(Confined, MemoryFilesAndDescriptorsEnd) {
  CodeSetting small = job_;
  small.memory_bytes = 1;
  EXPECT_THAT(Run("b = bytearray(3 << 30)", small), HasSubstr("MemoryError")) << "3 GiB of at least 2 GiB";
  EXPECT_EQ(Run("print(len(bytearray(1 << 20)))", small), "1048576\n");
  EXPECT_EQ(Raises("signal.signal(signal.SIGXFSZ, signal.SIG_IGN); os.truncate(open('big', 'w').fileno(), 5 << 30)"),
            "OSError");
  EXPECT_EQ(Raises("[open('/dev/null') for _ in range(5000)]"), "OSError");
  EXPECT_EQ(Run("import resource as r; print(r.getrlimit(r.RLIMIT_CORE))"), "(1, 1)\n")
      << "1 forbids every kind of dump";
}

TEST_P(Confined, ItInheritsNoLimitThatLetsItKeepTheMachineToItself) {
  constexpr int kResources[] = {RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_MEMLOCK};
  rlimit before[std::size(kResources)];
  constexpr rlimit kEverything = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  for (size_t i = 0; i < std::size(kResources); ++i) {
    const int raised = prlimit(0, static_cast<__rlimit_resource>(kResources[i]), &kEverything, &before[i]);
    if (raised != 0 && errno == EPERM) GTEST_SKIP() << "a limit can be raised with CAP_SYS_RESOURCE alone";
    ASSERT_EQ(raised, 0);
  }
  EXPECT_EQ(Run("import resource as r\n"
                "for each in (r.RLIMIT_NICE, r.RLIMIT_RTPRIO, r.RLIMIT_MEMLOCK): print(r.getrlimit(each))"),
            "(0, 0)\n(0, 0)\n(8388608, 8388608)\n");
  EXPECT_EQ(Raises("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"), "PermissionError");
  for (size_t i = 0; i < std::size(kResources); ++i) {
    ASSERT_EQ(prlimit(0, static_cast<__rlimit_resource>(kResources[i]), &before[i], nullptr), 0);
  }
}

TEST_P(Confined, LocksOfMultiprocessingWork) {
  EXPECT_EQ(Run("import multiprocessing as m\nlock = m.Lock()\nwith lock: print('locked')"), "locked\n");
}

// Returns how many processes of a user run. Those that have ended, and that nobody has waited for yet, do not count.
int CountProcesses(uid_t uid) {
  int processes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    struct stat facts = {};
    const std::string name = entry.path().filename().string();
    if (name[0] < '0' || name[0] > '9' || stat(entry.path().c_str(), &facts) != 0 || facts.st_uid != uid) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const size_t end = line.rfind(')');
    processes += end != std::string::npos && end + 2 < line.size() && line[end + 2] != 'Z' ? 1 : 0;
  }
  return processes;
}

// Returns how many pieces of memory of System V a user has in this namespace.
int CountSegments(uid_t uid) {
  std::ifstream file("/proc/sysvipc/shm");
  std::string line;
  int count = 0;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::vector<std::string> all(std::istream_iterator<std::string>(fields), {});
    // The eighth field is the owner.
    count += all.size() > 7 && all[7] == std::to_string(uid);
  }
  return count;
}

constexpr char kMakeSegment[] = "import ctypes; print(ctypes.CDLL(None).shmget(0, 1 << 20, 0o1600) >= 0, end='')";

TEST_P(Confined, MemoryOfSystemVEndsWithIt) {
  EXPECT_EQ(Run(kMakeSegment), "True");
  EXPECT_TRUE(KillAll(job_.uid).ok());
  EXPECT_EQ(CountSegments(job_.uid), 0);
}

TEST_P(Confined, MemoryOfSystemVIsRemovedWhereItIsTheMachines) {
  const uid_t uid = job_.uid;
  const auto ran =
      common::RunToEnd({.argv = {kPython, "-c", kMakeSegment}, .confine = [&](common::SpawnOptions* spawn) {
                          spawn->confine_with = &uid;
                          spawn->confine = [](const void* with) -> const char* {
                            const uid_t id = *static_cast<const uid_t*>(with);
                            return syscall(SYS_setresuid, id, id, id) == 0 ? nullptr : "no other user";
                          };
                        }});
  ASSERT_TRUE(ran.ok()) << ran.status();
  ASSERT_EQ(ran->output, "True");
  ASSERT_EQ(CountSegments(uid), 1);
  EXPECT_TRUE(KillAll(uid + 1).ok());
  EXPECT_EQ(CountSegments(uid), 1) << "another user's";
  EXPECT_TRUE(KillAll(uid).ok());
  EXPECT_EQ(CountSegments(uid), 0);
}

TEST_P(Confined, WhoStopsAllOfItsUserKeepsNobodyWaiting) {
  const auto confinement = Confine(job_, {});
  ASSERT_TRUE(confinement.ok());
  for (int i = 0; i < 4; ++i) {
    common::SpawnOptions spawn;
    spawn.argv = {kPython, "-c",
                  "import os, signal\n"
                  "while True:\n"
                  "  try: os.kill(-1, signal.SIGSTOP)\n"
                  "  except ProcessLookupError: pass\n"};
    spawn.new_session = true;
    (*confinement)->AddTo(&spawn);
    auto child = common::PendingChild::Start(spawn);
    ASSERT_TRUE(child.ok()) << child.status();
    child->Release();
    const auto process = common::Process::Open(child->identity());
    ASSERT_TRUE(process.ok());
    while (CountProcesses(job_.uid) == 0) usleep(1000);
    for (int ask = 0; ask < 200; ++ask) EXPECT_TRUE(CheckReach(job_.uid, {kPython, kPython, kPython, kPython}).ok());
    EXPECT_TRUE(KillAll(job_.uid).ok());
    EXPECT_TRUE(AwaitExit(*process).ok());
  }
}

TEST_P(Confined, TheKernelKillsItFirst) {
  EXPECT_EQ(Run("print(open('/proc/self/oom_score_adj').read(), end='')"), "1000\n");
}

TEST(Confinement, IdsOfPeopleAndOfTheSystemAreRefused) {
  for (const uid_t uid : {uid_t{0}, uid_t{1000}, uid_t{100'000}, kLeastUid - 1, static_cast<uid_t>(-1)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Confinement::Prepare({.uid = uid}).status())) << uid;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(KillAll(0)));
  EXPECT_TRUE(absl::IsInvalidArgument(KillAll(kLeastUid - 1)));
}

TEST_P(Confined, WhoForksForEverIsKilled) {
  const auto confinement = Confine(job_, {});
  ASSERT_TRUE(confinement.ok()) << confinement.status();
  common::SpawnOptions spawn;
  spawn.argv = {kPython, "-c",
                "import os, time\n"
                "while True:\n"
                "  try: os.fork()\n"
                "  except BlockingIOError: time.sleep(0.01)\n"};
  spawn.new_session = true;
  (*confinement)->AddTo(&spawn);
  auto child = common::PendingChild::Start(spawn);
  ASSERT_TRUE(child.ok()) << child.status();
  child->Release();
  for (int i = 0; i < 30'000 && CountProcesses(job_.uid) < 50; ++i) usleep(1000);
  ASSERT_GE(CountProcesses(job_.uid), 50);
  common::SpawnOptions bystander;
  bystander.argv = {"/bin/sleep", "60"};
  auto other = common::PendingChild::Start(bystander);
  ASSERT_TRUE(other.ok()) << other.status();
  other->Release();
  EXPECT_TRUE(KillAll(job_.uid).ok());
  const auto process = common::Process::Open(child->identity());
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE(AwaitExit(*process).ok());
  for (int i = 0; i < 5000 && CountProcesses(job_.uid) > 0; ++i) usleep(1000);
  EXPECT_EQ(CountProcesses(job_.uid), 0);
  EXPECT_TRUE(other->identity().Alive()) << "other users' processes go on";
  EXPECT_TRUE(other->identity().SendSignal(SIGKILL).ok());
}

}  // namespace
}  // namespace rekindle::user_code
