/** moto's server: an AWS that nobody here wrote. */
import { ended, findProgram, freePorts, started, until } from '#test/programs.ts'

export const motoProgram = (): string | null => findProgram('moto_server')

export interface Moto {
  port: number
  endpoint: string
  /** All that it holds of a service, as its own dashboard shows it: by model, the instances. */
  held(service: string): Promise<Held>
  close(): Promise<void>
}

type Held = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** @param ownPort  where its state machines find AWS; null: at itself */
export async function startMoto(program: string, ownPort: number | null = null): Promise<Moto> {
  const [port = 0] = await freePorts(1)
  const child = started(program, ['-H', '127.0.0.1', '-p', String(port)], { MOTO_PORT: String(ownPort ?? port) })
  const endpoint = `http://127.0.0.1:${port}`
  const close = () => ended(child)
  try {
    await until(async () => (await fetch(`${endpoint}/moto-api/data.json`)).ok, [child])
    // Else an execution is only noted, and nothing of it runs.
    await fetch(`${endpoint}/moto-api/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ stepfunctions: { execute_state_machine: true } }),
    })
  } catch (error) {
    await close()
    throw error
  }
  return {
    port,
    endpoint,
    async held(service) {
      const services = (await (await fetch(`${endpoint}/moto-api/data.json`)).json()) as Record<string, Held>
      return services[service] ?? {}
    },
    close,
  }
}
