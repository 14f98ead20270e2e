# SPDX-License-Identifier: BSD-3-Clause
"""Of Sphinx: the pages are Markdown as GitHub reads it. tools/site.sh says what is made of what."""
project = "Karst"
copyright = "the Karst developers"  # noqa: A001
extensions = ["myst_parser"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]  # pages of tables begin at the third level
html_theme = "furo"
html_title = "Karst"
html_static_path = ["static"]
html_css_files = ["karst.css"]
html_theme_options = {"top_of_page_buttons": []}
html_show_sourcelink = False
highlight_language = "none"
