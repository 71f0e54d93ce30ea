//! The Internet's checksum (RFC 1071): the sum of all 16-bit words, in ones' complement.

/// The folded sum of these bytes, going on from an earlier sum of an even number of bytes.
pub fn sum(bytes: &[u8], before: u16) -> u16 {
    // 2^32 words of 16 bits fit before the sum overflows; no packet is nearly so long.
    let words = bytes.chunks_exact(2).map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])));
    let last = bytes.len() % 2;
    let last = if last == 0 { 0 } else { u64::from(bytes[bytes.len() - 1]) << 8 };
    fold(u64::from(before) + words.sum::<u64>() + last)
}

/// The sum of a pseudo header: addresses, length and protocol (RFC 9293 section 3.1, RFC 8200 section 8.1).
pub fn pseudo_header(addresses: &[u8], length: usize, protocol: u8) -> u16 {
    fold(u64::from(sum(addresses, 0)) + length as u64 + u64::from(protocol))
}

/// Carries go back in at the lower end.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_with_its_checksum_sums_up_to_all_ones() {
        // The header of RFC 1071's usual example: its own checksum included, the sum is 0xffff.
        let header =
            [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
        assert_eq!(sum(&header, 0), 0xffff);
        assert_eq!(sum(&header[..7], 0), sum(&[&header[..7], &[0]].concat(), 0), "an odd byte is padded");
        assert_eq!(sum(&header[10..], sum(&header[..10], 0)), 0xffff, "in parts");
    }
}
