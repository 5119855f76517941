"""The generator of chance, written out plainly (compare `tabletop_envs.kernels.rng`).

SplitMix64: the whole state is one number of 64 bits.
"""

MASK64 = 2**64 - 1


class Chance:
    """A stream of random numbers whose state is the integer `state`."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> int:
        """The next 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number from 0 to n − 1, all equally likely.

        The upper 32 of 64 random bits, times n, cut to the upper 32 again (Lemire 2019): redrawn
        where the lower half falls among the few values that would favour some results.
        """
        while True:
            product = (self.next() >> 32) * n
            if product % 2**32 >= (2**32 - n) % n:
                return product >> 32

    def shuffle(self, items: list) -> None:
        """Fisher and Yates: from the last place down, swap with a place not above it."""
        for place in range(len(items) - 1, 0, -1):
            other = self.below(place + 1)
            items[place], items[other] = items[other], items[place]


def state_from_seed(seed: int) -> int:
    """The generator's first state for a seed 0 … 2^64 − 1: one scrambling of the seed itself."""
    return Chance(seed).next()
