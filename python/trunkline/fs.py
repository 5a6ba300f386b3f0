"""Files of a server as a filesystem of fsspec: `trunkline://HOST[:PORT]/PATH`.

It needs fsspec (`pip install trunkline[fsspec]`), which finds it by itself: pandas, Dask and others
take the URL as it is. Names in it are as they are at the server, as in all filesystems of fsspec:
nothing is quoted. Ranges, listings and small files come and go over connections that stay open;
other files are copied as `trunkline.copy` does.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import ipaddress
import os
import re
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, unquote

from fsspec.caching import BaseCache, register_cache
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.implementations.local import make_path_posix
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from fsspec.utils import isfilelike, stringify_path

from . import _errors, _text, _trunkline
from ._operations import copy
from ._text import File, Time
from ._trunkline import Progress

__all__ = ["TrunklineFile", "TrunklineFileSystem"]

_SCHEME = "trunkline://"
# What a read brings at least, and how far the first one after another reads ahead, in bytes.
_LEAST = 64 << 10
_AHEAD = 256 << 10
# How long a file that was just found is opened without a question, in seconds: pyarrow asks first.
_FRESH = 1.0
# Requests at the same time for what has no request for many.
_AT_ONCE = 16
# Up to this many bytes in all, files come and go over the connections that are open.
_SMALL = _trunkline.Remote.STORE_MAX
# Attributes that written files do not have from here: they are those of a new file there.
_OWN = ["times", "permissions"]
# Options that all filesystems of fsspec take.
_COMMON = frozenset({
    "use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache",
    "asynchronous", "loop", "batch_size",
})
_REFUSALS: dict[str, type[_errors.FileError]] = {
    "not-found": _errors.NoSuchFileError,
    "permission": _errors.RightsError,
    "disk-full": _errors.DiskFullError,
}
Info = dict[str, Any]
Range = tuple[str, int | None, int | None]
# A name, the content, mode and time of its source, and whether it replaces another file.
Stored = tuple[str, bytes, tuple[int, int] | None, bool]

# Connections of this process, for all filesystems of one server. The keys have tokens: nothing
# shows them.
_open: weakref.WeakValueDictionary[tuple[Any, ...], _trunkline.Remote] = (
    weakref.WeakValueDictionary()
)


def _bytes(path: str) -> bytes:
    """A name as the server has it."""
    return path.encode("utf-8", "surrogateescape")


def _refused(error: _errors.IncompleteCopy) -> _errors.Error:
    """Why the first file was not copied, as one of the system's own errors."""
    failed = error.partial.document.failed if error.partial is not None else ()
    if not failed:
        return error
    first, others = failed[0], len(failed) - 1
    what = f"{others} others and this one failed: {first.what}" if others else first.what
    return _REFUSALS.get(first.kind, _errors.FileError)(what, first.hint, partial=error.partial)


def _created(path: str) -> Any:
    """A file to be copied, in a folder that no other user enters.

    What others may do with the copy is left to the umask of the server.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = open(path, "x+b")  # noqa: SIM115
    os.fchmod(file.fileno(), 0o666)
    return file


def _read_here(source: str) -> tuple[bytes, tuple[int, int]]:
    """A file of here, with its mode and time."""
    with open(source, "rb") as file:
        before = os.fstat(file.fileno())
        data = file.read()
        after = os.fstat(file.fileno())
    if (before.st_mtime_ns, len(data)) != (after.st_mtime_ns, before.st_size):
        raise _errors.RunError(f"{source} was changed while it was read", "put it again")
    return data, (after.st_mode & 0o7777, after.st_mtime_ns)


def _put_here(target: str, data: bytes, mode: int, modified: int) -> None:
    """Writes a file with the mode and the time of another one, and gives it its name at the end."""
    with tempfile.TemporaryDirectory(prefix=".trunkline-", dir=os.path.dirname(target)) as folder:
        part = os.path.join(folder, "file")
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode & 0o777)
            os.utime(file.fileno(), ns=(modified, modified))
        os.replace(part, target)


def _each(does: Callable[[str], Any], paths: list[str]) -> list[Any]:
    """What comes of each path, several at once."""
    if len(paths) < 2:
        return [does(path) for path in paths]
    with ThreadPoolExecutor(min(_AT_ONCE, len(paths))) as pool:
        return list(pool.map(does, paths))


class _Plan:
    """What a copy of many will do: its pairs of names, and what listings said of them."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.known: dict[str, Info] = {}


def _together(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """Pairs of names by what they begin with, as far as they end alike."""
    groups: dict[tuple[str, str], list[str]] = {}
    for source, target in pairs:
        ones, others = source.split("/"), target.split("/")
        alike = 0
        most = min(len(ones), len(others)) - 1
        while alike < most and ones[-1 - alike] == others[-1 - alike]:
            alike += 1
        cut = len(ones) - alike, len(others) - alike
        below = "/".join(ones[cut[0] :])
        key = "/".join(ones[: cut[0]]), "/".join(others[: cut[1]])
        groups.setdefault(key, []).append(below)
    return groups


def _spelled_out(host: str) -> str:
    """An IPv6 address in brackets and without `::`, at which fsspec cuts chains of URLs."""
    address, percent, zone = host.strip("[]").partition("%")
    with contextlib.suppress(ValueError):
        return f"[{ipaddress.IPv6Address(address).exploded}{percent}{zone}]"
    return host


def _as_given(host: str) -> str:
    """An IPv6 address of a URL as users give it for `host`: fsspec compares the two."""
    address, percent, zone = host.strip("[]").partition("%")
    with contextlib.suppress(ValueError):
        return f"{ipaddress.IPv6Address(address).compressed}{percent}{zone}"
    return host


class TrunklineFileSystem(AbstractFileSystem):
    """Files that `trunkline serve --root` serves.

    Names are absolute below the folder of the token: `/run7/hits.parquet`. They are the same in
    URLs, `trunkline://HOST/a b`: nothing is quoted, and `%20` is no space.
    """

    protocol = "trunkline"
    root_marker = "/"

    def __init__(
        self,
        host: str | None = None,
        port: int | None = None,
        *,
        token: str | None = None,
        token_file: File | None = None,
        streams: int | None = None,
        patience: Time = "2min",
        **options: Any,
    ) -> None:
        """Connects when something is asked for.

        Args:
            host: The server's name or address.
            port: Its port, where it is not trunkline's.
            token: What opens the server; `$TRUNKLINE_TOKEN` has it otherwise.
            token_file: A file that has it.
            streams: This many connections; without, as many as the path needs.
            patience: How long the server may be gone before a request fails.
            options: Those of all filesystems of fsspec.
        """
        if not host:
            raise _errors.RequestError(
                "no host of a trunkline server was given",
                "give `host`; for `fsspec.generic.rsync` in `inst_kwargs`: {'default_method': "
                "'options', 'storage_options': {'trunkline': {'host': ...}}}",
            )
        if unknown := sorted(options.keys() - _COMMON):
            raise _errors.RequestError(
                f"the filesystem has no option `{unknown[0]}`",
                "possible options: host, port, token, token_file, streams, patience",
            )
        super().__init__(**options)
        self.host = host
        self.port = port
        self._access: dict[str, Any] = {
            "token": token,
            "token_file": None if token_file is None else os.fspath(token_file),
        }
        self._streams = streams
        self._patience = _text.span(patience)
        self._cores: dict[int, _trunkline.Remote] = {}
        self._found: tuple[float, Info] | None = None

    # Names.

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list | tuple):
            return [cls._strip_protocol(one) for one in path]
        name: str = stringify_path(path)
        if name.startswith(_SCHEME):
            name = name[len(_SCHEME) :].partition("/")[2]
        elif name.startswith("trunkline::"):
            name = name[len("trunkline::") :]
        return "/" + re.sub("/+", "/", name).strip("/")

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        if not path.startswith(_SCHEME):
            return {}
        authority = path[len(_SCHEME) :].partition("/")[0]
        found = re.fullmatch(r"(\[[^\]]*\]|[^:]*):([0-9]+)", authority)
        if found:
            return {"host": _as_given(found[1]), "port": int(found[2])}
        return {"host": _as_given(authority)}

    @property
    def _root(self) -> str:
        host = _spelled_out(self.host)
        return f"{_SCHEME}{host}" if self.port is None else f"{_SCHEME}{host}:{self.port}"

    def unstrip_protocol(self, name: str) -> str:
        """The URL of a name, for fsspec: nothing is quoted."""
        return name if name.startswith(_SCHEME) else self._root + self._strip_protocol(name)

    def place(self, name: str) -> str:
        """The URL of a name for `trunkline.copy`, where a space is `%20`."""
        path = self._strip_protocol(name)
        return self._root + quote(path, safe="/", errors="surrogateescape")

    @property
    def fsid(self) -> str:
        """Which server it is."""
        return self._root

    def __repr__(self) -> str:
        """Which server it is, without what opens it."""
        return f"<TrunklineFileSystem {self._root}>"

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """What makes the same filesystem; the token is a password."""
        told = super().to_dict(include_password=include_password)
        if not include_password:
            told.pop("token", None)
        return told

    # Requests.

    def _core(self) -> _trunkline.Remote:
        """The connections of this process."""
        process = os.getpid()
        core = self._cores.get(process)
        if core is None:
            core = self._cores.setdefault(process, self._opened(process))
        return core

    def _opened(self, process: int) -> _trunkline.Remote:
        streams = _text.count(self._streams)
        environment = None if any(self._access.values()) else os.environ.get("TRUNKLINE_TOKEN")
        key = (
            process, self._root, *self._access.values(), environment, streams, self._patience,
        )
        core = _open.get(key)
        if core is None:
            core = _trunkline.Remote.open(
                self._root + "/", **self._access, streams=streams, patience=self._patience
            )
            core = _open.setdefault(key, core)
        return core

    def _told(self, path: str, info: tuple[str, tuple[int, int, int], int, bytes | None]) -> Info:
        kind, (size, modified, version), mode, link = info
        told: Info = {
            "name": path,
            "size": size if kind == "file" else 0,
            "type": kind,
            "mtime": modified / 1e9,
            "mtime_ns": modified,
            "version": version,
            "mode": mode,
            "islink": link is not None,
        }
        if link is not None:
            told["destination"] = link.decode("utf-8", "surrogateescape")
        return told

    def info(self, path: str, **_: Any) -> Info:
        """What a name is; a link is what it points to."""
        path = self._strip_protocol(path)
        try:
            return self._told(path, self._core().info(_bytes(path)))
        except _errors.NoSuchFileError as error:
            if (other := unquote(path, errors="surrogateescape")) != path:
                error.hint = f"nothing is quoted in names: `{other}` is another name"
            raise

    def exists(self, path: str, **_: Any) -> bool:
        """Whether there is such a name. That it cannot be found out is an exception."""
        try:
            self.info(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _is(self, path: str, kind: str) -> bool:
        try:
            return bool(self.info(path)["type"] == kind)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def isdir(self, path: str) -> bool:
        """Whether it is a folder."""
        return self._is(path, "directory")

    def isfile(self, path: str) -> bool:
        """Whether it is a file."""
        try:
            info = self.info(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        self._found = time.monotonic(), info
        return bool(info["type"] == "file")

    def _just_found(self, path: str) -> Info | None:
        """What `isfile` has just been told of it."""
        found, self._found = self._found, None
        is_fresh = found and time.monotonic() - found[0] < _FRESH
        return found[1] if found and is_fresh and found[1]["name"] == path else None

    def _is_pattern(self, path: str) -> bool:
        """Whether it stands for other names; a name that is there stands for itself."""
        return any(one in path for one in "*?[") and not self.exists(path)

    def _listed(self, path: str, recursive: bool) -> Iterator[Info]:
        base = path.rstrip("/")
        for name, info in self._core().list(_bytes(path), recursive):
            yield self._told(f"{base}/{name.decode('utf-8', 'surrogateescape')}", info)

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """What is in a folder, or the file itself."""
        path = self._strip_protocol(path)
        try:
            known = kwargs.get("_tree", {}).get(path)
            all_ = list(self._listed(path, recursive=False)) if known is None else known
        except NotADirectoryError:
            all_ = [self.info(path)]
        return all_ if detail else [one["name"] for one in all_]

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        """All files below a folder, by one listing."""
        path = self._strip_protocol(path)
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        found: dict[str, Info] = {}
        try:
            all_ = list(self._listed(path, recursive=maxdepth != 1))
            if withdirs:
                found[path] = self.info(path)
        except FileNotFoundError:
            all_ = []
        except NotADirectoryError:
            all_ = [self.info(path)] if self.isfile(path) else []
        start = len(path.rstrip("/")) + 1
        for one in all_:
            is_near = maxdepth is None or one["name"].count("/", start) < maxdepth
            if is_near and (withdirs or one["type"] != "directory"):
                found[one["name"]] = one
        if plan := kwargs.get("_plan"):
            plan.known.update(found)
        names = sorted(found)
        return {name: found[name] for name in names} if detail else names

    def walk(
        self,
        path: str,
        maxdepth: int | None = None,
        topdown: bool = True,
        on_error: Any = "omit",
        **kwargs: Any,
    ) -> Iterator[tuple[str, Any, Any]]:
        """Folders with what is in each, by one listing where there is no `maxdepth`."""
        if maxdepth is None and "_tree" not in kwargs:
            kwargs["_tree"] = self._tree(self._strip_protocol(path))
        yield from super().walk(path, maxdepth, topdown, on_error, **kwargs)

    def _tree(self, path: str) -> dict[str, list[Info]]:
        """What is in each folder below one; nothing where a folder cannot be read."""
        tree: dict[str, list[Info]] = {path: []}
        with contextlib.suppress(OSError):
            for one in self._listed(path, recursive=True):
                tree[one["name"].rpartition("/")[0] or "/"].append(one)
                if one["type"] == "directory" and not one["islink"]:
                    tree[one["name"]] = []
            return tree
        # Then each says for itself what is wrong.
        return {}

    def created(self, path: str) -> datetime.datetime:
        """Not known: servers do not tell when a file was made."""
        raise NotImplementedError(
            "a trunkline server does not tell when a file was made; `modified` has its last change"
        )

    def modified(self, path: str) -> datetime.datetime:
        """When the file was changed last."""
        return datetime.datetime.fromtimestamp(self.info(path)["mtime"], datetime.timezone.utc)

    def checksum(self, path: str) -> int:
        """Another number for each version of a file."""
        info = self.info(path)
        return hash((info["size"], info["mtime_ns"], info["version"]))

    # Bytes.

    def _read_many(
        self, ranges: Iterable[Range], expected: tuple[int, int, int] | None = None
    ) -> list[bytes | _errors.Error]:
        """Each range, or why it could not be read. Offsets below 0 are from the file's end."""
        asked = []
        for path, start, end in ranges:
            start, end = start or 0, end
            if start < 0 or (end is not None and end < 0):
                size = self.size(path)
                start = max(0, size + start) if start < 0 else start
                end = max(0, size + end) if end is not None and end < 0 else end
            asked.append((_bytes(path), start, end if end is None else max(start, end), expected))
        return self._core().read_many(asked)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Bytes of a file."""
        (read,) = self._read_many([(self._strip_protocol(path), start, end)])
        if isinstance(read, BaseException):
            raise read
        return read

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **_: Any,
    ) -> list[Any]:
        """Many ranges of many files at once."""
        if max_gap is not None:
            raise NotImplementedError("ranges are not joined: each is read as it is asked for")
        if not isinstance(paths, list):
            raise TypeError("paths must be a list")
        starts = starts if isinstance(starts, list) else [starts] * len(paths)
        ends = ends if isinstance(ends, list) else [ends] * len(paths)
        if len(starts) != len(paths) or len(ends) != len(paths):
            raise ValueError("there must be as many starts and ends as paths")
        names = [self._strip_protocol(path) for path in paths]
        read = self._read_many(zip(names, starts, ends, strict=True))
        for one in read:
            if on_error == "raise" and isinstance(one, BaseException):
                raise one
        return read

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **kwargs: Any
    ) -> Any:
        """All of a file, or of many at once as a dictionary."""
        plan = _Plan()
        names = self.expand_path(path, recursive=recursive, _plan=plan, **kwargs)
        is_one = len(names) == 1 and not isinstance(path, list)
        if is_one and names[0] == self._strip_protocol(path):
            return self.cat_file(names[0])
        names = [one for one in names if plan.known.get(one, {}).get("type") != "directory"]
        out: dict[str, Any] = {}
        for name, read in zip(names, self._read_many((one, 0, None) for one in names), strict=True):
            if isinstance(read, bytes) or on_error == "return":
                out[name] = read
            elif on_error == "raise":
                raise read
        return out

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> TrunklineFile:
        return TrunklineFile(
            self,
            path,
            mode,
            block_size or "default",
            autocommit=autocommit,
            cache_options=cache_options,
            **kwargs,
        )

    # Whole files, as copies.

    def _copy(
        self, source: str, target: str, on_progress: Any = None, **options: Any
    ) -> Any:
        try:
            return copy(
                source,
                target,
                **self._access,
                streams=self._streams,
                patience=self._patience,
                copy_links=True,
                history=False,
                on_progress=on_progress,
                **{"overwrite": True} | options,
            )
        except _errors.IncompleteCopy as error:
            raise _refused(error) from error

    def _check_right(self, number: int) -> None:
        """Says so before a copy begins that this token may not do."""
        if not self._core().rights()[number]:
            verb = ("read", "write")[number]
            raise _errors.RightsError(
                f"this token may not {verb} files of {self._root}",
                f"ask who runs the server for a token that may {verb}",
            )

    def get_file(
        self,
        rpath: str,
        lpath: Any = None,
        callback: Callback = DEFAULT_CALLBACK,
        outfile: Any = None,
        **kwargs: Any,
    ) -> None:
        """Copies a file of the server to one here."""
        rpath = self._strip_protocol(rpath)
        if plan := kwargs.get("_plan"):
            plan.pairs.append((rpath, os.path.abspath(stringify_path(lpath))))
            return
        if outfile is not None or isfilelike(lpath):
            super().get_file(rpath, lpath, callback=callback, outfile=outfile)
            return
        target = os.path.abspath(stringify_path(lpath))
        if self._got_small(rpath, target, callback):
            return
        plan = _Plan()
        plan.pairs.append((rpath, target))
        self._get_planned(plan, callback)

    def _read_small(self, path: str) -> tuple[bytes, int, int] | None:
        """All of a small file, its mode and its time; `None` of anything else."""
        with contextlib.suppress(_errors.IsAFolderError):
            return self._core().read_small(_bytes(path))
        return None

    def _got_small(self, source: str, target: str, callback: Callback) -> bool:
        """Gets a small file over the connections that are open."""
        if os.path.isdir(target) or not (read := self._read_small(source)):
            return False
        os.makedirs(os.path.dirname(target), exist_ok=True)
        callback.set_size(len(read[0]))
        _put_here(target, *read)
        callback.absolute_update(len(read[0]))
        return True

    def get(
        self,
        rpath: Any,
        lpath: Any,
        recursive: bool = False,
        callback: Callback = DEFAULT_CALLBACK,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Copies files and folders of the server to here."""
        if recursive and maxdepth is None and isinstance(rpath, str):
            target = stringify_path(lpath)
            if isinstance(target, str) and self._get_folder(rpath, target, callback, **kwargs):
                return
        plan = _Plan()
        super().get(rpath, lpath, recursive=recursive, maxdepth=maxdepth, _plan=plan)
        self._get_planned(plan, callback, **kwargs)

    def _get_folder(self, rpath: str, lpath: str, callback: Callback, **options: Any) -> bool:
        """Copies a folder: a slash behind it, or no folder at the other end, mean its content.

        Returns whether it is one. Without connections the copy finds that out.
        """
        source, target = self._strip_protocol(rpath), make_path_posix(lpath)
        if any(one in source for one in "*?[\\"):
            return False
        is_connected = os.getpid() in self._cores
        if is_connected and not self.isdir(source):
            return False
        is_into = lpath.endswith("/") or os.path.isdir(target)
        if is_into and not rpath.endswith("/"):
            target = f"{target.rstrip('/')}/{source.rpartition('/')[2]}"
        os.makedirs(os.path.dirname(target.rstrip("/")) or "/", exist_ok=True)

        def on_progress(event: Progress) -> None:
            if event.kind == "progress" and event.bytes is not None:
                callback.set_size(event.total_bytes)
                callback.absolute_update(event.bytes)

        place = self.place(source).rstrip("/") + "/"
        try:
            result = self._copy(place, f"{target}/", on_progress, recursive=True, **options)
        except _errors.RequestError:
            if is_connected:
                raise
            return False
        size = self._all_copied(result)
        os.makedirs(target, exist_ok=True)
        callback.set_size(size)
        callback.absolute_update(size)
        return True

    def _all_copied(self, result: Any) -> int:
        """The bytes of all files, or the exception that says which was not copied."""
        columns = (result.files.column(one) for one in ("name", "outcome", "because", "bytes"))
        total = 0
        for name, outcome, why, size in zip(*columns, strict=True):
            if outcome not in ("published", "skipped"):
                raise _errors.IncompleteCopy(f"{name} was not copied: {why}", partial=result)
            total += size or 0
        return total

    def _get_planned(self, plan: _Plan, callback: Callback, **options: Any) -> None:
        unknown = [source for source, _ in plan.pairs if source not in plan.known]
        plan.known |= zip(unknown, self._infos(unknown), strict=True)
        files = []
        for source, target in plan.pairs:
            is_folder = plan.known[source]["type"] == "directory"
            os.makedirs(target if is_folder else os.path.dirname(target), exist_ok=True)
            if not is_folder:
                if os.path.isdir(target):
                    raise _errors.IsAFolderError(f"{target} is a folder, and {source} is a file")
                files.append((source, target))
        total = sum(plan.known[source]["size"] for source, _ in files)
        callback.set_size(total)
        is_plain = all(plan.known[source]["type"] == "file" for source, _ in files)
        if total <= _SMALL and is_plain and not options:
            self._get_small(files, plan.known)
            callback.absolute_update(total)
            return
        for (source, target), below in _together(files).items():
            if below == [""] and any(one in source for one in "*?[\\"):
                self._get_renamed(source, target, callback, **options)
            else:
                self._copied(self.place(source), target, below, callback, **options)

    def _get_small(self, files: list[tuple[str, str]], known: dict[str, Info]) -> None:
        """Reads whole files of the versions that are known; each gets its name when it is whole."""
        asked = []
        for source, _ in files:
            told = known[source]
            version = told["size"], told["mtime_ns"], told["version"]
            asked.append((_bytes(source), 0, None, version))
        for (source, target), data in zip(files, self._core().read_many(asked), strict=True):
            if isinstance(data, BaseException):
                raise data
            _put_here(target, data, known[source]["mode"], known[source]["mtime_ns"])

    def _get_renamed(self, source: str, target: str, callback: Callback, **options: Any) -> None:
        """Copies a file whose name a copy would take for a pattern, and gives it its new name."""
        parent, _, name = source.rpartition("/")
        with tempfile.TemporaryDirectory(
            prefix=".trunkline-", dir=os.path.dirname(target)
        ) as folder:
            self._copied(self.place(parent), folder, [name], callback, **options)
            os.replace(os.path.join(folder, name), target)

    def _infos(self, paths: list[str]) -> list[Info]:
        return _each(self.info, paths)

    def _copied(
        self, source: str, target: str, below: list[str], callback: Callback, **options: Any
    ) -> None:
        """Copies a file, or those `below` a folder."""
        before = callback.value

        def on_progress(event: Progress) -> None:
            if event.kind == "progress" and event.bytes is not None:
                callback.absolute_update(before + event.bytes)

        if below == [""]:
            result = self._copy(source, target, on_progress, **options)
        else:
            source, target = source.rstrip("/") + "/", target.rstrip("/") + "/"
            result = self._copy(
                source, target, on_progress, files_from=list(below), recursive=True, **options
            )
        callback.absolute_update(before + self._all_copied(result))

    def put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **kwargs: Any,
    ) -> None:
        """Copies a file here to the server, and makes the folder that it goes to."""
        rpath = self._strip_protocol(rpath)
        plan = kwargs.get("_plan") or _Plan()
        plan.pairs.append((os.path.abspath(stringify_path(lpath)), rpath))
        if kwargs.get("_plan"):
            return
        if mode == "create" and self.exists(rpath):
            raise _errors.NameTakenError(f"{rpath} is there already")
        self._put_planned(plan, callback)

    def put(
        self,
        lpath: Any,
        rpath: Any,
        recursive: bool = False,
        callback: Callback = DEFAULT_CALLBACK,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Copies files and folders from here to the server."""
        plan = _Plan()
        super().put(lpath, rpath, recursive=recursive, maxdepth=maxdepth, _plan=plan)
        self._put_planned(plan, callback, **kwargs)

    def _put_planned(self, plan: _Plan, callback: Callback, **options: Any) -> None:
        self._check_right(1)
        files, folders = [], set()
        for source, target in plan.pairs:
            if os.path.isdir(source):
                folders.add(target)
            else:
                files.append((source, target))
        stats = [os.stat(source) for source, _ in files]
        total = sum(one.st_size for one in stats)
        callback.set_size(total)
        is_plain = all(stat.S_ISREG(one.st_mode) for one in stats)
        if total <= _SMALL and len(files) <= _AT_ONCE and is_plain and not options:
            self._make_folders(folders)
            self._store([(target, *_read_here(source), True) for source, target in files])
            callback.absolute_update(total)
            return
        folders |= {self._parent(target) for _, target in files}
        self._make_folders(folders)
        for (source, target), below in _together(files).items():
            if below == [""] and self.isdir(target):
                raise _errors.IsAFolderError(f"{target} is a folder, and {source} is a file")
            self._copied(source, self.place(target), below, callback, **options)

    def _store(self, files: Iterable[Stored]) -> None:
        """Stores small files whole, all at once."""
        asked = [(_bytes(name), data, like, replaces) for name, data, like, replaces in files]
        for failed in self._core().store(asked):
            if failed is not None:
                raise failed

    def pipe(self, path: Any, value: bytes | None = None, **kwargs: Any) -> None:
        """Writes files: one, or many at once as a dictionary."""
        if not isinstance(path, dict) or len(path) < 2 or self._intrans or kwargs:
            super().pipe(path, value, **kwargs)
            return
        files = {self._strip_protocol(one): path[one] for one in path}
        if len(files) <= _AT_ONCE and sum(map(len, files.values())) <= _SMALL:
            self._check_right(1)
            self._store((name, bytes(data), None, True) for name, data in files.items())
            return
        with tempfile.TemporaryDirectory(prefix="trunkline-") as folder:
            plan = _Plan()
            for name, data in files.items():
                if {".", ".."} & set(name.split("/")):
                    raise _errors.RequestError(f"`{name}` has a component `.` or `..`")
                with _created(folder + name) as file:
                    file.write(data)
                plan.pairs.append((folder + name, name))
            self._put_planned(plan, DEFAULT_CALLBACK, no_preserve=_OWN)

    def _make_folders(self, folders: Iterable[str]) -> None:
        """Makes folders with those that they are in, each once."""
        # What another one is in is made with it.
        above = {one.rpartition("/")[0] for one in folders}
        _each(self._make_folder, [one for one in folders if one != "/" and one not in above])

    def _make_folder(self, path: str) -> None:
        """Makes a folder to put something in, with those that it is in."""
        try:
            self._core().make_folder(_bytes(path), True)
        except _errors.NameTakenError as error:
            raise _errors.NotAFolderError(f"{path} is no folder") from error

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Makes an empty file, also where there is one already."""
        if not truncate and self.exists(path):
            raise NotImplementedError(
                "a trunkline server sets no time of a file that is there; `truncate=True` empties it"
            )
        self.pipe_file(path, b"")

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copies a file of the server to another name; its bytes come here and go back."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if read := self._read_small(path1):
            data, mode, modified = read
            self._store([(path2, data, (mode, modified), True)])
            return
        if self.isdir(path1):
            self.makedirs(path2, exist_ok=True)
            return
        with tempfile.TemporaryDirectory(prefix="trunkline-") as folder:
            here = os.path.join(folder, "file")
            self.get_file(path1, here)
            self.put_file(here, path2)

    # Names that change.

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Makes a folder."""
        path = self._strip_protocol(path)
        if self.exists(path):
            raise _errors.NameTakenError(f"{path} is there already")
        self._core().make_folder(_bytes(path), create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Makes a folder, and those that it is in."""
        path = self._strip_protocol(path)
        if not exist_ok and self.exists(path):
            raise _errors.NameTakenError(f"{path} is there already")
        if path != "/":
            self._core().make_folder(_bytes(path), True)

    def rmdir(self, path: str) -> None:
        """Removes a folder with nothing in it."""
        self._core().remove(_bytes(self._strip_protocol(path)), "folder")

    def rm_file(self, path: str) -> None:
        """Removes a file, or a link and not what it points to."""
        self._core().remove(_bytes(self._strip_protocol(path)), "file")

    _rm = rm_file

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Removes files, and folders with all that is in them where it is `recursive`."""
        what = "tree" if recursive and maxdepth is None else "file"
        depth = maxdepth if recursive else None
        for one in path if isinstance(path, list) else [path]:
            name = self._strip_protocol(one)
            if self._is_pattern(name) or depth is not None:
                names = self.expand_path(name, recursive=recursive, maxdepth=maxdepth)
            else:
                names = [name]
            gone = "\0"
            for each in names if what == "tree" else reversed(names):
                if not each.startswith(gone + "/"):
                    is_folder = what == "file" and depth is not None and self.isdir(each)
                    self._core().remove(_bytes(each), "folder" if is_folder else what)
                    gone = each if what == "tree" else gone

    def mv(
        self,
        path1: Any,
        path2: Any,
        recursive: bool = False,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Gives files and folders other names, at the server; what has the name is replaced."""
        if isinstance(path1, list) and isinstance(path2, list):
            for one, other in zip(path1, path2, strict=True):
                self.mv(one, other)
            return
        into = stringify_path(path2).endswith("/") or self.isdir(path2)
        target = self._strip_protocol(path2)
        is_one = not isinstance(path1, list) and not self._is_pattern(self._strip_protocol(path1))
        names = [self._strip_protocol(path1)] if is_one else self.expand_path(path1)
        if not into and len(names) > 1:
            raise _errors.NotAFolderError(f"{target} is no folder, and several names go there")
        for name in names:
            place = f"{target.rstrip('/')}/{name.rpartition('/')[2]}" if into else target
            if place != name and not (is_one and name == target):
                self._core().rename(_bytes(name), _bytes(place), True)


class ReadsAhead(BaseCache):
    """Reads ahead for those who read on from where they were, further each time.

    A read anywhere else brings what was asked for: who takes one column of a file does not wait for
    the next one.
    """

    name = "trunkline"

    def __init__(self, blocksize: int, fetcher: Any, size: int) -> None:
        """For files; `blocksize` is the furthest, in bytes."""
        super().__init__(blocksize, fetcher, size)
        self._start = 0
        self._data = b""
        self._ahead = 0

    def _fetch(self, start: int | None, stop: int | None) -> bytes:
        start = start or 0
        stop = self.size if stop is None else min(stop, self.size)
        if start >= stop:
            return b""
        end = self._start + len(self._data)
        if self._start <= start and stop <= end:
            self.hit_count += 1
            return self._data[start - self._start : stop - self._start]
        self.miss_count += 1
        is_next = self._start <= start <= end
        kept = self._data[start - self._start :] if is_next else b""
        if stop - start >= self.blocksize:
            return self._passed(kept, start, stop)
        self._ahead = min(max(4 * self._ahead, _AHEAD), self.blocksize) if is_next else 0
        least = max(stop, start + _LEAST)
        self._start, self._data = start, kept + self._asked(start + len(kept), least + self._ahead)
        return self._data[: stop - start]

    def _passed(self, kept: bytes, start: int, stop: int) -> bytes:
        """Large reads are not held."""
        self._start, self._data = stop, b""
        return kept + self._asked(start + len(kept), stop)

    def _asked(self, start: int, stop: int) -> bytes:
        stop = min(stop, self.size)
        self.total_requested_bytes += stop - start
        return bytes(self.fetcher(start, stop))


register_cache(ReadsAhead, clobber=True)


class TrunklineFile(AbstractBufferedFile):
    """A file of a server.

    What is read is of one version of it: when it changes meanwhile, that is an exception. What is
    written goes to the server when the file is closed; where the `with` block ends in an exception,
    it does not. Until then it is held here, and what is more than a block in a temporary file.
    """

    # The furthest that is read ahead: what 1 Gbit/s carries in 130 ms.
    DEFAULT_BLOCK_SIZE = 16 << 20
    buffer: io.BytesIO

    def __init__(
        self, fs: TrunklineFileSystem, path: str, mode: str = "rb", *args: Any, **kwargs: Any
    ) -> None:
        """For `TrunklineFileSystem.open`."""
        self._held: Any = None
        self._room: Any = None
        if mode == "rb":
            found = fs._just_found(path)
            self._is_sure = found is None
            self.details = found or fs.info(path)
            if self.details["type"] == "directory":
                raise _errors.IsAFolderError(f"{path} is a folder")
        super().__init__(fs, path, mode, *args, **{"cache_type": "trunkline"} | kwargs)
        if mode != "rb":
            self.closed = True
            self.fs._check_right(1)
            if mode == "xb":
                self._look()
            if mode == "ab":
                self._begin()
            self.closed = False

    def _look(self) -> bool:
        """Whether there is such a file. Refuses what would be refused at the end."""
        there = None
        with contextlib.suppress(FileNotFoundError):
            there = self.fs.info(self.path)
        if there and there["type"] == "directory":
            raise _errors.IsAFolderError(f"{self.path} is a folder")
        if there and self.mode == "xb":
            raise _errors.NameTakenError(f"{self.path} is there already")
        return there is not None

    def _begin(self) -> None:
        """Begins a temporary file, with what there is where that is added to."""
        is_there = self._look()
        self._room = tempfile.TemporaryDirectory(prefix="trunkline-")
        self._held = _created(os.path.join(self._room.name, "file"))
        if is_there and self.mode == "ab":
            self.fs.get_file(self.path, outfile=self._held)
            self.loc = self._held.tell()

    def _fetch_range(self, start: int, end: int) -> bytes:
        read = self._read_once(start, end)
        if isinstance(read, _errors.RunError) and not self._is_sure:
            # It was replaced between the question and the opening: the newer one is as good.
            info = self.fs.info(self.path)
            if info["size"] == self.details["size"]:
                self.details = info
                read = self._read_once(start, end)
        self._is_sure = True
        if isinstance(read, BaseException):
            raise read
        return bytes(read)

    def _read_once(self, start: int, end: int) -> bytes | _errors.Error:
        told = self.details
        expected = told["size"], told["mtime_ns"], told["version"]
        (read,) = self.fs._read_many([(self.path, start, end)], expected)
        return read

    def _upload_chunk(self, final: bool = False) -> bool:
        if self._held is None and final and self.buffer.tell() <= _SMALL:
            self._held, self.buffer = self.buffer, io.BytesIO()
        else:
            if self._held is None:
                self._begin()
            self._held.write(self.buffer.getbuffer())
        if final and self.autocommit:
            self.commit()
        return True

    def commit(self) -> None:
        """Puts what was written at the server."""
        try:
            if self._held.tell() <= _SMALL:
                self._held.seek(0)
                self.fs._store([(self.path, self._held.read(), None, self.mode != "xb")])
            else:
                self._copy()
        finally:
            self.discard()

    def _copy(self) -> None:
        self._held.flush()
        self.fs._make_folders({self.fs._parent(self.path)})
        options: dict[str, Any] = {"no_preserve": _OWN}
        if self.mode == "xb":
            options |= {"overwrite": False, "ignore_existing": True}
        result = self.fs._copy(self._held.name, self.fs.place(self.path), **options)
        if "skipped" in result.files.column("outcome"):
            raise _errors.NameTakenError(f"{self.path} is there already")

    def discard(self) -> None:
        """Forgets what was written."""
        if self._held is not None:
            self._held.close()
        if self._room is not None:
            self._room.cleanup()

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Closes it; what was written is forgotten after an exception."""
        if kind is not None and self.mode != "rb":
            self.discard()
            self.closed = True
        self.close()
