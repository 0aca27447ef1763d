/** The scripts that read a node, run under the shells and small tools of this machine, on a pretend node of each OS family. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type InspectAnswer, readAnswer } from '#collect/inspect/answer.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { prune } from '#snapshot/prune.ts'
import {
  inspect,
  type NodeRoot,
  platforms,
  type Run,
  scriptNamed,
  shellsInTurn,
} from '#test/node-root.ts'
import {
  al2,
  al2023,
  answers,
  bottlerocket,
  cri,
  crictl,
  hybrid,
  prints,
  runtime,
  ubuntu,
} from '#test/node-roots.ts'

const linux = 'Highwater-Inspect'
const disks = 'Highwater-InspectDisks'
const onBottlerocket = 'Highwater-InspectBottlerocket'
const here = platforms()
const inTurn = shellsInTurn()
const [first] = here
const generous = { timeout: 120_000 }
const instance = 'i-0123456789abcdef0'
const secret = 'hunter2'
const kind = 'KubeletConfiguration'

function answerOf({ stdout }: Pick<Run, 'stdout'>, asked = instance): InspectAnswer {
  const answer = readAnswer(stdout, asked)
  if (!answer.isKnown) throw new Error(answer.reason)
  return answer
}
const onFirst = (node: NodeRoot, output?: string, document = linux) => {
  if (first === undefined) throw new Error('this machine has no shell')
  return inspect(document, node, first, output)
}
const unreadOf = ({ host }: InspectAnswer) => host.unread as { what: string; why: string }[]
const whyUnread = (answer: InspectAnswer, what: string) =>
  unreadOf(answer).find(entry => entry.what === what)?.why
const filesOf = ({ host }: InspectAnswer) =>
  (host.kubelet as { files: { path: string; role: string; sha256?: string; content: unknown }[] })
    .files
const withFiles = <Node extends NodeRoot>(node: Node, files: NodeRoot['files']): Node => ({
  ...node,
  files: { ...node.files, ...files },
})
const withTools = (node: NodeRoot, tools: Record<string, string>): NodeRoot => ({
  ...node,
  tools: { ...node.tools, ...tools },
})

const ofKind = (content: string) =>
  content.startsWith('{') ? content.replace('{', `{"kind":"${kind}",`) : `kind: ${kind}\n${content}`

const families = [
  { family: 'al2', document: linux, node: al2, asked: instance },
  { family: 'al2023', document: linux, node: () => al2023(), asked: instance },
  {
    family: 'al2023-drop-ins',
    document: linux,
    node: () =>
      al2023({
        '90-more.conf': 'kind: KubeletConfiguration\nmaxPods: 110\n',
        '40-nodeadm.conf': '{"kind":"KubeletConfiguration","maxPods":42}',
        'notes.txt': 'maxPods: 1',
      }),
    asked: instance,
  },
  { family: 'ubuntu', document: linux, node: ubuntu, asked: instance },
  { family: 'hybrid', document: linux, node: hybrid, asked: 'mi-0123456789abcdef0' },
  { family: 'bottlerocket', document: onBottlerocket, node: bottlerocket, asked: instance },
]

describe.each(here)('under $name', platform => {
  it.each(families)(
    '$family reports the expected facts and no secret',
    generous,
    async ({ family, document, node, asked }) => {
      const run = inspect(document, node(), platform)
      expect(run).toMatchObject({ status: 0, stderr: '' })
      expect(run.stdout).not.toContain(secret)
      const { at, ...answer } = answerOf(run, asked)
      expect(Date.parse(at ?? '')).toBeGreaterThan(0)
      // Read each difference before it is accepted.
      await expect(`${JSON.stringify(answer, null, 1)}\n`).toMatchFileSnapshot(
        `../../fixtures/node-roots/${family}.json`,
      )
      const pruned = prune({
        kind: 'Node',
        cluster: 'c',
        node: { metadata: { name: 'n' } },
        host: answer.host,
        runtime: answer.runtime,
      } as never) as { host: unknown; runtime: unknown }
      expect(pruned).toMatchObject({ host: answer.host, runtime: answer.runtime })
      if (document === linux)
        expect({ ...answer.runtime, imageFs: 0 }).toEqual({ ...runtime, imageFs: 0 })
    },
  )
})

describe('a damaged or hostile node', () => {
  it('asks for the lowest priority before it reads anything', generous, () => {
    const notes = (name: string) => `echo "${name} $*" >>"$HIGHWATER_ROOT/asked"`
    const tools = {
      renice: notes('renice'),
      ionice: notes('ionice'),
      crictl: `${notes('crictl')}; exit 1`,
    }
    const { root } = onFirst(withTools(al2023(), tools))
    expect(readFileSync(join(root, 'asked'), 'utf8')).toMatch(
      /^renice -n 19 -p (\d+)\nionice -c 3 -p \1\ncrictl images /,
    )
  })

  it('executes nothing, and writes only in the script’s own folder', generous, () => {
    const trap = '$(touch x)`touch x`";touch x;\'\n{{ Output }}\\u0000'
    const node = withFiles(
      al2023({ "$(touch x)';touch x.conf": JSON.stringify({ kind, clusterDomain: trap }) }),
      {
        '/etc/logrotate.d/$(touch x)': `"${trap.replaceAll('\n', ' ')}" {\n rotate $(touch x)\n}\n`,
        '/var/log/pods/a_`touch x`_u/$(touch x)/0.log': 'x',
        '/var/log/pods/new\nline_0_u/c/0.log': 'x',
        '/proc/900/cmdline': `kubelet\0--config=/etc/kubernetes/kubelet/config.json\0--config-dir=/etc/kubernetes/kubelet/config.json.d\0--node-labels=${trap}\0`,
        '/etc/containerd/certs.d/$(touch x)/hosts.toml': 'server = "https://$(touch x)"\n',
        '/etc/cron.d/jobs': '* * * * $(touch,x) root logrotate\n',
      },
    )
    const { stdout, root } = onFirst(node)
    const made = readdirSync(dirname(root)).filter(
      name => !['root', 'bin', 'script.sh'].includes(name),
    )
    expect(made).toEqual([])
    expect(globSync('**/x', { cwd: root })).toEqual([])
    const answer = answerOf({ stdout })
    expect((answer.host.kubelet as { commandLine: string[] }).commandLine.at(-1)).toBe(
      `--node-labels=${trap}`,
    )
    expect(answer.host.podLogDirectories).toEqual(
      expect.arrayContaining(['a_`touch x`_u', 'shop_shop-1_uid']),
    )
    expect(filesOf(answer).find(({ role }) => role === 'drop-in')?.content).toEqual({
      kind,
      clusterDomain: trap,
    })
  })

  it(
    'counts logs whose names hold a line end, and takes no line of such a name for another',
    generous,
    () => {
      const logs = '/var/log/pods'
      const node = withFiles(al2023(), {
        [`${logs}/big\n0.log`]: 'x'.repeat(70_000),
        [`${logs}/a\n+nan\t${logs}/b_c_1/0.log`]: 'x',
        [`${logs}/a\nnan/0.log`]: 'x',
        [`${logs}/a\n99999999\t/etc/0.log`]: 'x',
        '/var/log/secret/app.log': 'x',
      })
      const links = {
        ...node.links,
        '/var/log/containers/a\n.log': '/var/log/secret/app.log',
        '/var/log/containers/b.log': `/var/log/secret/x -> '${logs}/app.log`,
      }
      const whole = withTools({ ...node, links }, { du: '/usr/bin/du "$@"' })
      const answer = answerOf(onFirst(whole))
      const { host } = answer as { host: { logs?: object } }
      expect(host.logs).toMatchObject({
        biggest: expect.arrayContaining([
          expect.objectContaining({ path: '(a name with a line end)', bytes: 70_000 }),
        ]),
      })
      const { diskUse } = answerOf(onFirst(whole, 'short', disks)).host as {
        diskUse: { orphans: object[] }
      }
      expect(diskUse.orphans).not.toEqual([])
      for (const orphan of diskUse.orphans)
        expect(orphan).toMatchObject({ path: expect.stringMatching(/^\/var\/log\/pods\/[^/]+$/) })
      expect(whyUnread(answer, 'log files behind links in /var/log/containers')).toMatch(/: 2$/)
    },
  )

  it(
    'names every file that it cannot take: too long, a link in a circle, damaged, binary',
    generous,
    () => {
      const node = withFiles(
        al2023({
          '10-big.conf': `# ${'x'.repeat(5 * 1024 * 1024)}`,
          '20-damaged.conf': '{"kind": "KubeletConfiguration", "maxPods": 1',
          '30-binary.conf': Buffer.from([0, 1, 2, 255, 254, 10, 128]),
          '40-twice.conf': '{"kind": "KubeletConfiguration", "maxPods": 1, "maxPods": 2}',
          '50-secret.conf':
            '{"kind": "KubeletConfiguration", "nodeLabels": "a" "password": "hunter2"',
          '60-latin.conf': Buffer.from(
            '{"kind":"KubeletConfiguration","clusterDomain":"caf\xe9"}',
            'latin1',
          ),
        }),
        {},
      )
      const folder = '/etc/kubernetes/kubelet/config.json.d'
      const { stdout } = onFirst({
        ...node,
        links: { ...node.links, [`${folder}/70-circle.conf`]: `${folder}/70-circle.conf` },
      })
      const answer = answerOf({ stdout })
      const reasons = Object.fromEntries(
        unreadOf(answer).map(({ what, why }) => [what.replace(`kubelet file ${folder}/`, ''), why]),
      )
      expect(reasons).toMatchObject({
        '10-big.conf': 'it has 5242882 bytes: more than 131072 are not taken',
        '20-damaged.conf': expect.stringContaining('no YAML'),
        '30-binary.conf':
          'it does not say that it is of kind KubeletConfiguration, so nothing of it is read',
        '40-twice.conf': 'it is no YAML that is read here: a key stands twice',
        '50-secret.conf': 'it is no JSON and may hold a secret, so its text stays here',
        '70-circle.conf': 'a link that leads nowhere',
        text: 'not all of it was UTF-8: each byte beyond ASCII is a question mark',
      })
      expect(stdout).not.toContain(secret)
      for (const { role, path, content, sha256 } of filesOf(answer).filter(
        ({ role }) => role === 'drop-in',
      ))
        expect({ role, path, isKnown: content !== null, hasHash: sha256 !== undefined }).toEqual({
          role,
          path,
          isKnown: path.endsWith('60-latin.conf'),
          hasHash: !/circle|binary/.test(path),
        })
    },
  )

  it.each([
    'awk',
    'find',
    'grep',
    'gzip',
    'iconv',
    'sha256sum',
    'sort',
    'stat',
    'timeout',
    'mktemp',
    'crictl',
    'systemctl',
    'journalctl',
    'df',
    'base64',
    'getconf',
  ])('without %s it still answers, and names what that took', generous, missing => {
    const { stdout, stderr } = onFirst({ ...al2023(), missing: [missing] })
    const answer = answerOf({ stdout })
    expect(stdout).not.toContain(secret)
    const isReported = unreadOf(answer).some(
      ({ why }) => why.includes(missing) || why === 'no private folder could be made',
    )
    const isSpare = ['gzip', 'base64', 'iconv', 'sort', 'getconf', 'grep'].includes(missing)
    expect(isReported || isSpare).toBe(true)
    expect(stderr).toBe('')
  })

  it('reports why the runtime’s answer is unusable', generous, () => {
    const node = withTools(al2023(), {
      crictl: crictl({
        images: 'echo "connection refused" >&2; exit 1',
        ps: prints(JSON.stringify(cri.containers).slice(0, 200)),
        pods: prints('{"items":[{"id":"a","id":"b"}]}'),
        imagefsinfo: prints('{"status":{"usedBytes":{"value":"1"}}}'),
        info: prints(
          '{"config":{"sandboxImage":"x","registry":{"mirrors":{"docker.io":{"endpoint":["https://lost.example.com"]}}}}',
        ),
      }),
    })
    const answer = answerOf(onFirst(node))
    expect(answer.runtime).toBeNull()
    expect(Object.fromEntries(unreadOf(answer).map(({ what, why }) => [what, why]))).toMatchObject({
      'runtime.images': 'crictl failed with exit code 1: connection refused',
      'runtime.containers': 'what crictl ps printed is no JSON of the form that is known',
      'runtime.sandboxes': 'what crictl pods printed is no JSON of the form that is known',
      'runtime.imageFs': expect.stringContaining('imagefsinfo'),
      'crictl info': 'what it printed is no JSON',
      'filesystem imagefs': expect.stringContaining('imagefsinfo'),
    })
    // Its own file still contains the value.
    expect(answer.host.containerd).toMatchObject({
      sandboxImage: 'localhost/kubernetes/pause',
      snapshotter: 'overlayfs',
      discardUnpackedLayers: true,
    })
  })

  const busy = 'while :; do :; done'

  it.each(here)('ends a busy program, and answers without it: $name', generous, platform => {
    const node = { ...withTools(al2023(), { crictl: busy, journalctl: busy }), allCpu: 20 }
    const answer = answerOf(inspect(linux, node, platform))
    expect(whyUnread(answer, 'runtime.images')).toMatch(/^crictl used [12] s of the processor$/)
    expect(whyUnread(answer, 'logLines')).toMatch(
      /^(journalctl failed with exit code 125: )?no time of the processor was left$/,
    )
    expect(filesOf(answer).length).toBeGreaterThan(0)
  })

  it('measures no folder any more once the time of the processor is used up', generous, () => {
    const node = {
      ...withTools(al2023(), { du: `case "$*" in *' -s '*) exit 1 ;; esac; ${busy}` }),
      allCpu: 20,
    }
    const { host } = answerOf(onFirst(node, 'short', disks))
    expect(host.diskUse).toMatchObject({ folders: [], missed: expect.any(Number) })
    expect((host.diskUse as { missed: number }).missed).toBeGreaterThan(0)
  })

  it('allows both documents 20 seconds of the processor together', () => {
    const tenths = [linux, disks].map(name => {
      const all = [...scriptNamed(name).matchAll(/^all_cpu=(\d+)$/gm)]
      return Number(all.at(-1)?.[1]) + 10
    })
    expect(tenths.reduce((sum, one) => sum + one, 0)).toBe(200)
  })

  it('asks a runtime that hangs once, and not four times', generous, () => {
    const timeout = `[ "$1" != -k ] || shift 2\nshift\ncase $1 in crictl) echo asked >>"$HIGHWATER_ROOT/asked"; exit 124 ;; esac\nexec "$@"`
    const { stdout, root } = onFirst(withTools(al2023(), { timeout }))
    expect(readFileSync(join(root, 'asked'), 'utf8')).toBe('asked\n')
    expect(whyUnread(answerOf({ stdout }), 'runtime.images')).toMatch(
      /did not answer within \d seconds/,
    )
    expect(whyUnread(answerOf({ stdout }), 'crictl info')).toBe(
      'crictl did not answer before, so it was not asked again',
    )
  })

  it('killed half-way prints nothing and leaves nothing', generous, () => {
    // Its parent is `timeout`, whose parent is the script.
    const node = withTools(al2023(), {
      crictl: `while read -r name value _; do [ "$name" != PPid: ] || kill -TERM "$value"; done </proc/$PPID/status`,
    })
    const { stdout, status, root } = onFirst(node)
    expect({ stdout, status }).toEqual({ stdout: '', status: 143 })
    expect(readdirSync(dirname(root)).toSorted()).toEqual(['bin', 'root', 'script.sh'])
  })

  it.each([
    [
      'a header, its list at the depth of the key',
      'staticPodURLHeader:\n  Authorization:\n  - hunter2\n  - hunter2\nmaxPods: 5',
      { maxPods: 5 },
    ],
    ['a block of text', 'apiToken: |\n  hunter2\n\n  hunter2\nmaxPods: 5', { maxPods: 5 }],
    ['a quoted key', `'bootstrap-token': hunter2\nmaxPods: 5`, { maxPods: 5 }],
    [
      'a list of maps',
      'x:\n- password: hunter2\n  name: a\nmaxPods: 5',
      expect.objectContaining({ maxPods: 5 }),
    ],
    [
      'an address',
      'staticPodPath: https://u:hunter2@x/y\nmaxPods: 5',
      { staticPodPath: 'https://x/y', maxPods: 5 },
    ],
    [
      'an escaped key in JSON',
      '{"\\u0074oken":"hunter2","maxPods":5}',
      expect.objectContaining({ maxPods: 5 }),
    ],
    ['a map in one line', 'a: {password: hunter2}\nmaxPods: 5', null],
    ['a map in one line, all of it', '{staticPodURLHeader: {a: [hunter2]}, maxPods: 5}', null],
    ['a complex key', '? staticPodURLHeader\n: {Authorization: [hunter2]}\nmaxPods: 5', null],
    ['a tagged key', '!!str token: hunter2\nmaxPods: 5', null],
  ])('keeps %s of a configuration to itself', generous, (_, content, expected) => {
    const arguments_ = [
      'kubelet',
      '--config=/c.yaml',
      '--token',
      secret,
      '--api-token=hunter2',
      '--v=2',
    ]
    const { stdout } = onFirst(
      withFiles(al2023(), {
        '/c.yaml': ofKind(content),
        '/proc/900/cmdline': `${arguments_.join('\0')}\0`,
      }),
    )
    expect(stdout).not.toContain(secret)
    const answer = answerOf({ stdout })
    const reportedContent = filesOf(answer).find(({ role }) => role === 'config')?.content
    expect(reportedContent).toEqual(expected === null ? null : expect.objectContaining({ kind }))
    if (expected !== null)
      expect({ ...(reportedContent as object), kind: undefined }).toEqual(expected)
    expect((answer.host.kubelet as { commandLine: string[] }).commandLine.slice(2)).toEqual([
      '--token',
      '(removed)',
      '--api-token=(removed)',
      '--v=2',
    ])
    if (expected === null)
      expect(whyUnread(answer, 'kubelet file /c.yaml')).toBe(
        'it is no JSON and may hold a secret, so its text stays here',
      )
  })

  it.each([
    ['password="hunter2 hunter2" image=a', 'password=(removed) image=a'],
    ['Authorization: Basic hunter2 hunter2', 'Authorization: (removed)'],
    ['aws_secret_access_key=hunter2 region=a', 'aws_secret_access_key=(removed) region=a'],
    ['"--token" "hunter2" --v=2', '"--token" (removed) --v=2'],
    ["--bearer-token='hunter2 hunter2' --v=2", '--bearer-token=(removed) --v=2'],
    ['"--token=hunter2 hunter2" --v=2', '"--token=(removed)" --v=2'],
    [
      '{"password":"hunter2","a":1} \\"secret\\": \\"hunter2\\" b',
      '{"password":(removed),"a":1} \\"secret\\": (removed) b',
    ],
    [
      'api_key=hunter2 --gates=KubeletEnsureSecretPulledImages=true',
      'api_key=(removed) --gates=KubeletEnsureSecretPulledImages=true',
    ],
  ])(
    'removes the secret of %s from a log and from flags in a file',
    generous,
    (written, reported) => {
      const line = `eviction_manager ${written}`
      const node = withFiles(withTools(al2023(), { journalctl: prints(line) }), {
        '/etc/default/kubelet': `KUBELET_ARGS=--v=3 ${written}\n`,
        '/proc/cmdline':
          'root=/dev/a password=hunter2 inst.vncpassword=hunter2 a="b root=hunter2 c" cgroup.memory=nokmem -- root=hunter2\n',
      })
      for (const platform of inTurn()) {
        const { stdout } = inspect(linux, node, platform)
        expect(stdout).not.toContain(secret)
        const answer = answerOf({ stdout })
        expect(answer.host.logLines).toEqual([`eviction_manager ${reported}`])
        expect(filesOf(answer).find(({ path }) => path === '/etc/default/kubelet')?.content).toBe(
          `KUBELET_ARGS=--v=3 ${reported}`,
        )
        expect(answer.host.kernel).toMatchObject({ cmdline: 'root=/dev/a cgroup.memory=nokmem' })
        const host = {
          logLines: answer.host.logLines,
          kernel: { cmdline: 'root=/dev/a cgroup.memory=nokmem' },
        }
        const pruned = prune({
          kind: 'Node',
          cluster: 'c',
          node: { metadata: { name: 'n' } },
          host,
        } as never)
        expect(pruned).toMatchObject({ host })
      }
    },
  )

  const shadow = 'root:hunter2:19000:0:99999:7:::\n'
  const impostor = (uid: string, cgroup: string) => ({
    '/proc/90/comm': 'kubelet\n',
    '/proc/90/status': `Name:\tkubelet\nUid:\t${uid}\n`,
    '/proc/90/cgroup': `${cgroup}\n`,
    '/proc/90/cmdline': 'kubelet\0--config=/etc/shadow\0--config-dir=/root\0',
    '/proc/90/stat': '90 (kubelet) S 1\n',
    '/etc/shadow': shadow,
    '/root/a.conf': shadow,
  })

  it.each([
    [
      'a process of a user',
      '1000\t1000\t1000\t1000',
      '0::/user.slice/user-1000.slice/session-1.scope',
    ],
    [
      'one that a user starts within a service',
      '1000\t1000\t1000\t1000',
      '0::/system.slice/crond.service',
    ],
    ['a setuid program under that name', '1000\t0\t0\t0', '0::/system.slice/crond.service'],
    ['one that root has in a session', '0\t0\t0\t0', '0::/user.slice/user-0.slice/session-1.scope'],
  ])('takes no other for the kubelet: %s', generous, (_, uid, cgroup) => {
    for (const platform of inTurn()) {
      const { stdout } = inspect(linux, withFiles(al2023(), impostor(uid, cgroup)), platform)
      expect(stdout).not.toContain(secret)
      const answer = answerOf({ stdout })
      expect(filesOf(answer).map(({ path }) => path)).not.toContain('/etc/shadow')
      expect(filesOf(answer).find(({ role }) => role === 'config')?.path).toBe(
        '/etc/kubernetes/kubelet/config.json',
      )
    }
  })

  it(
    'takes the process that systemd started, wherever the kubelet has put itself',
    generous,
    () => {
      const node = withTools(
        withFiles(al2023(), { '/proc/900/cgroup': '0::/kube.slice/daemons\n' }),
        { systemctl: prints('MainPID=900') },
      )
      expect(filesOf(answerOf(onFirst(node))).find(({ role }) => role === 'config')?.path).toBe(
        '/etc/kubernetes/kubelet/config.json',
      )
      const stranger = answerOf(onFirst(withTools(node, { systemctl: prints('MainPID=0') })))
      expect(whyUnread(stranger, 'kubelet process')).toContain('no process of that name runs')
    },
  )

  it(
    'reports nothing of a file that is no kubelet configuration, not even its hash',
    generous,
    () => {
      const node = withFiles(al2023(), {
        ...impostor('0\t0\t0\t0', '0::/system.slice/kubelet.service'),
        '/proc/900/comm': 'bash\n',
      })
      const { stdout } = onFirst(node)
      expect(stdout).not.toContain(secret)
      const answer = answerOf({ stdout })
      expect(filesOf(answer).filter(({ role }) => role !== 'environment')).toEqual([
        { path: '/etc/shadow', role: 'config', content: null },
        { path: '/root/a.conf', role: 'drop-in', content: null },
      ])
      for (const path of ['/etc/shadow', '/root/a.conf'])
        expect(whyUnread(answer, `kubelet file ${path}`)).toBe(
          'it does not say that it is of kind KubeletConfiguration, so nothing of it is read',
        )
    },
  )

  it(
    'reports configuration that the kubelet skips, and no error for other files there',
    generous,
    () => {
      const folder = '/etc/kubernetes/kubelet/config.json.d'
      const content = { kind, maxPods: 5 }
      const node = withFiles(al2023(), {
        [`${folder}/50-ours.conf`]: JSON.stringify(content),
        [`${folder}/60-ours.yaml`]: `kind: ${kind}\nmaxPods: 5\n`,
        [`${folder}/70-damaged.conf`]: `{"kind":"${kind}",`,
        [`${folder}/notes`]: shadow,
      })
      for (const platform of inTurn()) {
        const { stdout } = inspect(linux, node, platform)
        expect(stdout).not.toContain(secret)
        const answer = answerOf({ stdout })
        const ignored = filesOf(answer).filter(({ role }) => role === 'ignored')
        expect(
          ignored.map(({ path, content }) => [path.replace(`${folder}/`, ''), content]),
        ).toEqual([
          ['50-ours.conf', content],
          ['60-ours.yaml', content],
          ['70-damaged.conf', null],
          ['notes', null],
        ])
        expect(unreadOf(answer).filter(({ what }) => what.startsWith('kubelet'))).toEqual([])
        const pruned = prune({
          kind: 'Node',
          cluster: 'c',
          node: { metadata: { name: 'n' } },
          host: answer.host,
        } as never)
        expect(pruned).toMatchObject({ host: { kubelet: answer.host.kubelet } })
      }
    },
  )

  it('reports only the NodeConfig that a plan wrote', () => {
    const config =
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      containerLogMaxFiles: 9\n'
    const node = withFiles(al2023(), {
      '/etc/eks/nodeadm.d/50-highwater.yaml': config,
      '/etc/eks/nodeadm.d/60-team.yaml': config,
    })
    const pieces = filesOf(answerOf(onFirst(node))).filter(({ path }) =>
      path.startsWith('/etc/eks/nodeadm.d/'),
    )
    const content = {
      apiVersion: 'node.eks.aws/v1alpha1',
      kind: 'NodeConfig',
      spec: { kubelet: { config: { containerLogMaxFiles: 9 } } },
    }
    expect(pieces).toMatchObject([
      { path: '/etc/eks/nodeadm.d/50-highwater.yaml', role: 'nodeadm', content },
    ])
    expect(pieces[0]?.sha256).toMatch(/^[a-f0-9]{64}$/)
  })

  const withTimer = (script: string, files: NodeRoot['files'] = {}) =>
    withFiles(withTools(al2023(), { systemctl: script }), files)
  it.each([
    [
      'is not there',
      { ...al2023(), missing: ['systemctl'] },
      'the program systemctl is not on this node',
    ],
    ['fails', withTimer('echo "no bus" >&2; exit 1'), 'systemctl failed with exit code 1: no bus'],
    ['hangs', withTimer('exit 124'), expect.stringMatching(/systemctl did not answer/)],
    [
      'says something else',
      withTimer('echo hello'),
      'what it printed is not of the form that is known',
    ],
  ])('does not claim that nothing runs logrotate where systemctl %s', generous, (_, node, why) => {
    const answer = answerOf(onFirst(node))
    expect(answer.host).not.toHaveProperty('logrotateRuns')
    expect(whyUnread(answer, 'runs of logrotate')).toEqual(why)
  })

  const calendar = (...times: string[]) =>
    prints(
      [
        'ActiveState=active',
        ...times.map(time => `TimersCalendar={ OnCalendar=${time} ; next_elapse=n/a }`),
      ].join('\n'),
    )
  it.each<[string, NodeRoot, object]>([
    [
      'two times of a timer',
      withTimer(calendar('*-*-* 00:00:00', '*-*-* 12:00:00')),
      {
        by: 'timer',
        schedule: '*-*-* 00:00:00',
        also: [{ by: 'timer', schedule: '*-*-* 12:00:00' }],
      },
    ],
    [
      'a timer and a cron line',
      withTimer(calendar('daily'), {
        '/etc/cron.d/a': '0\t* * * * root /usr/sbin/logrotate /etc/logrotate.d/a\n',
      }),
      { by: 'timer', schedule: 'daily', also: [{ by: 'cron', schedule: '0 * * * *' }] },
    ],
    [
      'no cron line that only has it in a name',
      withTimer('echo ActiveState=inactive', {
        '/etc/cron.d/a': '0 * * * * root /opt/check-logrotate-status.sh\n',
      }),
      { by: null },
    ],
  ])('reports all that runs logrotate: %s', generous, (_, node, expected) => {
    for (const platform of inTurn())
      expect(answerOf(inspect(linux, node, platform)).host.logrotateRuns).toEqual({
        ...expected,
        unsure: null,
      })
  })

  it('lists only the commands of jobs that may delete images, without secrets', generous, () => {
    const secret = 'hunter2secret'
    const many = Array.from({ length: 20 }, (_, line) => `${line} * * * * root crictl rmi a${line}`)
    const node = withFiles(al2023(), {
      '/etc/crontab': `TOKEN=${secret}\n# 0 1 * * * root crictl rmi --old\n0 1 * * * root TOKEN=${secret} /usr/bin/crictl rmi --prune; echo ${secret}\n`,
      '/etc/cron.d/docker': `0 2\t* * * root docker --password ${secret} system prune -af >/dev/null\n0 3 * * * root docker run --rm app ${secret}\n0 4 * * * root docker run -e A=${secret} app rm a\n0 4 * * * root docker exec -e A=${secret} app prune\n`,
      '/var/spool/cron/root': `5 5 * * * backup ${secret}\n6 5 * * * ctr -n k8s.io images rm web:1%${secret}\n`,
      '/etc/systemd/system/clean.service': `[Service]\nEnvironment=A=${secret}\nExecStart=/bin/sh -c "nerdctl image prune --all"\n`,
    })
    for (const platform of inTurn()) {
      const { stdout } = inspect(linux, node, platform)
      expect(stdout).not.toContain(secret)
      expect(answerOf({ stdout }).host.cleaners).toEqual([
        { path: '/etc/crontab', command: 'crictl rmi --prune' },
        { path: '/etc/cron.d/docker', command: 'docker --password (removed) system prune -af ' },
        { path: '/var/spool/cron/root', command: 'ctr -n k8s.io images rm web:1' },
        { path: '/etc/systemd/system/clean.service', command: 'nerdctl image prune --all"' },
      ])
    }
    const full = withFiles(al2023(), { '/etc/cron.d/a': many.join('\n') })
    expect(answerOf(onFirst(full)).host.cleaners).toHaveLength(10)
    // Also if systemctl does not answer for the timer of logrotate.
    const silent = { ...node, tools: { ...node.tools, systemctl: 'exit 1' } }
    expect(answerOf(onFirst(silent)).host.cleaners).toHaveLength(4)
    expect(answerOf(onFirst(al2023())).host.cleaners).toEqual([])
  })

  it('separates two logrotate blocks if a comment follows the brace', generous, () => {
    const text = '/var/log/a.log { # first\n daily\n rotate 2\n}\n/var/log/b.log {\n rotate 3\n}\n'
    for (const platform of inTurn()) {
      const { logrotate } = answerOf(
        inspect(linux, withFiles(al2023(), { '/etc/logrotate.d/two': text }), platform),
      ).host
      expect(
        (logrotate as { path: string; directives: object }[]).filter(({ path }) =>
          path.endsWith('/two'),
        ),
      ).toMatchObject([
        { directives: { patterns: ['/var/log/a.log'], daily: true, rotate: 2 } },
        { directives: { patterns: ['/var/log/b.log'], rotate: 3 } },
      ])
    }
  })

  it(
    'names what it leaves out: arguments, the end of a long one, other folders of logrotate',
    generous,
    () => {
      const many = [
        '/usr/bin/kubelet',
        '--config=/c.json',
        `--node-labels=${'x'.repeat(5000)}`,
        ...Array(400).fill('--v=2'),
      ]
      const node = withFiles(al2023(), {
        '/proc/900/cmdline': `${many.join('\0')}\0`,
        '/etc/logrotate.conf': 'weekly\ninclude /etc/logrotate.d/\ninclude /opt/logrotate.d\n',
      })
      for (const platform of inTurn()) {
        const answer = answerOf(inspect(linux, node, platform))
        const left = unreadOf(answer).filter(
          ({ what }) => what === 'kubelet command line' || what.startsWith('logrotate'),
        )
        expect(left).toEqual([
          { what: 'kubelet command line', why: 'it has 403 arguments, of which 300 are read' },
          { what: 'kubelet command line', why: 'an argument was cut to 4000 characters' },
          {
            what: 'logrotate file /opt/logrotate.d',
            why: '/etc/logrotate.conf includes it, and only /etc/logrotate.d is looked into',
          },
        ])
      }
    },
  )

  it('reads Bottlerocket settings with unexpected values', generous, () => {
    const empty = prints('{}')
    const apiclient = answers({
      'get settings.container-registry': empty,
      'get settings.kubernetes': empty,
    })
    for (const platform of inTurn()) {
      const answer = answerOf(
        inspect(onBottlerocket, withTools(bottlerocket(), { apiclient }), platform),
      )
      expect(answer.host.bottlerocket).toEqual({ containerRegistry: {} })
      expect(whyUnread(answer, 'settings.container-registry')).toBeUndefined()
      expect(whyUnread(answer, 'settings.kubernetes')).toBe(
        'apiclient says that nothing is set there',
      )
    }
  })

  it('takes no log-rotation file whose form it does not know', generous, () => {
    const node = withFiles(al2023(), {
      '/etc/logrotate.d/line': '/var/log/a.log { rotate 2 }\n',
      '/etc/logrotate.d/open': '/var/log/b.log {\n  rotate 2\n',
      '/etc/logrotate.d/fine': '/var/log/{c,d}.log{\n}\n',
    })
    const answer = answerOf(onFirst(node))
    for (const name of ['line', 'open'])
      expect(whyUnread(answer, `logrotate file /etc/logrotate.d/${name}`)).toBe(
        'its text is not of the form that is known',
      )
    const logrotateFiles = (answer.host.logrotate as { path: string; directives: object }[]).map(
      ({ path, directives }) => [path.replace('/etc/logrotate.', ''), Object.values(directives)[0]],
    )
    expect(logrotateFiles).toEqual([
      ['conf', []],
      ['d/fine', ['/var/log/{c,d}.log']],
      ['d/kube-proxy', ['/var/log/kube-proxy.log']],
    ])
  })

  it('does not lose a folder of logs to a file that goes while it is read', generous, () => {
    const find = (last: string) =>
      withTools(al2023(), {
        find: `/usr/bin/env -i PATH=/usr/bin:/bin find "$@"\necho "${last}" >&2\nexit 1`,
      })
    expect(
      answerOf(onFirst(find("stat: cannot stat 'x': No such file or directory"))).host
        .podLogDirectories,
    ).toEqual(['shop_shop-1_uid'])
    const broken = answerOf(onFirst(find("find: '/x': Input/output error")))
    expect(broken.host.podLogDirectories).toBeUndefined()
    expect(whyUnread(broken, 'podLogDirectories')).toContain('Input/output error')
  })

  it(
    'says so where no kubelet runs, and takes the file that lies where it usually does',
    generous,
    () => {
      const node = withFiles(al2023(), { '/proc/900/comm': 'bash\n' })
      const answer = answerOf(onFirst(node))
      expect(whyUnread(answer, 'kubelet process')).toContain('no process of that name runs')
      expect(filesOf(answer).filter(({ role }) => role === 'config')).toMatchObject([
        { path: '/etc/kubernetes/kubelet/config.json' },
      ])
    },
  )

  it('reports the running configuration if root may read it', generous, () => {
    const printed = {
      evictionPressureTransitionPeriod: '5m0s',
      imageMinimumGCAge: '2m0s',
      nodeStatusUpdateFrequency: '10s',
    }
    const fields = { ...printed, maxPods: 58, evictionHard: { 'nodefs.available': '10%' } }
    const curl = prints(
      JSON.stringify({ kubeletconfig: { ...fields, staticPodURLHeader: { a: [secret] } } }),
    )
    const { stdout } = onFirst(withTools(al2023(), { curl }))
    expect(answerOf({ stdout }).configz).toEqual({ kubeletconfig: fields })
    expect(stdout).not.toContain(secret)
    const refused = onFirst(
      withTools(al2023(), {
        curl: 'echo "curl: (22) The requested URL returned error: 403" >&2; exit 22',
      }),
    )
    expect(whyUnread(answerOf(refused), 'the running configuration')).toContain('403')
  })

  it('on Bottlerocket names each unread setting', generous, () => {
    if (first === undefined) return
    const apiclient = answers({ 'get os': prints('{"os":{"arch":"x86_64"}}') })
    const answer = answerOf(
      inspect(onBottlerocket, withTools(bottlerocket(), { apiclient }), first),
    )
    expect(answer.host.bottlerocket).toEqual({ os: { arch: 'x86_64' } })
    expect(whyUnread(answer, 'settings.kubernetes')).toBe(
      'apiclient failed with exit code 1: unknown: get settings.kubernetes',
    )
    const without = answerOf(
      inspect(onBottlerocket, { ...bottlerocket(), missing: ['apiclient'] }, first),
    )
    expect(whyUnread(without, 'os')).toBe('the program apiclient is not on this node')
  })
})

describe('10 MB of log lines', () => {
  const words = 'eviction_manager.go:613] attempting to reclaim'
  /** @param end what stands between two lines */
  const lines = (end: string) =>
    `exec awk 'BEGIN { for (i = 1; i <= 70000; i++) printf "line %d ${words} %0100d${end}", i, 0 }'`

  it('are reported as the last forty, each cut short', generous, () => {
    const { stdout, stderr } = onFirst(withTools(al2023(), { journalctl: lines('\\n') }))
    const { logLines } = answerOf({ stdout }).host as { logLines: string[] }
    expect(logLines).toHaveLength(40)
    expect([logLines[0], logLines.at(-1)]).toEqual([
      expect.stringContaining(`line 69961 ${words}`),
      expect.stringContaining(`line 70000 ${words}`),
    ])
    expect(stdout.length).toBeLessThan(24_000)
    expect(stderr).toBe('')
  })

  it(
    'without an end are one line, cut short, or a reason, and take nothing else away',
    generous,
    () => {
      const { stdout, stderr } = onFirst(withTools(al2023(), { journalctl: lines(' ') }))
      const answer = answerOf({ stdout })
      const { logLines = [] } = answer.host as { logLines?: string[] }
      expect(logLines.length === 1 || whyUnread(answer, 'logLines') !== undefined).toBe(true)
      for (const line of logLines) expect(line.length).toBeLessThanOrEqual(300)
      expect(filesOf(answer).length).toBeGreaterThan(0)
      expect(answer.runtime).toEqual(runtime)
      expect(stderr).toBe('')
    },
  )
})

describe('the size of an answer', () => {
  // Hashes do not compress: two of them an image.
  const images = (count: number) => {
    const hash = (index: number, letter: string) => sha256(`${letter}${index}`)
    const list = Array.from({ length: count }, (_, index) => ({
      id: `sha256:${hash(index, 'a')}`,
      repoTags: [],
      repoDigests: [`r/i@sha256:${hash(index, 'b')}`],
      size: '1',
      pinned: false,
    }))
    return withFiles(withTools(al2023(), onlyImages), {
      '/images': JSON.stringify({ images: list }, null, 2),
    })
  }
  const onlyImages = { crictl: crictl({ images: 'cat "$HIGHWATER_ROOT/images"' }) }

  it('over 23,000 characters goes packed, whole', generous, () => {
    const { stdout } = onFirst(images(150))
    expect(JSON.parse(stdout)).toMatchObject({ encoding: 'gzip+base64' })
    expect(stdout.length).toBeLessThan(23_000)
    expect(answerOf({ stdout }).runtime?.images).toHaveLength(150)
  })

  it('that even so is too long lacks whole parts, each named; full has them', generous, () => {
    const { stdout } = onFirst(images(900))
    expect(stdout.length).toBeLessThan(24_000)
    const answer = answerOf({ stdout })
    const { images: _, ...others } = runtime
    expect(answer.runtime).toEqual(others)
    const left = unreadOf(answer).filter(({ why }) => why.startsWith('left out'))
    // What is small stands there again once the images are out.
    expect(left.map(({ what }) => what)).toEqual(['runtime.images'])
    expect(answer.host.logLines).toHaveLength(2)
    expect(answer.host).toMatchObject({ logs: {}, podLogDirectories: ['shop_shop-1_uid'] })
    expect(filesOf(answer).length).toBeGreaterThan(0)
    expect(answerOf(onFirst(images(900), 'full')).runtime?.images).toHaveLength(900)
  })
})

describe('whatever the files hold', () => {
  // One script run for each: few of them, and always the same.
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map(bytes => Buffer.from(bytes)),
    fc.string({ unit: 'binary', maxLength: 200 }).map(text => Buffer.from(text)),
    fc.json({ depthSize: 'medium' }).map(text => Buffer.from(text)),
    fc
      .constantFrom('{', '[[[[', '"\\ud800"', '\0\0', '}\n{', '\\', '%s%n', '"a" {\n', '\r\n\t')
      .map(text => Buffer.from(text)),
  )
  const samples = fc.sample(fc.array(junk, { minLength: 11, maxLength: 11 }), {
    numRuns: 12,
    seed: 7,
  })
  it.each(samples.map((parts, index) => ({ index, parts, platform: here[index % here.length] })))(
    'the answer is one JSON document ($index, $platform.name)',
    generous,
    ({ parts, platform }) => {
      if (platform === undefined) return
      const at = (index: number) => parts[index] ?? Buffer.alloc(0)
      const files = {
        '/etc/kubernetes/kubelet/config.json': at(0),
        '/etc/kubernetes/kubelet/config.json.d/a.conf': at(1),
        '/etc/logrotate.d/a': at(2),
        '/etc/containerd/config.toml': Buffer.concat([
          Buffer.from('version = 2\nimports = ['),
          at(3),
        ]),
        '/etc/containerd/certs.d/a/hosts.toml': at(4),
        '/etc/eks/kubelet/environment': Buffer.concat([Buffer.from('KUBELET_ARGS=--x='), at(5)]),
        '/proc/cmdline': at(6),
        '/sys/fs/cgroup/cgroup.stat': at(7),
        '/junk/cri': at(8),
        '/junk/text': at(9),
        '/proc/900/stat': at(10),
      }
      const cat = (name: string) => `cat "$HIGHWATER_ROOT/junk/${name}"`
      const tools = {
        crictl: cat('cri'),
        df: cat('text'),
        systemctl: cat('text'),
        journalctl: `${cat('text')}; echo eviction_manager`,
        curl: cat('cri'),
      }
      const { stdout } = inspect(
        linux,
        withTools(withFiles(al2023({ 'b.conf': '{}' }), files), tools),
        platform,
      )
      expect(stdout.trim().split('\n').length).toBeGreaterThan(0)
      expect(() => JSON.parse(stdout)).not.toThrow()
      expect(Buffer.from(stdout).toString('utf8')).not.toContain('\ufffd')
      const answer = answerOf({ stdout })
      expect(
        unreadOf(answer).filter(
          ({ why }) => why.includes('is no JSON that') || why.includes('put together'),
        ),
      ).toEqual([])
    },
  )
})
