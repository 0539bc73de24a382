//! The commands, one a line.

use std::io;

use futures::FutureExt;
use tokio::{
    io::{AsyncBufReadExt, BufReader, stdin},
    task::JoinHandle,
};

use crate::{
    acceptor::Receiver,
    bulk_and_urgent::{BulkAndUrgent, UrgentWork},
    connection::Connection,
    messages::MessageSender,
    muxer::Endpoint,
    opener::{self, Opener},
    process::{Counter, KeepAwake},
    requests::RequestSender,
    work::{Sender, work},
};

/// Answers commands until the input ends.
pub async fn serve<E: Endpoint>(endpoint: E) -> io::Result<()> {
    let mut program = Program {
        endpoint,
        accepting: None,
        connection: None,
        sender: None,
        bulk: None,
        counter: None,
        awake: None,
    };
    let mut lines = BufReader::new(stdin()).lines();

    while let Some(line) = lines.next_line().await? {
        let words: Vec<&str> = line.split_whitespace().collect();

        match program.run(words[0], &words[1..]).await {
            Ok(result) => println!("ok {result}"),
            Err(error) => println!("error {error}"),
        }
    }

    Ok(())
}

struct Program<E> {
    endpoint: E,
    accepting: Option<JoinHandle<io::Result<Connection>>>,
    connection: Option<Connection>,
    sender: Option<Sender>,
    bulk: Option<BulkAndUrgent>,
    counter: Option<Counter>,
    /// While requests are answered.
    awake: Option<KeepAwake>,
}

impl<E: Endpoint> Program<E> {
    async fn run(&mut self, command: &str, parameters: &[&str]) -> io::Result<String> {
        let numbers: Vec<usize> = parameters.iter().flat_map(|word| word.parse()).collect();

        match (command, numbers.as_slice()) {
            ("listen", _) => {
                let (address, muxer) = self.endpoint.listen().await?;
                // the connection is driven from its beginning
                let accepting = muxer.map(|muxer| muxer.map(Connection::start));
                self.accepting = Some(tokio::spawn(accepting));
                return Ok(address);
            }
            ("dial", _) => {
                let muxer = self.endpoint.dial(parameters[0]).await?;
                self.connection = Some(Connection::start(muxer));
            }
            ("echo", &[streams, bytes]) => {
                opener::echo_all(self.opener().await?, streams, bytes).await?;
            }
            ("send", &[bytes, piece_bytes, pause_ms]) => {
                opener::send(self.opener().await?, bytes, piece_bytes, pause_ms).await?;
            }
            ("receive", &[bytes, pause_ms]) => {
                opener::receive(self.opener().await?, bytes, pause_ms).await?;
            }
            ("exchange", &[bytes]) => opener::exchange(self.opener().await?, bytes).await?,
            ("hang", _) => {
                let connection = self.connected().await?;
                connection.hold(opener::hanging(&connection.opener).await?);
            }
            // dropped before its end: the only way to reset a stream
            ("reset", _) => drop(opener::hanging(self.opener().await?).await?),
            ("be-reset", &[code]) => {
                return opener::be_reset(self.opener().await?, code).await;
            }
            ("ended", _) => return Ok(self.connected().await?.next_end().await),
            ("close", _) => self.connected().await?.close().await,
            ("closed", _) => self.connected().await?.closed().await,
            ("verify-messages", &[streams, unit_bytes]) => {
                let receiver = Receiver::messages(streams, unit_bytes);
                self.connected().await?.receive(receiver);
            }
            ("answer-requests", &[message_bytes]) => {
                let receiver = Receiver::requests(message_bytes);
                self.connected().await?.receive(receiver);
                self.awake = Some(KeepAwake::start());
            }
            ("open-messages", &[streams, message_bytes, unit_bytes]) => {
                let opener = self.opener().await?;
                let sender =
                    MessageSender::open(opener, streams, message_bytes, unit_bytes).await?;
                self.sender = Some(Sender::Messages(sender));
            }
            ("open-requests" | "open-requests-on-one-stream", &[message_bytes, unit_bytes]) => {
                let on_one_stream = command != "open-requests";
                let opener = self.opener().await?;
                let sender =
                    RequestSender::open(opener, on_one_stream, message_bytes, unit_bytes).await?;
                self.sender = Some(Sender::Requests(sender));
            }
            ("work", &[at_least_ms]) => {
                let sender = self.sender.as_mut().ok_or_else(|| missing("sender"))?;
                return work(sender, at_least_ms).await;
            }
            ("open-bulk-and-urgent", &[bulk_streams]) => {
                let opener = self.opener().await?;
                self.bulk = Some(BulkAndUrgent::open(opener, bulk_streams).await?);
            }
            ("send-bulk", &[message_bytes]) => {
                let bulk = self.bulk.as_mut().ok_or_else(|| missing("bulk"))?;
                bulk.send_bulk(message_bytes);
            }
            ("send-urgent", &[message_bytes, interval_ms, from_ms, to_ms, give_up_ms]) => {
                let bulk = self.bulk.take().ok_or_else(|| missing("bulk"))?;
                let work = UrgentWork {
                    message_bytes,
                    interval_ms,
                    from_ms,
                    to_ms,
                    give_up_ms,
                };
                return bulk.send_urgent(work).await;
            }
            ("count", _) => self.counter = Some(Counter::start()),
            ("spent", _) => {
                return match &self.counter {
                    Some(counter) => Ok(counter.spent()),
                    None => Err(missing("count")),
                };
            }
            ("finish", _) => {
                self.awake = None;
                if let Some(sender) = self.sender.take() {
                    sender.close().await?;
                }
            }
            _ => {
                return Err(io::Error::other(format!(
                    "there is no command {command} with {} numbers",
                    numbers.len()
                )));
            }
        }

        Ok(String::new())
    }

    /// Waits for the connection, if it is to be accepted.
    async fn connected(&mut self) -> io::Result<&mut Connection> {
        if let Some(accepting) = self.accepting.take() {
            self.connection = Some(accepting.await??);
        }

        self.connection
            .as_mut()
            .ok_or_else(|| missing("connection"))
    }

    async fn opener(&mut self) -> io::Result<&Opener> {
        Ok(&self.connected().await?.opener)
    }
}

fn missing(what: &str) -> io::Error {
    io::Error::other(format!("there is no {what} yet"))
}
