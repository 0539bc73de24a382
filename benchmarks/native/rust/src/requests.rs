//! Requests one after the other, on one stream or a new one for each: `scenarios/requests.ts`.

use std::{
    io::{self, ErrorKind},
    mem,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use futures::{AsyncReadExt, AsyncWriteExt};
use yamux::Stream;

use crate::{
    connection::Connection,
    ms_since,
    pattern::{bytes_at, is_at},
    streams::{KeepAwake, close_all},
};

pub struct RequestSender {
    connection: Connection,
    /// The stream of all requests, if they share one.
    lasting: Option<Stream>,
    message_bytes: usize,
    unit_bytes: usize,
    position: usize,
    latencies_ms: Vec<f64>,
    _awake: KeepAwake,
}

impl RequestSender {
    pub async fn open(
        connection: &Connection,
        on_one_stream: bool,
        message_bytes: usize,
        unit_bytes: usize,
    ) -> io::Result<Self> {
        let lasting = match on_one_stream {
            true => Some(connection.open().await?),
            false => None,
        };

        Ok(Self {
            connection: connection.clone(),
            lasting,
            message_bytes,
            unit_bytes,
            position: 0,
            latencies_ms: Vec::new(),
            _awake: KeepAwake::start(),
        })
    }

    pub async fn work(&mut self, units: usize) -> io::Result<()> {
        for _ in 0..units * self.unit_bytes / self.message_bytes {
            self.request().await?;
        }

        Ok(())
    }

    pub fn take_latencies(&mut self) -> Vec<f64> {
        mem::take(&mut self.latencies_ms)
    }

    pub async fn close(self) -> io::Result<()> {
        close_all(self.lasting).await
    }

    async fn request(&mut self) -> io::Result<()> {
        let request = bytes_at(self.position, self.message_bytes);
        let mut reply = vec![0; self.message_bytes];
        let start = Instant::now();

        match &mut self.lasting {
            Some(stream) => {
                stream.write_all(request).await?;
                stream.read_exact(&mut reply).await?;
                self.latencies_ms.push(ms_since(start));
            }
            None => {
                let mut stream = self.connection.open().await?;
                stream.write_all(request).await?;
                stream.read_exact(&mut reply).await?;
                self.latencies_ms.push(ms_since(start));
                stream.close().await?;
            }
        }

        if !is_at(self.position, &reply) {
            return Err(io::Error::other("the reply differs from the request"));
        }

        self.position += self.message_bytes;
        Ok(())
    }
}

/// Sends back what it reads, message by message.
pub async fn answer(
    mut stream: Stream,
    message_bytes: usize,
    position: Arc<AtomicUsize>,
) -> io::Result<()> {
    let mut request = vec![0; message_bytes];

    loop {
        match stream.read_exact(&mut request).await {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return stream.close().await,
            result => result?,
        }

        if !is_at(position.fetch_add(message_bytes, Relaxed), &request) {
            return Err(io::Error::other("the request has wrong bytes"));
        }

        stream.write_all(&request).await?;
    }
}
