"""What is copied, what stands on the disk afterwards, and what may have to be sent again."""

import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import stat

import journal as journal_of

PART, JOURNAL = ".trunkline-part", ".trunkline-journal"
# In every name of something unfinished.
UNFINISHED = ".trunkline-"
# Sizes in which something begins or ends: files with a journal have more than 64 KiB.
SIZES = (0, 1, 16 << 10, 64 << 10, (64 << 10) + 1, 300_000)
RANDOM_FILES, RANDOM_MOST = 6, 300_000
LARGE = 3_000_000
# Wants are widened to multiples of this (crates/copy/transfer/src/ledger/split.rs).
PIECE_MIN = 16 << 10
OLD = 1_500_000_000_000_000_000


def make_source(folder, seed):
    """One large file, small ones, an empty folder, a link, and one that the destination has in another content."""
    draws = random.Random(seed)
    sizes = [*SIZES, *(draws.randrange(RANDOM_MOST) for _ in range(RANDOM_FILES))]
    (folder / "inner").mkdir(parents=True)
    (folder / "nothing-in-it").mkdir(mode=0o750)
    contents = {"large": LARGE, "update": 200_000} | {f"{'inner/' if n % 2 else ''}f{n:02}": size for n, size in enumerate(sizes)}
    for number, (name, size) in enumerate(contents.items()):
        (folder / name).write_bytes(draws.randbytes(size))
        (folder / name).chmod(0o640 if number % 2 else 0o604)
        os.utime(folder / name, ns=(OLD, OLD + number * 1_000_000_001))
    (folder / "link").symlink_to("inner/f01")
    for name in ("link", "inner", "nothing-in-it", "."):
        os.utime(folder / name, ns=(OLD, OLD + 7_000_000_007), follow_symlinks=False)


def make_target(folder, seed):
    """A destination that has one of the files already, as it was before."""
    (folder / "source").mkdir(parents=True)
    old = folder / "source" / "update"
    old.write_bytes(random.Random(seed + 1).randbytes(150_000))
    os.utime(old, ns=(OLD, OLD - 5_000_000_000))


@dataclasses.dataclass(frozen=True)
class Entry:
    """What a name stands for."""
    kind: str
    mode: int
    modified: int
    size: int
    content: str

    def differs(self, other):
        fields = [one.name for one in dataclasses.fields(self)]
        return [name for name in fields if getattr(self, name) != getattr(other, name)]


def look(root):
    """Every name below and the root itself."""
    found = {".": entry(root)}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            whole = pathlib.Path(folder) / name
            found[str(whole.relative_to(root))] = entry(whole)
    return found


def entry(path):
    told = path.lstat()
    if stat.S_ISLNK(told.st_mode):
        return Entry("link", 0, told.st_mtime_ns, 0, os.readlink(path))
    if stat.S_ISDIR(told.st_mode):
        return Entry("folder", stat.S_IMODE(told.st_mode), told.st_mtime_ns, 0, "")
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return Entry("file", stat.S_IMODE(told.st_mode), told.st_mtime_ns, told.st_size, content)


class Judge:
    """Knows the source and what the destination had, and says what is wrong with a destination."""

    def __init__(self, source, old):
        self.source = look(source)
        self.allowed = {name: {one.content} for name, one in self.source.items()}
        for name, one in look(old / "source").items():
            self.allowed[name].add(one.content)

    def after_crash(self, target):
        """Final names have a whole content, the old or the new one."""
        wrong = []
        there = look(target / "source") if (target / "source").exists() else {}
        for name, one in there.items():
            if UNFINISHED in name:
                continue
            if name not in self.source or one.content not in self.allowed[name]:
                wrong.append(f"`{name}` ({one.size} bytes) is under its final name and was never in the source")
        if "update" not in there:
            wrong.append("`update`, which was to be replaced, is missing")
        return wrong

    def in_the_end(self, target):
        """The destination is the source and nothing else."""
        there = look(target)
        others = sorted(name for name in there if name != "." and name != "source" and not name.startswith("source/"))
        inside = {name.removeprefix("source/"): one for name, one in there.items() if name.startswith("source/")}
        if "source" in there:
            inside["."] = there["source"]
        wrong = [f"`{name}` lies about" for name in [*others, *sorted(set(inside) - set(self.source))]]
        wrong += [f"`{name}` is missing" for name in sorted(set(self.source) - set(inside))]
        for name in sorted(set(self.source) & set(inside)):
            if other := inside[name].differs(self.source[name]):
                wrong.append(f"`{name}` differs in {', '.join(other)}")
        return wrong

    def to_send(self, target):
        """The most bytes of files that the next command may send: those not published, without what journals note."""
        most = 0
        for name, one in self.source.items():
            final = target / "source" / name
            if one.kind != "file" or is_published(final, one):
                continue
            noted = noted_bytes(final, one)
            most += one.size - noted + (PIECE_MIN if noted else 0)
        return most


def is_published(final, one):
    if not final.exists():
        return False
    told = final.lstat()
    return (told.st_size, told.st_mtime_ns) == (one.size, one.modified)


def noted_bytes(final, one):
    """Bytes that the journal beside a file says are there. Its notes have sums that are not checked here: who was killed
    writes whole notes or none."""
    part, journal = (final.with_name(f".{final.name}{ending}") for ending in (PART, JOURNAL))
    if not part.exists() or part.stat().st_size != one.size:
        return 0
    noted = journal_of.read(journal)
    if noted is None or (noted.size, noted.modified_nanoseconds) != (one.size, one.modified):
        return 0
    total = end = 0
    for start, length in sorted(set(noted.pieces)):
        total += max(0, start + length - max(start, end))
        end = max(end, start + length)
    return total


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
