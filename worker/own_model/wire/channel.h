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

  // Sends a message. `descriptor` goes with it, unless it is -1. Waits at most a few seconds for room, because a
  // process that reads nothing is of no use: returns DEADLINE_EXCEEDED then.
  absl::Status Send(MessageType type, std::span<const uint8_t> body, int descriptor = -1);
  // Sends JSON of at most kMaxJsonBytes.
  absl::Status SendJson(MessageType type, const std::string& json);
  // Waits at most `seconds` for the next message, and returns nothing if none came.
  absl::StatusOr<std::optional<Message>> Receive(double seconds);

  int fd() const { return fd_.get(); }

 private:
  explicit Channel(common::UniqueFd fd) : fd_(std::move(fd)) {}

  common::UniqueFd fd_;
};

// Makes a file in memory of `bytes` bytes that cannot change its size. Returns RESOURCE_EXHAUSTED if there is no room.
absl::StatusOr<common::UniqueFd> MakeMemoryFile(const std::string& name, uint64_t bytes);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_WIRE_CHANNEL_H_
