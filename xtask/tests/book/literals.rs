//! The text of string literals in Rust source: what users may read. Comments and tests are left out.

/// The literals of a file that are more than one word, in one line each.
pub fn literals(source: &str) -> Vec<String> {
    let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        rest = &rest[at..];
        rest = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').map_or("", |end| &rest[end..]),
            // A character, not a lifetime.
            [b'\'', b'"', b'\'', ..] => &rest[3..],
            [b'\'', b'\\', b'"', b'\'', ..] => &rest[4..],
            [b'"', ..] => {
                let end = end_of_string(&rest[1..]);
                found.push(words(&rest[1..1 + end]));
                rest.get(end + 2..).unwrap_or_default()
            }
            _ => &rest[1..],
        };
    }
    found.retain(|text| text.contains(' '));
    found
}

/// Bytes before the closing quote.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// Without what continues a literal on the next line.
fn words(text: &str) -> String {
    text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn strings_are_found_and_comments_and_tests_are_not() {
    let source = "// \"a comment\"\nlet quote = '\"';\nlet one = \"one \\\"line\\\" \\\n   more\";\nlet x: &'static str = \"word\";\n\
                  #[cfg(test)]\nmod tests { \"of a test\" }";
    assert_eq!(literals(source), ["one \\\"line\\\" more"]);
}
