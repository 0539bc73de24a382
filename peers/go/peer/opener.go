package peer

// What the peer does on streams of its own, each for one job of the other side.

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"
)

// paceBytes is what a reader that pauses takes between two pauses.
const paceBytes = 64 * 1024

func open(connection Connection, job string, parameters ...any) (Stream, error) {
	stream, err := connection.Open()
	if err != nil {
		return nil, err
	}

	_, err = fmt.Fprintf(stream, job, parameters...)
	return stream, err
}

// openIndexed tells the receiver which bytes to expect.
func openIndexed(connection Connection, index int) (Stream, error) {
	stream, err := connection.Open()
	if err != nil {
		return nil, err
	}

	_, err = stream.Write(binary.BigEndian.AppendUint32(nil, uint32(index)))
	return stream, err
}

// echoAll has all streams open at once before it closes the first one.
func echoAll(connection Connection, streamCount, byteLength int) error {
	streams := make([]Stream, streamCount)
	err := forEach(streamCount, func(index int) (err error) {
		streams[index], err = openEcho(connection, bytesAt(startOfStream(index), byteLength))
		return err
	})
	if err != nil {
		return err
	}

	return forEach(streamCount, func(index int) error { return closeFully(streams[index], nil) })
}

// openEcho returns a stream that has given back what was sent.
func openEcho(connection Connection, sent []byte) (Stream, error) {
	stream, err := open(connection, "echo\n")
	if err != nil {
		return nil, err
	}
	if _, err := stream.Write(sent); err != nil {
		return nil, err
	}

	received := make([]byte, len(sent))
	if _, err := io.ReadFull(stream, received); err != nil {
		return nil, err
	}

	return stream, expectSame(received, sent)
}

// askAll sends so many requests at once, each with its end behind it, and reads each answer to its end: the same bytes.
func askAll(connection Connection, streamCount, byteLength int) error {
	return forEach(streamCount, func(index int) error {
		sent := bytesAt(startOfStream(index), byteLength)
		stream, err := open(connection, "echo\n")
		if err != nil {
			return err
		}
		if _, err := stream.Write(sent); err != nil {
			return err
		}
		if err := stream.CloseWrite(); err != nil {
			return err
		}

		received, err := io.ReadAll(stream)
		if err != nil {
			return fmt.Errorf("stream %d, after %d bytes of its answer: %w", index, len(received), err)
		}

		return expectSame(received, sent)
	})
}

func send(connection Connection, byteLength, pieceBytes, pauseMs int) error {
	stream, err := open(connection, "hash %d\n", pauseMs)
	if err != nil {
		return err
	}

	digest, err := sendPattern(stream, byteLength, pieceBytes)
	if err != nil {
		return err
	}

	return closeFully(stream, digest)
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

	sentDigest, err := sendPattern(stream, byteLength, paceBytes)
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

// beReset returns what a read of a stream that the other side resets returned at last.
func beReset(connection Connection, code int) (end error, err error) {
	stream, err := open(connection, "reset %d\n", code)
	if err != nil {
		return nil, err
	}

	_, end = io.Copy(io.Discard, stream)
	return end, nil
}

// sendPattern sends so many bytes in pieces and returns their SHA-256.
func sendPattern(stream Stream, byteLength, pieceBytes int) ([]byte, error) {
	hash := sha256.New()

	for sentBytes := 0; sentBytes < byteLength; sentBytes += pieceBytes {
		piece := bytesAt(sentBytes, min(pieceBytes, byteLength-sentBytes))
		hash.Write(piece)
		if _, err := stream.Write(piece); err != nil {
			return nil, err
		}
	}

	return hash.Sum(nil), nil
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

// closeFully waits until the other side has sent this and closed as well.
func closeFully(stream Stream, expected []byte) error {
	if err := stream.CloseWrite(); err != nil {
		return err
	}

	return expectRest(stream, expected)
}

// expectRest reads to the end.
func expectRest(stream Stream, expected []byte) error {
	rest, err := io.ReadAll(stream)
	if err != nil {
		return err
	}

	return expectSame(rest, expected)
}

func expectSame(received, expected []byte) error {
	if !bytes.Equal(received, expected) {
		return fmt.Errorf("expected %x, received %x", expected, received)
	}

	return nil
}

// forEach does it for all indices at once and returns the first error when all are done.
func forEach(count int, do func(index int) error) error {
	failures := make([]error, count)
	var running sync.WaitGroup

	for i := range count {
		running.Go(func() { failures[i] = do(i) })
	}

	running.Wait()

	for _, err := range failures {
		if err != nil {
			return err
		}
	}

	return nil
}
