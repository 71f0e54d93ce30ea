//! Each state of the live page on a phone: nothing is wider than the screen, and every block is where the reference has it. Text is not
//! compared: fonts differ from machine to machine. `UPDATE=1` rewrites the reference.

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use crate::asking::{Served, until};
use crate::browser::Browser;
use crate::page::page;

/// A small phone's screen, in points.
const WIDTH: u32 = 360;
const HEIGHT: u32 = 740;
/// Blocks may be so many points off.
const TOLERANCE: f64 = 2.0;
const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/admin/phone.txt");

/// What is wider than the screen, by tag, class and text.
const TOO_WIDE: &str = "[...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > SCREEN + 0.5)
    .map((element) => `${element.tagName} .${element.className} #${element.id}: ${element.textContent.slice(0, 60)}`)
    .concat(document.documentElement.scrollWidth > SCREEN ? ['the page scrolls sideways'] : [])";

/// Where blocks are: those whose place does not depend on what is written in them.
const BLOCKS: &str = "[...document.querySelectorAll('header, form, section, dl, figure, canvas, li, details, #login input')]
    .filter((element) => element.checkVisibility())
    .map((element) => {
        const { left, width } = element.getBoundingClientRect();
        const name = element.id ? `#${element.id}` : element.className ? `.${element.className.split(' ')[0]}` : '';
        return `${element.tagName.toLowerCase()}${name} ${Math.round(left)} ${Math.round(width)}`;
    })
    .filter((line, place, all) => all.indexOf(line) === place)
    .join('\\n')";

/// Long words everywhere: a name of an export, an IPv6 address, a URL, what heads and far servers say.
const FULL_PAGE: &str = "(async () => {
    const [heads, uplinks, exports] = await Promise.all(['heads', 'uplinks', 'exports'].map((name) => import(`/page/${name}.js`)));
    const long = 'very-long-name-without-a-place-to-break/'.repeat(3);
    const clients = [{ client: '2001:db8:1234:5678:9abc:def0:1234:5678', server: '2001:db8:1234:5678:9abc:def0:1234:5679', connections: 16,
        sent_per_second: 1e9, received_per_second: 1e9, verdict: 'client-send-buffer' }];
    heads.showHeads(document.getElementById('heads'), { is_current: false, heads: [
        { head: 'a', host: long, state: 'down', addresses: ['192.0.2.1', '2001:db8::1'], clients, more_clients: 9 }] });
    uplinks.showUplinks(document.getElementById('uplinks'), [{ export: `/${long}`, url: `nfs://server/${long}`, is_up: false, sentence: long,
        connections: 8, rtt_seconds: 0.1, calls_in_flight: 1, calls_in_flight_max: 1024, read_per_second: 1e9, written_per_second: 1e9,
        cache: { attribute_hits: 1, attribute_misses: 1, data_hits: 1, data_misses: 1, dirty_bytes: 1e9, dirty_bytes_max: 1e10 } }]);
    exports.showExports(document.getElementById('exports'), [
        { export: `/${long}`, id: 1, capacity: { total_bytes: 1e15, free_bytes: 1e14, available_bytes: 1e13, total_files: 1e9, free_files: 1e8 } },
        { export: '/gone', id: 2, gone: long }]);
    document.getElementById('legend').open = true;
    document.querySelector('.client > button').click();
})()";

/// Compares a state of the page with the reference, and keeps its picture beside the other files of this test.
fn check(browser: &mut Browser, state: &str, found: &mut String) {
    // Not `innerWidth`: a phone makes that as wide as the widest element.
    let too_wide = browser.value(&TOO_WIDE.replace("SCREEN", &WIDTH.to_string()));
    assert_eq!(too_wide, Value::Array(Vec::new()), "{state}");
    let picture = browser.picture();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("phone-{state}.png.base64"));
    fs::write(file, picture).expect("written");
    let blocks = browser.value(BLOCKS);
    found.push_str(&format!("[{state}]\n{}\n\n", blocks.as_str().expect("text")));
}

/// Whether two lines are of the same block at the same place, but for some points.
fn is_same(one: &str, other: &str) -> bool {
    let parts = |line: &str| -> Option<(String, f64, f64)> {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    match (parts(one), parts(other)) {
        (Some((name, left, width)), Some((other, other_left, other_width))) => {
            name == other
                && (left - other_left).abs() <= TOLERANCE
                && (width - other_width).abs() <= TOLERANCE
        }
        _ => one == other,
    }
}

#[test]
fn every_state_of_the_page_fits_a_phone() {
    let Some(mut browser) = Browser::start(WIDTH, HEIGHT) else { return };
    let served = Served::start(&["--admin-listen", "127.0.0.1:0"]);
    let (place, token) = page(&served);
    let _connected = TcpStream::connect(served.server.address()).expect("connected");
    let mut found = String::new();
    browser.open(&place);
    until("the form", || {
        (browser.value("document.getElementById('login')?.hidden === false") == true).then_some(())
    });
    check(&mut browser, "login", &mut found);
    let form = browser.value("document.getElementById('login').textContent");
    assert!(form.as_str().is_some_and(|text| text.contains("Log in") && !text.contains("Look")), "{form}");
    browser.open(&format!("{place}#token={token}"));
    until("a client", || (browser.value("document.querySelector('.client') !== null") == true).then_some(()));
    check(&mut browser, "overview", &mut found);
    // Nothing changes any more.
    browser.value("document.getElementById('pause').click()");
    browser.value(FULL_PAGE);
    until("the curves", || {
        (browser.value("document.querySelector('.charts canvas') !== null") == true).then_some(())
    });
    check(&mut browser, "everything", &mut found);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(REFERENCE, &found).expect("written");
    }
    let reference = fs::read_to_string(REFERENCE).expect("it is there");
    for line in found.lines() {
        assert!(reference.lines().any(|known| is_same(known, line)), "new, or moved: {line}\n{found}");
    }
    for line in reference.lines() {
        assert!(found.lines().any(|known| is_same(known, line)), "missing, or moved: {line}\n{found}");
    }
}
