// Implements the verb market, which sets how many nodes the spot market of a local pool allows to run.
#include <iostream>
#include <memory>

#include "cli/shared/context.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"

namespace rekindle::cli {

void AddMarketVerb(CLI::App& app, Context& context) {
  struct Flags {
    std::string pool;
    int nodes = 0;
    double notice = -1;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("market", "Say how many nodes the spot market of a local pool lets run");
  verb->add_option("POOL", flags->pool, "Name of the pool in the fleet file")->required();
  verb->add_option("NODES", flags->nodes, "From now on; the newest beyond that go")
      ->required()
      ->check(common::WholeNumber(0, 100'000));
  verb->add_option("--notice", flags->notice, "How long before it is killed a node is told, as 30s; 0: it is not")
      ->transform(common::Seconds());
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    v1::SetMarketRequest request;
    request.set_pool(flags->pool);
    request.set_nodes(flags->nodes);
    if (flags->notice >= 0) request.set_notice_seconds(flags->notice);
    v1::SetMarketReply reply;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::SetMarket, request, &reply);
    if (!status.ok()) return status;
    if (context.json()) {
      std::cout << ToJson(reply) << "\n";
    } else {
      std::cout << "the market of " << Printable(flags->pool) << " lets " << flags->nodes << " nodes run\n";
    }
    return absl::OkStatus();
  });
}

}  // namespace rekindle::cli
