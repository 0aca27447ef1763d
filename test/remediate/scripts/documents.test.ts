/** The SSM documents as data: size, parameters, hashes, and what their scripts may call. test/e2e/scripts runs them. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyAgentVersion, applyDocumentHashes, applyPaths } from '#facts/aws/apply-documents.ts'
import { inspectDocumentHashes } from '#facts/aws/inspect-targets.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import {
  applyDocuments,
  contentOf,
  documents,
  scriptOf,
  scriptTables,
} from '#remediate/scripts/documents.ts'
import { which } from '#test/node-root.ts'

/** Source: Systems Manager quotas, SSM document content. */
const documentMaxBytes = 64 * 1024
const readFile = (file: string) => readFileSync(join('src/remediate/scripts', file), 'utf8')

describe('the documents that read a node', () => {
  it.each(documents)(
    '$name fits into a document, takes one word of two, and has the hash that the sender pins',
    async document => {
      const content = contentOf(document)
      expect(Buffer.byteLength(content)).toBeLessThan(documentMaxBytes)
      // Whoever stores it cannot mistake its encoding.
      expect(content).toMatch(/^[\x20-\x7e]+$/)
      // A parameter is put in as text wherever its braces stand.
      expect(content.match(/\{\{.*?\}\}/g)).toEqual(['{{ Output }}'])
      expect(JSON.parse(content)).toMatchObject({
        schemaVersion: '2.2',
        parameters: {
          Output: { type: 'String', default: 'short', allowedValues: ['short', 'full'] },
        },
        mainSteps: [
          {
            action: 'aws:runShellScript',
            precondition: { StringEquals: ['platformType', 'Linux'] },
            inputs: { timeoutSeconds: '120' },
          },
        ],
      })
      expect(Object.keys(JSON.parse(content).parameters)).toEqual(['Output'])
    },
  )

  it('are pinned by these hashes', async () => {
    const hashes = Object.fromEntries(
      documents.map(document => [document.name, sha256(contentOf(document))]),
    )
    await expect(`${JSON.stringify(hashes, null, 2)}\n`).toMatchFileSnapshot(
      '../../../src/facts/aws/inspect-documents.json',
    )
    expect(Object.keys(inspectDocumentHashes)).toEqual(Object.keys(hashes))
  })

  it('change nothing: the scripts write to their own folder only, and call nothing that acts', () => {
    const text = documents.map(document => scriptOf(document)).join('\n')
    const targets = [...text.matchAll(/>>?\s*("?[$/][^\s;)]*)/g)].map(([, target]) => target ?? '')
    expect(targets.length).toBeGreaterThan(20)
    // A name without a folder lies in their own one, to which they change first.
    const own = /^"\$(name|1)(\.args)?"$/
    expect(targets.filter(target => !own.test(target) && target !== '/dev/null')).toEqual([])
    expect(text).toMatch(/private_folder \|\| ! cd "\$W"/)
    expect(
      text.match(
        /(systemctl (?!show)\w+|crictl (rm|rmi|stop|pull|exec)\b|apiclient (set|apply|exec|raw|update|reboot)|(?<![\w-])(mv|cp|tee|chmod|chown|kill|reboot|dd|sed -i)\b)/g,
      ),
    ).toEqual(null)
  })

  it('pass shellcheck, where it is present', ({ skip }) => {
    const shellcheck = which('shellcheck')
    if (shellcheck === null) return skip('shellcheck is not installed')
    for (const { files } of documents) {
      const { stdout } = spawnSync(shellcheck, ['-s', 'sh', '-S', 'warning', '-'], {
        input: files.map(readFile).join(''),
        encoding: 'utf8',
      })
      expect(stdout).toBe('')
    }
  })
})

describe('the documents that change a node', () => {
  it.each(applyDocuments)(
    '$name: nothing is put in as text, each parameter is anchored, and it fits',
    document => {
      const content = contentOf(document)
      expect(Buffer.byteLength(content)).toBeLessThan(documentMaxBytes)
      expect(content).toMatch(/^[\x20-\x7e]+$/)
      expect(content).not.toContain('{{')
      const { parameters, mainSteps } = JSON.parse(content)
      for (const [name, parameter] of Object.entries<Record<string, unknown>>(parameters)) {
        expect({ name, ...parameter }).toMatchObject({
          type: 'String',
          interpolationType: 'ENV_VAR',
        })
        expect(parameter.default).toBeUndefined()
        if (parameter.allowedValues === undefined)
          expect(parameter.allowedPattern).toMatch(/^\^.*\$$/)
        // Each is read, and by its own name.
        expect(scriptOf(document)).toContain(`\${SSM_${name}-?}`)
      }
      expect(mainSteps).toHaveLength(1)
      expect(Number(mainSteps[0].inputs.timeoutSeconds)).toBeGreaterThan(
        document.step === 'apply' ? 999 : 90,
      )
    },
  )

  it('are pinned by these hashes', async () => {
    const hashes = Object.fromEntries(
      applyDocuments.map(document => [document.name, sha256(contentOf(document))]),
    )
    await expect(`${JSON.stringify(hashes, null, 2)}\n`).toMatchFileSnapshot(
      '../../../src/facts/aws/apply-documents.json',
    )
    expect(Object.keys(applyDocumentHashes)).toEqual(Object.keys(hashes))
    expect(documents.map(({ name }) => name).filter(name => name in hashes)).toEqual([])
  })

  it('know on the node the same paths, settings and agent as the facts do', () => {
    const script = readFile('apply-kubelet-config.sh')
    const cases = [...script.matchAll(/^ {2}'([a-z-]+) (\/[^']+)'\)/gm)].map(
      ([, method, path]) => `${method} ${path}`,
    )
    expect(cases).toEqual(
      Object.entries(applyPaths).flatMap(([method, paths]) =>
        paths.map(path => `${method} ${path}`),
      ),
    )
    expect(scriptTables.settings).toMatchSnapshot()
    expect(readFile('change.sh')).toContain(`older than ${applyAgentVersion}`)
  })

  it('run nothing that they were given, and delete nothing but what is their own', () => {
    for (const document of applyDocuments) {
      const script = scriptOf(document)
      expect(script).not.toMatch(/\beval\b|\bsh -c\b|\. "\$|\bsed -i\b|\bkill\b|\breboot\b/)
      const asked = [
        ...script.matchAll(/(?:\bcrictl|(?:^|[;&|] *|then |else )images) ([a-z]+)\b/gm),
      ].map(([, verb]) => verb)
      expect(
        asked.filter(
          verb => !['pull', 'inspecti', 'ls', 'tag', 'label', 'rm'].includes(verb ?? ''),
        ),
      ).toEqual([])
      if (document.name !== 'Highwater-PullImage') expect(script).not.toMatch(/\b(crictl|ctr)\b/)
      const removed = [...script.matchAll(/\brm -r?f ([^;|&\n]*)/g)].map(([, what = '']) =>
        what.replace(/ 2>.*/, '').trim(),
      )
      const own = [
        '"$W"',
        '"$mine"',
        '"$other"',
        '"$state"',
        '"$state/phase.new"',
        '"$2"',
        '"$beside"',
        '"$fresh_name"',
        '"$R$back"',
      ]
      expect(removed.filter(what => !own.includes(what))).toEqual([])
      const called = [...script.matchAll(/\bsystemctl ([a-z-]+)/g)].map(([, verb]) => verb)
      expect(
        called.filter(verb => !['show', 'reset-failed', 'restart'].includes(verb ?? '')),
      ).toEqual([])
    }
  })

  it('pass shellcheck, where it is present', ({ skip }) => {
    const shellcheck = which('shellcheck')
    if (shellcheck === null) return skip('shellcheck is not installed')
    for (const { files, table } of applyDocuments) {
      const { stdout } = spawnSync(shellcheck, ['-s', 'sh', '-S', 'warning', '-'], {
        input: `${table ? scriptTables[table] : ''}${files.map(readFile).join('')}`,
        encoding: 'utf8',
      })
      expect(stdout).toBe('')
    }
  })
})
