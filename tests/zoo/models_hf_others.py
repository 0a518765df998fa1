"""Models of Hugging Face that read, translate, see or hear, made from small configurations with random weights."""

import torch
from torch.nn import functional

import rekindle
import samples
from registry import model

TRANSFORMERS = "transformers"
READER = {"vocab_size": samples.VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
          "num_attention_heads": 4, "max_position_embeddings": 32, "pad_token_id": 0}
SEER = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "image_size": 32, "patch_size": 8}


def padded():
    """Texts of unequal length as a tokenizer gives them: `input_ids` with zeros at the end, and a mask."""
    def make(number, generator):
        ids = torch.randint(3, samples.VOCABULARY, (samples.LENGTH,), generator=generator)
        mask = (torch.arange(samples.LENGTH) < 4 + number % 9).long()
        return {"input_ids": ids * mask, "attention_mask": mask, "y": number % 3}

    return samples.Samples(make)


def masked(kind, config):
    """Returns the task of a model that is asked for the tokens that are hidden, some of each text."""
    import transformers

    module = getattr(transformers, kind)(config)

    def loss(module, batch):
        ids, mask = batch["input_ids"], batch["attention_mask"]
        hidden = (torch.rand(ids.shape) < 0.3) & (mask == 1)
        logits = module(input_ids=ids.masked_fill(hidden, 2), attention_mask=mask).logits
        value = functional.cross_entropy(logits[hidden], ids[hidden], reduction="sum")
        return rekindle.Sum(value, hidden.sum())

    return rekindle.Task(module, data=padded(), loss=loss)


def classified(kind, config):
    """Returns the task of a model that is asked for the class of a text."""
    import transformers

    def loss(module, batch):
        made = module(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
        return samples.entropy(made.logits, batch["y"])

    return rekindle.Task(getattr(transformers, kind)(config), data=padded(), loss=loss)


@model("hf_bert", needs=TRANSFORMERS)
def bert():
    import transformers

    return masked("BertForMaskedLM", transformers.BertConfig(**READER))


@model("hf_roberta", needs=TRANSFORMERS)
def roberta():
    import transformers

    return classified("RobertaForSequenceClassification", transformers.RobertaConfig(**READER, num_labels=3))


@model("hf_distilbert", needs=TRANSFORMERS)
def distilbert():
    import transformers

    return classified("DistilBertForSequenceClassification", transformers.DistilBertConfig(
        vocab_size=samples.VOCABULARY, dim=32, hidden_dim=48, n_layers=2, n_heads=4, max_position_embeddings=32,
        num_labels=3))


@model("hf_electra", needs=TRANSFORMERS)
def electra():
    import transformers

    module = transformers.ElectraForPreTraining(transformers.ElectraConfig(**READER, embedding_size=16))

    def loss(module, batch):
        """Replaces tokens by drawn ones, and asks which were replaced."""
        ids, mask = batch["input_ids"], batch["attention_mask"]
        replaced = torch.where(torch.rand(ids.shape) < 0.2, torch.randint(3, samples.VOCABULARY, ids.shape), ids)
        scores = module(input_ids=replaced * mask, attention_mask=mask).logits
        value = functional.binary_cross_entropy_with_logits(scores, (replaced != ids).float(), mask, reduction="sum")
        return rekindle.Sum(value, mask.sum())

    return rekindle.Task(module, data=padded(), loss=loss)


@model("hf_albert", needs=TRANSFORMERS)
def albert():
    import transformers

    return classified("AlbertForSequenceClassification", transformers.AlbertConfig(
        **READER, embedding_size=16, num_hidden_groups=1, num_labels=3))


def translated(module):
    """Returns the task of a model that turns a text into its reverse."""
    def loss(module, batch):
        logits = module(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"],
                        decoder_input_ids=batch["input_ids"].flip(1), use_cache=False).logits
        return samples.next_token(logits, batch["input_ids"].flip(1))

    return rekindle.Task(module, data=padded(), loss=loss)


@model("hf_t5", needs=TRANSFORMERS)
def t5():
    import transformers

    return translated(transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=samples.VOCABULARY, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
        decoder_start_token_id=0)))


@model("hf_bart", needs=TRANSFORMERS)
def bart():
    import transformers

    return translated(transformers.BartForConditionalGeneration(transformers.BartConfig(
        vocab_size=samples.VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=32,
        encoder_layerdrop=0.2, decoder_layerdrop=0.2, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        forced_eos_token_id=None, decoder_start_token_id=2)))


@model("hf_vit", needs=TRANSFORMERS)
def vit():
    import transformers

    module = transformers.ViTForImageClassification(transformers.ViTConfig(**SEER, num_labels=4))
    return rekindle.Task(module, data=samples.images(32),
                         loss=lambda m, b: samples.entropy(m(pixel_values=b["x"]).logits, b["y"]))


@model("hf_clip", needs=TRANSFORMERS)
def clip():
    import transformers

    text = {**READER, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    module = transformers.CLIPModel(transformers.CLIPConfig(text_config=text, vision_config=SEER, projection_dim=16))

    def make(number, generator):
        return {"input_ids": torch.randint(3, samples.VOCABULARY, (8,), generator=generator),
                "pixel_values": torch.randn(3, 32, 32, generator=generator)}

    def loss(module, batch):
        count = len(batch["input_ids"])
        return rekindle.Sum(module(**batch, return_loss=True).loss * count, count)

    return rekindle.Task(module, data=samples.Samples(make, 32), loss=loss, couples_samples=True)


@model("hf_whisper", needs=TRANSFORMERS)
def whisper():
    import transformers

    module = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        vocab_size=samples.VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=8, max_source_positions=20,
        max_target_positions=32, dropout=0.1, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None))

    def make(number, generator):
        return {"sound": torch.randn(8, 40, generator=generator),
                "ids": torch.randint(3, samples.VOCABULARY, (samples.LENGTH,), generator=generator)}

    def loss(module, batch):
        logits = module(input_features=batch["sound"], decoder_input_ids=batch["ids"], use_cache=False).logits
        return samples.next_token(logits, batch["ids"])

    return rekindle.Task(module, data=samples.Samples(make, 32), loss=loss)


@model("hf_wav2vec2", needs=TRANSFORMERS)
def wav2vec2():
    """Draws its masks by numpy, and leaves out layers that PyTorch's generator chooses."""
    import transformers

    module = transformers.Wav2Vec2ForCTC(transformers.Wav2Vec2Config(
        vocab_size=12, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        conv_dim=(8, 8), conv_stride=(4, 4), conv_kernel=(8, 8), num_feat_extract_layers=2,
        num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, mask_time_prob=0.3, mask_time_length=2,
        mask_time_min_masks=1, layerdrop=0.3, ctc_loss_reduction="sum", pad_token_id=0))

    def make(number, generator):
        return {"sound": torch.randn(480, generator=generator), "letters": 1 + torch.arange(4) * number % 11}

    def loss(module, batch):
        made = module(input_values=batch["sound"], labels=batch["letters"])
        return rekindle.Sum(made.loss, len(batch["sound"]))

    return rekindle.Task(module, data=samples.Samples(make, 32), loss=loss)
