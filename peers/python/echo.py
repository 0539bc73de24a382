"""An echo target for conformance/ on py-libp2p, over TCP, Noise and yamux: `echo.py <host:port>`. It opens a stream on each connection too, for identify."""

import sys
from contextlib import suppress

import trio
from libp2p import new_host
from libp2p.network.stream.exceptions import StreamError
from multiaddr import Multiaddr

PROTOCOL = "/echo/1.0.0"
PIECE_BYTES = 64 * 1024


async def echo(stream):
    # the end of a stream is an error too; an error that leaves a handler ends the node
    with suppress(StreamError):
        while part := await stream.read(PIECE_BYTES):
            await stream.write(part)
    with suppress(StreamError):
        await stream.close_write()


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    node = new_host(muxer_preference="YAMUX")
    node.set_stream_handler(PROTOCOL, echo)

    async with node.run(listen_addrs=[Multiaddr(f"/ip4/{host}/tcp/{port}")]):
        print(":".join(str(node.get_addrs()[0]).split("/")[2:5:2]), flush=True)
        await trio.sleep_forever()


trio.run(main)
