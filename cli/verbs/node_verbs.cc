// Implements the verbs nodes gone, drain and undrain.
#include <iostream>
#include <memory>

#include "cli/shared/context.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"

namespace rekindle::cli {
namespace {

void AddGone(CLI::App& nodes, Context& context) {
  auto node = std::make_shared<std::string>();
  CLI::App* verb = nodes.add_subcommand(
      "gone", "Say that a node's machine does not run any more, so that its jobs need not wait for it");
  verb->add_option("NODE", *node, "Name of the node")->required();
  context.OnRun(verb, [node, &context]() -> absl::Status {
    v1::NodeGoneRequest request;
    request.set_node(*node);
    request.set_request_id(NewRequestId());
    v1::NodeGoneReply reply;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::NodeGone, request, &reply);
    if (!status.ok()) return status;
    std::cout << (context.json() ? ToJson(reply) : "node " + *node + " is taken for gone") << "\n";
    return absl::OkStatus();
  });
}

void PrintNode(const Context& context, const v1::Node& node) {
  if (context.json()) {
    std::cout << ToJson(node) << "\n";
  } else {
    const std::string reason = node.reason().empty() ? "" : ": " + Printable(node.reason());
    std::cout << Printable(node.name()) << " is " << node.state() << reason << "\n";
  }
}

void AddUndrain(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("undrain", "Take a drain back: the node takes work again");
  verb->add_option("NODE", *name, "Name of the node")->required();
  verb->footer(
      "As long as the node has not drained. One that has, and one that leaves by itself (a notice, SIGTERM), takes "
      "work "
      "again once its worker is started again.");
  context.OnRun(verb, [name, &context]() -> absl::Status {
    v1::UndrainNodeRequest request;
    request.set_node(*name);
    request.set_request_id(NewRequestId());
    v1::Node node;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::UndrainNode, request, &node);
    if (!status.ok()) return status;
    PrintNode(context, node);
    return absl::OkStatus();
  });
}

void AddDrain(CLI::App& app, Context& context) {
  struct Flags {
    std::string node;
    double within = 0;
    std::string reason = "asked by rekindle drain";
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("drain", "Take a node out at the next step boundary; no work is lost");
  verb->add_option("NODE", flags->node, "Name of the node")->required();
  verb->add_option("--within", flags->within, "Leave by then at any price: 30s, 2m; default: no limit")
      ->transform(common::Seconds());
  verb->add_option("--reason", flags->reason, "For the events")->capture_default_str();
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    v1::DrainNodeRequest request;
    request.set_node(flags->node);
    request.set_within_seconds(flags->within);
    request.set_reason(flags->reason);
    request.set_request_id(NewRequestId());
    v1::Node node;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::DrainNode, request, &node);
    if (!status.ok()) return status;
    PrintNode(context, node);
    return absl::OkStatus();
  });
}

}  // namespace

void AddNodeVerbs(CLI::App& app, Context& context) {
  AddGone(*app.get_subcommand("nodes"), context);
  AddDrain(app, context);
  AddUndrain(app, context);
}

}  // namespace rekindle::cli
