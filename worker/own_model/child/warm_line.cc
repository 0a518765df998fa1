#include "worker/own_model/child/warm_line.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "common/time/clock.h"

namespace rekindle::own_model {
namespace {

constexpr size_t kMostBytes = 4096;
constexpr size_t kLongestReason = 500;
constexpr size_t kMostEnds = 1024;
constexpr double kLookSeconds = 0.1;
// A fork takes milliseconds, also from a process with gigabytes of imports.
constexpr double kForkSeconds = 10;
constexpr double kEndSeconds = 1;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr int kMilli = 1000;

std::string TextOf(const nlohmann::json& packet, const char* name) {
  const auto found = packet.find(name);
  return found != packet.end() && found->is_string() ? common::Printable(found->get<std::string>(), kLongestReason)
                                                     : "";
}

std::optional<int64_t> NumberOf(const nlohmann::json& packet, const char* name) {
  const auto found = packet.find(name);
  if (found == packet.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

}  // namespace

absl::Status WarmLine::Lose(const std::string& why) {
  connection_.Reset();
  has_imports_ = false;
  return absl::UnavailableError(why);
}

absl::Status WarmLine::Connect() {
  if (connection_.valid()) return absl::OkStatus();
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (path_.size() >= sizeof address.sun_path) return absl::InvalidArgumentError(absl::StrCat(path_, " is too long"));
  std::memcpy(address.sun_path, path_.data(), path_.size());
  connection_ = common::UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection_.valid()) return common::ErrnoError("socket");
  has_imports_ = false;
  ends_.clear();
  if (connect(connection_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return absl::OkStatus();
  }
  return Lose(absl::StrCat("the warm process does not run: ", std::strerror(errno)));
}

absl::StatusOr<std::string> WarmLine::Receive(double until, const std::function<bool()>& go_on) {
  std::array<char, kMostBytes> bytes;
  bool told_of_ends = false;
  while (!go_on || go_on()) {
    // It is asked for each packet, because notices of ends may come without end.
    const double left = until - common::SteadySeconds();
    if (left <= 0) {
      return Lose(absl::StrCat("the warm process ", told_of_ends ? "tells of ends and " : "", "does not answer"));
    }
    const ssize_t got = recv(connection_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      pollfd entry = {.fd = connection_.get(), .events = POLLIN};
      poll(&entry, 1, static_cast<int>(std::min(left, kLookSeconds) * kMilli) + 1);
      continue;
    }
    if (got <= 0) return Lose("the warm process has ended");
    std::string packet(bytes.data(), static_cast<size_t>(got));
    const auto parsed = nlohmann::json::parse(packet, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) return Lose("the warm process sent what is no packet of this release");
    const std::optional<int64_t> ended = NumberOf(parsed, "ended"), code = NumberOf(parsed, "code");
    if (!ended) return packet;
    told_of_ends = true;
    constexpr int64_t kMost = std::numeric_limits<pid_t>::max();
    if (ends_.size() < kMostEnds && *ended > 0 && *ended <= kMost && code && *code >= -NSIG && *code < 256) {
      ends_[static_cast<pid_t>(*ended)] = {.code = static_cast<int>(*code)};
    }
  }
  return absl::CancelledError("the start of the model process was cancelled");
}

absl::Status WarmLine::AwaitImports(double until, const std::function<bool()>& go_on) {
  if (has_imports_) return absl::OkStatus();
  const absl::StatusOr<std::string> packet = Receive(until, go_on);
  if (!packet.ok()) return packet.status();
  const auto hello = nlohmann::json::parse(*packet, nullptr, /*allow_exceptions=*/false);
  const auto ready = hello.find("ready");
  if (ready == hello.end() || !ready->is_boolean()) return Lose("the warm process did not say whether it is ready");
  if (ready->get<bool>()) {
    has_imports_ = true;
    return absl::OkStatus();
  }
  const std::string module = TextOf(hello, "import");
  return Lose(absl::StrCat(module.empty() ? "" : absl::StrCat("the import of ", module, " is in the way: "),
                           TextOf(hello, "reason")));
}

absl::Status WarmLine::Send(const std::string& packet, const int* descriptors, size_t count) {
  iovec part = {.iov_base = const_cast<char*>(packet.data()), .iov_len = packet.size()};
  msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control = {};
  if (count > 0) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(c), descriptors, count * sizeof(int));
  }
  while (sendmsg(connection_.get(), &header, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return Lose(absl::StrCat("the warm process takes no request: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::StatusOr<common::Process> WarmLine::Verified(int64_t pid) {
  const auto fits = [&](int64_t number) { return number > 1 && number <= std::numeric_limits<pid_t>::max(); };
  if (!fits(pid) || pid == getpid() || pid == getppid()) return Lose("the warm process names another process");
  const absl::StatusOr<common::ProcessIdentity> identity = common::Identify(static_cast<pid_t>(pid));
  if (!identity.ok()) return Lose("the model process ended at its start");
  absl::StatusOr<common::Process> process = common::Process::Open(*identity);
  if (!process.ok()) return Lose("the model process ended at its start");
  // The trainer will kill this process. It must not be led to kill another one that it has the right to kill.
  struct stat facts = {};
  const bool is_there = stat(absl::StrCat("/proc/", pid).c_str(), &facts) == 0;
  if (uid_ && (!is_there || facts.st_uid != *uid_)) return Lose("the warm process names another user's process");
  return process;
}

absl::StatusOr<common::Process> WarmLine::Fork(int model, int log, const std::string& faults, double limit_seconds,
                                               const std::function<bool()>& go_on) {
  if (absl::Status connected = Connect(); !connected.ok()) return connected;
  const double until = common::SteadySeconds() + limit_seconds;
  if (absl::Status ready = AwaitImports(until, go_on); !ready.ok()) return ready;
  const common::UniqueFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self.valid()) return common::ErrnoError("pidfd_open");
  const int descriptors[] = {model, log, self.get()};
  const std::string request = nlohmann::json{{"verb", "fork"}, {"faults", faults}}.dump();
  if (absl::Status sent = Send(request, descriptors, std::size(descriptors)); !sent.ok()) return sent;
  const absl::StatusOr<std::string> packet = Receive(common::SteadySeconds() + kForkSeconds, go_on);
  if (!packet.ok()) {
    // An answer that comes later would be taken for that to the next request.
    if (absl::IsCancelled(packet.status())) Lose("").IgnoreError();
    return packet.status();
  }
  const auto answer = nlohmann::json::parse(*packet, nullptr, /*allow_exceptions=*/false);
  if (const std::optional<int64_t> pid = NumberOf(answer, "pid")) {
    ends_.erase(static_cast<pid_t>(*pid));
    return Verified(*pid);
  }
  if (const std::string refused = TextOf(answer, "refused"); !refused.empty()) return absl::UnavailableError(refused);
  return Lose(absl::StrCat("the warm process has closed the line: ", TextOf(answer, "closed")));
}

void WarmLine::Kill(const common::Process& process) {
  (void)process.Signal(SIGKILL);
  if (!connection_.valid()) return;
  // The warm process knows the group that the process leads, and what that has left behind.
  Send(nlohmann::json{{"verb", "kill"}, {"pid", process.identity().pid}}.dump(), nullptr, 0).IgnoreError();
}

std::optional<common::ExitStatus> WarmLine::EndOf(const common::Process& process) {
  const pid_t pid = process.identity().pid;
  const double until = common::SteadySeconds() + kEndSeconds;
  while (!ends_.contains(pid) && connection_.valid()) {
    // Receive() returns nothing but errors here, and keeps the notices of ends. It has no time limit of its own,
    // because a process without an end yet is no reason to lose the connection.
    const absl::StatusOr<std::string> other =
        Receive(kNoLimit, [&] { return !ends_.contains(pid) && common::SteadySeconds() < until; });
    if (!other.ok()) break;
  }
  const auto found = ends_.find(pid);
  if (found == ends_.end()) return std::nullopt;
  return found->second;
}

}  // namespace rekindle::own_model
