package peer

// What the peer does with the streams that the other side opens: their first line names the job.

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
)

const acceptorSeed = 2

// hangEnds receives what a read of each stream of job `hang` returned at last.
var hangEnds = make(chan error, 1000)

// Accept does the job of one stream.
func Accept(stream Stream) {
	reader := bufio.NewReader(stream)
	line, err := reader.ReadString('\n')

	if err == nil {
		words := strings.Fields(line)
		err = do(stream, reader, words[0], numbersOf(words[1:]))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "job %q: %v\n", line, err)
		stream.Reset(0)
	}
}

func do(stream Stream, reader *bufio.Reader, job string, numbers []int) error {
	switch job {
	case "echo":
		if _, err := io.Copy(stream, reader); err != nil {
			return err
		}
		return stream.CloseWrite()
	case "hash":
		hash := sha256.New()
		if err := copyPaced(hash, reader, numbers[0]); err != nil {
			return err
		}
		if _, err := stream.Write(hash.Sum(nil)); err != nil {
			return err
		}
		return stream.CloseWrite()
	case "source":
		return source(stream, reader, numbers[0])
	case "exchange":
		return answerExchange(stream, reader, numbers[0])
	case "hang":
		if _, err := stream.Write([]byte{1}); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, reader)
		hangEnds <- err
		return nil
	case "reset":
		return stream.Reset(uint32(numbers[0]))
	}

	return fmt.Errorf("there is no job %s", job)
}

// source sends so many bytes and the SHA-256 of them.
func source(stream Stream, reader io.Reader, byteLength int) error {
	digest, err := sendPattern(stream, acceptorSeed, byteLength, paceBytes)
	if err != nil {
		return err
	}
	if _, err := stream.Write(digest); err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}

	_, err = io.Copy(io.Discard, reader)
	return err
}

// answerExchange sends so many bytes before it reads more, as the opener does, and then the SHA-256 of what was sent
// and of what was read.
func answerExchange(stream Stream, reader io.Reader, byteLength int) error {
	sentDigest, err := sendPattern(stream, acceptorSeed, byteLength, paceBytes)
	if err != nil {
		return err
	}

	read := sha256.New()
	if err := copyPaced(read, reader, 0); err != nil {
		return err
	}
	if _, err := stream.Write(read.Sum(sentDigest)); err != nil {
		return err
	}

	return stream.CloseWrite()
}
