"""Why a call has no result."""

from __future__ import annotations

import errno
import os
import re
from typing import Any

__all__ = [
    "Cancelled",
    "DiskFullError",
    "Error",
    "FileError",
    "ForkedError",
    "IncompleteCopy",
    "InternalError",
    "IsAFolderError",
    "KeepWarning",
    "Mismatch",
    "NameTakenError",
    "NoSuchFileError",
    "NotAFolderError",
    "NotEmptyError",
    "NotFinished",
    "RequestError",
    "RightsError",
    "RunError",
]


# Options of the program whose arguments have other names, and those without a value.
_ARGUMENTS = {
    "-r": "recursive=True",
    "-n": "dry_run=True",
    "-z": "compress=True",
    "-L": "copy_links=True",
    "-P": "streams",
    "-w": "window",
    "-e": "ssh",
    "--json": "save",
    "--save": "save",
    "--no-history": "history=False",
    "--no-cache": "cache=False",
}


def _in_python(text: str) -> str:
    """What the library says, with `token_file` for `--token-file FILE`.

    Whole commands stay: those are for a terminal.
    """
    return re.sub(r"`(--?[A-Za-z][\w-]*)(?:[ =]([^`]*))?`", _argument, text)


def _argument(option: re.Match[str]) -> str:
    """The argument for an option; a value in capitals only says what the value is."""
    name, value = option[1], option[2] or ""
    if not name.startswith("--") and name not in _ARGUMENTS:
        return option[0]
    argument = _ARGUMENTS.get(name, name[2:].replace("-", "_"))
    if value.isdecimal() or value.startswith("'"):
        return f"`{argument}={value}`"
    is_word = value != value.upper() and " " not in value
    return f'`{argument}="{value}"`' if is_word else f"`{argument}`"


# Numbers of the system's words, in which servers say what went wrong.
_NUMBERS = {os.strerror(number): number for number in errno.errorcode}


class Error(Exception):
    """What every call may raise.

    Attributes:
        hint: The next step, where there is one.
        causes: The error and what caused it, the error first.
        partial: What was found until then: a result like that of the call, or `None`.
    """

    hint: str | None
    causes: list[str]
    partial: Any

    def __init__(
        self,
        what: str,
        hint: str | None = None,
        causes: list[str] | None = None,
        partial: Any = None,
    ) -> None:
        """Says `what` happened, with value and bound."""
        what = _in_python(what)
        super().__init__(what)
        self.hint = _in_python(hint) if hint else None
        self.causes = [what] if causes is None else [_in_python(cause) for cause in causes]
        self.partial = partial

    def __str__(self) -> str:
        """What happened, and the next step."""
        what = str(self.args[0])
        return f"{what}\n\nhint: {self.hint}" if self.hint else what

    def __reduce__(self) -> tuple[type[Error], tuple[str, str | None, list[str], Any]]:
        """With everything, so that it crosses processes."""
        return type(self), (str(self.args[0]), self.hint, self.causes, self.partial)


class RequestError(Error, ValueError):
    """The request was wrong: a value, a name, a combination. The program ends with 2 then."""


class RunError(Error):
    """What was measured, moved or simulated failed. The program ends with 1 then."""


class IncompleteCopy(RunError):
    """Some files were not copied. `partial.files` says which and why; the same copy goes on."""


class Mismatch(RunError):
    """Files differ from their checksums, are missing, or could not be checked.

    `partial.troubles` says which.
    """


class NotFinished(RunError):
    """Something stopped before its end, and the same call goes on. The program ends with 75 then."""


class Cancelled(Error):
    """The call was cancelled; `partial` has what was found until then."""


class ForkedError(Error, RuntimeError):
    """The call runs in the process that this one was forked from."""


class InternalError(Error, RuntimeError):
    """trunkline's own mistake."""


class KeepWarning(UserWarning):
    """A result could not be kept in the archive; it is there all the same."""


class FileError(Error, OSError):
    """What a server says about one of its files. Each is one of Python's own exceptions, too."""

    # Where what happened does not end with the system's own words.
    _number = errno.EIO

    def __init__(
        self,
        what: str,
        hint: str | None = None,
        causes: list[str] | None = None,
        partial: Any = None,
    ) -> None:
        """Says `what` happened, with the number that the system has for it."""
        super().__init__(what, hint, causes, partial)
        self.errno = _NUMBERS.get(what.rpartition(": ")[2], self._number)


class NoSuchFileError(FileError, FileNotFoundError):
    """There is no such name."""

    _number = errno.ENOENT


class NameTakenError(FileError, FileExistsError):
    """Something has the name already."""

    _number = errno.EEXIST


class RightsError(RunError, FileError, PermissionError):
    """The token, the server or its file system does not allow it."""

    _number = errno.EACCES


class IsAFolderError(FileError, IsADirectoryError):
    """It is a folder, and a file was expected."""

    _number = errno.EISDIR


class NotAFolderError(FileError, NotADirectoryError):
    """It is no folder, and one was expected."""

    _number = errno.ENOTDIR


class NotEmptyError(FileError):
    """The folder has something in it."""

    _number = errno.ENOTEMPTY


class DiskFullError(RunError, FileError):
    """The end that is written to has no room, or no quota, for it."""

    _number = errno.ENOSPC
