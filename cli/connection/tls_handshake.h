// Makes a TLS handshake with a server that is not trusted, to learn why a proper handshake fails.
#ifndef REKINDLE_CLI_CONNECTION_TLS_HANDSHAKE_H_
#define REKINDLE_CLI_CONNECTION_TLS_HANDSHAKE_H_

#include <string>

#include "common/net/address.h"
#include "common/rpc/security.h"

namespace rekindle::cli {

// Holds what was seen in a handshake. Texts of the server's certificate are the server's own, so they must be printed
// through Printable.
struct TlsHandshake {
  // `connected` says that a server listens at the address.
  bool connected = false;
  // `speaks_tls` says that the server has answered with a certificate.
  bool speaks_tls = false;
  // `talks` says that the server has sent something after the handshake, so it accepts the client.
  bool talks = false;
  // `trust` says why the server's certificate must not be trusted. It is empty if the certificate can be trusted.
  std::string trust;
  // `expired` says that the server's certificate has expired.
  bool expired = false;
  // `unknown_authority` says that another authority than the given one has signed the server's certificate.
  bool unknown_authority = false;
  // `other_name` says that the server's certificate names another host.
  bool other_name = false;
  // `names` lists the hosts that the server's certificate names.
  std::string names;
  // `until` is the time at which the server's certificate expires or has expired, as "2026-01-31 12:00 UTC".
  std::string until;
  // `hung_up` says that the server ended the connection instead of sending something.
  bool hung_up = false;
  // `silent` says that the server sent nothing at all. The server may be stopped or overloaded.
  bool silent = false;
  // `alert` says in TLS's words why the server hung up. It is empty if the server did not say.
  std::string alert;
};

// Makes a TLS handshake, which takes 2 s at most beside the look-up of the host. If `security` has no TLS files,
// nothing is trusted. No token and no request is sent.
TlsHandshake ShakeHands(const common::HostPort& at, const common::Security& security);

// Returns the time at which the certificate in a PEM file expired, in the form of `TlsHandshake::until`. Returns an
// empty text if it has not expired or cannot be read.
std::string EndedAt(const std::string& certificate_file);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_CONNECTION_TLS_HANDSHAKE_H_
