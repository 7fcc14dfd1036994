//! Which file of a crate imports from which other, read from the sources.
//!
//! What is resolved: every `use`, and every path of two segments or more in code, from the module
//! where it stands (`crate::`, `self::`, `super::`, a child module, a name that a `use` has brought
//! in, names through a glob), through re-exports, to the file that defines the item. A module that
//! is named only to look into it is not an import. A name that a module does not spell out (a macro
//! makes the item) counts as an item of that module's file. What is not seen: methods and fields
//! (an `impl` in another file leaves no path), and paths that macros make up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::lexer::{Token, tokens};

/// The files of one crate by their paths below `src/`, and the arrows between them.
pub struct Imports {
    pub files: Vec<String>,
    /// (importing file, file that defines what it imports), by index into `files`.
    pub arrows: BTreeSet<(usize, usize)>,
}

/// What a name may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Module(usize),
    /// An item that this file defines.
    Item(usize),
    /// Something of another crate.
    Outside,
}

/// A name and the path that it abbreviates; the name of a glob is `*`.
struct Use {
    name: String,
    path: Vec<String>,
}

/// A module: a file, or a block inside one.
struct Module {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths of two segments or more in code, and single identifiers that are not fields or
    /// methods.
    paths: Vec<Vec<String>>,
}

/// The modules of a crate.
struct Modules {
    files: Vec<String>,
    modules: Vec<Module>,
}

/// Reads the crate whose sources lie in `src`.
pub fn read(src: &Path) -> Imports {
    let root = ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().find(|path| path.exists());
    let mut all = Modules { files: Vec::new(), modules: Vec::new() };
    all.read_file(src, &root.expect("a root of the crate"), None);
    all.resolve_all()
}

impl Modules {
    fn read_file(&mut self, src: &Path, path: &Path, parent: Option<usize>) -> usize {
        let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(path.strip_prefix(src).expect("below src/").to_string_lossy().replace('\\', "/"));
        let module = self.add_module(self.files.len() - 1, parent);
        self.read_block(&tokens(&source), module, &mut |all, name| {
            let file = child_file(path, name);
            all.read_file(src, &file, Some(module))
        });
        module
    }

    fn add_module(&mut self, file: usize, parent: Option<usize>) -> usize {
        let (children, items) = (BTreeMap::new(), BTreeSet::new());
        self.modules.push(Module { file, parent, children, items, uses: Vec::new(), paths: Vec::new() });
        self.modules.len() - 1
    }

    /// Items, imports and paths of a module's tokens; `open` reads the file of a child.
    fn read_block(&mut self, tokens: &[Token], module: usize, open: &mut dyn FnMut(&mut Self, &str) -> usize) {
        let (mut at, mut depth) = (0, 0usize);
        while at < tokens.len() {
            let next = tokens.get(at + 1).and_then(Token::word);
            match &tokens[at] {
                Token::Mark(mark) => {
                    depth = depth + usize::from(*mark == '{') - usize::from(*mark == '}');
                    at += 1;
                }
                Token::Word(word) if word == "use" && tokens.get(at + 1).is_some_and(|t| !t.is('<')) => {
                    let len = tokens[at..].iter().position(|t| t.is(';')).expect("an import ends");
                    read_use(&tokens[at + 1..at + len], &[], &mut self.modules[module].uses);
                    at += len;
                }
                Token::Word(word) if word == "mod" && next.is_some() => {
                    let name = next.expect("just seen").to_owned();
                    let (child, len) = if tokens[at + 2].is('{') {
                        let len = block_len(&tokens[at + 2..]);
                        let child = self.add_module(self.modules[module].file, Some(module));
                        let mut nested = |_: &mut Self, name: &str| panic!("mod {name}; inside a block");
                        self.read_block(&tokens[at + 3..at + 1 + len], child, &mut nested);
                        (child, 2 + len)
                    } else {
                        (open(self, &name), 3)
                    };
                    self.modules[module].children.insert(name, child);
                    at += len;
                }
                Token::Word(word) => {
                    if depth == 0
                        && let Some(item) = item_name(word, &tokens[at + 1..])
                    {
                        self.modules[module].items.insert(item);
                    }
                    let (path, len) = read_path(&tokens[at..]);
                    if !is_member(tokens, at) {
                        self.modules[module].paths.push(path);
                    }
                    at += len;
                }
            }
        }
    }

    fn resolve_all(self) -> Imports {
        let mut arrows = BTreeSet::new();
        for (id, module) in self.modules.iter().enumerate() {
            let imports = module.uses.iter().filter(|import| import.name != "*").map(|import| &import.path);
            let in_code = module.paths.iter().filter(|path| path.len() > 1 || self.comes_from_a_glob(id, &path[0]));
            for path in imports.chain(in_code) {
                let found = self.resolve(id, path, &mut Vec::new());
                for target in found {
                    match target {
                        Found::Item(file) if file != module.file => arrows.insert((module.file, file)),
                        _ => false,
                    };
                }
            }
        }
        Imports { files: self.files, arrows }
    }

    fn comes_from_a_glob(&self, id: usize, name: &str) -> bool {
        let module = &self.modules[id];
        let known = module.items.contains(name) || module.uses.iter().any(|import| import.name == name);
        !known && module.uses.iter().any(|import| import.name == "*")
    }

    /// All that a path may mean where it stands in module `at`.
    fn resolve(&self, at: usize, path: &[String], seen: &mut Vec<(usize, String)>) -> Vec<Found> {
        let mut found = match path[0].as_str() {
            "crate" => vec![Found::Module(0)],
            "self" => vec![Found::Module(at)],
            "super" => self.modules[at].parent.map(Found::Module).into_iter().collect(),
            name => match self.names(at, name, seen) {
                found if found.is_empty() => vec![Found::Outside],
                found => found,
            },
        };
        for name in &path[1..] {
            let inside = |id: usize, seen: &mut Vec<_>| match name.as_str() {
                "super" => self.modules[id].parent.map(Found::Module).into_iter().collect(),
                name => match self.names(id, name, seen) {
                    found if found.is_empty() => vec![Found::Item(self.modules[id].file)],
                    found => found,
                },
            };
            // A function may have a module's name: a path goes on into the module.
            if found.iter().any(|target| matches!(target, Found::Module(_))) {
                found.retain(|target| matches!(target, Found::Module(_)));
            }
            // A path that goes on behind an item names something of it: a variant, a constant, a
            // function.
            found = found
                .iter()
                .flat_map(|&target| match target {
                    Found::Module(id) => inside(id, seen),
                    Found::Item(_) | Found::Outside => vec![target],
                })
                .collect();
        }
        found
    }

    /// All that a name may mean in a module.
    fn names(&self, id: usize, name: &str, seen: &mut Vec<(usize, String)>) -> Vec<Found> {
        let key = (id, name.to_owned());
        if seen.contains(&key) {
            return Vec::new();
        }
        seen.push(key);
        let module = &self.modules[id];
        let mut found: Vec<Found> = module.children.get(name).map(|&child| Found::Module(child)).into_iter().collect();
        if module.items.contains(name) {
            found.push(Found::Item(module.file));
        }
        for import in module.uses.iter().filter(|import| import.name == name) {
            found.extend(self.resolve(id, &import.path, seen));
        }
        if found.is_empty() {
            let globs = module.uses.iter().filter(|import| import.name == "*");
            for target in globs.flat_map(|import| self.resolve(id, &import.path, seen)).collect::<Vec<_>>() {
                if let Found::Module(glob) = target {
                    found.extend(self.names(glob, name, seen));
                }
            }
        }
        seen.pop();
        found
    }
}

/// The file of `mod name;` in the file `path`.
fn child_file(path: &Path, name: &str) -> PathBuf {
    let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
    let dir = path.parent().expect("a directory");
    let dir = if ["lib", "main", "mod"].contains(&stem.as_str()) { dir.to_path_buf() } else { dir.join(stem) };
    let flat = dir.join(format!("{name}.rs"));
    if flat.exists() { flat } else { dir.join(name).join("mod.rs") }
}

/// The name that an item's keyword gives to a module, if the word is one and a name follows.
fn item_name(keyword: &str, rest: &[Token]) -> Option<String> {
    let words = |at: usize| rest.get(at).and_then(Token::word);
    let name = match keyword {
        "fn" | "struct" | "enum" | "union" | "trait" | "type" => words(0),
        "const" | "static" => words(0).filter(|word| !["fn", "unsafe", "mut"].contains(word)),
        "macro_rules" if rest.first().is_some_and(|mark| mark.is('!')) => words(1),
        _ => None,
    };
    name.map(str::to_owned)
}

/// Whether the word at `at` follows a point (a field or method) or `::` (the end of a path that
/// began with a type).
fn is_member(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|i| &tokens[i]);
    let range = before(2).is_some_and(|token| token.is('.'));
    before(1).is_some_and(|token| (token.is('.') && !range) || token.is(':') && before(2).is_some_and(|t| t.is(':')))
}

/// The path that begins here, and how many tokens it takes.
fn read_path(tokens: &[Token]) -> (Vec<String>, usize) {
    let mut path = vec![tokens[0].word().expect("a path begins with a word").to_owned()];
    let mut len = 1;
    while let [a, b, Token::Word(word), ..] = &tokens[len..]
        && a.is(':')
        && b.is(':')
    {
        path.push(word.clone());
        len += 3;
    }
    (path, len)
}

/// The tokens of a block from its opening to its closing brace.
fn block_len(tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    let closes = |token: &Token| {
        depth = depth + usize::from(token.is('{')) - usize::from(token.is('}'));
        depth == 0
    };
    1 + tokens.iter().position(closes).expect("a block ends")
}

/// The imports of one tree of `use`, under the segments `before` it.
fn read_use(tokens: &[Token], before: &[String], out: &mut Vec<Use>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            Token::Word(word) if word == "as" => {
                let name = tokens[at + 1].word().expect("a name").to_owned();
                out.push(Use { name, path });
                return;
            }
            Token::Word(word) => path.push(word.clone()),
            Token::Mark('*') => {
                out.push(Use { name: "*".to_owned(), path });
                return;
            }
            Token::Mark('{') => {
                let inner = &tokens[at + 1..tokens.len() - 1];
                return split(inner).into_iter().for_each(|branch| read_use(branch, &path, out));
            }
            Token::Mark(_) => {}
        }
        at += 1;
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = path.last().expect("a path").clone();
    out.push(Use { name, path });
}

/// The branches between the commas of a group.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0usize;
    tokens
        .split(|token| {
            depth = depth + usize::from(token.is('{')) - usize::from(token.is('}'));
            depth == 0 && token.is(',')
        })
        .filter(|branch| !branch.is_empty())
        .collect()
}
