// Which coordinator is meant, and what it is to be told.
#ifndef REKINDLE_CLI_CONNECTION_CONNECTION_H_
#define REKINDLE_CLI_CONNECTION_CONNECTION_H_

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc.h"

namespace rekindle::cli {

inline constexpr char kDefaultEndpoint[] = "127.0.0.1:7070";

// What the command line says. A part that is empty was not given.
struct ConnectionFlags {
  std::string context;
  std::string endpoint;
  common::Security security;
};

// Adds --endpoint, --context, --tls-ca, --tls-cert, --tls-key and --token-file. `flags` must outlive `app`.
void AddConnectionFlags(CLI::App& app, ConnectionFlags* flags);

struct Connection {
  std::string endpoint = kDefaultEndpoint;
  common::Security security;
  std::string context;  // The one it was taken from; empty: none.
};

// Flags come before the variables REKINDLE_ENDPOINT, REKINDLE_TLS_* and REKINDLE_TOKEN_FILE, these before the context
// (REKINDLE_CONTEXT, else the file's current one), that before the default. A context is one coordinator: where the
// endpoint is given otherwise nothing of it is used, so that its token goes to nobody else. One that is named by a flag
// comes before the variables.
// NOT_FOUND: there is no such context; lists those that there are. INVALID_ARGUMENT: their file is damaged.
absl::StatusOr<Connection> ResolveConnection(const ConnectionFlags& flags);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_CONNECTION_H_
