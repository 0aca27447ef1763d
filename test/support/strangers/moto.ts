/** moto's server: an AWS that nobody here wrote. */
import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ended, findProgram, freePorts, started, until } from '#test/programs.ts'

export const motoProgram = (): string | null => findProgram('moto_server')

/** With it the deployed functions are known to pass; 5.2.1 refuses the signature of ListObjectsV2, and its Step Functions give answers of another form. */
const leastVersion = '5.2.5'

/** Why the deployed functions cannot be run there, for people; null: they can. */
export function motoMissing(): string | null {
  const program = motoProgram()
  const wanted = `moto_server of version ${leastVersion} or later on the PATH`
  if (program === null) return `${wanted} (pip install 'moto[server]>=${leastVersion}')`
  const version = motoVersion(program)
  if (version === null || version.localeCompare(leastVersion, 'en', { numeric: true }) >= 0)
    return null
  return `${wanted} (it is ${version}: pip install 'moto[server]>=${leastVersion}')`
}

const askVersion = "from importlib.metadata import version; print(version('moto'))"

/** The server itself does not tell: its Python does, which its first line names, or which lies beside it. Null: nobody does. */
function motoVersion(program: string): string | null {
  const [, named = ''] = /^#!\s*(\S*python\S*)/.exec(readFileSync(program, 'utf8')) ?? []
  const beside = [program, realpathSync(program)].flatMap(path =>
    ['python3', 'python'].map(name => join(dirname(path), name)),
  )
  for (const python of [named, ...beside].filter(path => path !== ''))
    try {
      return execFileSync(python, ['-c', askVersion], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    } catch {
      // The next one may know.
    }
  return null
}

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
  const child = started(program, ['-H', '127.0.0.1', '-p', String(port)], {
    MOTO_PORT: String(ownPort ?? port),
  })
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
      const services = (await (await fetch(`${endpoint}/moto-api/data.json`)).json()) as Record<
        string,
        Held
      >
      return services[service] ?? {}
    },
    close,
  }
}
