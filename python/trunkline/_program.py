"""The `trunkline` program that came with this package."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

from ._errors import RequestError

_VARIABLE = "TRUNKLINE_PROGRAM"


def program() -> str:
    """The file of the program: that of `$TRUNKLINE_PROGRAM`, of this environment, or of `$PATH`.

    Raises:
        RequestError: There is none.
    """
    named = os.environ.get(_VARIABLE)
    schemes = {sysconfig.get_path("scripts"), os.path.join(sys.prefix, "bin")}
    schemes.add(sysconfig.get_path("scripts", f"{os.name}_user"))
    places = [named] if named else [os.path.join(one, "trunkline") for one in sorted(schemes)]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    found = None if named else shutil.which("trunkline")
    if found is None:
        raise RequestError(
            f"there is no program `trunkline` at {' or '.join(places)}",
            f"install the package with pip, or name the program with ${_VARIABLE}",
        )
    return found


def own_program() -> str | None:
    """The same, where there is one."""
    try:
        return program()
    except RequestError:
        return None
