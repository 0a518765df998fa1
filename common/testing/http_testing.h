// Provides tests with HTTP without a network, and with a service that never answers.
#ifndef REKINDLE_COMMON_TESTING_HTTP_TESTING_H_
#define REKINDLE_COMMON_TESTING_HTTP_TESTING_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/net/http.h"
#include "common/process/process.h"

namespace rekindle::common {

// Records the requests that a fake service receives, and answers them. A `FakeService` must outlive the Http that Open
// returns.
struct FakeService {
  std::function<absl::StatusOr<HttpAnswer>(const HttpRequest&)> answer;
  std::vector<HttpRequest> requests;

  std::unique_ptr<Http> Open() {
    class FakeHttp final : public Http {
     public:
      explicit FakeHttp(FakeService* service) : service_(service) {}
      absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) override {
        service_->requests.push_back(request);
        return service_->answer(request);
      }

     private:
      FakeService* const service_;
    };
    return std::make_unique<FakeHttp>(this);
  }
};

struct Listening {
  UniqueFd socket;
  std::string endpoint;
};

// Listens on loopback. Connections to it succeed, but nothing is ever sent on them.
inline Listening ListenOnLoopback() {
  Listening listening{.socket = UniqueFd(socket(AF_INET, SOCK_STREAM, 0)), .endpoint = ""};
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listening.socket.get(), 16), 0);
  getsockname(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  listening.endpoint = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port));
  return listening;
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_HTTP_TESTING_H_
