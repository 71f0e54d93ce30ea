//! Pages of the manual that are made from the arguments (`UPDATE=1 cargo test -p howdah --lib manual` renews them), and command
//! lines of all pages that must be ones.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory, Parser};

use super::Howdah;

/// As wide as help is in the pages.
const WIDTH: usize = 100;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All commands that do something by themselves, as they are typed, with their help.
fn commands() -> Vec<(String, String)> {
    fn collect(command: &mut Command, name: &str, into: &mut Vec<(String, String)>) {
        if !command.has_subcommands() {
            into.push((name.to_owned(), command.render_long_help().to_string()));
        }
        for inner in command.get_subcommands_mut().filter(|inner| !inner.is_hide_set()) {
            let name = format!("{name} {}", inner.get_name());
            if inner.get_name() != "help" {
                collect(inner, &name, into);
            }
        }
    }
    let mut howdah = Howdah::command().term_width(WIDTH);
    howdah.build();
    let mut all = Vec::new();
    collect(&mut howdah, "howdah", &mut all);
    all
}

/// What a help says of exit codes, on one line.
fn exit_codes(help: &str) -> Option<String> {
    if help.contains("exit code is passed on") {
        return Some("that of the command that it runs".to_owned());
    }
    let text = help.split_once("Exit code: ")?.1;
    let text = text.split("\n\n").next()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned())
}

/// Compares a page with what it should be, or writes it.
fn check_page(name: &str, expected: &str) {
    let path = repository().join("docs/manual").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).expect("written");
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/manual/{name} is stale: UPDATE=1 cargo test -p howdah --lib manual");
}

#[test]
fn the_page_of_commands_is_what_help_says() {
    let mut page = "# Commands\n\nThe help of every command, as `--help` prints it. This page is written from the code.\n\n".to_owned();
    for (name, _) in commands() {
        let _ = writeln!(page, "- [`{name}`](#{})", name.replace(' ', "-"));
    }
    let mut serve = String::new();
    for (name, help) in commands() {
        let mut lines: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        match name.as_str() {
            "howdah serve" => serve.clone_from(&lines),
            "howdah relay" => lines = without_options_of(&lines, &serve, "howdah serve"),
            _ => {}
        }
        let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.trim_end());
    }
    check_page("commands.md", &page);
}

/// A help without the options that another command describes in the same words.
fn without_options_of(help: &str, other: &str, name: &str) -> String {
    let described: HashSet<&str> = other.split("\n\n").collect();
    let is_own = |part: &&str| !part.starts_with("  ") || !described.contains(*part);
    let own: Vec<&str> = help.split("\n\n").filter(is_own).collect();
    format!("{}\n\nAll other options are those of `{name}`.", own.join("\n\n").trim_end())
}

#[test]
fn the_page_of_exit_codes_is_what_help_says() {
    let mut page = "# Exit codes\n\n\
        0 is success, 1 a failure, and 2 wrong arguments or a wrong configuration. Some commands say more. This page is written from the \
        code.\n\n| command | exit codes |\n|---|---|\n"
        .to_owned();
    for (name, help) in commands() {
        let codes = exit_codes(&help).unwrap_or_else(|| "as above".to_owned());
        let _ = writeln!(page, "| `{name}` | {} |", codes.replace('|', "\\|"));
    }
    check_page("exit-codes.md", &page);
}

/// Lines of a page's blocks of shell commands, continued ones as one line.
fn shell_lines(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for block in page.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default().replace("\\\n", " ");
        lines.extend(block.lines().map(str::to_owned));
    }
    lines
}

/// The words of a line as a shell splits it; what parts commands is a word of its own, and a comment is left out.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut quote = None;

    for character in line.chars() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), inside) => word.get_or_insert_default().push(inside),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | '&' | ';' | '>') => {
                words.extend(word.take());
                words.push(character.to_string());
            }
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (None, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// The commands of howdah in a line.
fn own_commands(line: &str) -> Vec<Vec<String>> {
    let words = words(line);
    let parts = words.split(|word| ["|", "&", ";", ">"].contains(&word.as_str()));
    // Others only name it: `systemctl reload howdah`.
    parts
        .filter(|part| {
            part.first().is_some_and(|first| ["howdah", "sudo", "setpriv"].contains(&first.as_str()))
        })
        .filter_map(|part| part.iter().position(|word| word == "howdah").map(|at| part[at..].to_vec()))
        .collect()
}

#[test]
fn lines_are_split_as_a_shell_does() {
    let line = "cd x && sudo howdah cp 'a b' \"c\"d e # not this > f";
    assert_eq!(own_commands(line), [["howdah", "cp", "a b", "cd", "e"].map(str::to_owned).to_vec()]);
    assert_eq!(own_commands("howdah ls x > y; howdah ls z | head").len(), 2);
}

#[test]
fn every_command_line_of_the_manual_is_understood() {
    let mut pages = vec![repository().join("README.md"), repository().join("docs/bench.md")];
    let manual = fs::read_dir(repository().join("docs/manual")).expect("pages");
    pages.extend(manual.map(|entry| entry.expect("a page").path()));
    let mut seen = 0;
    for path in pages {
        let page = fs::read_to_string(&path).expect("a page");
        for line in shell_lines(&page) {
            for command in own_commands(&line) {
                seen += 1;
                let Err(error) = Howdah::try_parse_from(&command) else { continue };
                let is_answer = !error.use_stderr();
                assert!(is_answer, "{}: {line}\n{error}", path.display());
            }
        }
    }
    assert!(seen > 60, "only {seen} commands found: are blocks still marked sh?");
}
