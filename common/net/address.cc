#include "common/net/address.h"

#include <arpa/inet.h>

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

constexpr char kUnix[] = "unix:";

}  // namespace

absl::StatusOr<HostPort> SplitAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  HostPort split;
  const bool parsed = colon != std::string::npos && colon > 0 &&
                      absl::SimpleAtoi(address.substr(colon + 1), &split.port) && split.port >= 0 &&
                      split.port <= 65535;
  if (parsed) split.host = address.substr(0, colon);
  const bool bracketed = split.host.size() > 2 && split.host.front() == '[' && split.host.back() == ']';
  if (bracketed) split.host = split.host.substr(1, split.host.size() - 2);
  if (!parsed || (!bracketed && split.host.find(':') != std::string::npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is no address: write host:port, as 127.0.0.1:7070, or unix:/path"));
  }
  return split;
}

bool IsUnixAddress(const std::string& address) { return address.rfind(kUnix, 0) == 0; }

std::string UnixPath(const std::string& address) { return address.substr(std::strlen(kUnix)); }

absl::Status CheckAddress(const std::string& address) {
  return IsUnixAddress(address) ? absl::OkStatus() : SplitAddress(address).status();
}

bool IsLocalAddress(const std::string& address) {
  if (IsUnixAddress(address)) return true;
  const absl::StatusOr<HostPort> split = SplitAddress(address);
  if (!split.ok()) return false;
  if (split->host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, split->host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, split->host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool IsLoopback(const std::string& address) { return !IsUnixAddress(address) && IsLocalAddress(address); }

}  // namespace rekindle::common
