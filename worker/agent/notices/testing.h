// For tests of sources: HTTP without a network.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_TESTING_H_
#define REKINDLE_WORKER_AGENT_NOTICES_TESTING_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/notices/http.h"

namespace rekindle::agent {

// What a fake service saw, and how it answers. Outlives the Http that was made for it.
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

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_TESTING_H_
