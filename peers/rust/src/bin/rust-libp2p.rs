//! The peer on rust-libp2p over TCP, Noise and yamux: its transport, without the swarm above it.

use std::{
    io,
    task::{Context, Poll},
};

use futures::{
    StreamExt,
    future::{BoxFuture, FutureExt},
};
use libp2p::{
    Multiaddr, PeerId, Transport,
    core::{
        Endpoint as Role,
        muxing::{StreamMuxerBox, StreamMuxerExt},
        transport::{Boxed, DialOpts, ListenerId, PortUse, TransportEvent},
        upgrade::Version,
    },
    identity::Keypair,
    multiaddr::Protocol,
    noise, tcp, yamux,
};
use peers::{Endpoint, Muxer, Stream, serve};

const PROTOCOL: &str = "/interop/1.0.0";

struct Libp2pMuxer(StreamMuxerBox);

impl Muxer for Libp2pMuxer {
    fn poll_inbound(&mut self, cx: &mut Context<'_>) -> Poll<Option<Stream>> {
        self.0
            .poll_inbound_unpin(cx)
            .map(|stream| Some(Box::new(stream.ok()?) as Stream))
    }

    fn poll_outbound(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        self.0
            .poll_outbound_unpin(cx)
            .map_ok(|stream| Box::new(stream) as Stream)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_close_unpin(cx).map(drop)
    }

    fn agree(stream: Stream, opened_here: bool) -> BoxFuture<'static, io::Result<Stream>> {
        async move {
            let (_, stream) = if opened_here {
                multistream_select::dialer_select_proto(
                    stream,
                    [PROTOCOL],
                    multistream_select::Version::V1,
                )
                .await
            } else {
                multistream_select::listener_select_proto(stream, [PROTOCOL]).await
            }
            .map_err(io::Error::other)?;

            Ok(Box::new(stream) as Stream)
        }
        .boxed()
    }
}

struct NoiseTcp {
    peer_id: PeerId,
    transport: Option<Boxed<(PeerId, StreamMuxerBox)>>,
}

impl NoiseTcp {
    fn new() -> Self {
        let keys = Keypair::generate_ed25519();
        let transport = tcp::tokio::Transport::default()
            .upgrade(Version::V1)
            .authenticate(noise::Config::new(&keys).expect("keys that sign"))
            .multiplex(yamux::Config::default())
            .boxed();

        Self {
            peer_id: keys.public().to_peer_id(),
            transport: Some(transport),
        }
    }
}

impl Endpoint for NoiseTcp {
    type Muxer = Libp2pMuxer;

    async fn listen(
        &mut self,
    ) -> io::Result<(String, BoxFuture<'static, io::Result<Libp2pMuxer>>)> {
        let mut transport = self.transport.take().expect("one connection only");
        transport
            .listen_on(
                ListenerId::next(),
                "/ip4/127.0.0.1/tcp/0".parse().expect("an address"),
            )
            .map_err(io::Error::other)?;

        let address = loop {
            if let TransportEvent::NewAddress { listen_addr, .. } =
                transport.select_next_some().await
            {
                break listen_addr.with(Protocol::P2p(self.peer_id));
            }
        };

        let accepted = async move {
            loop {
                if let TransportEvent::Incoming { upgrade, .. } = transport.select_next_some().await
                {
                    return Ok(Libp2pMuxer(upgrade.await?.1));
                }
            }
        };

        Ok((address.to_string(), accepted.boxed()))
    }

    async fn dial(&mut self, address: &str) -> io::Result<Libp2pMuxer> {
        // the id of whom it dials is the swarm's business
        let address: Multiaddr = address.parse::<Multiaddr>().map_err(io::Error::other)?;
        let address = address
            .into_iter()
            .filter(|part| !matches!(part, Protocol::P2p(_)))
            .collect();
        let options = DialOpts {
            role: Role::Dialer,
            port_use: PortUse::New,
        };
        let transport = self.transport.as_mut().expect("one connection only");
        let (_, muxer) = transport
            .dial(address, options)
            .map_err(io::Error::other)?
            .await?;

        Ok(Libp2pMuxer(muxer))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    serve(NoiseTcp::new()).await
}
