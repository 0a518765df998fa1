// nodes, nodes gone, drain.
#include <iostream>
#include <memory>

#include "cli/context.h"
#include "cli/text.h"

namespace rekindle::cli {
namespace {

std::string Joined(const google::protobuf::RepeatedPtrField<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : " ") + item;
  return out.empty() ? "-" : out;
}

// "us-east-2a/t/spot", with "(unpriced)" where the fleet file has no such pool.
std::string Pool(const v1::Node& node) {
  if (node.pool().empty()) return "-";
  return Printable(node.pool()) + (node.capacity() == "unpriced" ? " (unpriced)" : "");
}

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

void AddNodes(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("nodes", "List nodes and what runs on them");
  AddGone(*verb, context);
  context.OnRun(verb, [verb, &context]() -> absl::Status {
    if (!verb->get_subcommands().empty()) return absl::OkStatus();  // It is that one's run.
    v1::ListNodesReply all;
    v1::ListNodesRequest request;
    do {
      v1::ListNodesReply page;
      absl::Status status = context.Call(&v1::Coordinator::StubInterface::ListNodes, request, &page);
      if (!status.ok()) return status;
      for (v1::Node& node : *page.mutable_nodes()) *all.add_nodes() = std::move(node);
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    if (context.json()) {
      std::cout << ToJson(all) << "\n";
      return absl::OkStatus();
    }
    std::vector<std::vector<std::string>> rows = {{"NODE", "STATE", "POOL", "SLOTS", "SEEN", "TRAINERS", "REASON"}};
    for (const v1::Node& node : all.nodes()) {
      rows.push_back({node.name(), node.state(), Pool(node), std::to_string(node.slots()),
                      Fixed(node.last_seen_seconds(), 1) + " s ago", Joined(node.trainers()),
                      Printable(node.reason())});
    }
    std::cout << Table(rows);
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
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::CASE_SENSITIVE));
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
    if (context.json()) {
      std::cout << ToJson(node) << "\n";
    } else {
      std::cout << node.name() << " is " << node.state() << ": " << Printable(node.reason()) << "\n";
    }
    return absl::OkStatus();
  });
}

}  // namespace

void AddNodeVerbs(CLI::App& app, Context& context) {
  AddNodes(app, context);
  AddDrain(app, context);
}

}  // namespace rekindle::cli
