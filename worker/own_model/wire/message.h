// Defines the messages between a trainer and the process that runs the user's Python, the model process. They are sent
// over a socket that keeps their boundaries (SOCK_SEQPACKET). python/rekindle/wire.py is the other side.
//
// A message of the model process is as untrusted as the user's code: every number in it is checked against the layout
// and the state of the conversation before it is used.
#ifndef REKINDLE_WORKER_OWN_MODEL_WIRE_MESSAGE_H_
#define REKINDLE_WORKER_OWN_MODEL_WIRE_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/agreed/agreed_limits.h"
#include "worker/contract/model_interface.h"

namespace rekindle::own_model {

inline constexpr int kProtocol = 1;
// A message has at most `kMaxMessageBytes` bytes. Longer JSON is sent in a file in memory of at most `kMaxJsonBytes`.
inline constexpr size_t kMaxMessageBytes = 64 << 10;
inline constexpr size_t kMaxJsonBytes = 64 << 20;
// `kMaxSamples` samples fit into a message.
inline constexpr size_t kMaxSamples = common::kMostOwnSamples;
// A micro-batch counts at most `kMostCount` items, so that the sum over a step always fits into 64 bits.
inline constexpr int64_t kMostCount = int64_t{1} << 40;

enum class MessageType : uint16_t {
  // The trainer sends these.
  kConfigure = 1,
  kBind = 2,
  kSlots = 3,
  kInitialize = 4,
  kExpect = 5,
  kCompute = 6,
  kEvaluate = 7,
  kPing = 8,
  kStop = 9,
  kHash = 10,
  // The model process sends these.
  kReady = 101,
  kInitialized = 102,
  kGradients = 103,
  kDone = 104,
  kEvaluated = 105,
  kPong = 106,
  kFailed = 107,
  kNote = 108,
  kHashed = 109
};

struct MessageHeader {
  uint32_t magic = 0;
  uint16_t type = 0;
  uint16_t flags = 0;
  uint32_t body_bytes = 0;
};
// The magic number spells "RPK1".
inline constexpr uint32_t kMagic = 0x314b5052;
// With `kInFile` the body is the size of a sealed file in memory, which holds the JSON. Only a kReady message of the
// model process may come so.
inline constexpr uint16_t kInFile = 1;
inline constexpr size_t kHeaderBytes = 12;

// Names the samples of a micro-batch.
struct Samples {
  int32_t index = 0;
  // `first` is the place of the first sample in the run. From it follows in which pass over the data each one is read.
  int64_t first = 0;
  std::vector<int64_t> numbers;
  // `checked` is the sample of the step that is hashed beside.
  train::CheckedSample checked = {};
};

// Asks for the gradients of a micro-batch, multiplied by `loss_scale`, in a slot of the shared memory.
struct ComputeRequest {
  uint64_t request = 0;
  int64_t step = 0;
  int32_t slot = 0;
  float loss_scale = 1;
  Samples samples;
};

struct Gradients {
  uint64_t request = 0;
  // `parameters` has parameters whose gradients are complete.
  std::vector<uint32_t> parameters;
};

struct Done {
  uint64_t request = 0;
  double loss_sum = 0;
  int64_t count = 0;
  // `whole_buffers` is a hash of the new values of all buffers of whole numbers, and 0 if there are none.
  uint64_t whole_buffers = 0;
  // `checked_sample` is a hash of Samples::checked, and 0 if there is none.
  uint64_t checked_sample = 0;
  double seconds = 0;
  double data_seconds = 0;
};

struct Evaluated {
  uint64_t request = 0;
  double loss_sum = 0;
  int64_t count = 0;
};

struct Hashed {
  uint64_t request = 0;
  uint64_t hash = 0;
  // `not_repeated` is a sample that is another one when it is read again, or -1.
  int64_t not_repeated = -1;
};

struct Pong {
  uint64_t token = 0;
  double cpu_seconds = 0;
  enum class State : uint64_t { kIdle, kForward, kBackward, kAwaitsData, kLoads };
  State state = State::kIdle;
};

// Says in a sentence what failed.
struct Failed {
  enum class Kind { kException, kMemory, kData, kTask, kLoss, kWrite, kShape };
  Kind kind = Kind::kException;
  std::string message;
  // `traceback` has the lines of the user's code, or nothing.
  std::string traceback;
};

// The Encode functions return the body of a message.
std::vector<uint8_t> EncodeBind(uint64_t offset, uint64_t bytes);
std::vector<uint8_t> EncodeSlots(uint32_t slots, uint64_t slot_bytes);
std::vector<uint8_t> EncodeInitialize(uint32_t slot);
std::vector<uint8_t> EncodeExpect(int64_t step, std::span<const Samples> micro_batches);
std::vector<uint8_t> EncodeCompute(const ComputeRequest& request);
std::vector<uint8_t> EncodeEvaluate(uint64_t request, const Samples& samples);
std::vector<uint8_t> EncodeHash(uint64_t request, std::span<const int64_t> samples);
std::vector<uint8_t> EncodePing(uint64_t token);

// The Decode functions return INVALID_ARGUMENT if the body is malformed. `parameters` is the number of parameters of
// the layout, which bounds the parameters that a message may name.
absl::StatusOr<Gradients> DecodeGradients(std::span<const uint8_t> body, size_t parameters);
absl::StatusOr<Done> DecodeDone(std::span<const uint8_t> body);
absl::StatusOr<Evaluated> DecodeEvaluated(std::span<const uint8_t> body);
absl::StatusOr<Hashed> DecodeHashed(std::span<const uint8_t> body);
absl::StatusOr<Pong> DecodePong(std::span<const uint8_t> body);
absl::StatusOr<Failed> DecodeFailed(const std::string& json);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_WIRE_MESSAGE_H_
