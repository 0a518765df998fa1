#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/format/planes_layout.h"

namespace rekindle::checkpoint {
namespace {

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a plane of a shard: ", std::string(what)));
}

// Returns a number from the metadata of a plane file. Only the form that MetadataOf writes is accepted.
absl::StatusOr<int64_t> Number(const SafetensorsHeader& header, const std::string& key) {
  const auto found = header.metadata.find(key);
  int64_t value = 0;
  if (found == header.metadata.end() || !absl::SimpleAtoi(found->second, &value) ||
      absl::StrCat(value) != found->second) {
    return Bad(absl::StrCat("its metadata has no number '", key, "'"));
  }
  return value;
}

bool SameTensors(const std::vector<TensorEntry>& a, const std::vector<TensorEntry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TensorEntry& one, const TensorEntry& other) {
    return one.name == other.name && one.dtype == other.dtype && one.shape == other.shape;
  });
}

// Holds a plane file whose header is proven to be what its writer would have made, apart from the spaces and the order
// in the JSON.
struct Plane {
  PlaneHead head;
  // `data` is the data of the plane file. It begins at a multiple of 4 and has the size that `head` gives.
  const uint8_t* data = nullptr;

  template <typename T>
  const T* At(int64_t offset) const {
    return reinterpret_cast<const T*>(data + offset);
  }
};

absl::StatusOr<Plane> ParsePlane(std::span<const uint8_t> file, const SafetensorsHeader& header, int plane,
                                 int64_t total) {
  PlaneHead head{.plane = plane};
  for (const auto& [key, value] :
       {std::pair{"begin", &head.range.begin}, {"end", &head.range.end}, {"total", &head.total}}) {
    const auto number = Number(header, key);
    if (!number.ok()) return number.status();
    *value = *number;
  }
  if (head.total != total || !IsInside(head.range, total)) {
    return absl::InvalidArgumentError(absl::StrCat("a shard holds [", head.range.begin, ", ", head.range.end, ") of ",
                                                   head.total, " elements; this state has ", total));
  }
  if (head.elements() > kMaxShardElements) return Bad(absl::StrCat("it has ", head.elements(), " elements"));
  const auto named = header.metadata.find("precision");
  const auto precision = ParsePrecision(named == header.metadata.end() ? "" : named->second);
  if (!precision.ok()) return precision.status();
  head.precision = *precision;
  if (plane == 1) {
    const TensorEntry* index = header.Find("exception_index");
    if (index == nullptr || index->shape.size() != 1) return Bad("it has no tensor 'exception_index'");
    head.exceptions = index->shape[0];
    if (head.exceptions > head.elements()) return Bad("it has more exceptions than elements");
  }
  if (header.metadata != MetadataOf(head)) {
    return Bad(absl::StrCat("its metadata is not that of plane ", plane, " of ", PrecisionName(head.precision)));
  }
  if (!SameTensors(header.tensors, TensorsOf(head))) return Bad("it has other tensors");
  const uint8_t* data = file.data() + header.data_offset;
  if (reinterpret_cast<uintptr_t>(data) % sizeof(uint32_t) != 0) return Bad("its data is not aligned to 4 bytes");
  return Plane{head, data};
}

absl::Status CheckExponents(const Plane& plane) {
  const int64_t n = plane.head.elements();
  const int8_t* exponents = plane.At<int8_t>(BytesOfHalves(n));
  const bool good = std::all_of(exponents, exponents + ExponentsOf(n), [](int8_t exponent) {
    return exponent >= kernels::kMinPlaneExponent && exponent <= kernels::kMaxPlaneExponent;
  });
  return good ? absl::OkStatus() : Bad("an exponent is out of range");
}

// Returns the k-th exception's index, or the bits of its weight. They are not aligned if the number of elements is odd.
uint32_t ExceptionAt(const Plane& plane, int64_t tensor, int64_t k) {
  uint32_t value;
  std::memcpy(&value, plane.data + BytesOfHalves(plane.head.elements()) + 4 * (tensor * plane.head.exceptions + k), 4);
  return value;
}

// Checks that each exception is where a residual marks one, and that each such residual has an exception.
absl::Status CheckExceptions(const Plane& plane) {
  const int64_t n = plane.head.elements();
  const int16_t* residual = plane.At<int16_t>(0);
  int64_t next = 0;
  for (int64_t k = 0; k < plane.head.exceptions; ++k) {
    const int64_t index = ExceptionAt(plane, 0, k);
    if (index < next || index >= n || residual[index] != kernels::kPlaneException) {
      return Bad(absl::StrCat("exception ", k, " is out of order or of place"));
    }
    next = index + 1;
  }
  if (kernels::CountExceptions(residual, n) != plane.head.exceptions) return Bad("an exception is missing");
  return absl::OkStatus();
}

// Holds the planes of one range of the state, which are proven to belong together.
struct Planes {
  Plane first;
  std::optional<Plane> second;

  ReadState state() const { return {.range = first.head.range, .exact = second.has_value()}; }
};

absl::StatusOr<Planes> ParsePlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1, int64_t total) {
  const auto header = ParseSafetensorsHeader(plane0, plane0.size());
  if (!header.ok()) return header.status();
  const auto first = ParsePlane(plane0, *header, 0, total);
  if (!first.ok()) return first.status();
  const PlaneHead& head = first->head;
  if (head.precision != Precision::kBf16) {
    if (absl::Status status = CheckExponents(*first); !status.ok()) return status;
  }
  if (plane1.empty()) return Planes{*first, std::nullopt};
  const auto header1 = ParseSafetensorsHeader(plane1, plane1.size());
  if (!header1.ok()) return header1.status();
  const auto second = ParsePlane(plane1, *header1, 1, total);
  if (!second.ok()) return second.status();
  if (second->head.range != head.range || head.precision != Precision::kExact ||
      second->head.precision != Precision::kExact) {
    return Bad("plane 0 and plane 1 are not of one range in the precision exact");
  }
  if (absl::Status status = CheckExceptions(*second); !status.ok()) return status;
  return Planes{*first, *second};
}

// Writes the weights of the whole range, from its first element on, to `weights`.
void MergeWeights(const Planes& planes, float* weights) {
  const Plane& plane0 = planes.first;
  const Plane* const plane1 = planes.second ? &*planes.second : nullptr;
  const int64_t n = plane0.head.elements();
  if (plane0.head.precision == Precision::kBf16) {
    kernels::MergeBf16(plane0.At<uint16_t>(0), nullptr, n, weights);
  } else {
    kernels::MergeHalf(plane0.At<uint16_t>(0), plane0.At<int8_t>(BytesOfHalves(n)),
                       plane1 == nullptr ? nullptr : plane1->At<int16_t>(0), n, weights);
  }
  for (int64_t k = 0; plane1 != nullptr && k < plane1->head.exceptions; ++k) {
    const uint32_t bits = ExceptionAt(*plane1, 1, k);
    std::memcpy(weights + ExceptionAt(*plane1, 0, k), &bits, sizeof(bits));
  }
}

// Writes the moments of the elements [from, to) of the state. The planes must contain that range.
void MergeMoments(const Planes& planes, int64_t from, int64_t to, const MutableState& state) {
  const PlaneHead& head = planes.first.head;
  const int64_t n = head.elements();
  const uint16_t* const high = planes.first.At<uint16_t>(0);
  const uint16_t* const low = planes.second ? planes.second->At<uint16_t>(0) : nullptr;
  for (const auto& [moment, tensor] : {std::pair{state.first_moment, 1}, {state.second_moment, 2}}) {
    if (moment == nullptr) continue;
    const int64_t at = tensor * n + from - head.range.begin;
    kernels::MergeBf16(high + at, low == nullptr ? nullptr : low + at, to - from,
                       moment + (from - state.moments_origin));
  }
}

void MergeMoments(const Planes& planes, const MutableState& state) {
  const ShardRange& range = planes.first.head.range;
  if (state.moments == nullptr) return MergeMoments(planes, range.begin, range.end, state);
  for (const ElementRange& wanted : *state.moments) {
    const int64_t from = std::max(wanted.begin, range.begin), to = std::min(wanted.end, range.end);
    if (from < to) MergeMoments(planes, from, to, state);
  }
}

}  // namespace

absl::StatusOr<ReadState> ReadPlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1,
                                     const MutableState& state) {
  const auto planes = ParsePlanes(plane0, plane1, state.total);
  if (!planes.ok()) return planes.status();
  const int64_t begin = planes->first.head.range.begin;
  MergeWeights(*planes, state.weights + begin);
  MergeMoments(*planes, state);
  return planes->state();
}

absl::StatusOr<ReadState> ReadWeights(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1, int64_t total,
                                      std::vector<float>* weights) {
  const auto planes = ParsePlanes(plane0, plane1, total);
  if (!planes.ok()) return planes.status();
  weights->resize(static_cast<size_t>(planes->first.head.elements()));
  MergeWeights(*planes, weights->data());
  return planes->state();
}

}  // namespace rekindle::checkpoint
