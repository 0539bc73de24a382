//! A sender or a receiver of the benchmark on the `yamux` crate over plain TCP. It answers the lines of `../../README.md`.

mod connection;
mod messages;
mod pattern;
mod requests;
mod spent;
mod streams;

use std::{env, io, time::Instant};

use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::{
    connection::Connection,
    messages::MessageSender,
    requests::RequestSender,
    spent::Counter,
    streams::{KeepAwake, Receiver},
};

enum Sender {
    Messages(MessageSender),
    Requests(RequestSender),
}

impl Sender {
    /// Does so many units without a break; done when the receiver has confirmed all of them.
    async fn work(&mut self, units: usize) -> io::Result<()> {
        match self {
            Self::Messages(sender) => sender.work(units).await,
            Self::Requests(sender) => sender.work(units).await,
        }
    }

    /// Those of the requests since it was called last.
    fn take_latencies(&mut self) -> Vec<f64> {
        match self {
            Self::Messages(_) => Vec::new(),
            Self::Requests(sender) => sender.take_latencies(),
        }
    }

    async fn close(self) -> io::Result<()> {
        match self {
            Self::Messages(sender) => sender.close().await,
            Self::Requests(sender) => sender.close().await,
        }
    }
}

struct Program {
    connection: Connection,
    sender: Option<Sender>,
    counter: Option<Counter>,
    /// While requests are received.
    awake: Option<KeepAwake>,
}

// one thread, the fastest for the crate: a connection is one task whatever the runtime, and on two cores the runtime of
// many threads halved 1 x 100 B, took a third of 1 x 4 KiB and gained nothing beyond the noise elsewhere
#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let socket_is_buffered = env::args().nth(1).as_deref() == Some("buffered");
    let mut program = Program {
        connection: Connection::new(socket_is_buffered),
        sender: None,
        counter: None,
        awake: None,
    };
    let mut lines = BufReader::new(stdin()).lines();

    while let Some(line) = lines.next_line().await? {
        let words: Vec<&str> = line.split_whitespace().collect();

        match program.run(&words).await {
            Ok(result) => println!("{}", format!("ok {result}").trim_end()),
            Err(error) => println!("error {error}"),
        }
    }

    Ok(())
}

impl Program {
    async fn run(&mut self, words: &[&str]) -> io::Result<String> {
        let nothing = String::new();
        let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();

        match words {
            ["listen"] => Ok(format!("\"{}\"", self.connection.listen().await?)),
            ["dial", address] => self.connection.dial(address).await.map(|()| nothing),
            ["receive", scenario, ..] => {
                self.connection.receive(match *scenario {
                    "messages" => Receiver::messages(numbers[0], numbers[2]),
                    _ => Receiver::requests(numbers[0]),
                });
                self.awake = (*scenario != "messages").then(KeepAwake::start);
                Ok(nothing)
            }
            ["open", scenario, ..] => {
                self.sender = Some(self.open(scenario, &numbers).await?);
                Ok(nothing)
            }
            ["send", _] => self.send(numbers[0]).await,
            ["count"] => {
                self.counter = Some(self.connection.start_counting());
                Ok(nothing)
            }
            ["spent"] => match &self.counter {
                Some(counter) => Ok(counter.spent()),
                None => Err(io::Error::other("nothing is counted")),
            },
            ["close"] => {
                self.awake = None;
                match self.sender.take() {
                    Some(sender) => sender.close().await.map(|()| nothing),
                    None => Ok(nothing),
                }
            }
            _ => Err(io::Error::other(format!("there is no command {words:?}"))),
        }
    }

    async fn open(&self, scenario: &str, numbers: &[usize]) -> io::Result<Sender> {
        match (scenario, numbers) {
            ("messages", &[streams, message_bytes, unit_bytes]) => {
                MessageSender::open(&self.connection, streams, message_bytes, unit_bytes)
                    .await
                    .map(Sender::Messages)
            }
            ("requests-on-one-stream" | "requests", &[message_bytes, unit_bytes]) => {
                let on_one_stream = scenario != "requests";
                RequestSender::open(&self.connection, on_one_stream, message_bytes, unit_bytes)
                    .await
                    .map(Sender::Requests)
            }
            _ => Err(io::Error::other(format!("there is no scenario {scenario}"))),
        }
    }

    /// Does one unit, then without a break as many as fill the time.
    async fn send(&mut self, at_least_ms: usize) -> io::Result<String> {
        let sender = self
            .sender
            .as_mut()
            .ok_or_else(|| io::Error::other("nothing is open to send on"))?;
        let counter = self.connection.start_counting();
        let start = Instant::now();
        sender.work(1).await?;
        let unit_ms = ms_since(start);
        let more_units = ((at_least_ms as f64 - unit_ms).max(0.0) / unit_ms).ceil() as usize;

        if more_units > 0 {
            sender.work(more_units).await?;
        }

        let units = 1 + more_units;
        let duration_ms = ms_since(start);
        let spent = counter.spent();
        let latencies_ms = sender.take_latencies();

        Ok(format!(
            r#"{{"units":{units},"durationMs":{duration_ms},"latenciesMs":{latencies_ms:?},"spent":{spent}}}"#
        ))
    }
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}
