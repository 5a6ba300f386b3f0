"""The notebooks, executed; and Ctrl-C within one."""

from __future__ import annotations

import os
import threading
import time

import pytest
from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
NOTEBOOKS = ROOT / "python/notebooks"


@pytest.mark.parametrize("name", sorted(one.stem for one in NOTEBOOKS.glob("*.ipynb")))
def test_executed(name, tmp_path):
    """Far from the sources: a notebook needs no more than the installed package."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/svg+xml" in output.get("data", {}) for output in shown)


def test_interrupted_in_a_notebook(tmp_path):
    """What the stop button does: the kernel gets SIGINT, and goes on with the next cell."""
    cells = [
        "import trunkline as tl, time",
        "begun = time.time()\n"
        "try:\n"
        "    tl.simulate('oc12-100ms', streams=200, duration='2h', cache=False, history=False)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', time.time())",
        "print(tl.predict('slac-cern').schema)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    client = nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": "/tmp"}})
    sent = []

    def interrupt():
        # Once the second cell runs.
        while client.code_cells_executed < 1:
            time.sleep(0.05)
        time.sleep(1)
        sent.append(time.time())
        os.kill(client.km.provisioner.process.pid, 2)

    threading.Thread(target=interrupt, daemon=True).start()
    client.execute()
    word, at = notebook.cells[1].outputs[0].text.split()
    assert word == "interrupted"
    # The simulation takes far longer.
    assert float(at) - sent[0] < 20
    assert "trunkline/predict" in notebook.cells[2].outputs[0].text
