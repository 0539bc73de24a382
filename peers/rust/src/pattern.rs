//! The bytes that messages carry, those of `testing/verified/pattern.ts`, and the check of every byte that arrives.

use std::sync::LazyLock;

const PERIOD_BYTES: usize = 100_900;
pub const LONGEST_MESSAGE_BYTES: usize = 1024 * 1024;

static REPEATED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    // xorshift32
    let mut state = 1u32;
    let period: Vec<u8> = (0..PERIOD_BYTES / 4)
        .flat_map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()
        })
        .collect();

    let mut repeated = period.repeat(2 + LONGEST_MESSAGE_BYTES / PERIOD_BYTES);
    repeated.truncate(PERIOD_BYTES + LONGEST_MESSAGE_BYTES);
    repeated
});

/// Tells mixed up streams apart.
pub fn start_of_stream(index: usize) -> usize {
    index * 7900
}

/// The bytes that belong at a position.
pub fn bytes_at(position: usize, byte_length: usize) -> &'static [u8] {
    let start = position % PERIOD_BYTES;
    &REPEATED[start..start + byte_length]
}

/// Whether these are the bytes that belong at the position, no more than one message of them.
pub fn is_at(position: usize, bytes: &[u8]) -> bool {
    bytes == bytes_at(position, bytes.len())
}
