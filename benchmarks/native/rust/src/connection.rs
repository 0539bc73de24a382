//! The one connection that the program has: a task drives it, opens streams when asked to and hands over those that come.

use std::{
    future::poll_fn,
    io,
    sync::{Arc, Mutex, atomic::AtomicU64},
    task::{Context, Poll},
};

use futures::{
    future::Either,
    io::{BufReader, BufWriter},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};
use yamux::{Config, Mode, Stream};

use crate::{
    spent::{Counted, Counter},
    streams::Receiver,
};

/// The crate's 512 would not do for the benchmark's 1,000 streams; all else is its default.
const MAX_STREAMS: usize = 1024;

/// What the standard library takes for its buffers as well.
const BUFFER_BYTES: usize = 8 * 1024;

type Socket = Counted<Compat<TcpStream>>;
type Muxer = yamux::Connection<Either<Socket, BufReader<BufWriter<Socket>>>>;
type Opening = oneshot::Sender<io::Result<Stream>>;

#[derive(Clone)]
pub struct Connection {
    /// The crate writes and reads the header and the body of a frame each by themselves. A user who sees that puts
    /// buffers between it and a bare socket, which are flushed when the crate says so.
    socket_is_buffered: bool,
    openings: Arc<Mutex<Option<mpsc::UnboundedSender<Opening>>>>,
    receiver: Arc<Mutex<Receiver>>,
    socket_writes: Arc<AtomicU64>,
}

impl Connection {
    pub fn new(socket_is_buffered: bool) -> Self {
        Self {
            socket_is_buffered,
            openings: Arc::default(),
            receiver: Arc::default(),
            socket_writes: Arc::default(),
        }
    }

    /// Returns the address of a port that takes one connection.
    pub async fn listen(&self) -> io::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let begin = self.begin(Mode::Server);
        tokio::spawn(async move { begin(listener.accept().await?.0) });

        Ok(address)
    }

    pub async fn dial(&self, address: &str) -> io::Result<()> {
        self.begin(Mode::Client)(TcpStream::connect(address).await?)
    }

    /// What is done with the streams that come from now on.
    pub fn receive(&self, receiver: Receiver) {
        *self.receiver.lock().expect("not poisoned") = receiver;
    }

    pub async fn open(&self) -> io::Result<Stream> {
        let gone = || io::Error::other("there is no connection");
        let (sender, opened) = oneshot::channel();
        let openings = self.openings.lock().expect("not poisoned").clone();
        openings
            .ok_or_else(gone)?
            .send(sender)
            .map_err(|_| gone())?;

        opened.await.map_err(|_| gone())?
    }

    pub fn start_counting(&self) -> Counter {
        Counter::start(self.socket_writes.clone())
    }

    fn begin(&self, mode: Mode) -> impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static {
        let openings = self.openings.clone();
        let receiver = self.receiver.clone();
        let writes = self.socket_writes.clone();
        let socket_is_buffered = self.socket_is_buffered;

        move |socket| {
            // as libp2p's TCP transport does for its users
            socket.set_nodelay(true)?;
            let socket = socket.compat();
            let counted = Counted { socket, writes };
            let socket = match socket_is_buffered {
                false => Either::Left(counted),
                true => Either::Right(BufReader::with_capacity(
                    BUFFER_BYTES,
                    BufWriter::with_capacity(BUFFER_BYTES, counted),
                )),
            };
            let mut config = Config::default();
            config.set_max_num_streams(MAX_STREAMS);
            let muxer = Muxer::new(socket, config, mode);
            let (sender, requested) = mpsc::unbounded_channel();
            *openings.lock().expect("not poisoned") = Some(sender);
            tokio::spawn(drive(muxer, requested, receiver));

            Ok(())
        }
    }
}

async fn drive(
    mut muxer: Muxer,
    mut requested: mpsc::UnboundedReceiver<Opening>,
    receiver: Arc<Mutex<Receiver>>,
) {
    let mut waiting = None;

    poll_fn(|cx: &mut Context<'_>| {
        while let Some(opening) = waiting.take().or_else(|| next(&mut requested, cx)) {
            match muxer.poll_new_outbound(cx) {
                // whoever asked may have gone
                Poll::Ready(stream) => drop(opening.send(stream.map_err(io::Error::other))),
                Poll::Pending => {
                    waiting = Some(opening);
                    break;
                }
            }
        }

        loop {
            match muxer.poll_next_inbound(cx) {
                Poll::Ready(Some(Ok(stream))) => {
                    receiver.lock().expect("not poisoned").accept(stream);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

fn next(requested: &mut mpsc::UnboundedReceiver<Opening>, cx: &mut Context<'_>) -> Option<Opening> {
    match requested.poll_recv(cx) {
        Poll::Ready(opening) => opening,
        Poll::Pending => None,
    }
}
