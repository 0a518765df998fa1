#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/planes_layout.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {
namespace {

// A piece of `kPiece` elements is split, hashed and copied before the next one is read. A piece of the state and its
// planes fit the first-level cache.
constexpr int64_t kPiece = 4 * kernels::kPlaneBlock;

// Writes one plane file from front to back.
class PlaneFile {
 public:
  // REQUIRES: `memory` has room for FileBytes(head).
  PlaneFile(const PlaneHead& head, uint8_t* memory) : head_(head), memory_(memory) {}

  // Writes the header with the number of exceptions that is known by now. The data may follow, or may already be in
  // place.
  absl::Status Begin() {
    const auto header = EncodeSafetensorsHeader(MetadataOf(head_), TensorsOf(head_), kPlaneDataOffset);
    if (!header.ok()) return header.status();
    if (static_cast<int64_t>(header->size()) != kPlaneDataOffset)
      return absl::InternalError("a plane's header is long");
    std::memcpy(memory_, header->data(), header->size());
    hasher_.Reset();
    hasher_.Update(memory_, header->size());
    return absl::OkStatus();
  }

  void Append(const void* data, size_t bytes) {
    hasher_.Update(data, bytes);
    kernels::StreamCopy(memory_ + at_, data, bytes);
    at_ += static_cast<int64_t>(bytes);
  }
  // Hashes the data from the end of the hashed part up to `end`. The memory already contains this data.
  void HashUpTo(int64_t end) {
    hasher_.Update(memory_ + at_, static_cast<size_t>(end - at_));
    at_ = end;
  }

  // Sets the number of exceptions, which becomes known only after the other data is written. So the header is written
  // again, and only then hashed together with the data that follows it.
  absl::Status SetExceptions(int64_t exceptions) {
    head_.exceptions = exceptions;
    const int64_t end = at_;
    at_ = kPlaneDataOffset;
    absl::Status status = Begin();
    if (status.ok()) HashUpTo(end);
    return status;
  }

  WrittenPlane Finish() const { return {.bytes = at_, .xxh3 = hasher_.Hex()}; }
  // Returns the place of the exponents in a plane 0 of `n` elements.
  int8_t* exponents(int64_t n) const {
    return reinterpret_cast<int8_t*>(memory_ + kPlaneDataOffset + BytesOfHalves(n));
  }

 private:
  PlaneHead head_;
  uint8_t* const memory_;
  int64_t at_ = kPlaneDataOffset;
  common::Hasher hasher_;
};

// Gathers the exceptions of plane 1 behind the plane's other data. Until Close(), the bits of the exceptions' weights
// are stored at the end of the available room.
class ExceptionArea {
 public:
  ExceptionArea(uint8_t* begin, int64_t bytes) : begin_(begin), capacity_(bytes / kExceptionBytes) {}

  void Add(const kernels::PlaneExceptions& found) {
    const int64_t stored = std::min(found.count, capacity_ - count_);
    count_ += found.count;
    if (stored <= 0) return;
    const size_t bytes = sizeof(uint32_t) * static_cast<size_t>(stored);
    const int64_t first = count_ - found.count;
    std::memcpy(begin_ + 4 * first, found.index, bytes);
    std::memcpy(begin_ + 4 * (capacity_ + first), found.bits, bytes);
  }
  // Moves the bits of the exceptions' weights directly behind their indices. REQUIRES: fits() is true.
  void Close() {
    std::memmove(begin_ + 4 * count_, begin_ + 4 * capacity_, sizeof(uint32_t) * static_cast<size_t>(count_));
  }

  int64_t count() const { return count_; }
  bool fits() const { return count_ <= capacity_; }

 private:
  uint8_t* const begin_;
  const int64_t capacity_;
  int64_t count_ = 0;
};

// A source gives the values of a range to the files of its planes. `plane1` is null if the precision has no second
// plane. Both functions return the number of NaN and infinities that they know of.
class Source {
 public:
  virtual ~Source() = default;
  virtual int64_t WriteWeights(bool as_bf16, PlaneFile& plane0, PlaneFile* plane1, ExceptionArea& area) const = 0;
  virtual int64_t WriteMoment(size_t moment, PlaneFile& plane0, PlaneFile* plane1) const = 0;
};

// Splits the state while it is copied.
class FloatSource final : public Source {
 public:
  FloatSource(const StateView& state, const ShardRange& range)
      : weights_(state.weights + (range.begin - state.origin)), n_(range.end - range.begin) {
    const float* const moments[] = {state.first_moment, state.second_moment};
    for (size_t i = 0; i < moments_.size(); ++i) {
      moments_[i] = moments[i] == nullptr ? nullptr : moments[i] + (range.begin - state.origin);
    }
  }

  int64_t WriteWeights(bool as_bf16, PlaneFile& plane0, PlaneFile* plane1, ExceptionArea& area) const override {
    return as_bf16 ? WriteBf16(weights_, plane0, nullptr) : WriteHalves(plane0, plane1, area);
  }
  int64_t WriteMoment(size_t moment, PlaneFile& plane0, PlaneFile* plane1) const override {
    return WriteBf16(moments_[moment], plane0, plane1);
  }

 private:
  // Writes weights as FP16, and with `plane1` also residuals and exceptions.
  int64_t WriteHalves(PlaneFile& plane0, PlaneFile* plane1, ExceptionArea& area) const {
    alignas(64) uint16_t half[kPiece];
    alignas(64) int16_t residual[kPiece];
    uint32_t index[kPiece], bits[kPiece];
    // The exponents are written to their final place in plane 0, which is ahead of what has been appended so far.
    int8_t* const exponents = plane0.exponents(n_);
    int64_t nonfinite = 0;
    for (int64_t done = 0; done < n_; done += kPiece) {
      const int64_t piece = std::min(kPiece, n_ - done);
      const size_t bytes = sizeof(uint16_t) * static_cast<size_t>(piece);
      kernels::PlaneExceptions found{.index = index, .bits = bits, .capacity = kPiece};
      nonfinite += kernels::SplitHalf(weights_ + done, piece, half, exponents + done / kernels::kPlaneBlock,
                                      plane1 == nullptr ? nullptr : residual, static_cast<uint32_t>(done), &found);
      plane0.Append(half, bytes);
      if (plane1 == nullptr) continue;
      plane1->Append(residual, bytes);
      area.Add(found);
    }
    return nonfinite;
  }

  // Writes floats as BF16, and with `plane1` also their lower halves. Zeros are written if `x` is null.
  int64_t WriteBf16(const float* x, PlaneFile& plane0, PlaneFile* plane1) const {
    alignas(64) uint16_t high[kPiece], low[kPiece];
    static constexpr float kZeros[kPiece] = {};
    int64_t nonfinite = 0;
    for (int64_t done = 0; done < n_; done += kPiece) {
      const int64_t piece = std::min(kPiece, n_ - done);
      const size_t bytes = sizeof(uint16_t) * static_cast<size_t>(piece);
      const float* values = x == nullptr ? kZeros : x + done;
      nonfinite += kernels::SplitBf16(values, piece, high, plane1 == nullptr ? nullptr : low);
      plane0.Append(high, bytes);
      if (plane1 != nullptr) plane1->Append(low, bytes);
    }
    return nonfinite;
  }

  const float* const weights_;
  const int64_t n_;
  std::array<const float*, 2> moments_ = {};
};

// Copies what was split elsewhere.
class SplitSource final : public Source {
 public:
  SplitSource(const SplitRange& split, const ShardRange& range) : split_(split), n_(range.end - range.begin) {}

  int64_t WriteWeights(bool as_bf16, PlaneFile& plane0, PlaneFile* plane1, ExceptionArea& area) const override {
    Append(split_.weights, plane0);
    if (!as_bf16) std::memcpy(plane0.exponents(n_), split_.exponents, static_cast<size_t>(ExponentsOf(n_)));
    if (plane1 != nullptr) {
      Append(split_.residuals, *plane1);
      area.Add(split_.exceptions);
    }
    return split_.nonfinite;
  }
  int64_t WriteMoment(size_t moment, PlaneFile& plane0, PlaneFile* plane1) const override {
    Append(split_.moments[moment], plane0);
    if (plane1 != nullptr) Append(split_.moments_low[moment], *plane1);
    return 0;
  }

 private:
  void Append(const void* halves, PlaneFile& file) const {
    static constexpr uint16_t kZeros[kPiece] = {};
    for (int64_t done = 0; done < n_; done += kPiece) {
      const size_t bytes = sizeof(uint16_t) * static_cast<size_t>(std::min(kPiece, n_ - done));
      file.Append(halves == nullptr ? kZeros : static_cast<const uint16_t*>(halves) + done, bytes);
    }
  }

  const SplitRange& split_;
  const int64_t n_;
};

absl::Status CheckRoom(int plane, int64_t needed, std::span<uint8_t> memory) {
  if (static_cast<int64_t>(memory.size()) >= needed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("plane ", plane, " of a shard has ", needed, " bytes; the memory for it has ", memory.size()));
}

absl::Status CheckRange(const ShardRange& range, int64_t total) {
  if (IsInside(range, total) && range.end - range.begin <= kMaxShardElements) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("shard [", range.begin, ", ", range.end, ") is not inside a state of ",
                                                 total, " elements, or longer than ", kMaxShardElements));
}

absl::StatusOr<WrittenPlanes> Write(const Source& source, int64_t total, const ShardRange& range, Precision precision,
                                    std::span<uint8_t> plane0, std::span<uint8_t> plane1) {
  const PlaneBytes least = SizeOfPlanes(total, range, precision, 0);
  if (absl::Status status = CheckRoom(0, least.plane0, plane0); !status.ok()) return status;
  if (absl::Status status = CheckRoom(1, least.plane1, plane1); !status.ok()) return status;

  PlaneHead head{.range = range, .total = total, .precision = precision};
  PlaneFile file0(head, plane0.data());
  head.plane = 1;
  PlaneFile file1(head, plane1.data());
  PlaneFile* const second = precision == Precision::kExact ? &file1 : nullptr;
  if (absl::Status status = file0.Begin(); !status.ok()) return status;
  if (second != nullptr) {
    if (absl::Status status = second->Begin(); !status.ok()) return status;
  }

  ExceptionArea area(second == nullptr ? nullptr : plane1.data() + least.plane1,
                     static_cast<int64_t>(plane1.size()) - least.plane1);
  WrittenPlanes written;
  written.nonfinite = source.WriteWeights(precision == Precision::kBf16, file0, second, area);
  written.exceptions = area.count();
  if (!area.fits()) {
    return absl::ResourceExhaustedError(absl::StrCat("plane 1 of a shard with ", area.count(), " exceptions has ",
                                                     least.plane1 + kExceptionBytes * area.count(),
                                                     " bytes; the memory for it has ", plane1.size()));
  }
  if (area.count() > 0) {
    if (absl::Status status = file1.SetExceptions(area.count()); !status.ok()) return status;
    area.Close();
  }
  for (const size_t moment : {0, 1}) written.nonfinite += source.WriteMoment(moment, file0, second);
  kernels::StreamFence();
  file0.HashUpTo(least.plane0);
  written.plane0 = file0.Finish();
  if (second != nullptr) {
    file1.HashUpTo(least.plane1 + kExceptionBytes * area.count());
    written.plane1 = file1.Finish();
  }
  return written;
}

}  // namespace

PlaneBytes SizeOfPlanes(int64_t total, const ShardRange& range, Precision precision, int64_t exceptions) {
  PlaneHead head{.range = range, .total = total, .precision = precision, .exceptions = exceptions};
  PlaneBytes bytes{.plane0 = FileBytes(head)};
  head.plane = 1;
  if (precision == Precision::kExact) bytes.plane1 = FileBytes(head);
  return bytes;
}

absl::StatusOr<WrittenPlanes> WritePlanes(const StateView& state, const ShardRange& range, Precision precision,
                                          std::span<uint8_t> plane0, std::span<uint8_t> plane1) {
  if (absl::Status status = CheckRange(range, state.total); !status.ok()) return status;
  return Write(FloatSource(state, range), state.total, range, precision, plane0, plane1);
}

absl::StatusOr<WrittenPlanes> WriteSplitPlanes(const SplitRange& split, int64_t total, const ShardRange& range,
                                               Precision precision, std::span<uint8_t> plane0,
                                               std::span<uint8_t> plane1) {
  if (absl::Status status = CheckRange(range, total); !status.ok()) return status;
  return Write(SplitSource(split, range), total, range, precision, plane0, plane1);
}

}  // namespace rekindle::checkpoint
