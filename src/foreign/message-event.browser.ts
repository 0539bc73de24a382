/**
 * Replaces message-event.ts in bundles for browsers, whose events are native: see "browser" in package.json.
 */
import { StreamMessageEvent } from '@libp2p/interface'
import { targeted } from './emitter.ts'

export const OwnMessageEvent = targeted(StreamMessageEvent)
