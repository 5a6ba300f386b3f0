"""Settings of Sphinx: `make python-docs` builds the pages into target/python-docs."""

import re

project = "trunkline"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
nitpicky = False
html_theme = "alabaster"
html_show_copyright = False
suppress_warnings = ["myst.xref_missing", "myst.header"]
exclude_patterns = ["_build"]


def literal(_app, _what, _name, _object, _options, lines):
    """Docstrings are Markdown: code between backticks, and blocks between fences."""
    text, inside, made = "\n".join(lines), False, []
    for line in text.split("\n"):
        if line.strip().startswith("```"):
            indent = line[: len(line) - len(line.lstrip())]
            inside = not inside
            made += [f"{indent}.. code-block:: python", ""] if inside else [""]
        elif inside:
            made.append("    " + line)
        else:
            made.append(re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line))
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", literal, priority=400)
