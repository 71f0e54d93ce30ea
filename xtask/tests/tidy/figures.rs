//! How large the house is: lines, public types, fields that other files reach into, methods of one type.

use std::collections::BTreeMap;

use super::{at_most, bound, crates, cycles, names_in, only_falls};

/// A type with more methods than these has a bound of its own in the baseline.
const METHODS_MAX: usize = 40;

#[test]
fn lines_and_public_types_become_no_more() {
    let sources = || crates().values().flat_map(|of| of.values().map(|(_, source)| source));
    at_most("production_lines", sources().map(|source| source.lines).sum());
    at_most("cli_lines", crates()["cli"].values().map(|(_, source)| source.lines).sum());
    at_most("public_types", sources().map(|source| source.public_types.len()).sum());
}

#[test]
fn fields_that_other_files_reach_into_become_fewer() {
    let mut places = Vec::new();
    for (name, of) in crates() {
        let open = of.values().filter(|(_, source)| source.open_fields > 0);
        places.extend(open.map(|(file, source)| (source.open_fields, format!("{name}/{file}"))));
    }
    places.sort();
    let list: String = places.iter().map(|(count, file)| format!("{count} {file}\n")).collect();
    println!("{list}");
    only_falls("open_fields", places.iter().map(|(count, _)| count).sum(), &list);
}

#[test]
fn no_type_gets_more_methods() {
    // By crate, the file that defines the type, and its name: methods, and files that have some of them.
    let mut types: BTreeMap<(String, String, String), (usize, usize)> = BTreeMap::new();
    for (name, of) in crates() {
        for (module, (file, source)) in of {
            for (of_type, count) in &source.methods {
                let path = ["self".to_owned(), of_type.clone()];
                let defined_in = cycles::resolve(of, module, &path, 0).unwrap_or_else(|| file.clone());
                let entry = types.entry((name.clone(), defined_in, of_type.clone())).or_default();
                *entry = (entry.0 + count, entry.1 + 1);
            }
        }
    }
    let (mut wrong, mut left) = (String::new(), names_in("methods"));
    for ((name, file, of_type), (methods, files)) in types {
        if methods <= METHODS_MAX {
            continue;
        }
        let key = format!("{name}/{file} {of_type}");
        println!("{methods} in {files} files: {key}");
        left.retain(|name| *name != key);
        let allowed = bound(&["methods", &key], methods);
        match methods {
            _ if methods > allowed => {
                wrong += &format!("{key}: {methods}, and the baseline allows {allowed}\n")
            }
            _ if methods < allowed => {
                wrong += &format!("{key}: only {methods} now; UPDATE=1 lowers {allowed}\n")
            }
            _ => {}
        }
    }
    wrong += &left
        .iter()
        .map(|key| format!("{key}: at most {METHODS_MAX} now; remove the line\n"))
        .collect::<String>();
    assert!(wrong.is_empty(), "methods of one type:\n{wrong}");
}
