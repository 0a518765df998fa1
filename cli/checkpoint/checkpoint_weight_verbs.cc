// Implements the verbs checkpoint export and import.
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "checkpoint/weights/export.h"
#include "cli/checkpoint/checkpoint_verbs.h"
#include "cli/job_file/one_job.h"
#include "cli/job_file/weights.h"
#include "cli/store/checkpoint_place.h"
#include "cli/submit/submit.h"
#include "cli/text/number_text.h"
#include "common/files/file.h"
#include "common/spec/flag_values.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

void AddExport(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("export", "Write a checkpoint's weights as a plain safetensors set");
  verb->footer(
      "Without CHECKPOINT: the newest. DIR gets model.safetensors, or numbered files and "
      "model.safetensors.index.json,\n"
      "as Python's safetensors and Hugging Face's libraries read them.");
  auto flags = AddPlace(verb, "JOB [CHECKPOINT] DIR");
  auto options = std::make_shared<checkpoint::ExportOptions>();
  using checkpoint::FloatType;
  static const auto* types = new std::map<std::string, FloatType>{
      {"f32", FloatType::kF32}, {"f16", FloatType::kF16}, {"bf16", FloatType::kBf16}};
  verb->add_option_function<std::string>(
          "--dtype", [options](const std::string& type) { options->type = types->at(type); }, "What values become")
      ->check(common::OneOf({"f32", "f16", "bf16"}))
      ->default_str("f32");
  verb->add_option("--max-file-bytes", options->max_file_bytes, "Cut into files of at most so many, as 5GB")
      ->transform(common::Bytes(1));
  context.OnRun(verb, [flags, options, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *flags, 1, 2);
    if (!place.ok()) return place.status();
    auto store = OpenStore(place->store);
    if (!store.ok()) return store.status();
    const absl::StatusOr<std::string> name =
        place->args.size() == 2 ? absl::StatusOr<std::string>(place->args[0]) : NewestOf(*store, *place);
    if (!name.ok()) return name.status();
    const std::string folder = std::filesystem::absolute(place->args.back()).lexically_normal();
    absl::StatusOr<checkpoint::Exported> done;
    {
      ProgressBar bar(context, *name);
      done = checkpoint::ExportWeights(*store, place->uid, *name, *common::PosixFileSystem(), folder, *options,
                                       [&](int64_t at, int64_t all) { bar.Show(at, all); });
    }
    if (!done.ok()) return done.status();
    if (context.json()) {
      std::cout << Json{{"checkpoint", *name},
                        {"folder", folder},
                        {"files", done->files},
                        {"parameters", static_cast<double>(done->parameters)},
                        {"bytes", static_cast<double>(done->bytes)}}
                       .dump(1)
                << "\n";
    } else {
      std::cout << *name << "  exported to " << folder << ": " << Short(static_cast<double>(done->parameters))
                << " parameters, " << Short(static_cast<double>(done->bytes)) << " bytes in " << done->files.size()
                << (done->files.size() == 1 ? " file\n" : " files\n");
    }
    return absl::OkStatus();
  });
}

void AddImport(CLI::App& parent, Context& context) {
  struct Flags {
    std::string set;
    std::string job;
    bool wait = false;
  };
  CLI::App* verb = parent.add_subcommand("import", "Start a job from a plain safetensors set (transfer learning)");
  verb->footer(
      "The same as model.weights in the job file. The set must be at that path on every node; tensors have the names "
      "and\n"
      "shapes that `export` gives them. What is missing, extra or of another shape is listed, and nothing is started.");
  auto flags = std::make_shared<Flags>();
  verb->add_option("SET", flags->set, "A .safetensors file, or a folder with a set")->required();
  verb->add_option("--job", flags->job, "The job file")->required()->type_name("FILE");
  verb->add_flag("--wait", flags->wait, "Show progress until the job has ended; exit 0 only if it succeeded");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    auto job = ReadOneJob(flags->job);
    if (!job.ok()) return job.status();
    auto& model = *job->mutable_spec()->mutable_model();
    model.set_weights(std::filesystem::absolute(flags->set).lexically_normal());
    model.clear_weights_digest();
    if (absl::Status status = PrepareWeights(context, &*job); !status.ok()) return status;
    const absl::StatusOr<v1::Job> submitted = SendJob(context, *job);
    if (!submitted.ok()) return submitted.status();
    return FollowJob(context, *submitted, flags->wait);
  });
}

}  // namespace

void AddCheckpointWeightVerbs(CLI::App& parent, Context& context) {
  AddExport(parent, context);
  AddImport(parent, context);
}

}  // namespace rekindle::cli
