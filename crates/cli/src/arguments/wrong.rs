//! What is wrong with what was typed, in one line, and in a second what to type instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use howdah_client::url::without_password;

use super::{Howdah, hints};

/// Options of cp(1), rsync(1), scp(1) and NFS servers, and what does the same here: command, option, advice.
const OF_OTHERS: [(&str, &str, &str); 26] = [
    ("cp", "--bwlimit", "use --rate, as in --rate 10M"),
    ("cp", "--limit", "use --rate, as in --rate 10M"),
    ("cp", "--archive", "use -r: times, permissions, links and holes are kept anyway"),
    ("cp", "--partial", "leave it out: an interrupted copy always resumes"),
    ("cp", "--append", "leave it out: an interrupted copy always resumes"),
    ("cp", "-P", "use --progress: an interrupted copy always resumes"),
    ("cp", "--compress", "leave it out: howdah does not compress"),
    ("cp", "-z", "leave it out: howdah does not compress"),
    ("cp", "--times", "leave it out: times are kept anyway"),
    ("cp", "-t", "leave it out: times are kept anyway"),
    ("cp", "--links", "leave it out: symbolic links are copied as links anyway"),
    ("cp", "-l", "leave it out: symbolic links are copied as links anyway"),
    ("cp", "--force", "leave it out: changed files are replaced anyway"),
    ("cp", "-f", "leave it out: changed files are replaced anyway"),
    ("cp", "--interactive", "use --no-clobber to keep files that exist, --dry-run to see what would be done"),
    ("cp", "-i", "use --no-clobber to keep files that exist, --dry-run to see what would be done"),
    ("cp", "--rsh", "leave it out: howdah copies over NFS, not over SSH"),
    ("cp", "-e", "leave it out: howdah copies over NFS, not over SSH"),
    ("cp", "--port", "put the port into the URL, as in nfs://HOST:2050/PATH"),
    (
        "cp",
        "--remove-source-files",
        "copy with --verify first, then remove the source yourself: howdah never changes it",
    ),
    (
        "cp",
        "--remove-source",
        "copy with --verify first, then remove the source yourself: howdah never changes it",
    ),
    ("mount", "-t", "leave -t and its value out: howdah mount nfs://HOST/PATH DIR"),
    ("mount", "--port", "put the port into the URL, as in nfs://HOST:2050/PATH"),
    ("serve", "--port", "use --listen, as in --listen 2050"),
    ("serve", "--ro", "use --read-only"),
    ("serve", "--no-root-squash", "use --squash none"),
];

/// What clap found: the help or the version that was asked for, or two lines.
pub enum Wrong {
    /// Print this text of clap's, and end with its exit code.
    Help(clap::Error),
    /// Something is wrong with the words that were typed.
    Usage(String),
}

/// Explains a parse error. `words` is the command line, program name first.
pub fn wrong(error: clap::Error, words: &[std::ffi::OsString]) -> Wrong {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return Wrong::Help(error);
    }
    let words: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let program = Howdah::command();
    let (called, command) = called(&program, &words);
    if let Some((option, value)) = negative(&error, command, &words) {
        let what = format!("{option} cannot be \"{value}\": a value cannot begin with a minus");
        return Wrong::Usage(format!("{what}\n  see {called} --help"));
    }
    Wrong::Usage(format!("{}\n  {}", sentence(&error, &called), advice(&error, &called, &words)))
}

/// What is wrong, in one sentence.
pub fn sentence(error: &clap::Error, called: &str) -> String {
    let argument = argument(error);
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("{argument} needs a value{}", words_for(error))
        }
        ErrorKind::InvalidValue => format!("{argument} cannot be \"{value}\"{}", words_for(error)),
        ErrorKind::ValueValidation => {
            let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            let cause = expected(&cause);
            if argument.starts_with('-') {
                format!("{argument} cannot be \"{value}\": {cause}")
            } else if cause.contains(&value) {
                cause
            } else {
                format!("\"{}\": {cause}", without_password(&value))
            }
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("{called} has no option {argument}")
        }
        ErrorKind::UnknownArgument => format!("\"{argument}\" is one word too many for {called}"),
        ErrorKind::InvalidSubcommand => {
            let word = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("{called} has no command \"{word}\"")
        }
        ErrorKind::ArgumentConflict => match others(error).join(" and ") {
            other if other == argument => format!("{argument} can be given only once"),
            other => format!("{argument} and {other} cannot be used together"),
        },
        ErrorKind::MissingRequiredArgument => {
            format!("{called} needs {}", list(error, ContextKind::InvalidArg).join(" and "))
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => match error.get(ContextKind::MinValues) {
            Some(ContextValue::Number(least)) if argument.starts_with('-') => {
                format!("{argument} needs at least {least} values")
            }
            // Where words are missing, the last is what they all lack.
            _ => match usage(error).and_then(|mut words| words.pop()) {
                Some(last) => format!("{called} needs {last}"),
                None => format!("{called} needs more words"),
            },
        },
        ErrorKind::TooManyValues => format!("{argument} takes no value"),
        ErrorKind::InvalidUtf8 => "a word is not valid UTF-8".to_owned(),
        _ => {
            let rendered = error.to_string();
            let first = rendered.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    }
}

/// What to type instead.
fn advice(error: &clap::Error, called: &str, words: &[String]) -> String {
    let argument = argument(error);
    let command = called.strip_prefix("howdah ").unwrap_or_default();
    let other = OF_OTHERS.iter().find(|(of, option, _)| command == *of && argument == *option);
    if let Some((.., instead)) = other {
        return format!("{instead} ({called} --help)");
    }
    if let Some(instead) = of_others(error, command, words) {
        return instead;
    }
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand] {
        if let Some(near) = list(error, kind).first() {
            return format!("did you mean {near}? ({called} --help)");
        }
    }
    let shows_usage = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::TooFewValues
            | ErrorKind::WrongNumberOfValues
            | ErrorKind::UnknownArgument
    );
    match usage(error).filter(|_| shows_usage && !argument.starts_with("--")) {
        Some(usage) => format!("usage: {} ({called} --help)", usage.join(" ")),
        None => format!("see {called} --help"),
    }
}

/// The words of the usage that clap shows.
fn usage(error: &clap::Error) -> Option<Vec<String>> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    Some(usage.to_string().split_whitespace().skip(1).map(str::to_owned).collect())
}

/// The option that was given a negative number, and that number: clap takes it for an option of its own.
fn negative<'w>(error: &clap::Error, command: &Command, words: &'w [String]) -> Option<(&'w str, &'w str)> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let argument = argument(error);
    let is_number = |word: &str| {
        word.starts_with(&argument) && word[1..].starts_with(|letter: char| letter.is_ascii_digit())
    };
    let takes_value = |word: &str| {
        let mut known = command.get_arguments();
        word.strip_prefix("--").is_some_and(|name| {
            known.any(|option| option.get_long() == Some(name) && option.get_action().takes_values())
        })
    };
    let mut pairs = words.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    pairs.find(|(option, value)| argument.starts_with('-') && is_number(value) && takes_value(option))
}

/// What to type instead of words that other programs take.
fn of_others(error: &clap::Error, command: &str, words: &[String]) -> Option<String> {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            hints::instead_of_command(&text(error, ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::InvalidValue => {
            hints::instead_of_value(command, &argument(error), &value).map(str::to_owned)
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::UnknownArgument => {
            hints::instead_of_words(command, words.get(1..)?)
        }
        _ => None,
    }
}

/// `howdah`, and the subcommands that were typed; and the last of them.
fn called<'p>(program: &'p Command, words: &[String]) -> (String, &'p Command) {
    let (mut called, mut at) = ("howdah".to_owned(), program);
    for word in words {
        let Some(next) = at.find_subcommand(word) else { break };
        called = format!("{called} {word}");
        at = next;
    }
    (called, at)
}

/// The option or word that it is about, without the name of its value.
pub fn argument(error: &clap::Error) -> String {
    list(error, ContextKind::InvalidArg).first().map(|first| without_value(first)).unwrap_or_default()
}

/// The options or words that it clashes with.
fn others(error: &clap::Error) -> Vec<String> {
    list(error, ContextKind::PriorArg).iter().map(|other| without_value(other)).collect()
}

fn without_value(argument: &str) -> String {
    match argument.starts_with('-') {
        true => argument.split([' ', '[', '=']).next().unwrap_or(argument).to_owned(),
        false => argument.trim_matches(['<', '>', '[', ']', '.']).to_owned(),
    }
}

/// The words that there are, if there are some.
fn words_for(error: &clap::Error) -> String {
    match list(error, ContextKind::ValidValue) {
        known if known.is_empty() => String::new(),
        known => format!(": use {}", known.join(", ")),
    }
}

/// What clap's own parsers of numbers say, in words.
fn expected(cause: &str) -> String {
    if let Some((number, range)) = cause.split_once(" is not in ") {
        let wanted = match range.split_once("..") {
            Some((least, most)) => match most.trim_start_matches('=') {
                "" => format!("a number from {least} up"),
                most if least.is_empty() => format!("a number up to {most}"),
                most => format!("a number from {least} to {most}"),
            },
            None => return cause.to_owned(),
        };
        let is_number = number.parse::<i128>().is_ok();
        return if is_number { format!("expected {wanted}") } else { cause.to_owned() };
    }
    match cause {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "expected a whole number".to_owned()
        }
        "number too large to fit in target type" => "the number is too large".to_owned(),
        "number too small to fit in target type" => "expected a number from 0 up".to_owned(),
        "invalid float literal" => "expected a number".to_owned(),
        other => other.to_owned(),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    list(error, kind).into_iter().next()
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn said(words: &str) -> String {
        let words: Vec<std::ffi::OsString> = words.split(' ').map(Into::into).collect();
        let error = Howdah::try_parse_from(&words).expect_err("wrong");
        match wrong(error, &words) {
            Wrong::Usage(text) => text,
            Wrong::Help(_) => "help".to_owned(),
        }
    }

    #[test]
    fn wrong_words_are_said_in_two_lines() {
        for (words, expected) in [
            ("howdah frob", "howdah has no command \"frob\"\n  see howdah --help"),
            ("howdah cp --jobs 0 a b", "--jobs cannot be \"0\": expected a number from 1 to 256\n"),
            ("howdah cp --jobs x a b", "--jobs cannot be \"x\": expected a whole number\n"),
            ("howdah cp --sparse x a b", "--sparse cannot be \"x\": use auto, always, never\n"),
            (
                "howdah cp --bwlimit 1M a b",
                "howdah cp has no option --bwlimit\n  use --rate, as in --rate 10M",
            ),
            ("howdah cp -q -v a b", "--quiet and --verbose cannot be used together\n"),
            (
                "howdah cp a",
                "howdah cp needs <DESTINATION>\n  usage: howdah cp [OPTIONS] <SOURCE>... <DESTINATION>",
            ),
            ("howdah cp --rate 5M --rate 6M a b", "--rate can be given only once\n"),
            ("howdah serve --squash all --squash none a", "--squash can be given only once\n"),
            ("howdah exports --from a --config b", "--from and --config cannot be used together\n"),
            ("howdah serve --lease -5s a", "--lease cannot be \"-5s\": a value cannot begin with a minus\n"),
            ("howdah cp --rate -5 a b", "--rate cannot be \"-5\""),
            ("howdah serve --listen -1 a", "--listen cannot be \"-1\""),
            ("howdah cp --quiet -5 a b", "howdah cp has no option -5\n"),
            ("howdah serve --lease 0 a", "--lease cannot be \"0\": a lease lasts 1 to 3600 s\n"),
            (
                "howdah ls nfs://user:secret@host/",
                "\"nfs://user:...@host/\": \"user:...@host\" is no host: leave out the user",
            ),
            ("howdah ls ", "a word is empty: "),
            ("howdah mount a", "howdah mount needs <DIR>\n  usage: howdah mount"),
            ("howdah lab list a b", "\"b\" is one word too many for howdah lab list\n"),
            ("howdah cp --help", "help"),
            ("howdah lab", "help"),
        ] {
            let said = said(words);
            assert!(said.starts_with(expected) && said.lines().count() <= 2, "{words}: {said}");
        }
    }
}
