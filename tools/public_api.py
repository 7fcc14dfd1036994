"""The public interface of the crate `windlass`, as a list that is committed.

Exit code 1 where the sources have another interface than `crates/windlass/public-api.txt`. With
`--write` the list is written. It has one line for every item, method, field and variant that a
user of `windlass` may name, and for every trait that a listed type implements by hand. Items that
the documentation hides are left out. Of what macros write, it has the constants of a table
(`NAME = value;` in a call with braces).

The sources are read as rustfmt leaves them: items begin in the first column, what belongs to an
item is indented by four spaces.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = ROOT / "crates/windlass/public-api.txt"

# The facade, and the crates that it shows as its modules.
CRATES = {
    "windlass": "",
    "windlass-bootstrap": "bootstrap",
    "windlass-circuits": "circuits",
    "windlass-schemes": "",
    "windlass-wire": "wire",
}

# From windlass-schemes the facade shows these modules.
MODULES_OF_SCHEMES = {"error", "evaluator", "params", "plaintext", "schemes", "switching"}

ITEM = re.compile(
    r"(?:pub(?:\(\w+\))? )?(?:unsafe |async |const )*"
    r"(?P<kind>fn|struct|enum|trait|type|const|static|mod|use) (?P<name>\w+)?"
)
IMPL = re.compile(r"impl\b(?P<rest>.*)")

# A call of a macro that writes items, and a constant in its table.
MACRO_CALL = re.compile(r"(?P<name>\w+)! \{")
MACRO_CONSTANT = re.compile(r"(?P<name>[A-Z][A-Z0-9_]*) =")


@dataclass
class Block:
    """An item with its signature and the lines inside it."""

    text: str
    hidden: bool
    inside: list[str]


@dataclass
class Module:
    """A module of a crate."""

    path: tuple[str, ...]
    public: bool
    blocks: list[Block] = field(default_factory=list)


def is_open(text: str) -> bool:
    """Whether a signature continues on the next line."""
    bare = text.replace("->", "").replace("=>", "")
    inner = bare.count("(") + bare.count("<") > bare.count(")") + bare.count(">")
    return not text.endswith((";", "{", "}", ",")) or (
        text.endswith(",") and (inner or " where " in text)
    )


def blocks(lines: list[str], indent: int) -> Iterator[Block]:
    """Items that begin at this indentation, each with its signature on one line."""
    hidden = False
    at = 0
    margin = " " * indent
    while at < len(lines):
        line = lines[at]
        at += 1
        starts_here = line.startswith(margin) and line[indent : indent + 1] not in (
            " ",
            "",
            "}",
            ")",
        )
        if not starts_here:
            continue
        text = line.strip()
        if text.startswith("#"):
            while text.count("[") > text.count("]"):
                text += " " + lines[at].strip()
                at += 1
            hidden |= any(word in text for word in ("doc(hidden)", "cfg(test)", "cfg(doctest)"))
            continue
        if text.startswith("//"):
            continue
        # The signature ends with the line that opens a body or ends the item.
        while at < len(lines) and is_open(text):
            text += " " + lines[at].strip()
            at += 1
        inside: list[str] = []
        if text.endswith("{"):
            while at < len(lines) and not lines[at].startswith(margin + "}"):
                inside.append(lines[at])
                at += 1
            at += 1
        yield Block(text, hidden, inside)
        hidden = False


def modules(crate: str) -> list[Module]:
    """All modules of a crate."""
    found: list[Module] = []

    def read(file: Path, path: tuple[str, ...], public: bool) -> None:
        module = Module(path, public, list(blocks(file.read_text().splitlines(), 0)))
        found.append(module)
        here = file.parent if file.name in ("lib.rs", "mod.rs") else file.with_suffix("")
        for block in module.blocks:
            child = re.fullmatch(r"(pub(?:\(\w+\))? )?mod (\w+);", block.text)
            if child:
                name = child[2]
                files = [here / f"{name}.rs", here / name / "mod.rs"]
                own = next((one for one in files if one.exists()), None)
                if own is not None:
                    read(own, (*path, name), public and child[1] == "pub " and not block.hidden)

    read(ROOT / "crates" / crate / "src/lib.rs", (), True)
    return found


def leaves(use: str) -> Iterator[tuple[str, str]]:
    """The paths of a `use`, each with the name that it gets."""
    use = use.strip().rstrip(";").strip()
    if use.endswith("}"):
        prefix, _, group = use.partition("{")
        depth, part = 0, ""
        for letter in group[:-1] + ",":
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                if part.strip():
                    yield from leaves(prefix + part.strip())
                part = ""
            else:
                part += letter
        return
    path, _, name = use.partition(" as ")
    yield path, name or path.rsplit("::", 1)[-1]


def signature(text: str) -> str:
    """A signature without its body."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" ?\{.*$", "", text).rstrip(";, ")
    text = re.sub(r"\( ", "(", text)
    text = re.sub(r",? \)", ")", text)
    return re.sub(r"( where .*?),$", r"\1", text)


def members(kind: str, block: Block) -> Iterator[str]:
    """What a listed item shows of its inside."""
    if kind == "struct":
        line = re.search(r"\{ (.*) \}", block.text)
        parts = line[1].split(",") if line else []
        yield from (part.strip() for part in parts if part.strip().startswith("pub "))
    for own in blocks(block.inside, 4):
        shown = {
            "struct": own.text.startswith("pub "),
            "enum": own.text[:1].isupper(),
            "trait": re.match(r"(?:unsafe |const )*(fn|type|const) ", own.text) is not None,
            "impl": own.text.startswith("pub "),
        }.get(kind, False)
        if shown and not own.hidden:
            text = own.text
            if kind == "enum" and own.inside:
                fields = [re.sub(r"\s+", " ", one.strip()) for one in own.inside]
                text += (
                    " " + " ".join(one for one in fields if not one.startswith(("//", "#"))) + " }"
                )
                yield re.sub(r",? \}", " }", text)
            elif kind == "enum":
                yield text.rstrip(",")
            else:
                yield signature(text)


def implemented(rest: str) -> tuple[str, str]:
    """The trait of an `impl`, or nothing, and its type."""
    depth, end = 0, 0
    if rest.startswith("<"):
        for end, letter in enumerate(rest):
            depth += {"<": 1, ">": -1 if rest[end - 1] not in "-=" else 0}.get(letter, 0)
            if depth == 0:
                break
        rest = rest[end + 1 :]
    head = re.sub(r"\s+", " ", rest).split(" where ")[0].rstrip("{} ")
    trait, _, type_ = head.rpartition(" for ")
    return trait.strip(), type_.strip()


def bare(type_: str) -> str:
    """The name of a type, without its path and parameters."""
    match = re.match(r"&?(?:'\w+ )?(?:\w+::)*(\w+)", type_)
    return match[1] if match else ""


ModulePath = tuple[str, ...]


def source(module: ModulePath, path: str) -> ModulePath:
    """The module of this crate below which a path leads to an item."""
    parts = path.split("::")[:-1]
    base = module
    while parts[:1] in (["crate"], ["self"], ["super"]):
        first = parts.pop(0)
        base = () if first == "crate" else base[:-1] if first == "super" else base
    return (*base, *parts)


def exported(module: Module, where: str) -> Iterator[tuple[str, ModulePath, str]]:
    """The names of a public module: of the item, below which module it stands, and its line."""
    for block in module.blocks:
        match = ITEM.match(block.text)
        if block.hidden or not block.text.startswith("pub ") or match is None:
            continue
        if match["kind"] == "use":
            for path, name in leaves(block.text.removeprefix("pub use ")):
                outside = f" = {path}" if path.startswith("windlass_") else ""
                item = path.rsplit("::", 1)[-1]
                yield item, source(module.path, path), f"{where}::{name}{outside}"
        elif match["name"]:
            yield match["name"], module.path, f"{where}::{match['name']}"


def described(module: Module, names: dict[str, set[ModulePath]]) -> Iterator[str]:
    """The lines of the items and implementations of a module that belong to these names."""

    def is_shown(name: str) -> bool:
        return any(module.path[: len(path)] == path for path in names.get(name, ()))

    items = [(block, ITEM.match(block.text)) for block in module.blocks]
    # Types that stand here and are not shown, whatever others have the same name.
    own = {found["name"] for _, found in items if found is not None and found["kind"] != "use"}
    hidden = {name for name in own if not is_shown(name)}
    for block, match in items:
        implementation = IMPL.match(block.text)
        if macro := MACRO_CALL.fullmatch(block.text):
            constants = (MACRO_CONSTANT.match(one.text) for one in blocks(block.inside, 4))
            yield from (f"{macro['name']}!: const {one['name']}" for one in constants if one)
            continue
        if block.hidden or (match is not None and match["kind"] in ("use", "mod")):
            continue
        if implementation is not None:
            trait, type_ = implemented(implementation["rest"])
            if bare(type_) not in names or bare(type_) in hidden:
                continue
            if trait and not trait.startswith("sealed::"):
                yield f"{type_}: impl {trait}"
            elif not trait:
                yield from (f"{type_}: {one}" for one in members("impl", block))
        elif match is not None and block.text.startswith("pub ") and is_shown(match["name"]):
            yield f"{match['name']}: {signature(block.text)}"
            yield from (f"{match['name']}: {one}" for one in members(match["kind"], block))


def interface(crate: str, shown_as: str) -> Iterator[str]:
    """The lines of one crate."""
    all_modules = modules(crate)
    prefix = "::".join(part for part in ("windlass", shown_as) if part)
    names: dict[str, set[ModulePath]] = {}
    for module in all_modules:
        is_shown = crate != "windlass-schemes" or (module.path or ("",))[0] in MODULES_OF_SCHEMES
        if module.public and is_shown:
            for name, path, line in exported(module, "::".join((prefix, *module.path))):
                names.setdefault(name, set()).add(path)
                yield line
    if crate == "windlass-schemes":
        text = (ROOT / "crates/windlass/src/lib.rs").read_text()
        for use in re.findall(r"pub use (windlass_schemes::[^;]*);", text):
            for _, name in leaves(re.sub(r"\s+", " ", use)):
                names.setdefault(name, set()).add(())
    for module in all_modules:
        yield from described(module, names)


def listing() -> str:
    """The whole list."""
    lines: list[str] = []
    for crate, shown_as in CRATES.items():
        lines.append(f"# {crate}")
        lines.extend(sorted(set(interface(crate, shown_as))))
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Compare the list with the sources, or write it."""
    text = listing()
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(text)
        return 0
    old = LIST.read_text() if LIST.exists() else ""
    if old == text:
        return 0
    names = ("public-api.txt", "the sources")
    print(
        "\n".join(
            difflib.unified_diff(old.splitlines(), text.splitlines(), *names, n=0, lineterm="")
        )
    )
    print(
        "The public interface of windlass differs from crates/windlass/public-api.txt.\n"
        "If that is meant: python3 tools/public_api.py --write, and say it in CHANGELOG.md.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
