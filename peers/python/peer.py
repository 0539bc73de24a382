"""The peer on py-libp2p over TCP, Noise and yamux. It speaks the lines that ../README.md describes."""

import hashlib
import random
import sys

import trio
from libp2p import new_host
from libp2p.network.stream.exceptions import StreamEOF, StreamReset
from libp2p.peer.peerinfo import info_from_p2p_addr
from multiaddr import Multiaddr

PROTOCOL = "/interop/1.0.0"
# what a reader that pauses takes between two pauses
PACE_BYTES = 64 * 1024
DIGEST_BYTES = 32
NEGOTIATION_TIMEOUT_S = 30
POLL_S = 0.01


class Reader:
    """Reads a stream up to its end, which the stream itself tells by an exception."""

    def __init__(self, stream):
        self.stream = stream
        self.held = b""

    async def next(self, max_bytes):
        """What comes next, nothing at the end."""
        if not self.held:
            try:
                self.held = await self.stream.read(PACE_BYTES)
            except StreamEOF:
                return b""

        taken, self.held = self.held[:max_bytes], self.held[max_bytes:]
        return taken

    async def exactly(self, byte_length):
        parts = []

        while byte_length > 0:
            part = await self.next(byte_length)
            if not part:
                raise EOFError(f"{byte_length} bytes are missing")
            parts.append(part)
            byte_length -= len(part)

        return b"".join(parts)

    async def line(self):
        line = b""

        while not line.endswith(b"\n"):
            line += await self.exactly(1)

        return line.decode()

    async def expect_rest(self, expected):
        rest = b""

        while part := await self.next(PACE_BYTES):
            rest += part

        if rest != expected:
            raise ValueError(f"expected {expected.hex()}, received {rest.hex()}")

    async def digest(self, byte_length, pause_ms):
        """The SHA-256 of up to so many bytes, read with a pause now and then."""
        sha256 = hashlib.sha256()

        while part := await self.next(min(byte_length, PACE_BYTES)):
            sha256.update(part)
            byte_length -= len(part)
            if pause_ms > 0:
                await trio.sleep(pause_ms / 1000)

        return sha256.digest()


async def send_pattern(stream, byte_length, piece_bytes):
    """Sends so many bytes in pieces and returns their SHA-256."""
    sha256 = hashlib.sha256()
    pattern = random.Random(1)

    while byte_length > 0:
        piece = pattern.randbytes(min(byte_length, piece_bytes))
        sha256.update(piece)
        await stream.write(piece)
        byte_length -= len(piece)

    return sha256.digest()


async def how_it_ends(reader):
    """A reset stream may read like one that was closed, but cannot be written to."""
    try:
        while await reader.next(PACE_BYTES):
            pass
        await reader.stream.write(b"\1")
        return "end"
    except StreamReset:
        return "reset"


class Acceptor:
    """What the peer does with the streams that the other side opens: their first line names the job."""

    def __init__(self):
        self.ends_in, self.ends = trio.open_memory_channel(1000)

    async def accept(self, stream):
        reader = Reader(stream)
        try:
            job, *parameters = (await reader.line()).split()
            await getattr(self, job)(stream, reader, *map(int, parameters))
        except Exception as error:
            print(f"a job failed: {error!r}", file=sys.stderr)
            await stream.reset()

    async def echo(self, stream, reader):
        while part := await reader.next(PACE_BYTES):
            await stream.write(part)
        await stream.close_write()

    async def hash(self, stream, reader, pause_ms):
        await stream.write(await reader.digest(sys.maxsize, pause_ms))
        await stream.close_write()

    async def source(self, stream, reader, byte_length):
        await stream.write(await send_pattern(stream, byte_length, PACE_BYTES))
        await stream.close_write()
        await reader.expect_rest(b"")

    async def exchange(self, stream, reader, byte_length):
        # sends before it reads, as the opener does
        sent_digest = await send_pattern(stream, byte_length, PACE_BYTES)
        read_digest = await reader.digest(sys.maxsize, 0)
        await stream.write(sent_digest + read_digest)
        await stream.close_write()

    async def hang(self, stream, reader):
        await stream.write(b"\1")
        await self.ends_in.send(await how_it_ends(reader))

    async def reset(self, stream, reader, code):
        await stream.reset()


class Peer:
    """Has one connection; each command is a method."""

    def __init__(self, host):
        self.host = host
        self.acceptor = Acceptor()
        host.set_stream_handler(PROTOCOL, self.acceptor.accept)

    def connections(self):
        return self.host.get_connected_peers()

    async def remote(self):
        while not self.connections():
            await trio.sleep(POLL_S)
        return self.connections()[0]

    async def open(self, job):
        stream = await self.host.new_stream(await self.remote(), [PROTOCOL])
        await stream.write(f"{job}\n".encode())
        return stream, Reader(stream)

    async def listen(self):
        return str(self.host.get_addrs()[0])

    async def dial(self, address):
        await self.host.connect(info_from_p2p_addr(Multiaddr(address)))

    async def echo(self, stream_count, byte_length):
        waiting = int(stream_count)
        all_echoed = trio.Event()

        async def echo_one(seed):
            nonlocal waiting
            stream, reader = await self.open("echo")
            sent = random.Random(seed).randbytes(int(byte_length))
            await stream.write(sent)
            received = await reader.exactly(len(sent))
            if received != sent:
                raise ValueError(f"sent {sent.hex()}, got {received.hex()} back")

            # all streams are open at once before the first one is closed
            waiting -= 1
            if waiting == 0:
                all_echoed.set()
            await all_echoed.wait()
            await stream.close_write()
            await reader.expect_rest(b"")

        async with trio.open_nursery() as nursery:
            for seed in range(int(stream_count)):
                nursery.start_soon(echo_one, seed)

    async def send(self, byte_length, piece_bytes, pause_ms):
        stream, reader = await self.open(f"hash {pause_ms}")
        digest = await send_pattern(stream, int(byte_length), int(piece_bytes))
        await stream.close_write()
        await reader.expect_rest(digest)

    async def receive(self, byte_length, pause_ms):
        stream, reader = await self.open(f"source {byte_length}")
        await stream.close_write()
        digest = await reader.digest(int(byte_length), int(pause_ms))
        await reader.expect_rest(digest)

    async def exchange(self, byte_length):
        stream, reader = await self.open(f"exchange {byte_length}")
        sent_digest = await send_pattern(stream, int(byte_length), PACE_BYTES)
        await stream.close_write()
        received_digest = await reader.digest(int(byte_length), 0)
        await reader.expect_rest(received_digest + sent_digest)

    async def hang(self):
        stream, reader = await self.open("hang")
        await reader.exactly(1)
        return stream

    async def reset(self, code):
        await (await self.hang()).reset()

    async def be_reset(self, code):
        _, reader = await self.open(f"reset {code}")
        return await how_it_ends(reader)

    async def ended(self):
        return await self.acceptor.ends.receive()

    async def close(self):
        await self.host.disconnect(await self.remote())

    async def closed(self):
        while self.connections():
            await trio.sleep(POLL_S)


async def main():
    listen = Multiaddr("/ip4/127.0.0.1/tcp/0")
    host = new_host(muxer_preference="YAMUX", negotiate_timeout=NEGOTIATION_TIMEOUT_S)

    async with host.run(listen_addrs=[listen]):
        peer = Peer(host)

        async for line in trio.wrap_file(sys.stdin):
            command, *parameters = line.split()
            try:
                result = await getattr(peer, command.replace("-", "_"))(*parameters)
                print("ok", result if isinstance(result, str) else "", flush=True)
            except Exception as error:
                print("error", repr(error).replace("\n", " "), flush=True)


trio.run(main)
