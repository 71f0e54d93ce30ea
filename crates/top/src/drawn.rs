//! Tests of what is drawn: snapshots of screens of several sizes.

use std::time::Duration;

use howdah_server::admin::Export;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::widgets::Widget;
use snapbox::{assert_data_eq, file};

use super::kind::Kind;
use super::screen::{Screen, Wish};
use super::testing::{look, seen};
use super::{Seen, lines};

fn screen(kind: Kind) -> Screen {
    let mut screen = Screen::new(kind, "", Duration::from_secs(2), true);
    screen.on_seen(seen(), "14:02:33".to_owned());
    screen
}

fn drawn(screen: &Screen, width: u16, height: u16) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    screen.render(buffer.area, &mut buffer);
    buffer
}

fn text(screen: &Screen, width: u16, height: u16) -> String {
    let buffer = drawn(screen, width, height);
    let line =
        |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    (0..height).map(line).collect()
}

fn press(screen: &mut Screen, keys: impl IntoIterator<Item = KeyCode>) {
    for key in keys {
        assert_eq!(screen.on_key(KeyEvent::from(key)), Wish::Show);
    }
}

#[test]
fn a_screen_of_eighty_by_twenty_four() {
    assert_data_eq!(text(&screen(Kind::Clients), 80, 24), file!["snapshots/clients-80x24.txt"]);
    assert_data_eq!(text(&screen(Kind::Exports), 80, 24), file!["snapshots/exports-80x24.txt"]);
    assert_data_eq!(text(&screen(Kind::Connections), 80, 24), file!["snapshots/connections-80x24.txt"]);
}

#[test]
fn calls_for_no_export_are_a_row_and_no_export() {
    let looks = [0, 1].map(|number| {
        let mut look = look(number);
        let none = Export { export: "(none)".to_owned(), id: None, ..look.exports.exports[0].clone() };
        look.exports.exports.push(none);
        look
    });
    let mut screen = Screen::new(Kind::Exports, "", Duration::from_secs(2), true);
    screen.on_seen(Seen::between(Some(&looks[0]), &looks[1]), "14:02:33".to_owned());
    let text = text(&screen, 80, 24);
    assert!(text.contains("[1 exports: 2]") && text.contains("(none)"), "{text}");
}

#[test]
fn a_wide_screen_and_a_narrow_one() {
    assert_data_eq!(text(&screen(Kind::Clients), 200, 60), file!["snapshots/clients-200x60.txt"]);
    assert_data_eq!(text(&screen(Kind::Exports), 200, 60), file!["snapshots/exports-200x60.txt"]);
    assert_data_eq!(text(&screen(Kind::Connections), 200, 60), file!["snapshots/connections-200x60.txt"]);
    assert_data_eq!(text(&screen(Kind::Clients), 40, 12), file!["snapshots/clients-40x12.txt"]);
}

#[test]
fn any_size_is_drawn() {
    let (mut screen, mut helped) = (screen(Kind::Clients), screen(Kind::Exports));
    screen.on_trouble(
        "asking the server: no server listens there (any more)".to_owned(),
        "14:02:35".to_owned(),
    );
    helped.helps = true;
    for (width, height) in (0..90).flat_map(|width| (0..30).map(move |height| (width, height))) {
        drawn(&screen, width, height);
        drawn(&helped, width, height);
    }
}

#[test]
fn that_the_server_is_gone_is_said_with_what_was_seen_last() {
    let mut screen = screen(Kind::Clients);
    screen.on_trouble(
        "asking the server: no server listens there (any more)".to_owned(),
        "14:02:35".to_owned(),
    );
    screen.on_trouble(
        "asking the server: no server listens there (any more)".to_owned(),
        "14:02:37".to_owned(),
    );
    let gone = text(&screen, 80, 24);
    assert!(gone.contains("no answer since 14:02:35, still trying: asking the server"), "{gone}");
    assert!(gone.contains("10.0.0.9"), "{gone}");
    screen.on_seen(seen(), "14:02:39".to_owned());
    assert!(!text(&screen, 80, 24).contains("no answer"));
}

#[test]
fn keys_sort_choose_filter_and_open() {
    let mut screen = screen(Kind::Clients);
    let names = |screen: &Screen| screen.rows().0.into_iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(names(&screen), ["10.0.0.9", "10.0.0.7", "fd00::12"], "the busiest comes first");
    press(&mut screen, [KeyCode::Char('r')]);
    assert_eq!(names(&screen), ["fd00::12", "10.0.0.7", "10.0.0.9"]);
    press(&mut screen, [KeyCode::Down]);
    assert_eq!(screen.selected.as_deref(), Some("10.0.0.7"));
    press(&mut screen, [KeyCode::Char('r'), KeyCode::Enter]);
    assert_eq!((screen.kind, names(&screen)), (Kind::Connections, vec!["10.0.0.7:1022".to_owned()]));
    press(&mut screen, [KeyCode::Esc]);
    assert_eq!(names(&screen).len(), 4);
    press(&mut screen, "/PATH".chars().map(KeyCode::Char).chain([KeyCode::Enter]));
    assert_eq!(names(&screen), ["10.0.0.9:900"], "letters of either size");
    press(&mut screen, "/".chars().map(KeyCode::Char).chain([KeyCode::Backspace, KeyCode::Esc]));
    let title = |screen: &Screen| screen.kind.columns()[screen.sort().column].title;
    while title(&screen) != "RTT" {
        press(&mut screen, [KeyCode::Right]);
    }
    assert_eq!(names(&screen)[0], "10.0.0.7:1022", "the longest round trip first");
    press(&mut screen, [KeyCode::Char('1')]);
    assert_eq!((screen.kind, title(&screen)), (Kind::Exports, "CALLS/s"), "each table has its own order");
}

#[test]
fn what_is_paused_stays() {
    let mut screen = screen(Kind::Clients);
    press(&mut screen, [KeyCode::Char('p')]);
    screen.on_seen(Seen::between(None, &look(0)), "14:02:35".to_owned());
    let shown = text(&screen, 80, 24);
    assert!(shown.contains("paused 14:02:33") && shown.contains("1.8k calls/s"), "{shown}");
}

#[test]
fn without_colour_there_is_none() {
    let colours = |has_colour| {
        let mut screen = Screen { has_colour, ..screen(Kind::Clients) };
        screen.on_trouble("why".to_owned(), "14:02:35".to_owned());
        let buffer = drawn(&screen, 80, 24);
        let plain = buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset);
        (plain, buffer.content.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)))
    };
    assert_eq!((colours(true), colours(false)), ((false, true), (true, true)));
}

#[test]
fn one_look_has_no_rates_and_a_server_started_anew_none_either() {
    let alone = Seen::between(None, &look(1));
    assert_eq!((alone.seconds, alone.all.calls_per_second), (0.0, None));
    let anew = super::TopLook { process: 4712, ..look(1) };
    assert_eq!(Seen::between(Some(&look(0)), &anew).all.calls_per_second, None);
    assert_eq!(Seen::between(Some(&look(1)), &look(0)).seconds, 0.0, "its clock went back");
}

#[test]
fn plain_lines_have_all_tables() {
    let tables = Kind::ALL.map(|kind| (kind, kind.usual_sort()));
    assert_data_eq!(lines(&seen(), &tables, "", 80), file!["snapshots/lines-80.txt"]);
}
