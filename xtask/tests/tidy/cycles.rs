//! Which files of a crate refer to which, through doors, globs and aliases, and which of them form cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Crate, Import};

/// Re-exports of re-exports are followed so far.
const DEEPEST: usize = 12;

/// Names of files, each with those that it refers to.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Which file refers to which.
pub fn graph(of: &Crate) -> Graph {
    let mut graph = Graph::new();
    for (module, (file, source)) in of {
        let mut found = BTreeSet::new();
        for import in &source.imports {
            match &import.name {
                Some(_) => found.extend(resolve(of, module, &import.path, 0)),
                // Whichever of the words here stand there.
                None => {
                    for word in source.words.difference(&source.items) {
                        let path = [import.path.clone(), vec![word.clone()]].concat();
                        found.extend(resolve_exactly(of, module, &path, 0));
                    }
                }
            }
        }
        found.extend(source.paths.iter().filter_map(|path| resolve(of, module, path, 0)));
        found.remove(file);
        graph.insert(file.clone(), found);
    }
    graph
}

/// The file in which what a path names stands; of a module whose file does not say, that file.
pub fn resolve(of: &Crate, from: &[String], path: &[String], depth: usize) -> Option<String> {
    walk(of, from, path, depth).map(|(file, _)| file)
}

/// The same if the item was found, and not only a module on the way.
fn resolve_exactly(of: &Crate, from: &[String], path: &[String], depth: usize) -> Option<String> {
    walk(of, from, path, depth).filter(|(_, is_exact)| *is_exact).map(|(file, _)| file)
}

fn walk(of: &Crate, from: &[String], path: &[String], depth: usize) -> Option<(String, bool)> {
    if depth > DEEPEST {
        return None;
    }
    let mut module = from.to_vec();
    let mut rest = path;
    while let Some((first, behind)) = rest.split_first() {
        match first.as_str() {
            "crate" => module.clear(),
            "self" => {}
            "super" => drop(module.pop()?),
            _ => break,
        }
        rest = behind;
    }
    let is_relative = rest.len() < path.len();
    let (file, source) = of.get(&module)?;
    let (first, behind) = rest.split_first()?;
    let child = [module.clone(), vec![first.clone()]].concat();
    if source.modules.contains(first) && of.contains_key(&child) {
        return match behind {
            // A module by itself says nothing of what is used of it.
            [] => None,
            _ => walk(of, &child, &[vec!["self".to_owned()], behind.to_vec()].concat(), depth + 1),
        };
    }
    if source.items.contains(first) {
        return Some((file.clone(), true));
    }
    for Import { path, name } in &source.imports {
        let there = match name {
            Some(name) if name == first && path.first() != Some(first) => {
                [path.clone(), behind.to_vec()].concat()
            }
            None if path.first().is_some_and(|start| is_own(of, &module, start)) => {
                [path.clone(), rest.to_vec()].concat()
            }
            _ => continue,
        };
        let found = walk(of, &module, &there, depth + 1);
        // By its name, it is this one, also if that is another crate's.
        if name.is_some() || found.as_ref().is_some_and(|(_, is_exact)| *is_exact) {
            return found;
        }
    }
    // What a macro makes.
    is_relative.then(|| (file.clone(), false))
}

/// Whether a path that begins so stays in the crate.
fn is_own(of: &Crate, module: &[String], start: &str) -> bool {
    ["crate", "self", "super"].contains(&start) || of[module].1.modules.contains(start)
}

/// The files that can reach themselves.
pub fn in_cycles(graph: &Graph) -> BTreeSet<&str> {
    let reaches = |start: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = graph[start].iter().map(String::as_str).collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(graph[file].iter().map(String::as_str));
            }
        }
        seen.contains(start)
    };
    graph.keys().map(String::as_str).filter(|file| reaches(file)).collect()
}

#[test]
fn cycles_are_found_through_doors_globs_and_aliases() {
    let of = |files: &[(&str, &str)]| -> Crate {
        let file = |(path, text): &(&str, &str)| {
            let module = path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            let name = if path.is_empty() { "lib" } else { path };
            (module, (name.to_owned(), super::source::read(&super::tokens::tokens(text))))
        };
        files.iter().map(file).collect()
    };
    let cycles = |files: &[(&str, &str)]| -> Vec<String> {
        in_cycles(&graph(&of(files))).into_iter().map(str::to_owned).collect()
    };
    let door = ("", "mod a; mod b; pub use a::A; pub use b::B;");
    assert!(cycles(&[door, ("a", "use super::B; pub struct A(B);"), ("b", "pub struct B;")]).is_empty());
    let both = [door, ("a", "use crate::B; pub struct A(B);"), ("b", "use super::*; pub struct B(A);")];
    assert_eq!(cycles(&both), ["a", "b"]);
    // A door with furniture, by a path in the code.
    let furniture = [("", "mod a; pub use a::A; pub struct F;"), ("a", "pub struct A(crate::F);")];
    assert_eq!(cycles(&furniture), ["a", "lib"]);
    // By the name of a module, under another name.
    let alias = [
        ("", "mod a; mod b;"),
        ("a", "use super::b as c; pub fn f() { c::g() }"),
        ("b", "pub fn g() { super::a::f() }"),
    ];
    assert_eq!(cycles(&alias), ["a", "b"]);
    // Tests may look wherever they like.
    let tests = [
        door,
        ("a", "use super::B; pub struct A(B);"),
        ("b", "pub struct B; #[cfg(test)] mod t { use super::super::A; }"),
    ];
    assert!(cycles(&tests).is_empty());
}
