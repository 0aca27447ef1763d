/** Stops the clock, so that two compared runs see the same moment. Otherwise ages would differ in the second run. */
import { ServerResponse } from 'node:http'

/** Answers have that time in their Date header too, because clients sign requests with it. */
export function stopClock(atMs: number): void {
  globalThis.Date = class extends Date {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [atMs] : given) as []))
    }
    static override now(): number {
      return atMs
    }
  } as DateConstructor
  const writeHead = ServerResponse.prototype.writeHead as (
    this: ServerResponse,
    ...given: unknown[]
  ) => ServerResponse
  ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
    if (!this.hasHeader('date')) this.setHeader('date', new Date().toUTCString())
    return writeHead.apply(this, given)
  }
}
