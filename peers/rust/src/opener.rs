//! What the peer does on streams of its own, each for one job of the other side.

use std::{io, time::Duration};

use futures::{
    AsyncRead, AsyncReadExt, AsyncWriteExt,
    future::try_join_all,
    io::{copy, sink},
};
use sha2::{Digest, Sha256};
use tokio::time::sleep;

use crate::{
    connection::Connection,
    muxer::Stream,
    pattern::{bytes_at, start_of_stream},
};

/// What a reader that pauses takes between two pauses.
pub const PACE_BYTES: usize = 64 * 1024;

async fn open(connection: &Connection, job: &str) -> io::Result<Stream> {
    let mut stream = connection.opener.open().await?;
    stream.write_all(format!("{job}\n").as_bytes()).await?;
    stream.flush().await?;

    Ok(stream)
}

/// All streams are open at once before the first one is closed.
pub async fn echo_all(connection: &Connection, streams: usize, bytes: usize) -> io::Result<()> {
    let echoed = (0..streams).map(|index| open_echo(connection, index, bytes));

    close_all(try_join_all(echoed).await?).await
}

/// A stream that has given back what was sent.
async fn open_echo(connection: &Connection, index: usize, bytes: usize) -> io::Result<Stream> {
    let mut stream = open(connection, "echo").await?;
    let sent = bytes_at(start_of_stream(index), bytes);
    stream.write_all(sent).await?;
    stream.flush().await?;

    let mut received = vec![0; bytes];
    stream.read_exact(&mut received).await?;
    expect_same(&received, sent)?;

    Ok(stream)
}

pub async fn send(
    connection: &Connection,
    bytes: usize,
    piece_bytes: usize,
    pause_ms: usize,
) -> io::Result<()> {
    let mut stream = open(connection, &format!("hash {pause_ms}")).await?;
    let digest = send_pattern(&mut stream, bytes, piece_bytes).await?;

    close_fully(stream, &digest).await
}

pub async fn receive(connection: &Connection, bytes: usize, pause_ms: usize) -> io::Result<()> {
    let mut stream = open(connection, &format!("source {bytes}")).await?;
    stream.close().await?;
    let digest = read_paced(&mut stream, bytes, pause_ms).await?;

    expect_rest(&mut stream, &digest).await
}

/// Sends so many bytes before it reads any, as the other side does, and reads the SHA-256 of both behind what that sent.
pub async fn exchange(connection: &Connection, bytes: usize) -> io::Result<()> {
    let mut stream = open(connection, &format!("exchange {bytes}")).await?;
    let sent_digest = send_pattern(&mut stream, bytes, PACE_BYTES).await?;
    stream.close().await?;
    let received_digest = read_paced(&mut stream, bytes, 0).await?;

    expect_rest(&mut stream, &[received_digest, sent_digest].concat()).await
}

/// A stream that the other side has and does nothing with.
pub async fn hanging(connection: &Connection) -> io::Result<Stream> {
    let mut stream = open(connection, "hang").await?;
    stream.read_exact(&mut [0]).await?;

    Ok(stream)
}

pub async fn be_reset(connection: &Connection, code: usize) -> io::Result<String> {
    let mut stream = open(connection, &format!("reset {code}")).await?;

    Ok(how_it_ends(&mut stream).await)
}

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
async fn close_fully(mut stream: Stream, expected: &[u8]) -> io::Result<()> {
    stream.close().await?;

    expect_rest(&mut stream, expected).await
}

/// Reads to the end.
async fn expect_rest(stream: &mut Stream, expected: &[u8]) -> io::Result<()> {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await?;

    expect_same(&rest, expected)
}

fn expect_same(received: &[u8], expected: &[u8]) -> io::Result<()> {
    if received == expected {
        return Ok(());
    }

    Err(io::Error::other(format!(
        "expected {expected:x?}, received {received:x?}"
    )))
}
