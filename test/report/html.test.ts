import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { DiskLedger } from '#model/prediction.ts'
import type { AuditReport } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { renderReport } from '#report/format.ts'
import { htmlIn } from '#report/formats/html.ts'
import { formats } from '#report/formats/index.ts'
import { english } from '#report/languages/language.ts'
import { pageView } from '#report/page/view.ts'
import { overviewOf } from '#test/garbage-builder.ts'
import {
  adviceWith,
  auditedNode,
  clusterResult,
  copyOf,
  dedicatedDisks,
  everyString,
  filesystem,
  finding,
  findingsDocument,
  GiB,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  unreadNode,
  withCauses,
} from '#test/report-builder.ts'
import { isSlow } from '#test/slow.ts'
import { watched } from '#test/watched.ts'

const { words } = english

const page = (report: AuditReport) => renderPage(pageView(report, english))
const withoutScript = (html: string) => html.replace(/<script>[\s\S]*?<\/script>/, '')
const text = (html: string) =>
  withoutScript(html)
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

/** The page of one morning, rendered once. */
const morning = { ...morningReport(), garbage: [overviewOf({ cluster: 'staging' }), overviewOf()] }
const html = page(morning)

describe('the files', () => {
  it('are the page and the document of the contract', () => {
    const [first, second] = renderReport(morning, formats)
    expect(first).toMatchObject({
      name: 'report.html',
      contentType: 'text/html; charset=utf-8',
      body: html,
    })
    expect(second).toMatchObject({ name: 'findings.json', contentType: 'application/json' })
    const document = JSON.parse(second!.body)
    expect(document).toEqual(morning.document)
    expect(
      document.causes.flatMap((cause: { findings: string[] }) => cause.findings).toSorted(),
    ).toEqual(morning.document.findings.map(({ id }) => id).toSorted())
    const lines = second!.body.split('\n')
    for (const finding of morning.document.findings)
      expect(lines.filter(line => line.startsWith(JSON.stringify(finding)))).toHaveLength(1)
  })
  it('are the same bytes for the same report, in whatever order it lists its nodes', () => {
    const again = copyOf(morning)
    again.nodes.reverse()
    again.document.findings.reverse()
    again.document.waived.reverse()
    again.garbage?.reverse()
    expect(page(again)).toBe(html)
  })
})

describe('a page that stands alone', () => {
  it('requests nothing, and runs only its own script', () => {
    expect(
      withoutScript(html).match(
        /<(script|link(?! rel="icon" href="data:)|iframe|object|embed|img|base|form|input|button)\b/i,
      ),
    ).toBeNull()
    expect(html).not.toMatch(/\son\w+\s*=/i)
    expect(html).not.toMatch(/@import|\burl\((?!#)/)
    const addresses = [
      ...html.matchAll(
        /\s(?:src|href|xlink:href|action|srcset|poster|data|cite|background)\s*=\s*("[^"]*"|'[^']*'|[^\s>]*)/gi,
      ),
    ].map(([, address]) => address)
    expect(addresses.length).toBeGreaterThan(10)
    expect(
      addresses.filter(
        address =>
          !/^"(?:#[\w.-]+(?:\?(?:cluster|text)(?:=|&#x3D;)[\w.%+*-]+)?|data:image\/svg\+xml,[^"]*|https:\/\/eu-central-1\.console\.aws\.amazon\.com\/[\w/#&;?:.-]+)"$/.test(
            address!,
          ),
      ),
    ).toEqual([])
  })
  it('leads only to places that it has', () => {
    const ids = new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))
    const named = [
      ...html.matchAll(/\s(?:href="#([^"]+)"|aria-labelledby="([^"]+)"|fill="url\(#([^)]+)\))/g),
    ].flatMap(([, a, b, c]) => (a ?? b ?? c)!.split(' '))
    expect(named.filter(id => !ids.has(id.split('?')[0]!))).toEqual([])
    const ledger = { filesystems: [] as unknown } as DiskLedger
    const calm = page(quietReport([auditedNode('calm', sharedDisk(20), { ledger })]))
    expect(calm).toContain('id="node-calm"')
    expect(calm).not.toContain('#disk-')
    expect(ids.size).toBe([...html.matchAll(/\sid="/g)].length) // none twice
  })
  it('admits its own style sheet and script by digest, and nothing inline', () => {
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)![1]!
    const script = /<script>([\s\S]*?)<\/script>/.exec(html)![1]!
    const digestOf = (source: string) => createHash('sha256').update(source).digest('base64')
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${digestOf(style)}'; script-src 'sha256-${digestOf(script)}'; img-src data:; base-uri 'none'; form-action 'none'">`,
    )
    expect(html.match(/<style/g)).toHaveLength(1)
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(html).not.toMatch(/<[^>]*\sstyle\s*=/i)
  })
  it('closes every element it opens', () => {
    const open: string[] = []
    const isVoid = /^(?:meta|link|br|hr|!doctype)$/i
    // Cells and rows of the long tables end where the next one begins, as HTML allows: it saves a third of them.
    const ended = withoutScript(html).replace(
      /<tr[^>]*>(?:(?!<\/?tr\b|<\/tbody)[\s\S])*?(?=\n<tr|\n<\/tbody)/g,
      row =>
        row.includes('</tr>')
          ? row
          : `${row.replace(/<(td|th)\b([^>]*)>((?:(?!<t[dh]\b)[\s\S])*)/g, '<$1$2>$3</$1>')}</tr>`,
    )
    for (const [, slash, name, selfClosing] of ended
      .replace(/<style>[\s\S]*?<\/style>/, '')
      .matchAll(/<(\/?)([a-z!][\w-]*)\b[^>]*?(\/?)>/gi)) {
      if (slash) expect(open.pop()).toBe(name)
      else if (!selfClosing && !isVoid.test(name!)) open.push(name!)
    }
    expect(open).toEqual([])
  })
})

describe('how it was read', () => {
  const prediction = sharedDisk(40)
  const onDisk = auditedNode(
    'inspected',
    { ...prediction, settings: { ...prediction.settings, isOnDisk: true } },
    { mode: 'ssm' },
  )
  const nodes = [
    auditedNode('asked', sharedDisk(40)),
    onDisk,
    auditedNode('both', sharedDisk(40), { mode: 'both', coverage: 'partlyRead' }),
  ]
  const shown = text(page({ ...quietReport(nodes), document: findingsDocument() }))

  it('names each mode, how many nodes were asked and how many answered, and the right that it stands on', () => {
    const { asked, answered } = words.remainder
    const [read, partly] = [words.coverage.read, words.coverage.partlyRead].map(state => [
      answered(1, state),
    ])
    expect(shown).toContain(
      words.clauses([
        asked(1, words.ways.proxy, 'proxy', 'get nodes/proxy', read!),
        asked(1, words.ways.ssm, 'ssm', 'ssm:SendCommand', read!),
        asked(1, words.ways.both, 'both', 'get nodes/proxy and ssm:SendCommand', partly!),
      ]),
    )
  })

  it('counts the nodes with an incomplete list of images', () => {
    const document = structuredClone(findingsDocument())
    document.clusters[0]!.coverage.cutImageLists = 2
    expect(text(page({ ...quietReport(nodes), document }))).toContain(
      words.remainder.cutImageLists(2),
    )
    expect(shown).not.toContain('the runtime was not read')
  })

  it('says of each node how it was read, and of a configuration on disk that it is one', () => {
    for (const way of [words.ways.proxy, words.ways.ssm, words.ways.both])
      expect(shown).toContain(`${words.node.ready.True}, ${words.node.asked(way)},`)
    expect(shown.split(words.node.onDisk)).toHaveLength(2)
  })
})

describe('text from outside', () => {
  const hostile = `<script>alert('1')</script>"><img src=x onerror=alert(1)> {{constructor}} {{{x}}} \u202ejavascript:alert(1)`

  it('is shown as text, wherever it stands', () => {
    const evil = copyOf(morning)
    const { document } = evil
    const findings = everyString(document.findings, value =>
      /^(critical|high|medium|low|info|certain|likely|possible)$/.test(value) ? value : hostile,
    ) as typeof document.findings
    document.findings = findings.map((found, index) => ({
      ...found,
      cause: document.findings[index]!.cause,
      steps: adviceWith(hostile),
    }))
    document.waived = document.waived.map(waived => ({
      ...(everyString(waived, () => hostile) as typeof waived),
      severity: 'low' as const,
      confidence: 'likely' as const,
    }))
    document.unknowns = everyString(document.unknowns, () => hostile) as typeof document.unknowns
    document.notAudited = everyString(
      document.notAudited,
      () => hostile,
    ) as typeof document.notAudited
    document.run = {
      ...(everyString(document.run, () => hostile) as typeof document.run),
      inputErrors: [hostile],
    }
    document.clusters = document.clusters.map(cluster => ({ ...cluster, name: hostile }))
    evil.nodes = evil.nodes.map(node => ({
      ...node,
      cluster: hostile,
      at: hostile,
      identity: {
        ...node.identity,
        name: hostile,
        group: nodegroup(hostile),
        instanceType: hostile,
        kubeletVersion: hostile,
      },
      errors: [{ what: hostile as 'host', message: hostile }],
      prediction: {
        ...node.prediction,
        imageGC: node.prediction.imageGC && { ...node.prediction.imageGC, error: hostile },
        eviction: node.prediction.eviction && {
          ...node.prediction.eviction,
          thresholds: node.prediction.eviction.thresholds.map(threshold => ({
            ...threshold,
            value: hostile,
          })),
        },
      },
    }))
    const shown = page(withCauses(evil))
    expect(withoutScript(shown).match(/.{0,80}(?:<script|<img|\u202e)/)).toBeNull()
    expect(shown).toContain('&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&quot;&gt;&lt;img')
    expect(shown).toContain('{{constructor}} {{{x}}} &lt;U+202E&gt;javascript:')
    expect(
      [...shown.matchAll(/\shref="([^"]*)"/g)].filter(
        ([, address]) =>
          !/^(?:#[\w.-]+(?:\?cluster(?:=|&#x3D;)[\w.%+*-]+)?|data:image\/svg\+xml,[^"]*)$/.test(
            address!,
          ),
      ),
    ).toEqual([])
  })

  it('is cut with a mark, however long', () => {
    const long = 'x'.repeat(10_000)
    const shown = page({
      ...quietReport([unreadNode(long, [{ what: long as 'host', message: long }])]),
      document: findingsDocument({
        findings: [
          finding('high', {
            title: long,
            consequence: long,
            cluster: long,
            evidence: [{ kind: 'computed', what: long, value: long }],
            nodes: { count: 1, sample: [long] },
          }),
        ],
      }),
    })
    expect(shown).toContain('… (cut: 10,000 characters in all)')
    expect(shown).not.toMatch(/x{4001}/)
    expect(withoutScript(shown).length).toBeLessThan(60_000)
  })
})

describe('the verdict', () => {
  it.each([
    {
      name: 'nothing was read',
      coverage: { nodes: 2, read: 0, partlyRead: 0, notRead: 2 },
      says: words.verdict.nothingRead,
      not: 'No findings',
    },
    {
      name: 'nothing was found',
      coverage: { nodes: 2, read: 2, partlyRead: 0, notRead: 0 },
      says: words.verdict.nothingFound,
      not: 'Not in this verdict',
    },
    {
      name: 'nothing was found in a part',
      coverage: { nodes: 2, read: 1, partlyRead: 0, notRead: 1 },
      says: words.verdict.notAudited(1, 0),
      not: 'Nothing was left out: every node',
    },
  ])('is honest when $name', ({ coverage, says, not }) => {
    const shown = text(
      page(quietReport([], { clusters: [clusterResult('c', { coverage, grade: null })] })),
    )
    expect(shown).toContain(says)
    expect(shown).not.toContain(not)
  })
  it('names errors of the input', () => {
    const { run } = findingsDocument()
    const shown = text(
      page(quietReport([], { run: { ...run, inputErrors: ['line 7: not JSON'] } })),
    )
    expect(shown).toContain(words.verdict.inputErrors(1))
    expect(shown).toContain(`${words.remainder.inputErrors} line 7: not JSON`)
  })
})

describe('the sections', () => {
  it('have headings without a leap', () => {
    const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level))
    expect(levels[0]).toBe(1)
    expect(levels.filter(level => level === 1)).toHaveLength(1)
    for (const [index, level] of levels.entries())
      expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1)
  })
  it('say when they are empty', () => {
    const shown = text(page(quietReport([])))
    for (const quiet of [
      words.findings.none,
      words.verdict.noNode,
      words.waived.none,
      words.remainder.allDecided,
      words.remainder.nothingLeftOut,
    ])
      expect(shown).toContain(quiet)
  })
  it('show confidence and rule of what is waived, and the rule once', () => {
    const waived = (name: string) =>
      finding('low', {
        subject: nodegroup(name),
        confidence: 'possible',
        waived: { until: '2026-12-31', reason: 'r' },
      })
    const shown = page(quietReport([], { waived: [waived('a'), waived('b')] }))
    expect(
      shown.match(
        /<td data-label="Confidence">possible<\/td><td data-label="Rule">eviction-before-image-gc<\/td>/g,
      ),
    ).toHaveLength(2)
    const ruleText =
      'eviction-before-image-gc What Eviction comes before image GC Why Because. Fix Lower it. Family image-gc Sources pkg/kubelet/'
    expect(text(shown).split(ruleText)).toHaveLength(2)
  })
  it('show every node', () => {
    for (const { identity } of morning.nodes) expect(html).toContain(identity.name)
  })
})

describe('the picture of a node', () => {
  it('has its marks at the exact places, and says in words what it shows', () => {
    const shown = page(
      quietReport([
        auditedNode(
          'n1',
          sharedDisk(60, { capacityBytes: 100 * GiB, evictionHard: { 'nodefs.available': '10%' } }),
        ),
      ]),
    )
    const picture = /<svg class="ladder"[\s\S]*?<\/svg>(?=\n)/.exec(shown)![0]
    expect(
      [...picture.matchAll(/class="leader ([\w-]+)" x1="([^"]+)"/g)].map(([, kind, x]) => [
        kind,
        x,
      ]),
    ).toEqual([
      ['alert', '80.00%'],
      ['gc-start', '84.00%'],
      ['hard', '90.00%'],
    ])
    expect(picture).toContain('<rect class="used" width="60.00%"')
    expect(picture).toContain(
      `${words.gauge.marks['gc-start']}<tspan class="from-page"> (imageGCHighThresholdPercent 85)</tspan>`,
    )
    expect(picture).toMatch(
      /role="img" aria-labelledby="(\S+) (\S+)"><title id="\1">nodefs &#x3D; imagefs \(one disk\)<\/title><desc id="\2">/,
    )
    expect(text(picture)).toContain(`${words.node.used('Now 60 %')}, 60.0 GiB of 100.0 GiB`)
  })
  it('shows reasons where there is nothing to draw', () => {
    const shown = page(
      quietReport([unreadNode('n1', [{ what: 'configz', message: '503 Service Unavailable' }])]),
    )
    expect(shown).not.toContain('class="ladder"')
    expect(text(shown)).toContain('configz 503 Service Unavailable')
  })
  it('never shows 0 for what is unknown', () => {
    const unseen = {
      capacityBytes: null,
      availableBytes: null,
      usedPercent: null,
      inodes: null,
      inodesFree: null,
    }
    const prediction = sharedDisk(60, { evictionHard: { 'nodefs.available': '10%' } })
    const node = auditedNode('n1', {
      filesystems: { ...prediction.filesystems, nodefs: unseen, imagefs: unseen },
      imageGC: {
        ...prediction.imageGC!,
        triggered: null,
        usagePercent: null,
        bytesUntilTrigger: null,
        bytesToFree: null,
      },
      eviction: {
        ...prediction.eviction!,
        signals: {},
        thresholds: prediction.eviction!.thresholds.map(threshold => ({
          ...threshold,
          resolved: null,
          met: null,
          margin: null,
        })),
      },
      settings: prediction.settings,
    })
    const card = /<article class="node"[\s\S]*?<\/article>/.exec(page(quietReport([node])))![0]
    expect(text(card)).toContain(words.gauge.notObserved)
    expect(text(card)).not.toMatch(/\b0(\.0)? ?(%|B|[KMGT]iB|used)/)
    expect(card).not.toContain('class="used')
    expect(card).toContain('not-observed')
  })
  it('says what is only likely', () => {
    expect(text(page(quietReport([auditedNode('n1', sharedDisk(60))])))).toContain(
      words.node.layout.shared('likely'),
    )
  })
})

describe('the variables of the templates', () => {
  const full = copyOf(morning)
  full.document.run.inputErrors = ['line 7: not JSON']
  full.document.findings.push(...Array.from({ length: 1200 }, () => finding('info')))

  it.each(Object.entries({ full, quiet: quietReport([]) }))(
    'are all in the view: %s',
    (_, report) => {
      const view = pageView(report, english)
      expect(renderPage(watched(view))).toBe(renderPage(view))
    },
  )
  it('fail loudly when one is missing', () => {
    const { title: _, ...view } = pageView(morning, english)
    expect(() => renderPage(view as ReturnType<typeof pageView>)).toThrow('"title" not defined')
  })
})

describe('a fleet', () => {
  const groupOf = (index: number) => nodegroup(`group-${index % 25}`)
  const nodes = Array.from({ length: 5000 }, (_, index) => {
    const name = `ip-10-${index >> 8}-${index & 255}-17.eu-central-1.compute.internal`
    const prediction =
      index % 3 === 0
        ? dedicatedDisks(
            filesystem(20 * GiB, (1 + (index % 17)) * GiB),
            filesystem(200 * GiB, (20 + (index % 170)) * GiB),
          )
        : sharedDisk(20 + ((index * 7) % 71))
    return index % 100 === 7
      ? unreadNode(
          name,
          [
            {
              what: 'configz',
              message: '503 Service Unavailable: dial tcp 10.8.3.77:10250: connection refused',
            },
          ],
          { identity: { group: groupOf(index) } },
        )
      : auditedNode(name, prediction, { identity: { group: groupOf(index) } })
  })
  const findings = Array.from({ length: 900 }, (_, index) =>
    finding('high', {
      nodes: {
        count: 200,
        sample: nodes.slice(index, index + 20).map(({ identity }) => identity.name),
      },
    }),
  )
  const shown = page(quietReport(nodes, { findings }))

  const unnamedIn = (page: string) => {
    const named = new Set(page.match(/ip-10-[\d-]+\.eu-central-1\.compute\.internal/g))
    return nodes.filter(({ identity }) => !named.has(identity.name))
  }

  it('of 5,000 nodes and 900 findings is a page below 1.5 MB that still names every node', () => {
    expect(Buffer.byteLength(shown)).toBeLessThan(1_500_000)
    expect(unnamedIn(shown)).toEqual([])
  })
  it('draws some, lists the others and says so', () => {
    const drawn = shown.match(/<article class="node"/g)!.length
    const listed = shown.match(/<tr><th>ip-/g)!.length
    expect(drawn).toBe(24)
    expect(drawn + listed).toBe(5000)
    expect(text(shown)).toContain(words.fleet.notDrawn(4976))
  })
  it('counts what it does not even list', () => {
    const many = Array.from({ length: 5100 }, (_, index) =>
      auditedNode(`n${index}`, sharedDisk(50), { identity: { group: nodegroup('one') } }),
    )
    expect(text(page(quietReport(many)))).toContain(
      `${words.nodeCount(97)} neither drawn nor listed`,
    )
  })
  it('of 350 nodegroups is a page below 1.5 MB that still names every node and leads to every group of the picture', () => {
    const spread = nodes.map((node, index) => ({
      ...node,
      identity: { ...node.identity, group: nodegroup(`workers-${index % 350}`) },
    }))
    const crowded = page(quietReport(spread, { findings }))
    expect(Buffer.byteLength(crowded)).toBeLessThan(1_500_000)
    expect(unnamedIn(crowded)).toEqual([])
    const groups = Array.from({ length: 350 }, (_, index) => `id="group-${index + 1}"`)
    const drawn = new Set(crowded.match(/(?<= )id="group-\d+"(?=>)/g))
    expect(groups.filter(group => !drawn.has(group))).toEqual([])
    expect(text(crowded)).toMatch(
      /310 more groups 4,\d\d\d nodes 4,\d\d\d nodes of these groups, as a table/,
    )
  })
  it.each(isSlow ? [1, 350] : [350])(
    'whose names are long is a page below 1.5 MB that counts the nodes it does not list, in %i groups',
    { timeout: 60_000 },
    groups => {
      const long = Array.from({ length: 3000 }, (_, index) =>
        auditedNode(`${index}-${'"<&'.repeat(80)}`, sharedDisk(50), {
          identity: { group: nodegroup(`one-${index % groups}`) },
        }),
      )
      const crowded = String(htmlIn(english).render(quietReport(long, { findings })))
      expect(Buffer.byteLength(crowded)).toBeLessThan(1_500_000)
      expect(Buffer.byteLength(crowded)).toBeGreaterThan(1_400_000)
      const named = crowded.match(/<article class="node"|<tr><th>\d+-&quot;/g)!.length
      const [, left] = /([\d,]+) nodes neither drawn nor listed/.exec(text(crowded))!
      expect(named + Number(left!.replaceAll(',', ''))).toBe(3000)
    },
  )
  it('names confidence and rule of a finding without a card, and explains that rule', () => {
    const docs = {
      title: 'What it is',
      why: 'Why it is wrong.',
      fix: 'How to end it.',
      sources: ['pkg/kubelet/x.go'],
    }
    const rows = [
      finding('low', { rule: 'only-in-a-row', confidence: 'likely', docs }),
      finding('low', { rule: 'peer-drift' }),
    ]
    const crowded = page(
      quietReport([], {
        findings: [
          ...Array.from({ length: 100 }, () => finding('high', { rule: 'peer-drift' })),
          ...rows,
        ],
      }),
    )
    expect(crowded).toContain(
      '<td data-label="Confidence">likely<td data-label="Rule">only-in-a-row',
    )
    const ruleText =
      'only-in-a-row What What it is Why Why it is wrong. Fix How to end it. Family image-gc Sources pkg/kubelet/x.go'
    expect(text(crowded).split(ruleText)).toHaveLength(2)
    expect(text(crowded).split('The rule: peer-drift')).toHaveLength(51) // on the cards
    expect(crowded.match(/<details class="docs" id="rule-peer-drift">/g)).toHaveLength(1)
  })
  it('counts findings beyond what a page can hold, by severity', () => {
    const many = [
      ...Array.from({ length: 1150 }, () => finding('high')),
      ...Array.from({ length: 50 }, () => finding('low')),
    ]
    const crowded = page(quietReport([], { findings: many }))
    expect(crowded.match(/<details class="finding /g)).toHaveLength(50)
    expect(crowded.match(/<tr data-severity="[a-z]+"/g)).toHaveLength(500)
    const sums = ['High', 'Low'].map((severity, index) => {
      const count = words.findingCount([600, 50][index]!)
      return `${severity} eviction-before-image-gc ${count} ${words.clusterCount(1)}`
    })
    expect(text(crowded)).toContain(words.findings.leftOut(650, ['600 high', '50 low'], 0))
    for (const sum of sums) expect(text(crowded)).toContain(sum)
  })
})

it('renders where nothing may be compiled at run time', () => {
  const script = `
    const { renderReport } = await import('#report/format.ts')
    const { formats } = await import('#report/formats/index.ts')
    const { morningReport } = await import('./test/support/report-builder.ts')
    process.stdout.write(renderReport(morningReport(), formats)[0].body)`
  const printed = execFileSync(
    process.execPath,
    ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', script],
    { encoding: 'utf8', maxBuffer: 2 ** 24 },
  )
  expect(printed).toBe(page(morningReport()))
})
