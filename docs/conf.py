"""Settings of Sphinx for this folder: `make docs` builds it into `docs/_build`."""

project = "Memory server"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True  # a reference that leads nowhere is a warning, and a warning ends the build

# What an address such as configuration.md#secrets may name.
myst_heading_anchors = 3

html_theme = "furo"
html_title = "Memory server"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
