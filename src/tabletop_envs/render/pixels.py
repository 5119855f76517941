"""Drawings as pixels, without a display and without fonts: resvg turns the SVG into an image."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from tabletop_envs.extras import require

__all__ = ["png", "rasterise"]

# The first two rows of an affine map, here the identity, written as resvg reads it.
_AS_IT_IS = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def png(svg: str) -> bytes:
    """An SVG drawing as a PNG image of the size that the drawing says.

    Raises:
        ImportError: Without resvg (extra `render`).
    """
    resvg = require("resvg", "render")
    # Drawings hold no text for which fonts would have to be loaded.
    tree = resvg.usvg.Tree.from_str(svg, resvg.usvg.Options.default())
    return bytes(resvg.render(tree, _AS_IT_IS))


def rasterise(svg: str) -> npt.NDArray[np.uint8]:
    """An SVG drawing as a fresh array `uint8[height, width, 3]`, of the size that the drawing says.

    Raises:
        ImportError: Without resvg or Pillow (extra `render`).
    """
    image = require("PIL.Image", "render")
    with image.open(io.BytesIO(png(svg))) as decoded:
        return np.array(decoded.convert("RGB"))
