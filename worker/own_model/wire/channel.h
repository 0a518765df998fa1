// Sends and receives messages over a socket that keeps their boundaries, with descriptors beside them.
#ifndef REKINDLE_WORKER_OWN_MODEL_WIRE_CHANNEL_H_
#define REKINDLE_WORKER_OWN_MODEL_WIRE_CHANNEL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "worker/own_model/wire/message.h"

namespace rekindle::own_model {

struct Message {
  MessageType type = MessageType::kNote;
  std::vector<uint8_t> body;

  std::string text() const { return {body.begin(), body.end()}; }
};

// One end of the socket. It is movable and thread-compatible. Errors are UNAVAILABLE if the other end is closed,
// INVALID_ARGUMENT if it sent what is no message, and otherwise INTERNAL.
class Channel {
 public:
  // Makes a channel, and the descriptor of its other end.
  static absl::StatusOr<std::pair<Channel, common::UniqueFd>> Create();

  // A process that reads nothing for `kPatience` seconds is of no use. Other ranks hear nothing of this wait, so it has
  // to be shorter than their deadlines.
  static constexpr double kPatience = 1;

  // Sends a message. `descriptor` goes with it, unless it is -1. Returns DEADLINE_EXCEEDED if there was no room for it
  // for `patience` seconds.
  absl::Status Send(MessageType type, std::span<const uint8_t> body, int descriptor = -1, double patience = kPatience);
  // Sends JSON of at most kMaxJsonBytes.
  absl::Status SendJson(MessageType type, const std::string& json);
  // Waits at most `seconds` for the next message, and returns nothing if none came.
  absl::StatusOr<std::optional<Message>> Receive(double seconds);

  int fd() const { return fd_.get(); }

 private:
  explicit Channel(common::UniqueFd fd) : fd_(std::move(fd)), packet_(kMaxMessageBytes) {}

  common::UniqueFd fd_;
  // `packet_` is where Receive() puts what comes.
  std::vector<uint8_t> packet_;
};

// Makes a file in memory of `bytes` bytes that cannot change its size. It has no pages yet.
absl::StatusOr<common::UniqueFd> MakeMemoryFile(const std::string& name, uint64_t bytes);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_WIRE_CHANNEL_H_
