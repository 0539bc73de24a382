// What an application can tell the package's errors by, also where its copy of a class is another.
import { expect, test } from 'vitest'
import * as api from '../../src/index.ts'

const errors = [
  new api.ProtocolError('ERR_DATA_AFTER_FIN', 'received 1 bytes on stream 1 after its FIN'),
  new api.ReceivedBytesChangedError(100, 0),
  new api.RemoteGoAwayError(2),
  new api.SentBytesChangedError(100, 0),
  new api.PathControlError('look', new Error('no')),
  new api.StreamIdsExhaustedError(),
  new api.TransportClosedError()
]

test.each(errors.map(error => [error.constructor.name, error] as const))('%s bears its own name, and a code', (name, error) => {
  expect(error).toMatchObject({ name, code: expect.stringMatching(/^ERR_[A-Z_]+$/) })
})

test.each([
  ['InactivityTimeoutError', 'ERR_INACTIVITY_TIMEOUT'],
  ['OpenTimeoutError', 'ERR_OPEN_TIMEOUT'],
  ['CloseTimeoutError', 'ERR_CLOSE_TIMEOUT'],
  ['WriteTimeoutError', 'ERR_WRITE_TIMEOUT'],
  ['KeepAliveTimeoutError', 'ERR_KEEP_ALIVE_TIMEOUT']
] as const)('a timeout says what took too long: %s', (name, code) => {
  expect(new api.YamuxTimeoutError(name, 'too long')).toMatchObject({ name, code, message: 'too long' })
})

test('a reset by the peer bears the name that libp2p has for it', () => {
  expect(new api.RemoteResetError(1, 7)).toMatchObject({ name: 'StreamResetError', code: 'ERR_STREAM_RESET', errorCode: 7 })
})

test('what is no bytes bears the name that libp2p has for wrong parameters', () => {
  expect(new api.InvalidBytesError('send()', 'text')).toMatchObject({ name: 'InvalidParametersError', code: 'ERR_INVALID_BYTES', message: 'send() takes a Uint8Array or a Uint8ArrayList, it was given a string' })
})

test('these are all', () => {
  const exported = Object.keys(api).filter(name => name.endsWith('Error'))

  expect(exported.sort()).toEqual([...errors.map(error => error.constructor.name), 'InvalidBytesError', 'RemoteResetError', 'UnsupportedLibp2pError', 'YamuxTimeoutError'].sort())
})
