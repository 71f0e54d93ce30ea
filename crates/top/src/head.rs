//! The lines above the tables: which server, what all of it does, and whether it still answers.

use howdah_server::admin::Workers;
use howdah_units::{narrow_bytes, narrow_count, narrow_time};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use super::calls::Calls;
use super::layout::cut;
use super::screen::Screen;
use super::seen::Seen;

/// Lines for so many letters.
pub fn lines(screen: &Screen, width: usize) -> Vec<Line<'static>> {
    let right = if screen.is_paused { format!("paused {}", screen.clock) } else { screen.clock.clone() };
    let name = screen.seen.as_ref().map_or("howdah", |seen| &seen.server);
    let name = cut(name, width.saturating_sub(right.len() + 1));
    let gap = width.saturating_sub(name.chars().count() + right.len());
    let first = Line::from(format!("{name}{}{right}", " ".repeat(gap)));
    let mut lines = vec![first.style(Style::new().add_modifier(Modifier::BOLD))];
    lines.extend(screen.seen.iter().flat_map(figures).map(|text| Line::from(cut(&text, width))));
    if let Some(trouble) = &screen.trouble {
        let style = Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED);
        let style = if screen.has_colour { style.fg(Color::Red) } else { style };
        let text = format!("no answer since {}, still trying: {}", trouble.since, trouble.why);
        lines.push(Line::styled(cut(&text, width), style));
    }
    lines
}

/// What all of the server does, in two lines.
pub fn figures(seen: &Seen) -> [String; 2] {
    [of_calls(&seen.all), format!("{}   {}", of_workers(&seen.workers), of_memory(seen))]
}

fn of_calls(all: &Calls) -> String {
    let or_none = |value: Option<f64>, tell: fn(f64) -> String| value.map_or("-".to_owned(), tell);
    format!(
        "{} calls/s   in {}/s   out {}/s   {} errors/s   mean {}   p99 {}",
        or_none(all.calls_per_second, narrow_count),
        or_none(all.received_per_second, narrow_bytes),
        or_none(all.sent_per_second, narrow_bytes),
        or_none(all.errors_per_second, narrow_count),
        or_none(all.mean_seconds, narrow_time),
        or_none(all.p99_seconds, narrow_time),
    )
}

fn of_workers(workers: &Workers) -> String {
    let Workers { waiting, running, in_storage, calls_in_line, .. } = workers;
    let line = format!("workers: {waiting} wait, {running} run, {in_storage} in storage");
    if *calls_in_line == 0 { line } else { format!("{line}, {calls_in_line} calls in line") }
}

fn of_memory(seen: &Seen) -> String {
    let (used, budget) = (narrow_bytes(seen.buffer_bytes as f64), narrow_bytes(seen.budget_bytes as f64));
    match seen.pressure.as_str() {
        "none" => format!("buffers: {used} of {budget}"),
        pressure => format!("buffers: {used} of {budget}, short: {pressure}"),
    }
}
