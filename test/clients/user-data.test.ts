import { gzipSync } from 'node:zlib'
import { assert, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import type { RawObject } from '#base/raw-object.ts'
import { textFrom } from '#base/yaml-place.ts'
import { readUserData, userDataPieces } from '#clients/user-data.ts'

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const nodeConfig = (config: string, flags = '[]') => `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: { name: prod, certificateAuthority: hunter2 }
  kubelet:
    config: ${config}
    flags: ${flags}
`
const multipart = (...parts: [headers: string, body: string][]) =>
  [
    'MIME-Version: 1.0\r\nContent-Type: multipart/mixed;\r\n boundary="//"\r\n\r\npreamble hunter2',
    ...parts.map(([headers, body]) => `--//\r\n${headers}\r\n\r\n${body}`),
    '--//--\r\n',
  ].join('\r\n')
const nodeadm = 'Content-Type: application/node.eks.aws'
const shellPart = 'Content-Type: text/x-shellscript; charset="us-ascii"'

/** @returns also the CPU time of this process, which a busy machine does not change much */
function timed<T>(run: () => T): { found: T; cpuMs: number } {
  const before = process.cpuUsage()
  const found = run()
  const { user, system } = process.cpuUsage(before)
  return { found, cpuMs: (user + system) / 1000 }
}

interface Case {
  says: string
  data: string
  source: string
  config?: RawObject
  flags?: string[]
}

const cases: Case[] = [
  {
    says: 'a NodeConfig as it is',
    data: nodeConfig('{ imageGCHighThresholdPercent: 70 }', '["--node-labels=team=shop"]'),
    source: 'nodeadm',
    config: { imageGCHighThresholdPercent: 70 },
    flags: ['--node-labels=team=shop'],
  },
  {
    says: 'NodeConfigs in parts, of which the last wins by key, as nodeadm merges them',
    data: multipart(
      [
        nodeadm,
        nodeConfig(
          '{ maxPods: 20, evictionHard: { memory.available: 1%, nodefs.available: 10% } }',
          '[--v=2]',
        ),
      ],
      [
        `${nodeadm}\r\nContent-Transfer-Encoding: base64`,
        base64(nodeConfig('{ evictionHard: { memory.available: 2% } }', '[--v=3]')),
      ],
      [nodeadm, base64(gzipSync(nodeConfig('{ maxPods: 30 }')))],
    ),
    source: 'nodeadm',
    config: { maxPods: 30, evictionHard: { 'memory.available': '2%', 'nodefs.available': '10%' } },
    flags: ['--v=2', '--v=3'],
  },
  {
    says: 'a key that a NodeConfig has twice, of which nodeadm takes the last',
    data: nodeConfig(
      '{ imageGCHighThresholdPercent: 70, maxPods: 20, imageGCHighThresholdPercent: 75 }',
    ),
    source: 'nodeadm',
    config: { imageGCHighThresholdPercent: 75, maxPods: 20 },
  },
  {
    says: 'a key that a file of a #cloud-config has twice, as the kubelet reads it',
    data: `#cloud-config
write_files:
  - path: /etc/kubernetes/kubelet/config.json.d/90-x.conf
    content: |
      kind: KubeletConfiguration
      evictionHard: { memory.available: 1%, memory.available: 2% }
`,
    source: 'script',
    config: { evictionHard: { 'memory.available': '2%' } },
  },
  {
    says: 'the arguments of bootstrap.sh, over several lines and in quotes of both kinds',
    data: `#!/bin/bash
export TOKEN=hunter2
/etc/eks/bootstrap.sh prod --b64-cluster-ca hunter2 \\
  --kubelet-extra-args '--max-pods 30 --eviction-hard="memory.available<5%,nodefs.available<10%" --token=hunter2' \\
  --use-max-pods false`,
    source: 'bootstrap',
    flags: [
      '--max-pods',
      '30',
      '--eviction-hard=memory.available<5%,nodefs.available<10%',
      '--token=(removed)',
    ],
  },
  {
    says: 'the Windows bootstrap script',
    data: `<powershell>
& $EKSBootstrapScriptFile -EKSClusterName "prod" -Base64ClusterCA hunter2 -KubeletExtraArgs "--kube-reserved=memory=0.5Gi"
</powershell>`,
    source: 'bootstrap',
    flags: ['--kube-reserved=memory=0.5Gi'],
  },
  {
    says: 'Bottlerocket’s settings, in the kubelet’s names and types',
    data: `# hunter2
[settings.kubernetes]
bootstrap-token = "hunter2"
image-gc-high-threshold-percent = "75"
max-pods = 1_10
allowed-unsafe-sysctls = [ "net.core.somaxconn", # why not
]
kube-reserved = { cpu = "100m", 'memory' = "1Gi" }
settings.x = true

[settings.kubernetes.eviction-hard]
"memory.available" = "5\\u0025"
'nodefs.available' = '10%'

[[settings.things]]
text = """
hunter2 ]"""`,
    source: 'bottlerocket',
    config: {
      imageGCHighThresholdPercent: 75,
      maxPods: 110,
      allowedUnsafeSysctls: ['net.core.somaxconn'],
      kubeReserved: { cpu: '100m', memory: '1Gi' },
      evictionHard: { 'memory.available': '5%', 'nodefs.available': '10%' },
    },
  },
  {
    says: 'fields that a script sets by jq and sed',
    data: `#!/bin/bash
if ! grep -q imageGCHighThresholdPercent $FILE; then
  sed -i '/"apiVersion*/a \\ \\ "imageGCHighThresholdPercent": 70,' $FILE
fi
echo "$(jq ".imageGCLowThresholdPercent=50 | .evictionHard[\\"imagefs.available\\"]=\\"15%\\"" $FILE)" > $FILE
jq '.kubeReserved={"cpu":"300m"} | .name="hunter2" | .maxPods=$MAX' $FILE`,
    source: 'script',
    config: {
      imageGCHighThresholdPercent: 70,
      imageGCLowThresholdPercent: 50,
      kubeReserved: { cpu: '300m' },
      evictionHard: { 'imagefs.available': '15%' },
    },
  },
  {
    says: 'a document that a script writes',
    data: `#!/bin/bash
cat <<-'EOF' > /etc/kubernetes/kubelet/config.json.d/90-own.conf
{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1", "containerLogMaxSize": "50Mi"}
EOF
cat << END > /etc/agent
key: hunter2
END`,
    source: 'script',
    config: { containerLogMaxSize: '50Mi' },
  },
  {
    says: 'variables with flags, and flags that a script puts in; not those of other programs',
    data: `#!/bin/bash
export KUBELET_EXTRA_ARGS="--max-pods=30 hunter2"
sed -i 's|KUBELET_ARGS|--container-log-max-files=3 KUBELET_ARGS|' /etc/systemd/system/kubelet.service.d/10.conf
curl --config=hunter2 --header=hunter2
# --max-pods=99`,
    source: 'script',
    flags: ['--max-pods=30', '--container-log-max-files=3'],
  },
  {
    says: 'files of a cloud-config',
    data: `## template: jinja
#cloud-config
write_files:
  - path: /etc/eksctl/kubelet-extra.json
    encoding: gz+b64
    content: ${base64(gzipSync('{"evictionHard":{"memory.available":"200Mi"}}'))}
  - { path: /etc/agent, content: hunter2 }
`,
    source: 'script',
    config: { evictionHard: { 'memory.available': '200Mi' } },
  },
  {
    says: 'commands of a cloud-config',
    data: `#cloud-config
runcmd:
  - [ sh, -c, "/etc/eks/bootstrap.sh prod --kubelet-extra-args '--max-pods=9'" ]
  - echo hunter2
`,
    source: 'bootstrap',
    flags: ['--max-pods=9'],
  },
  {
    says: 'a drop-in of nodeadm that a cloud-config writes',
    data: `#cloud-config
write_files:
  - path: /etc/eks/nodeadm.d/50-own.yaml
    content: |
${nodeConfig('{ maxPods: 40 }').replace(/^/gm, '      ')}
`,
    source: 'nodeadm',
    config: { maxPods: 40 },
  },
]

describe('readUserData', () => {
  it.each(cases)('finds $says', ({ data, source, config = {}, flags = [] }) => {
    const found = { settings: [{ config, flags, source }], unread: [] }
    expect(readUserData(base64(data))).toEqual(found)
    expect(readUserData(base64(gzipSync(data)))).toEqual(found)
    expect(JSON.stringify(readUserData(data))).not.toContain('hunter2')
  })

  it('keeps what nodeadm reads apart from what a script says beside it: that never reaches an AL2023 kubelet', () => {
    const data = multipart(
      [nodeadm, nodeConfig('{ maxPods: 30 }')],
      [shellPart, '#!/bin/bash\nexport KUBELET_EXTRA_ARGS=--max-pods=20'],
    )
    expect(readUserData(base64(data))).toEqual({
      settings: [
        { source: 'nodeadm', config: { maxPods: 30 }, flags: [] },
        { source: 'script', config: {}, flags: ['--max-pods=20'] },
      ],
      unread: [],
    })
  })

  it('keeps a misspelt threshold, and of other unknown names only that they are there', () => {
    const config =
      '{ imageGCHighTresholdPercent: 70, evictionHrad: { memory.available: 100Mi }, apiKey: hunter2, nested: { a: [hunter2] } }'
    expect(
      readUserData(base64(nodeConfig(config, '[--image-gc-hihg-threshold=70, --api-key=hunter2]')))
        .settings,
    ).toEqual([
      {
        source: 'nodeadm',
        config: {
          imageGCHighTresholdPercent: 70,
          evictionHrad: { 'memory.available': '100Mi' },
          apiKey: '(removed)',
          nested: { a: ['(removed)'] },
        },
        flags: ['--image-gc-hihg-threshold=70', '--api-key=(removed)'],
      },
    ])
  })

  it.each([
    ['nothing', ''],
    ['a script that has nothing to do with the kubelet', '#!/bin/bash\necho hunter2'],
    [
      'a NodeConfig without a kubelet part',
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: { cluster: { name: hunter2 } }',
    ],
    [
      'bootstrap.sh without extra arguments',
      '#!/bin/bash\n/etc/eks/bootstrap.sh prod --apiserver-endpoint https://hunter2',
    ],
    [
      'another part of Bottlerocket’s settings',
      '[settings.host-containers.admin]\nuser-data = "hunter2"',
    ],
  ])('finds none in %s', (_, data) => {
    expect(readUserData(base64(data))).toEqual({ settings: [], unread: [] })
  })

  it.each([
    ['bytes of some other kind', Buffer.from([0, 1, 2, 3, 250, 251]), 'it is of no known form'],
    [
      'a broken gzip',
      gzipSync('#!/bin/bash\necho hunter2').subarray(0, 25),
      'it cannot be unpacked',
    ],
    [
      'YAML that is none',
      '#cloud-config\na: [hunter2',
      'it is no YAML that is read here: a line is indented wrongly, or a bracket before it is not closed',
    ],
    ['TOML that is none', '[settings.kubernetes]\nmax-pods = hunter2', 'line 2 is no TOML'],
    [
      'a setting that stands twice in TOML',
      '[settings.kubernetes]\nmax-pods = 1\nmax-pods = "hunter2"',
      'line 3 is no TOML',
    ],
    [
      'a date in place of a number',
      '[settings.kubernetes]\nmax-pods = 1979-05-27',
      'its max-pods has no value of a setting',
    ],
    [
      'a number without end',
      '[settings.kubernetes]\nmax-pods = inf',
      'its max-pods has no value of a setting',
    ],
    [
      'TOML that is nested without end',
      `[settings.kubernetes]\nmax-pods = ${'['.repeat(100_000)}`,
      'line 2 is no TOML',
    ],
    [
      'addresses to include',
      '#include\nhttps://example.com/hunter2',
      'it includes what lies elsewhere',
    ],
    [
      'a part of an unknown type',
      multipart(['Content-Type: application/octet-stream', 'hunter2']),
      'a part of it is of no known form',
    ],
    ['far too much', 'x'.repeat(300_000), 'it is longer than any user data'],
  ])('says why %s is not known, and quotes nothing', (_, data, reason) => {
    expect(readUserData(base64(data))).toEqual({ settings: [], unread: [reason] })
  })

  it.each([
    ['braces', '}', 'it is more than 100 times as long as its gzip'],
    ['braces that are not packed', '}', 'it is no YAML that is read here: its form is wrong', 1],
  ])('spends no time on 200 KiB of %s', (_, piece, reason, layers = 2) => {
    const text = `#cloud-config\n${piece.repeat(200 * 1024)}`
    const data = layers === 2 ? base64(gzipSync(text)) : text
    const { found, cpuMs } = timed(() => readUserData(data))
    expect(found).toEqual({ settings: [], unread: [reason] })
    expect(cpuMs).toBeLessThan(10_000)
  })

  it.each([
    'cp FILE FILE.bak && mv /tmp/x.json FILE',
    'cp FILE FILE.bak; sudo cp -f /tmp/x.json FILE',
    'mv /tmp/x.json FILE',
  ])('finds the file that gets a copy by %s', command => {
    const path = '/etc/kubernetes/kubelet/config.json'
    const content = '{"kind":"KubeletConfiguration","maxPods":20}'
    const text = `#!/bin/bash\necho '${content}' > /tmp/x.json\n${command.replaceAll('FILE', path)}`
    const { pieces } = userDataPieces(textFrom(text, 1), new TextBudget(textLimits.userData))
    expect(pieces).toMatchObject([{ path, isWholeFile: true, config: { maxPods: 20 } }])
  })

  it('spends one budget on all files of a user data', () => {
    const content = base64(gzipSync(`- ${Array.from({ length: 2_000 }, (_, i) => i).join('\n- ')}`))
    const file = `  - { encoding: gz+b64, content: ${content} }\n`
    const text = `#cloud-config\nwrite_files:\n${file.repeat(40)}`
    const { found, cpuMs } = timed(() => readUserData(text))
    expect(found.unread).toEqual(['it has more values than are read'])
    expect(cpuMs).toBeLessThan(10_000)
  })

  it('spends one budget of unpacked bytes on all parts of a user data', () => {
    const incompressible = Array.from({ length: 350 }, (_, index) => index.toString(36)).join('')
    const script = base64(gzipSync(`#!/bin/bash\n# ${incompressible}${'a'.repeat(40_000)}`))
    const part = `--B\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n${script}\n`
    const head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n'
    const partsOf = (count: number) => readUserData(`${head}${part.repeat(count)}--B--\n`).unread
    expect(partsOf(10)).toEqual([])
    expect(partsOf(20)).toEqual(['unpacked, it is longer than is read'])
  })

  it('spends one budget on all user data of a cluster', () => {
    const budget = new TextBudget({ ...textLimits.clusterUserData, maxTokens: 10_000 })
    const text = `#cloud-config\nrun: [${'a,'.repeat(2_000)}]`
    const found = Array.from({ length: 50 }, () => readUserData(text, budget).unread)
    expect(found[0]).toEqual([])
    expect(found.at(-1)).toEqual(['it has more values than are read'])
  })

  it('never throws, and never lets a word through', () => {
    assert(
      property(string({ maxLength: 200 }), text => {
        for (const begun of [
          '',
          '#!/bin/bash\n',
          '#cloud-config\n',
          '[settings.kubernetes]\n',
          'apiVersion: node.eks.aws/v1\n',
        ]) {
          const found = JSON.stringify(readUserData(`${begun}${text}\nhunter2 ${text}`))
          expect(found).not.toContain('hunter2')
        }
      }),
    )
  })
})

it('a user data of 2,500 packed parts names few reasons', () => {
  const part = `--b\nContent-Transfer-Encoding: base64\n\n${gzipSync('what\n').toString('base64')}\n`
  const { unread } = readUserData(
    `Content-Type: multipart/mixed; boundary="b"\n\n${part.repeat(2_500)}`,
  )
  expect(unread.length).toBeGreaterThan(0)
  expect(unread.length).toBeLessThan(21)
  const lines = Array.from(
    { length: 100 },
    (_, line) => `--b\n\n[settings]\n${'\n'.repeat(line)}=\n`,
  )
  const named = readUserData(
    `Content-Type: multipart/mixed; boundary="b"\n\n${lines.join('')}`,
  ).unread
  expect(named).toHaveLength(20)
  expect(named.at(-1)).toBe('other parts of it cannot be read either')
})
