"""Sphinx's configuration of the documentation site: `.ci/run docs` builds it (CONTRIBUTING.md)."""

from __future__ import annotations

import sys
from pathlib import Path

import tabletop_envs

sys.path.insert(0, str(Path(__file__).parent))

project = "tabletop_envs"
author = "The tabletop_envs developers"
project_copyright = author
release = version = tabletop_envs.__version__

extensions = [
    "myst_parser",  # pages in Markdown, which read well without the site, too
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    # Extensions of our own, beside this file.
    "game_pages",
    "repository_pages",
    "reading_docstrings",
]
exclude_patterns = ["_build", "data", "static"]
needs_sphinx = "8.2"

# What looks like a name in a docstring becomes a link where there is such a name, and code where
# there is none.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", ".*"),
    # Types of other libraries, whose sites are not asked: the build needs no network.
    (
        "py:.*",
        r"(np|npt|numpy|numba|types|gymnasium|spaces|gym|pettingzoo|abc|argparse|collections|contextlib|pathlib|os)\..*",
    ),
    ("py:.*", r"(stable_baselines3|ray|tianshou|torch|torchrl|pufferlib|pyspiel|open_spiel)\..*"),
    ("py:class", "AECEnv|ParallelEnv|AutoresetMode|VectorEnv"),
    # Aliases of types, classes that only give their methods to public ones, and what public
    # functions return for others to use.
    ("py:class", "Agent|State|Creator|Evaluator|Observation|Info"),
    ("py:class", r"tabletop_envs\.envs\.(drawing\.Drawing|learner\.LearnerView)"),
    ("py:class", r"tabletop_envs\.arena\.match\.Match"),
    ("py:class", r"tabletop_envs\.render\.svg\.themes\.Theme"),
    ("py:class", r"tabletop_envs\.adapters\.open_spiel\.Position"),
    ("py:class", r"tabletop_envs\.play\.background\.Compiling"),
]

# Markdown
myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3

# The reference, from docstrings.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
# Stacks and servers that the build does not install.
autodoc_mock_imports = (
    "gym jax mctx open_spiel openskill pufferlib pyspiel ray resvg sb3_contrib stable_baselines3"
    " starlette svg tensordict tianshou torch torchrl uvicorn"
).split()
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_custom_sections = [("Keys", "params_style")]
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# Addresses out there are checked by `sphinx-build -b linkcheck`, where there is a network.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False

html_theme = "furo"
html_title = f"tabletop_envs {release}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#8a5a16",
        "color-brand-content": "#8a5a16",
        "color-brand-visited": "#6f4a1b",
    },
    "dark_css_variables": {
        "color-brand-primary": "#e0b26a",
        "color-brand-content": "#e0b26a",
        "color-brand-visited": "#c9a06a",
    },
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
