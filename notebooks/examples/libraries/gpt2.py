"""GPT-2 of Hugging Face, by `inputs_embeds`, untrained."""

import torch
from torch import nn
from transformers import GPT2Config, GPT2Model

from worldmodel import TorchModule

CONTEXT, WIDTH = 8, 64


class OverPositions(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = {"n_positions": CONTEXT, "n_embd": WIDTH, "n_layer": 2, "n_head": 2}
        config = GPT2Config(vocab_size=1, bos_token_id=0, eos_token_id=0, **sizes)
        self.read, self.gpt2, self.write = (
            nn.Linear(2, WIDTH),
            GPT2Model(config),
            nn.Linear(WIDTH, 2),
        )

    def forward(self, x):  # (batch, time, axis), au
        return self.write(self.gpt2(inputs_embeds=self.read(x)).last_hidden_state)


def make(seed):
    torch.manual_seed(seed)
    net = OverPositions()  # net.load_state_dict(torch.load("mine.pt"))
    return TorchModule(net, CONTEXT, target="residual")
