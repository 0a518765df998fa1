"""Is what a user of rekindle.hf writes. hf_trainer_test.py trains it."""

import rekindle
import samples
import transformers


def model_init():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=samples.VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2))


class Texts:
    """Has texts of unequal length, with `spare` beside what the model takes."""

    def __init__(self, count=60):
        self.texts = samples.tokens(least=3, count=count)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, number):
        ids = self.texts[number]["ids"]
        labels = ids.clone()
        labels[len(ids) - number % 5:] = -100
        return {"input_ids": ids, "labels": labels, "spare": number}


train_set = Texts()
args = transformers.TrainingArguments(
    "out", max_steps=50, per_device_train_batch_size=4, gradient_accumulation_steps=3, learning_rate=3e-3,
    weight_decay=0.1, seed=11, logging_steps=1, report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True)


if __name__ == "__main__":
    rekindle.hf.run(model_init, args, train_dataset=train_set)
