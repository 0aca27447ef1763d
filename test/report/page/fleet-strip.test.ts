import { expect, it } from 'vitest'
import type { AuditedNode } from '#model/report.ts'
import { english } from '#report/languages/language.ts'
import { fleetStrip } from '#report/page/fleet-strip.ts'
import { groupNodes } from '#report/parts/fleet.ts'
import { auditedNode, morningReport, sharedDisk } from '#test/report-builder.ts'

const alerts = { alertPercent: 80 }
const fleet = (nodes: AuditedNode[]) =>
  groupNodes({ nodes, ...alerts }, english).flatMap(({ members }) => members)
const { nodes } = morningReport()

it('places each observed node at its used percent, and counts the others', () => {
  const gauged = fleet(nodes)
  const observed = gauged.filter(({ gauges }) => gauges.some(({ filesystem }) => filesystem))
  const strip = fleetStrip(gauged, () => null, english)!
  expect(strip.dots.length).toBe(observed.length)
  expect(strip.unread).toBe(`${nodes.length - observed.length} more unknown`)
})

it('gives each state its own shape, and joins a node that acts to its own mark', () => {
  const disk = (used: number, hard: string) =>
    sharedDisk(used, { evictionHard: { 'nodefs.available': hard } })
  const calm = [1, 2, 3].map(index => auditedNode(`calm-${index}`, disk(40, '10%')))
  const strip = fleetStrip(
    fleet([...calm, auditedNode('early', disk(73, '30%')), auditedNode('far', disk(40, '30%'))]),
    () => null,
    english,
  )!
  const dot = (name: string) => strip.dots.find(({ text }) => text.startsWith(`${name}:`))!
  expect(dot('early')).toMatchObject({ state: 'pressure', own: { kind: 'hard', x: '70.00%' } })
  expect(dot('early').text.replaceAll('\u00a0', ' ')).toContain('73 % used, hard eviction 70 %')
  expect(dot('calm-1').own).toBeNull()
  expect(dot('far').own).toBeNull()
  expect(new Set(strip.legend.map(({ shape }) => shape)).size).toBe(strip.legend.length)
  expect(strip.legend.map(({ state }) => state)).toEqual(['calm', 'pressure'])
})

it('draws many equal nodes as one column whose text counts them', () => {
  const one = nodes.find(
    ({ details, prediction }) => details().ledger ?? prediction.filesystems.nodefs,
  )!
  const strip = fleetStrip(fleet(Array.from({ length: 5000 }, () => one)), () => null, english)!
  expect(strip.dots).toEqual([])
  expect(strip.columns.map(({ height }) => height).reduce((a, b) => a + b)).toBeLessThanOrEqual(72)
  expect(strip.description).toContain('5,000')
})

it('links a dot to the node that the page draws', () => {
  const strip = fleetStrip(fleet(nodes), ({ identity }) => `node-${identity.name}`, english)!
  expect(strip.dots.every(({ anchor }) => anchor?.startsWith('node-'))).toBe(true)
})

it('is absent for a single node', () => {
  expect(fleetStrip(fleet(nodes.slice(0, 1)), () => null, english)).toBeNull()
})
