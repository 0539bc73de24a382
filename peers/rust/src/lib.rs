//! Speaks the lines that `../../README.md` describes, for any muxer.

mod acceptor;
mod connection;
mod opener;

use std::{io, task::Context, task::Poll};

use futures::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
    future::{BoxFuture, FutureExt, ready},
};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::connection::Connection;

pub trait ReadWrite: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for T {}

pub type Stream = Box<dyn ReadWrite>;

/// What the two implementations have in common.
pub trait Muxer: Send + 'static {
    /// Drives everything; `None` when the connection is over.
    fn poll_inbound(&mut self, cx: &mut Context<'_>) -> Poll<Option<Stream>>;
    fn poll_outbound(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Stream>>;
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Agrees on a protocol where streams have one.
    fn agree(stream: Stream, _opened_here: bool) -> BoxFuture<'static, io::Result<Stream>> {
        ready(Ok(stream)).boxed()
    }
}

/// Makes the one connection that a peer has.
pub trait Endpoint {
    type Muxer: Muxer;

    /// Returns the address to dial, and the connection when it comes.
    fn listen(
        &mut self,
    ) -> impl Future<Output = io::Result<(String, BoxFuture<'static, io::Result<Self::Muxer>>)>>;
    fn dial(&mut self, address: &str) -> impl Future<Output = io::Result<Self::Muxer>>;
}

/// What a reader that pauses takes between two pauses.
const PACE_BYTES: usize = 64 * 1024;

/// Answers commands until the input ends.
pub async fn serve<E: Endpoint>(mut endpoint: E) -> io::Result<()> {
    let mut lines = BufReader::new(stdin()).lines();
    let mut accepted = None;
    let mut connection = None;

    while let Some(line) = lines.next_line().await? {
        let words: Vec<&str> = line.split_whitespace().collect();

        let result = match words[0] {
            "listen" => endpoint.listen().await.map(|(address, muxer)| {
                // the connection is driven from its beginning
                accepted = Some(tokio::spawn(
                    muxer.map(|muxer| muxer.map(Connection::start)),
                ));
                address
            }),
            "dial" => endpoint.dial(words[1]).await.map(|muxer| {
                connection = Some(Connection::start(muxer));
                String::new()
            }),
            _ => {
                if let Some(accepting) = accepted.take() {
                    connection = Some(accepting.await.expect("no panic")?);
                }
                run(connection.as_mut().expect("a connection"), &words).await
            }
        };

        match result {
            Ok(answer) => println!("ok {answer}"),
            Err(error) => println!("error {error}"),
        }
    }

    Ok(())
}

async fn run(connection: &mut Connection, words: &[&str]) -> io::Result<String> {
    let numbers: Vec<u64> = words[1..]
        .iter()
        .map(|word| word.parse().expect("a number"))
        .collect();

    match words[0] {
        "echo" => opener::echo_all(connection, numbers[0] as usize, numbers[1] as usize).await?,
        "send" => opener::send(connection, numbers[0], numbers[1] as usize, numbers[2]).await?,
        "receive" => opener::receive(connection, numbers[0], numbers[1]).await?,
        "exchange" => opener::exchange(connection, numbers[0]).await?,
        "hang" => connection.hold(opener::hanging(connection).await?),
        // dropped before its end: the only way to reset a stream
        "reset" => drop(opener::hanging(connection).await?),
        "be-reset" => return opener::be_reset(connection, numbers[0]).await,
        "ended" => return Ok(connection.next_end().await),
        "close" => connection.close().await,
        "closed" => connection.closed().await,
        command => return Err(io::Error::other(format!("there is no command {command}"))),
    }

    Ok(String::new())
}

/// How a stream ended. A reset stream reads like one that was closed, but cannot be written to.
async fn how_it_ends(stream: &mut Stream) -> String {
    match futures::io::copy(&mut *stream, &mut futures::io::sink()).await {
        Err(error) => format!("error {error}"),
        Ok(_) if stream.write_all(&[1]).await.is_ok() => "end".to_string(),
        Ok(_) => "reset".to_string(),
    }
}

/// Sends so many bytes in pieces and returns their SHA-256.
async fn send_pattern(
    stream: &mut Stream,
    byte_length: u64,
    piece_bytes: usize,
) -> io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; piece_bytes];
    let mut state = 1;
    let mut left_bytes = byte_length;

    while left_bytes > 0 {
        let length = left_bytes.min(piece_bytes as u64) as usize;
        fill(&mut piece[..length], &mut state);
        hash.update(&piece[..length]);
        stream.write_all(&piece[..length]).await?;
        left_bytes -= length as u64;
    }

    Ok(hash.finalize().to_vec())
}

/// Reads up to so many bytes, with a pause now and then, and returns their SHA-256.
async fn read_paced(
    reader: &mut (impl AsyncRead + Unpin),
    byte_length: u64,
    pause_ms: u64,
) -> io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; PACE_BYTES];
    let mut left_bytes = byte_length;

    while left_bytes > 0 {
        let length = left_bytes.min(PACE_BYTES as u64) as usize;
        let read_bytes = reader.read(&mut piece[..length]).await?;

        if read_bytes == 0 {
            break;
        }

        hash.update(&piece[..read_bytes]);
        left_bytes -= read_bytes as u64;

        if pause_ms > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(pause_ms)).await;
        }
    }

    Ok(hash.finalize().to_vec())
}

/// Bytes of a xorshift sequence.
fn fill(bytes: &mut [u8], state: &mut u64) {
    *state |= 1;

    for byte in bytes {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *byte = *state as u8;
    }
}
