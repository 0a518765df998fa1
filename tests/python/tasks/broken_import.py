import torch

VALUE = torch.ones(2) @ torch.ones(3)
