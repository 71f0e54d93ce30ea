//! Which word was probably meant by one that nothing knows.

/// The known word that is nearest, if one is near.
pub fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.into_iter().map(|known| (distance(typed, known), known)).min()?;
    (near.0 <= 1 + typed.len() / 5).then_some(near.1)
}

/// How many letters must be changed, added or left out.
fn distance(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 1..=to.len() {
            let changed = diagonal + usize::from(*letter != to[column - 1]);
            diagonal = row[column];
            row[column] = changed.min(diagonal + 1).min(row[column - 1] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_word_and_other_words_do_not() {
        let known = ["listen", "export", "log", "read_only"];
        for (typed, meant) in [
            ("lisen", Some("listen")),
            ("exports", Some("export")),
            ("readonly", Some("read_only")),
            ("port", None),
            ("zzzzzz", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
    }
}
