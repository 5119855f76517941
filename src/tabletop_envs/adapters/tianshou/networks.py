"""Networks that take masks and observations apart, for Tianshou's policy-gradient algorithms."""

from __future__ import annotations

from typing import Any

import torch
from tianshou.utils.net.common import AbstractDiscreteActor, ModuleWithVectorOutput


class MaskedActor(AbstractDiscreteActor):
    """An actor whose logits are lowered where the mask is 0, so that illegal actions have the probability 0.

    Args:
        net: A network from observations `float32 (B, L)` to logits `(B, n)`, such as `tianshou.utils.net.common.Net`.
    """

    def __init__(self, net: ModuleWithVectorOutput) -> None:
        super().__init__(net.get_output_dim())
        self.net = net

    def get_preprocess_net(self) -> ModuleWithVectorOutput:
        """The network."""
        return self.net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Any, Any]:
        """Masked logits `(B, n)` of `Batch(obs, mask)`, and the network's state."""
        logits, state = self.net(obs.obs, state=state, info=info)
        mask = torch.as_tensor(obs.mask, dtype=torch.bool, device=logits.device)
        return logits.masked_fill(~mask, torch.finfo(logits.dtype).min), state


class ObservationNet(ModuleWithVectorOutput):
    """A network that is given the observations alone, without masks: what critics need.

    Args:
        net: A network from observations `float32 (B, L)` to features, such as `tianshou.utils.net.common.Net`.
    """

    def __init__(self, net: ModuleWithVectorOutput) -> None:
        super().__init__(net.get_output_dim())
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Any, Any]:
        """The network's output for `Batch(obs, mask)`."""
        features: tuple[Any, Any] = self.net(obs.obs, state=state, info=info)
        return features
