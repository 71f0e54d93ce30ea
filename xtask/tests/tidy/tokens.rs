//! Rust source as tokens: words, `::` and single characters. Comments, literals and code of tests are left out.

/// The tokens of a file.
pub fn tokens(text: &str) -> Vec<String> {
    read(text).0
}

/// The tokens of a file, and how many lines it has without its tests.
pub fn read(text: &str) -> (Vec<String>, usize) {
    let (tokens, of_tests) = without_tests(&split(text));
    (tokens, text.lines().count() - of_tests)
}

/// Tokens, each with the number of its line.
fn split(text: &str) -> Vec<(String, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line, mut counted) = (0, 0, 0);
    while at < chars.len() {
        line += chars[counted..at].iter().filter(|letter| **letter == '\n').count();
        counted = at;
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '/' if next == Some('/') => at = find(&chars, at, &['\n']),
            '/' if next == Some('*') => at = find(&chars, at + 2, &['*', '/']) + 2,
            '"' => at = end_of_string(&chars, at + 1),
            '\'' => at = end_of_quote(&chars, at),
            'r' | 'b' | 'c' if is_literal(&chars, at) => at = end_of_literal(&chars, at),
            ':' if next == Some(':') => {
                tokens.push(("::".to_owned(), line));
                at += 2;
            }
            letter if is_word(letter) => {
                let end = (at..chars.len()).find(|&at| !is_word(chars[at])).unwrap_or(chars.len());
                tokens.push((chars[at..end].iter().collect(), line));
                at = end;
            }
            space if space.is_whitespace() => at += 1,
            other => {
                tokens.push((other.to_string(), line));
                at += 1;
            }
        }
    }
    tokens
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn find(chars: &[char], from: usize, what: &[char]) -> usize {
    (from..chars.len()).find(|&at| chars[at..].starts_with(what)).unwrap_or(chars.len())
}

/// Behind the closing quote of a string that begins here.
fn end_of_string(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Behind a character's quotes, or a lifetime's name.
fn end_of_quote(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => find(chars, at + 3, &['\'']) + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => (at + 1..chars.len()).find(|&at| !is_word(chars[at])).unwrap_or(chars.len()),
    }
}

/// Whether a string with a prefix begins here: `r"…"`, `r#"…"#`, `b"…"`, `b'…'`, `br"…"`.
fn is_literal(chars: &[char], at: usize) -> bool {
    let prefix = chars[at..].iter().take_while(|letter| matches!(letter, 'r' | 'b' | 'c')).count();
    let hashes = chars[at + prefix..].iter().take_while(|letter| **letter == '#').count();
    let starts_word = at == 0 || !is_word(chars[at - 1]);
    let opens = chars.get(at + prefix + hashes);
    starts_word
        && prefix <= 2
        && (opens == Some(&'"') || (hashes == 0 && opens == Some(&'\'') && chars[at] == 'b'))
}

fn end_of_literal(chars: &[char], at: usize) -> usize {
    let quote = (at..chars.len()).find(|&at| matches!(chars[at], '"' | '\'')).unwrap_or(chars.len());
    if chars.get(quote) == Some(&'\'') {
        return end_of_quote(chars, quote);
    }
    if !chars[at..quote].contains(&'r') {
        return end_of_string(chars, quote + 1);
    }
    let hashes = chars[at..quote].iter().filter(|letter| **letter == '#').count();
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    find(chars, quote + 1, &close) + close.len()
}

/// Leaves out each item behind `#[cfg(test)]`. Gives the lines of these, too.
fn without_tests(all: &[(String, usize)]) -> (Vec<String>, usize) {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut lines) = (Vec::new(), 0);
    let mut at = 0;
    while at < all.len() {
        let is_test = all[at..].iter().map(|(token, _)| token.as_str()).take(TEST.len()).eq(TEST);
        if is_test {
            let end = end_of_item(all, at + TEST.len());
            lines += all[end - 1].1 - all[at].1 + 1;
            at = end;
        } else {
            kept.push(all[at].0.clone());
            at += 1;
        }
    }
    (kept, lines)
}

/// Behind the item that begins here: its block, or its semicolon.
fn end_of_item(all: &[(String, usize)], from: usize) -> usize {
    let mut depth = 0;
    for (at, (token, _)) in all.iter().enumerate().skip(from) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                // A block of imports ends with its semicolon.
                if depth == 0 && all.get(at + 1).is_none_or(|(token, _)| token != ";") {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    all.len()
}

#[test]
fn comments_literals_and_tests_are_left_out() {
    let text = r####"use a::B; // c
        /* d */ fn e<'f>(g: &'f str) -> char { h("i\"j", r#"k"l"#, 'm', '\'', b'n', b"o") }
        #[cfg(test)] mod tests { fn p() { } }
        #[cfg(test)] mod q; struct R;"####;
    let wanted = "use a :: B ; fn e < > ( g : & str ) - > char { h ( , , , , , ) } struct R ;";
    assert_eq!(tokens(text).join(" "), wanted);
    assert_eq!(read("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n").1, 2);
}
