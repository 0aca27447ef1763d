import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import type { AuditReport } from '#model/report.ts'
import { junit } from '#report/formats/junit.ts'
import { hostileReport } from '#test/hostile-report.ts'
import {
  auditedNode,
  clusterResult,
  findingsDocument,
  morningReport,
  nothingPredicted,
  quietReport,
} from '#test/report-builder.ts'

const schema = {
  fileName: 'junit-10.xsd',
  contents: readFileSync('test/fixtures/schemas/junit-10.xsd', 'utf8'),
}
const errorsOf = async (text: string) => {
  const { errors } = await validateXML({ xml: { fileName: 'junit.xml', contents: text }, schema })
  return errors.map(({ rawMessage }) => rawMessage)
}
const count = (text: string, what: RegExp) => [...text.matchAll(what)].length
const reportOf = (
  document: AuditReport['document'],
  nodes: AuditReport['nodes'] = [],
): AuditReport => ({ ...quietReport(nodes), document })

describe('JUnit', () => {
  it.each([
    ['a morning', morningReport()],
    ['a quiet one', quietReport([])],
    ['hostile names', hostileReport()],
  ])('is valid by the schema of the xUnit plugin: %s', async (_, report) => {
    expect(await errorsOf(junit.render(report))).toEqual([])
  })

  it('is looked at by a parser that refuses what is wrong', async () => {
    expect(await errorsOf('<testsuites><testsuite name="a"/></testsuites>')).not.toEqual([])
  })

  it('has a failure per finding, a skipped case per waived one, an error per unread node; its counts add up', () => {
    const morning = morningReport()
    const text = junit.render(morning)
    const { findings, waived, notAudited } = morning.document
    expect(count(text, /<failure /g)).toBe(findings.length)
    expect(
      count(text, /<skipped type="waived" message="waived until 2026-12-31: The builders/g),
    ).toBe(waived.length)
    expect(count(text, /<error type="not-audited"/g)).toBe(notAudited.length - 1)
    // A Fargate node can never be read: not an error of this run.
    expect(
      count(text, /<skipped type="not-auditable" message="Fargate: AWS runs this node"/g),
    ).toBe(1)
    const [, tests, failures, errors] =
      /<testsuites name="highwater" tests="(\d+)" failures="(\d+)" errors="(\d+)">/.exec(text)!
    expect([Number(tests), Number(failures), Number(errors)]).toEqual([
      count(text, /<testcase /g),
      count(text, /<failure /g),
      count(text, /<error /g),
    ])
  })

  const run = { ...findingsDocument().run, rules: ['eviction-due', 'image-gc-due'] }
  const node = auditedNode('a', nothingPredicted)
  it('passes a rule without findings if nodes were read', () => {
    const text = junit.render(
      reportOf(findingsDocument({ run, clusters: [clusterResult('prod')] }), [node]),
    )
    expect(
      count(text, /<testcase classname="highwater\.[\w-]+" name="passes or does not apply"\/>/g),
    ).toBe(2)
  })

  it.each([
    ['no node was read', { coverage: { nodes: 2, read: 0, partlyRead: 0, notRead: 2 } }, 0],
    ['a rule broke', { outcomes: { pass: 1, fail: 0, unknown: 0, notApplicable: 0, error: 1 } }, 1],
  ])('passes nothing where %s', (_, result, errors) => {
    const text = junit.render(
      reportOf(findingsDocument({ run, clusters: [clusterResult('prod', result)] }), [node]),
    )
    expect(text).not.toContain('passes')
    expect(count(text, /<error type="rule-error"/g)).toBe(errors)
  })
})
