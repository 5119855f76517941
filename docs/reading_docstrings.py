"""A Sphinx extension: what autodoc and Napoleon need to be told of this package's docstrings."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.docstrings import prepare_docstring

# Several attributes that are described at once.
SEVERAL = re.compile(r":ivar (\w+(?:, \w+)+):(.*)")
# A name that is bare in docstrings, and in annotations for type checkers; adapters have classes of
# the same name.
ENVIRONMENT, FULL = "TabletopEnv", "tabletop_envs.envs.aec.TabletopEnv"
OTHERS = ("tabletop_envs.adapters.torchrl", "tabletop_envs.adapters.pufferlib")


# What NumPy's types of arguments come out as, and what they are called.
ALIASES = {
    r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[([~\w. |]+)\]\]": r"~numpy.typing.NDArray[\1]",
    r"~numpy\._typing\._array_like\._Buffer \|.*?complex \| bytes \| str\]": "~numpy.typing.ArrayLike",
}


def mend_docstring(app: Sphinx, what: str, name: str, member: Any, *rest: Any) -> None:
    """After Napoleon: properties are sentences, without a type before a colon; each attribute has a
    field of its own.
    """
    lines: list[str] = rest[-1]
    if what == "property" and member.__doc__:
        lines[:] = prepare_docstring(member.__doc__)
    mended: list[str] = []
    for line in lines:
        several = SEVERAL.match(line)
        if several:
            *others, last = several[1].split(", ")
            mended += [f":ivar {other}: See ``{last}``." for other in others]
            line = f":ivar {last}:{several[2]}"
        if not name.startswith(OTHERS):
            line = line.replace(f"`{ENVIRONMENT}`", f":py:class:`{ENVIRONMENT} <{FULL}>`")
        mended.append(line)
    lines[:] = mended


def mend_signature(
    app: Sphinx, what: str, name: str, member: Any, options: Any, signature: Any, returns: Any
) -> Any:
    """Call types by their names; say whose class is meant where annotations have its bare name."""

    def mend(text: str | None) -> str | None:
        for long, short in ALIASES.items() if text else ():
            text = re.sub(long, short, text or "")
        if text and not name.startswith(OTHERS):
            text = re.sub(rf"(?<![\w.]){ENVIRONMENT}\b", f"~{FULL}", text)
        return text

    return mend(signature), mend(returns)


def skip_fields(app: Sphinx, what: str, name: str, member: Any, skip: bool, *rest: Any) -> Any:
    """Leave out the fields of named tuples, which their classes' docstrings describe."""
    return True if str(member.__doc__).startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx what this extension does."""
    app.connect("autodoc-process-docstring", mend_docstring, priority=600)
    app.connect("autodoc-process-signature", mend_signature)
    app.connect("autodoc-skip-member", skip_fields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
