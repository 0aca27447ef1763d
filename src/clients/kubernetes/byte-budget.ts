/** Limits the bytes that a process holds at once. Requests that do not fit wait. */
export class ByteBudget {
  #left: number
  readonly #maxBytes: number
  readonly #waiting: { bytes: number; grant: () => void }[] = []

  constructor(maxBytes: number) {
    this.#left = maxBytes
    this.#maxBytes = maxBytes
  }

  /**
   * Takes bytes, in order of arrival. @returns a function that frees them, once
   * @throws the signal's reason if it is aborted first
   */
  async take(wanted: number, signal: AbortSignal): Promise<() => void> {
    const bytes = Math.min(wanted, this.#maxBytes)
    signal.throwIfAborted()
    if (this.#waiting.length > 0 || bytes > this.#left) await this.#turn(bytes, signal)
    else this.#left -= bytes
    let isHeld = true
    return () => {
      if (isHeld) this.#left += bytes
      isHeld = false
      this.#grant()
    }
  }

  #turn(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = {
        bytes,
        grant: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1)
        reject(signal.reason)
        this.#grant()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(entry)
    })
  }

  #grant(): void {
    for (let next = this.#waiting[0]; next && next.bytes <= this.#left; next = this.#waiting[0]) {
      this.#left -= next.bytes
      this.#waiting.shift()
      next.grant()
    }
  }
}
