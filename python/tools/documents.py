"""Writes trunkline/documents.py from docs/reference/schema.json; `--check` only compares."""

import json
import keyword
import re
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parents[1] / "docs/reference/schema.json"
TARGET = HERE.parent / "trunkline/documents.py"
# Names that are taken twice in the schema, which counts the second.
NAMES = {
    "Sample2": "SeriesSample",
    "Load2": "LoadedWay",
    "Buffers2": "PathBuffers",
    "Growth2": "RttGrowth",
    "Schema": "SchemaName",
}
# What a call that ended well always has: why a document lacks it, instead of `None`.
PROMISED = {
    ("TuneDocument", "recommended"): "this search ended before it could recommend a setting; "
    "`cut_because` says why",
}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""Documents as typed objects: each key of `docs/reference/json.md` is an attribute.

Keys are in base units of the SI, and the unit ends the name. What was not seen is absent from the
document, and `None` here. Made by tools/documents.py from the schema.
"""

from __future__ import annotations

from typing import Literal

from ._record import Record

'''


def class_name(name: str, definition: dict) -> str:
    """The name of a class: that of a document tells its kind."""
    if re.fullmatch(r"Document\d*", name):
        kind = definition["properties"]["schema"]["const"].removeprefix("trunkline/")
        return kind.capitalize() + "Document"
    return NAMES.get(name, name)


class Schema:
    """The definitions, and the names that they get here."""

    def __init__(self, text: str) -> None:
        self.definitions: dict[str, dict] = json.loads(text)["$defs"]
        self.names = {name: class_name(name, one) for name, one in self.definitions.items()}

    def type_of(self, shape: dict) -> str:
        """The annotation of a value."""
        if "$ref" in shape:
            return self.names[shape["$ref"].rsplit("/", 1)[1]]
        if "const" in shape:
            return f"Literal[{json.dumps(shape['const'])}]"
        for key in ("anyOf", "oneOf"):
            if key in shape:
                parts = [self.type_of(one) for one in shape[key]]
                return " | ".join(dict.fromkeys(parts))
        if "enum" in shape:
            return f"Literal[{', '.join(map(json.dumps, shape['enum']))}]"
        if shape.get("type") == "array":
            items = shape.get("items") or {}
            if "prefixItems" in shape:
                items = shape["prefixItems"][0]
            return f"list[{self.type_of(items)}]"
        if shape.get("type") == "object":
            return "dict[str, object]"
        if isinstance(shape.get("type"), list):
            return " | ".join(SCALARS[one] for one in shape["type"])
        return SCALARS.get(shape.get("type", ""), "object")

    def record_of(self, shape: dict) -> str | None:
        """The class that values of this shape become, by itself or in a list."""
        if "$ref" in shape:
            name = shape["$ref"].rsplit("/", 1)[1]
            return self.names[name] if fields(self.definitions[name]) is not None else None
        if shape.get("type") == "array":
            return self.record_of(shape.get("items") or {})
        found = [self.record_of(one) for one in shape.get("anyOf", [])]
        return next((one for one in found if one), None)


def fields(definition: dict) -> tuple[dict, set] | None:
    """The properties of an object, or of all objects that it may be; and which always stand there."""
    if definition.get("properties"):
        return definition["properties"], set(definition.get("required", []))
    choices = definition.get("oneOf") or definition.get("anyOf") or []
    found = [fields(one) for one in choices]
    if not found or any(one is None for one in found):
        return None
    properties: dict = {}
    for one, _ in found:
        for name, shape in one.items():
            known = properties.get(name)
            if known and "const" in known and "const" in shape:
                shape = {"enum": [*known.get("enum", [known["const"]]), shape["const"]]}
            elif known and "enum" in known and "const" in shape:
                shape = {"enum": [*known["enum"], shape["const"]]}
            properties[name] = shape
    required = set.intersection(*(always for _, always in found))
    return properties, required


def described(shape: dict) -> str:
    """What a value is, in one paragraph."""
    text = shape.get("description", "").split("\n\n")[0]
    return " ".join(text.split())


def attribute(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def wrapped(text: str, indent: str, further: str) -> str:
    return textwrap.fill(
        text, 100, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False
    )


def written(schema: Schema, name: str) -> str:
    """The class, or the alias, of a definition."""
    definition, title = schema.definitions[name], schema.names[name]
    found = fields(definition)
    if found is None:
        return f"{title} = {alias(schema, definition)}\n"
    properties, required = found
    about = described(definition) or f"A `{title}`."
    lines = [f"class {title}(Record):", wrapped(f'"""{about}', "    ", "    "), "", "    Attributes:"]
    for key, shape in properties.items():
        text = described(shape) or described(target(schema, shape))
        lines.append(wrapped(f"{attribute(key)}: {text}".rstrip(), " " * 8, " " * 12))
    lines += ['    """', "", "    __slots__ = ()"]
    for key, shape in properties.items():
        kind = schema.type_of(shape)
        optional = "" if key in required or (title, key) in PROMISED else " | None"
        lines.append(f"    {attribute(key)}: {kind}{optional}")
    records = {
        key: record for key, shape in properties.items() if (record := schema.record_of(shape))
    }
    promised = {key: why for (of, key), why in PROMISED.items() if of == title}
    absent = sorted(set(properties) - required - set(promised))
    lines.append(f"    _records = {json.dumps(records)}")
    lines.append(f"    _optional = frozenset({json.dumps(absent)})")
    if promised:
        lines.append(f"    _promised = {json.dumps(promised)}")
    return "\n".join(lines) + "\n"


def target(schema: Schema, shape: dict) -> dict:
    name = shape.get("$ref", "").rsplit("/", 1)[-1]
    return schema.definitions.get(name, {})


def alias(schema: Schema, definition: dict) -> str:
    choices = definition.get("oneOf") or definition.get("anyOf")
    if choices and all("const" in one or "enum" in one for one in choices):
        words = [word for one in choices for word in one.get("enum", [one.get("const")])]
        return f"Literal[{', '.join(map(json.dumps, words))}]"
    return schema.type_of(definition)


def text() -> str:
    schema = Schema(SCHEMA.read_text())
    aliases, classes = [], []
    for name in schema.definitions:
        one = written(schema, name)
        (classes if one.startswith("class") else aliases).append(one)
    kinds = {
        one["properties"]["schema"]["const"]: schema.names[name]
        for name, one in schema.definitions.items()
        if re.fullmatch(r"Document\d*", name)
    }
    table = "\n".join(f'    "{kind}": {name},' for kind, name in kinds.items())
    any_of = " | ".join(kinds.values())
    tail = f"\nAnyDocument = {any_of}\nKINDS: dict[str, type[AnyDocument]] = {{\n{table}\n}}\n"
    # Aliases may name classes, so they come last; annotations are not evaluated.
    early = [one for one in aliases if "Literal[" in one or is_plain(one)]
    late = [one for one in aliases if one not in early]
    return HEAD + "\n" + "".join(early) + "\n\n" + "\n\n".join(classes) + "\n\n" + "".join(late) + tail


def is_plain(line: str) -> bool:
    words = re.findall(r"\w+", line.split(" = ", 1)[1])
    return all(word in {"str", "int", "float", "bool", "list", "dict", "object"} for word in words)


def main() -> int:
    made = text()
    if "--check" in sys.argv:
        if TARGET.read_text() != made:
            print(f"{TARGET.name} is not what the schema says: run {Path(__file__).name}")
            return 1
        return 0
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
