// The model and data sections: which kinds there are, what each needs, and what it reads.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/spec/spec_checker.h"

namespace rekindle::coordinator {
namespace {

using Model = v1::JobSpec::Model;

constexpr double kMaxParameters = 1e11;
constexpr double kMaxSampleElements = 1 << 26;  // Of a micro-batch.
constexpr int kMaxFiles = 1000;
constexpr int kMaxFeatures = 4096;
constexpr size_t kMaxPathBytes = 4096;
constexpr size_t kMaxColumnBytes = 256;
constexpr int kImageValues = 3072;
constexpr std::array<const char*, 5> kKinds = {"gpt", "gpt2", "mlp", "resnet18", "resnet50"};

// It decides what most of these fields mean.
Fields Kind() { return {"spec.model.kind"}; }

// Published sizes of GPT-2 by the names that they are known by.
struct Gpt2Size {
  const char* kind;
  int layers, heads, width;
};
constexpr std::array<Gpt2Size, 4> kGpt2Sizes = {
    {{"gpt2", 12, 12, 768}, {"gpt2-medium", 24, 16, 1024}, {"gpt2-large", 36, 20, 1280}, {"gpt2-xl", 48, 25, 1600}}};

bool IsResnet(const Model& model) { return model.kind() == "resnet18" || model.kind() == "resnet50"; }
bool IsMlp(const Model& model) { return model.kind() == "mlp"; }
bool IsGpt(const Model& model) { return !IsResnet(model) && !IsMlp(model); }

void FillGpt(Model& model) {
  const auto fill = [](int value, int by_default, const auto& set) {
    if (value == 0) set(by_default);
  };
  const auto* size = std::find_if(kGpt2Sizes.begin(), kGpt2Sizes.end(),
                                  [&](const Gpt2Size& known) { return model.kind() == known.kind; });
  const bool gpt2 = size != kGpt2Sizes.end();
  const Gpt2Size& base = gpt2 ? *size : Gpt2Size{"gpt", 4, 4, 128};
  fill(model.layers(), base.layers, [&](int v) { model.set_layers(v); });
  fill(model.heads(), base.heads, [&](int v) { model.set_heads(v); });
  fill(model.width(), base.width, [&](int v) { model.set_width(v); });
  fill(model.context(), gpt2 ? 1024 : 128, [&](int v) { model.set_context(v); });
  if (!gpt2) return;
  fill(model.vocabulary(), 50257, [&](int v) { model.set_vocabulary(v); });
  model.set_kind("gpt2");
}

// A field that the kind does not know would be ignored in silence.
void RefuseStrangers(Checker& check, const Model& model) {
  const auto only = [&](const char* field, double value, bool known) {
    check.Require(value == 0 || known, absl::StrCat("spec.model.", field),
                  absl::StrCat("means nothing to model.kind ", model.kind(), ": remove it"), Kind());
  };
  only("layers", model.layers(), !IsResnet(model));
  only("heads", model.heads(), IsGpt(model));
  only("context", model.context(), IsGpt(model));
  only("dropout", model.dropout(), !IsResnet(model));
  only("classes", model.classes(), !IsGpt(model));
  only("vocabulary", model.vocabulary(), model.kind() == "gpt2");
}

void CheckGpt(Checker& check, const Model& model) {
  check.Range("spec.model.layers", model.layers(), 1, 512, Kind());
  check.Range("spec.model.heads", model.heads(), 1, 512, Kind());
  check.Range("spec.model.width", model.width(), 1, 65536, Kind());
  if (model.heads() > 0 && model.width() > 0 && model.width() % model.heads() != 0) {
    const int64_t below = int64_t{model.width()} / model.heads() * model.heads();
    check.Refuse("spec.model.width",
                 absl::StrCat(model.width(), " is not divisible by heads ", model.heads(), ": use ",
                              below > 0 ? absl::StrCat(below, " or ") : "", below + model.heads()),
                 {"spec.model.kind", "spec.model.heads"});
  }
  check.Range("spec.model.context", model.context(), 1, 1 << 20, Kind());
  if (model.kind() == "gpt2") check.Range("spec.model.vocabulary", model.vocabulary(), 1, 65536, Kind());
}

void CheckMlp(Checker& check, const Model& model) {
  check.Range("spec.model.layers", model.layers(), 1, 512, Kind());
  check.Range("spec.model.width", model.width(), 1, 65536, Kind());
  check.Range("spec.model.classes", model.classes(), 0, 1 << 20, Kind());
}

void CheckResnet(Checker& check, const Model& model) {
  check.Range("spec.model.width", model.width(), 1, 4096, Kind());
  check.Range("spec.model.classes", model.classes(), 1, 256, Kind());
}

double Parameters(const v1::JobSpec& spec) {
  const Model& model = spec.model();
  const double width = model.width(), layers = model.layers();
  if (IsMlp(model)) {
    return width * spec.data().table().features_size() + layers * width * width + width * model.classes();
  }
  if (IsResnet(model)) return (model.kind() == "resnet18" ? 11.2e6 : 23.5e6) * width * width / (64 * 64);
  const double vocabulary = model.kind() == "gpt2" ? model.vocabulary() : 256;
  return 12.0 * layers * width * width + (vocabulary + model.context()) * width;
}

void CheckPaths(Checker& check, const std::string& field, const google::protobuf::RepeatedPtrField<std::string>& paths,
                const std::string& what) {
  check.Require(!paths.empty(), field, absl::StrCat("is missing: list the files or globs ", what));
  check.Require(paths.size() <= kMaxFiles, field,
                absl::StrCat("has ", paths.size(), " entries, at most ", kMaxFiles, ": use globs"));
  for (int i = 0; i < std::min(paths.size(), kMaxFiles); ++i) {
    const std::string& path = paths.Get(i);
    const std::string at = absl::StrCat(field, "[", i, "]");
    check.Require(path.size() <= kMaxPathBytes && path.find('\0') == std::string::npos, at, "is no path");
    check.Require(absl::StartsWith(path, "/"), at,
                  absl::StrCat("'", path.substr(0, 200), "' is not absolute: begin it with '/'"));
  }
}

void CheckTable(Checker& check, const v1::JobSpec::Table& table) {
  CheckPaths(check, "spec.data.table.files", table.files(), "of Parquet to train on");
  check.Require(table.features_size() > 0, "spec.data.table.features", "is missing: list the columns to learn from");
  check.Require(table.features_size() <= kMaxFeatures, "spec.data.table.features",
                absl::StrCat("has ", table.features_size(), " columns, at most ", kMaxFeatures, " are supported"));
  check.Require(!table.target().empty(), "spec.data.table.target", "is missing: name the column to learn");
  check.Require(table.target().size() <= kMaxColumnBytes, "spec.data.table.target", "is too long for a column's name");
  std::vector<std::string> columns(table.features().begin(), table.features().end());
  for (const std::string& column : columns) {
    check.Require(!column.empty() && column.size() <= kMaxColumnBytes, "spec.data.table.features",
                  "has a name that is empty or too long");
  }
  columns.push_back(table.target());
  std::sort(columns.begin(), columns.end());
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  if (twice == columns.end()) return;
  check.Refuse("spec.data.table", absl::StrCat("names column '", *twice, "' twice"),
               {"spec.data.table.features", "spec.data.table.target"});
}

// Elements of one sample.
double SampleElements(const v1::JobSpec& spec) {
  if (IsMlp(spec.model())) return spec.data().table().features_size();
  return IsResnet(spec.model()) ? kImageValues : spec.model().context();
}

// As trainers report them: 32 lower-case hex digits.
bool IsFingerprint(const std::string& text) {
  constexpr size_t kDigits = 32;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

void FillModelAndData(v1::JobSpec& spec) {
  Model& model = *spec.mutable_model();
  if (model.kind().empty()) model.set_kind("gpt");
  if (!spec.data().has_validation_fraction()) spec.mutable_data()->set_validation_fraction(0.05);
  if (IsMlp(model)) {
    if (model.layers() == 0) model.set_layers(2);
    if (model.width() == 0) model.set_width(128);
  } else if (IsResnet(model)) {
    if (model.width() == 0) model.set_width(64);
    if (model.classes() == 0) model.set_classes(10);
    auto& images = *spec.mutable_data()->mutable_images();
    if (!images.has_augment()) images.set_augment(true);
  } else {
    FillGpt(model);
  }
}

void CheckModel(Checker& check, const v1::JobSpec& spec) {
  const Model& model = spec.model();
  check.OneOf("spec.model.kind", model.kind(), {kKinds.begin(), kKinds.end()});
  RefuseStrangers(check, model);
  if (IsMlp(model)) {
    CheckMlp(check, model);
  } else if (IsResnet(model)) {
    CheckResnet(check, model);
  } else {
    CheckGpt(check, model);
  }
  check.Share("spec.model.dropout", model.dropout());
  check.Require(IsGpt(model) || spec.training().activations() != "recompute", "spec.training.activations",
                absl::StrCat("'recompute' means nothing to model.kind ", model.kind(), ": remove it"), Kind());
  check.Require(model.weights().empty() || absl::StartsWith(model.weights(), "/"), "spec.model.weights",
                absl::StrCat("'", model.weights().substr(0, 200), "' is not absolute: begin it with '/'"));
  check.Require(model.weights().size() <= kMaxPathBytes, "spec.model.weights", "is no path");
  check.Require(model.weights().empty() == model.weights_digest().empty(), "spec.model.weights_digest",
                model.weights().empty() ? "is of no spec.model.weights: remove it"
                                        : "is missing: submit the job with `rekindle`, which fills it in",
                {"spec.model"});
  const double parameters = Parameters(spec);
  check.Require(parameters <= kMaxParameters, "spec.model",
                absl::StrCat("has ", parameters, " parameters, at most ", kMaxParameters, " are supported"),
                {"spec.model.kind", "spec.model.layers", "spec.model.width", "spec.model.context", "spec.model.classes",
                 "spec.model.vocabulary", "spec.data.table"});
}

void CheckData(Checker& check, const v1::JobSpec& spec) {
  const v1::JobSpec::Data& data = spec.data();
  const std::string& kind = spec.model().kind();
  const auto only = [&](const char* field, bool given, bool wanted) {
    check.Require(!given || wanted, absl::StrCat("spec.data.", field),
                  absl::StrCat("is nothing that model.kind ", kind, " can read: remove it, or choose another kind"),
                  Kind());
  };
  only("text", data.text_size() > 0, kind == "gpt");
  only("tokens", data.tokens_size() > 0, kind == "gpt2");
  only("table", data.has_table(), IsMlp(spec.model()));
  only("images", data.has_images(), IsResnet(spec.model()));
  if (kind == "gpt") CheckPaths(check, "spec.data.text", data.text(), "to train on");
  if (kind == "gpt2") CheckPaths(check, "spec.data.tokens", data.tokens(), "of 16-bit token ids to train on");
  if (IsMlp(spec.model())) CheckTable(check, data.table());
  if (IsResnet(spec.model())) CheckPaths(check, "spec.data.images.files", data.images().files(), "to train on");
  check.Range("spec.data.validation_fraction", data.validation_fraction(), 0, 0.9);
  check.Range("spec.data.max_bytes", data.max_bytes(), 0, 1e15);
  check.Require(data.fingerprint().empty() || IsFingerprint(data.fingerprint()), "spec.data.fingerprint",
                "is no fingerprint: copy the 32 hex digits from the event data_differs, or remove it");
  check.Require(data.max_bytes() == 0 || IsGpt(spec.model()), "spec.data.max_bytes",
                "is for text and tokens only: remove it", Kind());
  const char* sample = IsGpt(spec.model()) ? "spec.model.context" : "the values of a sample";
  check.Require(1.0 * spec.training().micro_batch() * SampleElements(spec) <= kMaxSampleElements,
                "spec.training.micro_batch",
                absl::StrCat("times ", sample, " is over ", kMaxSampleElements, IsGpt(spec.model()) ? " tokens" : "",
                             ": lower one"),
                {"spec.model.kind", "spec.model.context", "spec.data.table"});
}

}  // namespace rekindle::coordinator
