"""Settings of Sphinx: `make python-docs` builds the pages into target/python-docs."""

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
