"""A GPT in plain torch, trained on the run's orbits: `symreg run --model gpt.py:make --fit`."""

import torch
from torch import nn

import orbits
from worldmodel import TorchModule

CONTEXT, WIDTH = 8, 64


class GPT(nn.Module):
    def __init__(self, unit):
        super().__init__()
        self.unit = unit  # rms of a residual, au
        self.read = nn.Linear(4, WIDTH)
        self.place = nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        block = nn.TransformerEncoderLayer(WIDTH, 4, 256, 0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.write = nn.Linear(WIDTH, 2)

    def forward(self, x):  # (batch, time, axis), au, to the residual after each
        steps = torch.diff(x, dim=1, prepend=x[:, :1])
        h = self.read(torch.cat((x, 20 * steps), dim=-1)) + self.place
        mask = nn.Transformer.generate_square_subsequent_mask(CONTEXT)
        return self.unit * self.write(self.blocks(h, mask=mask))


def make(data, seed):  # data: the folder of the run's training orbits
    torch.manual_seed(seed)
    x = torch.tensor(orbits.open_dataset(data)["position"].values, dtype=torch.float32)
    residual = torch.diff(x, n=2, dim=1)
    net = GPT(float(residual.std()))
    steps = 1000
    optimiser = torch.optim.AdamW(net.parameters())
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, steps)
    for _ in range(steps):
        orbit, start = torch.randint(len(x), (256,)), torch.randint(x.shape[1] - CONTEXT, (256,))
        window = start[:, None] + torch.arange(CONTEXT)
        wrong = net(x[orbit[:, None], window])[:, -1] - residual[orbit, start + CONTEXT - 2]
        loss = (wrong**2).mean() / net.unit**2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rates.step()
    return TorchModule(net, CONTEXT, target="residual")
