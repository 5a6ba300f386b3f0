"""Why a call has no result."""

from __future__ import annotations

from typing import Any

__all__ = [
    "Cancelled",
    "Error",
    "ForkedError",
    "IncompleteCopy",
    "InternalError",
    "KeepWarning",
    "RequestError",
    "RunError",
]


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
        super().__init__(what)
        self.hint = hint or None
        self.causes = [what] if causes is None else causes
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


class Cancelled(Error):
    """The call was cancelled; `partial` has what was found until then."""


class ForkedError(Error, RuntimeError):
    """The call runs in the process that this one was forked from."""


class InternalError(Error, RuntimeError):
    """trunkline's own mistake."""


class KeepWarning(UserWarning):
    """A result could not be kept in the archive; it is there all the same."""
