//! Paths as people write them.

use std::time::Duration;

use howdah_link::quantity::{Bitrate, ByteCount, Probability, Span};
use howdah_link::{
    DirectionSpec, Element, JitterSpec, OutagesSpec, Path, PathSpec, QueueSpec, RateSpec, ReorderSpec,
    TooLarge, profiles,
};
use proptest::prelude::*;

use crate::load::{Body, Sent};
use crate::run::{Driver, micros, prompt, run};

fn parse(text: &str) -> PathSpec {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn error(text: &str) -> String {
    toml::from_str::<PathSpec>(text).expect_err(text).to_string()
}

const EVERYTHING: &str = r#"
rtt = "30ms"
rate = "1Gbit"
queue = "1bdp"
loss = "0.01%"
bursts = { loss = "1%", length = 4 }
jitter = { most = "1ms", overtaking = true }
reorder = { packets = "0.1%", hold = "5ms" }
duplicate = "0.1%"
corrupt = "0.01%"
mtu = { size = 1500, too_large = "dropped" }
schedule = "down 2s every 30s"
[back]
rate = "100Mbit"
queue = "codel"
jitter = "2ms"
reorder = "1%"
mtu = 1400
"#;

#[test]
fn a_path_with_everything() {
    let path = parse(EVERYTHING);
    let percent = |percent| Probability::percent(percent).expect("one");
    assert_eq!(path.round_trip(), Duration::from_millis(30));
    assert_eq!(path.there.rate, Some(RateSpec::Fixed(Bitrate(1_000_000_000))));
    assert_eq!(path.back.rate, Some(RateSpec::Fixed(Bitrate(100_000_000))));
    assert_eq!((path.there.queue, path.back.queue), (Some(QueueSpec::Bdp(1.0)), Some(QueueSpec::CoDel)));
    assert_eq!(path.there.jitter, Some(JitterSpec { most: micros(1000), overtaking: true }));
    assert_eq!(path.back.jitter, Some(JitterSpec { most: micros(2000), overtaking: false }));
    assert_eq!(path.back.reorder, Some(ReorderSpec { packets: percent(1.0), hold: None }));
    assert_eq!((path.there.loss, path.back.corrupt), (Some(percent(0.01)), Some(percent(0.01))));
    assert_eq!(path.there.mtu.expect("one").too_large, TooLarge::Dropped);
    assert_eq!(path.back.mtu.expect("one").too_large, TooLarge::Reported);
    let outages = OutagesSpec { down: Duration::from_secs(2), every: Duration::from_secs(30) };
    assert_eq!(path.back.schedule, Some(outages));
}

#[test]
fn its_elements_are_in_the_documented_order() {
    let (there, back) = parse(EVERYTHING).build::<Body>(1);
    let names = |path: &Path<Body>| path.report().map(|(name, _)| name).collect::<Vec<_>>();
    let expected = [
        "schedule",
        "mtu",
        "rate",
        "loss",
        "loss",
        "corruption",
        "duplication",
        "delay",
        "jitter",
        "reordering",
    ];
    assert_eq!(names(&there), expected);
    assert_eq!(names(&back), expected);
    assert!(names(&PathSpec::default().build(1).0).is_empty(), "a perfect wire has no element");
    assert!(names(&parse("loss = \"0%\"\nrtt = \"0ms\"").build(1).0).is_empty());
}

#[test]
fn what_is_written_can_be_read_again() {
    let trace = "rate = { opportunities = [0, 1, 5] }";
    let steps =
        "rate = { steps = [{ rate = \"10Mbit\", last = \"5s\" }, { rate = \"0bit\", last = \"1s\" }] }";
    for text in
        [EVERYTHING, "", "rtt = \"3ns\"", trace, steps, "rate = \"unlimited\"", "rate = { trace = \"lte\" }"]
    {
        let path = parse(text);
        let written = toml::to_string(&path).expect("it can be written");
        assert_eq!(parse(&written), path, "{written}");
    }
    for profile in profiles() {
        let written = toml::to_string(&profile.path).expect("it can be written");
        assert_eq!(parse(&written), profile.path, "{written}");
    }
}

#[test]
fn a_profile_is_where_to_start_from() {
    let path = parse("profile = \"wan-30ms\"\nloss = \"1%\"\n[back]\nrate = \"unlimited\"");
    assert_eq!(path.round_trip(), Duration::from_millis(30));
    assert_eq!(path.there.line_rate(), Some(Bitrate(1_000_000_000)));
    assert_eq!(path.back.line_rate(), None);
    assert_eq!(path.back.loss, Probability::percent(1.0));
    let other = parse("profile = \"wan-30ms\"\nrtt = \"100ms\"");
    assert_eq!(other.round_trip(), Duration::from_millis(100));
    // Its queue is not a mistake of the user who undoes its line.
    let wire = parse("profile = \"lan-100m\"\nrate = \"unlimited\"");
    assert_eq!(wire.there.line_rate(), None);
    // Nor is one in round trips, where there is no line and no round trip.
    parse("rate = \"unlimited\"\nqueue = \"1bdp\"");
}

#[test]
fn errors_say_what_was_given_and_what_is_allowed() {
    for (text, parts) in [
        ("rtt = \"30\"", &["\"30\" is not a time", "30ms", "rtt = \"30\""][..]),
        ("rtt = 30", &["integer `30`", "a time", "30ms"]),
        ("rate = \"fast\"", &["\"fast\" is not a rate", "Mbit", "unlimited"]),
        ("rate = \"0bit\"", &["sends nothing", "down 2s every 30s"]),
        ("loss = 0.01", &["floating point `0.01`", "0.01%"]),
        ("loss = \"101%\"", &["101%", "from 0 to 100"]),
        ("queue = \"big\"", &["\"big\" is not a queue", "1bdp", "codel"]),
        (
            "rtt = \"1ms\"\nqueue = \"1bdp\"",
            &["1bdp", "without a rate", "client to server", "rate = \"1Gbit\""],
        ),
        ("queue = \"1bdp\"\nthere.rate = \"1Gbit\"", &["without a rate", "server to client"]),
        (
            "rate = \"1Gbit\"\nqueue = \"1bdp\"",
            &["1bdp", "without a round trip", "client to server", "rtt = \"30ms\"", "256KiB"],
        ),
        (
            "rate = \"1Gbit\"\nback.queue = \"2bdp\"\nrtt = \"0ms\"",
            &["2bdp", "without a round trip", "server to client"],
        ),
        ("bursts = { loss = \"1%\" }", &["missing field `length`"]),
        ("bursts = { loss = \"90%\", length = 2 }", &["at most 66.7%"]),
        ("bursts = { loss = \"1%\", length = 0.5 }", &["at least 1"]),
        ("jitter = \"much\"", &["1ms", "overtaking"]),
        ("schedule = \"down 30s every 2s\"", &["down 2s every 30s"]),
        ("mtu = \"1500\"", &["1500", "dropped"]),
        ("mtu = 5", &["mtu = 5: an MTU is at least 68 bytes"]),
        ("rtt = \"1ms\"\ndelay = \"1ms\"", &["leave one out"]),
        ("profile = \"moon\"", &["no profile \"moon\"", "earth-moon", "lan-1g"]),
        ("latency = \"1ms\"", &["unknown field `latency`", "`delay`"]),
        ("[back]\nrtt = \"1ms\"", &["unknown field `rtt`", "`delay`"]),
    ] {
        let error = error(text);
        for part in parts {
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_packets_and_directions_differ() {
    let spec = parse(
        "delay = \"1ms\"\nloss = \"5%\"\nduplicate = \"5%\"\ncorrupt = \"5%\"\njitter = \"1ms\"\nreorder = \"5%\"",
    );
    let load: Vec<_> = (0..500).map(|_| Sent::super_packet(micros(700), 10)).collect();
    let of = |seed| {
        let (there, back) = spec.build(seed);
        (prompt(there, &load), prompt(back, &load))
    };
    let (there, back) = of(1);
    assert_eq!((&there, &back), (&of(1).0, &of(1).1));
    assert_ne!(there, back);
    assert_ne!(there, of(2).0);
}

#[test]
fn chances_do_not_depend_on_what_else_a_path_has() {
    let load: Vec<_> = (0..1000).map(|_| Sent::frame(micros(700))).collect();
    let dropped = |text: &str| {
        let (mut there, _) = parse(text).build(7);
        let mut lost: Vec<u64> = (0..1000).collect();
        let out = run(&mut there, &load, Driver::Prompt);
        lost.retain(|n| !out.iter().any(|(_, packet)| packet.body.first == *n));
        lost
    };
    assert_eq!(
        dropped("loss = \"5%\""),
        dropped("loss = \"5%\"\nrtt = \"50ms\"\ncorrupt = \"50%\"\nmtu = 9000")
    );
}

/// How many full frames the queue of a line holds.
fn room(text: &str) -> u64 {
    let (mut there, _) = parse(text).build(1);
    let load = vec![Sent::frame(Duration::ZERO); 5_000];
    run(&mut there, &load, Driver::Prompt);
    // One is on the line.
    there.counters().left.packets - 1
}

#[test]
fn queues_have_the_room_that_they_say() {
    // 1 Gb/s x 30 ms = 3,750,000 bytes.
    assert_eq!(room("rate = \"1Gbit\"\nrtt = \"30ms\"\nqueue = \"1bdp\""), 3_750_000 / 1538);
    assert_eq!(room("rate = \"1Gbit\"\nrtt = \"30ms\"\nqueue = \"0.5bdp\""), 1_875_000 / 1538);
    assert_eq!(room("rate = \"1Gbit\"\nrtt = \"30ms\""), 3_750_000 / 1538, "the usual one");
    assert_eq!(room("rate = \"1Gbit\""), 1_250_000 / 1538, "10 ms of a gigabit at least");
    assert_eq!(room("rate = \"1Mbit\"\nrtt = \"1ms\""), 32);
    assert_eq!(room("rate = \"1Gbit\"\nqueue = \"100 packets\""), 100);
    assert_eq!(room("rate = \"1Gbit\"\nqueue = \"256KiB\""), (256 << 10) / 1538);
    // The round trip is of the path, not twice this direction's delay.
    let uneven = "rate = \"1Gbit\"\nqueue = \"1bdp\"\n[there]\ndelay = \"10ms\"\n[back]\ndelay = \"20ms\"";
    assert_eq!(room(uneven), 3_750_000 / 1538);
}

#[test]
fn a_trace_is_loaded_before_it_is_built() {
    let mut path = parse("rate = { trace = \"lte.trace\" }");
    path.load(|file| {
        assert_eq!(file, "lte.trace");
        Ok("0\n1\n2\n".to_owned())
    })
    .expect("a trace");
    assert_eq!(path.there.rate, Some(RateSpec::Opportunities(vec![0, 1, 2])));
    assert_eq!(path.there.line_rate(), Some(Bitrate(3 * 1504 * 8 * 1000 / 2)));
    let mut path = parse("rate = { trace = \"lte.trace\" }");
    let error = path.load(|_| Err("no such file".to_owned())).expect_err("there is none");
    assert_eq!(error, "trace lte.trace: no such file");
}

#[test]
fn one_direction_alone() {
    let direction: DirectionSpec = toml::from_str("delay = \"5ms\"\nrate = \"10Mbit\"").expect("a direction");
    let out = prompt(direction.build(1), &[Sent::frame(Duration::ZERO)]);
    assert_eq!(out[0].0, Duration::from_millis(5) + Duration::from_nanos(1_230_400));
    assert_eq!(PathSpec::symmetric(direction.clone()).back, direction);
}

proptest! {
    #[test]
    fn quantities_can_be_read_again(number: u64, percent in 0.0f64..=100.0, times in 0.001f64..1000.0, count in 1u32..) {
        let span = Span(Duration::from_nanos(number));
        prop_assert_eq!(span.to_string().parse(), Ok(span));
        prop_assert_eq!(Bitrate(number).to_string().parse(), Ok(Bitrate(number)));
        let bytes = ByteCount(number as usize);
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        let probability = Probability::percent(percent).expect("one");
        prop_assert_eq!(probability.to_string().parse(), Ok(probability));
        for queue in [QueueSpec::Bdp(times), QueueSpec::Packets(count), QueueSpec::Bytes(bytes), QueueSpec::CoDel] {
            prop_assert_eq!(queue.to_string().parse(), Ok(queue));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text: String) {
        let _ = (text.parse::<Span>(), text.parse::<Bitrate>(), text.parse::<ByteCount>());
        let _ = (text.parse::<Probability>(), text.parse::<QueueSpec>(), text.parse::<OutagesSpec>());
        let _ = toml::from_str::<PathSpec>(&text);
    }
}
