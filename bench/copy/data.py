"""What is copied, and whether it arrived."""

import hashlib
import os
import pathlib
import random

SEED = 20_260_822


def fill(file, size, draws):
    """Random bytes: nothing that any program could compress."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "wb") as out:
        while size > 0:
            part = min(size, 1 << 20)
            out.write(draws.randbytes(part))
            size -= part


def file(folder, size):
    """One file."""
    fill(folder / "file", size, random.Random(SEED))
    return folder / "file"


def tree(folder, files=2000):
    """4 KiB each, 100 to a folder."""
    draws = random.Random(SEED + 1)
    for number in range(files):
        fill(folder / "tree" / f"{number // 100:02}" / f"{number % 100:02}.dat", 4096, draws)
    return folder / "tree"


def mixed(folder, scale):
    """A home folder's spread of sizes: 800 files of 1 to 64 KiB (uniform in the logarithm), 60 of 64 KiB to 1 MiB, 8 of 4 MiB,
    one of 32 MiB, in 15 folders up to three deep. `scale` thins out all but the small ones."""
    draws = random.Random(SEED + 2)
    names = ["", *(f"{a}" for a in "abcde"), *(f"{a}/{b}" for a in "abc" for b in "xy"), "a/x/1", "a/x/2", "b/y/3"]
    sizes = [round(2 ** draws.uniform(10, 16)) for _ in range(800)]
    sizes += [round(2 ** draws.uniform(16, 20)) for _ in range(round(60 * scale))]
    sizes += [4 << 20] * round(8 * scale) + [round(32 * scale) << 20]
    for number, size in enumerate(sizes):
        fill(folder / "mixed" / draws.choice(names) / f"{number:04}", size, draws)
    return folder / "mixed"


def written(file):
    """Bytes of a file that were written: neither holes nor room that was only set aside."""
    with open(file, "rb") as opened:
        end, at, total = os.fstat(opened.fileno()).st_size, 0, 0
        while at < end:
            try:
                begin = os.lseek(opened.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            at = os.lseek(opened.fileno(), begin, os.SEEK_HOLE)
            total += at - begin
        return total


def bytes_of(path):
    """Bytes of all files, as far as they were written."""
    if not path.exists():
        return 0
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return sum(map(written, files))


def hashes(path):
    """SHA-256 of every file by its name below `path`."""
    def one(file):
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    if path.is_file():
        return {"": one(path)}
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            whole = pathlib.Path(folder) / name
            found[str(whole.relative_to(path))] = one(whole)
    return found
