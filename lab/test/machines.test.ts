/** The machines behind the lab's agents: what the documents' scripts find on them is what the API shows of the same node, and nothing gets out. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import { type Lab, startLab } from '#lab/lab.ts'
import { machineFrom, type RootContents } from '#lab/machines/machine.ts'
import { createMachines, type Machines } from '#lab/machines/machines.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import type { AgentScenario, Scenario } from '#lab/scenarios/scenario.ts'
import { parseConfigz } from '#model/kubelet-configuration.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { ReadMode } from '#model/read-mode.ts'
import type { NodeRecord } from '#model/record.ts'
import { everything } from '#model/selection.ts'
import { deployedDocuments } from '#pipeline/documents.ts'
import { liveFleet } from '#pipeline/fleet.ts'
import { configzOf } from '#replay/configuration/configz.ts'
import { kubeletFiles } from '#replay/configuration/kubelet-files.ts'
import { withFlags } from '#replay/configuration/kubelet-flags.ts'
import { configurationFromFiles } from '#replay/configuration/start-configuration.ts'
import { replayOf as replay } from '#test/at-the-door.ts'
import { labOf } from '#test/lab-audit.ts'

const MiB = 2 ** 20

/** Half the nodes of a thousand are under way at once: ten commands of fifty. */
const policyOf = (mode: ReadMode, ssmRequestsPerSecond: number, inspect: number): Policy => ({
  ...defaultPolicy,
  modes: [{ match: {}, mode }],
  pace: { requestsPerSecond: 1000, concurrency: 500, clusters: 4, ssmRequestsPerSecond },
  timeoutsMs: { ...defaultPolicy.timeoutsMs, inspect },
})

async function recordsOf(policy: Policy): Promise<NodeRecord[]> {
  const records = await Array.fromAsync(
    liveFleet({ policy, selection: everything, signal: new AbortController().signal }),
  )
  return records.filter(record => record.kind === 'Node')
}

/** Fields of an answer that the reader has validated already. */
interface Told {
  host: {
    kubelet: {
      startedAt: string
      commandLine: string[]
      files: { path: string; role: string; content: unknown }[]
    }
    filesystems: {
      role: string
      mount: string
      capacityBytes: number
      availableBytes: number
      inodes: number
      inodesFree: number
    }[]
    containerd: { sandboxImage: string; snapshotter: string; discardUnpackedLayers: boolean }
    bottlerocket: { kubernetes: Record<string, unknown>; os: Record<string, string> }
    logrotate: { path: string; sha256: string; directives: Record<string, unknown> }[]
    logrotateRuns: { by: string }
    logs: { bytes: number; rotatedByKubelet: { files: number }; rotatedByOthers: { files: number } }
    kernel: {
      release: string
      cgroupVersion: number
      memoryCgroups: number
      dyingMemoryCgroups: number
    }
    podLogDirectories: string[]
    logLines: string[]
    unread: { what: string; why: string }[]
  }
  runtime: {
    images: {
      id: string
      repoTags: string[]
      repoDigests: string[]
      size: string
      pinned: boolean
    }[]
    containers: {
      state: string
      imageRef: string
      podSandboxId: string
      labels: Record<string, string>
    }[]
    sandboxes: { id: string; state: string; metadata: { uid: string } }[]
    imageFs: { imageFilesystems: { fsId: { mountpoint: string }; usedBytes: { value: string } }[] }
  }
  summary: {
    node: { fs: Fs; runtime: { imageFs: Fs } }
    pods: { containers: { logs: { usedBytes: number } }[] }[]
  }
}

interface Fs {
  capacityBytes: number
  availableBytes: number
  usedBytes: number
  inodes: number
  inodesFree: number
}

const toldOf = (record: NodeRecord | undefined): Told => record as unknown as Told
const nameOf = ({ node }: NodeRecord) => node.metadata?.name ?? ''
const uidsOf = (pods: KubernetesPod[] | null | undefined, ...phases: string[]) =>
  (pods ?? [])
    .filter(({ status }) => phases.includes(status?.phase ?? ''))
    .map(({ metadata }) => metadata?.uid ?? '')
    .toSorted()

/** What the kubelet would run with, started from what the node told of its disk. */
function nextConfiguration({ node, host }: NodeRecord): Record<string, unknown> {
  const kubeletVersion = node.status?.nodeInfo?.kubeletVersion ?? null
  const files = kubeletFiles(host ?? null)
  const features = featuresOf(kubeletVersion)
  const configuration = configurationFromFiles(files, { kubeletVersion, operatingSystem: 'linux' })
  return configzOf(withFlags(configuration, flagSettings(files.commandLine), features), features)
}

/** Everybody may read everything, so that both ways can be compared. */
const open = (scenario: Scenario): Scenario => ({
  ...scenario,
  clusters: scenario.clusters.map(({ access: _, ...cluster }) => cluster),
})

const silent = ['81', '82', '83', '84', '85', '86'].map(last => `ip-10-0-5-${last}.ec2.internal`)

describe('a script that runs on a node of the lab', () => {
  let lab: Lab
  let records: NodeRecord[]
  beforeAll(async () => {
    lab = await startLab([open(probe), incidents], { documents: deployedDocuments() })
    for (const [name, value] of Object.entries(lab.environment)) vi.stubEnv(name, value)
    records = await recordsOf(policyOf('both', 100, 60_000))
    vi.unstubAllEnvs()
    return () => lab.close()
  }, 120_000)

  const found = (name: string) => {
    const record = records.find(one => nameOf(one) === name)
    if (record === undefined) throw new Error(`${name} was not read`)
    return record
  }

  const onHost: [family: string, node: string, differs: Record<string, unknown>][] = [
    [
      'AL2, its file edited',
      'ip-10-0-5-11.ec2.internal',
      { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 },
    ],
    ['AL2, an old kernel', 'ip-10-0-5-12.ec2.internal', {}],
    ['AL2, tuned', 'ip-10-0-1-21.ec2.internal', {}],
    ['AL2023, a drop-in', 'ip-10-0-5-21.ec2.internal', {}],
    ['AL2023, a disk for images', 'ip-10-0-1-51.ec2.internal', {}],
    ['AL2023, sixty finished jobs', 'ip-10-0-5-31.ec2.internal', {}],
    ['AL2023, a stray drop-in', 'ip-10-0-5-41.ec2.internal', {}],
    ['AL2023, evicting', 'ip-10-0-1-64.ec2.internal', {}],
    ['Ubuntu', 'kubespray-worker-1', {}],
    ['Ubuntu, open to everybody, edited', 'probe-worker-1', { containerLogMaxFiles: 3 }],
    ['hybrid', 'mi-039c44406d6c5d52e', {}],
  ]

  describe.each(onHost)('%s (%s)', (_, name, differs) => {
    it('is known, and leaves nothing unread but what the family does not have', () => {
      const { host, runtime, errors } = found(name)
      expect(errors).toEqual([])
      expect(runtime).not.toBeNull()
      const { unread } = toldOf({ ...found(name), host: host ?? null }).host
      const isKubeadm = name === 'kubespray-worker-1'
      expect(unread.map(({ what, why }) => `${what}: ${why}`)).toEqual(
        name === 'probe-worker-1'
          ? []
          : [
              isKubeadm
                ? 'the running configuration: curl failed with exit code 22: curl: (22) The requested URL returned error: 403'
                : expect.stringMatching(
                    /^the running configuration: this node has no client certificate/,
                  ),
            ],
      )
    })

    it('tells files and flags that come to the running configuration, but for what was edited since', () => {
      const record = found(name)
      const running = (record.configz as { kubeletconfig: Record<string, unknown> }).kubeletconfig
      expect(nextConfiguration(record)).toEqual({ ...running, ...differs })
    })

    it('tells the filesystems of the summary, where they are', () => {
      const { host, summary, runtime } = toldOf(found(name))
      const { fs, runtime: images } = summary.node
      const role = (wanted: string) => host.filesystems.find(one => one.role === wanted)
      for (const [told, measured] of [
        [role('nodefs'), fs] as const,
        [role('imagefs'), images.imageFs] as const,
      ]) {
        expect(told).toMatchObject({
          capacityBytes: measured.capacityBytes,
          inodes: measured.inodes,
          inodesFree: measured.inodesFree,
        })
        expect(Math.abs((told?.availableBytes ?? 0) - measured.availableBytes)).toBeLessThan(1024)
      }
      expect(role('imagefs')?.mount === '/').toBe(
        role('imagefs')?.capacityBytes === role('nodefs')?.capacityBytes,
      )
      expect(role('logs')).toMatchObject({ mount: '/', capacityBytes: fs.capacityBytes })
      expect(
        runtime.imageFs.imageFilesystems.map(({ usedBytes }) => Number(usedBytes.value)),
      ).toEqual([images.imageFs.usedBytes])
    })

    it('tells the images of the Node object, the sandbox image among them', () => {
      const record = found(name)
      const { host, runtime } = toldOf(record)
      const listed = (record.node.status?.images ?? []).map(({ names = [], sizeBytes }) => ({
        names: names.toSorted(),
        sizeBytes,
      }))
      const told = runtime.images.map(({ repoTags, repoDigests, size }) => ({
        names: [...repoTags, ...repoDigests].toSorted(),
        sizeBytes: Number(size),
      }))
      expect(told).toEqual(listed)
      const sandbox = runtime.images.filter(({ repoTags }) =>
        repoTags.some(tag =>
          [host.containerd.sandboxImage, `${host.containerd.sandboxImage}:latest`].includes(tag),
        ),
      )
      expect(sandbox.map(({ pinned }) => pinned)).toEqual([true])
      expect(runtime.images.filter(({ pinned }) => pinned)).toHaveLength(1)
      expect(host.containerd).toMatchObject({
        snapshotter: 'overlayfs',
        discardUnpackedLayers: true,
      })
    })

    it('tells the containers, sandboxes and logs of the pods of the API', () => {
      const record = found(name)
      const { host, runtime, summary } = toldOf(record)
      const ready = runtime.sandboxes.filter(({ state }) => state === 'SANDBOX_READY')
      expect(ready.map(({ metadata }) => metadata.uid).toSorted()).toEqual(
        uidsOf(record.pods, 'Running'),
      )
      expect(runtime.sandboxes.map(({ metadata }) => metadata.uid).toSorted()).toEqual(
        uidsOf(record.pods, 'Running', 'Succeeded'),
      )
      const images = new Set(runtime.images.map(({ id }) => id))
      const sandboxes = new Set(runtime.sandboxes.map(({ id }) => id))
      for (const { imageRef, podSandboxId } of runtime.containers)
        expect([images.has(imageRef), sandboxes.has(podSandboxId)]).toEqual([true, true])
      const statuses = (record.pods ?? []).flatMap(({ status }) => status?.containerStatuses ?? [])
      const running = statuses.filter(({ state }) => state?.running !== undefined).length
      expect(runtime.containers.filter(({ state }) => state === 'CONTAINER_RUNNING')).toHaveLength(
        running,
      )
      expect(runtime.containers).toHaveLength(statuses.length)
      expect(host.podLogDirectories.map(folder => folder.split('_')[2]).toSorted()).toEqual(
        uidsOf(record.pods, 'Running', 'Succeeded'),
      )
      const measured = summary.pods
        .flatMap(pod => pod.containers.map(({ logs }) => logs.usedBytes))
        .reduce((sum, one) => sum + one, 0)
      const ofFinished = MiB * (statuses.length - running)
      expect(host.logs.bytes).toBe(measured + ofFinished)
      expect(host.logs.rotatedByOthers.files).toBe(0)
    })

    it('tells the kernel of the Node object, and a kubelet as old as the node', () => {
      const { node } = found(name)
      const { host } = toldOf(found(name))
      expect(host.kernel.release).toBe(node.status?.nodeInfo?.kernelVersion)
      expect(host.kernel.cgroupVersion).toBe(host.kernel.release.includes('amzn2.') ? 1 : 2)
      expect(host.kernel.memoryCgroups).toBeGreaterThan(10)
      expect(host.kubelet.startedAt).toBe(node.metadata?.creationTimestamp)
    })
  })

  it('tells of a node only what was done to that node', () => {
    const kernels = records
      .filter(({ host }) => host?.kernel)
      .map(record => toldOf(record).host.kernel.dyingMemoryCgroups)
    expect(kernels.filter(dying => dying > 30_000)).toHaveLength(1)
    const pinned = records
      .filter(({ runtime }) => runtime)
      .map(record => [nameOf(record), toldOf(record).runtime.images.some(image => image.pinned)])
    expect(pinned.filter(([, isPinned]) => !isPinned)).toEqual([
      ['ip-10-0-5-13.ec2.internal', false],
    ])
    const rotations = ['21', '22', '23', '24'].map(last =>
      toldOf(found(`ip-10-0-5-${last}.ec2.internal`)).host.logrotate.find(
        ({ path }) => path === '/etc/logrotate.d/app',
      ),
    )
    expect(rotations.map(one => one?.directives.maxsize)).toEqual(['100M', '100M', '1G', '100M'])
    expect(new Set(rotations.map(one => one?.sha256)).size).toBe(2)
    const stray = toldOf(found('ip-10-0-5-41.ec2.internal')).host.kubelet.files
    expect(stray.map(({ path, role }) => [path, role])).toContainEqual([
      '/etc/kubernetes/kubelet/config.json.d/90-disk.conf',
      'ignored',
    ])
    const jobs = toldOf(found('ip-10-0-5-31.ec2.internal')).runtime.containers
    expect(jobs.filter(({ state }) => state === 'CONTAINER_EXITED')).toHaveLength(60)
    expect(toldOf(found('ip-10-0-1-12.ec2.internal')).host.logLines.join('\n')).toContain(
      'over the high threshold',
    )
    expect(toldOf(found('ip-10-0-1-12.ec2.internal')).host.logrotateRuns.by).toBe('cron')
  })

  it('tells on Bottlerocket the settings, and of the rest that its container sees nothing', () => {
    const record = found('ip-10-0-5-51.ec2.internal')
    const { host } = toldOf(record)
    expect(record.runtime).toBeUndefined()
    expect(host.bottlerocket.kubernetes).toEqual({
      'cluster-dns-ip': '10.100.0.10',
      'cluster-domain': 'cluster.local',
      'eviction-hard': { 'memory.available': '200Mi' },
      'hostname-override': 'ip-10-0-5-51.ec2.internal',
      'image-gc-high-threshold-percent': '70',
      'image-gc-low-threshold-percent': '50',
      'max-pods': 29,
      'node-ip': '10.0.5.51',
    })
    expect(record.configz).toMatchObject({
      kubeletconfig: {
        imageGCHighThresholdPercent: 70,
        imageGCLowThresholdPercent: 50,
        maxPods: 29,
      },
    })
    expect(host.kernel.release).toBe(record.node.status?.nodeInfo?.kernelVersion)
    // What the settings come to is what runs.
    const { configurationOnDisk } = replay({ ...record, configz: null }, record.at ?? '')
    expect(configurationOnDisk).toEqual(parseConfigz(record.configz).fields)
  })

  it('leaves its secrets on the node', () => {
    expect(JSON.stringify(records.map(({ host, runtime }) => ({ host, runtime })))).not.toContain(
      'lab-secret',
    )
  })

  it('fails where the scenario says, each time with its reason', () => {
    const reasons = silent.map(
      name => (found(name).errors ?? []).find(({ what }) => what === 'host')?.message,
    )
    expect(reasons).toEqual([
      expect.stringMatching(/lost the connection to its agent/),
      expect.stringMatching(/could not be delivered/),
      expect.stringMatching(/breaks off .* 900 characters; the script failed with exit code 137/),
      expect.stringMatching(/breaks off .* 2500 characters$/),
      expect.stringMatching(/it is the answer of "i-[0-9a-f]+", not of i-/),
      expect.stringMatching(/of schema "highwater.inspect\/0"/),
    ])
  })
})

const shellOf = (machines: Machines, contents: Partial<RootContents> = {}, id = 'i-1') => {
  const build = () => machineFrom('host', [contents])
  return async (script: string) =>
    (await machines.run(id, build, script, { AWS_SSM_INSTANCE_ID: id })).stdout.trim()
}

function machinesHere(): Machines {
  const machines = createMachines(0)
  onTestFinished(() => machines.close())
  return machines
}

describe('a machine', () => {
  it('keeps every path and link of its description within its root', async () => {
    const run = shellOf(machinesHere(), {
      files: { '../../escaped': 'in', '/etc/../../../up': 'in', '/etc/real/file': 'in' },
      links: {
        '/etc/away': '/',
        '/etc/passwd': '../../../../etc/passwd',
        '/etc/alias': 'real',
        '../../link': '/etc/alias/file',
      },
    })
    const shown = 'cd "$HIGHWATER_ROOT" && find . -type f -o -type l | sort | tr "\\n" " "'
    expect(await run(shown)).toBe(
      './escaped ./etc/alias ./etc/away ./etc/passwd ./etc/real/file ./link ./up',
    )
    const root = await run('echo "$HIGHWATER_ROOT"')
    expect(readdirSync(dirname(root)).sort()).toEqual(['answers', 'root', 'tmp'])
    // What leads out of a real root leads to the same place here.
    expect(
      await run(
        'cat "$HIGHWATER_ROOT/etc/alias/file" "$HIGHWATER_ROOT/link" "$HIGHWATER_ROOT/etc/away/up"',
      ),
    ).toBe('ininin')
    expect(await run('cat "$HIGHWATER_ROOT/etc/passwd" 2>&1')).toMatch(/symbolic link|No such file/)
  })

  it('has its own programs and variables only: nothing that reaches a network or another machine', async () => {
    vi.stubEnv('LAB_TEST_SECRET', 'here')
    onTestFinished(() => void vi.unstubAllEnvs())
    const run = shellOf(machinesHere())
    expect(
      await run(
        'for one in wget nc ssh node python3 perl docker aws kubectl env ip; do command -v "$one"; done',
      ),
    ).toBe('')
    expect(
      (
        await run("export -p | awk '{ sub(/=.*/, \"\"); print $NF }' | sort | tr '\\n' ' '")
      ).replace(/ ?OLDPWD| ?PWD/g, ''),
    ).toBe('AWS_SSM_INSTANCE_ID HIGHWATER_LAB_RUN HIGHWATER_PACE HIGHWATER_ROOT PATH TMPDIR')
    expect(await run('curl -sS http://127.0.0.1:1/ 2>&1; echo $?')).toMatch(
      /Could not resolve host.*\n6$/,
    )
    expect(await run('systemctl restart kubelet 2>&1; crictl rmi --prune 2>&1')).toMatch(
      /systemctl does not know.*\n.*crictl does not know/,
    )
  })

  it('is made once, when the first script comes, and is found again by the next', async () => {
    const machines = machinesHere()
    let builds = 0
    const build = () => {
      builds += 1
      return machineFrom('host', [{ files: { '/etc/a': 'as made' } }])
    }
    const run = async (id: string, script: string) =>
      (await machines.run(id, build, script, {})).stdout
    expect(builds).toBe(0)
    await run('i-1', 'echo changed >"$HIGHWATER_ROOT/etc/a"')
    expect(await run('i-1', 'cat "$HIGHWATER_ROOT/etc/a"')).toBe('changed\n')
    expect(builds).toBe(1)
    expect(await run('i-2', 'cat "$HIGHWATER_ROOT/etc/a"')).toBe('as made')
  })

  it.each([
    ['exit 3', { exitCode: 3, stdout: '', stderr: '' }],
    [
      'echo said; echo complained >&2; kill -9 $$',
      { exitCode: 137, stdout: 'said\n', stderr: 'complained\n' },
    ],
  ])('tells how a script ended: %s', async (script, ended) => {
    expect(await machinesHere().run('i-1', () => machineFrom('host', []), script, {})).toEqual(
      ended,
    )
  })

  it('knows its size and its filesystems', async () => {
    const node = incidents.clusters[0]?.nodes
      .node('ip-10-0-1-51.ec2.internal')
      ?.machine?.('2026-11-21T02:00:00Z')
    if (!node) throw new Error('the node has no machine')
    const machines = machinesHere()
    const run = async (script: string) => (await machines.run('i-1', () => node, script, {})).stdout
    expect(await run('nproc; findmnt -n -o TARGET,SOURCE,FSTYPE')).toBe(
      '2\n/ /dev/nvme0n1p1 xfs\n/var/lib/containerd /dev/nvme1n1 xfs\n',
    )
  })
})

describe('the end of the lab', () => {
  it('ends what runs, and leaves nothing behind', async () => {
    const machines = createMachines(0)
    const build = () => machineFrom('host', [])
    const root = (await machines.run('i-1', build, 'printf %s "$HIGHWATER_ROOT"', {})).stdout
    const base = dirname(dirname(root))
    expect(existsSync(base)).toBe(true)
    const running = Array.from({ length: 6 }, () =>
      machines.run('i-1', build, 'echo begun; sleep 300 & sleep 300', {}),
    )
    await machines.close()
    const ended = await Promise.all(running)
    expect(new Set(ended.map(({ exitCode }) => exitCode))).toEqual(new Set([137]))
    expect(existsSync(base)).toBe(false)
    expect(await machines.run('i-2', build, 'echo late', {})).toMatchObject({
      stdout: '',
      exitCode: 137,
    })
    expect(existsSync(base)).toBe(false)
  })
})

describe('a thousand nodes', () => {
  const answers: AgentScenario['run'] = async (_, { AWS_SSM_INSTANCE_ID }) => ({
    stdout: JSON.stringify({
      schema: 'highwater.inspect/1',
      instanceId: AWS_SSM_INSTANCE_ID,
      host: { schema: 'highwater.host/1' },
    }),
    stderr: '',
    exitCode: 0,
  })
  const canned = (scenario: Scenario): Scenario => ({
    ...scenario,
    clusters: scenario.clusters.map(cluster => ({
      ...cluster,
      nodes: {
        names: cluster.nodes.names,
        node(name) {
          const node = cluster.nodes.node(name)
          return node && { ...node, agent: { run: answers } }
        },
      },
    })),
  })

  it('are asked in waves, and in no two seconds more often than the pace allows', {
    timeout: 90_000,
  }, async () => {
    const requestsPerSecond = 150
    const lab = await labOf([canned(fleet({ nodes: 1000, podsPerNode: 6 }))])
    const asked = () =>
      Object.values(lab.requests().routes.ssm ?? {}).reduce((sum, one) => sum + one, 0)
    const samples = [{ ms: performance.now(), count: 0 }]
    const timer = setInterval(() => samples.push({ ms: performance.now(), count: asked() }), 50)
    const records = await recordsOf(policyOf('ssm', requestsPerSecond, 10_000))
    clearInterval(timer)
    expect(records.filter(({ host }) => host)).toHaveLength(1000)
    expect(asked()).toBeGreaterThan(1000)
    expect(lab.requests().routes.ssm?.SendCommand).toBeLessThan(60)
    // What had to wait while this process stood still comes late, and then together: that long, and no longer, it may be more.
    const standstillMs = Math.max(
      ...samples.slice(1).map(({ ms }, index) => ms - samples[index]!.ms),
    )
    const tooMany = samples.map(({ ms, count }) => {
      const later = samples.find(sample => sample.ms >= ms + 2000)
      return later === undefined
        ? 0
        : later.count - count - (requestsPerSecond * (later.ms - ms)) / 1000
    })
    expect(Math.max(...tooMany)).toBeLessThanOrEqual(
      (requestsPerSecond * 2 * standstillMs) / 1000 + 5,
    )
  })
})
