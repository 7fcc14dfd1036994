"""The list of the public interface follows the sources, and a change of them is seen."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="tool")
def _tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("public_api")


SOURCES = {
    "lib.rs": """
//! A crate.
mod inner;
pub mod open;

pub use inner::{Kept, Renamed as Shown};
""",
    "inner.rs": """
/// Shown.
#[derive(Debug)]
pub struct Kept {
    /// A field.
    pub field: u64,
    private: u64,
}

/// In a private module, and not shown.
pub struct Left;

/// Under another name.
pub enum Renamed {
    /// A variant.
    One { of: u64 },
    Two(u64),
}

impl Kept {
    /// A method.
    pub fn method<T>(
        &self,
        observe: impl FnMut(usize) -> Flow<()>,
        value: T,
    ) -> u64
    where
        T: Copy,
    {
        0
    }

    #[doc(hidden)]
    pub fn hidden(&self) {}

    fn private(&self) {}
}

impl<const N: usize> fmt::Display for Kept {
    fn fmt(&self) {}
}
""",
    "open.rs": """
pub trait Law {
    type Of;
    fn holds(&self) -> bool;
}

macro!(Law, {
    pub fn nothing() {}
});

pub const MOST: usize = 3;

/// Not the one that is shown.
pub(crate) struct Kept;

impl Kept {
    pub fn nothing(&self) {}
}
""",
}


def test_what_users_can_name_is_listed(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "crates" / "windlass" / "src"
    source.mkdir(parents=True)
    for name, text in SOURCES.items():
        (source / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert sorted(set(tool.interface("windlass", ""))) == [
        "Kept: impl fmt::Display",
        "Kept: pub field: u64",
        "Kept: pub fn method<T>(&self, observe: impl FnMut(usize) -> Flow<()>, value: T) -> u64"
        " where T: Copy",
        "Kept: pub struct Kept",
        "Law: fn holds(&self) -> bool",
        "Law: pub trait Law",
        "Law: type Of",
        "MOST: pub const MOST: usize = 3",
        "Renamed: One { of: u64 }",
        "Renamed: Two(u64)",
        "Renamed: pub enum Renamed",
        "windlass::Kept",
        "windlass::Shown",
        "windlass::open",
        "windlass::open::Law",
        "windlass::open::MOST",
    ]


def test_a_change_is_refused_with_what_to_do(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = tmp_path / "public-api.txt"
    text = tool.LIST.read_text(encoding="utf-8")
    own.write_text(text.replace("BatchPlan: pub struct BatchPlan\n", ""), encoding="utf-8")
    monkeypatch.setattr(tool, "LIST", own)
    monkeypatch.setattr(tool.sys, "argv", ["public_api.py"])
    assert tool.main() == 1
    found = capsys.readouterr()
    assert "+BatchPlan: pub struct BatchPlan" in found.out
    assert "python3 tools/public_api.py --write" in found.err
    assert own.read_text(encoding="utf-8") != text


def test_the_committed_list_is_that_of_the_sources(tool: ModuleType) -> None:
    assert tool.LIST.read_text(encoding="utf-8") == tool.listing()
