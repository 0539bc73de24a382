//! The peer on the `yamux` crate over plain TCP. With the argument `buffered` there are buffers between them.

use std::{
    env, io,
    task::{Context, Poll},
};

use futures::{
    future::{BoxFuture, FutureExt},
    io::{BufReader, BufWriter},
};
use peers::{Endpoint, Muxer, ReadWrite, Stream, count_socket_write, serve};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{compat::TokioAsyncReadCompatExt, io::InspectWriter};
use yamux::{Config, Connection, Mode};

/// The crate's 512 would not do for a benchmark's 1,000 streams; all else is its default.
const MAX_STREAMS: usize = 1024;

/// What the standard library takes for its buffers as well.
const BUFFER_BYTES: usize = 8 * 1024;

struct PlainMuxer(Connection<Box<dyn ReadWrite>>);

impl Muxer for PlainMuxer {
    fn poll_inbound(&mut self, cx: &mut Context<'_>) -> Poll<Option<Stream>> {
        self.0
            .poll_next_inbound(cx)
            .map(|stream| Some(Box::new(stream?.ok()?) as Stream))
    }

    fn poll_outbound(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        self.0
            .poll_new_outbound(cx)
            .map_ok(|stream| Box::new(stream) as Stream)
            .map_err(io::Error::other)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_close(cx).map(drop)
    }
}

#[derive(Clone, Copy)]
struct PlainTcp {
    /// The crate writes and reads the header and the body of a frame each by themselves. A user who sees that puts
    /// buffers between it and a bare socket, which are flushed when the crate says so.
    is_buffered: bool,
}

impl PlainTcp {
    fn begin(self, socket: TcpStream, mode: Mode) -> io::Result<PlainMuxer> {
        // small frames would wait for TCP's delayed acknowledgements; libp2p's transport does the same
        socket.set_nodelay(true)?;
        let counted = InspectWriter::new(socket, |_| count_socket_write()).compat();
        let socket: Box<dyn ReadWrite> = match self.is_buffered {
            false => Box::new(counted),
            true => Box::new(BufReader::with_capacity(
                BUFFER_BYTES,
                BufWriter::with_capacity(BUFFER_BYTES, counted),
            )),
        };
        let mut config = Config::default();
        config.set_max_num_streams(MAX_STREAMS);

        Ok(PlainMuxer(Connection::new(socket, config, mode)))
    }
}

impl Endpoint for PlainTcp {
    type Muxer = PlainMuxer;

    async fn listen(&mut self) -> io::Result<(String, BoxFuture<'static, io::Result<PlainMuxer>>)> {
        let endpoint = *self;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("/ip4/127.0.0.1/tcp/{}", listener.local_addr()?.port());

        Ok((
            address,
            async move { endpoint.begin(listener.accept().await?.0, Mode::Server) }.boxed(),
        ))
    }

    async fn dial(&mut self, address: &str) -> io::Result<PlainMuxer> {
        let parts: Vec<&str> = address.split('/').collect();
        let socket = TcpStream::connect(format!("{}:{}", parts[2], parts[4])).await?;

        self.begin(socket, Mode::Client)
    }
}

// one thread, the fastest for the crate: a connection is one task whatever the runtime, and on two cores the runtime of
// many threads halved 1 x 100 B, took a third of 1 x 4 KiB and gained nothing beyond the noise elsewhere
#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let is_buffered = env::args().nth(1).as_deref() == Some("buffered");

    serve(PlainTcp { is_buffered }).await
}
