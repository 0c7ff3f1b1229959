"""The site, `make docs`: pages in Markdown (MyST), the reference from docstrings, the gallery from examples."""

from __future__ import annotations

import sys
from pathlib import Path

import oneclass

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

project = "oneclass"
author = "The oneclass developers"
copyright = f"2020-2026, {author}"
version = release = oneclass.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["build"]
templates_path = ["_templates"]

# Every reference in a page must lead somewhere; types in docstrings are prose.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

autodoc_typehints = "none"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"  # predict() instead of VAAKELM.predict(): names fit the contents of the page

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "oneclass"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {"text": "oneclass", "alt_text": "oneclass"},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "start", "choose", "faq", "search")}
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]  # the overview for language models (llmstxt.org)
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False

# The button copies the code without prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

linkcheck_timeout = 20
