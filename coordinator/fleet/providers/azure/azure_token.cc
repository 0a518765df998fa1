#include "coordinator/fleet/providers/azure/azure_token.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace rekindle::fleet {
namespace {

constexpr double kLocalSeconds = 3;
constexpr char kResource[] = "https://management.azure.com/";

std::string Or(const std::string& value, const char* otherwise) {
  const std::string chosen = value.empty() ? otherwise : value;
  return std::string(absl::StripSuffix(chosen, "/"));
}

absl::StatusOr<Token> FromSecret(const Variables& variables, const std::string& tenant, double now) {
  auto http = common::OpenHttp(Or(variables("AZURE_AUTHORITY_HOST"), "https://login.microsoftonline.com"),
                               {.seconds = kApiSeconds, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  return ParseToken(
      "Azure's token service",
      (*http)->Send(
          {.method = "POST",
           .path = absl::StrCat("/", Escaped(tenant), "/oauth2/v2.0/token"),
           .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
           .body = absl::StrCat("grant_type=client_credentials&client_id=", Escaped(variables("AZURE_CLIENT_ID")),
                                "&client_secret=", Escaped(variables("AZURE_CLIENT_SECRET")),
                                "&scope=", Escaped(absl::StrCat(kResource, ".default")))}),
      now);
}

absl::StatusOr<Token> FromIdentity(const Variables& variables, double now) {
  auto http = common::OpenHttp(Or(variables("AZURE_POD_IDENTITY_AUTHORITY_HOST"), "http://169.254.169.254"),
                               {.seconds = kLocalSeconds});
  if (!http.ok()) return http.status();
  const std::string client = variables("AZURE_CLIENT_ID");
  return ParseToken(
      "the machine's managed identity",
      (*http)->Send(
          {.path = absl::StrCat("/metadata/identity/oauth2/token?api-version=2018-02-01&resource=", Escaped(kResource),
                                client.empty() ? "" : absl::StrCat("&client_id=", Escaped(client))),
           .headers = {{"Metadata", "true"}}}),
      now);
}

}  // namespace

FetchToken AzureToken(Variables variables) {
  return [variables = std::move(variables)](double now) {
    const std::string tenant = variables("AZURE_TENANT_ID");
    const bool secret = !tenant.empty() && !variables("AZURE_CLIENT_SECRET").empty();
    return secret ? FromSecret(variables, tenant, now) : FromIdentity(variables, now);
  };
}

}  // namespace rekindle::fleet
