#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
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

// Returns the number at place `k` of an array of numbers of 4 bytes, which is not aligned.
uint32_t NumberAt(const uint8_t* numbers, int64_t k) {
  uint32_t value;
  std::memcpy(&value, numbers + static_cast<int64_t>(sizeof(value)) * k, sizeof(value));
  return value;
}
int64_t IndexOf(const ShardPlanes& planes, int64_t k) { return NumberAt(planes.exceptions, k); }

// Returns the place of the first exception whose index is not below `from`.
int64_t FirstException(const ShardPlanes& planes, int64_t from) {
  int64_t low = 0, high = planes.exceptions_count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    IndexOf(planes, middle) < from ? low = middle + 1 : high = middle;
  }
  return low;
}

// Checks that each exception is where a residual marks one, and that each such residual has an exception.
absl::Status CheckExceptions(const ShardPlanes& planes) {
  const int64_t n = planes.elements();
  int64_t next = 0;
  for (int64_t k = 0; k < planes.exceptions_count; ++k) {
    const int64_t index = IndexOf(planes, k);
    if (index < next || index >= n || planes.residuals[index] != kernels::kPlaneException) {
      return Bad(absl::StrCat("exception ", k, " is out of order or of place"));
    }
    next = index + 1;
  }
  if (kernels::CountExceptions(planes.residuals, n) != planes.exceptions_count) return Bad("an exception is missing");
  return absl::OkStatus();
}

absl::StatusOr<Plane> ParseFile(std::span<const uint8_t> file, int plane, int64_t total) {
  const auto header = ParseSafetensorsHeader(file, file.size());
  if (!header.ok()) return header.status();
  return ParsePlane(file, *header, plane, total);
}

// Writes the moments of the elements [from, to) of the state. The planes must contain that range.
void MergeMoments(const ShardPlanes& planes, int64_t from, int64_t to, const MutableState& state) {
  float* const moments[] = {state.first_moment, state.second_moment};
  const int64_t at = from - planes.range.begin;
  for (size_t i = 0; i < std::size(moments); ++i) {
    if (moments[i] == nullptr) continue;
    kernels::MergeBf16(planes.moments[i] + at, planes.exact ? planes.moments_low[i] + at : nullptr, to - from,
                       moments[i] + (from - state.moments_origin));
  }
}

void MergeMoments(const ShardPlanes& planes, const MutableState& state) {
  const ShardRange& range = planes.range;
  if (state.moments == nullptr) return MergeMoments(planes, range.begin, range.end, state);
  for (const ElementRange& wanted : *state.moments) {
    const int64_t from = std::max(wanted.begin, range.begin), to = std::min(wanted.end, range.end);
    if (from < to) MergeMoments(planes, from, to, state);
  }
}

}  // namespace

absl::StatusOr<ShardPlanes> ParsePlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1,
                                        int64_t total) {
  const auto first = ParseFile(plane0, 0, total);
  if (!first.ok()) return first.status();
  const PlaneHead& head = first->head;
  const int64_t n = head.elements();
  ShardPlanes planes{.range = head.range,
                     .weights = first->At<uint16_t>(0),
                     .moments = {first->At<uint16_t>(0) + n, first->At<uint16_t>(0) + 2 * n}};
  if (head.precision != Precision::kBf16) {
    if (absl::Status status = CheckExponents(*first); !status.ok()) return status;
    planes.exponents = first->At<int8_t>(BytesOfHalves(n));
  }
  if (plane1.empty()) return planes;
  const auto second = ParseFile(plane1, 1, total);
  if (!second.ok()) return second.status();
  if (second->head.range != head.range || head.precision != Precision::kExact ||
      second->head.precision != Precision::kExact) {
    return Bad("plane 0 and plane 1 are not of one range in the precision exact");
  }
  planes.exact = true;
  planes.residuals = second->At<int16_t>(0);
  planes.moments_low = {second->At<uint16_t>(0) + n, second->At<uint16_t>(0) + 2 * n};
  planes.exceptions = second->data + BytesOfHalves(n);
  planes.exceptions_count = second->head.exceptions;
  if (absl::Status status = CheckExceptions(planes); !status.ok()) return status;
  return planes;
}

bool HasException(const ShardPlanes& planes, int64_t from, int64_t to) {
  const int64_t k = FirstException(planes, from);
  return k < planes.exceptions_count && IndexOf(planes, k) < to;
}

void MergeWeights(const ShardPlanes& planes, int64_t from, int64_t to, float* weights) {
  if (planes.exponents == nullptr) {
    kernels::MergeBf16(planes.weights + from, nullptr, to - from, weights);
  } else {
    kernels::MergeHalf(planes.weights + from, planes.exponents + from / kernels::kPlaneBlock,
                       planes.exact ? planes.residuals + from : nullptr, to - from, weights);
  }
  const uint8_t* const bits = planes.exceptions + 4 * planes.exceptions_count;
  for (int64_t k = FirstException(planes, from); k < planes.exceptions_count && IndexOf(planes, k) < to; ++k) {
    const uint32_t weight = NumberAt(bits, k);
    std::memcpy(weights + (IndexOf(planes, k) - from), &weight, sizeof(weight));
  }
}

absl::StatusOr<ReadState> ReadPlanes(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1,
                                     const MutableState& state) {
  const auto planes = ParsePlanes(plane0, plane1, state.total);
  if (!planes.ok()) return planes.status();
  MergeWeights(*planes, 0, planes->elements(), state.weights + planes->range.begin);
  MergeMoments(*planes, state);
  return ReadState{planes->range, planes->exact};
}

absl::StatusOr<ReadState> ReadWeights(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1, int64_t total,
                                      std::vector<float>* weights) {
  const auto planes = ParsePlanes(plane0, plane1, total);
  if (!planes.ok()) return planes.status();
  weights->resize(static_cast<size_t>(planes->elements()));
  MergeWeights(*planes, 0, planes->elements(), weights->data());
  return ReadState{planes->range, planes->exact};
}

}  // namespace rekindle::checkpoint
