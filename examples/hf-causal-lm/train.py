"""Trains a small Llama of Hugging Face to write sums such as "17+25=42". Nothing is downloaded.

`python train.py` runs it on this machine. Stop it in any way and start it again: the digest at the end is the same."""
import random

import torch
from transformers import LlamaConfig, LlamaForCausalLM, TrainingArguments

import rekindle

SIGNS = "0123456789+=\n"
LENGTH = 12
IGNORED = -100


class Sums(torch.utils.data.Dataset):
    """Has sums as the numbers of their signs. The loss counts what comes after the sign "="."""

    def __init__(self, size, first=0):
        self.size, self.first = size, first

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        draw = random.Random(self.first + i)
        one, other = draw.randrange(50), draw.randrange(50)
        question, answer = f"{one}+{other}=", f"{one + other}\n"
        ids = [SIGNS.index(sign) for sign in question + answer]
        labels = [IGNORED] * len(question) + ids[len(question):]
        ids += [SIGNS.index("\n")] * (LENGTH - len(ids))
        labels += [IGNORED] * (LENGTH - len(labels))
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor(labels)}


def model_init():
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=len(SIGNS), hidden_size=96, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, pad_token_id=len(SIGNS) - 1, bos_token_id=None,
        eos_token_id=len(SIGNS) - 1))


train_set = Sums(20_000)
held_out = Sums(500, first=1_000_000)
args = TrainingArguments(
    "out", max_steps=300, per_device_train_batch_size=16, gradient_accumulation_steps=4, learning_rate=3e-3,
    weight_decay=0.01, warmup_steps=20, eval_strategy="steps", eval_steps=100, save_steps=50, report_to="none")


def written(model, question):
    """Returns what the model writes after the question."""
    ids = torch.tensor([[SIGNS.index(sign) for sign in question]])
    made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, do_sample=False)
    return "".join(SIGNS[number] for number in made[0].tolist()).strip()


if __name__ == "__main__":
    result = rekindle.hf.run(model_init, args, train_dataset=train_set, eval_dataset=held_out, workers=(1, 2))
    model = model_init()
    result.load_into(model)
    model.eval()
    print(f"loss {result.losses[0][1]:.3f} to {result.losses[-1][1]:.3f}")
    print(", ".join(written(model, question) for question in ("17+25=", "8+9=", "40+31=")))
    print(f"digest {result.digest}, weights in {result.path}")
