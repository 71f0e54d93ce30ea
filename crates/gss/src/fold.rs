//! n-fold (RFC 3961 5.1): a text of any length, stretched or squeezed to another.

/// Fills `output` with the n-fold of `input`: copies of it, each turned right by 13 bits more, are added in pieces of the
/// output's length, in ones' complement.
pub(crate) fn fold(input: &[u8], output: &mut [u8]) {
    output.fill(0);
    let (input_length, output_length) = (input.len(), output.len());
    let total = input_length / greatest_common_divisor(input_length, output_length) * output_length;
    let bits = input_length * 8;
    let mut carry = 0_u32;
    // From the last byte of all copies to the first, so that carries move to the left.
    for position in (0..total).rev() {
        let turn = 13 * (position / input_length) % bits;
        let first_bit = (bits + (position % input_length) * 8 - turn) % bits;
        let (byte, shift) = (first_bit / 8, first_bit % 8);
        let pair = u16::from_be_bytes([input[byte], input[(byte + 1) % input_length]]);
        let sum = carry + u32::from((pair << shift) >> 8) + u32::from(output[position % output_length]);
        output[position % output_length] = sum as u8;
        carry = sum >> 8;
    }
    // What is carried out of the first byte comes in again at the last.
    while carry > 0 {
        for byte in output.iter_mut().rev() {
            let sum = carry + u32::from(*byte);
            *byte = sum as u8;
            carry = sum >> 8;
        }
    }
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::fold;

    /// RFC 3961 A.1.
    #[test]
    fn the_vectors_of_the_rfc() {
        for (input, wanted) in [
            ("012345", "be072631276b1955"),
            ("password", "78a07b6caf85fa"),
            ("Rough Consensus, and Running Code", "bb6ed30870b7f0e0"),
            ("password", "59e4a8ca7c0385c3c37b3f6d2000247cb6e6bd5b3e"),
            ("MASSACHVSETTS INSTITVTE OF TECHNOLOGY", "db3b0d8f0b061e603282b308a50841229ad798fab9540c1b"),
            ("Q", "518a54a215a8452a518a54a215a8452a518a54a215"),
            ("ba", "fb25d531ae8974499f52fd92ea9857c4ba24cf297e"),
            ("kerberos", "6b65726265726f73"),
            ("kerberos", "6b65726265726f737b9b5b2b93132b93"),
            ("kerberos", "8372c236344e5f1550cd0747e15d62ca7a5a3bcea4"),
            ("kerberos", "6b65726265726f737b9b5b2b93132b935c9bdcdad95c9899c4cae4dee6d6cae4"),
        ] {
            let mut output = vec![0xff; wanted.len() / 2];
            fold(input.as_bytes(), &mut output);
            let text: String = output.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(text, wanted, "{input}");
        }
    }
}
