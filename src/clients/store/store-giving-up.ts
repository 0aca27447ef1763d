/** Avoids a second wait for an unreachable store: more time-outs would use up the time for sending the mail. */
import { RequestFailure } from '#clients/failure.ts'
import type { Store } from './store.ts'

const awayKinds = new Set(['timeout', 'network', 'refused', 'name', 'tls'])

/** The same store. After one failure to reach the store, every call throws that failure at once. */
export function givingUp(store: Store): Store {
  let away: RequestFailure | null = null
  async function attempt<T>(call: () => Promise<T>): Promise<T> {
    if (away !== null) throw away
    try {
      return await call()
    } catch (error) {
      if (error instanceof RequestFailure && awayKinds.has(error.kind)) away = error
      throw error
    }
  }
  return {
    location: store.location,
    read: key => attempt(() => store.read(key)),
    write: (key, body, contentType) => attempt(() => store.write(key, body, contentType)),
    create: (key, body, contentType) => attempt(() => store.create(key, body, contentType)),
    replace: (key, body, contentType, version) =>
      attempt(() => store.replace(key, body, contentType, version)),
    writeFile: (key, path, contentType) => attempt(() => store.writeFile(key, path, contentType)),
    wasWritten: key => attempt(() => store.wasWritten(key)),
    async *list(prefix) {
      if (away !== null) throw away
      yield* store.list(prefix)
    },
  }
}
