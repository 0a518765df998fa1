// Hands out memory of a device by handles that give no address.
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_MEMORY_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/check/check.h"

namespace rekindle::device {

// Is one allocation of a device. Each device derives its own from it. Its end frees the memory, which waits until every
// queue of the device is empty (see also Device::Leave).
class Block {
 public:
  Block(int64_t bytes, std::string purpose) : bytes_(bytes), purpose_(std::move(purpose)) {}
  virtual ~Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  int64_t bytes() const { return bytes_; }
  // Says what the memory is for, in messages, such as "the first moment".
  const std::string& purpose() const { return purpose_; }

 private:
  const int64_t bytes_;
  const std::string purpose_;
};

// Names the bytes [offset, offset + bytes) of a block. A range does not keep its block alive.
struct Range {
  const Block* block = nullptr;
  int64_t offset = 0;
  int64_t bytes = 0;

  // Returns the bytes [from, from + count) of this range.
  Range Part(int64_t from, int64_t count) const {
    common::Check(from >= 0 && count >= 0 && from + count <= bytes, "a part of a range lies within the range");
    return {block, offset + from, count};
  }
};

// Owns memory of a device. The host cannot read or write it: what it has to see is copied to pinned memory. The
// destructor may block (see Block). The class is movable and thread-compatible.
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::unique_ptr<Block> block) : block_(std::move(block)) {}

  int64_t bytes() const { return block_ == nullptr ? 0 : block_->bytes(); }
  Range all() const { return {block_.get(), 0, bytes()}; }
  Range Part(int64_t offset, int64_t count) const { return all().Part(offset, count); }

 private:
  std::unique_ptr<Block> block_;
};

// Is an allocation of host memory that the device can also reach.
class PinnedBlock : public Block {
 public:
  using Block::Block;
  // Returns the address of a byte for the host, which is about to read or write `bytes` bytes from there on.
  virtual std::byte* HostAddress(int64_t offset, int64_t bytes, bool writes) = 0;
};

// Owns host memory through which data pass between the host and the device. The host may touch a part of it only while
// no operation that uses this part is queued: it has to await a mark before. The class is movable and
// thread-compatible.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(std::unique_ptr<PinnedBlock> block) : block_(std::move(block)) {}

  int64_t bytes() const { return block_ == nullptr ? 0 : block_->bytes(); }
  Range all() const { return {block_.get(), 0, bytes()}; }
  Range Part(int64_t offset, int64_t count) const { return all().Part(offset, count); }

  // ForReading() and ForWriting() return bytes that the host is about to read or write. The caller asks again each time
  // that it touches them, because a device may note the access.
  std::span<const std::byte> ForReading(int64_t offset, int64_t count) const { return Touch(offset, count, false); }
  std::span<std::byte> ForWriting(int64_t offset, int64_t count) { return Touch(offset, count, true); }

 private:
  std::span<std::byte> Touch(int64_t offset, int64_t count, bool writes) const {
    const Range part = Part(offset, count);
    return {block_->HostAddress(part.offset, part.bytes, writes), static_cast<size_t>(part.bytes)};
  }

  std::unique_ptr<PinnedBlock> block_;
};

// Returns the RESOURCE_EXHAUSTED of an allocation for which a device has no room, with the bytes and with what helps.
absl::Status NoRoom(double free_bytes, double all_bytes, int64_t bytes, const std::string& purpose);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_MEMORY_H_
