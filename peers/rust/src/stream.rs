//! What both sides do with a stream.

use std::{io, time::Duration};

use futures::{
    AsyncRead, AsyncReadExt, AsyncWriteExt,
    future::try_join_all,
    io::{copy, sink},
};
use sha2::{Digest, Sha256};
use tokio::time::sleep;

use crate::{muxer::Stream, pattern::bytes_at};

/// What a reader that pauses takes between two pauses.
pub const PACE_BYTES: usize = 64 * 1024;

/// How a stream ended. A reset stream reads like one that was closed, but cannot be written to.
pub async fn how_it_ends(stream: &mut Stream) -> String {
    match copy(&mut *stream, &mut sink()).await {
        Err(error) => format!("error {error}"),
        Ok(_) if stream.write_all(&[1]).await.is_ok() => "end".to_string(),
        Ok(_) => "reset".to_string(),
    }
}

/// Sends so many bytes in pieces and returns their SHA-256.
pub async fn send_pattern(
    stream: &mut Stream,
    bytes: usize,
    piece_bytes: usize,
) -> io::Result<Vec<u8>> {
    let mut hash = Sha256::new();

    for position in (0..bytes).step_by(piece_bytes) {
        let piece = bytes_at(position, piece_bytes.min(bytes - position));
        hash.update(piece);
        stream.write_all(piece).await?;
    }

    Ok(hash.finalize().to_vec())
}

/// Reads up to so many bytes, with a pause now and then, and returns their SHA-256.
pub async fn read_paced(
    reader: &mut (impl AsyncRead + Unpin),
    bytes: usize,
    pause_ms: usize,
) -> io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; PACE_BYTES];
    let mut left_bytes = bytes;

    while left_bytes > 0 {
        let length = left_bytes.min(PACE_BYTES);
        let read_bytes = reader.read(&mut piece[..length]).await?;

        if read_bytes == 0 {
            break;
        }

        hash.update(&piece[..read_bytes]);
        left_bytes -= read_bytes;

        if pause_ms > 0 {
            sleep(Duration::from_millis(pause_ms as u64)).await;
        }
    }

    Ok(hash.finalize().to_vec())
}

pub async fn close_all(streams: impl IntoIterator<Item = Stream>) -> io::Result<()> {
    let closing = streams.into_iter().map(|stream| close_fully(stream, &[]));

    try_join_all(closing).await.map(drop)
}

/// Waits until the other side has sent this and closed as well.
pub async fn close_fully(mut stream: Stream, expected: &[u8]) -> io::Result<()> {
    stream.close().await?;

    expect_rest(&mut stream, expected).await
}

/// Reads to the end.
pub async fn expect_rest(stream: &mut Stream, expected: &[u8]) -> io::Result<()> {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await?;

    expect_same(&rest, expected)
}

pub fn expect_same(received: &[u8], expected: &[u8]) -> io::Result<()> {
    if received == expected {
        return Ok(());
    }

    Err(io::Error::other(format!(
        "expected {expected:x?}, received {received:x?}"
    )))
}
