#include "worker/data/declared/data_kinds.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace rekindle::data {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Data = v1::JobSpec::Data;

const FieldDescriptor& FieldOf(const DataKind& kind) { return *Data::descriptor()->FindFieldByName(kind.name); }

// Returns the field with the kind's list of files: the kind's own field, or `files` in its message.
const FieldDescriptor* ListOf(const DataKind& kind) {
  const FieldDescriptor& field = FieldOf(kind);
  return field.is_repeated() ? &field : field.message_type()->FindFieldByName("files");
}

// Returns the message that has the kind's list of files, or null if the job does not have it.
const Message* HolderOf(const Data& data, const DataKind& kind) {
  const FieldDescriptor& field = FieldOf(kind);
  if (field.is_repeated()) return &data;
  return data.GetReflection()->HasField(data, &field) ? &data.GetReflection()->GetMessage(data, &field) : nullptr;
}

Message* MutableHolderOf(Data* data, const DataKind& kind) {
  const FieldDescriptor& field = FieldOf(kind);
  return field.is_repeated() ? data : data->GetReflection()->MutableMessage(data, &field);
}

}  // namespace

std::span<const DataKind* const> DataKinds() {
#define REKINDLE_ENTRY(Name) &k##Name##Data,
  static constexpr std::array kKinds{REKINDLE_DATA_KINDS(REKINDLE_ENTRY)};
#undef REKINDLE_ENTRY
  return kKinds;
}

const DataKind& KindOf(train::SampleForm form) {
  const auto kinds = DataKinds();
  return **std::find_if(kinds.begin(), kinds.end(), [&](const DataKind* kind) { return kind->form == form; });
}

const DataKind& KindOf(const Data& data) {
  const auto kinds = DataKinds();
  const auto given =
      std::find_if(kinds.begin(), kinds.end(), [&](const DataKind* kind) { return IsGiven(data, *kind); });
  return given == kinds.end() ? *kinds.front() : **given;
}

bool IsGiven(const Data& data, const DataKind& kind) {
  return FieldOf(kind).is_repeated() ? !FilesOf(data, kind).empty() : HolderOf(data, kind) != nullptr;
}

std::string FilesField(const DataKind& kind) {
  return absl::StrCat("spec.data.", kind.name, FieldOf(kind).is_repeated() ? "" : ".files");
}

std::vector<std::string> FilesOf(const Data& data, const DataKind& kind) {
  std::vector<std::string> files;
  const Message* holder = HolderOf(data, kind);
  if (holder == nullptr) return files;
  const auto* reflection = holder->GetReflection();
  const FieldDescriptor* list = ListOf(kind);
  for (int i = 0; i < reflection->FieldSize(*holder, list); ++i) {
    files.push_back(reflection->GetRepeatedString(*holder, list, i));
  }
  return files;
}

void ForEachFile(Data* data, const std::function<void(std::string&)>& change) {
  for (const DataKind* kind : DataKinds()) {
    std::vector<std::string> files = FilesOf(*data, *kind);
    if (files.empty()) continue;
    Message* holder = MutableHolderOf(data, *kind);
    for (size_t i = 0; i < files.size(); ++i) {
      change(files[i]);
      holder->GetReflection()->SetRepeatedString(holder, ListOf(*kind), static_cast<int>(i), files[i]);
    }
  }
}

}  // namespace rekindle::data
