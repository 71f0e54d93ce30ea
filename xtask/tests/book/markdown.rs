//! As much of Markdown as our documents use: links, headings, prose.

use std::collections::BTreeSet;

/// A link.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    /// Line in the document, from 1.
    pub line: usize,
    /// As it is written: a path, `path#heading`, `#heading` or a URL.
    pub target: String,
}

/// The lines that are no code and no comment, with their numbers.
fn text_lines(document: &str) -> Vec<(usize, &str)> {
    let (mut is_code, mut is_comment) = (false, false);
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(document.lines()) {
        let start = line.trim_start();
        if start.starts_with("```") {
            is_code = !is_code;
            // What is before a block and after it are two paragraphs.
            lines.push((number, ""));
            continue;
        }
        is_comment |= start.starts_with("<!--");
        if !is_code && !is_comment {
            lines.push((number, line));
        }
        is_comment &= !line.contains("-->");
    }
    lines
}

/// A text without what is between backticks, which is replaced by one word.
fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part } else { "code" }).collect()
}

/// All links of a document. A link may be broken over lines in its text, not in its target.
pub fn links(document: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, text) in text_lines(document) {
        let text = without_code(text);
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default().split(' ').next().unwrap_or_default();
            links.push(Link { line, target: target.to_owned() });
        }
    }
    links
}

/// The names by which headings of a document are linked to.
pub fn anchors(document: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in text_lines(document) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let keep = |character: &char| character.is_alphanumeric() || [' ', '-', '_'].contains(character);
        let title: String = title.trim().to_lowercase().chars().filter(keep).collect();
        let name = title.replace(' ', "-");
        let repeated = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(repeated).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// The paragraphs, items of lists and cells of tables, without code and targets of links.
pub fn prose(document: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for (_, line) in text_lines(document) {
        let line = without_code(line);
        let start = line.trim();
        if start.starts_with('|') {
            paragraphs.extend(start.split('|').map(str::to_owned));
            paragraphs.push(String::new());
            continue;
        }
        let is_item = ["- ", "* ", "> "].iter().any(|mark| start.starts_with(mark))
            || start.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if start.is_empty() || is_item || start.starts_with('#') {
            paragraphs.push(String::new());
        }
        let last = paragraphs.last_mut().expect("one");
        last.push(' ');
        last.push_str(start.trim_start_matches(['-', '*', '>', '#', ' ']));
    }
    let paragraphs = paragraphs.into_iter().map(|paragraph| without_targets(&paragraph));
    paragraphs.filter(|paragraph| !paragraph.trim().is_empty()).collect()
}

fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, after)| after))
}

/// What has no letter and no digit is no word: bars and lines of tables, dashes.
fn is_word(word: &&str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// How many words a document has, code included.
pub fn words(document: &str) -> usize {
    document.split_whitespace().filter(is_word).count()
}

/// The sentences of a document.
pub fn sentences(document: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for paragraph in prose(document) {
        let mut sentence = Vec::new();
        for word in paragraph.split_whitespace().filter(is_word) {
            sentence.push(word);
            let end = word.trim_end_matches(['"', ')', '*', ']']);
            if end.ends_with(['.', '!', '?']) {
                sentences.push(std::mem::take(&mut sentence).join(" "));
            }
        }
        sentences.push(sentence.join(" "));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[test]
fn links_are_found_outside_of_code() {
    let document = "[a](b.md#c) `[x](y)`\n```\n[z](z)\n```\n<!-- [c](c) -->\n[two\nlines](d.md) ![p](e.png)";
    let found: Vec<(usize, String)> =
        links(document).into_iter().map(|link| (link.line, link.target)).collect();
    let expected = [(1, "b.md#c"), (7, "d.md"), (7, "e.png")].map(|(line, target)| (line, target.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn headings_have_names() {
    let document = "# One `two`, three\n## Same\n## Same\n```\n# not\n```\n#no\n";
    let expected = ["one-two-three", "same", "same-1"].map(str::to_owned);
    assert_eq!(anchors(document), BTreeSet::from(expected));
}

#[test]
fn bars_and_dashes_are_no_words() {
    assert_eq!(words("# One\n\n| `two` | - | 3.5 |\n|---|---|---|\n"), 3);
}

#[test]
fn sentences_end_where_people_see_it() {
    let document =
        "A b. C\nd [e f](g h)!\n\n- item one: `x. y` z\n- two\n\n| a b | c. d |\n```\ncode\n```\nrest";
    assert_eq!(
        sentences(document),
        ["A b.", "C d [e f!", "item one: code z", "two", "a b", "c.", "d", "rest"]
    );
}
