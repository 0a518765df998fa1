// Tests ranks as real processes that are killed and stopped by signals, over shared memory and TCP.
//
// The test and its child processes exchange lines of text over socket pairs. A child sends its port, receives all
// ports, reports that it runs, and at last reports whom it accuses.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/links/socket.h"

namespace rekindle::comm {
namespace {

constexpr char kSecret[] = "processes";

std::string ReadLine(int fd, double seconds) {
  const WaitLimit limit{common::SteadySeconds() + seconds, nullptr};
  std::string line;
  char c = 0;
  while (line.size() < 4096 && ReadFull(fd, &c, 1, limit).ok() && c != '\n') line += c;
  return line;
}

void WriteLine(int fd, const std::string& line) {
  const std::string text = line + "\n";
  (void)WriteFull(fd, text.data(), text.size(), {common::SteadySeconds() + 10, nullptr});
}

// Runs one rank as a child process. It all-reduces until an error ends it, then reports "ACCUSED KIND
// SECONDS-SINCE-THE-LAST-OPERATION".
void RunRank(int rank, int world, bool shared_memory, double deadline, int fd) {
  auto listener = *Listener::Create("127.0.0.1:0", kSecret);
  WriteLine(fd, absl::StrCat(listener->port()));
  std::istringstream ports(ReadLine(fd, 30));
  HostOptions options{.generation = 1, .rank = rank, .allow_shared_memory = shared_memory};
  for (int port; ports >> port;) options.peers.push_back({absl::StrCat("127.0.0.1:", port), "host"});
  options.deadlines = {.connect_seconds = 30, .progress_seconds = deadline};
  auto comm = ConnectHost(*listener, options, nullptr, nullptr);
  if (!comm.ok() || (*comm)->world_size() != world) _exit(3);
  std::vector<float> data(1 << 18, 1.0f);
  double last = common::SteadySeconds();
  for (int i = 0;; ++i) {
    if (!(*comm)->AllReduce(data.data(), data.data(), data.size(), DataType::kFloat32, ReduceOp::kMax).Wait().ok()) {
      break;
    }
    last = common::SteadySeconds();
    if (i == 3) WriteLine(fd, "running");
  }
  const double seconds = common::SteadySeconds() - last;
  const auto accusations = (*comm)->accusations();
  const int accused = accusations.size() == 1 ? accusations[0].rank : -1;
  const int kind = accusations.size() == 1 ? static_cast<int>(accusations[0].kind) : -1;
  WriteLine(fd, absl::StrCat(accused, " ", kind, " ", seconds));
  // The child stays until the parent closes the socket.
  ReadLine(fd, 30);
  _exit(0);
}

class Processes : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  void Start(double deadline) {
    for (int rank = 0; rank < world(); ++rank) {
      int fds[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
      const pid_t child = fork();
      if (child == 0) {
        close(fds[0]);
        lines.clear();
        RunRank(rank, world(), std::get<1>(GetParam()), deadline, fds[1]);
      }
      close(fds[1]);
      children.push_back(child);
      lines.emplace_back(fds[0]);
    }
    std::string ports;
    for (const UniqueFd& line : lines) absl::StrAppend(&ports, ReadLine(line.get(), 30), " ");
    for (const UniqueFd& line : lines) WriteLine(line.get(), ports);
    for (const UniqueFd& line : lines) ASSERT_EQ(ReadLine(line.get(), 60), "running");
  }
  // Expects that all ranks but `victim` accuse the victim, for the reason `kind`.
  void ExpectReported(int victim, Accusation::Kind kind, double within) {
    for (int rank = 0; rank < world(); ++rank) {
      if (rank == victim) continue;
      std::istringstream report(ReadLine(lines[rank].get(), 60));
      int accused = -2, reported_kind = -2;
      double seconds = 0;
      report >> accused >> reported_kind >> seconds;
      EXPECT_EQ(accused, victim) << "by rank " << rank;
      EXPECT_EQ(reported_kind, static_cast<int>(kind)) << "by rank " << rank;
      EXPECT_LT(seconds, within) << "by rank " << rank;
    }
  }
  void TearDown() override {
    lines.clear();
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  int world() const { return std::get<0>(GetParam()); }

  std::vector<pid_t> children;
  std::vector<UniqueFd> lines;
};

std::set<std::string> SharedMemoryFiles() {
  std::set<std::string> names;
  DIR* folder = opendir("/dev/shm");
  while (dirent* entry = folder ? readdir(folder) : nullptr) {
    if (std::string(entry->d_name).find("comm") != std::string::npos) names.insert(entry->d_name);
  }
  if (folder) closedir(folder);
  return names;
}

TEST_P(Processes, AKilledOneIsAccusedByAllAtOnceAndLeavesNothing) {
  const auto before = SharedMemoryFiles();
  Start(60);
  kill(children[1], SIGKILL);
  // A killed rank must be accused within 5 s, long before the deadline of 60 s for progress. On an idle machine the
  // accusation takes milliseconds.
  ExpectReported(1, Accusation::Kind::kClosed, 5);
  EXPECT_EQ(SharedMemoryFiles(), before);
}

TEST_P(Processes, AStoppedOneIsAccusedByAllAtTheDeadlineAndWakesHarmless) {
  constexpr double kDeadline = 1.0;
  Start(kDeadline);
  kill(children[1], SIGSTOP);
  ExpectReported(1, Accusation::Kind::kTimeout, 5 * kDeadline);
  kill(children[1], SIGCONT);
  // Rank 1, which was stopped and now runs again, must accuse nobody.
  EXPECT_EQ(ReadLine(lines[1].get(), 30).substr(0, 5), "-1 -1");
}

INSTANTIATE_TEST_SUITE_P(Worlds, Processes, testing::Combine(testing::Values(3, 4), testing::Bool()),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "Shared" : "Tcp");
                         });

}  // namespace
}  // namespace rekindle::comm
