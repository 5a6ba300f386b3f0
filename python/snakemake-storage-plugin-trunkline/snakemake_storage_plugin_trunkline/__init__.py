"""Snakemake's inputs and outputs at a server that runs `trunkline serve --root`.

One listing of a folder tells what is there of all its files. Inputs that are retrieved in the same
moment come in one copy, whose number of streams follows the path.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import trunkline
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_storage_plugins.common import Operation, get_disk_free
from snakemake_interface_storage_plugins.exceptions import FileOrDirectoryNotFoundError
from snakemake_interface_storage_plugins.io import (
    IOCacheStorageInterface,
    Mtime,
    get_constant_prefix,
)
from snakemake_interface_storage_plugins.settings import StorageProviderSettingsBase
from snakemake_interface_storage_plugins.storage_object import (
    StorageObjectGlob,
    StorageObjectRead,
    StorageObjectWrite,
)
from snakemake_interface_storage_plugins.storage_provider import (
    ExampleQuery,
    QueryType,
    StorageProviderBase,
    StorageQueryValidationResult,
)
from trunkline.fs import TrunklineFileSystem

from ._listings import Listings, There
from ._names import SCHEME, canonical, escaped, remote, why_invalid
from ._together import Together

# A file in folders that Snakemake made: its time counts, not that of the folder.
_TIMESTAMP = ".snakemake_timestamp"


# Snakemake reads the types, and knows Optional.
@dataclass
class StorageProviderSettings(StorageProviderSettingsBase):
    """What Snakemake takes as --storage-trunkline-... and in profiles."""

    token: Optional[str] = field(  # noqa: UP045
        default=None,
        metadata={
            "help": "Token that opens the server; others on this host see it on a command line, so "
            "give it as an environment variable, or give a token file. TRUNKLINE_TOKEN has it "
            "otherwise.",
            "env_var": True,
            "required": False,
        },
    )
    token_file: Optional[str] = field(  # noqa: UP045
        default=None,
        metadata={"help": "File with the token that opens the server.", "required": False},
    )
    gentle: bool = field(
        default=False,
        metadata={
            "help": "Copies give way to all other traffic on the path.",
            "required": False,
        },
    )


class StorageProvider(StorageProviderBase):
    """Servers, and what is asked of them at the same time."""

    def __post_init__(self) -> None:
        """Begins with nothing asked."""
        self.retrievals: Together[StorageObject] = Together(self._retrieve)
        self.listings = Listings()

    @classmethod
    def example_queries(cls) -> list[ExampleQuery]:
        """One for a file."""
        return [
            ExampleQuery(
                query=f"{SCHEME}dtn.example.org/run7/hits.parquet",
                type=QueryType.ANY,
                description="A file or folder of a server; `:PORT` behind the host if it is not "
                "the usual one, %20 for a space",
            )
        ]

    @classmethod
    def is_valid_query(cls, query: str) -> StorageQueryValidationResult:
        """Whether it names a file of a server; wildcards may stand in the path."""
        why = why_invalid(query)
        return StorageQueryValidationResult(query=query, valid=why is None, reason=why)

    def postprocess_query(self, query: str) -> str:
        """The same name always has the same query."""
        return canonical(query) if why_invalid(query) is None else query

    def use_rate_limiter(self) -> bool:
        """Only where it was asked for: requests share connections, and servers bound those."""
        return self.settings is not None and self.settings.max_requests_per_second is not None

    def default_max_requests_per_second(self) -> float:
        """Not used; see `use_rate_limiter`."""
        return 1000.0

    def rate_limiter_key(self, query: str, operation: Operation) -> Any:
        """The server."""
        return query[len(SCHEME) :].partition("/")[0]

    def access(self) -> dict[str, Any]:
        """What opens servers."""
        one = self.settings
        if not isinstance(one, StorageProviderSettings):
            return {}
        # The file that the user names here goes before a token of the environment.
        given = {"token": None if one.token_file else one.token, "token_file": one.token_file}
        return {name: value for name, value in given.items() if value}

    @property
    def gentle(self) -> bool:
        """Whether copies give way."""
        return isinstance(self.settings, StorageProviderSettings) and self.settings.gentle

    def files(self, query: str) -> TrunklineFileSystem:
        """The files of the server that a query names."""
        return TrunklineFileSystem(
            **TrunklineFileSystem._get_kwargs_from_urls(query), **self.access()
        )

    def options(self) -> dict[str, Any]:
        """Those of all copies; the tuner chooses the number of streams."""
        return {
            **self.access(),
            "gentle": self.gentle,
            "copy_links": True,
            "overwrite": True,
            "history": False,
        }

    async def _retrieve(
        self, wanted: Sequence["StorageObject"]
    ) -> Sequence[Exception | None]:
        """Retrieves all that are `wanted`, from each server in one copy."""
        outcome: dict[int, Exception | None] = {}
        together: dict[str, list[StorageObject]] = {}
        alone = list(wanted)
        if len(wanted) > 1 and self._is_room(wanted):
            alone = [one for one in wanted if one.listed_name() is None]
            for one in wanted:
                if one.listed_name() is not None:
                    together.setdefault(one.root, []).append(one)
        for root, ones in together.items():
            for one, why in zip(ones, await self._retrieve_listed(root, ones), strict=True):
                outcome[id(one)] = why
        for one in alone:
            outcome[id(one)] = await one.retrieve_alone()
        return [outcome[id(one)] for one in wanted]

    def _is_room(self, wanted: Sequence["StorageObject"]) -> bool:
        """Whether all fit here at the same time; otherwise each waits until there is room."""
        needed = 0
        for one in wanted:
            # The copy says what is not there.
            with contextlib.suppress(FileNotFoundError):
                needed += one.local_footprint()
        return needed <= get_disk_free(self.local_prefix)

    async def _retrieve_listed(
        self, root: str, ones: Sequence["StorageObject"]
    ) -> Sequence[Exception | None]:
        """Copies files and folders whose names here end like those at the server."""
        names = [one.listed_name() or "" for one in ones]
        target = os.path.join(os.path.abspath(self.local_prefix), root[len(SCHEME) :])
        os.makedirs(target, exist_ok=True)
        try:
            await trunkline.copy.aio(
                root + "/",
                target + "/",
                files_from=sorted(set(names)),
                recursive=True,
                **self.options(),
            )
        except trunkline.IncompleteCopy as error:
            return [_why_not(name, error) for name in names]
        except trunkline.Error as error:
            return [error] * len(ones)
        return [None] * len(ones)


def _why_not(name: str, error: trunkline.IncompleteCopy) -> Exception | None:
    """Why a file, or one in a folder, was not copied."""
    files = error.partial.files
    columns = [files.column(one) for one in ("name", "outcome", "because")]
    found = False
    for copied, outcome, why in zip(*columns, strict=True):
        if copied == name or copied.startswith(name + "/"):
            found = True
            if outcome not in ("published", "skipped"):
                return OSError(f"{copied} was not copied: {why}")
    return None if found else error


class StorageObject(StorageObjectRead, StorageObjectWrite, StorageObjectGlob):
    """A file or a folder of a server."""

    provider: StorageProvider

    @property
    def root(self) -> str:
        """The server's part of the query."""
        return SCHEME + self.query[len(SCHEME) :].partition("/")[0]

    @property
    def name(self) -> str:
        """The name at the server."""
        return remote(self.query)

    @property
    def files(self) -> TrunklineFileSystem:
        """The files of its server."""
        return self.provider.files(self.query)

    def listed_name(self) -> str | None:
        """The name in a copy of many; none where its name here does not end like it."""
        is_alike = self._overwrite_local_path is None and "%" not in self.query
        return self.name.lstrip("/") if is_alike else None

    def local_suffix(self) -> str:
        """The query without its scheme."""
        return self.query[len(SCHEME) :]

    def cleanup(self) -> None:
        """Nothing is left here but what Snakemake removes."""

    # What is there.

    def get_inventory_parent(self) -> str | None:
        """The folder whose listing tells of it."""
        return self.cache_key(self.local_suffix().rpartition("/")[0])

    async def inventory(self, cache: IOCacheStorageInterface) -> None:
        """Tells all of its folder by one listing."""
        parent = self.get_inventory_parent()
        # Folders whose listings are complete, for Snakemake's own files.
        complete = getattr(cache.exists_in_storage, "has_inventory", None)
        if complete is None or parent in complete:
            return
        folder = self.query.rpartition("/")[0]
        try:
            async with self._rate_limiter(Operation.EXISTS):
                listed = self.provider.listings.list(self.files, folder)
        except trunkline.Error as error:
            raise WorkflowError(f"Failed to list {folder}", error) from error
        for name, there in listed.items():
            self._tell(cache, self.cache_key(f"{folder[len(SCHEME) :]}/{name}"), there)
        complete.add(parent)

    def _tell(self, cache: IOCacheStorageInterface, key: str, there: There) -> None:
        cache.exists_in_storage[key] = there.kind in ("file", "directory")
        if there.kind == "file":
            cache.mtime[key] = Mtime(storage=_seconds(there.mtime_ns))
            cache.size[key] = there.size

    def _look(self) -> There:
        return self.provider.listings.look(self.files, self.query)

    def exists(self) -> bool:
        """Whether it is there; a link that leads nowhere is not."""
        try:
            return self._look().kind in ("file", "directory")
        except (FileNotFoundError, NotADirectoryError):
            return False

    def mtime(self) -> float:
        """When it was changed last; of a folder that Snakemake made, when it was made."""
        there = self._look()
        if there.kind == "directory":
            with contextlib.suppress(FileNotFoundError):
                there = There.of(self.files.info(f"{self.name}/{_TIMESTAMP}"))
        return _seconds(there.mtime_ns)

    def size(self) -> int:
        """Bytes of a file, 0 of a folder."""
        return self._look().size

    def local_footprint(self) -> int:
        """Bytes that it takes here, of a folder those of all its files."""
        there = self._look()
        if there.kind != "directory":
            return there.size
        return sum(one["size"] for one in self.files.find(self.name, detail=True).values())

    # Copies.

    async def managed_retrieve(self) -> None:
        """Retrieves it, with all that is asked for in the same moment."""
        try:
            self.local_path().parent.mkdir(parents=True, exist_ok=True)
            async with self._rate_limiter(Operation.RETRIEVE):
                await self.provider.retrievals.ask(self)
        except Exception as error:
            if not isinstance(error, FileOrDirectoryNotFoundError) and not self.exists():
                raise FileOrDirectoryNotFoundError(self.local_path(), self.query) from error
            what = f"Failed to retrieve storage object from {self.print_query}"
            raise WorkflowError(what, error) from error

    async def retrieve_alone(self) -> Exception | None:
        """Retrieves it by itself, once there is room; gives why it could not be."""
        try:
            await self.wait_for_free_space()
            self.retrieve_object()
        except (trunkline.Error, WorkflowError, OSError) as error:
            return error
        return None

    def retrieve_object(self) -> None:
        """Copies it to its local path."""
        here = str(self.local_path())
        options = {"gentle": self.provider.gentle}
        if self.files.isdir(self.name):
            names = self.files.find(self.name, withdirs=True)
            to = [here + one[len(self.name) :] for one in names]
            self.files.get(names, to, **options)
        else:
            self.files.get([self.name], [here], **options)

    def store_object(self) -> None:
        """Copies its local path to the server; a folder there then has what it has here."""
        here, files = self.local_path().absolute(), self.files
        is_folder, end = here.is_dir(), "/" if here.is_dir() else ""
        files.makedirs(self.name.rpartition("/")[0] or "/", exist_ok=True)
        trunkline.copy(
            f"{here}{end}",
            files.place(self.name) + end,
            recursive=is_folder,
            delete=is_folder and files.isdir(self.name),
            **self.provider.options(),
        )
        self.provider.listings.forget(self.query)

    def remove(self) -> None:
        """Removes it from the server."""
        self.files.rm(self.name, recursive=self.files.isdir(self.name))
        self.provider.listings.forget(self.query)

    def list_candidate_matches(self) -> Iterable[str]:
        """The queries of all files below the part of the query before its first wildcard."""
        prefix = get_constant_prefix(self.query, strip_incomplete_parts=True).rstrip("/")
        found = self.files.find(remote(prefix))
        return [self.root + escaped(name) for name in found]


def _seconds(nanoseconds: int) -> float:
    """As Python's own `st_mtime`: times that are the same compare as the same."""
    whole, rest = divmod(nanoseconds, 1_000_000_000)
    return whole + 1e-9 * rest
