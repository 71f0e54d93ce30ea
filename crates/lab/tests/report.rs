//! The report as its readers get it: whole whatever state the results are in, with everything escaped, asking nobody.

mod report_pages;

use std::fs;

use howdah_lab::record::{Outcome, ResultDirectory, Row};
use howdah_lab::report::write;
use howdah_workload::measure::OtherLoad;
use report_pages::{measured, plan, small, well_formed};

/// The page of these results.
fn page(text: &str, change: impl FnMut(&mut Row)) -> String {
    let home = tempfile::tempdir().expect("a directory");
    let path = write(&measured(home.path(), text, change)).expect("written");
    fs::read_to_string(path).expect("read")
}

/// How often a text occurs.
fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

#[test]
fn the_answer_comes_first_and_every_part_is_there() {
    let page = page(&small(), |_| {});
    well_formed(&page);
    let parts = [
        "<h1>",
        "Question",
        "The answer",
        "Figures",
        "All cells",
        "How to repeat it",
        "Each cell",
        "Measured on",
    ];
    let places: Vec<usize> =
        parts.iter().map(|part| page.find(part).unwrap_or_else(|| panic!("no {part}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("1 of 2 conclusions held."));
    assert_eq!((count(&page, "</span>Held<"), count(&page, "</span>Did not hold<")), (1, 1));
    assert!(page.contains("of the line rate, 117 MB/s"), "a claim shows its figures");
    assert!(
        page.contains("43.3 MB/s (ours: ") && page.contains("linux-nfs, 2008"),
        "the origin's figure stands beside"
    );
    assert!(page.contains("n = 3"), "a median tells of how many");
    assert!(
        page.contains("howdah bench &#39;nfs") || page.contains("howdah bench 'nfs"),
        "commands can be typed again"
    );
}

#[test]
fn every_figure_of_the_plan_has_a_caption_axes_words_for_listeners_and_numbers() {
    let home = tempfile::tempdir().expect("a directory");
    let path = write(&measured(home.path(), &small(), |_| {})).expect("written");
    let page = fs::read_to_string(path).expect("read");
    for number in 1..=4 {
        let start = page.find(&format!("<figure id=\"figure-{number}\"")).expect("there");
        let figure = &page[start..start + page[start..].find("</figure>").expect("it ends")];
        assert_eq!(count(figure, "<svg"), 2, "figure {number}: for wide and for narrow screens");
        for part in ["<figcaption>", "role=\"img\"", "<desc", "<details>", "<th scope=\"col\">"] {
            assert!(figure.contains(part), "figure {number}: {part}");
        }
    }
    for axis in
        ["Throughput, MB/s", "Time since the clients began, s", "Round trip, ms", "Latency, ms (logarithmic)"]
    {
        assert!(page.contains(axis), "{axis}");
    }
    let mut files: Vec<String> = Vec::new();
    for entry in fs::read_dir(home.path().join("figures")).expect("there") {
        let path = entry.expect("an entry").path();
        let svg = fs::read_to_string(&path).expect("read");
        well_formed(&svg);
        assert!(!svg.contains("var(--"), "a viewer without a page knows no variables: {}", path.display());
        files.push(path.file_name().expect("named").to_string_lossy().into_owned());
    }
    files.sort();
    assert_eq!(files.len(), 4, "{files:?}");
    assert_eq!(files[0], "01-throughput-against-rtt.svg");
}

#[test]
fn nothing_is_asked_of_anybody() {
    let page = page(&small(), |_| {});
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "@import", "<link", "<iframe", "<img"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let own = |text: &str| text.starts_with("url(#") || text.starts_with("url(&quot;#");
    assert!(page.match_indices("url(").all(|(at, _)| own(&page[at..])), "only parts of the page itself");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn identifiers_are_the_only_ones_of_their_page() {
    let page = page(&small(), |_| {});
    let ids = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().expect("one"));
    let mut ids: Vec<&str> = ids.collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    let targets = page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().expect("one"));
    targets.for_each(|target| assert!(ids.binary_search(&target).is_ok(), "#{target} leads nowhere"));
}

#[test]
fn a_hostile_plan_and_hostile_logs_are_text() {
    let evil = r#"<script>alert(1)</script>"><img src=x onerror=alert(2)>&amp;' {{"#;
    let text = plan(&["0ms", "30ms"], &[evil, "b"])
        .replace("A fixed receive buffer against a long path", &evil.replace('"', "\\\""))
        .replace("How much of a long path", &format!("{} How", evil.replace('"', "'")))
        .replace("The same at one round trip.", &evil.replace('"', "\\\""))
        .replace("linux-nfs, 2008", &evil.replace('"', "\\\""))
        .replace("It moves at least all of it.", &evil.replace('"', "\\\""));
    let home = tempfile::tempdir().expect("a directory");
    let directory = measured(home.path(), &text, |row| {
        row.machine.host = evil.to_owned();
        row.commit = Some(evil.to_owned());
        row.commands[0].command.push(evil.to_owned());
        row.commands[0].host = evil.to_owned();
        row.started = evil.to_owned();
        if row.cell == 1 {
            row.outcome = Outcome::Failed(format!("{evil}\u{1b}[31m"));
        }
        if let Some(latencies) = row.latencies.remove("main") {
            row.latencies.insert(evil.to_owned(), latencies);
        }
    });
    let page = fs::read_to_string(write(&directory).expect("written")).expect("read");
    well_formed(&page);
    assert_eq!(count(&page, "<script"), 1, "only its own");
    assert!(!page.contains("<img") && page.contains("&lt;script&gt;alert(1)"));
    for entry in fs::read_dir(home.path().join("figures")).expect("there") {
        let svg = fs::read_to_string(entry.expect("an entry").path()).expect("read");
        well_formed(&svg);
        assert!(!svg.contains("<script") && !svg.contains("<img"));
    }
}

#[test]
fn an_interrupted_run_is_reported_as_far_as_it_came() {
    let home = tempfile::tempdir().expect("a directory");
    let directory = measured(home.path(), &small(), |_| {});
    let rows = home.path().join("rows.jsonl");
    let text = fs::read_to_string(&rows).expect("read");
    let kept: String = text.lines().take(7).map(|line| format!("{line}\n")).collect();
    fs::write(&rows, kept + "{\"plan\":\"buffers-20").expect("written");
    let page = fs::read_to_string(write(&directory).expect("written")).expect("read");
    well_formed(&page);
    assert!(page.contains("7 of 18 measurements are there"));
    fs::write(&rows, "").expect("written");
    let page = fs::read_to_string(write(&directory).expect("written again")).expect("read");
    well_formed(&page);
    assert!(page.contains("Nothing has been measured yet."));
    assert_eq!(count(&page, "Not measured"), 2);
    assert_eq!(
        fs::read_dir(home.path().join("figures")).expect("there").count(),
        0,
        "those of before are gone"
    );
}

#[test]
fn failed_cells_are_named_with_why_and_leave_a_gap() {
    let page = page(&small(), |row| {
        if row.cell == 4 || (row.cell == 1 && row.repetition == 2) {
            row.outcome = Outcome::Failed("server: not ready within 10 s".to_owned());
            row.figures.clear();
            row.latencies.clear();
        }
    });
    well_formed(&page);
    assert!(page.contains("4 of 18 measurements failed"));
    assert!(
        page.contains("rtt 30ms, receive buffer the kernel&#39;s: repetitions 1, 2, 3")
            || page.contains("rtt 30ms, receive buffer the kernel's: repetitions 1, 2, 3")
    );
    assert!(page.contains("n = 2") && page.contains("1 failed"));
    assert!(page.contains("Cell 4: rtt 30ms, receive buffer the kernel's – failed"));
}

#[test]
fn measurements_on_a_busy_machine_are_marked() {
    let calm = page(&small(), |_| {});
    assert!(!calm.contains("may be wrong") && calm.contains("of CPU time, 2 % of all CPUs."));
    let busy = page(&small(), |row| {
        if row.cell == 3 && row.repetition == 2 {
            row.other_load = Some(OtherLoad { seconds: 8.0, share: 0.34 });
        }
    });
    well_formed(&busy);
    assert!(busy.contains("during 1 of 18 measurements") && busy.contains("cell 3 repetition 2 (34 %)"));
    assert!(
        busy.contains("while other programs and kernel threads took 34 % of the CPUs"),
        "a claim that it decides says so"
    );
}

#[test]
fn missing_series_and_latencies_are_said_and_stop_nothing() {
    let page = page(&small(), |row| {
        row.series = None;
        row.latencies.clear();
        row.line_rate_bytes_per_second = None;
    });
    well_formed(&page);
    assert!(page.contains("No time series was recorded for this figure."));
    assert!(page.contains("No latencies were measured for this figure."));
    assert!(!page.contains("of line rate, %"));
    let home = tempfile::tempdir().expect("a directory");
    let directory = measured(home.path(), &small(), |_| {});
    fs::remove_dir_all(home.path().join("series")).expect("removed");
    let page = fs::read_to_string(write(&directory).expect("written")).expect("read");
    assert!(page.contains("There is nothing of this in series/"));
}

#[test]
fn latencies_are_those_that_the_figure_names() {
    let text = small().replace("kind = \"latency\"", "kind = \"latency\"\ny = \"main.stat.p99\"");
    let page = page(&text, |row| {
        let latencies = row.latencies.remove("main").expect("of main");
        row.latencies = ["main.stat", "main.create"].map(|name| (name.to_owned(), latencies.clone())).into();
    });
    well_formed(&page);
    assert!(page.contains("Percentiles of latency"));
    assert!(!page.contains("main.create"), "of one phase only");
}

#[test]
fn odd_numbers_break_no_figure() {
    for value in [0.0, -1.0, 1e-300, 1e300, 1e15] {
        let page = page(&small(), |row| {
            row.figures.values_mut().for_each(|figure| figure.value = value);
            row.latencies.values_mut().flatten().for_each(|(_, seconds)| *seconds = value);
        });
        well_formed(&page);
        let page = page.replace("isNaN", "");
        assert!(!page.contains("NaN") && !page.contains("inf\""), "{value}");
    }
}

#[test]
fn one_cell_two_hundred_cells_and_long_names_are_whole() {
    let rtts: Vec<String> = (0..25).map(|step| format!("{}ms", step * 12)).collect();
    let rtts: Vec<&str> = rtts.iter().map(String::as_str).collect();
    let long = "a name that somebody wrote who had never seen an axis ".repeat(8);
    for (text, cells) in [
        (plan(&["30ms"], &["fixed"]), 1),
        (plan(&rtts, &["1", "2", "3", "4", "5", "6", "7", "8"]), 200),
        (plan(&["0ms", "1ms"], &[&long, "Donaudampfschifffahrtsgesellschaftskapitän"]), 4),
    ] {
        let page = page(&text, |row| row.series = None);
        well_formed(&page);
        assert_eq!(count(&page, "<details class=\"cell\""), cells);
    }
}

#[test]
fn what_is_swept_over_one_level_becomes_bars() {
    let page = page(&plan(&["30ms"], &["3,158,016, fixed", "the kernel's"]), |_| {});
    assert!(page.contains("Figure 1: Throughput by rtt") && page.contains("A bar chart."));
    assert!(!page.contains("Throughput against rtt"));
}

#[test]
fn the_page_is_the_same_when_written_again() {
    let home = tempfile::tempdir().expect("a directory");
    let directory = measured(home.path(), &small(), |_| {});
    let first = fs::read(write(&directory).expect("written")).expect("read");
    let again = ResultDirectory::open(home.path()).expect("there");
    assert!(fs::read(write(&again).expect("written")).expect("read") == first);
}
