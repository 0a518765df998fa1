#include "coordinator/fleet/providers/exec/exec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/process/command.h"
#include "common/text/printable.h"
#include "common/text/strict_json.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kMaxOutput = 16 << 20;
constexpr common::JsonLimits kLimits{.depth = 4, .values = 6 * kMaxMachines};
constexpr size_t kLongestName = 256;
constexpr char kEnded[] = "ended";

// Returns the environment of this process without the variables of Rekindle: tokens, keys and the URL of a webhook.
std::vector<std::string> CleanEnvironment() {
  std::vector<std::string> all = common::OwnEnvironment();
  std::erase_if(all, [](const std::string& entry) { return absl::StartsWith(entry, "REKINDLE_"); });
  return all;
}

absl::Status Refusal(const common::CommandResult& run, const std::string& what) {
  const auto said = common::ParseDocument(run.output);
  std::string text = said.ok() ? common::StringOr(*said, "error") : "";
  if (text.empty()) text = "its output has no {\"error\": ...}; see its errors in the coordinator's log";
  const std::string message =
      absl::StrCat(what, " ended with ", run.status.ToString(), ": ", common::Printable(text, 300));
  const std::string code = said.ok() ? common::StringOr(*said, "code") : "";
  if (code == "no_capacity") return absl::ResourceExhaustedError(message);
  if (code == "denied") return absl::PermissionDeniedError(message);
  if (code == "not_found") return absl::NotFoundError(message);
  if (code != "throttled") return absl::UnavailableError(message);
  const auto after = said->find("retry_after");
  return Throttled(message, after != said->end() && after->is_number() ? after->get<double>() : 0);
}

absl::StatusOr<Machine> ParseMachine(const nlohmann::json& each) {
  Machine machine;
  const absl::StatusOr<std::string> id = common::StringIn(each, "id");
  if (!id.ok()) return id.status();
  machine.id = *id;
  machine.node = common::StringOr(each, "node");
  if (machine.id.size() > kLongestName || machine.node.size() > kLongestName) {
    return absl::InvalidArgumentError("a name of more than 256 bytes");
  }
  const auto since = each.find("since");
  if (since != each.end() && !since->is_number()) return absl::InvalidArgumentError("'since' is no Unix time");
  if (since != each.end()) machine.since = since->get<double>();
  const std::string state = common::StringOr(each, "state");
  if (state == "starting") machine.state = MachineState::kStarting;
  if (state == "ending") machine.state = MachineState::kEnding;
  if (state.empty() || state == "starting" || state == "running" || state == "ending" || state == kEnded) {
    return machine;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("state '", common::Printable(state, 32), "': use starting, running, ending or ended"));
}

absl::StatusOr<Listing> ParseListing(const std::string& text) {
  const auto document = common::ParseDocument(text, kLimits);
  if (!document.ok()) return document.status();
  const auto machines = document->is_object() ? document->find("machines") : document->end();
  if (machines == document->end() || !machines->is_array()) {
    return absl::InvalidArgumentError("the list 'machines' is missing");
  }
  Listing listing;
  for (const nlohmann::json& each : *machines) {
    absl::StatusOr<Machine> machine = ParseMachine(each);
    if (!machine.ok()) return machine.status();
    if (common::StringOr(each, "state") == kEnded) {
      if (!machine->node.empty()) listing.ended.push_back(std::move(machine->node));
      continue;
    }
    listing.machines.push_back(*std::move(machine));
  }
  const auto desired = document->find("desired");
  if (desired != document->end()) {
    if (!desired->is_number_unsigned() || desired->get<uint64_t>() > static_cast<uint64_t>(kMaxMachines)) {
      return absl::InvalidArgumentError("'desired' is no number of machines");
    }
    listing.desired = desired->get<int>();
  }
  return listing;
}

class ExecProvider final : public Provider {
 public:
  explicit ExecProvider(std::vector<std::string> command) : command_(std::move(command)) {}

  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double seconds) override {
    std::vector<std::string> arguments = {"desired", pool, absl::StrCat(nodes)};
    arguments.insert(arguments.end(), release.begin(), release.end());
    return Run(std::move(arguments), seconds).status();
  }

  absl::StatusOr<Listing> List(const std::string& pool, double seconds) override {
    const absl::StatusOr<std::string> output = Run({"list", pool}, seconds);
    if (!output.ok()) return output.status();
    absl::StatusOr<Listing> listing = ParseListing(*output);
    if (listing.ok()) return listing;
    return absl::InternalError(absl::StrCat(command_[0], " list: ", std::string(listing.status().message())));
  }

 private:
  absl::StatusOr<std::string> Run(std::vector<std::string> arguments, double seconds) {
    const std::string what = absl::StrCat(command_[0], " ", arguments[0]);
    std::vector<std::string> argv = command_;
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    absl::StatusOr<common::CommandResult> run = common::RunToEnd({.argv = std::move(argv),
                                                                  .environment = CleanEnvironment(),
                                                                  .limit_seconds = seconds,
                                                                  .max_bytes = kMaxOutput,
                                                                  .keep_stderr = true});
    if (!run.ok()) {
      return absl::Status(run.status().code(), absl::StrCat(what, ": ", std::string(run.status().message())));
    }
    if (run->status.code != 0) return Refusal(*run, what);
    return std::move(run->output);
  }

  const std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Provider> NewExecProvider(std::vector<std::string> command) {
  return std::make_unique<ExecProvider>(std::move(command));
}

}  // namespace rekindle::fleet
