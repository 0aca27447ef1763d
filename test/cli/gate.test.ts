import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { temporaryFolder } from '#test/cli.ts'
import { changedTexts, gateChanges, gateSnapshot } from '#test/gate-changes.ts'
import { runCommand } from '#test/in-process.ts'

/** A folder with the files of a change, and its arguments. */
function checkout(name: string) {
  const change = gateChanges.find(each => each.name === name)
  if (change === undefined) throw new Error(`no change is called ${name}`)
  const cwd = temporaryFolder()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  const texts = changedTexts(change)
  for (const { file, text, base } of texts) {
    write(file, text)
    if (base !== null) write(join('base', file), base)
  }
  const group = change.group === undefined ? [] : ['--group', change.group]
  const base = texts.some(text => text.base !== null) ? ['--base', 'base'] : []
  return { cwd, args: [...texts.map(({ file }) => file), ...group, ...base] }
}

async function gate(name: string, ...options: string[]) {
  const { cwd, args } = checkout(name)
  return runCommand(['gate', '--snapshot', gateSnapshot(), ...args, ...options], { cwd })
}

describe('highwater gate', () => {
  it.each([
    ['high-below-low', 1],
    ['not-toml', 1],
    ['ten-bytes', 1],
    ['base-gets-worse', 1],
    ['base-stays-as-bad', 0],
    ['nodeconfig-gc-thresholds', 0],
    ['other-kinds', 0],
  ])('%s: exit code %i', async (name, code) => {
    expect((await gate(name)).code).toBe(code)
  })

  it('reads the kustomization beside a patch, and packed user data', async () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'overlay/patches'), { recursive: true })
    const target = 'target: {kind: EC2NodeClass, name: spot}'
    writeFileSync(
      join(cwd, 'overlay/kustomization.yaml'),
      `patches:\n- path: patches/gc.yaml\n  ${target}\n`,
    )
    const operation = '{op: add, path: /spec/kubelet/imageGCHighThresholdPercent, value: 10}'
    writeFileSync(join(cwd, 'overlay/patches/gc.yaml'), `[${operation}]\n`)
    const config = '{imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 70}'
    const nodeConfig = `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: ${config}}}\n`
    writeFileSync(join(cwd, 'general-ud.gz'), gzipSync(nodeConfig))
    const files = ['overlay/patches/gc.yaml', 'general-ud.gz']
    const { stdout } = await runCommand(['gate', '--snapshot', gateSnapshot(), ...files], { cwd })
    expect(stdout).toContain('overlay/patches/gc.yaml: EC2NodeClass, 2 nodes')
    expect(stdout).toContain('general-ud.gz:1 [refused]')
    expect(stdout).not.toContain('kustomization')
  })

  it('reads the files of a folder, and those that the change deletes', async () => {
    const cwd = temporaryFolder()
    for (const folder of ['general/deep', 'base/general'])
      mkdirSync(join(cwd, folder), { recursive: true })
    const head = 'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n'
    writeFileSync(
      join(cwd, 'general/deep/a.yaml'),
      `${head}spec: {kubelet: {config: {imageGCHighThresholdPercent: 120}}}\n`,
    )
    writeFileSync(
      join(cwd, 'base/general/gone.yaml'),
      `${head}spec: {kubelet: {config: {maxPods: 29}}}\n`,
    )
    writeFileSync(join(cwd, 'general/notes.md'), 'kubelet')
    writeFileSync(join(cwd, 'general/nodes.yaml.tftpl'), 'kubelet: {{ more }}')
    symlinkSync('/etc/passwd', join(cwd, 'general/link.yaml'))
    const args = [
      'gate',
      '--snapshot',
      gateSnapshot(),
      'general',
      '--base',
      'base',
      '--format',
      'json',
    ]
    const { code, stdout } = await runCommand(args, { cwd })
    const { files } = JSON.parse(stdout)
    expect(code).toBe(1)
    expect(files.map(({ file }: { file: string }) => file)).toEqual([
      'general/deep/a.yaml',
      'general/gone.yaml',
      'general/nodes.yaml.tftpl',
    ])
  })

  it.each([
    ['of its own', '# Lower than before.\n'],
    ['behind a value', '', ' # percent'],
    ['and an empty line', '\n\n#\n'],
  ])('ignores a comment %s in values of a chart', async (_, line, behind = '') => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'base'))
    const values = (more: string, end: string) =>
      `kubelet:\n${more}  evictionHard:\n    nodefs.available: 10%${end}\n`
    writeFileSync(join(cwd, 'values.yaml'), values(line, behind))
    writeFileSync(join(cwd, 'base/values.yaml'), values('', ''))
    const args = ['gate', '--snapshot', gateSnapshot(), 'values.yaml', '--base', 'base']
    const { code, stdout } = await runCommand(args, { cwd })
    expect(stdout).toContain('values.yaml: nothing of a kubelet changes in it: ignored')
    expect(code).toBe(0)
  })

  it.each([
    ['a value', 'a: 1\n', 'a: 2\n'],
    ['the first line of a script', 'a: |\n  #!/bin/sh\n', 'a: |\n  #!/bin/bash\n'],
    ['a comment with a template', '# {{ .Values.a }}\n', '# {{ .Values.b }}\n'],
    ['a value with a mark', 'a: "b # c"\n', 'a: "b # d"\n'],
  ])('does not take %s in values of a chart for a comment', async (_, now, before) => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'base'))
    const values = (more: string) =>
      `kubelet:\n  evictionHard:\n    nodefs.available: 10%\n${more.replace(/^(?=.)/gm, '  ')}`
    writeFileSync(join(cwd, 'values.yaml'), values(now))
    writeFileSync(join(cwd, 'base/values.yaml'), values(before))
    const args = ['gate', '--snapshot', gateSnapshot(), 'values.yaml', '--base', 'base']
    expect((await runCommand(args, { cwd })).code).toBe(3)
  })

  it('follows no link of a change to a kustomization', async () => {
    const cwd = temporaryFolder()
    const outside = join(temporaryFolder(), 'secret.yaml')
    writeFileSync(outside, 'patches: [{path: gc.yaml, target: {kind: EC2NodeClass, name: spot}}]')
    symlinkSync(outside, join(cwd, 'kustomization.yaml'))
    const operation = '{op: add, path: /spec/kubelet/imageGCHighThresholdPercent, value: 10}'
    writeFileSync(join(cwd, 'gc.yaml'), `[${operation}]\n`)
    const { stdout } = await runCommand(['gate', '--snapshot', gateSnapshot(), 'gc.yaml'], { cwd })
    expect(stdout).toContain('its name is not known')
  })

  it('takes the policy of the base, and names the rules that it silences', async () => {
    const { cwd, args } = checkout('base-gets-worse')
    const run = async () => runCommand(['gate', '--snapshot', gateSnapshot(), ...args], { cwd })
    const waivers = rules.map(({ id }) => `{rule: ${id}, reason: a, until: 2099-01-01}`)
    const policy = `waivers: [${waivers}]\n`
    writeFileSync(join(cwd, 'highwater.yaml'), policy)
    expect(await run()).toMatchObject({ code: 1, stdout: expect.not.stringContaining('silenced') })
    writeFileSync(join(cwd, 'base/highwater.yaml'), policy)
    const { stdout } = await run()
    expect(stdout).toMatch(/; worse, and silenced by waivers: [a-z-]+/)
  })

  it('names files of another kind, and ignores them', async () => {
    const { stdout } = await gate('other-kinds')
    for (const file of ['deployment.yaml', 'chart/values.yaml', 'README.md', 'build.toml'])
      expect(stdout).toMatch(new RegExp(`${file}: it sets nothing of a kubelet: ignored`))
  })

  it.each([
    ['a missing file', ['nowhere.yaml']],
    ['a folder without files that it reads', ['empty']],
    ['no file', []],
    ['a missing base', ['a.yaml', '--base', 'nowhere']],
    ['a group for another file', ['a.yaml', '--group', 'b.yaml=general']],
    ['a group of no node', ['a.yaml', '--group', 'nowhere']],
    ['an unknown format', ['a.yaml', '--format', 'html']],
  ])('%s is bad usage', async (_, args) => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'empty/.git'), { recursive: true })
    writeFileSync(join(cwd, 'empty/.git/a.yaml'), '')
    writeFileSync(join(cwd, 'empty/main.go'), '')
    writeFileSync(join(cwd, 'a.yaml'), 'kind: ConfigMap\n')
    const { code, stdout } = await runCommand(['gate', '--snapshot', gateSnapshot(), ...args], {
      cwd,
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it.each([
    ['missing', null],
    [
      'of no nodes',
      '{"kind":"Snapshot","schema":"highwater.snapshot/1","takenAt":"2026-11-21T00:00:00Z"}',
    ],
    ['no snapshot', 'hello'],
    ['cut off', (whole: string) => whole.slice(0, -500)],
    ['cut off in its gzip', (whole: string) => gzipSync(whole).subarray(0, -500)],
  ])('a snapshot that is %s is bad input', async (_, text) => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'a.yaml'), 'kind: ConfigMap\n')
    const bytes = typeof text === 'function' ? text(readFileSync(gateSnapshot(), 'utf8')) : text
    if (bytes !== null) writeFileSync(join(cwd, 's.ndjson'), bytes)
    const { code, stdout, stderr } = await runCommand(
      ['gate', '--snapshot', 's.ndjson', 'a.yaml'],
      { cwd },
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('s.ndjson')
  })

  it.each([
    ['a template of Helm', 'kind: EC2NodeClass\n{{ include "x" . }}\n'],
    [
      'an expression',
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: "{{ .Values.maxPods }}"}}}\n',
    ],
  ])('%s is not read: exit code 3', async (_, text) => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'a.yaml'), text)
    const args = ['gate', '--snapshot', gateSnapshot(), 'a.yaml', '--group', 'general']
    const { code, stdout } = await runCommand(args, { cwd })
    expect(code).toBe(3)
    expect(stdout.split('\n')[0]).toMatch(/could not be read|not all is judged/)
  })

  it.each([
    ['UTF-16', (text: string) => Buffer.from(text, 'utf16le')],
    ['UTF-16, big-endian', (text: string) => Buffer.from(text, 'utf16le').swap16()],
    ['UTF-8 with a byte order mark', (text: string) => Buffer.from(text)],
  ])('reads a plan in %s', async (_, written) => {
    const values = { node_group_name: 'general', disk_size: 50 }
    const resource = { mode: 'managed', type: 'aws_eks_node_group', address: 'a', values }
    const plan = {
      format_version: '1.2',
      planned_values: { root_module: { resources: [resource] } },
    }
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'plan.json'), written(`\ufeff${JSON.stringify(plan)}`))
    const { stdout } = await runCommand(['gate', '--snapshot', gateSnapshot(), 'plan.json'], {
      cwd,
    })
    expect(stdout).toContain('plan.json:1 evicts pods at once')
  })

  it.each(['utf8', 'utf16le'] as const)(
    'does not judge the start of a long file in %s',
    async encoding => {
      const spot =
        'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: spot}\nspec: {}\n'
      const cwd = temporaryFolder()
      const text = `\ufeff${spot}${'# \u20ac\n'.repeat(150_000)}`
      writeFileSync(join(cwd, 'a.yaml'), Buffer.from(text, encoding))
      const { code, stdout } = await runCommand(['gate', '--snapshot', gateSnapshot(), 'a.yaml'], {
        cwd,
      })
      expect(code).toBe(1)
      expect(stdout).toContain('it is longer than any configuration')
    },
  )

  it('judges a file that the change deletes', async () => {
    const { cwd, args } = checkout('base-stays-as-bad')
    rmSync(join(cwd, 'nodeconfig.yaml'))
    const { code, stdout } = await runCommand(
      ['gate', '--snapshot', gateSnapshot(), ...args, '--format', 'json'],
      { cwd },
    )
    const { files, problems } = JSON.parse(stdout)
    expect({ code, nodes: files[0].nodes }).toEqual({ code: 0, nodes: 3 })
    expect(problems).toContainEqual(expect.objectContaining({ kind: 'better', line: 1 }))
  })

  it('prints SARIF with file and line', async () => {
    const { stdout } = await gate('ten-bytes', '--format', 'sarif')
    const { results } = JSON.parse(stdout).runs[0]
    expect(results[0]).toMatchObject({
      ruleId: 'disk-threshold-too-small',
      level: 'error',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'nodeconfig.yaml' },
            region: { startLine: 7 },
          },
        },
      ],
    })
  })

  it.each([
    ['absolute-threshold-on-small-disk', 'gate.md'],
    ['nodeconfig-gc-thresholds', 'gate-good.md'],
  ])('prints a comment for a pull request: %s', async (name, golden) => {
    const { stdout } = await gate(name, '--format', 'markdown')
    await expect(stdout).toMatchFileSnapshot(`__snapshots__/${golden}`)
  })

  it('prints text', async () => {
    const { stdout } = await gate('absolute-threshold-on-small-disk')
    await expect(stdout).toMatchFileSnapshot('__snapshots__/gate.txt')
  })
})
