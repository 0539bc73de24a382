//! Messages of one size on one or many streams: `scenarios/messages.ts`.

use std::io;

use futures::{
    AsyncReadExt, AsyncWriteExt,
    future::{join_all, try_join_all},
};
use yamux::Stream;

use crate::{
    connection::Connection,
    pattern::{bytes_at, is_at, start_of_stream},
    streams::close_all,
};

const READ_BYTES: usize = 64 * 1024;

pub struct MessageSender {
    lanes: Vec<Lane>,
    message_bytes: usize,
    unit_bytes: usize,
}

/// A stream and how far it has come.
struct Lane {
    stream: Stream,
    position: usize,
    confirmed_bytes: usize,
}

impl MessageSender {
    pub async fn open(
        connection: &Connection,
        streams: usize,
        message_bytes: usize,
        unit_bytes: usize,
    ) -> io::Result<Self> {
        let lanes = try_join_all((0..streams).map(|index| Lane::open(connection, index))).await?;

        Ok(Self {
            lanes,
            message_bytes,
            unit_bytes,
        })
    }

    /// A task for each stream, so that one without credit stops no other.
    pub async fn work(&mut self, units: usize) -> io::Result<()> {
        let (message_bytes, unit_bytes) = (self.message_bytes, self.unit_bytes);
        let working = self.lanes.drain(..).map(|mut lane| {
            tokio::spawn(async move {
                lane.work(units, message_bytes, unit_bytes).await?;
                io::Result::Ok(lane)
            })
        });

        for lane in join_all(working).await {
            self.lanes.push(lane.expect("no panic")?);
        }

        Ok(())
    }

    pub async fn close(self) -> io::Result<()> {
        close_all(self.lanes.into_iter().map(|lane| lane.stream)).await
    }
}

impl Lane {
    async fn open(connection: &Connection, index: usize) -> io::Result<Self> {
        let mut lane = Self {
            stream: connection.open().await?,
            position: start_of_stream(index),
            confirmed_bytes: 0,
        };
        let index = u32::try_from(index).map_err(io::Error::other)?;
        lane.stream.write_all(&index.to_be_bytes()).await?;
        lane.confirm(0).await?;

        Ok(lane)
    }

    /// Two units are under way at any time.
    async fn work(
        &mut self,
        units: usize,
        message_bytes: usize,
        unit_bytes: usize,
    ) -> io::Result<()> {
        for unit in 0..units {
            for _ in 0..unit_bytes / message_bytes {
                let message = bytes_at(self.position, message_bytes);
                self.stream.write_all(message).await?;
                self.position += message_bytes;
            }

            if unit > 0 {
                self.confirm(unit_bytes).await?;
            }
        }

        self.confirm(unit_bytes).await
    }

    /// Reads the receiver's next reply, which is the sum of all bytes.
    async fn confirm(&mut self, more_bytes: usize) -> io::Result<()> {
        let mut reply = [0; 8];
        self.stream.read_exact(&mut reply).await?;
        self.confirmed_bytes += more_bytes;
        let verified_bytes = f64::from_be_bytes(reply);

        if verified_bytes < 0.0 {
            let right_bytes = -1.0 - verified_bytes;
            return Err(io::Error::other(format!(
                "the receiver got wrong bytes after {right_bytes} right ones"
            )));
        }

        if verified_bytes != self.confirmed_bytes as f64 {
            return Err(io::Error::other(format!(
                "the receiver got {verified_bytes} bytes instead of {}",
                self.confirmed_bytes
            )));
        }

        Ok(())
    }
}

/// Replies after each unit with the number of right bytes so far, negative when the next one is wrong.
pub async fn verify(mut stream: Stream, unit_bytes: usize) -> io::Result<()> {
    let mut index = [0; 4];
    stream.read_exact(&mut index).await?;
    reply(&mut stream, 0.0).await?;

    let start = start_of_stream(u32::from_be_bytes(index) as usize);
    let mut buffer = vec![0; READ_BYTES];
    let mut verified_bytes = 0;
    let mut reply_at_bytes = unit_bytes;

    loop {
        let bytes = match stream.read(&mut buffer).await? {
            0 => return stream.close().await,
            byte_length => &buffer[..byte_length],
        };

        if !is_at(start + verified_bytes, bytes) {
            reply(&mut stream, -1.0 - verified_bytes as f64).await?;
            // the sender learns of it when it has written its unit
            while stream.read(&mut buffer).await? > 0 {}
            return stream.close().await;
        }

        verified_bytes += bytes.len();

        while verified_bytes >= reply_at_bytes {
            reply(&mut stream, reply_at_bytes as f64).await?;
            reply_at_bytes += unit_bytes;
        }
    }
}

async fn reply(stream: &mut Stream, verified_bytes: f64) -> io::Result<()> {
    stream.write_all(&verified_bytes.to_be_bytes()).await
}
