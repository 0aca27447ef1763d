import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compare } from '#test/real-kubelet/comparison.ts'
import { record, startLab } from '#test/real-kubelet/real-node.ts'
import { scenariosFor } from '#test/real-kubelet/scenarios.ts'

/** Folder of the real lab's scripts: a control plane, kubelets and containerd on one Linux machine. */
const scripts = process.env.REAL_LAB ?? ''
const root =
  process.env.REAL_LAB_ROOT ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'highwater-real-lab')
const isPresent = existsSync(join(scripts, 'node.sh')) && existsSync(join(root, 'bin/kubelet'))
if (!isPresent) process.stdout.write('Skipped: REAL_LAB names no real lab with a built kubelet\n')

/** Folder for the recordings; those of test/fixtures/recordings were made by this test. */
const folder = isPresent
  ? (process.env.REAL_LAB_RECORDINGS ?? mkdtempSync(join(tmpdir(), 'highwater-recordings-')))
  : ''
if (isPresent) mkdirSync(folder, { recursive: true })

const longestMs = 15 * 60_000

describe.skipIf(!isPresent)('a real kubelet', () => {
  beforeAll(() => startLab({ scripts, root }), 5 * 60_000)

  it.concurrent.each(scenariosFor(totalmem()))(
    '$name: does what the timeline says, within its intervals',
    async scenario => {
      const recording = await record(scenario, { scripts, root })
      writeFileSync(join(folder, `${scenario.name}.json`), JSON.stringify(recording))
      const { events, missing } = compare(recording)
      expect(events.length).toBeGreaterThan(0)
      expect(events.filter(({ isWithin }) => !isWithin)).toEqual([])
      expect(missing).toEqual([])
    },
    longestMs,
  )
})
