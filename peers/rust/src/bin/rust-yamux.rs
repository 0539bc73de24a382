//! The peer on the `yamux` crate over plain TCP.

use std::{
    io,
    task::{Context, Poll},
};

use futures::future::{BoxFuture, FutureExt};
use peers::{Endpoint, Muxer, Stream, serve};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};
use yamux::{Config, Connection, Mode};

struct PlainMuxer(Connection<Compat<TcpStream>>);

impl PlainMuxer {
    fn new(socket: TcpStream, mode: Mode) -> io::Result<Self> {
        // its small frames would wait for TCP's delayed acknowledgements
        socket.set_nodelay(true)?;

        Ok(Self(Connection::new(
            socket.compat(),
            Config::default(),
            mode,
        )))
    }
}

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

struct PlainTcp;

impl Endpoint for PlainTcp {
    type Muxer = PlainMuxer;

    async fn listen(&mut self) -> io::Result<(String, BoxFuture<'static, io::Result<PlainMuxer>>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("/ip4/127.0.0.1/tcp/{}", listener.local_addr()?.port());

        Ok((
            address,
            async move { PlainMuxer::new(listener.accept().await?.0, Mode::Server) }.boxed(),
        ))
    }

    async fn dial(&mut self, address: &str) -> io::Result<PlainMuxer> {
        let parts: Vec<&str> = address.split('/').collect();
        let socket = TcpStream::connect(format!("{}:{}", parts[2], parts[4])).await?;

        PlainMuxer::new(socket, Mode::Client)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    serve(PlainTcp).await
}
