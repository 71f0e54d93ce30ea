//! What the rules do on the network of 2003, in virtual time: no machine is too slow for it.

use super::{SimulationResult, run};

fn simulate(rule: &str, options: &str) -> SimulationResult {
    let options = format!("--timer {rule} {options}");
    run(&options.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).expect(&options)
}

fn figure(rule: &str, options: &str, name: &str) -> f64 {
    simulate(rule, options).figures[name].value
}

/// A disk that seeks for 20 to 40 ms at one fetch in seven.
const SLOW_DISK: &str = "--fetch-time 4ms --disk-share 15% --disk 20ms --disk-spread 20ms";
/// 8,318 bytes on the wire for 8,192, and the frames around them: what a line of 100 Mb/s carries of a file.
const LINE: f64 = 11.8e6;

#[test]
fn where_nothing_is_lost_or_slow_every_rule_fills_the_line() {
    for rule in ["fixed", "2003", "2003-floor", "today"] {
        let result = simulate(rule, "");
        assert_eq!(result.figures["retransmissions"].value, 0.0, "{rule}");
        assert!(result.figures["throughput"].value > 0.98 * LINE, "{rule}: {result:?}");
        assert!(result.figures["record.worst"].value < 0.04, "{rule}: {result:?}");
    }
}

#[test]
fn a_slow_disk_makes_the_old_timer_send_again_for_nothing() {
    for rule in ["fixed", "2003-floor", "today"] {
        assert_eq!(figure(rule, SLOW_DISK, "retransmissions"), 0.0, "{rule}");
    }
    assert!(figure("2003", SLOW_DISK, "retransmissions") > 50.0);
    assert!(figure("2003", SLOW_DISK, "seconds") > figure("fixed", SLOW_DISK, "seconds"));
}

#[test]
fn lost_fragments_cost_the_old_client_its_timer_each_time() {
    let (ratchet, floor) =
        (simulate("2003", "--fragment-loss 0.7%"), simulate("2003-floor", "--fragment-loss 0.7%"));
    // As it was measured: 10.2 s and 304 retransmissions of 6412 calls; and a higher floor does not help.
    let (seconds, again) = (ratchet.figures["seconds"].value, ratchet.figures["retransmissions"].value);
    assert!((8.5..12.0).contains(&seconds), "{seconds} s");
    assert!((250.0..360.0).contains(&again), "{again} sent again");
    assert!(ratchet.figures["record.p50"].value > 0.04);
    assert!(floor.figures["seconds"].value > 1.5 * seconds);
}

#[test]
fn a_buffer_that_is_too_small_for_its_window_makes_the_old_client_lose_and_wait() {
    assert!(figure("2003", "--queue 64KiB", "retransmissions") > 100.0);
    assert!(figure("2003", "--queue 64KiB", "throughput") < 0.75 * LINE);
    assert_eq!(figure("today", "--queue 64KiB", "retransmissions"), 0.0);
    assert!(figure("today", "--queue 64KiB", "throughput") > 0.98 * LINE);
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    for rule in ["2003", "today"] {
        let options = format!("{SLOW_DISK} --fragment-loss 0.2% --size 10MiB");
        let of = |seed: u32| simulate(rule, &format!("{options} --seed {seed}"));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}

#[test]
fn fragment_loss_does_not_black_the_client_of_today_out() {
    let result = simulate("today", "--fragment-loss 0.1%");
    assert!(result.figures["gap.worst"].value < 1.0, "{result:?}");
    let percentiles = &result.latencies["record"];
    assert!(percentiles.is_sorted_by_key(|(fraction, _)| *fraction) && percentiles.len() > 5);
}
