package peer

// Sessions on bare sockets: how the peers without libp2p listen and dial.

import (
	"fmt"
	"net"
	"strings"
)

// PlainTCP is an endpoint that lays sessions on bare sockets.
type PlainTCP struct {
	Client, Server func(net.Conn) (Connection, error)
}

// Listen returns the multiaddr of a port that takes one connection.
func (p PlainTCP) Listen(accepted chan<- Connection) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}

	go func() {
		socket, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		connection, err := p.Server(socket)
		if err != nil {
			panic(err)
		}
		accepted <- connection
	}()

	return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", listener.Addr().(*net.TCPAddr).Port), nil
}

// Dial connects to such an address.
func (p PlainTCP) Dial(address string) (Connection, error) {
	parts := strings.Split(address, "/")
	socket, err := net.Dial("tcp", net.JoinHostPort(parts[2], parts[4]))
	if err != nil {
		return nil, err
	}

	return p.Client(socket)
}
