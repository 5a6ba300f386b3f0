"""The filesystem of fsspec, with a server in this process or in one that is killed."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest

import trunkline as tl

fsspec = pytest.importorskip("fsspec")
import fsspec.tests.abstract as abstract  # noqa: E402
from conftest import loopback  # noqa: E402
from test_copy import contents, made, served  # noqa: E402

from trunkline.fs import _SMALL, ReadsAhead, TrunklineFileSystem, _together  # noqa: E402

ODD = ["a b", "100%", "50%25", "größe", "日本", "c#d", "e?f", "g&h=i", "j'k", 'l"m', "n\\o", "p*q", "r[1]"]


@pytest.fixture(scope="module")
def served_here(tmp_path_factory):
    base = tmp_path_factory.mktemp("fs")
    (base / "store").mkdir()
    token = tl.add_token(base / "tokens", "ana")
    reader = tl.add_token(base / "tokens", "bob", read_only=True)
    with tl.serve(root=base / "store", tokens=base / "tokens") as server:
        yield base / "store", server, token, reader


@pytest.fixture(scope="module")
def served_v6(served_here):
    base = served_here[0].parent
    with tl.serve(root=base / "store", tokens=base / "tokens", bind="::1") as server:
        yield server


def reached(request):
    """The filesystem, over the version of the internet protocol whose turn it is."""
    host = loopback(request.node.name)
    _, server, token, _ = request.getfixturevalue("served_here")
    server = server if host == "127.0.0.1" else request.getfixturevalue("served_v6")
    return TrunklineFileSystem(host, server.port, token=token)


@pytest.fixture
def fs(request):
    return reached(request)


@pytest.fixture
def root(served_here, request):
    """A folder of its own in what is served, here and there."""
    here = served_here[0] / f"{random.getrandbits(40):x}"
    here.mkdir()
    return here, f"/{here.name}"


class Fixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, request):
        return reached(request)

    @pytest.fixture
    def fs_path(self, root):
        return root[1]


class TestCopy(abstract.AbstractCopyTests, Fixtures):
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):
    pass


@pytest.mark.each_python
class TestOpen(abstract.AbstractOpenTests, Fixtures):
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):
    pass


def test_names_and_urls(fs):
    port = fs.port
    strip = TrunklineFileSystem._strip_protocol
    assert strip(f"trunkline://h:{port}/a%20b/") == "/a%20b"
    assert strip("a//b/") == "/a/b"
    assert strip("/50%25") == "/50%25"
    assert strip("trunkline://h") == "/"
    for name in ODD:
        assert strip(fs.unstrip_protocol(f"/x/{name}")) == f"/x/{name}"
    kwargs = TrunklineFileSystem._get_kwargs_from_urls
    assert kwargs("trunkline://h:5/a") == {"host": "h", "port": 5}
    for address in ("[::1]", "[0:0:0:0:0:0:0:1]"):
        assert kwargs(f"trunkline://{address}:5/a") == {"host": "::1", "port": 5}
    assert kwargs("trunkline://h/a:6") == {"host": "h"}
    assert strip("trunkline://h/100%") == "/100%"
    assert fs.place("/a b/50%") == f"{fs.fsid}/a%20b/50%25"


def random_names(draw, count):
    """Names of any letters but `/`, also bytes that are no UTF-8."""
    letters = "aA%4120 #?&*[]{}~:;'\"\\+=\n\täöß日\u202e\udc80\udcff"
    names = {"".join(draw.choices(letters, k=draw.randrange(1, 12))) for _ in range(count)}
    # `~` in front and `::` have a meaning in URLs of fsspec.
    return sorted(one for one in names if "::" not in one and one[0] != "~")


def test_random_names_survive_urls(fs, root):
    here, there = root
    seed = random.randrange(1 << 32)
    print("seed", seed)
    names = random_names(random.Random(seed), 60)
    for name in names:
        (here / name).write_bytes(os.fsencode(name))
        assert fs._strip_protocol(fs.unstrip_protocol(f"{there}/{name}")) == f"{there}/{name}"
    listed = fs.ls(there, detail=False)
    assert sorted(listed) == [f"{there}/{name}" for name in names]
    for name in listed:
        url = f"{fs.fsid}{name}"
        opened, path = fsspec.core.url_to_fs(url, token=fs.storage_options["token"])
        assert opened.cat_file(path) == os.fsencode(name.rpartition("/")[2])
        fs.pipe_file(url, b"new")
        assert (here / name.rpartition("/")[2]).read_bytes() == b"new"
    fs.pipe({f"{there}/many/{name}": os.fsencode(name) for name in names})
    assert contents(here / "many") == {name: os.fsencode(name) for name in names}


def test_rsync_keeps_names_both_ways(fs, root, tmp_path):
    from fsspec.generic import rsync

    here, there = root
    for below in (here / "s", tmp_path / "s"):
        below.mkdir()
        for name in ("a%41", "aA", "f1", "x%", "100%", "a b", "a%20b", "größe", "c#d?e", "n\nl"):
            (below / name).write_text(name)
    options = {"host": fs.host, "port": fs.port, "token": fs.storage_options["token"]}
    how = {"default_method": "options", "storage_options": {"trunkline": options, "file": {}}}
    rsync(fs.unstrip_protocol(f"{there}/s"), f"file://{tmp_path}/got", inst_kwargs=how)
    assert contents(tmp_path / "got") == contents(here / "s")
    rsync(f"file://{tmp_path}/s", fs.unstrip_protocol(f"{there}/put"), inst_kwargs=how)
    assert contents(here / "put") == contents(tmp_path / "s")


def test_a_quoted_name_that_is_not_there_is_explained(fs, root):
    here, there = root
    (here / "a b").write_bytes(b"1")
    with pytest.raises(FileNotFoundError, match="nothing is quoted"):
        fs.info(f"{there}/a%20b")


def test_options_that_are_none_are_refused():
    with pytest.raises(tl.RequestError, match="prot"):
        TrunklineFileSystem("h", prot=3)
    with pytest.raises(tl.RequestError, match="inst_kwargs"):
        TrunklineFileSystem()


def test_files_that_are_written_have_the_usual_mode(fs, root, tmp_path):
    here, there = root
    mask = os.umask(0o022)
    os.umask(mask)
    usual = 0o666 & ~mask
    fs.pipe(f"{there}/p", b"1")
    fs.pipe({f"{there}/{one}": b"1" for one in "qr"})
    with fs.open(f"{there}/w", "wb") as file:
        file.write(b"1")
    for name in "pqrw":
        assert (here / name).stat().st_mode & 0o777 == usual
    (here / "p").chmod(0o640)
    fs.pipe(f"{there}/p", b"2")
    assert (here / "p").stat().st_mode & 0o777 == 0o640


def test_a_walk_is_one_listing(fs, root, monkeypatch):
    here, there = root
    for number in range(40):
        (here / f"d{number % 4}" / f"e{number}").mkdir(parents=True)
        (here / f"d{number % 4}" / f"e{number}" / "f").write_bytes(b"1")
    (here / "empty").mkdir()
    (here / "to").symlink_to("d0/e0")
    expected = {one: (set(dirs), set(names)) for one, dirs, names in os.walk(here, followlinks=True)}
    asked, listed = [], TrunklineFileSystem._listed
    monkeypatch.setattr(
        TrunklineFileSystem,
        "_listed",
        lambda self, path, recursive: asked.append(path) or listed(self, path, recursive),
    )
    for topdown in (True, False):
        walked = {
            f"{here.parent}{one}": (set(dirs), set(names))
            for one, dirs, names in fs.walk(there, topdown=topdown)
        }
        assert walked == expected
    # The link is a folder of its own.
    assert asked == [there, f"{there}/to"] * 2
    walk = fs.walk(there, detail=True)
    _, dirs, _ = next(walk)
    del dirs["d0"], dirs["to"]
    assert sorted(one for one, _, _ in walk)[0] == f"{there}/d1"
    assert list(fs.walk(f"{there}/none")) == []
    with pytest.raises(FileNotFoundError):
        list(fs.walk(f"{there}/none", on_error="raise"))


def test_a_write_that_fails_says_why(root, served_here, fs, tmp_path):
    here, there = root
    (here / "f").write_bytes(b"1")
    (here / "d").mkdir()
    (tmp_path / "x").write_bytes(b"1")
    large = tmp_path / "large"
    large.write_bytes(bytes(_SMALL + 1))
    for name, kind in (("f/c", NotADirectoryError), ("d", IsADirectoryError)):
        place = f"{there}/{name}"
        for does in [
            lambda: fs.pipe(place, b"1"),
            lambda: fs.open(place, "wb").close(),
            lambda: fs.put_file(tmp_path / "x", place),
            lambda: fs.put_file(large, place),
            lambda: fs.cp_file(f"{there}/f", place),
            lambda: fs.touch(place),
        ]:
            with pytest.raises(kind):
                does()
    with pytest.raises(NotADirectoryError):
        fs.mkdir(f"{there}/f/c")
    with pytest.raises(FileExistsError):
        fs.mkdir(f"{there}/f")
    with pytest.raises(IsADirectoryError):
        fs.pipe({f"{there}/d": b"1", f"{there}/e": b"1"})
    with pytest.raises(OSError, match="is a folder"):
        fs.pipe({f"{there}/d": b"1"} | {f"{there}/e{number}": b"1" for number in range(20)})
    # What is more than a block is refused before all of it is written.
    with pytest.raises(IsADirectoryError), fs.open(f"{there}/d", "wb", block_size=1000) as file:
        file.write(bytes(1000))
    with pytest.raises(NotImplementedError, match="truncate"):
        fs.touch(f"{there}/f", truncate=False)


# A server below a folder of which no file can be written: a file system mounted read-only.
READ_ONLY = """
import os, subprocess, sys
import trunkline as tl
root, tokens = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", root + "/ro"], check=True)
with tl.serve(root=root, tokens=tokens) as server:
    print(server.port, flush=True)
    sys.stdin.read()
"""


def test_a_file_system_that_is_mounted_read_only(tmp_path):
    unshared = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshared, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    (tmp_path / "store/ro").mkdir(parents=True)
    token = tl.add_token(tmp_path / "tokens", "ana")
    reader = tl.add_token(tmp_path / "tokens", "bob", read_only=True)
    (tmp_path / "x").write_bytes(b"1")
    server = subprocess.Popen(
        [*unshared, sys.executable, "-c", READ_ONLY, tmp_path / "store", tmp_path / "tokens"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    try:
        port = int(server.stdout.readline())
        fs = TrunklineFileSystem("127.0.0.1", port, token=token)
        for does in [
            lambda: fs.pipe("/ro/c", b"1"),
            lambda: fs.pipe({"/ro/c": b"1", "/ro/d": b"1"}),
            lambda: fs.put_file(tmp_path / "x", "/ro/c"),
            lambda: fs.put(str(tmp_path / "x"), "/ro/c"),
            lambda: fs.mkdir("/ro/c"),
        ]:
            with pytest.raises(PermissionError, match="Read-only file system") as caught:
                does()
            assert caught.value.errno == errno.EROFS
        # The same class, whoever finds out.
        for does in [
            lambda: TrunklineFileSystem("127.0.0.1", port, token=reader).pipe("/c", b"1"),
            lambda: tl.copy(tmp_path / "x", fs.place("/c"), token=reader),
        ]:
            with pytest.raises(PermissionError):
                does()
    finally:
        server.communicate("")


def test_small_files_take_few_copies(fs, root, tmp_path, monkeypatch):
    here, there = root
    copies, copy = [], TrunklineFileSystem._copy
    monkeypatch.setattr(
        TrunklineFileSystem,
        "_copy",
        lambda self, *given, **options: copies.append(given) or copy(self, *given, **options),
    )
    written = {f"d{number % 7}/deep/{number}": b"%d" % number for number in range(100)}
    fs.pipe({f"{there}/{name}": data for name, data in written.items()})
    assert contents(here) == written and len(copies) == 1
    (here / "d0/deep/0").chmod(0o640)
    os.utime(here / "d0/deep/0", ns=(1, 1_234_567_890_123_456_789))
    (tmp_path / "0").write_bytes(b"older")
    fs.get_file(f"{there}/d0/deep/0", tmp_path / "0")
    stat = (tmp_path / "0").stat()
    assert (tmp_path / "0").read_bytes() == b"0" and stat.st_mode & 0o777 == 0o640
    assert stat.st_mtime_ns == 1_234_567_890_123_456_789
    names = [f"{there}/{name}" for name in written]
    fs.get(names, [f"{tmp_path}/got/{name}" for name in written])
    assert contents(tmp_path / "got") == written and len(copies) == 1


class Asked:
    """Connections that note what is asked of them; nothing is copied."""

    def __init__(self, fs, monkeypatch):
        self.core, self.asked = fs._core(), []
        monkeypatch.setattr(fs, "_core", lambda: self)
        monkeypatch.setattr(fs, "_copy", lambda *_, **__: pytest.fail("a copy"))

    def __getattr__(self, name):
        found = getattr(self.core, name)
        if name == "rights":  # known since the connection was made
            return found
        return lambda *given: self.asked.append(name) or found(*given)

    def took(self, does):
        self.asked.clear()
        does()
        return self.asked


def test_small_files_are_one_request(fs, root, tmp_path, monkeypatch):
    here, there = root
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    core = Asked(fs, monkeypatch)
    sizes = [0, 1, 1000, 64 << 10, _SMALL, *(draw.randrange(_SMALL) for _ in range(5))]
    for number, size in enumerate(sizes):
        data, name = draw.randbytes(size), f"{there}/new/{number}/f"
        (tmp_path / "x").write_bytes(data)
        os.chmod(tmp_path / "x", 0o640)
        os.utime(tmp_path / "x", ns=(1, 1_234_567_890_123_456_789))

        def opened(mode, name=name, data=data):
            with fs.open(name, mode) as file:
                file.write(data)

        for how in [
            lambda: fs.pipe(f"{name}p", data),  # noqa: B023
            lambda: opened("wb"),
            lambda: fs.put_file(tmp_path / "x", f"{name}u"),  # noqa: B023
        ]:
            assert core.took(how) == ["store"], size
        # fsspec asks whether that is a folder.
        how = lambda: fs.put(str(tmp_path / "x"), f"{name}v")  # noqa: B023, E731
        assert core.took(how) == ["info", "store"]
        for written in (f"{name}p", name, f"{name}u", f"{name}v"):
            assert (here.parent / written.lstrip("/")).read_bytes() == data
        put = (here.parent / f"{name}u".lstrip("/")).stat()
        assert (put.st_mode & 0o777, put.st_mtime_ns) == (0o640, 1_234_567_890_123_456_789)
        assert core.took(lambda: fs.get_file(f"{name}u", tmp_path / "g")) == ["read_small"]  # noqa: B023
        got = (tmp_path / "g").stat()
        assert (tmp_path / "g").read_bytes() == data
        assert (got.st_mode & 0o777, got.st_mtime_ns) == (0o640, 1_234_567_890_123_456_789)
        assert core.took(lambda: fs.cp_file(f"{name}u", f"{name}c")) == ["read_small", "store"]  # noqa: B023
        assert (here.parent / f"{name}c".lstrip("/")).read_bytes() == data
    assert core.took(lambda: opened("xb", f"{there}/only")) == ["info", "store"]
    few = {f"{there}/few/{number}": b"%d" % number for number in range(16)}
    assert core.took(lambda: fs.pipe(few)) == ["store"]
    sources = [str(tmp_path / one) for one in "abc"]
    for source in sources:
        open(source, "w").write(source)
    core.took(lambda: fs.put(sources, [f"{there}/put/{one}" for one in "abc"]))
    assert core.asked[-1] == "store" and core.asked.count("store") == 1
    assert [(here / "put" / one).read_text() for one in "abc"] == sources
    assert contents(here / "few") == {str(number): b"%d" % number for number in range(16)}


def test_a_source_that_is_written_to_is_not_put(fs, root, tmp_path, monkeypatch):
    here, there = root
    (tmp_path / "x").write_bytes(b"old")
    stat = os.fstat

    def slowly(file):
        found = stat(file)
        with open(tmp_path / "x", "ab") as other:
            other.write(b"new")
        return found

    monkeypatch.setattr("trunkline.fs.os.fstat", slowly)
    with pytest.raises(tl.RunError, match="changed while"):
        fs.put_file(tmp_path / "x", f"{there}/x")
    assert not (here / "x").exists()


REFUSED = ["../out", "d/../../out", ".x.trunkline-part", "d/.x.trunkline-journal", "a" * 300, "\ud800"]


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_no_server_takes_are_refused(fs, root, tmp_path, name):
    here, there = root
    (here / "f").write_bytes(b"1")
    (tmp_path / "x").write_bytes(b"1")
    before = contents(here.parent), os.listdir(here.parent.parent), os.listdir(tempfile.gettempdir())
    place = f"{there}/../{name}" if ".." in name else f"{there}/{name}"
    for does in [
        lambda: fs.pipe(place, b"1"),
        lambda: fs.pipe({place: b"1", f"{there}/other": b"1"}),
        lambda: fs.put_file(tmp_path / "x", place),
        lambda: fs.put([str(tmp_path / "x")] * 2, [place, f"{there}/other"]),
        lambda: fs.cp_file(f"{there}/f", place),
        lambda: fs.touch(place),
        lambda: fs.mkdir(place),
        lambda: fs.mv(f"{there}/f", place),
        lambda: fs.cat_file(place),
        lambda: fs.get_file(place, tmp_path / "got"),
    ]:
        with pytest.raises((tl.Error, OSError, ValueError)):
            does()
        (here / "other").unlink(missing_ok=True)
    after = contents(here.parent), os.listdir(here.parent.parent), os.listdir(tempfile.gettempdir())
    assert after[:2] == before[:2] and "out" not in after[2] and not (tmp_path / "got").exists()


def test_groups_of_pairs():
    assert _together([("/a/b/c", "/x/b/c"), ("/a/d", "/x/d"), ("/a/e", "/x/f")]) == {
        ("/a", "/x"): ["b/c", "d"],
        ("/a/e", "/x/f"): [""],
    }


@pytest.mark.parametrize("name", ODD)
def test_odd_names(fs, root, tmp_path, name):
    here, there = root
    fs.pipe_file(f"{there}/{name}", name.encode())
    assert (here / name).read_bytes() == name.encode()
    assert fs.ls(there, detail=False) == [f"{there}/{name}"]
    assert fs.find(there) == [f"{there}/{name}"]
    assert fs.cat_file(f"{there}/{name}") == name.encode()
    with fsspec.open(fs.unstrip_protocol(f"{there}/{name}"), token=fs.storage_options["token"]) as f:
        assert f.read() == name.encode()
    fs.get_file(f"{there}/{name}", tmp_path / name)
    fs.put_file(tmp_path / name, f"{there}/in {name}/{name}")
    assert (here / f"in {name}" / name).read_bytes() == name.encode()
    fs.mv(f"{there}/{name}", f"{there}/moved")
    fs.rm_file(f"{there}/moved")
    if "[" not in name:  # fsspec takes that for a pattern
        fs.get(f"{there}/in {name}", str(tmp_path / "back") + "/", recursive=True)
        assert list(contents(tmp_path / "back").values()) == [name.encode()]
    assert not fs.exists(f"{there}/moved") and fs.isdir(f"{there}/in {name}")


def test_a_name_with_a_wildcard_is_itself_where_it_is_there(fs, root, tmp_path):
    here, there = root
    for name in ("p*q", "pXq", "r[1]", "r1"):
        (here / name).write_text(name)
    for name in ("p*q", "r[1]"):
        fs.get_file(f"{there}/{name}", tmp_path / "same")
        assert (tmp_path / "same").read_text() == name
        fs.get_file(f"{there}/{name}", tmp_path / name)
        assert (tmp_path / name).read_text() == name
        fs.mv(f"{there}/{name}", f"{there}/moved {name}")
        fs.rm(f"{there}/moved {name}")
    assert sorted(contents(here)) == ["pXq", "r1"] and len(contents(tmp_path)) == 3
    fs.rm(f"{there}/p*")
    assert sorted(contents(here)) == ["r1"]


def test_ranges_are_those_of_the_file(fs, root):
    here, there = root
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    data = draw.randbytes(3_000_001)
    (here / "f").write_bytes(data)
    asked = [sorted(draw.randrange(3_100_000) for _ in range(2)) for _ in range(60)]
    read = fs.cat_ranges([f"{there}/f"] * 60, [one for one, _ in asked], [two for _, two in asked])
    assert read == [data[one:two] for one, two in asked]
    ends = [(None, None), (-10, None), (5, -5), (-7, -3), (0, 0), (9_000_000, None), (None, -9**9)]
    for start, end in ends:
        assert fs.cat_file(f"{there}/f", start, end) == data[start:end], (start, end)
    with fs.open(f"{there}/f", block_size=50_000) as file:
        for _ in range(60):
            at, length = draw.randrange(3_000_100), draw.randrange(100_000)
            file.seek(at)
            assert file.read(length) == data[at : at + length]
    missing = fs.cat_ranges([f"{there}/f", f"{there}/g"], 0, 3)
    assert missing[0] == data[:3] and isinstance(missing[1], FileNotFoundError)
    many = fs.cat([f"{there}/f", f"{there}/g"], on_error="omit")
    assert many == {f"{there}/f": data}
    with pytest.raises(FileNotFoundError):
        fs.cat([f"{there}/f", f"{there}/g"])


def test_what_names_are(fs, root):
    here, there = root
    made(here / "run7", [5, 70_000])
    (here / "run7/deep/er").mkdir(parents=True)
    (here / "run7/deep/er/x").write_bytes(b"x")
    (here / "run7/to").symlink_to("000.bin")
    info = fs.info(f"{there}/run7/001.bin")
    stat = (here / "run7/001.bin").stat()
    assert (info["size"], info["type"], info["mtime_ns"]) == (70_000, "file", stat.st_mtime_ns)
    assert info["mode"] & 0o777 == stat.st_mode & 0o777
    assert fs.modified(f"{there}/run7/001.bin").timestamp() == pytest.approx(stat.st_mtime)
    with pytest.raises(NotImplementedError):
        fs.created(f"{there}/run7/001.bin")
    assert fs.info(f"{there}/run7/to")["islink"] and fs.size(f"{there}/run7/to") == 5
    assert fs.find(f"{there}/run7") == [
        f"{there}/run7/{one}" for one in ["000.bin", "001.bin", "deep/er/x", "to"]
    ]
    assert fs.find(f"{there}/run7", maxdepth=1, withdirs=True) == [
        f"{there}/run7{one}" for one in ["", "/000.bin", "/001.bin", "/deep", "/to"]
    ]
    assert fs.find(f"{there}/none") == []
    assert fs.glob(f"{there}/run7/*.bin") == [f"{there}/run7/00{n}.bin" for n in (0, 1)]
    assert fs.du(f"{there}/run7/deep") == 1
    assert [names for _, _, names in fs.walk(f"{there}/run7/deep")] == [[], ["x"]]
    before = fs.checksum(f"{there}/run7/000.bin")
    (here / "run7/000.bin").write_bytes(b"other")
    assert fs.checksum(f"{there}/run7/000.bin") != before


@pytest.mark.each_python
def test_exceptions_are_those_of_python(fs, root):
    here, there = root
    (here / "f").write_bytes(b"x")
    (here / "d/e").mkdir(parents=True)
    for does, kind in [
        (lambda: fs.info(f"{there}/none"), FileNotFoundError),
        (lambda: fs.ls(f"{there}/none"), FileNotFoundError),
        (lambda: fs.open(f"{there}/none"), FileNotFoundError),
        (lambda: fs.cat_file(f"{there}/none"), FileNotFoundError),
        (lambda: fs.get_file(f"{there}/none", here / "g"), FileNotFoundError),
        (lambda: fs.put_file(here / "none", f"{there}/g"), FileNotFoundError),
        (lambda: fs.mv(f"{there}/none", f"{there}/g"), FileNotFoundError),
        (lambda: fs.rm(f"{there}/none"), FileNotFoundError),
        (lambda: fs.cat_file(f"{there}/d"), IsADirectoryError),
        (lambda: fs.open(f"{there}/d"), IsADirectoryError),
        (lambda: fs.open(f"{there}/d", "wb").close(), IsADirectoryError),
        (lambda: fs.open(f"{there}/f", "xb"), FileExistsError),
        (lambda: fs.put_file(here / "f", f"{there}/d"), IsADirectoryError),
        (lambda: fs.rm(f"{there}/d"), IsADirectoryError),
        (lambda: fs.info(f"{there}/f/x"), (NotADirectoryError, FileNotFoundError)),
        (lambda: fs.mkdir(f"{there}/d"), FileExistsError),
        (lambda: fs.makedirs(f"{there}/d"), FileExistsError),
        (lambda: fs.mkdir(f"{there}/x/y", create_parents=False), FileNotFoundError),
        (lambda: fs.rmdir(f"{there}/d"), OSError),
        (lambda: fs.info(f"{there}/../../etc"), tl.RequestError),
    ]:
        with pytest.raises(kind) as caught:
            does()
        assert isinstance(caught.value, (tl.Error, FileNotFoundError))
    with pytest.raises(FileNotFoundError) as caught:
        fs.info(f"{there}/none")
    assert caught.value.errno == 2 and "none" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.errno == 2 and str(again) == str(caught.value)


def test_folders_there_and_back(fs, root, tmp_path):
    here, there = root
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    source = made(tmp_path / "run7", [draw.randrange(100_000) for _ in range(20)])
    for number in range(10):
        below = source / "/".join(f"s{draw.randrange(3)}" for _ in range(draw.randrange(1, 4)))
        below.mkdir(parents=True, exist_ok=True)
        (below / f"f{number}").write_bytes(draw.randbytes(draw.randrange(1000)))
    (source / "empty/er").mkdir(parents=True)
    seen = fsspec.callbacks.Callback()
    fs.put(str(source), there, recursive=True, callback=seen)
    assert contents(here / "run7") == contents(source)
    assert (here / "run7/empty/er").is_dir()
    total = sum(map(len, contents(source).values()))
    assert (seen.size, seen.value) == (total, total)
    seen = fsspec.callbacks.Callback()
    fs.get(f"{there}/run7", str(tmp_path / "back"), recursive=True, callback=seen)
    assert contents(tmp_path / "back") == contents(source)
    assert (tmp_path / "back/empty/er").is_dir()
    assert (seen.size, seen.value) == (total, total)
    # Other bytes of the same size and time are sent, too.
    name = source / "000.bin"
    stat = name.stat()
    name.write_bytes(draw.randbytes(stat.st_size))
    os.utime(name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    fs.put(str(source), there, recursive=True)
    assert contents(here / "run7") == contents(source)
    assert set(fs.cat(f"{there}/run7", recursive=True).values()) == set(contents(source).values())
    lists = [f"{there}/run7/{n:03}.bin" for n in range(5)]
    targets = [str(tmp_path / f"x{n}") for n in range(5)]
    fs.get(lists, targets)
    assert [open(one, "rb").read() for one in targets] == [
        (source / f"{n:03}.bin").read_bytes() for n in range(5)
    ]
    fs.rm(f"{there}/run7/0*", recursive=True)
    assert not [one for one in contents(here / "run7") if one.endswith(".bin") and one[0] == "0"]
    fs.rm([f"{there}/run7/s0", f"{there}/run7"], recursive=True)
    assert not (here / "run7").exists()


def test_a_folder_comes_the_same_way_before_anything_else_was_asked(
    served_here, root, tmp_path
):
    _, server, token, _ = served_here
    there, name = root
    (there / "deep").mkdir()
    (there / "empty").mkdir()
    (there / "a").write_bytes(b"1")
    (there / "deep/b").write_bytes(b"2")

    def fresh() -> TrunklineFileSystem:
        return TrunklineFileSystem(
            "127.0.0.1", server.port, token=token, skip_instance_cache=True
        )

    here = tmp_path / "new/here"
    fresh().get(name, str(here), recursive=True)
    assert contents(here) == {"a": b"1", "deep/b": b"2"} and (here / "empty").is_dir()
    fresh().get(name, str(tmp_path / "new"), recursive=True)
    assert contents(tmp_path / "new" / name.strip("/")) == contents(here)
    fresh().get(f"{name}/a", str(tmp_path / "one"), recursive=True)
    assert (tmp_path / "one").read_bytes() == b"1"
    with pytest.raises(FileNotFoundError):
        fresh().get(f"{name}/none", str(tmp_path / "none"), recursive=True)
    assert not (tmp_path / "none").exists()


def test_a_file_that_was_just_found_is_opened_without_a_question(fs, root, monkeypatch):
    there, name = root
    (there / "f").write_bytes(b"old one")
    asked, info = [], TrunklineFileSystem.info
    monkeypatch.setattr(
        TrunklineFileSystem, "info", lambda self, path: asked.append(path) or info(self, path)
    )
    assert fs.isfile(f"{name}/f")
    with fs.open(f"{name}/f") as file:
        assert file.read() == b"old one" and len(asked) == 1
    # One of the same size took its place: that one is read, as after a question.
    assert fs.isfile(f"{name}/f")
    (there / "g").write_bytes(b"new one")
    os.replace(there / "g", there / "f")
    with fs.open(f"{name}/f") as file:
        assert file.read() == b"new one"
    # One of another size: the size that was told is wrong, so this is an exception.
    assert fs.isfile(f"{name}/f")
    (there / "f").write_bytes(b"longer than before")
    with fs.open(f"{name}/f") as file, pytest.raises(tl.RunError, match="meanwhile"):
        file.read()
    with fs.open(f"{name}/f") as file:
        assert file.read() == b"longer than before"


def test_moves(fs, root):
    here, there = root
    (here / "d").mkdir()
    for name in ("a", "b", "c1", "c2"):
        (here / name).write_text(name)
    fs.mv(f"{there}/a", f"{there}/b")
    assert (here / "b").read_text() == "a" and not (here / "a").exists()
    fs.mv(f"{there}/b", f"{there}/d")
    fs.mv(f"{there}/c*", f"{there}/d/")
    assert sorted(contents(here / "d")) == ["b", "c1", "c2"]
    fs.mv(f"{there}/d", f"{there}/e", recursive=True)
    fs.mv(f"{there}/e", f"{there}/e")
    assert sorted(contents(here / "e")) == ["b", "c1", "c2"]


def test_written_files_appear_whole_when_they_are_closed(fs, root):
    here, there = root
    with fs.open(f"{there}/new/f", "wb", block_size=1000) as file:
        for _ in range(10):
            file.write(b"0123456789" * 77)
        assert not (here / "new").exists()
    assert (here / "new/f").read_bytes() == b"0123456789" * 770
    with pytest.raises(ZeroDivisionError), fs.open(f"{there}/new/g", "wb") as file:
        file.write(b"half")
        1 / 0  # noqa: B018
    assert not (here / "new/g").exists()
    with fs.open(f"{there}/new/f", "ab") as file:
        assert file.tell() == 7700
        file.write(b"end")
    assert (here / "new/f").read_bytes().endswith(b"789end")
    with fs.open(f"{there}/t", "w", encoding="utf-8") as file:
        file.write("größe\n")
    assert fs.read_text(f"{there}/t", encoding="utf-8") == "größe\n"
    with fs.transaction:
        fs.pipe_file(f"{there}/late", b"x")
        assert not fs.exists(f"{there}/late")
    assert fs.cat_file(f"{there}/late") == b"x"
    late = fs.open(f"{there}/only", "xb")
    (here / "only").write_bytes(b"another's")
    with pytest.raises(FileExistsError):
        late.close()
    assert (here / "only").read_bytes() == b"another's"
    fs.touch(f"{there}/late")
    assert fs.size(f"{there}/late") == 0


def test_a_file_that_changes_while_it_is_read(fs, root):
    here, there = root
    (here / "f").write_bytes(b"a" * 1_000_000)
    with fs.open(f"{there}/f", block_size=1000) as file:
        file.read(10)
        (here / "f").write_bytes(b"b" * 1_000_000)
        file.seek(500_000)
        with pytest.raises(tl.Error, match="f"):
            file.read(10)


def test_a_token_that_reads_only(served_here, fs, root, tmp_path):
    here, there = root
    (here / "f").write_bytes(b"data")
    _, server, _, reader = served_here
    only = TrunklineFileSystem("127.0.0.1", server.port, token=reader)
    assert only.cat_file(f"{there}/f") == b"data"
    (tmp_path / "x").write_bytes(b"x")
    for does in [
        lambda: only.open(f"{there}/g", "wb"),
        lambda: only.pipe_file(f"{there}/g", b""),
        lambda: only.put_file(tmp_path / "x", f"{there}/g"),
        lambda: only.put(str(tmp_path / "x"), f"{there}/g"),
        lambda: only.rm(f"{there}/f"),
        lambda: only.rm(f"{there}", recursive=True),
        lambda: only.mv(f"{there}/f", f"{there}/g"),
        lambda: only.mkdir(f"{there}/d"),
    ]:
        with pytest.raises(PermissionError) as caught:
            does()
        assert reader not in str(caught.value)
    assert contents(here) == {"f": b"data"}


def test_tokens(served_here, root, tmp_path, monkeypatch):
    here, there = root
    (here / "f").write_bytes(b"data")
    _, server, token, _ = served_here
    kept = tmp_path / "token"
    kept.write_text(token + "\n")
    url = server.place(f"{there}/f")
    with fsspec.open(url, token_file=kept) as file:
        assert file.read() == b"data"
    with pytest.raises(tl.RequestError, match="none was given"):
        fsspec.open(url).open()
    monkeypatch.setenv("TRUNKLINE_TOKEN", token)
    with fsspec.open(url) as file:
        assert file.read() == b"data"
    (tmp_path / "got").mkdir()
    fsspec.filesystem("trunkline", host="127.0.0.1", port=server.port).get(
        f"{there}/f", str(tmp_path / "got") + "/"
    )
    assert contents(tmp_path / "got") == {"f": b"data"}
    monkeypatch.delenv("TRUNKLINE_TOKEN")
    with pytest.raises(tl.Error) as caught:
        fsspec.open(url, token=tl.add_token(tmp_path / "others", "eve")).open()
    assert caught.value.hint
    with pytest.raises(tl.RequestError, match="cannot be used with"):
        fsspec.open(url, token=token, token_file=kept).open()
    fs = TrunklineFileSystem("127.0.0.1", server.port, token=token)
    told = json.loads(fs.to_json(include_password=False))
    assert "token" not in told and token not in repr(fs) + str(fs) + json.dumps(told)
    assert fsspec.AbstractFileSystem.from_json(fs.to_json()).cat_file(f"{there}/f") == b"data"


def test_pandas_reads_a_column_by_the_url(fs, root, served_here):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    here, there = root
    frame = pandas.DataFrame({"a": range(200_000), "b": [str(one) for one in range(200_000)]})
    frame.to_parquet(here / "x.parquet")
    script = (
        "import pandas, sys; f = pandas.read_parquet(sys.argv[1], columns=['a']); "
        "print(list(f.columns), f.a.sum())"
    )
    token = served_here[2]
    ran = subprocess.run(
        [sys.executable, "-c", script, fs.unstrip_protocol(f"{there}/x.parquet")],
        env=os.environ | {"TRUNKLINE_TOKEN": token}, capture_output=True, text=True, timeout=100,
    )
    assert ran.stdout == f"['a'] {frame.a.sum()}\n", ran.stderr
    options = {"token": token}
    frame.to_parquet(fs.unstrip_protocol(f"{there}/y.parquet"), storage_options=options)
    back = pandas.read_parquet(fs.unstrip_protocol(f"{there}/y.parquet"), storage_options=options)
    assert back.equals(frame)
    frame.head(9).to_csv(fs.unstrip_protocol(f"{there}/z.csv"), storage_options=options)
    assert (here / "z.csv").read_text() == frame.head(9).to_csv()


def test_a_server_that_dies_inside_a_read(tmp_path):
    (tmp_path / "store").mkdir()
    token = tl.add_token(tmp_path / "tokens", "ana")
    with open(tmp_path / "store/f", "wb") as file:
        file.truncate(4 << 30)
    server, port = served(tmp_path / "store", tmp_path / "tokens")
    fs = TrunklineFileSystem("127.0.0.1", port, token=token, patience=2)
    assert fs.size("/f") == 4 << 30
    threading.Timer(0.3, server.kill).start()
    began = time.monotonic()
    with pytest.raises(tl.RunError) as caught:
        while True:
            fs.cat_file("/f", 0, 200_000_000)
    server.wait()
    assert time.monotonic() - began < 20 and caught.value.hint
    with pytest.raises(tl.RunError):
        fs.ls("/")
    # The same filesystem goes on with another server at the same place.
    server, _ = served(tmp_path / "store", tmp_path / "tokens", port)
    try:
        assert fs.cat_file("/f", 5, 10) == bytes(5)
    finally:
        server.kill()
        server.wait()


@pytest.mark.each_python
def test_ctrl_c_inside_a_read(fs, root):
    here, there = root
    with open(here / "f", "wb") as file:
        file.truncate(4 << 30)
    waited = []

    def interrupt():
        time.sleep(0.3)
        waited.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            fs.cat_file(f"{there}/f", 0, 400_000_000)
    assert time.monotonic() - waited[0] < 1
    assert fs.cat_file(f"{there}/f", 0, 3) == bytes(3)


def _read(fs, path, answers):
    answers.put((fs.cat_file(path), fs.open(path).read()))


@pytest.mark.each_python
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_other_processes(fs, root, how):
    here, there = root
    (here / "f").write_bytes(b"data")
    assert fs.cat_file(f"{there}/f") == b"data"
    context = multiprocessing.get_context(how)
    answers = context.Queue()
    children = [
        context.Process(target=_read, args=(fs, f"{there}/f", answers)) for _ in range(3)
    ]
    for child in children:
        child.start()
    assert [answers.get(timeout=60) for _ in children] == [(b"data", b"data")] * 3
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    # The connections of this process are as they were.
    core = fs._core()
    assert fs.cat_file(f"{there}/f") == b"data" and fs._core() is core


@pytest.mark.each_python
def test_pickles(fs, root):
    here, there = root
    (here / "f").write_bytes(b"0123456789")
    fs.info(there)
    again = pickle.loads(pickle.dumps(fs))
    assert again == fs and again.cat_file(f"{there}/f") == b"0123456789"
    file = pickle.loads(pickle.dumps(fsspec.core.OpenFile(fs, f"{there}/f")))
    with file as opened:
        assert opened.read(3) == b"012"
    with fs.open(f"{there}/f") as opened:
        opened.seek(4)
        other = pickle.loads(pickle.dumps(opened))
    assert other.read() in (b"456789", b"0123456789")


@pytest.mark.each_python
def test_threads_share_the_connections(fs, root):
    here, there = root
    made(here / "run7", [10_000] * 40)
    expected = contents(here / "run7")
    got, cores = {}, set()

    def read(number):
        mine = TrunklineFileSystem(fs.host, fs.port, token=fs.storage_options["token"])
        cores.add(id(mine._core()))
        for name in list(expected)[number::4]:
            got[name] = mine.cat_file(f"{there}/run7/{name}")

    threads = [threading.Thread(target=read, args=(one,)) for one in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert got == expected and len(cores) == 1


def test_a_read_ahead_goes_further_only_for_those_who_read_on():
    data = random.Random(5).randbytes(3_000_000)
    asked: list[tuple[int, int]] = []

    def fetch(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return data[start:stop]

    cache = ReadsAhead(1 << 20, fetch, len(data))
    # A column in the middle and the end of the file: as much as was asked for.
    assert cache._fetch(1_000_000, 1_200_000) == data[1_000_000:1_200_000]
    assert cache._fetch(2_999_000, 3_000_000) == data[2_999_000:]
    assert asked == [(1_000_000, 1_200_000), (2_999_000, 3_000_000)]
    # From the beginning on, in steps: a few requests, each further ahead.
    asked.clear()
    for at in range(0, len(data), 10_000):
        assert cache._fetch(at, at + 10_000) == data[at : at + 10_000]
    sizes = [stop - start for start, stop in asked]
    assert sizes[:3] == sorted(sizes[:3]) and max(sizes) > 1 << 20 and len(sizes) <= 6
    assert sum(stop - start for start, stop in asked) == len(data)
    # What is as large as that is not held.
    asked.clear()
    assert cache._fetch(0, 2_000_000) == data[:2_000_000]
    assert asked == [(0, 2_000_000)] and not cache._data


def test_reads_of_any_kind_bring_the_right_bytes():
    draw = random.Random(6)
    data = draw.randbytes(400_000)
    for block in (1, 70_000, 1 << 20):
        cache = ReadsAhead(block, lambda start, stop: data[start:stop], len(data))
        at = 0
        for _ in range(300):
            at = at if draw.random() < 0.6 else draw.randrange(len(data))
            end = at + draw.choice([0, 1, 100, 30_000, 200_000])
            assert cache._fetch(at, end) == data[at:end], (block, at, end)
            at = min(end, len(data))
