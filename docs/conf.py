"""How the pages of this folder become a site: `make docs`.

Sphinx reads them as Markdown (MyST), so that every page is as readable in the repository as on the site. The theme
brings its own files: the site loads nothing from elsewhere, and opens from disk.
"""

import re
from typing import Any

from pygments.lexers.special import TextLexer

import unmask

project = "Unmask"
author = project_copyright = "The Unmask developers"
version = release = unmask.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4  # so that a link to page.md#heading is checked, and works

default_role = "code"  # docstrings write `names` between single backticks
autodoc_member_order = "groupwise"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
add_module_names = False

html_theme = "furo"
html_title = "Unmask"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which a site on disk cannot


def setup(app: Any) -> None:
    """Let tables of data be plain text, and indented lines of a docstring be code."""
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", _mark_code)


def _mark_code(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = re.sub(r"(?m)^(\S.*)\n\n(?= {4})", r"\1\n\n::\n\n", "\n".join(lines)).splitlines()
