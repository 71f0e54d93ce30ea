//! Text in figures: how wide it is, about, and where a long one is broken. A figure is drawn before any browser has
//! measured it, so widths are estimates on the safe side.

/// Width of a character, in parts of the size of the letters.
fn width_of(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.32,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.90,
        'A'..='Z' => 0.70,
        character if (character as u32) < 0x2E80 => 0.58,
        _ => 1.0,
    }
}

/// About how wide a text is, in the unit of the size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(width_of).sum::<f64>() * size
}

/// A text in lines of at most this width, at most so many; what does not fit ends with an ellipsis. Words that are
/// longer than a line are cut.
pub fn wrapped(text: &str, size: f64, room: f64, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| cut(word, size, room)) {
        match wrapped.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(&word, size) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => wrapped.push(word),
        }
    }
    if wrapped.len() > lines {
        wrapped.truncate(lines);
        if let Some(last) = wrapped.last_mut() {
            shorten(last, size, room);
        }
    }
    wrapped
}

/// A word in pieces that each fit.
fn cut(word: &str, size: f64, room: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0.0;
    for character in word.chars() {
        let wide = width_of(character) * size;
        if used + wide > room && used > 0.0 {
            pieces.push(String::new());
            used = 0.0;
        }
        used += wide;
        pieces.last_mut().expect("there is one from the start").push(character);
    }
    pieces
}

/// Makes room for an ellipsis at the end, and puts it there.
fn shorten(line: &mut String, size: f64, room: f64) {
    while width(line, size) + size > room && !line.is_empty() {
        line.pop();
    }
    line.push('…');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_their_room() {
        for (text, lines) in [
            ("short", 1),
            ("", 0),
            ("a rather long name of a level, such as people write them", 3),
            ("Donaudampfschifffahrtsgesellschaftskapitänswitwenrente", 2),
        ] {
            let wrapped = wrapped(text, 12.0, 130.0, 3);
            assert!(wrapped.len() <= 3 && wrapped.len() >= lines, "{wrapped:?}");
            assert!(wrapped.iter().all(|line| width(line, 12.0) <= 130.0), "{wrapped:?}");
        }
        let cut = wrapped(&"word ".repeat(40), 12.0, 130.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…'), "{cut:?}");
    }
}
