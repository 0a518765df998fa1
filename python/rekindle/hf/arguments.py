"""Says for each field of TrainingArguments what becomes of it, and turns them into the arguments of rekindle.run."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

from rekindle.errors import Refused
from rekindle.running.options import SGD, AdamW, Checkpoint, Constant, Cosine, Linear, Optimizer, Schedule

Treatment = Literal["mapped", "without meaning", "refused"]


@dataclass(frozen=True)
class Field:
    """Says what becomes of a field: that is where it goes, why it has no meaning, or what to do instead."""

    treatment: Treatment
    text: str


def _mapped(text: str) -> Field:
    return Field("mapped", text)


def _ignored(text: str) -> Field:
    return Field("without meaning", text)


def _refused(text: str) -> Field:
    return Field("refused", text)


_LOGS = _ignored("the progress line, `rekindle watch` and `result.losses` show the loss of each step")
_EVALUATION = _ignored("an evaluation has the mean loss alone")
_LOADING = _ignored("data processes of Rekindle load the samples")
_ONE_GROUP = _ignored("no process group of PyTorch is used")
_HUB = _ignored("nothing is pushed without `push_to_hub`")
_SHARDED = _refused("every worker holds the whole model; leave it out")
_KERNELS = _refused("change the module in `model_init` instead")
_METRIC = _refused("take `result.validation`, or give `checkpoint=rekindle.Checkpoint(keep_best=1)`")
_CACHE = "`config.use_cache` of the module"
_RECOMPUTE = "the module's activation checkpointing, with `use_reentrant=False` unless the kwargs say otherwise"

FIELDS: dict[str, Field] = {
    "output_dir": _ignored("`result.path` is the folder of the final weights"),
    "overwrite_output_dir": _ignored("`fresh=True` begins anew"),
    "per_device_train_batch_size": _mapped("`micro_batch`"),
    "num_train_epochs": _mapped("`steps`: epochs x samples / batch, rounded up, unless `max_steps` is above 0"),
    "max_steps": _mapped("`steps`"),
    "learning_rate": _mapped("the optimizer's `learning_rate`"),
    "lr_scheduler_type": _mapped("`schedule`: linear and constant have the same rates; cosine, cosine_with_min_lr and "
                                 "constant_with_warmup have each rate one step earlier; the others are refused"),
    "lr_scheduler_kwargs": _mapped("`min_lr_rate` or `min_lr` of cosine_with_min_lr; others are refused"),
    "warmup_steps": _mapped("`warmup_steps` of the schedule, below 1 as a share of the steps; its rates come one step "
                            "earlier, since HF's first step has rate 0, and before a linear decay over n steps they "
                            "are larger by 1/n"),
    "warmup_ratio": _mapped("`warmup_steps` of the schedule, where `warmup_steps` is 0"),
    "optim": _mapped("`optimizer`: adamw_torch and adamw_torch_fused are AdamW, sgd is SGD without momentum; the "
                     "others are refused"),
    "optim_args": _refused("leave it out, and give `optimizer=` to rekindle.hf.run"),
    "optim_target_modules": _refused("leave it out, and give `optimizer=` to rekindle.hf.run"),
    "weight_decay": _mapped("the optimizer's `weight_decay`, for the parameters that HF's Trainer decays"),
    "adam_beta1": _mapped("`beta1` of AdamW"),
    "adam_beta2": _mapped("`beta2` of AdamW"),
    "adam_epsilon": _mapped("`epsilon` of AdamW"),
    "gradient_accumulation_steps": _mapped("`batch`: so many micro-batches"),
    "average_tokens_across_devices": _mapped("true is what is done: the loss is the mean over all tokens of a step; "
                                             "false is refused"),
    "max_grad_norm": _mapped("`clip_norm`"),
    "label_smoothing_factor": _mapped("the loss, by the Trainer's own LabelSmoother"),
    "bf16": _mapped("`precision=\"bf16\"`"),
    "fp16": _mapped("`precision=\"fp16\"`"),
    "bf16_full_eval": _refused("an evaluation has the precision of the training; leave it out"),
    "fp16_full_eval": _refused("an evaluation has the precision of the training; leave it out"),
    "tf32": _refused("leave it out"),
    "fp16_opt_level": _ignored("it is for apex"),
    "half_precision_backend": _ignored("it is PyTorch's autocast"),
    "activation_checkpointing": _mapped(_RECOMPUTE),
    "activation_checkpointing_kwargs": _mapped(_RECOMPUTE),
    "gradient_checkpointing": _mapped(_RECOMPUTE),
    "gradient_checkpointing_kwargs": _mapped(_RECOMPUTE),
    "torch_compile": _refused("call torch.compile in `model_init` instead"),
    "torch_compile_backend": _refused("call torch.compile in `model_init` instead"),
    "torch_compile_mode": _refused("call torch.compile in `model_init` instead"),
    "use_liger_kernel": _KERNELS,
    "liger_kernel_config": _KERNELS,
    "use_cache": _mapped(_CACHE),
    "neftune_noise_alpha": _refused("add the noise in the module's forward, where the seeded generator draws it"),
    "torch_empty_cache_steps": _ignored("it changes no result"),
    "auto_find_batch_size": _refused("give the size that fits as `per_device_train_batch_size`"),
    "logging_dir": _LOGS, "logging_strategy": _LOGS, "logging_steps": _LOGS, "logging_first_step": _LOGS,
    "log_on_each_node": _LOGS, "logging_nan_inf_filter": _ignored("a loss that is not finite fails the job"),
    "include_num_input_tokens_seen": _LOGS, "include_tokens_per_second": _LOGS, "log_level": _LOGS,
    "log_level_replica": _LOGS, "disable_tqdm": _LOGS, "run_name": _ignored("`name=` names the job"),
    "report_to": _refused("send `result.losses` there, or read the metrics of the coordinator"),
    "project": _ignored("nothing is reported without `report_to`"),
    "trackio_space_id": _ignored("nothing is reported without `report_to`"),
    "trackio_bucket_id": _ignored("nothing is reported without `report_to`"),
    "trackio_static_space_id": _ignored("nothing is reported without `report_to`"),
    "eval_strategy": _mapped("`evaluate_every`; with \"no\" there is one evaluation, at the end"),
    "eval_steps": _mapped("`evaluate_every`, below 1 as a share of the steps"),
    "eval_delay": _refused("leave it out"),
    "per_device_eval_batch_size": _ignored("an evaluation has micro-batches of the training's size"),
    "prediction_loss_only": _EVALUATION, "eval_do_concat_batches": _EVALUATION, "eval_use_gather_object": _EVALUATION,
    "eval_accumulation_steps": _EVALUATION, "batch_eval_metrics": _EVALUATION,
    "include_inputs_for_metrics": _EVALUATION, "include_for_metrics": _EVALUATION,
    "eval_on_start": _refused("leave it out"),
    "save_strategy": _mapped("`checkpoint`; with \"no\" Rekindle's default stays, and \"best\" is refused"),
    "save_steps": _mapped("`checkpoint`, below 1 as a share of the steps"),
    "save_total_limit": _mapped("`keep_last` of the checkpoint"),
    "save_only_model": _refused("a checkpoint has all that the job needs to go on; leave it out"),
    "save_safetensors": _ignored("the final weights are safetensors files"),
    "save_on_each_node": _ignored("the job's store has the checkpoints"),
    "enable_jit_checkpoint": _ignored("a node that gets a notice hands its state on"),
    "push_to_hub": _refused("call `result.load_into(module)` and push that"),
    "hub_token": _HUB, "hub_private_repo": _HUB, "hub_model_id": _HUB, "hub_strategy": _HUB, "hub_always_push": _HUB,
    "hub_revision": _HUB,
    "load_best_model_at_end": _METRIC, "metric_for_best_model": _METRIC, "greater_is_better": _METRIC,
    "ignore_data_skip": _refused("a job that goes on always goes on with the next sample; leave it out"),
    "resume_from_checkpoint": _refused("a second run goes on by itself; leave it out"),
    "restore_callback_states_from_checkpoint": _refused("there are no callbacks; leave it out"),
    "full_determinism": _mapped("`reduce=\"exact\"`, which is the default"),
    "seed": _mapped("`seed`"),
    "data_seed": _refused("the order of samples follows from `seed`; leave it out"),
    "use_cpu": _ignored("a Python task computes on processors"),
    "no_cuda": _ignored("a Python task computes on processors"),
    "accelerator_config": _refused("leave it out"),
    "parallelism_config": _SHARDED,
    "dataloader_drop_last": _ignored("every batch is full, since a batch goes on in the next epoch"),
    "dataloader_num_workers": _mapped("`data_workers`, at least 1"),
    "dataloader_pin_memory": _LOADING, "dataloader_persistent_workers": _LOADING,
    "dataloader_prefetch_factor": _LOADING,
    "dataloader_multiprocessing_context": _LOADING,
    "dataloader_in_order": _ignored("the order of samples is always the same"),
    "remove_unused_columns": _mapped("the collator, as in HF's Trainer"),
    "label_names": _refused("name the labels `labels`, or give `compute_loss_func=`"),
    "train_sampling_strategy": _refused("the samples come in a shuffled order that the seed decides; leave it out"),
    "group_by_length": _refused("the samples come in a shuffled order that the seed decides; leave it out"),
    "length_column_name": _ignored("samples are not grouped by length"),
    "ddp_find_unused_parameters": _ONE_GROUP, "ddp_bucket_cap_mb": _ONE_GROUP, "ddp_broadcast_buffers": _ONE_GROUP,
    "ddp_static_graph": _ONE_GROUP, "ddp_backend": _ONE_GROUP, "ddp_timeout": _ONE_GROUP, "local_rank": _ONE_GROUP,
    "tpu_num_cores": _ONE_GROUP,
    "fsdp": _SHARDED, "fsdp_config": _SHARDED, "fsdp_min_num_params": _SHARDED,
    "fsdp_transformer_layer_cls_to_wrap": _SHARDED, "deepspeed": _SHARDED,
    "debug": _refused("leave it out"),
    "skip_memory_metrics": _LOGS,
    "do_train": _ignored("it is a flag for scripts"), "do_eval": _ignored("it is a flag for scripts"),
    "do_predict": _ignored("it is a flag for scripts"),
}

_OPTIMIZERS = ("adamw_torch", "adamw_torch_fused", "sgd")


@dataclass(frozen=True)
class Run:
    """Holds the arguments of rekindle.run that follow from TrainingArguments."""

    steps: int
    batch: int
    micro_batch: int
    optimizer: Optimizer
    schedule: Schedule
    precision: str
    seed: int
    clip_norm: float
    evaluate_every: int | None
    checkpoint: Checkpoint | int | None
    data_workers: int

    def to_keywords(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}


def text_of(value: Any) -> str:
    """Returns the value of an option as a text. The option may be a text or a member of an enumeration."""
    return str(getattr(value, "value", value))


def changed(args: Any) -> list[str]:
    """Returns the names of the fields that are not at the defaults of TrainingArguments.

    A subclass may have other defaults. A field that it alone has counts if it is not at the subclass's default."""
    if not dataclasses.is_dataclass(args) or isinstance(args, type):
        what = f"the class {args.__name__}" if isinstance(args, type) else f"of type {type(args).__name__}"
        raise Refused(f"args is {what}; give an object: transformers.TrainingArguments(...)")
    base = next((kind for kind in type(args).__mro__ if kind.__name__ == "TrainingArguments"), type(args))
    folder = getattr(args, "output_dir", None)
    own: Any = type(args)(output_dir=folder)  # type: ignore[call-arg]
    default: Any = own if base is type(args) else base(output_dir=folder)
    return [entry.name for entry in dataclasses.fields(args)
            if not _is_same(entry.name, getattr(args, entry.name),
                            getattr(default if hasattr(default, entry.name) else own, entry.name))]


def _is_same(name: str, value: Any, default: Any) -> bool:
    # "none", which becomes an empty list, asks for nothing, and by default HF reports to whatever is installed.
    return value == default or (name == "report_to" and value in (None, [], "none", ["none"]))


def check(args: Any) -> None:
    """Refuses a field that is not at its default and neither mapped nor without meaning."""
    told = []
    for name in changed(args):
        field = FIELDS.get(name, Field("refused", "this release of Rekindle does not know it; leave it out"))
        if field.treatment == "refused" or (name == "average_tokens_across_devices" and not getattr(args, name)):
            told.append(f"{name}={_shown(getattr(args, name))}: {field.text}")
    if told:
        raise Refused("TrainingArguments has what cannot be done here: " + "; ".join(told))


def read(args: Any, samples: int, *, optimizer: Optimizer | None = None, schedule: Schedule | None = None,
         checkpoint: Checkpoint | int | None = None) -> Run:
    """Returns the arguments of rekindle.run, with those of the caller in the place of what `args` says.

    `samples` is the number of training samples. Raises Refused."""
    check(args)
    micro_batch = int(args.per_device_train_batch_size)
    batch = micro_batch * int(args.gradient_accumulation_steps)
    epoch = math.ceil(samples / batch)
    steps = int(args.max_steps) if args.max_steps > 0 else math.ceil(args.num_train_epochs * samples / batch)
    if steps < 1:
        raise Refused(f"num_train_epochs is {args.num_train_epochs!r}, which makes no step; give more, or max_steps")
    if args.bf16 and args.fp16:
        raise Refused("TrainingArguments has bf16 and fp16; give one of them")
    factor = 1.0
    if schedule is None:
        schedule, factor = _schedule(args, steps, _warmup(args, steps))
    return Run(
        steps=steps, batch=batch, micro_batch=micro_batch,
        optimizer=_optimizer(args, factor) if optimizer is None else optimizer, schedule=schedule,
        precision="bf16" if args.bf16 else "fp16" if args.fp16 else "fp32", seed=int(args.seed),
        clip_norm=float(args.max_grad_norm or 0.0), evaluate_every=_evaluations(args, steps, epoch),
        checkpoint=_checkpoint(args, steps, epoch) if checkpoint is None else checkpoint,
        data_workers=max(1, int(args.dataloader_num_workers)))


def _warmup(args: Any, steps: int) -> int:
    given = float(args.warmup_steps or 0)
    if given == 0:
        given = float(getattr(args, "warmup_ratio", None) or 0)
        return math.ceil(steps * given)
    return int(given) if given >= 1 else math.ceil(steps * given)


def _schedule(args: Any, steps: int, warmup: int) -> tuple[Schedule, float]:
    """Returns the schedule, and by what the learning rate has to be multiplied for it.

    HF's line falls to 0 after the last step, and Rekindle's ends at the last step. This schedule is the same line."""
    kind = text_of(args.lr_scheduler_type)
    options = args.lr_scheduler_kwargs or {}
    if options and kind != "cosine_with_min_lr":
        raise Refused(f"lr_scheduler_kwargs is {options!r} for {kind}; give schedule= to rekindle.hf.run")
    if kind == "linear":
        after = max(1, steps - warmup)
        return Linear(warmup_steps=warmup, final_ratio=1 / (after + 1)), 1 + 1 / after
    if kind == "cosine":
        return Cosine(warmup_steps=warmup, final_ratio=0.0), 1.0
    if kind == "cosine_with_min_lr":
        return Cosine(warmup_steps=warmup, final_ratio=_least_rate(args, options)), 1.0
    if kind == "constant":
        return Constant(warmup_steps=0), 1.0
    if kind == "constant_with_warmup":
        return Constant(warmup_steps=warmup), 1.0
    raise Refused(f"lr_scheduler_type is {kind!r}, which is none of linear, cosine, cosine_with_min_lr, constant and "
                  "constant_with_warmup; give schedule= to rekindle.hf.run, such as rekindle.Plateau()")


def _least_rate(args: Any, options: Any) -> float:
    if set(options) == {"min_lr_rate"}:
        return float(options["min_lr_rate"])
    if set(options) == {"min_lr"}:
        return float(options["min_lr"]) / float(args.learning_rate)
    raise Refused(f"lr_scheduler_kwargs is {options!r}; give min_lr or min_lr_rate")


def _optimizer(args: Any, factor: float) -> Optimizer:
    kind = text_of(args.optim)
    rate = float(args.learning_rate) * factor
    decay = float(args.weight_decay)
    if kind not in _OPTIMIZERS:
        raise Refused(f"optim is {kind!r}, which is none of {', '.join(_OPTIMIZERS)}; give optimizer= to "
                      "rekindle.hf.run, such as rekindle.Lion()")
    if kind == "sgd":
        return SGD(learning_rate=rate, momentum=0.0, weight_decay=decay)
    return AdamW(learning_rate=rate, beta1=float(args.adam_beta1), beta2=float(args.adam_beta2),
                 epsilon=float(args.adam_epsilon), weight_decay=decay)


def _interval(value: Any, steps: int) -> int:
    return max(1, math.ceil(steps * value)) if value < 1 else int(value)


def _evaluations(args: Any, steps: int, epoch: int) -> int | None:
    strategy = text_of(args.eval_strategy)
    if strategy == "no":
        return None
    if strategy == "epoch":
        return epoch
    return _interval(args.eval_steps if args.eval_steps is not None else args.logging_steps, steps)


def _checkpoint(args: Any, steps: int, epoch: int) -> Checkpoint | None:
    strategy = text_of(args.save_strategy)
    if strategy not in ("no", "epoch", "steps"):
        raise Refused(f"save_strategy is {strategy!r}; give 'steps' or 'epoch', or checkpoint= to rekindle.hf.run, "
                      "such as rekindle.Checkpoint(keep_best=1)")
    if strategy == "no":
        return None
    every = epoch if strategy == "epoch" else _interval(args.save_steps, steps)
    # The Trainer takes 0 for no limit. Then the default of Rekindle stays, as it does without the argument.
    kept = int(args.save_total_limit or 0)
    return Checkpoint(every_steps=every, keep_last=kept) if kept > 0 else Checkpoint(every_steps=every)


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else type(value).__name__


def table(names: list[str]) -> str:
    """Returns the table of the fields `names`, as Markdown."""
    lines = ["| field | what becomes of it | where it goes, why, or what to do instead |", "|---|---|---|"]
    for name in names:
        field = FIELDS[name]
        lines.append(f"| `{name}` | {field.treatment} | {field.text} |")
    return "\n".join(lines) + "\n"
