import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { prometheusRules } from '#report/formats/prometheus-rules.ts'
import { temporaryFolder } from '#test/cli.ts'
import { hostileReport } from '#test/hostile-report.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  GiB,
  morningReport,
  quietReport,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

interface Rule {
  alert: string
  expr: string
  for: string
  labels: Record<string, string>
  annotations: Record<string, string>
}
const textOf = (report: ReturnType<typeof morningReport>) => prometheusRules.render(report)
const allRulesOf = (report: ReturnType<typeof morningReport>): Rule[] =>
  parse(textOf(report)).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
const isBlind = ({ alert }: Rule) => alert === 'HighwaterAlertsBlind'
/** Without the one that watches the others. */
const rulesOf = (report: ReturnType<typeof morningReport>): Rule[] =>
  allRulesOf(report).filter(rule => !isBlind(rule))
const gcRule = (rules: Rule[]) => rules.find(({ alert }) => alert === 'HighwaterImageGCNotEnough')
const level = (rule: Rule | undefined) => Number(/ > ([\d.]+) and /.exec(rule?.expr ?? '')?.[1])

/** The grammar's own nodes for what it could not read. */
function mistakes(expression: string): string[] {
  const found: string[] = []
  parser
    .parse(expression)
    .iterate({
      enter: ({ type, from, to }) =>
        void (type.isError && found.push(expression.slice(from, to + 20))),
    })
  return found
}

describe('alert rules', () => {
  it('are PromQL by the grammar of Prometheus, whatever the names are', () => {
    expect(mistakes('max by (instance) (up{a="b) > 1')).not.toEqual([])
    for (const report of [morningReport(), hostileReport()]) {
      const rules = allRulesOf(report)
      expect(rules.length).toBeGreaterThan(3)
      for (const { expr } of rules) expect(mistakes(expr)).toEqual([])
    }
  })

  it.each([
    // Two above the trigger; half of the way where eviction is nearer; never below the high threshold.
    { high: 70, evictionAt: '10%', alertAt: 72 },
    { high: 85, evictionAt: '13%', alertAt: 86 },
    { high: 85, evictionAt: '15%', alertAt: 85 },
    { high: 85, evictionAt: '25%', alertAt: 85 },
    { high: 85, evictionAt: '2Gi', alertAt: 87 },
  ])(
    'wait until image GC could act: high $high, eviction below $evictionAt, alert above $alertAt',
    ({ high, evictionAt, alertAt }) => {
      const disk = sharedDisk(40, {
        highThresholdPercent: high,
        evictionHard: { 'nodefs.available': evictionAt },
      })
      const rule = gcRule(rulesOf(quietReport([auditedNode('a', disk)])))
      expect(level(rule)).toBe(alertAt)
      expect(rule?.for).toBe('11m')
    },
  )

  it('take the latest moment where a group is set in several ways, and say so', () => {
    const rules = rulesOf(
      quietReport([
        auditedNode('a', sharedDisk(40, { highThresholdPercent: 70 })),
        auditedNode('b', sharedDisk(40, { highThresholdPercent: 70 })),
        auditedNode(
          'c',
          sharedDisk(40, { highThresholdPercent: 80, evictionHard: { 'nodefs.available': '5%' } }),
        ),
      ]),
    )
    expect(level(gcRule(rules))).toBe(82)
    expect(gcRule(rules)?.annotations.description).toMatchSnapshot()
    expect(
      rules
        .filter(({ labels }) => labels.signal === 'nodefs.available')
        .map(({ expr }) => / < ([\d.]+) and /.exec(expr)?.[1]),
    ).toEqual(['5'])
  })

  it('have none for image GC where it is off, and none at all where nothing is known', () => {
    const off = rulesOf(
      quietReport([auditedNode('a', sharedDisk(40, { highThresholdPercent: 100 }))]),
    )
    expect(off.map(({ alert }) => alert)).toEqual([
      'HighwaterEvictionThresholdMet',
      'HighwaterEvictionThresholdMet',
    ])
    expect(allRulesOf(quietReport([]))).toEqual([])
  })

  it('look at the disk that holds the images, and at nodes without a group by name', () => {
    const disks = dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(100 * GiB, 60 * GiB))
    const [rule] = rulesOf(
      quietReport([
        auditedNode('node.a', disks, {
          identity: { group: { kind: 'Node', namespace: null, name: 'node.a' } },
        }),
      ]),
    )
    expect(rule?.expr).toContain('mountpoint=~"/var/lib/containerd|')
    expect(rule?.expr).toContain('kube_node_info{cluster=~"prod-eu|",node=~"node\\\\.a"}')
  })

  describe('of a group where some nodes have a disk for images and others do not', () => {
    const mixed = quietReport([
      auditedNode('one', sharedDisk(40, { highThresholdPercent: 70 })),
      auditedNode(
        'two',
        dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(100 * GiB, 60 * GiB), {
          highThresholdPercent: 80,
        }),
      ),
    ])
    const ownMount = 'mountpoint=~"/var/lib/containerd|/mnt/k8s-disks/[0-9]+"'

    it('look at each where its images lie, and tell the nodes apart by what is mounted', () => {
      const rules = rulesOf(mixed)
      for (const { expr } of rules) expect(mistakes(expr)).toEqual([])
      const [shared, apart] = ['shared', 'imagefs'].map(layout =>
        rules.filter(({ labels }) => labels.layout === layout),
      )
      expect(shared!.length + apart!.length).toBe(rules.length)
      expect(level(gcRule(shared!))).toBe(72)
      expect(gcRule(shared!)?.expr).toContain('mountpoint=~"/|/var|/var/lib/kubelet"')
      for (const { expr } of shared!)
        expect(expr.split(' unless on (cluster, instance) ')[1]).toContain(ownMount)
      expect(level(gcRule(apart!))).toBe(82)
      expect(gcRule(apart!)?.expr).not.toContain('"/|/var')
      for (const { expr } of apart!)
        expect(expr.split(' and on (cluster, instance) ')[1]).toContain(ownMount)
      for (const { annotations } of rules)
        expect(annotations.description).not.toContain('Set otherwise than most')
    })

    it('are those of the known layout where that of some nodes is not known', () => {
      const unknown = unreadNode('three', [{ what: 'summary', message: '503' }])
      const rules = rulesOf(quietReport([mixed.nodes[1]!, unknown]))
      expect(rules.length).toBeGreaterThan(0)
      for (const { labels } of rules) expect(labels).not.toHaveProperty('layout')
      expect(gcRule(rules)?.expr).toContain(ownMount)
    })
  })

  it('make no template of a name', () => {
    for (const { labels, annotations } of allRulesOf(hostileReport()))
      for (const text of [...Object.values(labels), ...Object.values(annotations)])
        expect(
          text.replaceAll('{{ $labels.node }}', '').replaceAll('{{ "{{" }}', ''),
        ).not.toContain('{{')
  })
})

const promtool = (args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' })
const hasPromtool = promtool(['--version']).status === 0

describe.skipIf(!hasPromtool)(
  `alert rules in Prometheus itself${hasPromtool ? '' : ' (skipped: there is no promtool on the PATH)'}`,
  () => {
    const written = (name: string, text: string) => {
      const path = join(temporaryFolder(), name)
      writeFileSync(path, text)
      return path
    }

    it.each([
      ['a morning', morningReport()],
      ['hostile names', hostileReport()],
    ])('are taken by promtool: %s', (_, report) => {
      const { status, stdout, stderr } = promtool([
        'check',
        'rules',
        written('rules.yaml', textOf(report)),
      ])
      expect({ status, text: `${stdout}${stderr}`.slice(0, 2000) }).toMatchObject({
        status: 0,
        text: expect.stringContaining('SUCCESS'),
      })
    })

    it.each([
      ['sleeps while image GC still works', 84.5, 30, 'a', null],
      ['waits for two rounds', 90, 10, 'a', null],
      ['fires after them', 90, 14, 'a', 'HighwaterImageGCNotEnough'],
      ['says that it sees no node', 90, 14, 'ip-10-0-1-5', 'HighwaterAlertsBlind'],
    ])('%s', (_, usedPercent, minutes, hostname, alertname) => {
      const disk = sharedDisk(40, { evictionHard: { 'nodefs.available': '5%' } })
      const rules = written('rules.yaml', textOf(quietReport([auditedNode('a', disk)])))
      const firing =
        alertname === null
          ? []
          : [`{alertname="${alertname}"${alertname === 'HighwaterAlertsBlind' ? '' : ',node="a"'}}`]
      const filesystemLabels =
        'cluster="prod-eu",instance="10.0.1.5:9100",mountpoint="/",fstype="xfs"'
      const test = {
        rule_files: [rules],
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: [
              { series: `node_filesystem_size_bytes{${filesystemLabels}}`, values: '1000+0x60' },
              {
                series: `node_filesystem_avail_bytes{${filesystemLabels}}`,
                values: `${(100 - usedPercent) * 10}+0x60`,
              },
              {
                series: `node_uname_info{cluster="prod-eu",instance="10.0.1.5:9100",nodename="${hostname}"}`,
                values: '1+0x60',
              },
              { series: 'kube_node_info{cluster="prod-eu",node="a"}', values: '1+0x60' },
              {
                series:
                  'kube_node_labels{cluster="prod-eu",node="a",label_eks_amazonaws_com_nodegroup="general"}',
                values: '1+0x60',
              },
            ],
            promql_expr_test: [
              {
                expr: 'count by (alertname, node) (ALERTS{alertstate="firing"})',
                eval_time: `${minutes}m`,
                exp_samples: firing.map(labels => ({ labels, value: 1 })),
              },
            ],
          },
        ],
      }
      const { status, stdout, stderr } = promtool([
        'test',
        'rules',
        written('test.yaml', JSON.stringify(test)),
      ])
      expect({ status, text: `${stdout}${stderr}`.slice(0, 2000) }).toMatchObject({ status: 0 })
    })
  },
)
