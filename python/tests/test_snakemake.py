"""The storage plugin of Snakemake, with Snakemake itself and a server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, skip

import trunkline as tl

try:
    import snakemake_storage_plugin_trunkline as plugin
    from snakemake.io import IOCache
    from snakemake_interface_common.exceptions import WorkflowError
    from snakemake_interface_storage_plugins.tests import TestStorageBase
except ImportError as error:
    skip(f"no Snakemake from PyPI: {error}")

PLUGIN = ROOT / "python/snakemake-storage-plugin-trunkline"
WORKFLOW = """
HOST = "trunkline://{host}"
SAMPLES = sorted(glob_wildcards(storage(HOST + "/run7/{{sample}}.txt")).sample)

rule all:
    input:
        storage(HOST + "/out/all.txt"),
        "parts.txt",

rule count:
    input: storage(HOST + "/run7/{{sample}}.txt")
    output: storage(HOST + "/out/{{sample}}.count")
    shell: "wc -c < {{input:q}} > {{output:q}}"

rule sum:
    input: storage(expand(HOST + "/out/{{sample}}.count", sample=SAMPLES))
    output: storage(HOST + "/out/all.txt")
    shell: "cat {{input:q}} > {{output:q}}"

rule parts:
    input: storage(HOST + "/folder in")
    output: "parts.txt"
    shell: "cat {{input:q}}/one {{input:q}}/deep/two > {{output}}"

rule missing:
    input: storage(HOST + "/run7/not there.dat")
    output: "never"
    shell: "cp {{input:q}} {{output}}"
"""
NAMES = ["a", "b", "with space", "100%", "ü"]


class Far:
    """A server, its folder, and tokens with and without the right to write."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "store"
        (self.root / "run7").mkdir(parents=True)
        for number, name in enumerate(NAMES):
            (self.root / f"run7/{name}.txt").write_text("x" * number)
        (self.root / "folder in/deep").mkdir(parents=True)
        (self.root / "folder in/one").write_text("one\n")
        (self.root / "folder in/deep/two").write_text("two\n")
        self.tokens = {}
        for name, rights in (("ana", {}), ("eve", {"read_only": True})):
            self.tokens[name] = folder / f"{name}.token"
            token = tl.add_token(folder / "tokens", name, **rights)
            self.tokens[name].write_text(token)
            self.tokens[name].chmod(0o600)
        self.server = tl.serve(root=self.root, tokens=folder / "tokens")
        self.host = f"127.0.0.1:{self.server.port}"


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    one = Far(tmp_path_factory.mktemp("far"))
    with one.server:
        yield one


def provider(far: Far, folder: Path, who: str = "ana") -> plugin.StorageProvider:
    import logging

    settings = plugin.StorageProviderSettings(token_file=str(far.tokens[who]))
    return plugin.StorageProvider(folder / "local", logging.getLogger(), settings=settings)


class TestStorage(TestStorageBase):
    """What Snakemake asks of all plugins."""

    __test__ = True
    files_only = False

    @pytest.fixture(autouse=True)
    def server(self, far):
        self.far = far

    def get_storage_provider_cls(self):
        return plugin.StorageProvider

    def get_storage_provider_settings(self):
        return plugin.StorageProviderSettings(token_file=str(self.far.tokens["ana"]))

    def get_query(self, tmp_path):
        return f"trunkline://{self.far.host}/new%20folder/test.txt"

    def get_query_not_existing(self, tmp_path):
        return f"trunkline://{self.far.host}/no/such/file"


def counted(monkeypatch, thing, name: str) -> list[int]:
    """Counts the calls of a method from now on."""
    calls, before = [], getattr(thing, name)

    def count(*given, **options):
        calls.append(1)
        return before(*given, **options)

    monkeypatch.setattr(thing, name, count)
    return calls


def test_one_listing_tells_of_all_files_of_a_folder(far, tmp_path, monkeypatch):
    (far.root / "many").mkdir()
    for number in range(300):
        (far.root / f"many/{number}").write_bytes(b"x" * number)
    os.utime(far.root / "many/7", ns=(1, 1_700_000_000_123_456_789))
    storage = provider(far, tmp_path)
    objects = [storage.object(f"trunkline://{far.host}/many/{number}") for number in range(400)]
    listings = counted(monkeypatch, plugin.TrunklineFileSystem, "ls")
    questions = counted(monkeypatch, plugin.TrunklineFileSystem, "info")
    cache = IOCache(10)

    async def all_of_them():
        await asyncio.gather(*(one.inventory(cache) for one in objects))

    asyncio.run(all_of_them())
    assert (len(listings), len(questions)) == (1, 0)
    there = [cache.exists_in_storage[one.cache_key()] for one in objects]
    assert there == [True] * 300 + [False] * 100
    seven = objects[7].cache_key()
    assert cache.size[seven] == 7
    # The very number that Python has for the same time, so that neither looks newer.
    assert cache.mtime[seven].storage() == (far.root / "many/7").stat().st_mtime
    assert objects[7].mtime() == (far.root / "many/7").stat().st_mtime


def test_many_questions_about_a_folder_become_a_listing(far, tmp_path, monkeypatch):
    (far.root / "asked").mkdir()
    for number in range(200):
        (far.root / f"asked/{number}").write_bytes(b"x")
    storage = provider(far, tmp_path)
    now = [100.0]
    storage.listings._clock = lambda: now[0]
    objects = [storage.object(f"trunkline://{far.host}/asked/{number}") for number in range(200)]
    listings = counted(monkeypatch, plugin.TrunklineFileSystem, "ls")
    questions = counted(monkeypatch, plugin.TrunklineFileSystem, "info")
    assert all(one.exists() and one.size() == 1 and one.mtime() > 0 for one in objects)
    assert (len(listings), len(questions)) == (1, 2)
    # What is not there is asked for each time.
    late = storage.object(f"trunkline://{far.host}/asked/late")
    assert not late.exists()
    (far.root / "asked/late").write_bytes(b"")
    assert late.exists()
    # What was told is soon asked again, and at once where this run changed it.
    (far.root / "asked/7").write_bytes(b"longer")
    assert objects[7].size() == 1
    now[0] += 5
    assert objects[7].size() == 6
    objects[8].local_path().parent.mkdir(parents=True, exist_ok=True)
    objects[8].local_path().write_bytes(b"other")
    objects[8].store_object()
    assert objects[8].size() == 5
    # A folder with far more in it than is asked for is not listed.
    for number in range(1000):
        (far.root / f"asked/more{number}").touch()
    storage.listings.list(storage.files(objects[0].query), f"trunkline://{far.host}/asked")
    now[0] += 5
    listings.clear()
    assert all(one.exists() for one in objects[:10]) and not listings


def test_what_is_asked_for_at_once_comes_in_one_copy(far, tmp_path, monkeypatch):
    storage = provider(far, tmp_path)
    objects = [storage.object(f"trunkline://{far.host}/run7/{name.replace('%', '%25')}.txt")
               for name in NAMES]
    lost = storage.object(f"trunkline://{far.host}/run7/lost")
    together = counted(monkeypatch, tl.Operation, "aio")
    copies = counted(monkeypatch, tl.Operation, "__call__")

    async def all_of_them():
        asked = (one.managed_retrieve() for one in [*objects, lost])
        return await asyncio.gather(*asked, return_exceptions=True)

    *fine, failed = asyncio.run(all_of_them())
    assert fine == [None] * len(objects)
    assert "lost" in str(failed) and "not found" in str(failed)
    for number, one in enumerate(objects):
        assert one.local_path().read_text() == "x" * number
    # One name is written otherwise here than there, and comes by itself.
    assert (len(together), len(copies)) == (1, 1)


def test_names_have_one_spelling(far, tmp_path):
    storage = provider(far, tmp_path)
    same = ["/run7/with space.txt", "/run7/with%20space.txt", "//run7//with%20spac%65.txt"]
    objects = [storage.object(f"trunkline://{far.host}{path}") for path in same]
    assert len({one.query for one in objects}) == len({one.local_path() for one in objects}) == 1
    percent = storage.object(f"trunkline://{far.host}/run7/100%25.txt")
    assert percent.name == "/run7/100%.txt" and percent.exists()
    braces = storage.object(f"trunkline://{far.host}/run7/%7Bx%7D")
    assert "{" not in str(braces.local_path())


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("http://host/file", "it does not begin with trunkline://"),
        ("trunkline:///file", "`` is not HOST or HOST:PORT"),
        ("trunkline://host:port/file", "`host:port` is not HOST or HOST:PORT"),
        ("trunkline://host", "it names no file: write trunkline://host/PATH"),
        ("trunkline://host/100%", "write %25 for a percent sign"),
        ("trunkline://host/a/../../etc/passwd", "write the name without"),
        ("trunkline://host/a/%2e%2e/passwd", "write the name without"),
    ],
)
def test_queries_that_are_refused_say_what_to_write(query, says):
    told = plugin.StorageProvider.is_valid_query(query)
    assert not told and says in str(told)


def test_a_folder_that_is_stored_again_has_what_the_job_made(far, tmp_path):
    folder = provider(far, tmp_path).object(f"trunkline://{far.host}/folder")
    for names in (["one", "two"], ["one"]):
        here = folder.local_path()
        here.mkdir(parents=True, exist_ok=True)
        for old in here.iterdir():
            old.unlink()
        for name in names:
            (here / name).write_text(name)
        folder.store_object()
        assert sorted(one.name for one in (far.root / "folder").iterdir()) == names
    assert folder.local_footprint() == 3
    folder.remove()
    assert not folder.exists()


def snakemake(folder: Path, far: Far, *words: str, who: str = "ana", **env: str):
    """Runs Snakemake once, as a user does."""
    (folder / "Snakefile").write_text(WORKFLOW.format(host=env.pop("host", far.host)))
    run = [sys.executable, "-m", "snakemake", "-c2", "--nocolor", *words]
    run += ["--storage-trunkline-token-file", str(far.tokens[who])]
    home = os.environ | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder)} | env
    done = subprocess.run(run, capture_output=True, text=True, cwd=folder, env=home, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_a_workflow_runs_and_then_has_nothing_to_do(far, tmp_path):
    code, said = snakemake(tmp_path, far)
    assert code == 0, said
    lines = (far.root / "out/all.txt").read_text().split()
    assert sorted(lines) == sorted(str(number) for number in range(len(NAMES)))
    assert (tmp_path / "parts.txt").read_text() == "one\ntwo\n"
    code, said = snakemake(tmp_path, far)
    assert code == 0 and "Nothing to be done" in said, said
    # Only what depends on a changed input is made again.
    (far.root / "run7/b.txt").write_text("longer than before")
    code, said = snakemake(tmp_path, far)
    assert code == 0, said
    assert "18" in (far.root / "out/all.txt").read_text().split()
    assert said.count("rule count:") == 1 and "rule parts" not in said, said


def test_an_input_that_is_not_there_is_named(far, tmp_path):
    code, said = snakemake(tmp_path, far, "missing", "never")
    assert code == 1
    assert "Missing input files for rule missing" in said, said
    assert f"trunkline://{far.host}/run7/not there.dat" in said


def test_a_token_that_may_not_write_says_so(far, tmp_path):
    (tmp_path / "flow").mkdir()
    code, said = snakemake(tmp_path / "flow", far, "--forceall", who="eve")
    assert code == 1
    assert "only for those who may read and write here" in said, said
    assert "hint: use a token with `rw`" in said, said


def test_a_server_that_is_gone_says_so(far, tmp_path):
    code, said = snakemake(tmp_path, far, host="127.0.0.1:9")
    assert code == 1
    assert "127.0.0.1:9" in said and "hint" in said, said


def test_without_a_token_the_next_step_is_named(far, tmp_path):
    storage = provider(far, tmp_path)
    storage.settings = plugin.StorageProviderSettings()
    one = storage.object(f"trunkline://{far.host}/run7/a.txt")
    with pytest.raises(WorkflowError, match="token_file"):
        asyncio.run(one.managed_exists())


def test_its_types_are_strict(tmp_path):
    config = PLUGIN / "pyproject.toml"
    strict = [sys.executable, "-m", "mypy", "--config-file", str(config)]
    checked = subprocess.run(strict, capture_output=True, text=True, cwd=PLUGIN)
    assert checked.returncode == 0, checked.stdout
