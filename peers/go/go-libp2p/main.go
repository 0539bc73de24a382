// The peer on go-libp2p over TCP, Noise and yamux.
package main

import (
	"context"
	"errors"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libp2ppeer "github.com/libp2p/go-libp2p/core/peer"
	muxer "github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-yamux/v5"
	"github.com/multiformats/go-multiaddr"

	"peers/peer"
)

const protocol = "/interop/1.0.0"

var loopback = multiaddr.StringCast("/ip4/127.0.0.1/tcp/0")

type stream struct{ network.Stream }

func (s stream) Reset(code uint32) error {
	return s.ResetWithError(network.StreamErrorCode(code))
}

// endpoint is the connection too, as there is only one.
type endpoint struct {
	host       host.Host
	accepted   chan<- peer.Connection
	connection network.Conn
	closed     chan struct{}
}

func (e *endpoint) Open() (peer.Stream, error) {
	opened, err := e.host.NewStream(context.Background(), e.connection.RemotePeer(), protocol)
	return stream{opened}, err
}

// Ping is yamux' own: libp2p's protocol of that name is not what is tested.
func (e *endpoint) Ping() error {
	var session *yamux.Session
	if !e.connection.As(&session) {
		return errors.New("the connection is not yamux")
	}

	_, err := session.Ping()
	return err
}

func (e *endpoint) Close() error            { return e.connection.Close() }
func (e *endpoint) Closed() <-chan struct{} { return e.closed }

func (e *endpoint) Listen(accepted chan<- peer.Connection) (string, error) {
	e.accepted = accepted
	if err := e.host.Network().Listen(loopback); err != nil {
		return "", err
	}

	addresses, err := libp2ppeer.AddrInfoToP2pAddrs(host.InfoFromHost(e.host))
	if err != nil {
		return "", err
	}

	return addresses[0].String(), nil
}

func (e *endpoint) Dial(address string) (peer.Connection, error) {
	info, err := libp2ppeer.AddrInfoFromString(address)
	if err != nil {
		return nil, err
	}

	if err := e.host.Connect(context.Background(), *info); err != nil {
		return nil, err
	}

	// as identify would have told: then streams do not wait until the protocol is agreed on
	return e, e.host.Peerstore().AddProtocols(info.ID, protocol)
}

func resetCode(err error) (code uint32, isReset bool) {
	if reset, ok := errors.AsType[*network.StreamError](err); ok && reset.Remote {
		return uint32(reset.ErrorCode), true
	}

	return 0, false
}

func main() {
	node, err := libp2p.New(
		// one that only dials may have no loopback interface
		libp2p.NoListenAddrs,
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(muxer.ID, muxer.DefaultTransport),
		// its default allows fewer streams than the tests open
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.DisableRelay(),
	)
	if err != nil {
		panic(err)
	}

	self := &endpoint{host: node, closed: make(chan struct{})}
	node.SetStreamHandler(protocol, func(accepted network.Stream) { peer.Accept(stream{accepted}) })
	node.Network().Notify(&network.NotifyBundle{
		ConnectedF: func(_ network.Network, connection network.Conn) {
			self.connection = connection
			if self.accepted != nil {
				self.accepted <- self
			}
		},
		DisconnectedF: func(network.Network, network.Conn) { close(self.closed) },
	})
	peer.Serve(self, resetCode)
}
