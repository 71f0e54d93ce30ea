//! What a reload changed, for the log.

use super::ExportConfig;

/// How exports differ from those before, by their names.
pub fn export_changes(before: &[ExportConfig], after: &[ExportConfig]) -> String {
    let find = |all: &[ExportConfig], wanted: &ExportConfig| {
        all.iter().find(|export| export.name == wanted.name).cloned()
    };
    let names = |of: &[ExportConfig], is_meant: &dyn Fn(&ExportConfig) -> bool| {
        let names = of.iter().filter(|export| is_meant(export)).map(|export| export.name.to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    let all = [
        ("added", names(after, &|export| find(before, export).is_none())),
        ("removed", names(before, &|export| find(after, export).is_none())),
        ("changed", names(after, &|export| find(before, export).is_some_and(|old| old != *export))),
    ];
    let all: Vec<String> = all
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what} {names}"))
        .collect();
    if all.is_empty() { "no export changed".to_owned() } else { all.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::one_export;

    #[test]
    fn a_reload_says_what_was_added_removed_and_changed() {
        let named = |names: &[&str]| -> Vec<ExportConfig> {
            let export = |name: &&str| {
                let mut export = one_export().exports.remove(0);
                export.name = name.parse().expect("a name");
                export
            };
            names.iter().map(export).collect()
        };
        let before = named(&["/one", "/two"]);
        assert_eq!(export_changes(&before, &before), "no export changed");
        let mut after = named(&["/two", "/three"]);
        assert_eq!(export_changes(&before, &after), "added /three; removed /one");
        after[0].clients[0].access.read_only = true;
        assert_eq!(export_changes(&before, &after), "added /three; removed /one; changed /two");
    }
}
