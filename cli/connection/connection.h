// Finds the coordinator that the user means, and the credentials for it.
#ifndef REKINDLE_CLI_CONNECTION_CONNECTION_H_
#define REKINDLE_CLI_CONNECTION_CONNECTION_H_

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/rpc.h"

namespace rekindle::cli {

inline constexpr char kDefaultEndpoint[] = "127.0.0.1:7070";

// Holds what the command line says. An empty part was not given.
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
  // `context` is the context that the endpoint comes from. It is empty if there is none.
  std::string context;
};

// Finds the connection. Flags come before the variables REKINDLE_ENDPOINT, REKINDLE_TLS_* and REKINDLE_TOKEN_FILE.
// These come before the context (REKINDLE_CONTEXT, else the file's current one), and that comes before the default. A
// context stands for one coordinator. If the endpoint is given in another way, nothing of the context is used, so that
// its token is sent to no other server. A context that a flag names comes before the variables.
// NOT_FOUND says that there is no such context, and lists those that exist. INVALID_ARGUMENT says that their file is
// damaged.
absl::StatusOr<Connection> ResolveConnection(const ConnectionFlags& flags);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_CONNECTION_H_
