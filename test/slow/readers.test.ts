/** Each reader of foreign text, with the worst texts found: twice the text takes at most three times the time. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { TextBudget } from '#base/foreign-text.ts'
import { type AnswerKind, textLimits } from '#base/limits.ts'
import { parsedJson } from '#base/raw-object.ts'
import { redact } from '#base/redaction/redact.ts'
import { kubeconfigEndpoints } from '#clients/kubernetes/kubeconfig.ts'
import { parsedAnswer } from '#clients/kubernetes/kubernetes-answer.ts'
import { readUserData } from '#clients/user-data.ts'
import { summaryOf } from '#collect/collectors/node.ts'
import { readAnswer } from '#collect/inspect/answer.ts'
import {
  evictionCause,
  evictionLine,
  imageGcLine,
  isMemoryCgroupRefused,
  pullCause,
  pulledImage,
  shortfallBytes,
} from '#facts/kubelet/event-messages.ts'
import { checkAnsweredConfigz } from '#model/kubelet/configuration.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { factsIn, parsedTrend } from '#pipeline/history/saved.ts'
import { parsePolicy } from '#policy/parse.ts'
import { parseApproval, parseBegunPlan, parsePlan } from '#remediate/plan/file.ts'
import { nodeInput } from '#snapshot/input.ts'
import { prune } from '#snapshot/prune.ts'
import { temporaryFolder } from '#test/cli.ts'
import { isLinear, numbered, repeated } from '#test/linear.ts'

vi.setConfig({ testTimeout: 600_000 })

type Shape = (length: number) => string

/** Values of JSON. */
const values: [name: string, shape: Shape][] = [
  ['lists in lists', length => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`],
  ['objects in objects', length => `${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6)}`],
  ['keys', length => `{${numbered(length, index => `"k${index}":1,`)}"z":1}`],
  ['equal keys', length => `{${repeated('"k":1,')(length)}"k":1}`],
  ['numbers', length => `[${repeated('1,')(length)}1]`],
  ['objects', length => `[${repeated('{},')(length)}{}]`],
  ['named objects', length => `[${numbered(length, index => `{"name":"${index}"},`)}{}]`],
  ['a long text', length => `"${repeated('a')(length)}"`],
  ['escaped quotes', length => `"${repeated('\\"')(length)}"`],
  ['escapes', length => `"${repeated('\\u0000')(length)}"`],
  ['secrets', length => `"${repeated('password=a ')(length)}"`],
  ['texts', length => `[${numbered(length, index => `"token: ${index}",`)}""]`],
  ['a text without end', length => `"${repeated('\\\\')(length)}`],
  ['brackets without end', length => repeated('[')(length)],
  ['a number without end', length => repeated('1')(length)],
]

const answerTo = (kind: AnswerKind, text: string) =>
  parsedAnswer(Buffer.from(text), { method: 'GET', path: '/', kind }, clean => clean) as never
const nodeOf = (parts: object) =>
  nodeInput(
    prune({
      kind: 'Node',
      cluster: 'c',
      at: '2026-11-21T05:00:00Z',
      node: {},
      ...parts,
    } as never) as never,
  )
const inspected = (parts: string) =>
  `{"schema":"highwater.inspect/1","instanceId":"i-1","at":"2026-11-21T05:00:00Z",${parts}}`
const host = (parts: string) => inspected(`"host":{"schema":"highwater.host/1",${parts}}`)
const file = (content: string) =>
  host(`"kubelet":{"files":[{"path":"/a","role":"config","content":${content}}]}`)
const plan = (parts: string) => `{"schema":"highwater.plan/1","id":"a","digest":"a",${parts}}`

/** What a value of JSON is a part of, and who reads that. */
const readers: [name: string, read: (value: string) => unknown][] = [
  [
    'configz',
    value => {
      const configz = answerTo('configz', `{"kubeletconfig":${value}}`)
      checkAnsweredConfigz(configz)
      nodeOf({ configz })
    },
  ],
  ['configz of a snapshot', value => nodeOf({ configz: JSON.parse(`{"kubeletconfig":${value}}`) })],
  [
    'stats/summary',
    value => nodeOf({ summary: summaryOf(answerTo('summary', `{"node":{},"pods":${value}}`)) }),
  ],
  [
    'stats/summary of a container',
    value =>
      nodeOf({
        summary: summaryOf(answerTo('summary', `{"node":{},"pods":[{"containers":${value}}]}`)),
      }),
  ],
  [
    'pods',
    value => nodeOf({ pods: (answerTo('pods', `{"items":${value}}`) as { items: unknown }).items }),
  ],
  [
    'labels of a pod',
    value => nodeOf({ pods: [answerTo('object', `{"metadata":{"name":"a","labels":${value}}}`)] }),
  ],
  [
    'messages of a pod',
    value => nodeOf({ pods: [answerTo('object', `{"status":{"message":${value}}}`)] }),
  ],
  [
    'a node',
    value =>
      nodeOf({
        node: answerTo(
          'object',
          `{"metadata":{"annotations":${value}},"status":{"images":${value}}}`,
        ),
      }),
  ],
  [
    'events',
    value =>
      prune({
        kind: 'Objects',
        cluster: 'c',
        resource: 'events',
        items: [answerTo('object', `{"message":${value},"involvedObject":${value}}`)],
      }),
  ],
  [
    'node classes',
    value =>
      prune({
        kind: 'Objects',
        cluster: 'c',
        resource: 'ec2nodeclasses',
        items: [answerTo('object', `{"spec":${value}}`)],
      }),
  ],
  [
    'other objects',
    value =>
      prune({
        kind: 'Objects',
        cluster: 'c',
        resource: 'configmaps',
        items: [answerTo('object', `{"metadata":${value},"data":${value}}`)],
      }),
  ],
  [
    'a cluster',
    value =>
      prune({
        kind: 'Cluster',
        cluster: 'c',
        eks: JSON.parse(value),
        nodegroups: JSON.parse(value),
        errors: [],
      } as never),
  ],
  ['the files of a node', value => readAnswer(file(value), 'i-1')],
  ['the files of a node as text', value => readAnswer(file(JSON.stringify(value)), 'i-1')],
  ['packed output of a node', value => readAnswer(packed(host(`"logrotate":${value}`)), 'i-1')],
  ['log lines of a node', value => readAnswer(host(`"logLines":${value}`), 'i-1')],
  [
    'configz of a node',
    value =>
      readAnswer(
        inspected(`"host":{"schema":"highwater.host/1"},"configz":{"kubeletconfig":${value}}`),
        'i-1',
      ),
  ],
  [
    'the runtime of a node',
    value =>
      nodeOf({
        runtime: JSON.parse(`{"images":${value}}`),
        host: JSON.parse(`{"files":${value}}`),
      }),
  ],
  ['a plan', value => parsePlan(plan(`"steps":${value}`), 'a')],
  ['a plan that began', value => parseBegunPlan(plan(`"cohorts":[{"fields":${value}}]`), 'a')],
  ['an approval', value => parseApproval(value, 'a')],
  [
    'a kubeconfig',
    value => {
      const path = join(temporaryFolder(), 'config')
      writeFileSync(path, `x: ${value}`)
      // It parses before it waits.
      void kubeconfigEndpoints(path, []).catch(() => undefined)
    },
  ],
  ['a policy', value => parsePolicy(`waivers: ${value}`, 'a', policyTerms)],
  ['objects of a store', value => [parsedJson(value), parsedTrend(value), [...factsIn(value)]]],
  ['lines of a store', value => [...factsIn(value.replaceAll(',', '\n'))]],
]

const packed = (text: string): string => {
  const data = gzipSync(text).toString('base64')
  return `{"schema":"highwater.inspect/1","encoding":"gzip+base64","bytes":${text.length},"sha256":"${'0'.repeat(64)}","data":"${data}"}`
}

describe.each(readers)('%s', (_, read) => {
  it.each(values)('takes linear time for %s', (__, shape) => {
    const texts = new Map([200_000, 400_000].map(length => [length, shape(length)]))
    expect(isLinear(length => read(texts.get(length) ?? ''), 200_000)).toBe(true)
  })
})

const messages = [
  ...[
    'The node was low on resource: ',
    'Threshold quantity: 1, available: ',
    'Container a was using b, ',
  ],
  ...[
    'Container a was using b, request is c, ',
    'The node had condition: [Memory',
    'exceeds its request of ',
  ],
  ...[
    'failed to garbage collect required amount of images. Wanted to free ',
    ' bytes, but freed 1 bytes',
    'Pulling image "',
  ],
  ...[
    'attempting to reclaim ',
    'Disk usage on image filesystem is over the high threshold ',
    'usage=',
    'pods=[',
    '"',
    '\\',
    '[',
    ' ',
    'a:',
    '1',
  ],
  ...[
    'rpc error: code = ',
    'toomanyrequests',
    'I1121 05:00:00.000000 ',
    'err="',
    '=',
    '://',
    '@',
    '--password ',
    'Bearer ',
    'eyJ',
  ],
]
const messageReaders: [name: string, read: (text: string) => unknown][] = [
  ['events of an eviction', evictionCause],
  ['a kubelet log of image GC', imageGcLine],
  ['a kubelet log of an eviction', evictionLine],
  ['events of image GC', shortfallBytes],
  [
    'events of a pull',
    text => [pullCause(text, 'a'), pulledImage(text), isMemoryCgroupRefused(text)],
  ],
  ['redaction', redact],
]

describe.each(messageReaders)('%s', (_, read) => {
  it.each(messages)('takes linear time for %j', piece => {
    const texts = new Map([100_000, 200_000].map(length => [length, repeated(piece)(length)]))
    expect(isLinear(length => read(texts.get(length) ?? ''), 100_000)).toBe(true)
  })
})

const document = `echo '{"kind":"KubeletConfiguration"}'`
/** What begins a script, and what follows it again and again. */
const scripts: [start: string, piece: string][] = [
  ['echo', ' -echo'],
  ['', 'echo -e '],
  ['', 'echo " '],
  ['', 'echo "\\n'],
  ['', "printf '%s\\n' "],
  [`${document} | tee`, ' tee'],
  [`${document} | tee`, ' -tee'],
  [`${document} `, '> '],
  [`${document} > /a\n`, 'cp /a /b; '],
  ['cp', ' -cp'],
  ['', 'mv a '],
  ['install', ' 0'],
  ['', '<<"A'],
  ['', "a='"],
  ['', 'bootstrap.sh --'],
  ['', 'KUBELET_EXTRA_ARGS='],
  ['', 'systemctl restart '],
]

it.each(scripts)('a script of user data takes linear time for %j and %j', (start, piece) => {
  const scriptOf = (length: number) => `#!/bin/bash\n${start}${repeated(piece)(length)}`
  const texts = new Map([100_000, 200_000].map(length => [length, scriptOf(length)]))
  expect(isLinear(length => readUserData(texts.get(length) ?? ''), 100_000)).toBe(true)
})

it('a script of user data takes linear time for one long path', () => {
  const scriptOf = (length: number) =>
    `#!/bin/bash\nA=/${'a'.repeat(length)}\n${'$A '.repeat(length)}`
  expect(isLinear(length => readUserData(scriptOf(length)), 10_000)).toBe(true)
})

it.each(values)(
  'the user data of all node classes of a cluster take linear time for %s',
  (_, shape) => {
    const one = gzipSync(`apiVersion: node.eks.aws/v1alpha1\nspec: ${shape(60_000)}`).toString(
      'base64',
    )
    const read = (count: number) => {
      const budget = new TextBudget(textLimits.clusterUserData)
      for (let index = 0; index < count; index++) readUserData(one, budget)
    }
    expect(isLinear(read, 20)).toBe(true)
  },
)
