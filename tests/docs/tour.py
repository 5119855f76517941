"""Runs examples/tour.ipynb and writes it with what its cells print and draw:
`python -m tests.docs.tour`.
"""

from __future__ import annotations

from typing import Any

from tests.docs.pages import ROOT

NOTEBOOK = ROOT / "examples" / "tour.ipynb"
TIME_LIMIT = 1800


def read() -> Any:
    """The notebook as it is kept."""
    import nbformat

    return nbformat.read(NOTEBOOK, as_version=4)


def run() -> Any:
    """The notebook after a run of all its cells; CellExecutionError where one fails."""
    from nbclient import NotebookClient

    notebook = read()
    client = NotebookClient(
        notebook,
        timeout=TIME_LIMIT,
        startup_timeout=TIME_LIMIT,
        record_timing=False,
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _lasting(cell.outputs)
    # The version of Python that ran it says nothing to readers.
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _lasting(outputs: list[Any]) -> list[Any]:
    """Outputs without what differs from run to run: progress, pieces that text comes in, the
    addresses of objects.
    """
    lasting: list[Any] = []
    for output in outputs:
        if output.get("name") == "stderr":
            continue
        if lasting and output.output_type == lasting[-1].output_type == "stream":
            lasting[-1].text += output.text
            continue
        if {"image/svg+xml", "image/png"} & set(output.get("data", ())):
            output.data.pop("text/plain", None)
        lasting.append(output)
    return lasting


def main() -> None:
    """Run the notebook and write it."""
    import nbformat

    nbformat.write(run(), NOTEBOOK)


if __name__ == "__main__":
    main()
