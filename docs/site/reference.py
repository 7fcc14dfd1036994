"""The reference: signatures from the stubs, words from the docstrings.

Classes of the extension have their types in `python/windlass/_windlass.pyi` and their docstrings in
the extension, where `__doc__` finds them. Modules in Python hold both, and are read, not imported:
some need optional packages.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pages import ROOT, outside_of_code

PACKAGE = ROOT / "python" / "windlass"
STUBS = PACKAGE / "_windlass.pyi"
Function = ast.FunctionDef | ast.AsyncFunctionDef

OPERATORS = {
    "__add__": "x + y",
    "__sub__": "x - y",
    "__mul__": "x * y",
    "__truediv__": "x / number",
    "__neg__": "-x",
    "__pow__": "x ** exponent",
    "__matmul__": "x @ y",
    "__getitem__": "x[rows]",
    "__len__": "len(x)",
    "__call__": "f(x)",
    "__enter__": "with x:",
    "__eq__": "x == y",
}
"""Special methods that are worth a line."""

ALIAS = r"\b_(Path|Scheme|Progress|Circuits?|Stage)\b"
"""Names of the stubs for types that are shown without the underscore."""

CALLED = {"LinearPlan": "layer", "Circuit": "circuit"}
"""What is called, as examples name it."""

NAMES: dict[str, str] = {}
"""Public names and the pages that they are on."""


def _decorators(node: Function | ast.ClassDef) -> set[str]:
    return {ast.unparse(one).rsplit(".", 1)[-1] for one in node.decorator_list}


def _signature(node: Function, name: str, *, method: bool) -> str:
    """A call as one would write it, with types; one argument a line where it is long."""
    parts = _arguments(node.args)
    if method and "staticmethod" not in _decorators(node):
        parts = parts[1:]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    short = f"{name}({', '.join(parts)}){returns}"
    if len(short) > 88:
        short = f"{name}(\n{''.join(f'    {one},{chr(10)}' for one in parts)}){returns}"
    short = re.sub(r"-> _Own\w*", "-> Self", short)
    return re.sub(ALIAS, r"\1", short).replace("'", '"')


def _arguments(own: ast.arguments) -> list[str]:
    """Each argument with its type and default."""

    def one(argument: ast.arg, default: ast.expr | None) -> str:
        text = ast.unparse(argument)
        return text if default is None else f"{text} = {ast.unparse(default)}"

    plain = [*own.posonlyargs, *own.args]
    defaults = [None] * (len(plain) - len(own.defaults)) + list(own.defaults)
    parts = [one(argument, value) for argument, value in zip(plain, defaults, strict=True)]
    if own.vararg:
        parts.append("*" + ast.unparse(own.vararg))
    elif own.kwonlyargs:
        parts.append("*")
    parts += [one(a, value) for a, value in zip(own.kwonlyargs, own.kw_defaults, strict=True)]
    if own.kwarg:
        parts.append("**" + ast.unparse(own.kwarg))
    return parts


def prose(text: str, page: str) -> str:
    """Words of a docstring in Markdown."""

    def role(match: re.Match[str]) -> str:
        label = match[1].lstrip("~.").removeprefix("windlass.")
        return f"``{label}``"

    text = re.sub(r":\w+:`([^`]*)`", role, text)

    def code(match: re.Match[str]) -> str:
        label = match[1]
        name = label.split("(")[0]
        target = NAMES.get(name) or NAMES.get(name.split(".")[0])
        if target and target.split("#")[0] != page:
            return f"[`{label}`]({target})"
        return f"`{label}`"

    text = re.sub(r"``([^`]+)``", code, text)
    return outside_of_code(text, lambda part: re.sub(r"(?<!\\)([*_<])", r"\\\1", part))


def _sections(doc: str) -> Iterator[tuple[str, str]]:
    """The parts of a docstring in NumPy style; the first has no name."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", doc, flags=re.M)
    yield "", parts[0].strip("\n")
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        yield name, text.strip("\n")


def _items(text: str, page: str) -> list[str]:
    """Entries of a list of parameters, results or errors."""
    lines: list[str] = []
    for block in re.split(r"\n(?=\S)", text):
        head, *rest = block.split("\n")
        name, _, kind = head.partition(" : ")
        body = prose(textwrap.dedent("\n".join(rest)).strip().replace("\n", " "), page)
        what = f"`{name}`" + (f" : {prose(kind, page)}" if kind else "")
        lines.append(f"- {what}" + (f"  \n  {body}" if body else ""))
    return [*lines, ""]


def markdown(doc: str | None, page: str) -> list[str]:
    """A docstring as lines of Markdown."""
    lines: list[str] = []
    for name, text in _sections(inspect.cleandoc(doc or "")):
        if name in {"Parameters", "Returns", "Raises", "Yields", "Attributes"}:
            lines += [f"**{name}**", "", *_items(text, page)]
            continue
        if name:
            lines += [f"**{name}**", ""]
        for paragraph in re.split(r"\n\s*\n", text):
            if paragraph.lstrip().startswith(">>>"):
                lines += ["```pycon", textwrap.dedent(paragraph), "```", ""]
            elif paragraph.strip():
                lines += [prose(paragraph, page), ""]
    return lines


def _summary(doc: str | None) -> str:
    """The first paragraph, in one line."""
    return " ".join((doc or "").strip().split("\n\n")[0].split())


def _class(node: ast.ClassDef, doc: dict[str, str | None], page: str) -> list[str]:
    """The page of a class; `doc` holds its docstring as "" and those of its members."""
    lines = [f"# {node.name}", "", *markdown(doc.get(""), page)]
    functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    shown = [one for one in functions if not one.name.startswith("_") or one.name in OPERATORS]
    properties = [one for one in shown if _decorators(one) & {"property", "cached_property"}]
    if properties:
        lines += ["## Properties", "", "| | Type | |", "|---|---|---|"]
        for one in properties:
            kind = ast.unparse(one.returns) if one.returns else ""
            summary = prose(_summary(doc.get(one.name)), page)
            # No escape of MkDocs works for a bar in the code of a table.
            row = [f"`{one.name}`", f"<code>{kind}</code>", summary]
            lines.append(f"| {' | '.join(part.replace('|', '&#124;') for part in row)} |")
        lines.append("")
    called = [one for one in shown if one.name == "__call__" and node.name in CALLED]
    operators = [one for one in shown if one.name in OPERATORS and one not in called]
    if operators:
        lines += ["## Operators", "", ", ".join(f"`{OPERATORS[one.name]}`" for one in operators)]
        lines.append("")
    for one in called:
        name = CALLED[node.name]
        lines += [f"## {name}(x)", "", "```python", _signature(one, name, method=True), "```", ""]
        lines += markdown(doc.get("__call__"), page)
        shown.remove(one)
    for one in shown:
        if one in properties or one in operators or "overload" in _decorators(one):
            continue
        prefix = f"{node.name}." if _decorators(one) & {"staticmethod", "classmethod"} else ""
        lines += [f"## {one.name}", "", "```python"]
        lines += [_signature(one, prefix + one.name, method=True), "```", ""]
        lines += markdown(doc.get(one.name), page)
    return lines


def _extension() -> tuple[dict[str, ast.ClassDef], dict[str, Function]]:
    """Public classes and functions of the stubs."""
    tree = ast.parse(STUBS.read_text(encoding="utf-8"))
    classes = {
        one.name: one
        for one in tree.body
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_")
    }
    functions: dict[str, Function] = {
        one.name: one
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and not one.name.startswith(("_", "restore_"))
    }
    return classes, functions


def _aliases() -> list[str]:
    """What the short names of the stubs stand for."""
    lines = []
    for one in ast.parse(STUBS.read_text(encoding="utf-8")).body:
        if not isinstance(one, ast.AnnAssign) or not one.value:
            continue
        if match := re.fullmatch(ALIAS, ast.unparse(one.target)):
            kind = re.sub(ALIAS, r"\1", ast.unparse(one.value)).replace("'", '"')
            lines.append(f"- `{match[1]}`: `{kind}`")
    return [*lines, ""]


def _modules() -> dict[str, ast.Module]:
    """The modules in Python that have something public."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if name == "__init__" or any(part.startswith("_") for part in name.split(".")):
            continue
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def _public(tree: ast.Module) -> list[ast.ClassDef | Function]:
    return [
        one
        for one in tree.body
        if isinstance(one, ast.ClassDef | ast.FunctionDef) and not one.name.startswith("_")
    ]


def _attributes(node: ast.ClassDef, page: str) -> list[str]:
    """The annotated attributes of a class with the strings behind them."""
    lines = []
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(one, ast.AnnAssign) or ast.unparse(one.target).startswith("_"):
            continue
        words = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            words = ": " + prose(" ".join(str(after.value.value).split()), page)
        kind = ast.unparse(one.annotation)
        lines.append(f"- `{ast.unparse(one.target)}` : `{kind}`{words}")
    return [*lines, ""] if lines else []


def _module(name: str, tree: ast.Module, page: str) -> list[str]:
    """The page of a module in Python."""
    lines = [f"# windlass.{name}", "", *markdown(ast.get_docstring(tree), page)]
    for one in _public(tree):
        if isinstance(one, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in one.bases)
            lines += [f"## {one.name}", ""]
            lines += [f"Bases: `{bases}`.", ""] if bases else []
            doc: dict[str, str | None] = {"": ast.get_docstring(one)}
            for part in one.body:
                if isinstance(part, ast.FunctionDef):
                    doc[part.name] = ast.get_docstring(part)
            for part in one.body:
                if (
                    isinstance(part, ast.FunctionDef)
                    and part.name == "__init__"
                    and name != "errors"
                ):
                    lines += ["```python", _signature(part, one.name, method=True), "```", ""]
            lines += markdown(doc.pop(""), page) + _attributes(one, page)
            own = _class(one, doc, page)[2:]
            lines += [re.sub(r"^## ", "### ", line) for line in own]
        else:
            lines += [f"## {one.name}", "", "```python"]
            lines += [_signature(one, one.name, method=False), "```", ""]
            lines += markdown(ast.get_docstring(one), page)
    return lines


def _module_page(name: str) -> str:
    """The page of a module. Its name differs from that of a class: `Server` has server.md."""
    return f"windlass.{name}.md"


def _learn_names(
    classes: dict[str, ast.ClassDef], functions: dict[str, Function], modules: dict[str, ast.Module]
) -> None:
    """Finds out which page every public name is on."""
    NAMES.clear()
    NAMES.update({name: f"{name.lower()}.md" for name in classes})
    NAMES.update({name: f"functions.md#{name}" for name in functions})
    for name, node in classes.items():
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                is_property = "property" in _decorators(part)
                anchor = "properties" if is_property else part.name.lower()
                NAMES[f"{name}.{part.name}"] = f"{name.lower()}.md#{anchor}"
    for name, tree in modules.items():
        for one in _public(tree):
            # Functions have names that are words as well: those are links with their module alone.
            label = one.name if isinstance(one, ast.ClassDef) else f"{name}.{one.name}"
            NAMES.setdefault(label, f"{_module_page(name)}#{one.name.lower()}")


def build() -> dict[str, str]:
    """All pages of the reference.

    Returns
    -------
    dict of str
        Markdown by path.

    Raises
    ------
    ValueError
        If something public is on no page, or has no docstring.
    """
    extension = importlib.import_module("windlass._windlass")
    package = importlib.import_module("windlass")
    classes, functions = _extension()
    modules = _modules()

    _learn_names(classes, functions, modules)
    pages: dict[str, str] = {}
    for name, node in classes.items():
        thing = getattr(extension, name)
        doc: dict[str, str | None] = {"": thing.__doc__}
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                doc[part.name] = getattr(getattr(thing, part.name, None), "__doc__", None)
        page = f"{name.lower()}.md"
        pages[page] = "\n".join(_class(node, doc, page))
    lines = ["# Functions", ""]
    for name, function in functions.items():
        lines += [f"## {name}", "", "```python"]
        lines += [_signature(function, f"wl.{name}", method=False), "```", ""]
        lines += markdown(getattr(extension, name).__doc__, "functions.md")
    pages["functions.md"] = "\n".join(lines)
    for name, tree in modules.items():
        page = _module_page(name)
        pages[page] = "\n".join(_module(name, tree, page))

    public = [name for name in package.__all__ if not name.startswith("_")]
    known = {label.rsplit(".", 1)[-1] for label in NAMES} | set(modules)
    lost = [name for name in public if name not in known]
    silent = [name for name in public if not (getattr(package, name).__doc__ or "").strip()]
    if lost or silent:
        raise ValueError(f"on no page of the reference: {lost}; without a docstring: {silent}")

    def row(name: str, doc: str | None) -> str:
        return f"| [`{name}`]({NAMES[name]}) | {prose(_summary(doc), 'index.md')} |"

    lines = ["# Reference", "", "Signatures are those of the typed stubs. Short names in them:", ""]
    lines += _aliases()
    for title, names in [("Classes", list(classes)), ("Functions", list(functions))]:
        lines += [f"## {title}", "", "| | |", "|---|---|"]
        lines += [row(name, getattr(extension, name).__doc__) for name in names]
        lines.append("")
    lines += ["## Modules in Python", "", "| | |", "|---|---|"]
    for name, tree in modules.items():
        summary = prose(_summary(ast.get_docstring(tree)), "index.md")
        lines.append(f"| [`windlass.{name}`]({_module_page(name)}) | {summary} |")
    pages["index.md"] = "\n".join([*lines, ""])
    return pages


def folder() -> Path:
    """Where the stubs lie: a change there changes the reference."""
    return PACKAGE
