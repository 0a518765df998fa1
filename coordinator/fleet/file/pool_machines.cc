#include "coordinator/fleet/file/pool_machines.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/net/http.h"
#include "common/spec/field_check.h"

namespace rekindle::fleet {
namespace {

using Field = google::protobuf::FieldDescriptor;

constexpr double kStartSeconds = 300;
constexpr double kDay = 86400;

// Returns the provider's description of a field of `machines`, or null where that provider's pools do not have the
// field.
const MachineField* FieldOf(const ProviderKind& kind, const Field& field) {
  const auto found = std::find_if(kind.fields.begin(), kind.fields.end(),
                                  [&](const MachineField& each) { return each.name == field.name(); });
  return found == kind.fields.end() ? nullptr : &*found;
}

std::vector<const Field*> GivenFields(const v1::Fleet::Machines& machines) {
  std::vector<const Field*> given;
  machines.GetReflection()->ListFields(machines, &given);
  return given;
}

// Checks that each field of `machines` in the fleet file belongs to the provider, and that no field which the provider
// needs is missing.
absl::Status CheckFields(const std::string& path, const ProviderKind& kind, const v1::Fleet::Machines& machines) {
  const std::vector<const Field*> given = GivenFields(machines);
  for (const Field* field : given) {
    if (FieldOf(kind, *field) != nullptr) continue;
    if (field->name() == "start_seconds" || field->name() == "poll_seconds") continue;
    return common::WrongField(absl::StrCat(path, ".", field->name()),
                              absl::StrCat("is not for provider ", kind.name, ": remove it"));
  }
  for (const MachineField& field : kind.fields) {
    const bool there = std::any_of(given.begin(), given.end(), [&](const Field* f) { return f->name() == field.name; });
    if (there || !field.needed) continue;
    return common::WrongField(absl::StrCat(path, ".", field.name),
                              absl::StrCat("is missing: provider ", kind.name, " needs it"));
  }
  return absl::OkStatus();
}

absl::Status CheckMachineEndpoint(const std::string& field, const std::string& endpoint) {
  const absl::Status fit = common::CheckEndpoint(endpoint, {.reach = common::Reach::kSecure});
  return fit.ok() ? fit : common::WrongField(field, std::string(fit.message()));
}

// Calls `check` for each field of `machines` that the fleet file gives and that has the form `form`. REQUIRES: the
// fields of that form are texts.
absl::Status CheckForm(const std::string& path, const ProviderKind& kind, const v1::Fleet::Machines& machines,
                       MachineField::Form form, absl::Status (*check)(const std::string&, const std::string&)) {
  for (const Field* field : GivenFields(machines)) {
    const MachineField* described = FieldOf(kind, *field);
    if (described == nullptr || described->form != form) continue;
    const std::string value = machines.GetReflection()->GetString(machines, field);
    if (absl::Status s = check(absl::StrCat(path, ".", field->name()), value); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolvePoolMachines(const std::string& path, const ProviderKind& kind, v1::Fleet::Pool& pool) {
  if (!pool.has_machines()) {
    if (pool.min() == 0) return absl::OkStatus();
    return common::WrongField(path + ".min",
                              "the coordinator keeps nodes only where it gets machines: add `machines`, or remove it");
  }
  const std::string in = path + ".machines";
  v1::Fleet::Machines& machines = *pool.mutable_machines();
  if (absl::Status s = CheckFields(in, kind, machines); !s.ok()) return s;
  if (absl::Status s = CheckForm(in, kind, machines, MachineField::Form::kName, CheckName); !s.ok()) return s;
  if (kind.resolve != nullptr) {
    if (absl::Status s = kind.resolve(path, pool); !s.ok()) return s;
  }
  if (absl::Status s = CheckForm(in, kind, machines, MachineField::Form::kEndpoint, CheckMachineEndpoint); !s.ok()) {
    return s;
  }
  if (machines.start_seconds() == 0) machines.set_start_seconds(kStartSeconds);
  if (machines.poll_seconds() == 0) machines.set_poll_seconds(kind.poll_seconds);
  if (absl::Status s = common::CheckRange(in + ".start_seconds", machines.start_seconds(), 0, kDay); !s.ok()) return s;
  return common::CheckRange(in + ".poll_seconds", machines.poll_seconds(), 0.1, 3600);
}

}  // namespace rekindle::fleet
