"""Makes a task that computes what HF's Trainer computes: its loss, its batches and its weight decay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rekindle.errors import Refused
from rekindle.hf import arguments
from rekindle.layout import plain
from rekindle.task import Sum, Task

if TYPE_CHECKING:
    import torch

# A label of this value is left out of the loss.
IGNORED = -100


def make(model_init: Callable[[], Any], args: Any, train_dataset: Any, eval_dataset: Any = None,
         data_collator: Callable[[list[Any]], Any] | None = None,
         compute_loss_func: Callable[..., Any] | None = None) -> Task:
    """Returns the task. Raises Refused."""
    arguments.check(args)
    module = model_init()
    if hasattr(getattr(module, "config", None), "use_cache"):
        module.config.use_cache = bool(getattr(args, "use_cache", False))
    _recompute(module, args)
    columns = _columns(module) if args.remove_unused_columns else None
    return Task(module, data=train_dataset, validation=eval_dataset, collate=_Collate(data_collator, columns),
                loss=_Loss(module, args, compute_loss_func), groups=_groups(module))


class _Collate:
    """Makes a batch of samples, as a dict. `columns` are the names that the module takes, or None for all."""

    def __init__(self, collate: Callable[[list[Any]], Any] | None, columns: set[str] | None) -> None:
        if collate is None:
            from transformers import default_data_collator

            collate = default_data_collator
        self._collate = collate
        self._columns = columns

    def __call__(self, samples: list[Any]) -> dict[str, Any]:
        if self._columns is not None and isinstance(samples[0], Mapping):
            samples = [{name: value for name, value in sample.items() if name in self._columns} for sample in samples]
        batch = self._collate(samples)
        if not isinstance(batch, Mapping):
            raise Refused(f"the collator returned an object of type {type(batch).__name__}; a batch of a model of "
                          "Hugging Face is a dict, such as {'input_ids': ..., 'labels': ...}", kind="data")
        return dict(batch)


class _Loss:
    """Computes the loss as HF's Trainer does. The mean of a micro-batch times its count is the sum."""

    def __init__(self, module: torch.nn.Module, args: Any, function: Callable[..., Any] | None) -> None:
        inner = _unwrapped(module)
        config = getattr(inner, "config", None)
        self._function = function
        self._smoother: Any = None
        # The Trainer leaves the smoothing out, with a warning, where a sample may have several labels.
        several = getattr(config, "problem_type", None) == "multi_label_classification"
        if args.label_smoothing_factor and function is None and not several:
            from transformers.trainer_pt_utils import LabelSmoother

            self._smoother = LabelSmoother(epsilon=args.label_smoothing_factor)
        self._takes_count = _takes_count(inner)
        self._smooths_next = _is_causal_by_name(inner)
        self._shifts = _is_causal_by_loss(inner) and not getattr(config, "is_encoder_decoder", False)

    def __call__(self, module: torch.nn.Module, batch: dict[str, Any]) -> Sum:
        inputs = dict(batch)
        labels = inputs.get("labels")
        # Who is told the count divides a sum by it. Who is not takes the mean itself.
        told = self._count(inputs) if self._takes_count or self._function is not None else None
        count = _length(batch) if told is None else told
        divisor = max(count, 1)
        given = None if told is None else divisor
        if given is not None and self._takes_count:
            inputs["num_items_in_batch"] = given
        if self._function is not None or self._smoother is not None:
            inputs.pop("labels", None)
        outputs = module(**inputs)
        if self._function is not None:
            loss = self._function(outputs, labels, num_items_in_batch=given)
        elif self._smoother is not None and labels is not None:
            loss = self._smoother(outputs, labels, shift_labels=self._smooths_next, num_items_in_batch=given)
        else:
            loss = _loss_of(outputs)
        return Sum(loss * divisor if count else loss * 0.0, count)

    def _count(self, inputs: Mapping[str, Any]) -> int | None:
        """Returns how many labels have a part in the loss, or None where they cannot be counted."""
        if "labels" not in inputs:
            return None
        try:
            if "shift_labels" in inputs:
                labels = inputs["shift_labels"]
            else:
                labels = inputs["labels"][..., 1:] if self._shifts else inputs["labels"]
            return int(labels.ne(IGNORED).sum())
        except (TypeError, AttributeError):
            return None  # The labels are no tensor, as those of models that find objects.


def _loss_of(outputs: Any) -> Any:
    if isinstance(outputs, Mapping):
        if outputs.get("loss") is None:
            raise Refused(f"the model returned no loss, but {', '.join(outputs)}; are the labels in the batch as "
                          "'labels'? Or give compute_loss_func= to rekindle.hf.run", kind="loss")
        return outputs["loss"]
    return outputs[0]


def _length(batch: Mapping[str, Any]) -> int:
    for value in batch.values():
        if getattr(value, "ndim", 0):
            return len(value)
    raise Refused("the batch has no tensor with a first dimension, so it is not known how many samples it has",
                  kind="data")


def _takes_count(module: torch.nn.Module) -> bool:
    """Returns whether forward takes `num_items_in_batch`, by the Trainer's rule."""
    said = getattr(module, "accepts_loss_kwargs", None)
    if said is not None:
        return bool(said)
    parameters = inspect.signature(module.forward).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _unwrapped(module: Any) -> Any:
    """Returns the module of Hugging Face in one that torch.compile() or PEFT has made of it."""
    module = getattr(module, "_orig_mod", module)
    base = getattr(module, "get_base_model", None)
    return module if base is None else base()


def _is_causal_by_name(module: torch.nn.Module) -> bool:
    """Returns whether the Trainer smooths the label of the next token, by its rule for that."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return type(module).__name__ in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()


def _is_causal_by_loss(module: torch.nn.Module) -> bool:
    """Returns whether the loss of a label is that of the token before it, by the Trainer's rule for counting labels."""
    try:
        from transformers.loss.loss_utils import LOSS_MAPPING, ForCausalLMLoss
    except ImportError:  # It is an older release than that which has these.
        return type(module).__name__.endswith("ForCausalLM")
    return LOSS_MAPPING.get(getattr(module, "loss_type", None)) is ForCausalLMLoss


def _columns(module: torch.nn.Module) -> set[str]:
    return {*inspect.signature(_unwrapped(module).forward).parameters, "label", "label_ids", "labels"}


def _recompute(module: Any, args: Any) -> None:
    """Has activations computed again in backward, where `args` asks for it by the name of one or another release."""
    for kind in ("activation_checkpointing", "gradient_checkpointing"):
        enable = getattr(module, f"{kind}_enable", None)
        asked = [name for name in ("activation_checkpointing", "gradient_checkpointing") if getattr(args, name, False)]
        if not asked:
            return
        if enable is not None:
            given = dict(getattr(args, f"{asked[0]}_kwargs", None) or {})
            # The Trainer takes these two out of the kwargs, which are those of torch.utils.checkpoint.
            own = {name: given.pop(name) for name in ("every_n_layers", "offload") if name in given}
            enable(**{f"{kind}_kwargs": {"use_reentrant": False, **given}}, **own)
            return
    raise Refused(f"TrainingArguments asks for activation checkpointing, which {type(module).__name__} does not have; "
                  "leave it out")


def _groups(module: torch.nn.Module) -> dict[str, dict[str, float]] | None:
    """Says for which parameters the weight decay of the job acts, or does not, other than Rekindle does by itself.

    Rekindle decays what has two dimensions or more. HF's Trainer goes by names and by kinds of layers."""
    import transformers

    decayed = set(transformers.Trainer.get_decay_parameter_names(None, module))
    groups: dict[str, dict[str, float]] = {}
    for name, parameter in module.named_parameters():
        if parameter.requires_grad and (parameter.ndim >= 2) != (name in decayed):
            groups[plain(name)] = {"weight_decay": name in decayed}
    return groups or None
