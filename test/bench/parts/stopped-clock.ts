/** Two runs that are compared tell of the same moment, however long they take: what is so many hours old would else be older in the second. */
import { ServerResponse } from 'node:http'

/** Answers tell that time, too: whoever signs goes by it. */
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
