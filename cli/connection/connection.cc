#include "cli/connection/connection.h"

#include <cstdlib>

#include "cli/connection/context_file.h"

namespace rekindle::cli {
namespace {

constexpr char kGroup[] = "Flags of every verb";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const std::string& First(const std::string& one, const std::string& other) { return one.empty() ? other : one; }

// Returns the paths of TLS files and token in `first`. Where `first` has no path, the one in `other` is returned.
common::Security First(const common::Security& first, const common::Security& other) {
  return {.tls_cert = First(first.tls_cert, other.tls_cert),
          .tls_key = First(first.tls_key, other.tls_key),
          .tls_ca = First(first.tls_ca, other.tls_ca),
          .token_file = First(first.token_file, other.token_file)};
}

}  // namespace

void AddConnectionFlags(CLI::App& app, ConnectionFlags* flags) {
  CLI::Option* endpoint = app.add_option("--endpoint", flags->endpoint,
                                         "host:port of the coordinator (REKINDLE_ENDPOINT; else that of the "
                                         "context, else 127.0.0.1:7070)");
  endpoint->type_name("ADDRESS")->group(kGroup);
  app.add_option("--context", flags->context, "The context to use (REKINDLE_CONTEXT): see `rekindle help context`")
      ->type_name("CONTEXT")
      ->excludes(endpoint)
      ->group(kGroup);
  const auto file = [&](const char* name, std::string* path, const char* description) {
    app.add_option(name, *path, description)->type_name("FILE")->group(kGroup);
  };
  file("--tls-ca", &flags->security.tls_ca, "Authority of the coordinator's certificate (REKINDLE_TLS_CA)");
  file("--tls-cert", &flags->security.tls_cert, "Your certificate, as PEM (REKINDLE_TLS_CERT)");
  file("--tls-key", &flags->security.tls_key, "The key of --tls-cert (REKINDLE_TLS_KEY)");
  file("--token-file", &flags->security.token_file, "The coordinator's token (REKINDLE_TOKEN_FILE)");
}

absl::StatusOr<Connection> ResolveConnection(const ConnectionFlags& flags) {
  const common::Security variables = common::Security::FromEnvironment();
  Connection connection{.security = First(flags.security, variables)};
  const std::string endpoint = First(flags.endpoint, flags.context.empty() ? Variable("REKINDLE_ENDPOINT") : "");
  if (!endpoint.empty()) {
    connection.endpoint = endpoint;
    return connection;
  }
  const auto file = ReadContexts(ContextsPath());
  if (!file.ok()) return file.status();
  const std::string name = First(flags.context, First(Variable("REKINDLE_CONTEXT"), file->current));
  if (name.empty()) return connection;
  const auto context = FindContext(*file, name);
  if (!context.ok()) return context.status();
  connection.context = name;
  connection.endpoint = context->endpoint;
  connection.security = First(flags.context.empty() ? connection.security : flags.security, context->security);
  return connection;
}

}  // namespace rekindle::cli
