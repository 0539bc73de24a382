//! What the peer does on streams of its own, each for one job of the other side.

use std::{io, sync::Arc};

use futures::{AsyncReadExt, AsyncWriteExt, future::try_join_all};
use tokio::sync::Barrier;

use crate::{
    PACE_BYTES, Stream, connection::Connection, connection::Opener, fill, how_it_ends, read_paced,
    send_pattern,
};

async fn open(opener: &Opener, job: &str) -> io::Result<Stream> {
    let mut stream = opener.open().await?;
    stream.write_all(format!("{job}\n").as_bytes()).await?;
    stream.flush().await?;

    Ok(stream)
}

/// All streams are open at once before the first one is closed.
pub async fn echo_all(
    connection: &Connection,
    stream_count: usize,
    byte_length: usize,
) -> io::Result<()> {
    let echoed = Arc::new(Barrier::new(stream_count));

    try_join_all((0..stream_count).map(|seed| {
        let echoed = echoed.clone();

        async move {
            let mut stream = open(&connection.opener, "echo").await?;
            let mut sent = vec![0; byte_length];
            fill(&mut sent, &mut (seed as u64 * 2 + 1));
            stream.write_all(&sent).await?;
            stream.flush().await?;

            let mut received = vec![0; byte_length];
            stream.read_exact(&mut received).await?;
            expect_same(&received, &sent)?;

            echoed.wait().await;
            stream.close().await?;
            expect_rest(&mut stream, &[]).await
        }
    }))
    .await
    .map(drop)
}

pub async fn send(
    connection: &Connection,
    byte_length: u64,
    piece_bytes: usize,
    pause_ms: u64,
) -> io::Result<()> {
    let mut stream = open(&connection.opener, &format!("hash {pause_ms}")).await?;
    let digest = send_pattern(&mut stream, byte_length, piece_bytes).await?;
    stream.close().await?;

    expect_rest(&mut stream, &digest).await
}

pub async fn receive(connection: &Connection, byte_length: u64, pause_ms: u64) -> io::Result<()> {
    let mut stream = open(&connection.opener, &format!("source {byte_length}")).await?;
    stream.close().await?;
    let digest = read_paced(&mut stream, byte_length, pause_ms).await?;

    expect_rest(&mut stream, &digest).await
}

/// Sends so many bytes before it reads any, as the other side does, and reads the SHA-256 of both behind what that sent.
pub async fn exchange(connection: &Connection, byte_length: u64) -> io::Result<()> {
    let mut stream = open(&connection.opener, &format!("exchange {byte_length}")).await?;
    let sent_digest = send_pattern(&mut stream, byte_length, PACE_BYTES).await?;
    stream.close().await?;
    let received_digest = read_paced(&mut stream, byte_length, 0).await?;

    expect_rest(&mut stream, &[received_digest, sent_digest].concat()).await
}

/// A stream that the other side has and does nothing with.
pub async fn hanging(connection: &Connection) -> io::Result<Stream> {
    let mut stream = open(&connection.opener, "hang").await?;
    stream.read_exact(&mut [0]).await?;

    Ok(stream)
}

pub async fn be_reset(connection: &Connection, code: u64) -> io::Result<String> {
    let mut stream = open(&connection.opener, &format!("reset {code}")).await?;

    Ok(how_it_ends(&mut stream).await)
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
