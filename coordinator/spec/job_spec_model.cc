// Fills in and checks the model and data sections of a job's spec. Each kind of model and of data declares its fields
// (worker/models/declared, worker/data/declared).
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "common/bundle/bundle.h"
#include "common/spec/message_fields.h"
#include "coordinator/spec/declared_fields.h"
#include "coordinator/spec/spec_checker.h"
#include "worker/data/declared/data_kind.h"
#include "worker/data/declared/limits.h"
#include "worker/models/declared/model_kind.h"
#include "worker/models/declared/model_spec_proto.h"
#include "worker/models/declared/shared_fields.h"

namespace rekindle::coordinator {
namespace {

using models::ModelKind;
using train::Parameter;
using Model = v1::JobSpec::Model;

constexpr double kMaxParameters = 1e11;
// A micro-batch has at most `kMaxSampleElements` elements.
constexpr double kMaxSampleElements = 1 << 26;
constexpr int kMaxFiles = 1000;
constexpr size_t kMaxPathBytes = 4096;
constexpr double kDefaultValidationFraction = 0.05;
constexpr char kPython[] = "python";
// These numbers are for models of the user's own alone, and have these upper limits. A start may take a day.
constexpr std::pair<const char*, int> kOwnNumbers[] = {{"data_workers", common::kMostDataWorkers},
                                                       {"start_minutes", 24 * 60}};

// Returns the name of the field on which the checks of most model fields depend: the model's kind.
Fields Kind() { return {"spec.model.kind"}; }

std::string ModelField(const std::string& name) { return absl::StrCat("spec.model.", name); }

// Replaces the name of a published model size by the model's kind, with the numbers of that size for the fields that
// are left out.
void FillSize(Model& model) {
  for (const ModelKind* kind : models::ModelKinds()) {
    for (const models::ModelSize& size : kind->sizes) {
      if (model.kind() != size.name) continue;
      if (model.layers() == 0) model.set_layers(size.layers);
      if (model.heads() == 0) model.set_heads(size.heads);
      if (model.width() == 0) model.set_width(size.width);
      return model.set_kind(kind->name);
    }
  }
}

// Refuses model fields that the kind does not know, because they would be ignored silently.
void RefuseStrangers(Checker& check, const ModelKind& kind, const Model& model) {
  for (int i = 0; i < model.GetDescriptor()->field_count(); ++i) {
    const auto* field = model.GetDescriptor()->field(i);
    const bool number = field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_STRING;
    if (!number || FindParameter(kind.parameters, field->name()) != nullptr) continue;
    const auto* const own = std::ranges::find(kOwnNumbers, field->name(), &std::pair<const char*, int>::first);
    if (model.kind() == kPython && own != std::end(kOwnNumbers)) continue;
    check.Require(common::NumberOf(model, field->name()) == 0, ModelField(field->name()),
                  absl::StrCat("means nothing to model.kind ", model.kind(), ": remove it"), Kind());
  }
}

void CheckMultiple(Checker& check, const Parameter& parameter, const Model& model) {
  const auto value = static_cast<int64_t>(common::NumberOf(model, parameter.field));
  const auto part = static_cast<int64_t>(common::NumberOf(model, parameter.multiple_of));
  if (part <= 0 || value <= 0 || value % part == 0) return;
  const int64_t below = value / part * part;
  check.Refuse(ModelField(parameter.field),
               absl::StrCat(value, " is not divisible by ", parameter.multiple_of, " ", part, ": use ",
                            below > 0 ? absl::StrCat(below, " or ") : "", below + part),
               {"spec.model.kind", ModelField(parameter.multiple_of)});
}

void CheckFields(Checker& check, const ModelKind& kind, const Model& model) {
  RefuseStrangers(check, kind, model);
  for (const Parameter& parameter : kind.parameters) {
    if (std::string(parameter.field) == models::kDropout.field) continue;
    CheckParameter(check, ModelField(parameter.field), parameter, common::NumberOf(model, parameter.field), Kind());
    if (parameter.multiple_of != nullptr) CheckMultiple(check, parameter, model);
  }
}

void CheckWeights(Checker& check, const Model& model) {
  check.Require(model.weights().empty() || absl::StartsWith(model.weights(), "/"), "spec.model.weights",
                absl::StrCat("'", model.weights().substr(0, 200), "' is not absolute: begin it with '/'"));
  check.Require(model.weights().size() <= kMaxPathBytes, "spec.model.weights", "is no path");
  check.Require(model.weights().empty() == model.weights_digest().empty(), "spec.model.weights_digest",
                model.weights().empty() ? "is of no spec.model.weights: remove it"
                                        : "is missing: submit the job with `rekindle`, which fills it in",
                {"spec.model"});
}

// Returns whether the text is "module:function", as Python writes names.
bool IsTask(const std::string& text) {
  const size_t colon = text.find(':');
  const auto is_part = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  };
  return colon != std::string::npos && colon > 0 && colon + 1 < text.size() && text.size() <= kMaxPathBytes &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_part(c) || c == ':'; }) &&
         text.find(':', colon + 1) == std::string::npos;
}

// Checks the names of the variables that the module finds in its environment. A name that decides about what runs is
// refused by each node, which knows them (worker/user_code/environment.h).
void CheckEnvironment(Checker& check, const Model& model) {
  constexpr int kMostNames = 64;
  check.Require(model.env_from_size() <= kMostNames, "spec.model.env_from",
                absl::StrCat("names ", model.env_from_size(), " variables, and at most ", kMostNames, " are taken"));
  for (const std::string& name : model.env_from()) {
    const bool is_name = !name.empty() && name.size() <= common::kLongestVariableName &&
                         !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
                         std::all_of(name.begin(), name.end(), [](char c) {
                           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
                         });
    // A value that was written there by mistake must not be repeated.
    check.Require(is_name, "spec.model.env_from",
                  "has what is no name of a variable: name variables, and write their values into the file env_from of "
                  "each node's folder",
                  Kind());
  }
}

// Checks the fields of the user's own model.
void CheckPython(Checker& check, const Model& model) {
  if (model.kind() != kPython) {
    for (const auto& [name, value] : {std::pair{"python", &model.python()},
                                      {"folder", &model.folder()},
                                      {"bundle", &model.bundle()},
                                      {"interpreter", &model.interpreter()}}) {
      check.Require(value->empty(), ModelField(name),
                    absl::StrCat("means nothing to model.kind ", model.kind(), ": remove it"), Kind());
    }
    check.Require(model.env_from().empty(), "spec.model.env_from",
                  absl::StrCat("means nothing to model.kind ", model.kind(), ": remove it"), Kind());
    return;
  }
  check.Require(
      IsTask(model.python()), "spec.model.python",
      absl::StrCat("'", model.python().substr(0, 200), "' is no task: write it as module:function, such as train:task"),
      Kind());
  check.Require(model.weights().empty(), "spec.model.weights",
                "means nothing to model.kind python: load them in the task", Kind());
  for (const auto& [name, value] : {std::pair{"folder", &model.folder()}, {"interpreter", &model.interpreter()}}) {
    check.Require(value->size() <= kMaxPathBytes && (value->empty() || absl::StartsWith(*value, "/")), ModelField(name),
                  absl::StrCat("'", value->substr(0, 200), "' is not absolute: begin it with '/'"));
  }
  const bool has_bundle = !model.bundle().empty();
  check.Require(
      !has_bundle || common::IsBundleAddress(model.bundle()), "spec.model.bundle",
      absl::StrCat("'", model.bundle().substr(0, 200),
                   "' is no address of a bundle: give `rekindle submit` the folder with the code, and it sends "
                   "the folder"));
  check.Require(has_bundle != !model.folder().empty(), "spec.model.folder",
                has_bundle ? "is not needed beside spec.model.bundle: remove one of them"
                           : "is missing: name the folder with the task's module, or send it as spec.model.bundle",
                Kind());
  for (const auto& [name, most] : kOwnNumbers) {
    check.Range(ModelField(name), common::NumberOf(model, name), 0, most);
  }
  CheckEnvironment(check, model);
}

// Checks what own models cannot do yet, or what the process that runs them cannot.
void CheckOwnRun(Checker& check, const v1::JobSpec& spec) {
  if (spec.model().kind() != kPython) return;
  check.Require(spec.workers().device() != "cuda", "spec.workers.device",
                "'cuda' is not for model.kind python, which computes on the CPU: use 'cpu', or remove it", Kind());
  check.Require(spec.training().first_epoch().empty(), "spec.training.first_epoch",
                "moves the job to GPUs, and model.kind python computes on the CPU: remove it", Kind());
  check.Require(spec.training().micro_batch() != 0, "spec.training.micro_batch",
                "'auto' does not see the memory of the process that runs model.kind python: name the number of samples",
                Kind());
  check.Require(spec.training().micro_batch() <= common::kMostOwnSamples, "spec.training.micro_batch",
                absl::StrCat(spec.training().micro_batch(), " is more than the ", common::kMostOwnSamples,
                             " samples that model.kind python takes at once: lower it"),
                Kind());
}

// Counts the model's parameters, if the fields are right: with wrong fields, computing the layout might never end.
void CheckSize(Checker& check, const ModelKind& kind, const v1::JobSpec& spec) {
  Fields reads = FieldsOfSampleSize();
  reads.push_back("spec.model.kind");
  for (const models::ModelField& field : models::kModelFields) reads.push_back(ModelField(field.name));
  if (!check.Sound(reads)) return;
  const auto parameters = static_cast<double>(kind.layout(models::ModelSpecOf(spec)).total);
  check.Require(parameters <= kMaxParameters, "spec.model",
                absl::StrCat("has ", parameters, " parameters, at most ", kMaxParameters, " are supported"),
                std::move(reads));
}

void CheckPaths(Checker& check, const std::string& field, const std::vector<std::string>& paths,
                const std::string& what) {
  check.Require(!paths.empty(), field, absl::StrCat("is missing: list the files or globs ", what));
  check.Require(paths.size() <= kMaxFiles, field,
                absl::StrCat("has ", paths.size(), " entries, at most ", kMaxFiles, ": use globs"));
  for (size_t i = 0; i < std::min<size_t>(paths.size(), kMaxFiles); ++i) {
    const std::string& path = paths[i];
    const std::string at = absl::StrCat(field, "[", i, "]");
    check.Require(path.size() <= kMaxPathBytes && path.find('\0') == std::string::npos, at, "is no path");
    check.Require(absl::StartsWith(path, "/"), at,
                  absl::StrCat("'", path.substr(0, 200), "' is not absolute: begin it with '/'"));
  }
}

// Checks that the model can read the job's data, and that the data section has what that kind of data needs.
void CheckForModel(Checker& check, const ModelKind& model, const v1::JobSpec& spec) {
  const v1::JobSpec::Data& data = spec.data();
  for (const data::DataKind* kind : data::DataKinds()) {
    check.Require(
        !data::IsGiven(data, *kind) || kind->form == model.reads, absl::StrCat("spec.data.", kind->name),
        absl::StrCat("is nothing that model.kind ", model.name, " can read: remove it, or choose another kind"),
        Kind());
  }
  if (model.reads == train::SampleForm::kOwn) return;
  const data::DataKind& read = data::KindOf(model.reads);
  CheckPaths(check, data::FilesField(read), data::FilesOf(data, read), read.files);
  if (read.check != nullptr) {
    read.check(data, [&](const std::string& field, const std::string& why, const std::vector<std::string>& reads) {
      check.Refuse(field, why, reads);
    });
  }
}

void CheckMicroBatch(Checker& check, const ModelKind& model, const v1::JobSpec& spec) {
  const bool windows = train::IsWindow(model.reads);
  check.Require(spec.data().max_bytes() == 0 || windows, "spec.data.max_bytes",
                "is for text and tokens only: remove it", Kind());
  if (model.reads == train::SampleForm::kOwn) return;
  const double elements = windows ? spec.model().context() : data::KindOf(model.reads).values(spec.data());
  Fields reads = FieldsOfSampleSize();
  reads.insert(reads.end(), {"spec.model.kind", "spec.model.context"});
  const char* sample = windows ? "spec.model.context" : "the values of a sample";
  check.Require(
      1.0 * spec.training().micro_batch() * elements <= kMaxSampleElements, "spec.training.micro_batch",
      absl::StrCat("times ", sample, " is over ", kMaxSampleElements, windows ? " tokens" : "", ": lower one"),
      std::move(reads));
}

// Returns whether the text is a fingerprint of data as trainers report it: 32 lower-case hex digits.
bool IsFingerprint(const std::string& text) {
  constexpr size_t kDigits = 32;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Fields FieldsOfSampleSize() {
  Fields fields;
  for (const data::DataKind* kind : data::DataKinds()) {
    if (kind->copy_size != nullptr) fields.push_back(absl::StrCat("spec.data.", kind->name));
  }
  return fields;
}

void FillModelAndData(v1::JobSpec& spec) {
  Model& model = *spec.mutable_model();
  v1::JobSpec::Data& data = *spec.mutable_data();
  if (model.kind().empty()) model.set_kind(model.python().empty() ? models::DefaultModel().name : kPython);
  if (!data.has_validation_fraction()) data.set_validation_fraction(kDefaultValidationFraction);
  FillSize(model);
  const ModelKind* kind = models::FindModel(model.kind());
  if (kind == nullptr) return;
  FillParameters(kind->parameters, spec.training().steps(), &model);
  if (kind->reads == train::SampleForm::kOwn) return;
  const data::DataKind& read = data::KindOf(kind->reads);
  if (read.fill != nullptr) read.fill(data);
}

void CheckModel(Checker& check, const v1::JobSpec& spec) {
  const Model& model = spec.model();
  const ModelKind* kind = models::FindModel(model.kind());
  check.OneOf("spec.model.kind", model.kind(), NamesOf(models::ModelKinds()));
  if (kind != nullptr) CheckFields(check, *kind, model);
  CheckParameter(check, "spec.model.dropout", models::kDropout, model.dropout(), {});
  const bool recomputes = spec.training().activations() == "recompute";
  check.Require(kind == nullptr || kind->recomputes || !recomputes, "spec.training.activations",
                absl::StrCat("'recompute' means nothing to model.kind ", model.kind(), ": remove it"), Kind());
  CheckWeights(check, model);
  CheckPython(check, model);
  CheckOwnRun(check, spec);
  if (kind != nullptr && kind->layout != nullptr) CheckSize(check, *kind, spec);
}

void CheckData(Checker& check, const v1::JobSpec& spec) {
  const v1::JobSpec::Data& data = spec.data();
  const ModelKind* model = models::FindModel(spec.model().kind());
  if (model != nullptr) CheckForModel(check, *model, spec);
  check.Range("spec.data.validation_fraction", data.validation_fraction(), 0, data::kMostValidationFraction);
  check.Range("spec.data.max_bytes", data.max_bytes(), 0, 1e15);
  check.Require(data.fingerprint().empty() || IsFingerprint(data.fingerprint()), "spec.data.fingerprint",
                "is no fingerprint: copy the 32 hex digits from the event data_differs, or remove it");
  if (model != nullptr) CheckMicroBatch(check, *model, spec);
}

}  // namespace rekindle::coordinator
