//! What the peer does on streams of its own, each for one job of the other side.

use std::io;

use futures::{AsyncReadExt, AsyncWriteExt, future::try_join_all};

use crate::{
    connection::Connection,
    muxer::Stream,
    pattern::{bytes_at, start_of_stream},
    stream::{
        PACE_BYTES, close_all, close_fully, expect_rest, expect_same, how_it_ends, read_paced,
        send_pattern,
    },
};

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
