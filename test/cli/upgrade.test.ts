import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { UpgradeDocument } from '#model/upgrade.ts'
import { inProcess } from '#test/in-process.ts'
import { type SavedNode, savedSnapshot } from '#test/saved-snapshot.ts'

const upgrade = (file: string, ...args: string[]) =>
  inProcess(['upgrade', '--snapshot', file, ...args])

async function upgradeJson(file: string, to: string) {
  const { code, stdout } = await upgrade(file, '--to', to, '--format', 'json')
  return { code, document: JSON.parse(stdout) as UpgradeDocument }
}

const node = (name: string, kubeletVersion: string, configuration = {}): SavedNode => ({
  ...{ name, kubeletVersion, configuration },
})

/** The snapshot with nodes of Amazon Linux 2 in a cluster of 1.33. */
function ofAmazonLinux2(file: string): string {
  const lines = readFileSync(file, 'utf8')
    .replace('"errors":[]', '"eks":{"name":"prod","version":"1.33"},"errors":[]')
    .replaceAll(/"osImage": *"[^"]*"/g, '"osImage":"Amazon Linux 2"')
  writeFileSync(file, lines)
  return file
}

describe('highwater upgrade', () => {
  it('groups nodes by what the minor changes, and names those that would not start', async () => {
    const file = savedSnapshot([
      node('a', 'v1.33.2', { imageMinimumGCAge: '-1s' }),
      node('b', 'v1.33.2'),
      node('c', 'v1.33.2'),
      node('d', 'v1.36.1'),
    ])
    const { code, document } = await upgradeJson(file, '1.36')
    expect(code).toBe(1)
    expect(document).toMatchObject({
      schema: 'highwater.upgrade/1',
      to: 'v1.36.0',
      upToDate: 1,
      leftOut: 0,
      upgrades: [
        {
          nodes: { count: 1, sample: ['a'] },
          basis: 'configz',
          errors: [expect.stringContaining('imageMinimumGCAge')],
          steps: ['settings', 'replace'],
        },
        { nodes: { count: 2, sample: ['b', 'c'] }, errors: [], steps: ['replace'] },
      ],
    })
    expect(document.upgrades[1]?.changedBehaviors.map(({ minor }) => minor)).toEqual([34, 34, 35])
  })

  it('puts the control plane first, and sends Amazon Linux 2 to another AMI', async () => {
    const file = ofAmazonLinux2(savedSnapshot([node('a', 'v1.32.2')]))
    const { document } = await upgradeJson(file, '1.35')
    expect(document.upgrades).toMatchObject([
      {
        controlPlane: '1.33',
        errors: [expect.stringContaining('cgroup v1')],
        steps: ['control-plane', 'other-ami'],
      },
    ])
    const { stdout } = await upgrade(file, '--to', '1.35')
    expect(stdout).toMatchSnapshot()
  })

  const withText = (file: string, ...changes: [from: RegExp, to: string][]) => {
    const text = changes.reduce(
      (changed, [from, to]) => changed.replaceAll(from, to),
      readFileSync(file, 'utf8'),
    )
    writeFileSync(file, text)
    return file
  }

  it.each([
    ['v1.32.2', true],
    ['v1.33.2', false],
  ])('upgrades %s in between for a control plane of 1.36: %s', async (version, isNeeded) => {
    const { document } = await upgradeJson(savedSnapshot([node('a', version)]), '1.36')
    expect(document.upgrades[0]?.steps.includes('in-between')).toBe(isNeeded)
  })

  it.each([
    ['of the same age', 'v1.32.4', 1],
    ['of which one is new enough', 'v1.33.2', 1],
  ])('says the upgrade in between once for groups %s', async (_, second, times) => {
    const gone = { imageMinimumGCAge: '-1s' }
    const { stdout } = await upgrade(
      savedSnapshot([node('a', 'v1.32.2', gone), node('b', second)]),
      ...['--to', '1.36'],
    )
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text.split('upgrade the nodes to 1.33 or a later minor').length - 1).toBe(times)
    expect(text.includes('→ Before the control plane')).toBe(second === 'v1.33.2')
  })

  it('upgrades a hybrid node on its machine', async () => {
    const nodegroup = /"eks\.amazonaws\.com\/nodegroup": *"[^"]*"/g
    const hybrid = '"eks.amazonaws.com/compute-type":"hybrid"'
    const file = withText(savedSnapshot([node('a', 'v1.32.2')]), [nodegroup, hybrid])
    const { stdout } = await upgrade(file, '--to', '1.36')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'nodeadm upgrade 1.36 -c file://nodeConfig.yaml',
    )
  })

  it('names nothing of cgroups for Windows', async () => {
    const file = savedSnapshot([node('a', 'v1.32.2')])
    const fields = async () => {
      const { document } = await upgradeJson(file, '1.36')
      return document.upgrades[0]?.changedSettings.map(({ field }) => field)
    }
    withText(file, [/"osImage": *"[^"]*"/g, '"osImage":"other"'])
    expect(await fields()).toContain('failCgroupV1')
    withText(file, [/"operatingSystem": *"linux"/g, '"operatingSystem":"windows"'])
    expect(await fields()).not.toContain('failCgroupV1')
  })

  it('names changed defaults although the files were not read', async () => {
    const upstream = {
      'imagefs.available': '15%',
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
    }
    const set = { ...upstream, 'nodefs.available': '12%' }
    const file = savedSnapshot([
      node('a', 'v1.29.3', { evictionHard: upstream }),
      node('b', 'v1.29.3', { evictionHard: set }),
    ])
    const { code, document } = await upgradeJson(file, '1.30')
    expect(code).toBe(0)
    const settings = document.upgrades.map(({ nodes, changedSettings }) => [
      nodes.sample[0],
      changedSettings.filter(({ field }) => field.startsWith('evictionHard')),
    ])
    expect(Object.fromEntries(settings)).toEqual({
      a: [{ field: 'evictionHard.imagefs.inodesFree', before: null, after: '5%' }],
      b: [],
    })
  })

  it.each(['1.99', '1.28', '1.38'])('does not know the minor %s', async to => {
    const { code, stdout, stderr } = await upgrade(
      savedSnapshot([node('a', 'v1.33.2')]),
      '--to',
      to,
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`Kubernetes ${to} is not supported: 1.29 to 1.37 are`)
  })

  it('says that an unread node could not be checked', async () => {
    const file = savedSnapshot([{ name: 'a', unread: ['configz'] }])
    const { document } = await upgradeJson(file, '1.37')
    expect(document.upgrades[0]?.basis).toBeNull()
    const { stdout, code } = await upgrade(file, '--to', '1.37')
    expect(stdout).toContain('1 could not be checked')
    expect(stdout).toContain('the order of eviction is unknown: configuration, pods or statistics')
    expect(code).toBe(3)
  })

  const insights = [
    { name: 'Passing', insightStatus: { status: 'PASSING', reason: 'fine' } },
    {
      name: 'Add-on\u001b[31m versions',
      kubernetesVersion: '1.36',
      insightStatus: { status: 'WARNING', reason: 'password=hunter2secret of a client' },
      recommendation: `Update it. ${'x'.repeat(3_000)}`,
    },
    {
      name: 'Kubelet version skew',
      kubernetesVersion: '1.36',
      insightStatus: { status: 'ERROR', reason: '2 nodes are too old.' },
      recommendation: 'Update the nodes first.',
    },
  ]

  it('lists the upgrade insights of EKS that do not pass', async () => {
    const file = withText(savedSnapshot([node('a', 'v1.33.2')]), [
      /(?<="cluster":"prod",)"errors":\[\]/g,
      `"insights":${JSON.stringify(insights)},"errors":[]`,
    ])
    const { document } = await upgradeJson(file, '1.36')
    expect(document.insights).toMatchObject([
      {
        cluster: 'prod',
        unread: null,
        insights: [{ name: 'Kubelet version skew' }, { insightStatus: { status: 'WARNING' } }],
      },
    ])
    const { code, stdout } = await upgrade(file, '--to', '1.36')
    expect(code).toBe(0)
    const text = stdout.slice(stdout.indexOf('EKS upgrade insights'))
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'EKS upgrade insights of prod: 2 not passing ERROR for Kubernetes 1.36: Kubelet version skew 2 nodes are too old. Update the nodes first. WARNING',
    )
    expect(text.replaceAll(/\s/g, '')).not.toMatch(/hunter2secret|x{900}|Passing/)
    expect(text).not.toContain('\u001b')
  })

  it.each([
    [{ insights: null, errors: [{ what: 'insights', message: 'not allowed' }] }, 'not allowed'],
    [{ insights: [], errors: [] }, 'Every upgrade insight of EKS passes in prod'],
    [{ errors: [] }, null],
  ])('says of insights %o: %s', async (record, text) => {
    const file = withText(savedSnapshot([node('a', 'v1.33.2')]), [
      /(?<="cluster":"prod",)"errors":\[\]/g,
      JSON.stringify(record).slice(1, -1),
    ])
    const { code, stdout } = await upgrade(file, '--to', '1.36')
    expect(code).toBe(0)
    expect(/upgrade insight/.test(stdout)).toBe(text !== null)
    expect(stdout).toContain(text ?? '')
  })

  it('needs a version and a node', async () => {
    const file = savedSnapshot([node('a', 'v1.33.2')])
    expect((await upgrade(file)).code).toBe(2)
    expect((await upgrade(file, '--to', 'latest')).code).toBe(2)
    expect((await upgrade(savedSnapshot([]), '--to', '1.36')).code).toBe(2)
  })
})
