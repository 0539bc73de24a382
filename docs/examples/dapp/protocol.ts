// What the page and the nodes have agreed on.

/** Sends back what it gets */
export const ECHO = '/example/echo/1'
