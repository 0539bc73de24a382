// The address of a listener, and of the relay in front of it.

export function portOf (address: string): number {
  return Number(/\/tcp\/(\d+)/.exec(address)?.[1])
}

export function atPort (address: string, port: number): string {
  return address.replace(/\/tcp\/\d+/, `/tcp/${port}`)
}
