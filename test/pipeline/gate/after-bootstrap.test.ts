/** Amazon Linux 2: a script edits the kubelet's file before or after its own call of bootstrap.sh. */
import { expect, it } from 'vitest'
import { gated, snapshotOf } from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'

const call = '/etc/eks/bootstrap.sh prod --b64-cluster-ca $CA'
const edit = `F=/etc/kubernetes/kubelet/kubelet-config.json
jq '.evictionHard["nodefs.available"]="15%" | .imageGCHighThresholdPercent=82' $F > /tmp/f && mv /tmp/f $F`
const oneEdit = `jq '.evictionHard["nodefs.available"]="15%"; .' /etc/kubernetes/kubelet/kubelet-config.json > /tmp/f`
const restart = 'systemctl restart kubelet'

const script = (...commands: string[]) => `#!/bin/bash\n${commands.join('\n')}\n`
const cloudConfig = (...commands: string[]) =>
  `#cloud-config\nruncmd:\n${commands.map(one => `  - |\n${one.replace(/^/gm, '    ')}\n`).join('')}`

/** Of the nodegroup `legacy`. Undefined: the snapshot does not have it. */
const world = (amiType?: string) =>
  snapshotOf(
    gateWorld().map(line => {
      const record = JSON.parse(line)
      const isCluster = record.kind === 'Cluster' && amiType !== undefined
      const nodegroups = [{ nodegroupName: 'legacy', amiType }]
      return JSON.stringify(isCluster ? { ...record, nodegroups } : record)
    }),
  )

const eviction = (value: string | null) => ({
  field: 'evictionHard.nodefs.available',
  values: { before: ['10%'], after: [value] },
})

const judged = async (text: string, amiType?: string, file = 'legacy/user-data.sh') => {
  const { problems, groups } = await gated(world(amiType), [{ file, text, base: null }])
  const lost = problems.filter(({ kind }) => kind === 'no-effect')
  return {
    lost: lost.map(({ field, text }) => [field, text]),
    fields: groups.flatMap(({ settings }) => settings.map(({ field }) => field)),
    settings: groups.flatMap(({ settings }) => settings),
  }
}

it.each([
  ['a script', script(call, edit, restart), 'CUSTOM'],
  ['a script whose nodegroup is unknown', script(call, edit, restart), undefined],
  ['commands of cloud-init', cloudConfig(call, edit, restart), 'CUSTOM'],
  [
    'a kubelet that was stopped',
    script(call, 'systemctl stop kubelet', edit, 'sudo systemctl start kubelet.service'),
    'CUSTOM',
  ],
  ['commands of one line', script(`${call} && ${oneEdit} && ${restart}`), 'CUSTOM'],
])(
  'an edit takes effect after the call if the kubelet is restarted: %s',
  async (_, text, amiType) => {
    const { lost, settings } = await judged(text, amiType)
    expect(lost).toEqual([])
    expect(settings).toContainEqual(eviction('15%'))
  },
)

it('takes no effect after the call without a restart', async () => {
  const why = 'bootstrap.sh has started the kubelet before, and nothing restarts it after the edit.'
  expect(await judged(script(call, restart, edit), 'CUSTOM')).toMatchObject({
    lost: [
      ['imageGCHighThresholdPercent', why],
      ['evictionHard.nodefs.available', why],
    ],
    fields: [],
  })
})

it.each([
  [
    'EKS appends its own call on its own image',
    script(call, edit, restart),
    'AL2_x86_64',
    'EKS or Karpenter calls it again',
  ],
  ['the edit comes before the call', script(edit, call, restart), 'CUSTOM', 'after the edit'],
  [
    'the edit comes before the call on its line',
    script(
      `sed -i 's/imageGCHighThresholdPercent: 85/imageGCHighThresholdPercent: 82/' $F; ${oneEdit} && ${call}; ${restart}`,
    ),
    'CUSTOM',
    'after the edit',
  ],
  [
    'bootstrap.sh is edited, not called',
    script('sed -i s/a/b/ /etc/eks/bootstrap.sh', edit, restart),
    'AL2_x86_64',
    'after the edit',
  ],
])('loses the fields that bootstrap.sh writes: %s', async (_, text, amiType, why) => {
  const { lost, fields } = await judged(text, amiType)
  expect(lost).toEqual([['evictionHard.nodefs.available', expect.stringContaining(why)]])
  expect(fields).toContain('imageGCHighThresholdPercent')
})

it.each([
  ['AL2', 1],
  ['Custom', 0],
])('Karpenter appends its own call for the family %s', async (family, lost) => {
  const text = `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: old}\nspec:\n  amiFamily: ${family}\n  userData: |\n${script(call, edit, restart).replace(/^/gm, '    ')}`
  expect((await judged(text, undefined, 'class.yaml')).lost).toHaveLength(lost)
})
