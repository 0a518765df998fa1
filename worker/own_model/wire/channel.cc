#include "worker/own_model/wire/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/process/process.h"
#include "common/time/clock.h"

namespace rekindle::own_model {
namespace {

constexpr int kMilli = 1000;

// Waits until the socket is ready, and returns whether it is.
bool AwaitReady(int fd, short events, double until) {
  for (;;) {
    const double left = until - common::SteadySeconds();
    pollfd entry = {.fd = fd, .events = events};
    const int ready = poll(&entry, 1, std::max(0, static_cast<int>(std::ceil(left * kMilli))));
    if (ready > 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || left <= 0) return false;
  }
}

absl::Status ClosedOr(const char* call) {
  if (errno == EPIPE || errno == ECONNRESET) return absl::UnavailableError("the model process has closed its socket");
  return common::ErrnoError(call);
}

// Reads a sealed file in memory.
absl::StatusOr<std::vector<uint8_t>> ReadFile(int fd, uint64_t bytes) {
  struct stat facts = {};
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_WRITE;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || static_cast<uint64_t>(facts.st_size) != bytes ||
      bytes > kMaxJsonBytes || seals < 0 || (seals & kNeeded) != kNeeded) {
    return absl::InvalidArgumentError("the model process sent a file that is not sealed, or of another size");
  }
  std::vector<uint8_t> text(bytes);
  for (size_t at = 0; at < text.size();) {
    const ssize_t got = pread(fd, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return absl::InternalError("cannot read what the model process sent");
    at += static_cast<size_t>(got);
  }
  return text;
}

// Takes the descriptors that came with a message.
std::vector<common::UniqueFd> DescriptorsOf(msghdr& header) {
  std::vector<common::UniqueFd> descriptors;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(fd);
    }
  }
  return descriptors;
}

}  // namespace

absl::StatusOr<std::pair<Channel, common::UniqueFd>> Channel::Create() {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return common::ErrnoError("socketpair");
  common::UniqueFd ours(ends[0]), theirs(ends[1]);
  if (fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return common::ErrnoError("fcntl");
  return std::pair<Channel, common::UniqueFd>(Channel(std::move(ours)), std::move(theirs));
}

absl::Status Channel::Send(MessageType type, std::span<const uint8_t> body, int descriptor, double patience) {
  MessageHeader head{
      .magic = kMagic, .type = static_cast<uint16_t>(type), .body_bytes = static_cast<uint32_t>(body.size())};
  if (body.size() + kHeaderBytes > kMaxMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a message to the model process has ", body.size(), " bytes"));
  }
  std::array<iovec, 2> parts = {{{.iov_base = &head, .iov_len = kHeaderBytes},
                                 {.iov_base = const_cast<uint8_t*>(body.data()), .iov_len = body.size()}}};
  msghdr header = {.msg_iov = parts.data(), .msg_iovlen = parts.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  if (descriptor >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
  }
  const double until = common::SteadySeconds() + patience;
  for (;;) {
    if (sendmsg(fd_.get(), &header, MSG_NOSIGNAL) >= 0) return absl::OkStatus();
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return ClosedOr("sendmsg");
    if (!AwaitReady(fd_.get(), POLLOUT, until)) return absl::DeadlineExceededError("the model process reads nothing");
  }
}

absl::Status Channel::SendJson(MessageType type, const std::string& json) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(json.data());
  return Send(type, {bytes, json.size()});
}

absl::StatusOr<std::optional<Message>> Channel::Receive(double seconds) {
  const double until = common::SteadySeconds() + seconds;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  for (;;) {
    iovec part = {.iov_base = packet_.data(), .iov_len = packet_.size()};
    msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.data(), .msg_controllen = control.size()};
    const ssize_t got = recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      if (!AwaitReady(fd_.get(), POLLIN, until)) return std::optional<Message>();
      continue;
    }
    if (got < 0) return ClosedOr("recvmsg");
    const std::vector<common::UniqueFd> descriptors = DescriptorsOf(header);
    if (got == 0) return absl::UnavailableError("the model process has closed its socket");
    MessageHeader head;
    if (static_cast<size_t>(got) >= kHeaderBytes) std::memcpy(&head, packet_.data(), kHeaderBytes);
    const bool is_whole = (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && head.magic == kMagic &&
                          head.body_bytes == static_cast<size_t>(got) - kHeaderBytes;
    if (!is_whole) return absl::InvalidArgumentError("the model process sent what is no message of this release");
    Message message{.type = static_cast<MessageType>(head.type),
                    .body = {packet_.begin() + kHeaderBytes, packet_.begin() + got}};
    // Reading files again and again would cost this process time and memory, so only the description comes in one.
    if (head.flags != 0 && (head.flags != kInFile || message.type != MessageType::kReady)) {
      return absl::InvalidArgumentError("the model process sent a message with flags that do not belong to it");
    }
    if (descriptors.size() != (head.flags == kInFile ? 1 : 0)) {
      return absl::InvalidArgumentError("the model process announced a file and sent none, or sent one unannounced");
    }
    if (head.flags == 0) return std::optional<Message>(std::move(message));
    uint64_t size = 0;
    if (message.body.size() != sizeof(size)) {
      return absl::InvalidArgumentError("the model process announced a file without its size");
    }
    std::memcpy(&size, message.body.data(), sizeof(size));
    absl::StatusOr<std::vector<uint8_t>> text = ReadFile(descriptors.front().get(), size);
    if (!text.ok()) return text.status();
    message.body = *std::move(text);
    return std::optional<Message>(std::move(message));
  }
}

absl::StatusOr<common::UniqueFd> MakeMemoryFile(const std::string& name, uint64_t bytes) {
  common::UniqueFd file(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return common::ErrnoError("memfd_create");
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return common::ErrnoError("sizing memory");
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return common::ErrnoError("sealing memory");
  }
  return file;
}

}  // namespace rekindle::own_model
