//! The window that clients are offered from the start. The scale of windows is agreed on with the first packets (RFC 7323 2.2),
//! and Linux takes it from the listener's receive buffer (`tcp_select_initial_window`, net/ipv4/tcp_output.c): a window that is
//! larger than the scale can express cannot be had later.

use super::{Setting, WindowRoom};
use crate::budget::Pressure;
use crate::host::{Host, SizingMode};

/// No first window is larger: by its scale 268 MB can be offered later, 10 Gb/s x 200 ms.
const FIRST_MOST: u64 = 128 << 20;
/// It takes a quarter of what may still be promised at most: others come, and it may have to grow.
const PART: u64 = 4;

/// The window to offer the next one that connects, a power of two; `None`: the kernel's own, whose scale would be as large.
/// Twice as much can be expressed by the scale that comes with it.
pub fn first_window(host: &Host, setting: Setting, room: &WindowRoom) -> Option<u64> {
    if host.mode() != SizingMode::Forced || setting != Setting::Auto || room.pressure > Pressure::None {
        return None;
    }
    let most = (room.left / PART).min(FIRST_MOST);
    let power = most.checked_ilog2()?;
    (power > host.receive_autotuned_most.checked_ilog2()?).then_some(1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HOST;

    const MIB: u64 = 1 << 20;

    fn first(host: &Host, left: u64, pressure: Pressure) -> Option<u64> {
        first_window(host, Setting::Auto, &WindowRoom { left: left * MIB, pressure })
    }

    #[test]
    fn a_quarter_of_what_is_left_is_offered_if_its_scale_is_larger_than_the_kernel_s() {
        assert_eq!(first(&HOST, 275, Pressure::None), Some(64 * MIB));
        assert_eq!(first(&HOST, 255, Pressure::None), None, "32 MiB have the kernel's own scale");
        assert_eq!(first(&HOST, 1 << 20, Pressure::None), Some(FIRST_MOST));
        assert_eq!(first(&HOST, 0, Pressure::None), None);
        assert_eq!(first(&HOST, 275, Pressure::StopGrowing), None);
        // As Linux 6.12 has it.
        let older = Host { receive_autotuned_most: 6 * MIB, ..HOST };
        assert_eq!(first(&older, 70, Pressure::None), Some(16 * MIB));
    }

    #[test]
    fn whoever_sets_a_size_or_may_not_force_one_keeps_the_kernel_s_scale() {
        let ordinary = Host { may_force: false, ..HOST };
        assert_eq!(first(&ordinary, 275, Pressure::None), None);
        let room = WindowRoom { left: 275 * MIB, pressure: Pressure::None };
        assert_eq!(first_window(&HOST, Setting::Fixed(3_158_016), &room), None);
    }
}
