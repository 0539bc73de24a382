//! Urgent messages at fixed times beside bulk: the sender of `uplink/end-process.ts` of the benchmarks.

use std::{
    io,
    time::{Duration, Instant},
};

use futures::{
    AsyncReadExt, AsyncWriteExt,
    io::{ReadHalf, WriteHalf},
    try_join,
};
use tokio::{
    select,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::sleep_until,
};

use crate::{
    muxer::Stream,
    opener::Opener,
    pattern::{LONGEST_MESSAGE_BYTES, bytes_at, is_at, start_of_stream},
    process::{Counter, ms_since},
};

pub struct BulkAndUrgent {
    urgent: Stream,
    bulk: Vec<Stream>,
    failed: UnboundedSender<io::Error>,
    failures: UnboundedReceiver<io::Error>,
}

/// A number of messages to send and echoes to wait for, in milliseconds from its beginning.
pub struct UrgentWork {
    pub message_bytes: usize,
    pub interval_ms: usize,
    /// When the window begins that counts.
    pub from_ms: usize,
    pub to_ms: usize,
    /// When a message without an echo counts as that late.
    pub give_up_ms: usize,
}

impl BulkAndUrgent {
    pub async fn open(opener: &Opener, bulk_streams: usize) -> io::Result<Self> {
        let urgent = opener.open_indexed(0).await?;
        let mut bulk = Vec::new();

        for index in 1..=bulk_streams {
            bulk.push(opener.open_indexed(index).await?);
        }

        let (failed, failures) = unbounded_channel();

        Ok(Self {
            urgent,
            bulk,
            failed,
            failures,
        })
    }

    /// Goes on until the connection ends.
    pub fn send_bulk(&mut self, message_bytes: usize) {
        for (stream, index) in self.bulk.drain(..).zip(1..) {
            let failed = self.failed.clone();

            tokio::spawn(async move {
                let error = saturate(stream, index, message_bytes).await;
                // whoever waited may have gone
                let _ = failed.send(error);
            });
        }
    }

    /// Queues each message when it is due, however long the write of the one before takes. Results in JSON.
    pub async fn send_urgent(mut self, work: UrgentWork) -> io::Result<String> {
        let start = Instant::now();
        let messages = work.to_ms / work.interval_ms;
        let first_counted = work.from_ms.div_ceil(work.interval_ms);
        let due_ms = |message: usize| (message * work.interval_ms) as f64;
        let (reader, writer) = self.urgent.split();
        let (queue, queued) = unbounded_channel();
        let give_up = start + milliseconds(work.give_up_ms);
        let mut echoed_ms = Vec::new();
        let mut late_ms = Vec::new();
        let mut spent = String::new();

        let sending = async {
            let mut counter = Counter::start();

            for message in 0..messages {
                let due = start + milliseconds(message * work.interval_ms);
                sleep_until(due.into()).await;

                if message == first_counted {
                    counter = Counter::start();
                }

                late_ms.push(ms_since(due));
                queue.send(message).map_err(io::Error::other)?;
            }

            // the writer ends behind the last message
            drop(queue);
            spent = counter.spent();
            Ok(())
        };
        let writing = write_queued(writer, queued, work.message_bytes);
        let reading = read_echoes(reader, messages, work.message_bytes, start, &mut echoed_ms);

        select! {
            result = async { try_join!(sending, writing, reading) } => drop(result?),
            Some(error) = self.failures.recv() => return Err(error),
            () = sleep_until(give_up.into()) => {}
        }

        let now_ms = ms_since(start);
        let latencies_ms: Vec<f64> = (first_counted..messages)
            .map(|message| echoed_ms.get(message).unwrap_or(&now_ms) - due_ms(message))
            .collect();
        let late_ms = &late_ms[first_counted..];

        Ok(format!(
            r#"{{"latenciesMs":{latencies_ms:?},"lateMs":{late_ms:?},"spent":{spent}}}"#
        ))
    }
}

async fn saturate(mut stream: Stream, index: usize, message_bytes: usize) -> io::Error {
    let mut position = start_of_stream(index);

    loop {
        if let Err(error) = stream.write_all(bytes_at(position, message_bytes)).await {
            return io::Error::other(format!("stream {index}: {error}"));
        }

        position += message_bytes;
    }
}

/// Writes at once what became due during the write before, as a stream in JavaScript sends what it has buffered. Each write
/// waits for its turn among those of bulk: a slow link has less than 50 turns a second.
async fn write_queued(
    mut writer: WriteHalf<Stream>,
    mut queued: UnboundedReceiver<usize>,
    message_bytes: usize,
) -> io::Result<()> {
    let most_messages = LONGEST_MESSAGE_BYTES / message_bytes;
    let mut messages = Vec::new();

    while queued.recv_many(&mut messages, most_messages).await > 0 {
        let bytes = bytes_at(messages[0] * message_bytes, messages.len() * message_bytes);
        writer.write_all(bytes).await?;
        writer.flush().await?;
        messages.clear();
    }

    Ok(())
}

async fn read_echoes(
    mut reader: ReadHalf<Stream>,
    messages: usize,
    message_bytes: usize,
    start: Instant,
    echoed_ms: &mut Vec<f64>,
) -> io::Result<()> {
    let mut echo = vec![0; message_bytes];

    for message in 0..messages {
        reader.read_exact(&mut echo).await?;

        if !is_at(message * message_bytes, &echo) {
            return Err(io::Error::other("an echo differs from its message"));
        }

        echoed_ms.push(ms_since(start));
    }

    Ok(())
}

fn milliseconds(count: usize) -> Duration {
    Duration::from_millis(count as u64)
}
