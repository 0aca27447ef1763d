/**
 * The incidents that the field writes about, and what an audit says of them: every word and number of it stands in `golden/`, one file a seed. Who
 * changes a rule reads the difference before accepting it (`vitest run test/e2e/golden.test.ts -u`). The numbers below were worked out by hand.
 */
import { describe, expect, it } from 'vitest'
import { incidents } from '#lab/scenarios/incidents.ts'
import type { Finding } from '#model/finding.ts'
import { auditLive, auditRecords, labOf } from '#test/lab-audit.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'

const GiB = 2 ** 30
const MiB = 2 ** 20

let found: readonly Finding[] = []
it('has the lab tell them', async () => {
  await labOf([incidents], { at: takenAt })
  const live = await auditLive()
  const refused = await auditRecords(lowIsHigh())
  found = [...live.document.findings, ...refused.document.findings]
  expect(found.length).toBeGreaterThan(0)
})

/** 50/50 written into the file of a kubelet that has not been restarted yet. */
async function* lowIsHigh() {
  const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
  const kubeReserved = { cpu: '80m', memory: '1465Mi' }
  const content = {
    ...kind,
    kubeReserved,
    imageGCHighThresholdPercent: 50,
    imageGCLowThresholdPercent: 50,
  }
  const path = '/etc/kubernetes/kubelet/kubelet-config.json'
  const kubelet = {
    startedAt: '2026-11-01T08:00:00Z',
    commandLine: ['/usr/bin/kubelet', `--config=${path}`],
    files: [{ path, role: 'config', content }],
  }
  yield {
    kind: 'Snapshot',
    schema: 'highwater.snapshot/1',
    takenAt,
    account: null,
    region: null,
  } as const
  yield { kind: 'Cluster', cluster: 'prod' } as const
  yield buildNode({
    nodegroup: 'low-is-high',
    configuration: { kubeReserved },
    record: { host: { schema: 'highwater.host/1', kubelet } },
  }).record
}

const of = (name: string) => found.filter(({ subject }) => subject.name === name)

/** Amounts are in bytes. */
function evidence(name: string, rule: string): Record<string, string | number> {
  const finding = of(name).find(candidate => candidate.rule === rule)
  if (!finding) throw new Error(`${rule} does not fire on ${name}`)
  return Object.fromEntries(finding.evidence.map(({ what, value, bytes = value }) => [what, bytes]))
}

describe.each([
  ['al2-defaults', '85/80, and an alert at 80 %'],
  ['kubespray-worker-1', 'four signals: eviction for images at the point where image GC begins'],
  ['data-disk', "three signals, and the runtime's own disk that none of them watches"],
  ['low-is-high', 'low = high: the kubelet will not start again'],
  ['al2-refused', 'low = high, seen from outside: the kubelet is down'],
  ['sized-worker-1', '10 GiB: 1 GiB for daemons, eviction below 500 MiB'],
])('%s', (name, about) => {
  it(`reads as an expert would write it: ${about}`, async () => {
    const told = of(name).map(({ docs: _, ...finding }) => finding)
    await expect(`${JSON.stringify(told, null, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`)
  })
})

describe('worked out by hand', () => {
  it('85/80 on 20 GiB: used is 100 − floor(available %), so GC waits until less than 16 % are left', () => {
    // 0.16 × 20 GiB = 3,435,973,836.8, of which the next whole byte is the first that is not below.
    expect(evidence('al2-defaults', 'alert-before-image-gc')).toMatchObject({
      'the alert fires below': 4 * GiB,
      'image GC starts below': 3_435_973_837,
    })
    // 88 % used: trunc(0.12 × 20 GiB) left: image GC counts 89 %. To free: 0.20 × 20 GiB − what is left.
    const available = Math.trunc(0.12 * 20 * GiB)
    expect(available).toBe(2_576_980_377)
    expect(evidence('al2-defaults', 'image-gc-due')).toMatchObject({
      'image filesystem used': '88 %',
      'image filesystem available': available,
      'to free': Math.trunc(0.2 * 20 * GiB) - available,
    })
  })

  it('imagefs.available 15 % of 100 GiB is 640 bytes more than plain arithmetic, and 1 % away from image GC', () => {
    const met = 100 * 0.15 * GiB + 640
    const starts = 0.16 * 100 * GiB
    expect(evidence('kubespray-worker-1', 'eviction-before-image-gc')).toMatchObject({
      'image GC starts below': Math.ceil(starts),
      'imagefs.available is met below': met,
      margin: '1.0 GiB, 1 % of the capacity',
    })
  })

  it('1 GiB of daemons and 500 MiB of eviction are 1,524 MiB to reserve', () => {
    expect(
      evidence('sized-worker-1', 'reservation-without-eviction')['daemons and threshold'],
    ).toBe(1524 * MiB)
    const [fix] = of('sized-worker-1').filter(({ rule }) => rule === 'reservation-without-eviction')
    expect(fix?.fix.config).toMatchObject({ systemReserved: { memory: '1524Mi' } })
  })

  it("low = high is refused in the kubelet's own words", () => {
    expect(JSON.stringify(of('low-is-high'))).toContain('50 must be less than')
  })
})
