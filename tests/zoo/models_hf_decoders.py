"""Language models of Hugging Face that foretell the next token, made from small configurations with random weights."""

import rekindle
import samples
from registry import model

TRANSFORMERS = "transformers"
# These fields have the same names in the configurations of most families.
SMALL = {"vocab_size": samples.VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 32, "pad_token_id": 0, "bos_token_id": 1,
         "eos_token_id": 2}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}


def causal(config, **fields):
    """Returns the task of a model for next tokens, of the configuration with this name."""
    import transformers

    made = getattr(transformers, config)(**fields)
    module = transformers.AutoModelForCausalLM.from_config(made)
    # The cache of keys and values is for generating, and a forward that trains needs none.
    return rekindle.Task(module, data=samples.tokens(least=3), loss=lambda m, b: samples.next_token(
        m(input_ids=b["ids"], use_cache=False).logits.float(), b["ids"]))


@model("hf_llama", needs=TRANSFORMERS)
def llama():
    """Uses the loss of the model itself, which is a sum where it is told that there is one item."""
    import transformers

    module = transformers.LlamaForCausalLM(transformers.LlamaConfig(**GROUPED))

    def loss(module, batch):
        ids = batch["ids"]
        value = module(input_ids=ids, labels=ids, num_items_in_batch=1, use_cache=False).loss
        return rekindle.Sum(value, ids.numel() - len(ids))

    return rekindle.Task(module, data=samples.tokens(least=3), validation=samples.tokens(least=3, count=8), loss=loss)


@model("hf_mistral", needs=TRANSFORMERS)
def mistral():
    return causal("MistralConfig", **GROUPED, sliding_window=4)


@model("hf_qwen2", needs=TRANSFORMERS)
def qwen2():
    return causal("Qwen2Config", **GROUPED, tie_word_embeddings=True)


@model("hf_qwen3", needs=TRANSFORMERS)
def qwen3():
    return causal("Qwen3Config", **GROUPED)


@model("hf_gemma2", needs=TRANSFORMERS)
def gemma2():
    return causal("Gemma2Config", **GROUPED, sliding_window=4, query_pre_attn_scalar=8)


@model("hf_phi", needs=TRANSFORMERS)
def phi():
    return causal("PhiConfig", **SMALL, partial_rotary_factor=0.5, resid_pdrop=0.1)


@model("hf_gpt2", needs=TRANSFORMERS)
def gpt2():
    return causal("GPT2Config", vocab_size=samples.VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=32,
                  bos_token_id=1, eos_token_id=2)


@model("hf_gpt_neox", needs=TRANSFORMERS)
def gpt_neox():
    return causal("GPTNeoXConfig", **SMALL, hidden_dropout=0.1, attention_dropout=0.1)


@model("hf_opt", needs=TRANSFORMERS)
def opt():
    return causal("OPTConfig", vocab_size=samples.VOCABULARY, hidden_size=32, ffn_dim=48, num_hidden_layers=2,
                  num_attention_heads=4, max_position_embeddings=32, word_embed_proj_dim=16, layerdrop=0.3)


@model("hf_bloom", needs=TRANSFORMERS)
def bloom():
    return causal("BloomConfig", vocab_size=samples.VOCABULARY, hidden_size=32, n_layer=2, n_head=4,
                  hidden_dropout=0.1)


@model("hf_mixtral", needs=TRANSFORMERS)
def mixtral():
    return causal("MixtralConfig", **GROUPED, num_local_experts=4, num_experts_per_tok=2, router_jitter_noise=0.1)


@model("hf_qwen3_moe", needs=TRANSFORMERS)
def qwen3_moe():
    return causal("Qwen3MoeConfig", **GROUPED, num_experts=6, num_experts_per_tok=1, moe_intermediate_size=16,
                  decoder_sparse_step=2)


@model("hf_mamba", needs=TRANSFORMERS)
def mamba():
    return causal("MambaConfig", vocab_size=samples.VOCABULARY, hidden_size=16, state_size=4, num_hidden_layers=2,
                  conv_kernel=3, time_step_rank=2)
