//! What a file of a crate declares and refers to, by its tokens.

use std::collections::{BTreeMap, BTreeSet};

/// A name that a file imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub path: Vec<String>,
    /// What it is called here; None for a glob.
    pub name: Option<String>,
}

/// One file.
#[derive(Debug, Default)]
pub struct Source {
    /// Names of items at the top.
    pub items: BTreeSet<String>,
    /// Types that everybody may use.
    pub public_types: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// Paths in code, of two parts or more.
    pub paths: BTreeSet<Vec<String>>,
    /// All words: what a glob may have brought here.
    pub words: BTreeSet<String>,
    /// Modules in files of their own.
    pub modules: BTreeSet<String>,
    /// Functions and types, wherever they stand, and traits that are implemented here.
    pub defined: BTreeSet<String>,
    /// Methods in blocks of a type's own, by the type's name.
    pub methods: BTreeMap<String, usize>,
    /// Fields that other files of the crate may use, and no other crate.
    pub open_fields: usize,
    /// Lines, tests left out.
    pub lines: usize,
}

/// What may follow `pub(super)` when it is no field.
const ITEMS: [&str; 14] = [
    "fn", "struct", "enum", "trait", "const", "static", "type", "union", "mod", "use", "unsafe", "async",
    "extern", "macro",
];

/// A source from a file's text.
pub fn of_text(text: &str) -> Source {
    let (tokens, lines) = super::tokens::read(text);
    Source { lines, ..read(&tokens) }
}

const KINDS: [&str; 9] = ["struct", "enum", "trait", "fn", "const", "static", "type", "union", "mod"];

/// Reads a file's tokens.
pub fn read(tokens: &[String]) -> Source {
    let mut source = Source { open_fields: open_fields(tokens), ..Source::default() };
    let (mut depth, mut at) = (0_usize, 0);
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "use" => {
                let end = (at..tokens.len()).find(|&at| tokens[at] == ";").unwrap_or(tokens.len());
                flatten(&tokens[at + 1..end], &[], &mut source.imports);
                at = end;
            }
            "mod" if word(at + 2) == ";" => {
                source.modules.insert(word(at + 1).to_owned());
            }
            "macro_rules" => {
                source.items.insert(word(at + 2).to_owned());
            }
            "impl" if depth == 0 && begins_item(tokens, at) => {
                let block = Block::read(tokens, at);
                match block.of_trait {
                    true => _ = source.defined.insert(block.name),
                    false => *source.methods.entry(block.name).or_default() += block.methods,
                }
            }
            kind if depth > 0 && KINDS.contains(&kind) && is_name(word(at + 1)) => {
                source.defined.insert(word(at + 1).to_owned());
            }
            kind if depth == 0 && KINDS.contains(&kind) => {
                let name = word(at + 1).to_owned();
                source.defined.insert(name.clone());
                let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
                if is_type && at > 0 && tokens[at - 1] == "pub" {
                    source.public_types.insert(name.clone());
                }
                source.items.insert(name);
            }
            first if is_name(first) && word(at + 1) == "::" && (at == 0 || tokens[at - 1] != "::") => {
                let mut path = vec![first.to_owned()];
                let mut next = at + 1;
                while word(next) == "::" && is_name(word(next + 1)) {
                    path.push(word(next + 1).to_owned());
                    next += 2;
                }
                source.words.insert(first.to_owned());
                source.paths.insert(path);
            }
            first if is_name(first) => {
                source.words.insert(first.to_owned());
            }
            _ => {}
        }
        at += 1;
    }
    source
}

/// How many fields other files of the crate may use: `pub(super) name: Type`, and those of tuples.
fn open_fields(tokens: &[String]) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    let opens = |at: &usize| {
        (word(*at), word(at + 1), word(at + 3)) == ("pub", "(", ")")
            && ["super", "crate"].contains(&word(at + 2))
    };
    (0..tokens.len()).filter(opens).filter(|at| !ITEMS.contains(&word(at + 4))).count()
}

/// Whether an item may begin here, and not a type.
fn begins_item(tokens: &[String], at: usize) -> bool {
    at == 0 || ["}", ";", "]", "unsafe", "{"].contains(&tokens[at - 1].as_str())
}

/// A block of methods.
struct Block {
    /// The type, or the trait that is implemented.
    name: String,
    of_trait: bool,
    methods: usize,
}

impl Block {
    /// What begins with `impl` here.
    fn read(tokens: &[String], at: usize) -> Self {
        let (mut angle, mut name, mut of_trait) = (0_i32, String::new(), false);
        let (mut is_over, mut depth, mut methods) = (false, 0_usize, 0);
        for (at, token) in tokens.iter().enumerate().skip(at + 1) {
            match token.as_str() {
                "{" => depth += 1,
                "}" if depth == 1 => break,
                "}" => depth -= 1,
                "fn" if depth == 1 && tokens.get(at + 1).is_some_and(|next| is_name(next)) => methods += 1,
                _ if depth > 0 => {}
                "<" => angle += 1,
                // Of an arrow.
                ">" if tokens[at - 1] == "-" => {}
                ">" => angle -= 1,
                "where" => is_over = true,
                "for" if angle == 0 && !is_over => (of_trait, is_over) = (true, true),
                word if angle == 0 && !is_over && is_name(word) => word.clone_into(&mut name),
                _ => {}
            }
        }
        Self { name, of_trait, methods }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// The names of a tree of imports.
fn flatten(tree: &[String], before: &[String], into: &mut Vec<Import>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < tree.len() {
        match tree[at].as_str() {
            "{" => {
                branches(&tree[at + 1..]).iter().for_each(|branch| flatten(branch, &path, into));
                return;
            }
            "*" => return into.push(Import { path, name: None }),
            "as" => {
                let name = tree.get(at + 1).cloned();
                return into.push(Import { path, name });
            }
            "::" => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = path.last().cloned();
    into.push(Import { path, name });
}

/// What commas separate, up to the brace that closes.
fn branches(tree: &[String]) -> Vec<&[String]> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, token) in tree.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 0 => {
                found.push(&tree[start..at]);
                break;
            }
            "}" => depth -= 1,
            "," if depth == 0 => {
                found.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|branch| !branch.is_empty());
    found
}

/// The files of a crate by their module's path.
pub type Crate = BTreeMap<Vec<String>, (String, Source)>;

#[test]
fn imports_items_and_paths_are_found() {
    let source = read(&super::tokens::tokens(
        "pub use a::{b::{C, D as E}, f::*, self}; mod g; pub struct H(I); pub(crate) enum J {} fn k() { super::l::M::new(n) }",
    ));
    let text: Vec<String> = source
        .imports
        .iter()
        .map(|import| format!("{} {}", import.path.join("::"), import.name.as_deref().unwrap_or("*")))
        .collect();
    assert_eq!(text, ["a::b::C C", "a::b::D E", "a::f *", "a a"]);
    assert_eq!(source.items.iter().map(String::as_str).collect::<Vec<_>>(), ["H", "J", "k"]);
    assert_eq!((source.public_types.len(), source.modules.len()), (1, 1));
    assert!(source.paths.contains(&["super", "l", "M", "new"].map(str::to_owned)[..]));
    assert!(source.words.contains("I") && source.words.contains("n"));
}

#[test]
fn methods_fields_and_definitions_are_counted() {
    let source = of_text(
        "pub struct A<T>(pub(super) T); struct B { pub(crate) c: u32, d: fn(u8) }\nimpl<T: Fn() -> u8> A<T> where T: X { fn \
         e() { fn f() {} } pub(super) fn g() {} }\nimpl a::B { pub(crate) const H: u32 = 1; fn i(j: impl K) {} }\nunsafe \
         impl<'a> L<u8> for B { fn m() {} }\nfn n() -> impl O { p }\n#[cfg(test)]\nmod q {\n}\n",
    );
    assert_eq!(source.methods, [("A".to_owned(), 2), ("B".to_owned(), 1)].into());
    assert_eq!((source.open_fields, source.lines), (2, 5));
    let defined: Vec<&str> = source.defined.iter().map(String::as_str).collect();
    assert_eq!(defined, ["A", "B", "H", "L", "e", "f", "g", "i", "m", "n"]);
}
