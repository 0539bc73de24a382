//! The bytes that messages carry, those of `scenarios/pattern.ts` of the benchmarks, and the check of every byte that arrives.

use std::sync::LazyLock;

use sha3::{
    Shake256,
    digest::{ExtendableOutput, Update},
};

const PERIOD_BYTES: usize = 100_900;
const LONGEST_MESSAGE_BYTES: usize = 1024 * 1024;

static REPEATED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut period = vec![0; PERIOD_BYTES];
    let mut hash = Shake256::default();
    hash.update(b"benchmark");
    hash.finalize_xof_into(&mut period);

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
