// Fuzzes what a trainer takes from the process of the user's own model (worker/own_model), which may send any bytes.
//
// An input is a list of packets. Each has the length of its body (2 bytes), a type and flags (2 bytes each), and the
// body. The header of a message is put before the body, except with type 0, where the body is sent as it is.
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/fuzz/framed.h"
#include "worker/numeric/little_endian.h"
#include "worker/own_model/model/delivery.h"
#include "worker/own_model/wire/channel.h"
#include "worker/own_model/wire/description.h"
#include "worker/own_model/wire/message.h"

namespace rekindle::own_model {
namespace {

constexpr int kMostPackets = 64;
// The slots have room for so many elements. A longer layout is only described.
constexpr int64_t kElements = 4096;
constexpr int kSlot = 1;
constexpr int kIndex = 1;

// Checks that the layout is packed without gaps, parameters before buffers, and that each name is its own.
void CheckLayout(const Description& description) {
  const train::ParameterLayout& layout = description.layout;
  REKINDLE_FUZZ_CHECK(!layout.parameters.empty() && !layout.parameters.front().is_buffer());
  REKINDLE_FUZZ_CHECK(description.dtypes.size() == layout.parameters.size());
  std::set<std::string> names;
  int64_t offset = 0;
  bool has_buffers = false;
  for (const train::ParameterInfo& info : layout.parameters) {
    int64_t size = 1;
    for (const int64_t extent : info.shape) size *= extent;
    REKINDLE_FUZZ_CHECK(info.offset == offset && info.size == size && size > 0);
    REKINDLE_FUZZ_CHECK(!info.name.empty() && names.insert(info.name).second);
    REKINDLE_FUZZ_CHECK(info.is_buffer() || !has_buffers);
    has_buffers = info.is_buffer();
    offset += size;
  }
  REKINDLE_FUZZ_CHECK(offset == layout.total);
  for (const FrozenParameter& frozen : description.frozen) {
    REKINDLE_FUZZ_CHECK(frozen.bytes >= 0 && names.insert(frozen.name).second);
  }
  REKINDLE_FUZZ_CHECK(description.samples > 0 && description.validation_samples >= 0);
}

void CheckShown(const std::string& text, size_t limit) {
  const auto is_shown = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  REKINDLE_FUZZ_CHECK(text.size() <= limit && std::all_of(text.begin(), text.end(), is_shown));
}

void CheckLoss(double sum, int64_t count) {
  REKINDLE_FUZZ_CHECK(count >= 0 && count <= kMostCount && (count > 0 || sum == 0));
}

void HearFailure(const std::string& text) {
  const absl::StatusOr<Failed> failed = DecodeFailed(text);
  if (!failed.ok()) return;
  REKINDLE_FUZZ_CHECK(!failed->message.empty());
  CheckShown(failed->message, 4'000);
  CheckShown(failed->traceback, 32 << 10);
}

// Plays the trainer in one micro-batch of the module that was described last.
class Conversation {
 public:
  explicit Conversation(std::shared_ptr<const GradientSlots> slots) : slots_(std::move(slots)) {}

  void Hear(const Message& message) {
    switch (message.type) {
      case MessageType::kReady:
        return Describe(message.text());
      case MessageType::kGradients:
        return Take(message.body);
      case MessageType::kDone:
        if (const auto done = DecodeDone(message.body); done.ok()) {
          CheckLoss(done->loss_sum, done->count);
          REKINDLE_FUZZ_CHECK(done->seconds >= 0 && done->data_seconds >= 0);
          if (delivery_) End();
        }
        return;
      case MessageType::kEvaluated:
        if (const auto evaluated = DecodeEvaluated(message.body); evaluated.ok()) {
          CheckLoss(evaluated->loss_sum, evaluated->count);
        }
        return;
      case MessageType::kHashed:
        if (const auto hashed = DecodeHashed(message.body); hashed.ok()) {
          REKINDLE_FUZZ_CHECK(hashed->not_repeated >= -1);
        }
        return;
      case MessageType::kPong:
        if (const auto pong = DecodePong(message.body); pong.ok()) {
          REKINDLE_FUZZ_CHECK(pong->state <= Pong::State::kLoads);
        }
        return;
      case MessageType::kFailed:
        return HearFailure(message.text());
      default:
        return;
    }
  }

 private:
  void Describe(const std::string& json) {
    absl::StatusOr<Description> description = ParseDescription(json);
    REKINDLE_FUZZ_CHECK(description.ok() || absl::IsInvalidArgument(description.status()));
    if (!description.ok()) return;
    CheckLayout(*description);
    REKINDLE_FUZZ_CHECK(DifferenceOf(*description, *description).empty());
    REKINDLE_FUZZ_CHECK(TextOf(description->groups).empty() == description->groups.empty());
    if (description->layout.total > kElements) return;
    delivery_.reset();
    layout_ = std::move(description->layout);
    deliveries_.assign(layout_.parameters.size(), 0);
    delivery_.emplace(layout_, sink_, kIndex);
  }
  void Take(std::span<const uint8_t> body) {
    const absl::StatusOr<Gradients> gradients = DecodeGradients(body, layout_.parameters.size());
    if (!gradients.ok() || !delivery_) return;
    // A process that breaks the rules is replaced.
    if (!delivery_->Take(*gradients, slots_, kSlot).ok()) delivery_->Restart();
  }
  void End() {
    const bool is_whole = delivery_->End().ok();
    for (size_t p = 0; is_whole && p < deliveries_.size(); ++p) {
      const train::ParameterInfo& info = layout_.parameters[p];
      const bool must_come = info.is_buffer() && info.rule == train::BufferRule::kMean;
      REKINDLE_FUZZ_CHECK(!must_come || deliveries_[p] == 1);
    }
    // All processes share their slots here, so they can only differ in which gradients they name.
    delivery_->Restart();
  }

  const std::shared_ptr<const GradientSlots> slots_;
  train::ParameterLayout layout_;
  std::vector<int> deliveries_;
  const train::GradientSink sink_ = [this](int parameter, std::span<const float> gradient) {
    const train::ParameterInfo& info = layout_.parameters[static_cast<size_t>(parameter)];
    REKINDLE_FUZZ_CHECK(++deliveries_[static_cast<size_t>(parameter)] == 1);
    REKINDLE_FUZZ_CHECK(static_cast<int64_t>(gradient.size()) == info.size);
    // The rule of the first micro-batch does not take anything of this one.
    REKINDLE_FUZZ_CHECK(!info.is_buffer() || info.rule == train::BufferRule::kMean);
    const std::span<const float> whole = slots_->Part(kSlot, 0, layout_.total);
    REKINDLE_FUZZ_CHECK(gradient.data() == whole.data() + info.offset && info.offset + info.size <= kElements);
  };
  std::optional<Delivery> delivery_;
};

// Takes the next packet of an input, as it is sent, or nothing if none is left.
std::optional<std::string> NextPacket(std::span<const uint8_t>* input) {
  numeric::RecordReader in(*input);
  uint16_t bytes = 0;
  MessageHeader head{.magic = kMagic};
  if (!in.Get(&bytes) || !in.Get(&head.type) || !in.Get(&head.flags)) return std::nullopt;
  const size_t begin = input->size() - in.left();
  head.body_bytes = static_cast<uint32_t>(std::min<size_t>(bytes, in.left()));
  const auto* const body = reinterpret_cast<const char*>(input->data()) + begin;
  std::string packet(head.type == 0 ? 0 : kHeaderBytes, '\0');
  if (!packet.empty()) std::memcpy(packet.data(), &head, kHeaderBytes);
  packet.append(body, head.body_bytes);
  *input = input->subspan(begin + head.body_bytes);
  return packet;
}

// The ends of a socket, of which the trainer has the first one.
struct Ends {
  Channel trainer;
  common::UniqueFd process;
};

Ends& Socket() {
  static auto* const ends = [] {
    auto made = Channel::Create();
    REKINDLE_FUZZ_CHECK(made.ok());
    return new Ends{std::move(made->first), std::move(made->second)};
  }();
  return *ends;
}

std::shared_ptr<const GradientSlots> Slots() {
  static const auto* const slots = [] {
    auto made = GradientSlots::Create(kElements);
    REKINDLE_FUZZ_CHECK(made.ok());
    return new std::shared_ptr<const GradientSlots>(std::make_shared<const GradientSlots>(*std::move(made)));
  }();
  return *slots;
}

}  // namespace
}  // namespace rekindle::own_model

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::own_model;
  std::span<const uint8_t> input(data, size);
  Conversation conversation(Slots());
  for (int i = 0; i < kMostPackets; ++i) {
    const std::optional<std::string> packet = NextPacket(&input);
    if (!packet) break;
    REKINDLE_FUZZ_CHECK(send(Socket().process.get(), packet->data(), packet->size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                        static_cast<ssize_t>(packet->size()));
    const auto message = Socket().trainer.Receive(0);
    REKINDLE_FUZZ_CHECK(message.ok() || absl::IsInvalidArgument(message.status()) || packet->empty());
    if (message.ok() && *message) conversation.Hear(**message);
  }
  return 0;
}
