//! Whether markup is well formed: every element is closed in its order, attributes are quoted, references are known.
//! Less than a browser accepts, so that what passes here is read alike by all.

/// Elements of HTML that have no end.
const VOID: [&str; 2] = ["meta", "br"];

/// Panics with the place where it is not.
pub fn well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        references(&rest[..start]);
        assert!(!rest[..start].contains('\u{1b}'), "a control character: {}", around(rest, start));
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->").expect("a comment ends") + 3..];
        } else if rest.starts_with("<!DOCTYPE") {
            rest = &rest[rest.find('>').expect("it ends") + 1..];
        } else if let Some(end) = rest.strip_prefix("</") {
            let (name, after) = end.split_once('>').expect("an end tag ends");
            assert_eq!(open.pop(), Some(name), "{}", around(text, text.len() - after.len()));
            rest = after;
        } else {
            rest = element(rest, &mut open);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

/// Reads a start tag; and all of a script or a style, which is no markup.
fn element<'a>(text: &'a str, open: &mut Vec<&'a str>) -> &'a str {
    let name_end = text[1..].find(|letter: char| !letter.is_ascii_alphanumeric()).expect("it ends") + 1;
    let name = &text[1..name_end];
    assert!(!name.is_empty(), "a bare <: {}", around(text, 0));
    let mut rest = text[name_end..].trim_start();
    while !rest.starts_with(['>', '/']) {
        let (attribute, after) = rest.split_once([' ', '>', '=']).expect("it ends");
        assert!(!attribute.contains(['"', '<', '\'']), "{attribute:?} in {}", around(text, 0));
        rest = rest[attribute.len()..].trim_start();
        if rest.starts_with('=') {
            let value = after.strip_prefix('"').unwrap_or_else(|| panic!("no quotes: {}", around(text, 0)));
            let (value, after) = value.split_once('"').expect("a value ends");
            assert!(!value.contains('<'), "{value}");
            references(value);
            rest = after.trim_start();
        }
    }
    if let Some(after) = rest.strip_prefix("/>") {
        return after;
    }
    rest = rest.strip_prefix('>').expect("it ends");
    if ["script", "style"].contains(&name) {
        let end = format!("</{name}>");
        return &rest[rest.find(&end).expect("it ends") + end.len()..];
    }
    if !VOID.contains(&name) {
        open.push(name);
    }
    rest
}

/// Every ampersand begins a reference that XML knows too.
fn references(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#"]
            .iter()
            .any(|known| text[at..].starts_with(known));
        assert!(known, "a bare &: {}", around(text, at));
    }
}

fn around(text: &str, at: usize) -> String {
    text[..at]
        .chars()
        .rev()
        .take(80)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .chain(text[at..].chars().take(80))
        .collect()
}
