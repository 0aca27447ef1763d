import { describe, expect, it } from 'vitest'
import { holders } from '#facts/holders.ts'
import { placeOfCluster } from '#judge/fixes/command-place.ts'
import { type StepNode, stepsOf, withPlaceOptions } from '#judge/fixes/steps.ts'
import { clusterWord, kubectl } from '#judge/garbage/kubectl.ts'
import { rules } from '#judge/rules/index.ts'
import type { Step, StepAction, StepActionId } from '#model/finding.ts'
import type { Subject } from '#model/input/record.ts'

const arn = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod'
const onEks = placeOfCluster('prod', { arn }, '{name}')
const elsewhere = placeOfCluster('kind', null, '{arn}')
const noFix = { config: {}, durable: [] }
const group: Subject = { kind: 'Nodegroup', namespace: null, name: 'general' }
const node: StepNode = {
  ...{ name: 'ip-10-0-0-1', instanceId: 'i-0a1b', owner: 'managed-nodegroup' },
  ...{ hasSessions: true, shell: 'session' },
}
const finding = { subject: group, fix: noFix, nodes: { count: 4, sample: [] } }
const on = (more: Partial<Parameters<typeof stepsOf>[2]> = {}) => ({
  ...{ cluster: 'prod', place: onEks, node, commands: [] },
  ...more,
})
const commandsIn = (steps: readonly Step[]) =>
  steps.flatMap(({ commands }) => commands.map(({ command }) => command))

describe('the context of a command', () => {
  it.each([
    ['prod', { arn }, '{name}', 'prod'],
    ['111122223333/eu-west-1/prod', { arn }, '{name}', 'prod'],
    ['prod', { arn }, '{arn}', arn],
    ['prod', { arn }, '{account}-{region}-{name}', '111122223333-eu-west-1-prod'],
    ['kind-dev', null, '{arn}', 'kind-dev'],
  ])('of %s (%j) by %s is %s', (cluster, eks, names, context) => {
    expect(placeOfCluster(cluster, eks, names).context).toBe(context)
  })

  it('stands in each kubectl line, and the region in each aws line', () => {
    expect(withPlaceOptions('kubectl delete pod a', onEks)).toMatchSnapshot()
    expect(withPlaceOptions('aws ec2 x', onEks)).toMatchSnapshot()
    expect(withPlaceOptions('aws ec2 x', elsewhere)).toBe('aws ec2 x')
  })
})

it('names the file in which k3s and RKE2 have the settings of their kubelet', () => {
  const ofRke2 = on({ node: { ...node, distribution: 'rke2' } })
  const steps = (site: typeof ofRke2) => stepsOf(finding, [{ id: 'set-fields' }], site)
  expect(steps(ofRke2)[0]?.action.place).toBeUndefined()
  const settable = { ...finding, fix: { config: { maxPods: 20 }, durable: [] } }
  const [step] = stepsOf(settable, [{ id: 'set-fields' }], ofRke2)
  expect(step?.action.place).toBe('/etc/rancher/rke2/config.yaml')
  expect(stepsOf(settable, [{ id: 'set-fields' }], on())[0]?.action.place).toBeUndefined()
})

it.each([
  ['Nodegroup', '--nodegroup general'],
  ['NodePool', '--nodegroup general'],
  ['InstanceGroup', '--nodegroup general'],
  ['GKENodePool', '--nodegroup general'],
  ['AgentPool', '--nodegroup general'],
  ['Group', '--nodegroup general'],
  ['Node', '--node ip-10-0-0-1'],
  ['Namespace', '--node ip-10-0-0-1'],
] as const)('plans for all nodes of a group, or for one node: %s', (kind, which) => {
  const subject: Subject = { ...group, kind }
  const settable = { ...finding, subject, fix: { config: { maxPods: 20 }, durable: [] } }
  const [command] = commandsIn(stepsOf(settable, [{ id: 'set-fields' }], on()))
  expect(command).toContain(` ${which} --out `)
})

it('has the runtime prune images where no plan reaches the node', () => {
  const pruning = (site: ReturnType<typeof on>) =>
    stepsOf(finding, [{ id: 'prune-images' }], site)[0]?.action.id
  expect(pruning(on({ node: machine }))).toBe('prune-by-runtime')
  expect(pruning(on())).toBe('prune-images')
})

const owner = {
  kind: 'container',
  namespace: 'shop',
  pod: 'checkout-7d',
  container: 'app',
  workload: 'Deployment checkout',
} as const

const machine: StepNode = { ...node, instanceId: null, hasSessions: false, shell: 'ssh' }

it('does the step by ssh on a node that is no instance', () => {
  const actions = [{ id: 'read-journal' as const }, { id: 'delete-pod' as const }]
  expect(commandsIn(stepsOf(finding, actions, on({ node: machine })))).toEqual([
    "ssh ip-10-0-0-1 'sudo journalctl -u kubelet -n 100'",
    'kubectl --context prod describe node ip-10-0-0-1',
  ])
})

it('looks by a critical pod on a node without ssh: under DiskPressure the kubelet admits no other', () => {
  const actions = [{ id: 'look-on-node' as const }]
  const [command = ''] = commandsIn(
    stepsOf(finding, actions, on({ node: { ...machine, shell: 'pod' } })),
  )
  expect(command).toMatch(/^kubectl --context prod run highwater-look -n kube-system --rm -i /)
  const [, overrides = ''] = /'--overrides=(.*)'$/.exec(command) ?? []
  const { spec } = JSON.parse(overrides.replaceAll("'\\''", "'"))
  expect(spec).toMatchObject({ nodeName: machine.name, priorityClassName: 'system-node-critical' })
  const [{ command: run }] = spec.containers
  expect(run.slice(0, 4)).toEqual(['chroot', '/host', 'sh', '-c'])
  expect(run[4]).toMatch(/^du -h -a -x -d 3 /)
})

it.each([
  [
    'pool00000z',
    'azure:///subscriptions/5a1f/resourceGroups/mc_rg/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/35',
    /^az vmss run-command invoke --subscription 5a1f -g mc_rg -n pool --instance-id 35 .* 'du --inodes /,
  ],
  [
    'gke-1',
    'gce://shop/us-east1-b/gke-1',
    /^gcloud compute ssh gke-1 --project shop --zone us-east1-b /,
  ],
  // The kubelet of a node writes its id: it may name a machine of somebody else.
  ['gke-1', 'gce://vault/us-east1-b/bastion', /^kubectl /],
  [
    'pool000002',
    'azure:///subscriptions/5a1f/resourceGroups/mc_rg/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/35',
    /^kubectl /,
  ],
  // An image of its own can be pulled onto no full disk.
  ['gke-1', '', /--image=docker\.io\/library\/busybox:1\.36 .*"imagePullPolicy":"IfNotPresent"/],
  ['gke-1', "gce://shop/us-east1-b/gke-1'; reboot", /^kubectl /],
])('looks by the way of the cloud onto node %s: %s', (name, providerId, expected) => {
  const shellImage = 'docker.io/library/busybox:1.36'
  const looking = { ...machine, name, shell: 'pod' as const, providerId, shellImage }
  const actions = [{ id: 'look-on-node' as const, unit: 'inodes' as const }]
  expect(commandsIn(stepsOf(finding, actions, on({ node: looking })))[0]).toMatch(expected)
})

it.each([
  ['driver', 'get pods -A -o wide --field-selector=spec.nodeName=ip-10-0-0-1'],
  ['controller', 'get volumeattachments'],
] as const)('shows what has to act for a volume: %s', (variant, command) => {
  const steps = stepsOf(finding, [{ id: 'attach-volume', variant }], on())
  expect(commandsIn(steps)).toEqual([`kubectl --context prod ${command}`])
})

it('lists crashes, and says where their dumps go', () => {
  const steps = stepsOf(finding, [{ id: 'find-crash' }], on({ node: machine }))
  expect(commandsIn(steps)).toEqual([
    "ssh ip-10-0-0-1 'sudo coredumpctl list --no-pager | tail -n 20; sysctl kernel.core_pattern'",
  ])
})

it('looks into a volume by the container that mounts it', () => {
  const place = { namespace: 'pg', pod: 'db-0', workload: null }
  const container = { kind: 'container' as const, container: 'db', ...place }
  const look = { id: 'look-in-volume', owner: container, place: '/pgdata' } as const
  const steps = stepsOf(finding, [look, { ...look, unit: 'inodes' }], on())
  expect(commandsIn(steps)).toEqual([
    'kubectl --context prod exec -n pg db-0 -c db -- du -h -a -x -d 2 /pgdata | sort -h | tail -n 20 | cat -v',
    'kubectl --context prod exec -n pg db-0 -c db -- du --inodes -a -x -d 2 /pgdata | sort -n | tail -n 20 | cat -v',
  ])
})

it('looks into a claim by a pod of its own where the container crashes', () => {
  const pod = { kind: 'pod' as const, namespace: 'pg', pod: 'db-0', workload: null, volume: 'data' }
  const look = {
    id: 'look-in-volume',
    owner: pod,
    place: 'data-db-0',
    variant: 'crashing',
  } as const
  const [bytes = '', ...inodes] = commandsIn(
    stepsOf(finding, [look, { ...look, unit: 'inodes' }], on()),
  )
  const [, overrides = ''] =
    /^kubectl --context prod run \S+ -n pg .*'--overrides=(.*)' \| sort -h \| tail -n 20 \| cat -v$/.exec(
      bytes,
    ) ?? []
  expect(JSON.parse(overrides)).toMatchObject({
    spec: {
      nodeName: 'ip-10-0-0-1',
      containers: [{ command: ['du', '-h', '-a', '-x', '-d', '2', '/host'] }],
      volumes: [{ persistentVolumeClaim: { claimName: 'data-db-0' } }],
    },
  })
  expect(inodes).toEqual([])
})

it.each([
  ['session', '/rootfs', 'sudo du -h -a -x -d 3 -0 /rootfs | sort -z -h | tail -z'],
  ['session', null, 'exec -n shop checkout-7d -c app -- du -h -a -x -d 3 / | sort -h'],
  ['ssh', '/rootfs', 'exec -n shop checkout-7d -c app -- du -h -a -x -d 3 / | sort -h'],
] as const)(
  'looks into a container from the node, which has a shell: %s %s',
  (shell, place, command) => {
    const inside = { container: 'app', path: '/', place }
    const actions = [{ id: 'set-ephemeral-storage' as const, owner, inside }]
    const steps = stepsOf(finding, actions, on({ node: { ...node, shell } }))
    expect(commandsIn(steps).join(' ')).toContain(command)
  },
)

it('opens no session on a node where Systems Manager runs no commands', () => {
  const windows = { ...node, hasSessions: false, shell: null }
  const actions = [{ id: 'look-on-node' as const }, { id: 'set-fields' as const }]
  const commands = commandsIn(stepsOf(finding, actions, on({ node: windows })))
  // What the API shows of a node has no folders.
  expect(commands).toEqual([])
})

it.each([
  ['container', 'reboot', /reboot-instances/],
  ['powershell', 'restart-kubelet', /AWS-RunPowerShellScript .*Restart-Service kubelet/],
  [null, 'replace-node', /drain/],
] as const)('restarts the kubelet by %s: %s', (shell, id, command) => {
  const actions = [{ id: 'restart-kubelet' as const }]
  const steps = stepsOf(finding, actions, on({ node: { ...node, shell } }))
  expect(steps[0]?.action.id).toBe(id)
  expect(commandsIn(steps).join(' ')).toMatch(command)
})

it.each([
  [0, false],
  [3, true],
  [4, false],
])(
  'drains with --force only if the step names all of %i pods without a controller',
  (count, isForced) => {
    const pods = Array.from({ length: count }, (_, index) => `shop/${index}`)
    const steps = stepsOf(
      finding,
      [{ id: 'drain', lost: { pods, data: [] } }],
      on({ node: machine }),
    )
    expect(commandsIn(steps).join(' ').includes('--force')).toBe(isForced)
  },
)

const commandsOn = (id: StepActionId, more: Partial<StepNode>, place?: string) =>
  commandsIn(stepsOf(finding, [{ id, place }], on({ node: { ...node, ...more } }))).join('\n')

it.each([
  ['list-memory', { shell: 'powershell' }, /RunPowerShellScript .*Get-Process.*\n.*invocations/],
  ['read-again', { ...machine }, /^highwater audit .*--node ip-10-0-0-1$/],
  ['read-again', {}, /--mode both/],
] as const)('does %s where it can: %j', (id, more, command) => {
  expect(commandsOn(id, more)).toMatch(command)
})

it('looks at the rotation of the program that writes', () => {
  const commandOf = (place: string, variant?: 'auditd' | 'writer') =>
    commandsIn(stepsOf(finding, [{ id: 'check-rotation', place, variant }], on())).join('')
  expect(commandOf('/var/log/audit', 'auditd')).toContain('auditd.conf')
  expect(commandOf('/var/log')).toContain('logrotate')
  expect(commandOf('/var/log/agent', 'writer')).toContain('/var/log/agent*')
})

describe('what a program would read as an option', () => {
  const inside = { container: 'app', path: '/', place: null }

  it.each<StepAction>([
    { id: 'look-on-node', place: '-x' },
    { id: 'delete-pod-folder', folders: ['/var/lib/kubelet/pods/u', '-x'] },
    { id: 'set-ephemeral-storage', owner, inside: { ...inside, place: '-x' } },
    { id: 'set-ephemeral-storage', owner, inside: { ...inside, path: '-x' } },
    { id: 'look-in-volume', owner: { ...owner, pod: '-x' }, place: '/data' },
  ])('is in no command: %j', action => {
    expect(commandsIn(stepsOf(finding, [action], on()))).toEqual([])
  })

  it.each(['-oProxyCommand=reboot', 'a b', 'a;reboot'])('is no name of a node: %s', name => {
    const actions = [{ id: 'look-on-node' as const }, { id: 'drain' as const }]
    for (const own of [machine, node])
      expect(commandsIn(stepsOf(finding, actions, on({ node: { ...own, name } })))).toEqual([])
  })
})

it('empties one log, and follows no link that a pod has put there', () => {
  const emptying = (place: string) =>
    commandsIn(
      stepsOf(finding, [{ id: 'empty-log', place, variant: 'writer' }], on({ node: machine })),
    ).join()
  expect(emptying('/var/log/agent.log')).toBe(
    "ssh ip-10-0-0-1 'sudo find /var/log -xdev -type f -path /var/log/agent.log -execdir truncate -s 0 {} +'",
  )
  // `find` would read them as patterns, of more than this log.
  for (const place of ['/var/log/*', '/var/log/a?', '/var/log/[a-z]', '/etc/shadow'])
    expect(emptying(place)).not.toContain('truncate')
})

it.each(['reboot', 'check-instance'] as const)(
  'has no command of EC2 for a hybrid node, which has an id, too: %s',
  id => {
    const hybrid = { ...node, owner: 'hybrid' as const, instanceId: 'mi-0123456789abcdef0' }
    const commands = commandsIn(stepsOf(finding, [{ id }], on({ node: hybrid })))
    expect(commands).toHaveLength(1)
    expect(commands[0]).toMatch(/^kubectl /)
  },
)

it.each([
  [undefined, true],
  [{ pods: [], data: ['shop/cache'] }, true],
  [{ pods: [], data: [] }, false],
])('lets a drain delete data only where it may lose some: %j', (lost, isDeleting) => {
  const steps = stepsOf(finding, [{ id: 'drain', ...(lost && { lost }) }], on({ node: machine }))
  expect(commandsIn(steps).join(' ').includes('--delete-emptydir-data')).toBe(isDeleting)
})

it('ends each pod that it names, by a command of its own', () => {
  const pods = ['checkout-7d', 'checkout-8e']
  expect(commandsIn(stepsOf(finding, [{ id: 'restart-pod', owner, pods }], on()))).toEqual(
    pods.map(pod => `kubectl --context prod delete pod -n shop ${pod}`),
  )
})

it('restarts the unit of a process of the host, if the number is still its own', () => {
  const named = { command: '$(reboot)', pid: 47, namespace: null, pod: null }
  const actions = [
    { id: 'restart-process' as const, owner: { kind: 'process' as const, ...named } },
  ]
  const [step] = stepsOf(finding, actions, on())
  expect(step?.commands.map(({ effect }) => effect)).toEqual(['reads', 'restarts'])
  expect(step?.commands[1]?.command).toMatchSnapshot()
  const [without] = stepsOf(finding, actions, on({ node: { ...node, shell: 'container' } }))
  expect(without?.action.id).toBe('reboot')
})

it('shows why a container crashes: what it said before', () => {
  expect(commandsIn(stepsOf(finding, [{ id: 'end-crash-loop', owner }], on()))).toEqual([
    'kubectl --context prod logs -n shop checkout-7d -c app --previous --tail=50 | cat -v',
  ])
})

it.each([
  ['session', undefined, 2],
  ['talos', undefined, 1],
  ['talos', 'inodes', 0],
] as const)('shows names of files as visible characters: by %s, %s', (shell, unit, lists) => {
  const actions = [{ id: 'look-on-node' as const, ...(unit && { unit }) }]
  const [command = ''] = commandsIn(stepsOf(finding, actions, on({ node: { ...node, shell } })))
  expect(command.split('| cat -v')).toHaveLength(lists + 1)
  // It counts no inodes.
  expect(command.startsWith('talosctl ')).toBe(lists === 1)
})

it.each([
  ['kind', undefined, "docker exec ip-10-0-0-1 sh -c 'journalctl -u kubelet -n 100'"],
  ['k3d, which has no journal', 'k3s', 'docker logs --tail 100 ip-10-0-0-1'],
] as const)('reads the journal of a container of %s', (_, distribution, command) => {
  expect(commandsOn('read-journal', { ...machine, shell: 'docker', distribution })).toBe(command)
})

it('looks at another disk, by its quoted name', () => {
  const looking = (place: string) =>
    stepsOf(finding, [{ id: 'use-other-disk', place }], on({ node: { ...node, shell: 'docker' } }))
  expect(commandsIn(looking('/dev/sdb'))).toEqual([
    "docker exec ip-10-0-0-1 sh -c 'lsblk --fs /dev/sdb; df -h'",
  ])
  expect(commandsIn(looking('/dev/a;reboot')).join()).toContain(
    String.raw`lsblk --fs '\''/dev/a;reboot'\''; df -h`,
  )
})

describe.each(['k3s', 'rke2'] as const)('a node of %s', distribution => {
  it.each(['find-container', 'read-journal', 'import-sandbox', 'restart-kubelet'] as const)(
    'has its own tools for %s',
    id => {
      expect(commandsOn(id, { ...machine, distribution })).toMatchSnapshot()
    },
  )
})

it('reads the log of the container that is a node of k3d', () => {
  const node = { ...machine, shell: 'docker', distribution: 'k3s' } as const
  expect(commandsOn('read-journal', node)).toBe('docker logs --tail 100 ip-10-0-0-1')
})

it.each([
  ['self-managed', null, 'elsewhere'],
  ['hybrid', 'mi-0123456789abcdef0', 'elsewhere'],
  ['karpenter', null, 'elsewhere'],
  ['self-managed', 'i-0a1b', undefined],
  ['managed-nodegroup', null, undefined],
] as const)('names no AMI, price or launch template to a node of %s, %s', (owner, id, variant) => {
  const own = { ...node, owner, instanceId: id }
  const volume = { bytes: 2 ** 37, usdPerMonth: 8, place: '/dev/xvda' }
  const stepOf = (action: StepAction) => stepsOf(finding, [action], on({ node: own }))[0]?.action
  expect(stepOf({ id: 'create-group' })?.variant).toBe(variant)
  expect(stepOf({ id: 'larger-disk', ...volume })).toEqual(
    variant === undefined
      ? { id: 'larger-disk', ...volume, source: 'launch template' }
      : { id: 'larger-disk', bytes: 2 ** 37, variant },
  )
})

it('replaces no node that is being removed', () => {
  const leaving = { ...node, isLeaving: true as const }
  const one = { ...finding, nodes: { count: 1, sample: [] } }
  const [step] = stepsOf(one, [{ id: 'replace-node' }], on({ node: leaving }))
  expect(step).toMatchObject({ kind: 'read-more', action: { id: 'await-replacement' } })
  expect(step?.commands[0]?.command).toMatch(/get events .*involvedObject\.name=ip-10-0-0-1/)
  expect(stepsOf(finding, [{ id: 'replace-node' }], on({ node: leaving }))[0]?.action.id).toBe(
    'replace-node',
  )
})

it('looks at a node in place of a measurement that nothing can make there', () => {
  const action = { id: 'larger-disk' as const, isUnsure: true }
  expect(
    stepsOf(finding, [action], on({ node: machine })).map(({ action }) => [
      action.id,
      action.isUnsure,
    ]),
  ).toEqual([
    ['look-on-node', undefined],
    ['larger-disk', false],
  ])
  expect(stepsOf(finding, [action], on())).toHaveLength(1)
})

describe.each(rules.map(({ id, steps }) => ({ id, steps })))('$id', ({ steps }) => {
  it.each([
    ['an instance', node],
    ['a machine', machine],
    ['no node', null],
  ])('has commands on %s that say what they do', (_, node) => {
    for (const place of [onEks, elsewhere])
      for (const { commands } of stepsOf(
        finding,
        steps?.map(id => ({ id })) ?? null,
        on({ node, place }),
      ))
        for (const { command, effect, place: cluster } of commands) {
          expect(command).toMatch(/^(?:kubectl --context |aws |highwater |ssh ip-)/)
          expect([effect, cluster]).toEqual([expect.stringMatching(/s$/), 'prod'])
        }
  })
})

const every = [
  ...new Set([
    ...Object.values(holders).flatMap(({ steps }) => steps),
    ...rules.flatMap(({ steps = [] }) => steps),
  ]),
].toSorted()

it.each(every)('the step %s shows its commands', id => {
  const action = { id: id as StepActionId, owner, place: '/var/lib/a b', bytes: 12 * 1024 ** 3 }
  expect(stepsOf(finding, [action], on())).toMatchSnapshot()
})

it('runs nothing in a session whose shell is not of the host', () => {
  const bottlerocket = on({ node: { ...node, shell: null } })
  const commands = (id: StepActionId) =>
    stepsOf(finding, [{ id }], bottlerocket)[0]?.commands.map(({ command }) => command)
  expect(commands('look-on-node')).toEqual([])
  expect(commands('read-journal')).toEqual([expect.stringContaining(' describe node ')])
  expect(commands('prune-images')).toEqual([expect.stringMatching(/^highwater plan /)])
})

it.each([
  [undefined, /^df -h; docker system df; sudo du -h /],
  ['inodes', /^df -i; docker system df; sudo du --inodes /],
] as const)('shows the %s of the host of a node of Docker', (unit, expected) => {
  const wish = { id: 'look-on-node' as const, ...(unit && { unit }) }
  const [step] = stepsOf(finding, [wish], on({ node: { ...node, shell: 'docker' } }))
  expect(step?.commands[0]?.command).toMatch(expected)
})

it.each(['container', 'powershell'] as const)('looks for folders in the shell of a %s', shell => {
  const steps = stepsOf(finding, [{ id: 'look-on-node' }], on({ node: { ...node, shell } }))
  expect(steps[0]?.commands).toMatchSnapshot()
})

it('replaces only the node that it names, unless a new release of the group ends the cause', () => {
  const replaced = (id: StepActionId) =>
    stepsOf(finding, [{ id }], on()).flatMap(({ commands }) =>
      commands.flatMap(({ effect, nodes }) => (effect === 'replaces' ? [nodes] : [])),
    )
  expect(replaced('replace-node')).toEqual([1])
  expect(replaced('upgrade-group')).toEqual([4])
  for (const id of every)
    if (id !== 'upgrade-group')
      expect(JSON.stringify(stepsOf(finding, [{ id }], on()))).not.toContain(
        'update-nodegroup-version',
      )
})

it('plans fields to set, on nodes that Systems Manager reaches', () => {
  const fix = { ...noFix, config: { imageGCHighThresholdPercent: 70 } }
  expect(commandsIn(stepsOf({ ...finding, fix }, null, on()))).toMatchSnapshot()
  const without = on({ node: machine })
  expect(commandsIn(stepsOf({ ...finding, fix }, null, without))).toEqual([])
})

describe('commands of a rule', () => {
  const shown = (...commands: string[]) =>
    commandsIn(
      stepsOf(
        finding,
        [{ id: 'clean-objects' }],
        on({ commands: commands.map(command => ['reads', command]), node: null }),
      ),
    )

  it('are dropped if they are too long, rather than cut', () => {
    expect(shown('x'.repeat(2001), 'short')).toEqual(['short'])
  })

  it.each(['cart\n0', 'cart\u202e0', 'cart\u001b[31m'])(
    'are left out where %j is not what it looks like',
    name => {
      expect(shown(kubectl('get', 'pod', clusterWord(name)), kubectl('get', 'pods'))).toEqual([
        'kubectl --context prod get pods',
      ])
    },
  )
})
