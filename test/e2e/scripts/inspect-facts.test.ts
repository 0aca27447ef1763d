/** What the script must not get wrong, and must not leave out silently: the documents' own script on pretend nodes. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type InspectAnswer, readAnswer } from '#collect/inspect/answer.ts'
import { isPassedOverByLogrotate } from '#facts/logrotate.ts'
import { prune } from '#snapshot/prune.ts'
import { inspect, type NodeRoot, platforms, shellsInTurn, which } from '#test/node-root.ts'
import { al2, al2023, crictl, prints, ubuntu } from '#test/node-roots.ts'

const here = platforms()
const inTurn = shellsInTurn()
const [first] = here
const generous = { timeout: 120_000 }
const kind = 'KubeletConfiguration'
const folder = '/etc/kubernetes/kubelet/config.json.d'

function run(node: NodeRoot, platform = first) {
  if (platform === undefined) throw new Error('this machine has no shell')
  const { stdout, root } = inspect('Highwater-Inspect', node, platform)
  const answer = readAnswer(stdout, 'i-0123456789abcdef0')
  if (!answer.isKnown) throw new Error(answer.reason)
  const raw = stdout.includes('"encoding"')
    ? null
    : (JSON.parse(stdout) as { host: Record<string, unknown> })
  return { answer, root, raw: raw?.host ?? {} }
}
const answerOf = (node: NodeRoot, platform = first) => run(node, platform).answer
/** By the document for the use of disks. */
function disksOf(node: NodeRoot, platform = first): InspectAnswer {
  if (platform === undefined) throw new Error('this machine has no shell')
  const { stdout } = inspect('Highwater-InspectDisks', node, platform)
  const answer = readAnswer(stdout, 'i-0123456789abcdef0')
  if (!answer.isKnown) throw new Error(answer.reason)
  return answer
}
const withFiles = (
  files: NodeRoot['files'],
  tools: Record<string, string> = {},
  node = al2023(),
) => ({ ...node, files: { ...node.files, ...files }, tools: { ...node.tools, ...tools } })
const whyUnread = ({ host }: InspectAnswer, what: string) =>
  (host.unread as { what: string; why: string }[]).find(entry => entry.what === what)?.why
interface KubeletFile {
  path: string
  role: string
  sha256?: string
  content: unknown
}
const filesOf = ({ host }: InspectAnswer) => (host.kubelet as { files: KubeletFile[] }).files
const logsOf = ({ host }: InspectAnswer) => (host.logs as { files: number } | undefined)?.files
const configuration = (more: object) => JSON.stringify({ kind, ...more })
const inactive = { systemctl: prints('ActiveState=inactive') }
const makes = (command: string) => `${command}\n${prints('ActiveState=inactive')}`
const mkfifo = `${which('mkfifo')} "$HIGHWATER_ROOT`

describe('what hangs, or takes its time', () => {
  it('a pipe where cron or containerd look is named, and not waited for', generous, () => {
    const tools = {
      systemctl: makes(
        `${mkfifo}/etc/cron.d/pipe" "$HIGHWATER_ROOT/etc/containerd/certs.d/quay.io/pipe" 2>/dev/null`,
      ),
    }
    const node = withFiles({ '/etc/cron.d/a': '', '/etc/containerd/certs.d/pipe/x': '' }, tools)
    const { raw } = run({
      ...node,
      folders: [...(node.folders ?? []), '/etc/containerd/certs.d/a/hosts.toml'],
    })
    expect(raw.logrotateRuns).toEqual({
      by: null,
      unsure: '/etc/cron.d/pipe was not read: it is no file',
    })
    expect(raw.unread).toContainEqual({
      what: 'containerd file /etc/containerd/certs.d/a/hosts.toml',
      why: 'it is no file',
    })
  })

  it('no file that is too long is hashed, and none after one that did not answer', generous, () => {
    const big = `${which('truncate')} -s 200G "$HIGHWATER_ROOT${folder}/10-a.conf" "$HIGHWATER_ROOT${folder}/notes"`
    const sum = 'for last; do :; done; echo "$last" >>"$HIGHWATER_ROOT/asked"'
    const node = (end: string) =>
      withFiles(
        { [`${folder}/20-b.conf`]: configuration({}) },
        { systemctl: makes(big), sha256sum: `${sum}\n${end}` },
      )
    const asked = (root: string) => readFileSync(join(root, 'asked'), 'utf8')
    const quick = run(node(`echo ${'a'.repeat(64)}`))
    expect(asked(quick.root)).toContain('20-b.conf')
    expect(asked(quick.root)).not.toMatch(/10-a|notes/)
    const slow = run(node('exit 124'))
    expect(asked(slow.root).trim().split('\n')).toHaveLength(1)
    expect(whyUnread(slow.answer, 'hashes of files')).toMatch(/sha256sum did not answer/)
  })
})

describe('the kubelet', () => {
  it('of which several run is not chosen among them', generous, () => {
    const other = {
      '/proc/1000/comm': 'kubelet\n',
      '/proc/1000/status': 'Name:\tkubelet\nPPid:\t1\nUid:\t0\t0\t0\t0\n',
      '/proc/1000/cgroup': '0::/system.slice/kubelet-old.service\n',
      '/proc/1000/cmdline': 'kubelet\0--config=/etc/old.json\0--root-dir=/old\0',
      '/etc/old.json': configuration({ maxPods: 1 }),
    }
    for (const platform of inTurn()) {
      const answer = answerOf(withFiles(other), platform)
      expect(answer.host.kubelet).toBeUndefined()
      expect(answer.configz).toBeNull()
      expect(whyUnread(answer, 'kubelet process')).toMatch(/several run \(\d+ and \d+\)/)
      for (const what of [
        'filesystem nodefs',
        'filesystem logs',
        'logLines',
        'the running configuration',
        'podLogDirectories',
      ])
        expect(whyUnread(answer, what)).toMatch(/kubelet/)
    }
    // One that it has just forked.
    const child = answerOf(
      withFiles({
        ...other,
        '/proc/1000/status': 'Name:\tkubelet\nPPid:\t900\nUid:\t0\t0\t0\t0\n',
      }),
    )
    expect((child.host.kubelet as { commandLine: string[] }).commandLine).toContain(
      '--config=/etc/kubernetes/kubelet/config.json',
    )
  })

  it('has flags with underscores, too', generous, () => {
    const commandLine = [
      'kubelet',
      '--config=/etc/kubernetes/kubelet/config.json',
      `--config_dir=${folder}`,
      '--root_dir',
      '/data',
      '--hostname_override=n',
    ]
    const node = withFiles({
      '/proc/900/cmdline': `${commandLine.join('\0')}\0`,
      [`${folder}/a.conf`]: configuration({ maxPods: 9 }),
    })
    for (const platform of inTurn()) {
      const answer = answerOf(node, platform)
      expect(answer.nodeName).toBe('n')
      expect(filesOf(answer).find(({ path }) => path === `${folder}/a.conf`)?.role).toBe('drop-in')
      expect(whyUnread(answer, 'filesystem nodefs')).toBe('there is no /data')
    }
  })

  it(
    'starts with flags that are not known where systemctl names no file of its unit',
    generous,
    () => {
      expect(whyUnread(answerOf(withFiles({}, inactive)), 'kubelet environment')).toContain(
        'none of its files was named',
      )
    },
  )

  it('reports the command of its unit without secrets, and the snapshot keeps it', generous, () => {
    const unit = '/etc/systemd/system/kubelet.service'
    const start =
      '[Service]\nExecStartPre=/bin/x --token hunter2\nExecStart=/usr/bin/kubelet --config /c.json \\\n  --token hunter2 $KUBELET_ARGS\n'
    const node = withFiles({
      [unit]: start,
      [`${unit}.d/99.conf`]: '[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --max-pods=5\n',
    })
    for (const platform of inTurn()) {
      const { answer, raw } = run(node, platform)
      expect(JSON.stringify(raw)).not.toContain('hunter2')
      const units = filesOf(answer).filter(({ path }) => path.startsWith(unit))
      expect(units.map(({ content }) => String(content).replace(/ +/g, ' '))).toEqual([
        'ExecStart=/usr/bin/kubelet --config /c.json --token (removed) $KUBELET_ARGS',
        'ExecStart=\nExecStart=/usr/bin/kubelet --max-pods=5',
      ])
      const pruned = prune({
        kind: 'Node',
        cluster: 'c',
        node: { metadata: { name: 'n' } },
        host: answer.host,
      } as never)
      expect(pruned).toMatchObject({ host: { kubelet: answer.host.kubelet } })
    }
  })

  it.each([
    ['a byte order mark', `\ufeff${configuration({ maxPods: 7 })}`],
    ['a byte order mark before YAML', `\ufeffkind: ${kind}\nmaxPods: 7\n`],
    ['its kind on the next line', `{"kind":\n\n "${kind}", "maxPods": 7}`],
    ['its kind on the next line of YAML', `kind:\n  ${kind}\nmaxPods: 7\n`],
  ])('loads a file with %s', generous, (_, content) => {
    for (const platform of inTurn()) {
      const answer = answerOf(
        withFiles({ '/etc/kubernetes/kubelet/config.json': content }),
        platform,
      )
      expect(filesOf(answer).find(({ role }) => role === 'config')?.content).toEqual({
        kind,
        maxPods: 7,
      })
    }
  })
})

describe('drop-ins', () => {
  const dropIns = Object.fromEntries(
    ['c/1', 'b', 'a/9', 'a', 'c', 'B'].map((name, at) => [
      `${name}.conf`,
      configuration({ maxPods: at + 1 }),
    ]),
  )
  it('are listed in the kubelet’s order, with or without the program sort', generous, () => {
    for (const platform of inTurn()) {
      const answer = answerOf({ ...al2023(dropIns), missing: ['sort'] }, platform)
      const names = filesOf(answer).flatMap(({ path, role }) =>
        role === 'drop-in' ? [path.replace(`${folder}/`, '')] : [],
      )
      expect(names).toEqual(['B.conf', 'a/9.conf', 'a.conf', 'b.conf', 'c/1.conf', 'c.conf'])
    }
  })

  it('with a line end in the name are reported as unread', generous, () => {
    const answer = answerOf(al2023({ 'a\nb.conf': configuration({}), 'c.conf': configuration({}) }))
    expect(whyUnread(answer, `drop-ins in ${folder}`)).toBe(
      'a name there has a line end in it: that was not read',
    )
    expect(
      whyUnread(answerOf(al2023({ 'c.conf': configuration({}) })), `drop-ins in ${folder}`),
    ).toBeUndefined()
  })
})

describe('where the logs of pods lie', () => {
  const main = '/etc/kubernetes/kubelet/config.json'
  const logs = { '/data/pods/a_b_c/d/0.log': 'x', '/data/pods/e_f_g/d/0.log': 'x' }
  it.each<[string, NodeRoot]>([
    [
      'a file in one line',
      withFiles({ ...logs, [main]: configuration({ maxPods: 5, podLogsDir: '/data/pods' }) }),
    ],
    [
      'a drop-in',
      withFiles(
        logs,
        {},
        al2023({
          '90.conf': configuration({ maxPods: 5, podLogsDir: '/data/pods' }),
        }) as ReturnType<typeof al2023>,
      ),
    ],
    [
      'the last of two drop-ins',
      withFiles(
        logs,
        {},
        al2023({
          '10.conf': configuration({ podLogsDir: '/other' }),
          '90.conf': `kind: ${kind}\n"podLogsDir": '/data/pods' # here\n`,
        }) as ReturnType<typeof al2023>,
      ),
    ],
  ])('says %s', generous, (_, node) => {
    for (const platform of inTurn())
      expect(answerOf(node, platform).host.podLogDirectories).toEqual(
        expect.arrayContaining(['a_b_c', 'e_f_g']),
      )
  })

  it('is not known where a file was not read that may say so', generous, () => {
    const answer = answerOf(
      al2023({ '90.conf': '{"kind":"KubeletConfiguration","podLogsDir":"/data/p\\u006fds"}' }),
    )
    const damaged = answerOf(al2023({ '90.conf': `kind: ${kind}\nnotes: |\n  x\n` }))
    for (const { host } of [answer, damaged]) {
      expect(host.podLogDirectories).toBeUndefined()
      expect(host.logs).toBeUndefined()
      expect(JSON.stringify(host.unread)).toContain('where the kubelet keeps them is not known')
    }
    expect(logsOf(answerOf(al2023()))).toBeGreaterThan(0)
  })

  it('names folders with a line end in their name', generous, () => {
    const answer = answerOf(withFiles({ '/var/log/pods/new\nline_0_u/c/0.log': 'x' }))
    expect(answer.host.podLogDirectories).toEqual(['shop_shop-1_uid'])
    expect(whyUnread(answer, 'podLogDirectories')).toBe(
      'a name there has a line end in it: that was not read',
    )
  })
})

describe('who runs logrotate', () => {
  const line = '0 2 * * * /usr/sbin/logrotate /etc/logrotate.conf\n'
  const script = (text: string) => ({
    systemctl: `${which('chmod')} 755 "$HIGHWATER_ROOT"/etc/cron.daily/* 2>/dev/null\n${prints(text)}`,
  })
  const unsure = (path: string) => `${path} calls logrotate, for what is not known`
  it.each<[string, NodeRoot, object]>([
    [
      'root’s own table',
      withFiles({ '/var/spool/cron/root': line }, inactive),
      { by: 'cron', schedule: '0 2 * * *', unsure: null },
    ],
    [
      'root’s own table on Ubuntu',
      withFiles({ '/var/spool/cron/crontabs/root': line }, inactive),
      { by: 'cron', schedule: '0 2 * * *', unsure: null },
    ],
    [
      'a script of another name',
      withFiles(
        {
          '/etc/cron.daily/rotate-logs':
            '#!/bin/sh\n/usr/sbin/logrotate -s /x /etc/logrotate.conf\n',
        },
        script('ActiveState=inactive'),
      ),
      { by: 'cron', schedule: 'daily', unsure: null },
    ],
    [
      'no file that cron of Ubuntu passes over',
      {
        ...ubuntu(),
        files: {
          ...ubuntu().files,
          '/etc/debian_version': '12\n',
          '/etc/cron.d/lr.bak': `0 1 * * * root ${line.slice(10)}`,
        },
        tools: { ...ubuntu().tools, ...inactive },
      } as NodeRoot,
      { by: null, unsure: null },
    ],
    [
      'what is not known, by another configuration',
      withFiles({ '/etc/cron.d/lr': '0 1 * * * root logrotate -f /etc/x\n' }, inactive),
      { by: null, unsure: unsure('/etc/cron.d/lr') },
    ],
    [
      'what is not known, by a unit',
      withFiles(
        {
          '/etc/systemd/system/rot.service':
            '[Service]\nExecStart=/usr/sbin/logrotate /etc/logrotate.conf\n',
        },
        inactive,
      ),
      { by: null, unsure: unsure('/etc/systemd/system/rot.service') },
    ],
    ['nothing', withFiles({}, inactive), { by: null, unsure: null }],
  ])('is %s', generous, (_, node, expected) => {
    for (const platform of inTurn()) expect(run(node, platform).raw.logrotateRuns).toEqual(expected)
  })

  it('and when each file was changed last', generous, () => {
    for (const platform of inTurn())
      for (const entry of run(al2023(), platform).raw.logrotate as object[])
        expect(entry).toMatchObject({ modifiedAt: '2026-11-20T12:00:00Z' })
    for (const entry of run({ ...al2023(), missing: ['stat'] }).raw.logrotate as object[])
      expect(entry).toMatchObject({ modifiedAt: null })
  })
})

describe('nothing is skipped silently', () => {
  const long = '#'.repeat(140_000)
  it(
    'files of containerd that it does not take, and then none of what they may say',
    generous,
    () => {
      const failing = { crictl: crictl({ info: 'exit 1' }) }
      const imports = (pattern: string) => ({
        '/etc/containerd/config.toml': `imports = ['${pattern}']\n[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'a'\n`,
      })
      const tooLong = answerOf(
        withFiles(
          { ...imports('/etc/containerd/conf.d/*.toml'), '/etc/containerd/conf.d/z.toml': long },
          failing,
        ),
      )
      expect(whyUnread(tooLong, 'containerd file /etc/containerd/conf.d/z.toml')).toContain(
        '140000 bytes',
      )
      expect(tooLong.host.containerd).not.toHaveProperty('sandboxImage')
      const spaced = answerOf(
        withFiles(
          { ...imports('/etc/containerd/conf d/*.toml'), '/etc/containerd/conf d/z.toml': '' },
          failing,
        ),
      )
      expect(whyUnread(spaced, 'containerd file /etc/containerd/conf d/*.toml')).toContain(
        'name has unusual characters',
      )
      const fine = answerOf(
        withFiles(
          { ...imports('/etc/containerd/conf.d/*.toml'), '/etc/containerd/conf.d/z.toml': '' },
          failing,
        ),
      )
      expect(fine.host.containerd).toMatchObject({ sandboxImage: 'a' })
    },
  )

  it('hidden files of logrotate, which it reads as well', generous, () => {
    const answer = answerOf(
      withFiles({ '/etc/logrotate.d/.pods': '/var/log/pods/*/*/*.log {\n  rotate 3\n}\n' }),
    )
    expect(answer.host.logrotate).toContainEqual(
      expect.objectContaining({ path: '/etc/logrotate.d/.pods' }),
    )
  })

  describe('copies beside a file of logrotate', () => {
    const ends =
      ',v ~ .bak .cfsaved .disabled .dpkg-bak .dpkg-del .dpkg-dist .dpkg-new .dpkg-old .dpkg-tmp .rhn-cfg-tmp-1 .rpmnew .rpmorig'
    const passedOver = `${ends} .rpmsave .swp .ucf-dist .ucf-new .ucf-old`
      .split(' ')
      .map(end => `pods${end}`)
    const read = ['.new', '.old', '.orig', '.dpkg-mine', '.ucf-mine', '.conf', ''].map(
      end => `pods${end}`,
    )
    const rotated = (name: string) => `/var/log/${name}/*.log {\n  rotate 3\n}\n`

    it('are reported only where logrotate reads them', generous, () => {
      const files = Object.fromEntries(
        [...passedOver, ...read].map(name => [`/etc/logrotate.d/${name}`, rotated(name)]),
      )
      const names = (answerOf(withFiles(files)).host.logrotate as { path: string }[]).map(
        ({ path }) => path.replace(/^.*\//, ''),
      )
      expect(names.filter(name => name.startsWith('pods')).sort()).toEqual([...read].sort())
      expect([...passedOver, ...read].filter(isPassedOverByLogrotate)).toEqual(passedOver)
    })

    it.skipIf(which('logrotate') === null)(
      'are those that the program itself reads',
      generous,
      () => {
        const folder = mkdtempSync(join(tmpdir(), 'highwater-test-'))
        for (const name of [...passedOver, ...read])
          writeFileSync(join(folder, name), rotated(name), { mode: 0o644 })
        writeFileSync(`${folder}.conf`, `include ${folder}\n`, { mode: 0o644 })
        const { stderr } = spawnSync(
          which('logrotate') ?? '',
          ['-d', '-s', join(folder, 'state'), `${folder}.conf`],
          { encoding: 'utf8' },
        )
        const ofIt = [...stderr.matchAll(/^reading config file (pods\S*)$/gm)].map(
          ([, name]) => name,
        )
        expect(ofIt.sort()).toEqual([...read].sort())
        for (const path of [folder, `${folder}.conf`]) rmSync(path, { recursive: true })
      },
    )
  })

  it('needs no program head', generous, () => {
    expect(answerOf({ ...al2(), missing: ['head'] }).host.containerd).toMatchObject({
      snapshotter: 'overlayfs',
    })
  })
})

it(
  'cuts a long line between two characters, and leaves the other texts of a node as they are',
  generous,
  () => {
    const line = `x eviction_manager ${'é'.repeat(400)}`
    const main = configuration({ clusterDomain: 'bücher.example' })
    for (const platform of inTurn()) {
      const answer = answerOf(
        withFiles({ '/etc/kubernetes/kubelet/config.json': main }, { journalctl: prints(line) }),
        platform,
      )
      const [shown = ''] = answer.host.logLines as string[]
      expect(line.startsWith(shown)).toBe(true)
      expect(Buffer.byteLength(shown)).toBeGreaterThan(290)
      expect(filesOf(answer).find(({ role }) => role === 'config')?.content).toMatchObject({
        clusterDomain: 'bücher.example',
      })
      expect(whyUnread(answer, 'text')).toBeUndefined()
      const bad = answerOf(
        withFiles(
          { '/etc/kubernetes/kubelet/config.json': main },
          { journalctl: `printf 'eviction_manager \\351\\n'` },
        ),
        platform,
      )
      expect(bad.host.logLines).toEqual(['eviction_manager ?'])
      expect(filesOf(bad).find(({ role }) => role === 'config')?.content).toMatchObject({
        clusterDomain: 'bücher.example',
      })
      expect(whyUnread(bad, 'text')).toContain('not all of it was UTF-8')
    }
  },
)

describe('what holds the disks', () => {
  const [running, dead, sandbox, deadSandbox] = ['1', '3', '2', '4'].map(digit => digit.repeat(64))
  const containers = [
    { id: running, state: 'CONTAINER_RUNNING' },
    { id: dead, state: 'CONTAINER_EXITED' },
  ]
  const ctr = `case "$*" in
    *' ls') ${prints(
      [
        'KEY PARENT KIND',
        `${running} sha256:b Active`,
        `${dead} sha256:a Active`,
        `${sandbox} sha256:p Active`,
        `${deadSandbox} sha256:p Active`,
        'feedface sha256:a Active',
        'extract-1-x sha256:d sha256:b Active',
        'sha256:a Committed',
        'sha256:b sha256:a Committed',
        'sha256:c sha256:a Committed',
        'sha256:p Committed',
      ].join('\n'),
    )}
    ;;
    *' usage -b') ${prints(
      [
        'KEY SIZE INODES',
        `${running} 10 1`,
        `${dead} 20 1`,
        `${sandbox} 1 1`,
        `${deadSandbox} 2 1`,
        'feedface 40 2',
        'extract-1-x sha256:d 80 2',
        'sha256:a 100 3',
        'sha256:b 200 3',
        'sha256:c 4294967296 3',
        'sha256:p 7 1',
      ].join('\n'),
    )}
    ;;
    esac`
  const pods = [
    { id: sandbox, state: 'SANDBOX_READY', metadata: { uid: 'living' } },
    { id: deadSandbox, state: 'SANDBOX_NOTREADY', metadata: { uid: 'dead' } },
  ]
  const node = (tools: Record<string, string>) =>
    withFiles(
      { '/var/lib/kubelet/pods/living/x': 'x', '/var/lib/kubelet/pods/gone/x': 'x' },
      {
        crictl: crictl({
          ps: prints(JSON.stringify({ containers })),
          pods: prints(JSON.stringify({ items: pods })),
        }),
        du: `for last; do :; done
          case "$*" in *'-d '*) for child in "$last"/*; do echo "8 $child"; done ;; esac
          echo "40 $last"`,
        ...tools,
      },
    )
  const uses = (answer: InspectAnswer) =>
    Object.fromEntries(
      (answer.host.diskUse as { snapshots: { use: string; bytes: number }[] }).snapshots.map(
        ({ use, bytes }) => [use, bytes],
      ),
    )

  it('includes snapshots by use, and folders of pods without a sandbox', generous, () => {
    const answer = disksOf(node({ ctr }))
    expect(uses(answer)).toEqual({
      running: 11,
      dead: 22,
      leftover: 40,
      unpacking: 80,
      inUse: 300,
      pinned: 7,
      unused: 4_294_967_296,
    })
    const { orphans, folders, missed } = answer.host.diskUse as Record<string, unknown>
    expect(orphans).toContainEqual({ path: '/var/lib/kubelet/pods/gone', bytes: 8192 })
    expect(orphans).not.toContainEqual(
      expect.objectContaining({ path: '/var/lib/kubelet/pods/living' }),
    )
    expect(folders).toContainEqual({
      holder: 'pods',
      path: '/var/lib/kubelet/pods',
      on: 'nodefs',
      bytes: 40_960,
      inodes: 40,
    })
    expect(missed).toBe(0)
    expect(answer.runtime).toBeNull()
    const { layers } = answer.host.diskUse as Record<string, unknown>
    expect(layers).toEqual(
      expect.arrayContaining([
        { use: 'running', key: running, bytes: 10, inodes: 1 },
        { use: 'dead', key: dead, bytes: 20, inodes: 1 },
      ]),
    )
  })

  it(
    'includes what other namespaces of containerd hold, without content that two have',
    generous,
    () => {
      const blobs = '/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256'
      const answer = disksOf(
        withFiles(
          {
            '/var/lib/kubelet/pods/living/x': 'x',
            [`${blobs}/aa`]: 'x'.repeat(8192),
            [`${blobs}/bb`]: 'x'.repeat(16_384),
            [`${blobs}/cc`]: 'x'.repeat(4096),
          },
          {
            crictl: crictl({
              ps: prints(JSON.stringify({ containers })),
              pods: prints(JSON.stringify({ items: pods })),
            }),
            ctr: `case "$*" in
            *' namespaces ls -q') ${prints('buildkit\nempty\nk8s.io\nmoby\nno name')}
            ;;
            *' -n k8s.io content ls -q') ${prints('sha256:aa')}
            ;;
            *' -n buildkit content ls -q') ${prints('sha256:aa\nsha256:bb')}
            ;;
            *' -n moby content ls -q') ${prints('sha256:bb\nsha256:cc')}
            ;;
            *' -n buildkit snapshots '*' usage -b') ${prints('KEY SIZE INODES\nx 4294967296 7\ny 1 1')}
            exit
            ;;
            esac
            ${ctr}`,
          },
        ),
      )
      const { namespaces } = answer.host.diskUse as Record<string, unknown>
      expect(namespaces).toEqual([
        { name: 'buildkit', bytes: 4_294_967_297, inodes: 8, content: 16_384 },
        { name: 'moby', bytes: expect.any(Number), inodes: expect.any(Number), content: 4096 },
      ])
    },
  )

  it('includes the largest unlisted folders and files, volumes and logs', generous, () => {
    const much = 'x'.repeat(3 * 2 ** 20)
    const snapshots = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs'
    const [volume, log, ended] = [
      '/var/lib/kubelet/pods/living/volumes/kubernetes.io~empty-dir/data',
      '/var/log/pods/a_b_living/app',
      '/var/lib/kubelet/pods/living/containers/app',
    ]
    const answer = disksOf(
      withFiles(
        {
          '/var/openebs/local/pvc-1/data': much,
          '/var/openebs/etc/x': 'x',
          '/srv/backup.tar': much,
          '/var/log/audit/audit.log': much,
          '/opt/agent/cache': much,
          '/etc/agent/log/a': much,
          [`${snapshots}/cache/blob`]: much,
          '/var/lib/kubelet/plugins/kubernetes.io/csi/a/globalmount/x': much,
          '/var/lib/kubelet/checkpoints/checkpoint-a_b-app.tar': much,
          '/var/lib/small/x': 'x',
          '/var/lib/bigfile': 'x'.repeat(100 * 2 ** 20),
          [`${volume}/x`]: much,
          [`${log}/0.log`]: much,
          // A termination log.
          [`${ended}/1f2a3b4c`]: much,
        },
        {
          crictl: crictl({
            ps: prints(JSON.stringify({ containers })),
            pods: prints(JSON.stringify({ items: pods })),
          }),
          ctr,
          du: '/usr/bin/du "$@"',
        },
      ),
    )
    const { folders, inside } = answer.host.diskUse as Record<
      string,
      { path: string; holder: string }[]
    >
    const others = folders!.filter(({ holder }) => holder === 'unknown').map(({ path }) => path)
    const ofKubelet = folders!.filter(({ holder }) => holder === 'kubelet')
    expect(ofKubelet.map(({ path }) => path)).toEqual([
      ...['/var/lib/kubelet', '/var/lib/kubelet/plugins', '/var/lib/kubelet/checkpoints'],
    ])
    expect(others.toSorted()).toEqual([
      ...['/etc/agent', '/etc/agent/log', '/opt/agent', '/srv', '/var/lib/bigfile'],
      ...[`${snapshots}/cache`, '/var/log/audit'],
      ...['/var/openebs', '/var/openebs/local'],
    ])
    expect(inside!.map(({ path }) => path)).toEqual(expect.arrayContaining([volume, log, ended]))
  })

  it.each([
    ['/var/lib/rancher/k3s/agent/containerd', '/var/lib/rancher/k3s/server/db'],
    ['/var/snap/microk8s/common/var/lib/containerd', '/var/snap/microk8s/2074/var'],
  ])(
    'includes what lies beside each folder above an image root in %s',
    generous,
    (root, beside) => {
      const images = `${root}/io.containerd.snapshotter.v1.overlayfs`
      const answer = disksOf(
        withFiles(
          {
            [`${images}/snapshots/1/fs/x`]: 'x',
            [`${beside}/state/data`]: 'x'.repeat(3 * 2 ** 20),
            ...Object.fromEntries(
              Array.from({ length: 120 }, (_, index) => [`/etc/agent-${index}/x`, 'x']),
            ),
          },
          {
            crictl: crictl({
              imagefsinfo: prints(
                JSON.stringify({
                  status: { imageFilesystems: [{ fsId: { mountpoint: images } }] },
                }),
              ),
            }),
            ctr,
            du: '/usr/bin/du "$@"',
          },
        ),
      )
      const { folders } = answer.host.diskUse as { folders: { path: string; holder: string }[] }
      const others = folders.filter(({ holder }) => holder === 'unknown').map(({ path }) => path)
      expect(others).toContain(beside)
      expect(whyUnread(answer, 'other folders')).toBeUndefined()
    },
  )

  it('counts links that lead nowhere for ten minutes, by their number alone', generous, () => {
    const [links, log] = ['/var/log/containers', '/var/log/pods/shop_shop-1_uid/app/0.log']
    const young = `${which('ln')} -s /nowhere "$HIGHWATER_ROOT${links}/young.log"`
    const made = node({ ctr: `${young}\n${ctr}` })
    const broken = {
      [`${links}/a.log`]: '/var/log/pods/gone/0.log',
      [`${links}/b\n.log`]: '/var/log/pods/gone/1.log',
      '/var/log/pods/shop_shop-1_uid/app/1.log': '/var/lib/docker/containers/gone/gone-json.log',
    }
    const living = { [`${links}/living.log`]: log }
    for (const platform of inTurn()) {
      const answer = disksOf({ ...made, links: { ...made.links, ...living, ...broken } }, platform)
      // find of BusyBox does not know -xtype: the links are unread there, never counted as none.
      if (platform.name === 'busybox') {
        expect(answer.host.diskUse).not.toHaveProperty('brokenLinks')
        expect(whyUnread(answer, 'broken links')).toMatch(/xtype/)
        continue
      }
      expect([platform.name, answer.host.diskUse]).toMatchObject([
        platform.name,
        { brokenLinks: 3 },
      ])
    }
  })

  it('counts what could not be measured, with the reason for missing snapshots', generous, () => {
    const answer = disksOf(node({ du: 'exit 1' }))
    expect((answer.host.diskUse as { missed: number }).missed).toBeGreaterThan(0)
    expect((answer.host.diskUse as { snapshots?: unknown }).snapshots).toBeUndefined()
    expect(whyUnread(answer, 'snapshots of containerd')).toMatch(/ctr is not on this node/)
  })
})
