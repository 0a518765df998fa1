// Finds the coordinator that the user means, and the credentials for it.
#ifndef REKINDLE_CLI_CONNECTION_CONNECTION_H_
#define REKINDLE_CLI_CONNECTION_CONNECTION_H_

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/rpc.h"

namespace rekindle::cli {

inline constexpr char kDefaultEndpoint[] = "127.0.0.1:7070";

// Holds what the command line says about the coordinator. A part that was not given is empty.
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
  // `context` is the name of the context that the endpoint comes from. It is empty if the endpoint comes from none.
  std::string context;
};

// Finds the coordinator's endpoint and the credentials for it. Flags take precedence over the variables
// REKINDLE_ENDPOINT, REKINDLE_TLS_* and REKINDLE_TOKEN_FILE, these over the context (REKINDLE_CONTEXT, else the file's
// current one), and the context over the default. A context stands for one coordinator. If the endpoint is given in
// another way, nothing of the context is used, so that the context's token is sent to no other server. A context that a
// flag names takes precedence over the variables. NOT_FOUND says that there is no such context, and lists those that
// exist. INVALID_ARGUMENT says that the file of contexts is damaged.
absl::StatusOr<Connection> ResolveConnection(const ConnectionFlags& flags);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_CONNECTION_H_
