"""Modules that annotations name, and that few programs need."""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        """Imports nothing yet."""
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """What the module has under this name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)
