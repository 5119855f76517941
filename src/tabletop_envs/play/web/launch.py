"""Open the page in a browser without showing its secret address to other users of the machine."""

from __future__ import annotations

import contextlib
import html
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Play</title>
<p><a href="{address}">To the game</a></p>
"""


@contextlib.contextmanager
def private_page(address: str) -> Iterator[str]:
    """Within `with`, the URL of a file that only this user can read and that leads to `address`.

    A browser gets its address as an argument, and everybody can read command lines (`ps`). OSError
    where the file cannot be written.
    """
    # The folder is made for this user alone.
    folder = Path(tempfile.mkdtemp(prefix="tabletop-envs-"))
    try:
        file = folder / "play.html"
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as page:
            page.write(_REDIRECT.format(address=html.escape(address)))
        yield file.as_uri()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
