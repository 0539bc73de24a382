// Package peer answers the lines that ../../README.md describes, for any connection that has streams.
package peer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type program struct {
	endpoint   Endpoint
	resetCode  func(error) (code uint32, isReset bool)
	accepted   chan Connection
	connection Connection
	sender     sender
	bulk       *bulkAndUrgent
	spentSince func() spent
}

// Serve answers commands until the input ends. `resetCode` tells by what a read or write returned whether the other
// side has reset the stream.
func Serve(endpoint Endpoint, resetCode func(error) (code uint32, isReset bool)) {
	program := program{endpoint: endpoint, resetCode: resetCode, accepted: make(chan Connection, 1)}
	lines := bufio.NewScanner(os.Stdin)

	for lines.Scan() {
		words := strings.Fields(lines.Text())
		result, err := program.run(words[0], words[1:])

		if err != nil {
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println("ok", result)
		}
	}
}

func (p *program) run(command string, parameters []string) (result string, err error) {
	numbers := numbersOf(parameters)

	switch command {
	case "listen":
		return p.endpoint.Listen(p.accepted)
	case "dial":
		p.connection, err = p.endpoint.Dial(parameters[0])
	case "echo":
		err = echoAll(p.connected(), numbers[0], numbers[1])
	case "ask":
		err = askAll(p.connected(), numbers[0], numbers[1])
	case "send":
		err = send(p.connected(), numbers[0], numbers[1], numbers[2])
	case "receive":
		err = receive(p.connected(), numbers[0], numbers[1])
	case "exchange":
		err = exchange(p.connected(), numbers[0])
	case "hang":
		_, err = openHanging(p.connected())
	case "reset":
		var stream Stream
		if stream, err = openHanging(p.connected()); err == nil {
			err = stream.Reset(uint32(numbers[0]))
		}
	case "be-reset":
		end, err := beReset(p.connected(), numbers[0])
		return p.describe(end), err
	case "ended":
		return p.describe(<-hangEnds), nil
	case "ping":
		err = p.connected().Ping()
	case "close":
		err = p.connected().Close()
	case "closed":
		<-p.connected().Closed()
	case "verify-messages":
		onStream.Store(messageVerifier(numbers[0], numbers[1]))
	case "answer-requests":
		onStream.Store(requestAnswerer(numbers[0]))
	case "open-messages":
		p.sender, err = openMessages(p.connected(), numbers[0], numbers[1], numbers[2])
	case "open-requests":
		p.sender, err = openRequests(p.connected(), false, numbers[0], numbers[1])
	case "open-requests-on-one-stream":
		p.sender, err = openRequests(p.connected(), true, numbers[0], numbers[1])
	case "work":
		if p.sender == nil {
			return "", errors.New("nothing is open to work on")
		}
		sent, err := work(p.sender, numbers[0])
		return toJSON(sent), err
	case "open-bulk-and-urgent":
		p.bulk, err = openBulkAndUrgent(p.connected(), numbers[0])
	case "send-bulk":
		if p.bulk == nil {
			return "", errors.New("nothing is open for bulk")
		}
		p.bulk.sendBulk(numbers[0])
	case "send-urgent":
		if p.bulk == nil {
			return "", errors.New("nothing is open for urgent messages")
		}
		sent, err := p.bulk.sendUrgent(urgentWork{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]})
		return toJSON(sent), err
	case "count":
		p.spentSince = startCounting()
	case "spent":
		return toJSON(p.spentSince()), nil
	case "finish":
		if p.sender != nil {
			err = p.sender.close()
			p.sender = nil
		}
	default:
		err = fmt.Errorf("there is no command %s", command)
	}

	return "", err
}

// connected waits for the connection, if it is to be accepted.
func (p *program) connected() Connection {
	if p.connection == nil {
		p.connection = <-p.accepted
	}

	return p.connection
}

// describe tells how a stream ended.
func (p *program) describe(end error) string {
	code, isReset := p.resetCode(end)

	switch {
	case end == nil:
		return "end"
	case isReset && code != 0:
		return fmt.Sprintf("reset %d", code)
	case isReset:
		return "reset"
	default:
		return "error " + end.Error()
	}
}

func toJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// numbersOf has a 0 for what is no number.
func numbersOf(words []string) []int {
	numbers := make([]int, len(words))

	for i, word := range words {
		numbers[i], _ = strconv.Atoi(word)
	}

	return numbers
}
