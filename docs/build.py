"""Builds the docs as a small book of HTML pages in target/book; run by `make docs`.

The pages are the Markdown files beside this one, in the order below, the README first; the last page is the Python reference,
from the docstrings of the package. Needs the package `markdown`, and nothing that is built.
"""

import ast
import html
import pathlib
import re
import sys

import markdown

ROOT = pathlib.Path(__file__).parents[1]
PAGES = ["README.md"] + [f"docs/{page}.md" for page in ("tutorial", "own-data", "any-graph", "living", "scale", "cluster", "serve", "gpu")]
REFERENCE = "python-reference"
STYLE = """body{font:16px/1.5 system-ui,sans-serif;margin:0;display:flex;color:#222}nav{padding:2em;min-width:12em}
nav a{display:block;margin:.3em 0}main{max-width:50em;padding:2em;overflow-x:auto}pre{background:#f5f5f2;padding:.8em;overflow-x:auto}
code{font-size:.9em}table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:.3em .6em;text-align:left;vertical-align:top}
a{color:#1a5fb4}.here{font-weight:bold}img{max-width:100%}@media(max-width:50em){body{display:block}}"""


def name(page):
    stem = pathlib.Path(page).stem
    return "index" if stem == "README" else stem


def title(text):
    return re.search(r"^# (.*)$", text, re.M)[1]


def arguments_of(function):
    """What a function takes, as one would write it."""
    return html.escape(ast.unparse(function.args).removeprefix("self, ").removeprefix("self").removeprefix("cls, "))


def documented(heading, item):
    return f"\n{heading}\n\n<pre>{html.escape(ast.get_docstring(item) or '')}</pre>\n"


def methods_of(item, classes):
    """The public methods and properties of a class by name, its own before those that it inherits inside the package."""
    own = {part.name: part for part in item.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")}
    for base in item.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            own = {**own, **{name: part for name, part in methods_of(classes[base.id], classes).items() if name not in own}}
    return own


def reference():
    """The public classes and functions with their signatures and docstrings."""
    package = ROOT / "python/package/gfgcn"
    public = ast.literal_eval(re.search(r"__all__ = (\[.*?\])", (package / "__init__.py").read_text(), re.S)[1])
    files = [*sorted(package.glob("_*.py")), package / "datasets.py", package / "ray/_commands.py"]
    items = [(path.stem, item) for path in files for item in ast.parse(path.read_text()).body if hasattr(item, "name")]
    classes = {item.name: item for _, item in items if isinstance(item, ast.ClassDef)}
    parts = ["# Python reference\n"]
    for module, item in items:
        inside = {"datasets": "datasets.", "_commands": "ray."}.get(module, "")
        in_module = item.name in ("fit", "predict", "evaluate") if inside == "ray." else not item.name.startswith("_")
        if not (in_module if inside else item.name in public):
            continue
        name = inside + item.name
        if isinstance(item, ast.FunctionDef):
            parts.append(documented(f"## {name}({arguments_of(item)})", item))
            continue
        parts.append(documented(f"## {name}", item))
        for method, part in methods_of(item, classes).items():
            is_property = any(getattr(mark, "id", "") == "property" for mark in part.decorator_list)
            called = "" if is_property else f"({arguments_of(part)})"
            parts.append(documented(f"### {item.name}.{method}{called}", part))
    return "".join(parts)


def main(out):
    texts = {name(page): (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    texts[REFERENCE] = reference()
    out.mkdir(parents=True, exist_ok=True)
    for page, text in texts.items():
        # Files that are named in an info string are shown as they are.
        body = markdown.markdown(re.sub(r"^```(\w+) .*$", r"```\1", text, flags=re.M), extensions=["fenced_code", "tables"])
        for other in PAGES:
            target = pathlib.Path(other).name
            body = re.sub(rf'href="(docs/)?{re.escape(target)}"', f'href="{name(other)}.html"', body)
        # What is no page of the book is where it is in the repository.
        base = "../../" if page == "index" else "../../docs/"
        body = re.sub(r'(href|src)="(?!https?:|#|mailto:)([^"]+?)"', lambda m: m[0] if m[2].endswith(".html") and "/" not in m[2] else f'{m[1]}="{base}{m[2]}"', body)
        links = "".join(
            f'<a href="{other}.html"{" class=here" if other == page else ""}>{html.escape(title(content))}</a>'
            for other, content in texts.items()
        )
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title(text))}</title>'
        page_html = f"<!doctype html><html lang=en><head>{head}<style>{STYLE}</style></head><body><nav>{links}</nav><main>{body}</main></body></html>\n"
        (out / f"{page}.html").write_text(page_html, encoding="utf-8")
    print(f"{len(texts)} pages in {out}")


main(pathlib.Path(sys.argv[1]))
