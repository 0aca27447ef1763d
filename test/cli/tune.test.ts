import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TuneDocument, TuneRow, TuneSetting } from '#model/tune.ts'
import { temporaryFolder } from '#test/cli.ts'
import { snapshotOf } from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'
import { inProcess } from '#test/in-process.ts'
import { type SavedNode, savedSnapshot } from '#test/saved-snapshot.ts'

const tune = (file: string, ...args: string[]) =>
  inProcess(['tune', '--group', 'workers', '--snapshot', file, ...args])

async function tuneJson(file: string, ...args: string[]) {
  const { code, stdout } = await tune(file, ...args, '--format', 'json')
  const document = JSON.parse(stdout) as TuneDocument
  const row = (setting: TuneSetting): TuneRow | undefined =>
    document.rows.find(one => one.setting === setting)
  return { code, document, row }
}

const disk: SavedNode = { name: 'a', usedPercent: 70, bootId: 'boot' }
/** About a tenth of the disk of 3.9 GiB in a day. */
const slow = ['--fill', 'nodefs=5Ki/s']

describe('highwater tune', () => {
  it('compares five settings, and recommends what the rules recommend', async () => {
    const { code, document, row } = await tuneJson(savedSnapshot([disk]), ...slow)
    expect(code).toBe(0)
    expect(document).toMatchObject({ schema: 'highwater.tune/1', nodes: 1, group: 'workers' })
    expect(document.rows.map(({ setting }) => setting)).toEqual([
      ...['today', 'vendor', 'upstream', 'recommended', 'stricter'],
    ])
    expect(row('today')?.configuration).toMatchObject({ imageGCHighThresholdPercent: 85 })
    expect(row('upstream')?.configuration.evictionHard).toMatchObject({
      'imagefs.available': '15%',
    })
    expect(row('recommended')?.configuration.imageGCHighThresholdPercent).toBe(80)
    expect(row('stricter')?.configuration.imageGCHighThresholdPercent).toBe(70)
    expect(document.changes).toEqual([
      'imageGCHighThresholdPercent=80',
      'imageGCLowThresholdPercent=70',
    ])
  })

  it('counts a day: image GC comes only with a setting that reaches it', async () => {
    const { row } = await tuneJson(savedSnapshot([disk]), ...slow)
    expect(row('today')?.first).toEqual({ imageGC: 0, eviction: 0, nothing: 1 })
    expect(row('today')?.imageGCs).toBe(0)
    expect(row('stricter')?.first).toEqual({ imageGC: 1, eviction: 0, nothing: 0 })
    expect(row('stricter')?.deletedBytes).toBeGreaterThan(0)
  })

  it('counts minutes under pressure, and what thresholds keep unusable', async () => {
    const { row } = await tuneJson(savedSnapshot([disk]), '--fill', 'nodefs=50Ki/s')
    expect(row('upstream')?.diskPressureMinutes).toBeGreaterThan(
      Number(row('today')?.diskPressureMinutes),
    )
    expect(Number(row('upstream')?.unusableBytes)).toBeGreaterThan(
      Number(row('today')?.unusableBytes),
    )
  })

  describe('nodes whose running configuration was not read', () => {
    const worldWith = (change: (record: Record<string, unknown>) => object) =>
      snapshotOf(
        gateWorld().map(line =>
          line.includes('"general-1"') ? JSON.stringify(change(JSON.parse(line))) : line,
        ),
      )
    const tuned = (file: string, ...args: string[]) =>
      inProcess(['tune', '--group', 'general', '--snapshot', file, ...slow, ...args])

    it('are in no row, and are named: exit 3', async () => {
      const file = worldWith(({ configz, ...record }) => record)
      const { code, stdout } = await tuned(file)
      expect(code).toBe(3)
      expect(stdout).toContain('general-1 is in no row: its configuration is not known')
      const { rows } = JSON.parse((await tuned(file, '--format', 'json')).stdout)
      expect(rows).toMatchObject([...Array(4).fill({}), { isAlike: true }])
      for (const { first } of rows) expect(first.imageGC + first.eviction + first.nothing).toBe(2)
    })

    it('have no setting if none was read', async () => {
      const lines = gateWorld().map(line => line.replace('"configz":', '"other":'))
      const { code, stdout } = await tuned(snapshotOf(lines))
      expect(code).toBe(3)
      expect(stdout).toContain('unknown: the configuration was not read')
      expect(stdout).not.toMatch(/watches no disk|No other setting|grow by/)
    })

    it('are compared with the configuration of their files', async () => {
      const path = '/etc/kubernetes/kubelet/config.json'
      const { code, stdout } = await tuned(
        worldWith(({ configz, ...record }) => {
          const { kubeletconfig } = configz as { kubeletconfig: object }
          const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
          const content = { ...kind, ...kubeletconfig }
          const files = [{ path, role: 'config', sha256: '0'.repeat(64), content }]
          const commandLine = ['/usr/bin/kubelet', `--config=${path}`]
          const kubelet = { startedAt: record.at, commandLine, files }
          return { ...record, mode: 'ssm', host: { schema: 'highwater.host/1', kubelet } }
        }),
      )
      expect({ code, isLeftOut: stdout.includes('in no row') }).toEqual({
        code: 0,
        isLeftOut: false,
      })
    })
  })

  it('takes the growth that earlier runs measured; exit 3 if a node has none', async () => {
    const store = temporaryFolder()
    for (const [index, usedPercent] of [50, 55, 60, 65].entries()) {
      const takenAt = `2026-11-${17 + index}T07:00:00Z`
      const file = savedSnapshot([{ ...disk, usedPercent }], { takenAt })
      await inProcess(['audit', '--snapshot', file, '--store', store, '--out', temporaryFolder()])
    }
    const now = { takenAt: '2026-11-20T08:00:00Z' }
    const measured = await tuneJson(savedSnapshot([disk], now), '--store', store)
    expect(measured.code).toBe(0)
    expect(measured.document.bytesPerHour).toBeGreaterThan(0)
    const both = savedSnapshot([disk, { ...disk, name: 'b' }], now)
    const { code, document, row } = await tuneJson(both, '--store', store)
    expect(code).toBe(3)
    expect(document.unmeasured).toEqual({ count: 1, sample: ['b'] })
    expect(Object.values(row('today')?.first ?? {}).reduce((sum, count) => sum + count, 0)).toBe(1)
  })

  it('shows five rows with bars, and the plan of the recommended one', async () => {
    const { stdout } = await tune(savedSnapshot([disk]), ...slow)
    expect(stdout.replace(/--snapshot \S+/, '--snapshot FILE')).toMatchSnapshot()
  })

  it('names the clusters of the group, and plans for them alone', async () => {
    const file = savedSnapshot([disk])
    const { document } = await tuneJson(file, ...slow)
    const [cluster = ''] = document.clusters
    expect(document.clusters).toHaveLength(1)
    const { stdout } = await tune(file, ...slow)
    expect(stdout).toContain(`workers in ${cluster}: 1 node`)
    const command = /^ {2}highwater (plan .*)$/m.exec(stdout)?.[1] ?? ''
    expect(command).toContain(`--cluster ${cluster} `)
    const out = join(temporaryFolder(), 'plan.json')
    const { stdout: plan } = await inProcess([...command.split(' '), '--out', out])
    expect(plan).toContain(`${cluster} Nodegroup workers`)
    expect(plan).toContain('imageGCHighThresholdPercent: 80')
  })

  it('shows no count of a day if no growth is known', async () => {
    const { code, stdout } = await tune(savedSnapshot([disk]))
    expect(code).toBe(3)
    expect(stdout).not.toContain('The disks grow')
    expect(stdout).toMatch(/^today +\S+( +-){6} +\d/m)
  })

  it('recommends no image GC that starts now and cannot end', async () => {
    const fuller = (line: string) => {
      const record = JSON.parse(line)
      if (record.node?.metadata.name !== 'general-1') return line
      const { fs, runtime } = record.summary.node
      for (const one of [fs, runtime.imageFs, runtime.containerFs])
        one.availableBytes = Math.round(one.capacityBytes * 0.18)
      return JSON.stringify(record)
    }
    const file = snapshotOf(gateWorld().map(fuller))
    const general = ['--group', 'general', '--snapshot', file]
    const { stdout } = await inProcess(['tune', ...general, ...slow])
    expect(stdout).toContain('No other setting is recommended')
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /Image GC is left as it is: at \d+ to \d+ it would start now on general-1, and could not free enough to end\./,
    )
    expect(stdout).not.toContain('--set imageGC')
  })

  it('needs a group that is there', async () => {
    const file = savedSnapshot([disk])
    expect((await inProcess(['tune', '--group', 'none', '--snapshot', file])).code).toBe(2)
    expect((await inProcess(['tune', '--snapshot', file])).code).toBe(2)
  })
})
