#include "checkpoint/format/planes_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rekindle::checkpoint {

absl::StatusOr<Precision> ParsePrecision(std::string_view name) {
  const auto* found = std::find(std::begin(kPrecisionNames), std::end(kPrecisionNames), name);
  if (found != std::end(kPrecisionNames)) return static_cast<Precision>(found - std::begin(kPrecisionNames));
  std::string names;
  for (std::string_view known : kPrecisionNames) names.append(names.empty() ? "" : ", ").append(known);
  return absl::InvalidArgumentError("there is no checkpoint precision '" + std::string(name.substr(0, 64)) +
                                    "'; there are: " + names);
}

int64_t FileBytes(const PlaneHead& head) {
  const int64_t halves = kPlaneDataOffset + BytesOfHalves(head.elements());
  if (head.plane == 1) return halves + kExceptionBytes * head.exceptions;
  return halves + (head.precision == Precision::kBf16 ? 0 : ExponentsOf(head.elements()));
}

std::vector<TensorEntry> TensorsOf(const PlaneHead& head) {
  const std::vector<int64_t> all = {head.elements()}, some = {head.exceptions};
  if (head.plane == 1) {
    // The exceptions come last in the file, because their number is known last.
    return {{.name = "weights_residual", .dtype = "I16", .shape = all},
            {.name = "first_moment_low", .dtype = "U16", .shape = all},
            {.name = "second_moment_low", .dtype = "U16", .shape = all},
            {.name = "exception_index", .dtype = "U32", .shape = some},
            {.name = "exception_weight", .dtype = "F32", .shape = some}};
  }
  const bool bf16 = head.precision == Precision::kBf16;
  std::vector<TensorEntry> tensors = {{.name = "weights", .dtype = bf16 ? "BF16" : "F16", .shape = all},
                                      {.name = "first_moment", .dtype = "BF16", .shape = all},
                                      {.name = "second_moment", .dtype = "BF16", .shape = all}};
  // The tensor of single bytes comes last. An odd number of bytes before the moments would misalign them.
  if (!bf16) tensors.push_back({.name = "weights_exponent", .dtype = "I8", .shape = {ExponentsOf(head.elements())}});
  return tensors;
}

std::map<std::string, std::string> MetadataOf(const PlaneHead& head) {
  return {{"format", kPlaneFormat},
          {"begin", absl::StrCat(head.range.begin)},
          {"end", absl::StrCat(head.range.end)},
          {"total", absl::StrCat(head.total)},
          {"plane", absl::StrCat(head.plane)},
          {"precision", PrecisionName(head.precision)}};
}

}  // namespace rekindle::checkpoint
