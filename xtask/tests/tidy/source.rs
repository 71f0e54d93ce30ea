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
}

const KINDS: [&str; 9] = ["struct", "enum", "trait", "fn", "const", "static", "type", "union", "mod"];

/// Reads a file's tokens.
pub fn read(tokens: &[String]) -> Source {
    let mut source = Source::default();
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
            kind if depth == 0 && KINDS.contains(&kind) => {
                let name = word(at + 1).to_owned();
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
