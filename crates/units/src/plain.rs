//! Causes in plain words: what the standard library and the parsers of TOML and JSON say speaks of error numbers and Rust types.

/// The start of the error number that the standard library puts behind the system's words.
const ERROR_NUMBER: &str = " (os error ";

/// A text without error numbers of the system and without names of Rust types.
pub fn plain(text: &str) -> String {
    let mut text = without_error_numbers(text);
    for rule in RULES {
        text = rule(text);
    }
    text
}

const RULES: [fn(String) -> String; 7] =
    [unknown_keys, unknown_words, missing_keys, twice, wrong_kinds, no_known_form, places];

/// `Connection refused (os error 111)` becomes `connection refused`.
fn without_error_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(ERROR_NUMBER) {
        let after = &rest[at + ERROR_NUMBER.len()..];
        let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (before, end) = (&rest[..at], after[digits..].strip_prefix(')'));
        match end {
            Some(after) => {
                out.push_str(&begun_small(before));
                rest = after;
            }
            None => {
                out.push_str(&rest[..at + ERROR_NUMBER.len()]);
                rest = &rest[at + ERROR_NUMBER.len()..];
            }
        }
    }
    out + rest
}

/// The system's words begin with a capital letter, which stands in the middle of a sentence here.
fn begun_small(text: &str) -> String {
    let start = text.rfind(": ").map_or(0, |colon| colon + 2);
    let (before, words) = text.split_at(start);
    let mut letters = words.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{before}{}{}", first.to_lowercase(), &words[first.len_utf8()..])
        }
        _ => text.to_owned(),
    }
}

fn unknown_keys(text: String) -> String {
    replaced(text, "unknown field ", |rest| {
        let (key, rest) = quoted(rest)?;
        if let Some(rest) = rest.strip_prefix(", there are no fields") {
            return Some((format!("unknown key \"{key}\": there are none here"), rest));
        }
        let (known, rest) = names(rest)?;
        Some((format!("unknown key \"{key}\"; the keys are {}", known.join(", ")), rest))
    })
}

fn unknown_words(text: String) -> String {
    replaced(text, "unknown variant ", |rest| {
        let (word, rest) = quoted(rest)?;
        let (known, rest) = names(rest)?;
        Some((format!("unknown word \"{word}\"; use one of {}", known.join(", ")), rest))
    })
}

fn missing_keys(text: String) -> String {
    replaced(text, "missing field ", |rest| {
        let (key, rest) = quoted(rest)?;
        Some((format!("the key \"{key}\" is missing"), rest))
    })
}

fn twice(text: String) -> String {
    replaced(text, "duplicate field ", |rest| {
        let (key, rest) = quoted(rest)?;
        Some((format!("the key \"{key}\" occurs twice"), rest))
    })
}

/// ``invalid type: integer `3`, expected a string`` becomes `expected a string, not 3`.
fn wrong_kinds(text: String) -> String {
    let rule = |rest: &str| -> Option<(String, usize)> {
        let (found, after) = rest.split_once(", expected ")?;
        let end = after.find([':', ';', '\n']).or_else(|| after.find(" at line ")).unwrap_or(after.len());
        let message = format!("expected {}, not {}", wanted(&after[..end]), kind(found));
        Some((message, rest.len() - after.len() + end))
    };
    ["invalid type: ", "invalid value: ", "invalid length "].into_iter().fold(text, |text, start| {
        replaced(text, start, |rest| rule(rest).map(|(message, length)| (message, &rest[length..])))
    })
}

fn no_known_form(text: String) -> String {
    replaced(text, "data did not match any variant of untagged enum ", |rest| {
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        Some(("this value has none of the forms that are known here".to_owned(), &rest[end..]))
    })
}

/// Where the parser of JSON stopped.
fn places(text: String) -> String {
    let text = text.replace("expected value at line ", "this is not JSON at line ");
    replaced(text, " at line ", |rest| {
        let (line, rest) = number(rest)?;
        let (column, rest) = number(rest.strip_prefix(" column ")?)?;
        Some((format!(" (line {line}, column {column})"), rest))
    })
}

/// Puts other words for what begins with `start` wherever `rule` knows some; it gives them with what comes after.
fn replaced(text: String, start: &str, rule: impl Fn(&str) -> Option<(String, &str)>) -> String {
    let mut out = String::new();
    let mut rest = &text[..];
    while let Some(at) = rest.find(start) {
        out.push_str(&rest[..at]);
        let after = &rest[at + start.len()..];
        match rule(after) {
            Some((words, left)) => {
                out.push_str(&words);
                rest = left;
            }
            None => {
                out.push_str(start);
                rest = after;
            }
        }
    }
    out + rest
}

/// A name between backticks at the start, and what comes after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

/// A list of names: ``, expected one of `a`, `b` ``.
fn names(text: &str) -> Option<(Vec<&str>, &str)> {
    let text = text.strip_prefix(", expected ")?;
    let mut rest = text.strip_prefix("one of ").unwrap_or(text);
    let mut known = Vec::new();
    while let Some((name, after)) = quoted(rest) {
        known.push(name);
        rest = after;
        match after.strip_prefix(", ").or_else(|| after.strip_prefix(" or ")) {
            Some(next) if next.starts_with('`') => rest = next,
            _ => break,
        }
    }
    (!known.is_empty()).then_some((known, rest))
}

fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// What is there, in words.
fn kind(found: &str) -> String {
    let value = found.split_once('`').and_then(|(_, rest)| rest.split_once('`')).map(|(value, _)| value);
    match (found.split([' ', '`']).next(), value) {
        (Some("string"), _) => found.strip_prefix("string ").unwrap_or("a string").to_owned(),
        (Some("map"), _) => "a table".to_owned(),
        (Some("sequence"), _) => "a list".to_owned(),
        (Some("null" | "unit" | "Option"), _) => "nothing".to_owned(),
        (_, Some(value)) => value.to_owned(),
        _ => found.to_owned(),
    }
}

/// What there should be, in words.
fn wanted(words: &str) -> &str {
    let is_number = |word: &str| {
        let width = word.strip_prefix(['u', 'i', 'f']);
        width.is_some_and(|width| width == "size" || width.parse::<u8>().is_ok())
    };
    match words {
        "a sequence" => "a list",
        "a boolean" => "true or false",
        word if is_number(word) => "a number",
        word if ["a map", "struct ", "internally tagged enum ", "adjacently tagged enum ", "enum "]
            .iter()
            .any(|start| word.starts_with(start)) =>
        {
            "a table"
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_cause_has_no_number_and_no_type_in_it() {
        for (said, wanted) in [
            ("reading /x: No such file or directory (os error 2)", "reading /x: no such file or directory"),
            ("Is a directory (os error 21); name a file", "is a directory; name a file"),
            ("TLS: EOF (os error x)", "TLS: EOF (os error x)"),
            (
                "p.toml:4: unknown field `foo`, expected one of `a`, `b`",
                "p.toml:4: unknown key \"foo\"; the keys are a, b",
            ),
            ("unknown field `foo`, expected `a` or `b`: x", "unknown key \"foo\"; the keys are a, b: x"),
            ("unknown field `foo`, there are no fields", "unknown key \"foo\": there are none here"),
            (
                "kind: unknown variant `howdy`, expected one of `a`, `b`",
                "kind: unknown word \"howdy\"; use one of a, b",
            ),
            ("missing field `title`", "the key \"title\" is missing"),
            ("duplicate field `a`", "the key \"a\" occurs twice"),
            ("name: invalid type: integer `3`, expected a string", "name: expected a string, not 3"),
            ("invalid type: string \"x\", expected u32", "expected a number, not \"x\""),
            ("invalid value: integer `-3`, expected usize", "expected a number, not -3"),
            ("invalid type: map, expected a sequence", "expected a list, not a table"),
            (
                "invalid type: integer `3`, expected struct Header at line 1 column 1",
                "expected a table, not 3 (line 1, column 1)",
            ),
            ("expected value at line 1 column 1", "this is not JSON (line 1, column 1)"),
            (
                "x: data did not match any variant of untagged enum Rate in y",
                "x: this value has none of the forms that are known here in y",
            ),
            ("nothing of this", "nothing of this"),
        ] {
            assert_eq!(plain(said), wanted, "{said}");
        }
    }
}
