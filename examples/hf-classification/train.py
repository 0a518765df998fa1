"""Trains a small BERT of Hugging Face to tell praise from blame, with a Dataset and a collator. Nothing is downloaded.

`python train.py` runs it on this machine. Stop it in any way and start it again: the digest at the end is the same."""
import random

import torch
from transformers import BertConfig, BertForSequenceClassification, TrainingArguments

import rekindle

NOUNS = ["film", "book", "song", "meal", "plot", "cast", "room", "view"]
PRAISE = ["good", "fine", "lovely", "great", "clever"]
BLAME = ["bad", "dull", "awful", "poor", "silly"]
WORDS = ["[PAD]", "[CLS]", "the", "is", "was", "not", "and", "very", *NOUNS, *PRAISE, *BLAME]
NUMBERS = {word: number for number, word in enumerate(WORDS)}


class Reviews(torch.utils.data.Dataset):
    """Has sentences such as "the film was not very good", and whether each is praise. "not" turns it round."""

    def __init__(self, size, first=0):
        self.size, self.first = size, first

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        draw = random.Random(self.first + i)
        praises, denies = draw.random() < 0.5, draw.random() < 0.4
        words = ["the", draw.choice(NOUNS), draw.choice(["is", "was"])]
        words += ["not"] if denies else []
        words += ["very"] * draw.randrange(3)
        words.append(draw.choice(PRAISE if praises else BLAME))
        return {"words": words, "labels": int(praises != denies)}


def collate(reviews):
    """Makes a batch of sentences of unequal length."""
    longest = max(len(review["words"]) for review in reviews)
    ids = torch.zeros(len(reviews), longest + 1, dtype=torch.long)
    for row, review in zip(ids, reviews):
        row[:len(review["words"]) + 1] = torch.tensor([NUMBERS[word] for word in ["[CLS]", *review["words"]]])
    return {"input_ids": ids, "attention_mask": (ids != NUMBERS["[PAD]"]).long(),
            "labels": torch.tensor([review["labels"] for review in reviews])}


def model_init():
    return BertForSequenceClassification(BertConfig(
        vocab_size=len(WORDS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=32, pad_token_id=0, num_labels=2))


train_set = Reviews(4000)
held_out = Reviews(200, first=1_000_000)
# The sentence is a column that the model does not take. The collator needs it, so it must not be removed.
args = TrainingArguments(
    "out", max_steps=200, per_device_train_batch_size=16, gradient_accumulation_steps=2, learning_rate=2e-3,
    eval_strategy="steps", eval_steps=50, save_steps=50, report_to="none", remove_unused_columns=False)


if __name__ == "__main__":
    result = rekindle.hf.run(model_init, args, train_dataset=train_set, eval_dataset=held_out, data_collator=collate,
                             workers=(1, 2))
    model = model_init()
    result.load_into(model)
    model.eval()
    batch = collate([held_out[i] for i in range(len(held_out))])
    right = int((model(**batch).logits.argmax(-1) == batch["labels"]).sum())
    print(f"loss {result.losses[0][1]:.3f} to {result.losses[-1][1]:.3f}, {right} of {len(held_out)} sentences right")
    print(f"digest {result.digest}, weights in {result.path}")
