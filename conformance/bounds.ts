// What the suite may do to a target. A case that goes beyond is an error of the suite.

/** That a case sends, its headers included */
export const MAX_SENT_BYTES = 8_388_608
export const MAX_SENT_FRAMES = 5_000
/** That a case takes; a target that sends more is left */
export const MAX_RECEIVED_BYTES = 4_194_304
export const MAX_RECEIVED_FRAMES = 100_000
/** Of the target's that a case answers */
export const MAX_PINGS = 5_000
export const MAX_CASE_MS = 5_000
export const MAX_CONNECTIONS_PER_CASE = 2
/** How long a case waits for an answer */
export const ANSWER_MS = 2_000
/** How long it listens for what should not come, after an answer that shows that the target has read all */
export const SILENCE_MS = 150
