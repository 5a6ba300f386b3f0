"""Files against lists of checksums and BagIt bags."""

from __future__ import annotations

import json
import os
from typing import Literal

from . import _trunkline
from ._call import Call, OnProgress, Operation
from ._record import Record
from ._text import File

Algorithm = Literal[
    "blake3",
    "sha512",
    "sha384",
    "sha256",
    "sha224",
    "sha1",
    "md5",
    "crc32c",
    "crc32",
    "adler32",
]


def _told(done: _trunkline.Done) -> Record:
    return Record(json.loads(done.told or "{}"))


def _verify(
    list: File,
    folder: File | None = None,
    *,
    algorithm: Algorithm | None = None,
    on_progress: OnProgress | None = None,
) -> Call[Record]:
    """Checks files against a list of checksums, or a BagIt bag, on all processors.

    Args:
        list: A list as `sha256sum`, `md5sum`, `b3sum`, `xrdadler32` and their kin write it, or the
            folder of a bag.
        folder: The folder that the names of the list are in; the current one without.
        algorithm: The checksum of a list that does not say it.
        on_progress: Told of each file that is not right, and of how far it is.

    Returns:
        What was found: `right` files, `bytes`, the `algorithms`, `took_seconds`.

    Raises:
        Mismatch: Something is not right; `partial` has the same with `wrong`, `unchecked` and
            `troubles`.
        RequestError: There is no such list, or it is none.
    """
    given = [os.fspath(list)]
    if folder is not None:
        given.append(os.fspath(folder))
    words = [repr(one) for one in given]
    if algorithm is not None:
        words.append(f"algorithm={algorithm!r}")
    asked = {
        "list": given[0],
        "folder": None if folder is None else given[1],
        "algorithm": algorithm,
        "command": f"trunkline.verify({', '.join(words)})",
    }
    return Call(_trunkline.start_verify(asked), _told, on_progress)


verify = Operation(_verify)
