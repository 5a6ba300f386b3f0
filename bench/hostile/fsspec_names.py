"""Names through fsspec, in both directions: what a program sees is what the server has, and nothing leaves the root."""

import json
import os
import pathlib
import random
import sys

from common import ROOT
from stage import Case
from watching import Skipped

GROUP = "fsspec names"
CLIENT = pathlib.Path(__file__).resolve().parent / "fsspec_client.py"
# Names of one folder each. `::` joins URLs in fsspec, and `~` at the beginning is a home.
NAMES = {
    "percent": ["100%", "50%25", "a%41", "aA", "%", "%2f", "%2F..%2F", "%00", "x%zz", "%25%32%35"],
    "spaces": [" ", " a", "a ", "a b", "a  b", "a\u00a0b", "\t", "a%20b", "a+b"],
    "other letters": ["größe", "gro\u0308ße", "日本", "עברית", "\U0001f600", "İ", "ﬁ", "a\u202eb", "\ufeffa"],
    "newlines": ["a\nb", "\n", "a\rb", "a\r\n", "a\x0bb", "a\x1b[31mb", "a\x7f"],
    "quotes": ["'", '"', "`", "a'b\"c", "$HOME", "$(id)", ";", "&", "|", "<", "\\", "a\\nb", "\\\\"],
    "patterns": ["*", "?", "[a]", "[!a]", "a*b", "**", "{a,b}", "!x", "a~", "#x", "^", "a"],
    "parts of URLs": ["a?b", "a#b", "a:b", "http:", "file:", "a@b", "a=b&c=d", "trunkline:", "[", "]"],
    "dots and dashes": ["...", "..a", "a..", ".a", ".git", "-", "--", "--help", "-rf", "_"],
    "long names": ["x" * 255, "ß" * 127, "日" * 85, "%" * 255, "n/" * 60 + "n", ("d" * 200 + "/") * 14 + "e"],
    "no UTF-8": [b"\xff", b"a\x80b", b"\xc3", b"\xed\xa0\x80", "ÿ"],
    "folders": ["a b/100%/x", "ß/\n/'/x", "*/*/x", "d%41/x", "dA/x", "?/#/x"],
}


def drawn(seed):
    draw = random.Random(seed)
    letters = "aAb%4120 #?&*[]{}~:;'\"\\+=|<>^!$,.-_\n\r\täöß日\u202e\udc80\udcff/"
    names = {"".join(draw.choices(letters, k=draw.randrange(1, 40))) for _ in range(120)}
    parts = {name: name.split("/") for name in names}
    odd = ("", ".", "..")
    fit = [one for one in names if "::" not in one and one[0] != "~" and not any(part in odd for part in parts[one])]
    # A name is a file or a folder.
    return [one for one in fit if not any(other.startswith(one + "/") for other in fit)]


def fill(folder, names):
    """Files of these names; each holds what tells it from all others."""
    for name in names:
        file = os.path.join(os.fsencode(folder), name if isinstance(name, bytes) else os.fsencode(name))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "xb") as out:
            out.write(os.path.relpath(file, os.fsencode(folder)))


def read(folder):
    """The content of each file by its name, as bytes."""
    base, found = os.fsencode(folder), {}
    for here, _, names in os.walk(base):
        for name in names:
            with open(os.path.join(here, name), "rb") as data:
                found[os.path.relpath(os.path.join(here, name), base)] = data.read()
    return found


def package(stage):
    """The Python package with the core that was built beside the program; a folder for PYTHONPATH."""
    core = pathlib.Path(stage.bench.trunkline).parent / "lib_trunkline.so"
    if not core.exists():
        raise Skipped(f"no core of the Python package at {core}: cargo build -p trunkline-python")
    place = stage.folder / "packages/trunkline"
    place.mkdir(parents=True)
    for file in (ROOT / "python/trunkline").glob("*.py"):
        (place / file.name).symlink_to(file)
    (place / "_trunkline.abi3.so").symlink_to(core)
    return place.parent


def run(stage, here, *tasks):
    server = stage.serve()
    environment = {"PYTHONPATH": str(package(stage)), "TRUNKLINE_TOKEN": stage.bench.token.strip()}
    result = stage.finish(stage.start(sys.executable, CLIENT, server.at, here, *tasks, environment=environment))
    assert result.code == 0, result.err[-1500:]
    return json.loads(result.out)


def same(found, expected, what):
    lost, more = expected.keys() - found.keys(), found.keys() - expected.keys()
    assert not lost and not more, f"{what} lost {sorted(lost)[:3]} and made {sorted(more)[:3]}"
    assert found == expected, f"{what} mixed files up: {[name for name in found if found[name] != expected[name]][:3]}"


def cases():
    def there(stage, names):
        here = stage.folder / "here"
        fill(here, names)
        tasks = "put", "put_each", "rsync_there", "write_urls"
        run(stage, here, *tasks)
        for task in tasks:
            same(read(stage.root / task), read(here), task)

    def back(stage, names):
        fill(stage.root / "tree", names)
        here = stage.folder / "here"
        here.mkdir()
        tasks = "get", "get_each", "rsync_here", "read_urls"
        told = run(stage, here, "listed", *tasks)
        expected = read(stage.root / "tree")
        listed = {bytes.fromhex(one).removeprefix(b"/tree/") for one in told["listed"]}
        assert listed == expected.keys(), f"listed: {sorted(listed ^ expected.keys())[:3]}"
        for task in tasks:
            same(read(here / task), expected, task)

    for what, names in NAMES.items():
        for way, play in ("to", there), ("from", back):
            yield Case(GROUP, f"{what}, {way} the server", lambda stage, play=play, names=names: play(stage, names))
    # The last one is another one each time.
    for seed in [1, 2, random.SystemRandom().randrange(1 << 32)]:
        for way, play in ("to", there), ("from", back):
            name = f"drawn with seed {seed}, {way} the server"
            yield Case(GROUP, name, lambda stage, play=play, seed=seed: play(stage, drawn(seed)))

    def outside(stage):
        fill(stage.root / "tree", ["a"])
        here = stage.folder / "here"
        here.mkdir()
        told = run(stage, here, "outside")
        assert not told["outside"], f"these were let do it: {told['outside']}"
        assert not (here / "got").exists(), "something of outside was got"
        assert read(stage.root / "tree") == {b"a": b"a"}, "a refused call changed the tree"

    yield Case(GROUP, "names that leave the root", outside)


CASES = list(cases())
