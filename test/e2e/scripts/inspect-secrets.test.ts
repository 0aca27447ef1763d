/** What must not leave a node, whatever lies on it: the documents' own scripts on pretend nodes. */
import { describe, expect, it } from 'vitest'
import { type InspectAnswer, readAnswer } from '#collect/inspect/answer.ts'
import { inspect, type NodeRoot, platforms, shellsInTurn } from '#test/node-root.ts'
import { al2023, answers, bottlerocket, prints } from '#test/node-roots.ts'

const here = platforms()
const inTurn = shellsInTurn()
const [first] = here
const generous = { timeout: 120_000 }
const secret = 'hunter2'
const kind = 'KubeletConfiguration'

const inspectNode = (node: NodeRoot, document = 'Highwater-Inspect', platform = first) => {
  if (platform === undefined) throw new Error('this machine has no shell')
  const { stdout } = inspect(document, node, platform)
  expect(stdout).not.toContain(secret)
  const answer = readAnswer(stdout, 'i-0123456789abcdef0')
  if (!answer.isKnown) throw new Error(answer.reason)
  return answer
}
const withFiles = (files: NodeRoot['files'], tools: Record<string, string> = {}): NodeRoot => {
  const node = al2023()
  return { ...node, files: { ...node.files, ...files }, tools: { ...node.tools, ...tools } }
}
const whyUnread = ({ host }: InspectAnswer, what: string) =>
  (host.unread as { what: string; why: string }[]).find(entry => entry.what === what)?.why
const rotationOf = ({ host }: InspectAnswer, name: string) =>
  (host.logrotate as { path: string; directives: Record<string, unknown> }[])
    .filter(({ path }) => path.endsWith(`/${name}`))
    .map(({ directives }) => directives)
const fileOf = ({ host }: InspectAnswer, path: string) =>
  (host.kubelet as { files: { path: string; content: unknown }[] }).files.find(
    file => file.path === path,
  )?.content

describe('a folder of logrotate', () => {
  it('reports nothing of a link, wherever it leads', generous, () => {
    const node = withFiles({
      '/etc/shadow': `root:${secret}:1:0:9:7:::\n`,
      '/root/.kube/config': `apiVersion: v1\ntoken: ${secret}\n`,
    })
    const links = {
      ...node.links,
      '/etc/logrotate.d/zz': '../shadow',
      '/etc/logrotate.d/yy': '../../root/.kube/config',
    }
    for (const platform of inTurn()) {
      const answer = inspectNode({ ...node, links }, undefined, platform)
      for (const name of ['zz', 'yy']) {
        expect(rotationOf(answer, name)).toEqual([])
        expect(whyUnread(answer, `logrotate file /etc/logrotate.d/${name}`)).toContain(
          'a link may lead to any file',
        )
      }
    }
  })

  it(
    'reports only known logrotate directives with valid values, and that others exist',
    generous,
    () => {
      const text = [
        `export AWS_SECRET_ACCESS_KEY=${secret}`,
        `password ${secret}`,
        '/var/log/a.log {',
        '  daily',
        `  token ${secret}`,
        `  olddir https://u:${secret}@x/`,
        `  compresscmd /bin/x --password ${secret}`,
        '  create 0640 root adm',
        '  postrotate',
        `    curl -H "Authorization: ${secret}"`,
        '  endscript',
        '}',
      ].join('\n')
      for (const platform of inTurn()) {
        const answer = inspectNode(
          withFiles({ '/etc/logrotate.d/app': `${text}\n` }),
          undefined,
          platform,
        )
        expect(rotationOf(answer, 'app')).toEqual([
          {
            patterns: ['/var/log/a.log'],
            daily: true,
            compresscmd: true,
            create: '0640 root adm',
            postrotate: true,
          },
        ])
        expect(whyUnread(answer, 'logrotate file /etc/logrotate.d/app')).toBe(
          'lines of it are none that logrotate knows: those are not read',
        )
      }
    },
  )

  it('takes no list of words for patterns', generous, () => {
    const answer = inspectNode(
      withFiles({ '/etc/logrotate.d/notes': `"${secret}"\n"more ${secret}"\n` }),
    )
    expect(rotationOf(answer, 'notes')).toEqual([])
    expect(whyUnread(answer, 'logrotate file /etc/logrotate.d/notes')).toBe(
      'its text is not of the form that is known',
    )
  })
})

describe('flags of the kubelet', () => {
  it.each<[string[], string[]]>([
    [
      [`--manifest-url=https://u:${secret}@h/p?token=${secret}`, '--v=2'],
      ['--manifest-url=(removed)', '--v=2'],
    ],
    [[`--manifest_url_header=X-Auth:${secret}`], ['--manifest_url_header=(removed)']],
    [
      ['--manifest-url-header', `Authorization:Bearer ${secret}`, '--v=2'],
      ['--manifest-url-header', '(removed)', '--v=2'],
    ],
    [[`--http-proxy=http://u:${secret}@proxy`], ['--http-proxy=http://proxy']],
    [
      ['--bootstrap-token', `-${secret}`, '--v=2'],
      ['--bootstrap-token', '(removed)', '--v=2'],
    ],
    [
      ['--authentication-token-webhook', '--v=2'],
      ['--authentication-token-webhook', '--v=2'],
    ],
    [[`--auth=${secret}`], ['--auth=(removed)']],
  ])('are reported without secrets: %j', generous, (given, expected) => {
    const arguments_ = ['kubelet', '--config=/etc/kubernetes/kubelet/config.json', ...given]
    const environment = `KUBELET_ARGS=${given.join(' ')}\n`
    const node = withFiles({
      '/proc/900/cmdline': `${arguments_.join('\0')}\0`,
      '/etc/eks/kubelet/environment': environment,
    })
    for (const platform of inTurn()) {
      const answer = inspectNode(node, undefined, platform)
      expect((answer.host.kubelet as { commandLine: string[] }).commandLine.slice(2)).toEqual(
        expected,
      )
    }
  })
})

describe('addresses', () => {
  it('lose a password with at signs and slashes in it, and their query', generous, () => {
    const node = withFiles(
      {
        '/etc/containerd/config.toml': `version = 3\n[plugins."io.containerd.cri.v1.images".registry.mirrors."docker.io"]\nendpoint = ["https://bob:S3C@${secret}@a.example.com/v2?token=${secret}"]\n`,
        '/etc/eks/kubelet/environment': `KUBELET_ARGS=--proxy=http://bob:pa/@${secret}/x@b.example.com/\n`,
        '/etc/kubernetes/kubelet/config.json': JSON.stringify({
          kind,
          clusterDomain: `https://u:a@${secret}@c.example.com/?X-Amz-Signature=${secret}`,
        }),
      },
      {
        crictl: 'exit 1',
        journalctl: prints(
          `eviction_manager http://u:x@${secret}@d.example.com/p?sig=${secret} end`,
        ),
      },
    )
    for (const platform of inTurn()) {
      const answer = inspectNode(node, undefined, platform)
      expect(answer.host.containerd).toMatchObject({
        mirrors: [{ registry: 'docker.io', hosts: ['https://a.example.com/v2'] }],
      })
      expect(fileOf(answer, '/etc/eks/kubelet/environment')).toBe(
        'KUBELET_ARGS=--proxy=http://(removed)@b.example.com/',
      )
      expect(fileOf(answer, '/etc/kubernetes/kubelet/config.json')).toEqual({
        kind,
        clusterDomain: 'https://c.example.com/?(removed)',
      })
      expect(answer.host.logLines).toEqual([
        'eviction_manager http://d.example.com/p?(removed) end',
      ])
    }
  })

  it('of Bottlerocket lose their secrets', generous, () => {
    const apiclient = answers({
      'get settings.container-registry': prints(
        JSON.stringify({
          settings: {
            'container-registry': {
              mirrors: [
                {
                  registry: 'docker.io',
                  endpoint: [`https://u:a@${secret}@m.example.com/v2?token=${secret}`],
                },
              ],
            },
          },
        }),
      ),
      'get os': prints(JSON.stringify({ os: { arch: 'x86_64', token: secret } })),
    })
    const node = bottlerocket()
    const { host } = inspectNode(
      { ...node, tools: { ...node.tools, apiclient } },
      'Highwater-InspectBottlerocket',
    )
    expect(host.bottlerocket).toEqual({
      containerRegistry: {
        mirrors: [{ registry: 'docker.io', endpoint: ['https://m.example.com/v2?(removed)'] }],
      },
      os: { arch: 'x86_64' },
    })
  })
})

describe('log lines', () => {
  it.each([
    [`auth=Basic ${secret} ${secret}`, 'auth=(removed)'],
    [`{"auth":"${secret}"}`, '{"auth":(removed)}'],
    ['join abcdef.hunter2hunter2hu now', 'join (removed) now'],
    [`X-Amz-Signature=${secret} a`, 'X-Amz-Signature=(removed) a'],
    [`pass: ${secret}`, 'pass: (removed)'],
    [`DB_PWD=${secret} a`, 'DB_PWD=(removed) a'],
    [`x -----BEGIN RSA PRIVATE KEY-----${secret}`, 'x (removed)'],
  ])('lose %s', generous, (line, expected) => {
    for (const platform of inTurn()) {
      const answer = inspectNode(
        withFiles({}, { journalctl: prints(`eviction_manager ${line}`) }),
        undefined,
        platform,
      )
      expect(answer.host.logLines).toEqual([`eviction_manager ${expected}`])
    }
  })
})

describe('a configuration in YAML', () => {
  it.each<[string, string, object | null]>([
    [
      'a comment behind a value',
      `maxPods: 5 # ${secret}\nclusterDomain: "a#b" # ${secret}`,
      { kind, maxPods: 5, clusterDomain: 'a#b' },
    ],
    ['a flow map, with a key in other letters', `x: {TOKEN: ${secret}}`, null],
    [
      'a flow map without any',
      'evictionHard: {memory.available: 100Mi, nodefs.available: "10%"}',
      { kind, evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
    ],
    ['an escape in a key', `"static\\x50odURL": https://h/${secret}`, null],
    ['an anchor of what is hidden elsewhere', `x: &t ${secret}\napiToken: *t`, null],
    ['a block of text', `notes: |\n  ${secret}`, null],
    ['a text over two lines', `notes: "a\n  ${secret}"`, null],
    ['a line end of another kind', `maxPods: 5\rapiToken: ${secret}`, null],
    [
      'lines that end as on Windows',
      'maxPods: 5\r\ncontainerLogMaxFiles: 5\r\n',
      { kind, maxPods: 5, containerLogMaxFiles: 5 },
    ],
    ['a private key', `notes: -----BEGIN PRIVATE KEY----- ${secret}`, null],
  ])('is reported only if it has no secret: %s', generous, (_, content, expected) => {
    const text = content.includes('\r\n')
      ? `kind: ${kind}\r\n${content}`
      : `kind: ${kind}\n${content}\n`
    const node = withFiles({ '/c.yaml': text, '/proc/900/cmdline': 'kubelet\0--config=/c.yaml\0' })
    for (const platform of inTurn()) {
      const answer = inspectNode(node, undefined, platform)
      expect(fileOf(answer, '/c.yaml')).toEqual(expected)
      expect(whyUnread(answer, 'kubelet file /c.yaml')).toEqual(
        expected === null
          ? 'it is no JSON and may hold a secret, so its text stays here'
          : undefined,
      )
    }
  })
})
