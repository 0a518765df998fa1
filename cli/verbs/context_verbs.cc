// Implements the verbs context ls, use, set and rm.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/connection/context_file.h"
#include "cli/shared/context.h"
#include "cli/text/plain_table.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFooter[] =
    "A context is a coordinator with its TLS files and its token, by name, in\n"
    "~/.config/rekindle/contexts.yaml ($XDG_CONFIG_HOME). Flags come before variables, and these before the context: "
    "the one that --context or REKINDLE_CONTEXT names, else the one that `use` has chosen. Where --endpoint or "
    "REKINDLE_ENDPOINT names the coordinator no context is used. The files themselves stay where they are.";

// Returns the environment variable, as NAME=VALUE, that is used instead of the current context, or an empty text if
// there is none.
std::string Overruling() {
  for (const char* name : {"REKINDLE_ENDPOINT", "REKINDLE_CONTEXT"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return std::string(name) + "=" + value;
  }
  return "";
}

Json JsonOf(const std::string& name, const NamedCoordinator& context, bool current) {
  return {{"name", name},
          {"current", current},
          {"endpoint", context.endpoint},
          {"tls_ca", context.security.tls_ca},
          {"tls_cert", context.security.tls_cert},
          {"tls_key", context.security.tls_key},
          {"token_file", context.security.token_file}};
}

void Tell(const Context& context, const Json& json, const std::string& line) {
  std::cout << (context.json() ? json.dump(1) : line) << "\n";
}

absl::Status List(const Context& context) {
  const auto file = ReadContexts(ContextsPath());
  if (!file.ok()) return file.status();
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows = {{"", "NAME", "ENDPOINT", "TLS", "TOKEN"}};
  for (const auto& [name, each] : file->contexts) {
    const bool current = name == file->current;
    all.push_back(JsonOf(name, each, current));
    rows.push_back({current ? "*" : "", name, Printable(each.endpoint), each.security.HasTls() ? "yes" : "-",
                    each.security.token_file.empty() ? "-" : "yes"});
  }
  if (context.json()) {
    std::cout << Json{{"contexts", all}}.dump(1) << "\n";
    return absl::OkStatus();
  }
  if (rows.size() == 1) {
    std::cout << "There are no contexts; `rekindle context set NAME --endpoint HOST:PORT` makes one.\n";
    return absl::OkStatus();
  }
  std::cout << Table(rows);
  const std::string overruling = Overruling();
  if (!overruling.empty()) std::cout << Printable(overruling) << " is set, and comes before the one marked *.\n";
  return absl::OkStatus();
}

absl::Status Use(const Context& context, const std::string& name) {
  auto file = ReadContexts(ContextsPath());
  if (!file.ok()) return file.status();
  const auto found = FindContext(*file, name);
  if (!found.ok()) return found.status();
  file->current = name;
  if (absl::Status status = WriteContexts(ContextsPath(), *file); !status.ok()) return status;
  Tell(context, JsonOf(name, *found, true), name + " is used from now on: " + Printable(found->endpoint));
  return absl::OkStatus();
}

absl::Status Remove(const Context& context, const std::string& name) {
  auto file = ReadContexts(ContextsPath());
  if (!file.ok()) return file.status();
  const auto found = FindContext(*file, name);
  if (!found.ok()) return found.status();
  file->contexts.erase(name);
  const bool current = file->current == name;
  if (current) file->current.clear();
  if (absl::Status status = WriteContexts(ContextsPath(), *file); !status.ok()) return status;
  Tell(context, JsonOf(name, *found, false),
       name + " is removed" + (current ? ", and no context is used any more" : "") + "; its files stay");
  return absl::OkStatus();
}

// Holds the flags of `context set`. What is not given stays as it is.
using Change = std::optional<std::string>;
struct Changes {
  std::string name;
  std::string endpoint;
  Change tls_ca, tls_cert, tls_key, token_file;
};

// Changes the path of a file in a context. An empty value removes the file from the context.
void ChangePath(const Change& given, std::string* path) {
  if (given) *path = given->empty() ? "" : std::filesystem::absolute(*given).lexically_normal().string();
}

absl::Status Set(const Context& context, const Changes& changes) {
  if (!IsContextName(changes.name)) {
    throw CLI::ValidationError("NAME", "must be 1 to 63 letters, digits, '.', '_' or '-', and begin with none of '.-'");
  }
  auto file = ReadContexts(ContextsPath());
  if (!file.ok()) return file.status();
  NamedCoordinator& changed = file->contexts[changes.name];
  if (!changes.endpoint.empty()) changed.endpoint = changes.endpoint;
  if (changed.endpoint.empty()) throw CLI::RequiredError("--endpoint");
  if (absl::Status status = common::CheckAddress(changed.endpoint); !status.ok()) {
    throw CLI::ValidationError("--endpoint", std::string(status.message()));
  }
  ChangePath(changes.tls_ca, &changed.security.tls_ca);
  ChangePath(changes.tls_cert, &changed.security.tls_cert);
  ChangePath(changes.tls_key, &changed.security.tls_key);
  ChangePath(changes.token_file, &changed.security.token_file);
  if (absl::Status status = WriteContexts(ContextsPath(), *file); !status.ok()) return status;
  const bool current = file->current == changes.name;
  Tell(context, JsonOf(changes.name, changed, current),
       changes.name + " is " + Printable(changed.endpoint) +
           (current ? "" : "; `rekindle context use " + changes.name + "` makes it the one that is used"));
  return absl::OkStatus();
}

void AddSet(CLI::App& parent, Context& context) {
  auto changes = std::make_shared<Changes>();
  CLI::App* verb = parent.add_subcommand("set", "Make a context, or change what is given of it");
  verb->add_option("NAME", changes->name, "Name of the context")->required();
  verb->add_option("--endpoint", changes->endpoint, "host:port of the coordinator; a new context needs it")
      ->type_name("ADDRESS");
  const auto file = [&](const char* flag, Change Changes::*path, const std::string& description) {
    verb->add_option_function<std::string>(
            flag, [changes, path](const std::string& value) { (*changes).*path = value; },
            description + "; '' takes it away")
        ->type_name("FILE");
  };
  file("--tls-ca", &Changes::tls_ca, "Authority of the coordinator's certificate");
  file("--tls-cert", &Changes::tls_cert, "Your certificate");
  file("--tls-key", &Changes::tls_key, "Its key");
  file("--token-file", &Changes::token_file, "The coordinator's token");
  context.OnRun(verb, [changes, &context] { return Set(context, *changes); });
}

CLI::App* AddNamed(CLI::App& parent, Context& context, const char* name, const char* description,
                   absl::Status (*action)(const Context&, const std::string&)) {
  auto chosen = std::make_shared<std::string>();
  CLI::App* verb = parent.add_subcommand(name, description);
  verb->add_option("CONTEXT", *chosen, "Its name")->required();
  context.OnRun(verb, [chosen, action, &context] { return action(context, *chosen); });
  return verb;
}

}  // namespace

void AddContextVerbs(CLI::App& app, Context& context) {
  CLI::App* parent = app.add_subcommand("context", "Keep coordinators by name, and choose the one that is used");
  parent->require_subcommand(1);
  parent->fallthrough();
  parent->footer(kFooter);
  CLI::App* list = parent->add_subcommand("ls", "List contexts");
  context.OnRun(list, [&context] { return List(context); });
  AddNamed(*parent, context, "use", "Use a context from now on", &Use);
  AddSet(*parent, context);
  AddNamed(*parent, context, "rm", "Remove a context; its files stay", &Remove);
}

}  // namespace rekindle::cli
