#include "worker/models/registry.h"

#include <algorithm>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/models/gpt.h"
#include "worker/models/gpt2.h"
#include "worker/models/mlp.h"
#include "worker/models/resnet.h"

namespace rekindle::models {
namespace {

struct Entry {
  const char* kind;
  absl::StatusOr<std::unique_ptr<train::Model>> (*make)(const ModelSpec&);
};

constexpr Entry kModels[] = {
    {"gpt", MakeGpt}, {"gpt2", MakeGpt2}, {"mlp", MakeMlp}, {"resnet18", MakeResnet}, {"resnet50", MakeResnet},
};

// Levenshtein's.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replace = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> KnownModels() {
  std::vector<std::string> names;
  for (const Entry& entry : kModels) names.push_back(entry.kind);
  return names;
}

absl::StatusOr<std::unique_ptr<train::Model>> MakeModel(const ModelSpec& spec) {
  for (const Entry& entry : kModels) {
    if (spec.kind == entry.kind) return entry.make(spec);
  }
  std::string kind = spec.kind.substr(0, 64);
  std::vector<std::string> known = KnownModels();
  std::string nearest = *std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return EditDistance(kind, a) < EditDistance(kind, b);
  });
  return absl::InvalidArgumentError(absl::StrCat("model.kind: '", kind, "' is unknown; did you mean '", nearest, "'?"));
}

}  // namespace rekindle::models
