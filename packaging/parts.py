#!/usr/bin/env python3
"""What the program is made of, from `cargo metadata`: a bill of materials (CycloneDX 1.5) and the
licences of all libraries.

    parts.py BOM.json THIRD-PARTY.md

Only crates that are linked into the program count: neither tests nor build scripts. A crate without
a licence text of its own gets its licence's name; one without a licence ends the script.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
TARGETS = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"]
TEXTS = ("LICENSE", "LICENCE", "NOTICE", "COPYRIGHT", "UNLICENSE")


def metadata():
    filters = [f"--filter-platform={target}" for target in TARGETS]
    command = ["cargo", "metadata", "--format-version=1", "--locked", *filters]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def linked(graph):
    """All packages that the program links, sorted by name; the program itself first."""
    packages = {package["id"]: package for package in graph["packages"]}
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    program = next(id for id, package in packages.items() if package["name"] == "trunkline-cli")
    seen, waiting = set(), [program]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for dependency in nodes[node]["deps"]:
            kinds = [kind["kind"] for kind in dependency["dep_kinds"]]
            if None in kinds and not is_macro(packages[dependency["pkg"]]):
                waiting.append(dependency["pkg"])
    others = [packages[id] for id in seen - {program}]
    return packages[program], sorted(others, key=lambda one: (one["name"], one["version"]))


def is_macro(package):
    """Procedural macros run in the compiler."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def licence(package):
    if not package["license"]:
        sys.exit(f"{package['name']} {package['version']} names no licence; add its text by hand")
    return package["license"].replace("/", " OR ")


def component(package, kind):
    name, version = package["name"], package["version"]
    entry = {
        "type": kind,
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [{"expression": licence(package)}],
    }
    if package["source"]:
        entry["purl"] = f"pkg:cargo/{name}@{version}"
    return entry


def bill(program, others):
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(program, "application")},
        "components": [component(package, "library") for package in others],
    }


def texts(package):
    """The licence texts beside a crate's manifest, and of C libraries one folder below."""
    folder = pathlib.Path(package["manifest_path"]).parent
    places = [*folder.iterdir(), *folder.glob("*/*")]
    files = sorted(file for file in places if file.name.upper().startswith(TEXTS))
    return [file.read_text(errors="replace").strip() for file in files if file.is_file()]


def notice(others):
    """One section for each text, with the crates that bring it."""
    users = {}
    for package in others:
        if package["source"]:
            name = f"{package['name']} {package['version']} ({licence(package)})"
            for text in texts(package) or [f"See {licence(package)}."]:
                users.setdefault(text, []).append(name)
    page = ["# Licences of the libraries in trunkline", ""]
    page += ["trunkline itself is under Apache-2.0. The program also contains these libraries."]
    for text, names in sorted(users.items(), key=lambda entry: entry[1]):
        page += ["", "## " + ", ".join(names), "", "```text", text, "```"]
    return "\n".join(page) + "\n"


def main():
    bom, third_party = map(pathlib.Path, sys.argv[1:])
    program, others = linked(metadata())
    bom.write_text(json.dumps(bill(program, others), indent=1) + "\n")
    third_party.write_text(notice(others))


main()
