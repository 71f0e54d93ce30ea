//! What people type who know other programs, and what to type here: commands and words that howdah does not have.

/// Commands of other programs.
const COMMANDS: [(&str, &str); 8] = [
    (
        "showmount",
        "type showmount -e HOST (package nfs-common); howdah exports shows the servers of this host",
    ),
    ("df", "howdah has none: mount the export (howdah mount nfs://HOST/PATH DIR), then df DIR"),
    ("du", "howdah has none: mount the export (howdah mount nfs://HOST/PATH DIR), then du DIR"),
    ("rm", "howdah has none: mount the export (howdah mount nfs://HOST/PATH DIR), then rm in DIR"),
    ("mkdir", "howdah has none: mount the export (howdah mount nfs://HOST/PATH DIR), then mkdir in DIR"),
    ("mv", "howdah has none: mount the export (howdah mount nfs://HOST/PATH DIR), then mv in DIR"),
    ("find", "type howdah ls -R nfs://HOST/PATH, or mount the export and use find"),
    (
        "exportfs",
        "type howdah exports to see exports; systemctl reload howdah applies the configuration file",
    ),
];

/// The beginning of a value and what to use instead: command, option, value, advice.
const VALUES: [(&str, &str, &str, &str); 6] = [
    ("serve", "--squash", "no_root_squash", "use --squash none: root on a client is root here"),
    ("serve", "--squash", "root_squash", "use --squash root, which is the default"),
    ("serve", "--squash", "all_squash", "use --squash all"),
    ("serve", "--squash", "no", "use --squash none: root on a client is root here"),
    ("serve", "--squash", "off", "use --squash none: root on a client is root here"),
    ("serve", "--squash", "false", "use --squash none: root on a client is root here"),
];

/// Instead of a command that howdah does not have.
pub fn instead_of_command(word: &str) -> Option<String> {
    COMMANDS.iter().find(|(command, _)| *command == word).map(|(_, instead)| (*instead).to_owned())
}

/// Instead of a value that an option does not take.
pub fn instead_of_value(command: &str, option: &str, value: &str) -> Option<&'static str> {
    let is_meant =
        |(of, which, known, _): &&(&str, &str, &str, &str)| (*of, *which, *known) == (command, option, value);
    VALUES.iter().find(is_meant).map(|(.., instead)| *instead)
}

/// Instead of too few or too many words.
pub fn instead_of_words(command: &str, words: &[String]) -> Option<String> {
    match (command, words) {
        ("sync", [_, _, ..]) => {
            Some("to copy what changed, type howdah cp -r --delete SOURCE DESTINATION".to_owned())
        }
        ("set", [word]) => {
            let (knob, value) = word.split_once('=')?;
            Some(format!("type a space instead of =: howdah set {knob} {value}"))
        }
        ("exports", [file]) if !file.starts_with('-') => Some(format!(
            "for a file of howdah use --config {file}, to convert a Linux exports file --from {file}"
        )),
        _ => None,
    }
}
