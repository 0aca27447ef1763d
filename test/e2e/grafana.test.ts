/**
 * A real Grafana loads the dashboard of docs/run/grafana, beside a Prometheus data source, and shows each panel with its queries. Only where
 * Grafana is installed: `GRAFANA_HOME` is its folder, by default that of its packages.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '#test/cli.ts'
import { ended, freePorts, started, until } from '#test/programs.ts'

const home = process.env.GRAFANA_HOME ?? '/usr/share/grafana'
const program = join(home, 'bin/grafana')
const isPresent = existsSync(program)

interface Dashboard {
  title: string
  panels: { title: string; type: string; targets: { expr: string }[] }[]
}

const shownOf = ({ title, panels }: Dashboard) => ({
  title,
  panels: panels.map(one => [one.title, one.type, one.targets.map(({ expr }) => expr)]),
})

it.skipIf(!isPresent)(
  `Grafana loads the dashboard${isPresent ? '' : ` (skipped: there is no bin/grafana in ${home})`}`,
  { timeout: 180_000 },
  async () => {
    const folder = temporaryFolder()
    const [port = 0] = await freePorts(1)
    provision(folder, 'dashboards', {
      providers: [
        { name: 'highwater', type: 'file', options: { path: resolve('docs/run/grafana') } },
      ],
    })
    provision(folder, 'datasources', {
      datasources: [
        {
          name: 'Prometheus',
          type: 'prometheus',
          access: 'proxy',
          url: 'http://127.0.0.1:9',
          isDefault: true,
        },
      ],
    })
    const grafana = started(program, ['server', '--homepath', home], {
      GF_SERVER_HTTP_ADDR: '127.0.0.1',
      GF_SERVER_HTTP_PORT: String(port),
      GF_PATHS_DATA: join(folder, 'data'),
      GF_PATHS_LOGS: join(folder, 'logs'),
      GF_PATHS_PLUGINS: join(folder, 'plugins'),
      GF_PATHS_PROVISIONING: folder,
      GF_AUTH_ANONYMOUS_ENABLED: 'true',
      GF_ANALYTICS_REPORTING_ENABLED: 'false',
      GF_ANALYTICS_CHECK_FOR_UPDATES: 'false',
      GF_PLUGINS_PREINSTALL_DISABLED: 'true',
    })
    onTestFinished(() => ended(grafana))
    const dashboard = `http://127.0.0.1:${port}/api/dashboards/uid/highwater`
    await until(async () => (await fetch(dashboard)).ok, [grafana])
    const loaded = (await (await fetch(dashboard)).json()) as { dashboard: Dashboard }
    const ours = JSON.parse(readFileSync('docs/run/grafana/highwater.json', 'utf8')) as Dashboard
    expect(shownOf(loaded.dashboard)).toEqual(shownOf(ours))
  },
)

/** JSON is YAML, too. */
function provision(folder: string, kind: string, content: object): void {
  mkdirSync(join(folder, kind))
  writeFileSync(join(folder, kind, 'highwater.yaml'), JSON.stringify({ apiVersion: 1, ...content }))
}
