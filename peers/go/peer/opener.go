package peer

// What the peer does on streams of its own, each for one job of the other side.

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand"
	"sync"
	"time"
)

// paceBytes is what a reader that pauses takes between two pauses.
const paceBytes = 64 * 1024

const openerSeed = 1

func open(connection Connection, job string, parameters ...any) (Stream, error) {
	stream, err := connection.Open()
	if err != nil {
		return nil, err
	}

	_, err = fmt.Fprintf(stream, job, parameters...)
	return stream, err
}

// echoAll has all streams open at once before it closes the first one.
func echoAll(connection Connection, streamCount, byteLength int) error {
	ends := make(chan error, streamCount)
	var echoed sync.WaitGroup
	echoed.Add(streamCount)

	for i := range streamCount {
		go func() { ends <- echoOne(connection, payload(int64(i), byteLength), &echoed) }()
	}

	for range streamCount {
		if err := <-ends; err != nil {
			return err
		}
	}

	return nil
}

func echoOne(connection Connection, sent []byte, echoed *sync.WaitGroup) error {
	stream, err := open(connection, "echo\n")
	if err != nil {
		return err
	}
	if _, err := stream.Write(sent); err != nil {
		return err
	}

	received := make([]byte, len(sent))
	if _, err := io.ReadFull(stream, received); err != nil {
		return err
	}
	if !bytes.Equal(sent, received) {
		return fmt.Errorf("sent %x, got %x back", sent, received)
	}

	echoed.Done()
	echoed.Wait()
	return closeAndExpectEnd(stream)
}

func send(connection Connection, byteLength, pieceBytes, pauseMs int) error {
	stream, err := open(connection, "hash %d\n", pauseMs)
	if err != nil {
		return err
	}

	digest, err := sendPattern(stream, openerSeed, byteLength, pieceBytes)
	if err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}

	return expectRest(stream, digest)
}

func receive(connection Connection, byteLength, pauseMs int) error {
	stream, err := open(connection, "source %d\n", byteLength)
	if err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}

	hash := sha256.New()
	if err := copyPaced(hash, io.LimitReader(stream, int64(byteLength)), pauseMs); err != nil {
		return err
	}

	return expectRest(stream, hash.Sum(nil))
}

// exchange sends so many bytes before it reads any, as the other side does, and reads the SHA-256 of both behind what
// that sent.
func exchange(connection Connection, byteLength int) error {
	stream, err := open(connection, "exchange %d\n", byteLength)
	if err != nil {
		return err
	}

	sentDigest, err := sendPattern(stream, openerSeed, byteLength, paceBytes)
	if err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}

	received := sha256.New()
	if err := copyPaced(received, io.LimitReader(stream, int64(byteLength)), 0); err != nil {
		return err
	}

	return expectRest(stream, append(received.Sum(nil), sentDigest...))
}

// openHanging returns a stream that the other side has and does nothing with.
func openHanging(connection Connection) (Stream, error) {
	stream, err := open(connection, "hang\n")
	if err != nil {
		return nil, err
	}

	_, err = io.ReadFull(stream, make([]byte, 1))
	return stream, err
}

// sendPattern sends so many bytes in pieces and returns their SHA-256.
func sendPattern(stream Stream, seed int64, byteLength, pieceBytes int) ([]byte, error) {
	hash := sha256.New()
	source := io.TeeReader(io.LimitReader(rand.New(rand.NewSource(seed)), int64(byteLength)), hash)
	// hides that the stream could read from the source itself, in pieces of its own choice
	writer := struct{ io.Writer }{stream}
	_, err := io.CopyBuffer(writer, source, make([]byte, pieceBytes))
	return hash.Sum(nil), err
}

func copyPaced(to io.Writer, from io.Reader, pauseMs int) error {
	for {
		copiedBytes, err := io.CopyN(to, from, paceBytes)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", copiedBytes, err)
		}

		time.Sleep(time.Duration(pauseMs) * time.Millisecond)
	}
}

func closeAndExpectEnd(stream Stream) error {
	if err := stream.CloseWrite(); err != nil {
		return err
	}

	return expectRest(stream, nil)
}

// expectRest reads to the end.
func expectRest(stream Stream, expected []byte) error {
	rest, err := io.ReadAll(stream)
	if err != nil {
		return err
	}
	if !bytes.Equal(rest, expected) {
		return fmt.Errorf("expected %x, received %x", expected, rest)
	}

	return nil
}

func payload(seed int64, byteLength int) []byte {
	bytes := make([]byte, byteLength)
	rand.New(rand.NewSource(seed)).Read(bytes)
	return bytes
}
