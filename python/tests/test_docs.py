"""The pages of the package, built without a warning."""

import inspect
import subprocess
import sys

import pytest
from conftest import ROOT

import trunkline as tl


def test_the_pages_are_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    built = subprocess.run(
        [*build, str(ROOT / "python/docs"), str(tmp_path)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "reference.html").read_text()
    for name in ("trunkline.tune", "trunkline.copy", "trunkline.Result", "trunkline.Error"):
        assert f'id="{name}"' in page, name


@pytest.mark.parametrize("name", sorted(set(tl.__all__) - {"__version__"}))
def test_everything_is_described(name):
    thing = getattr(tl, name)
    if isinstance(thing, str | int):
        return
    assert inspect.getdoc(thing), name
    if isinstance(thing, tl.Operation) or inspect.isfunction(thing):
        described = inspect.getdoc(thing)
        for argument in inspect.signature(thing).parameters:
            assert f"{argument}:" in described or len(inspect.signature(thing).parameters) == 1
