import { describe, expect, it } from 'vitest'
import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { idleImages } from '#judge/rules/image-gc/idle-images.ts'
import { unexplainedDiskUse } from '#judge/rules/image-gc/unexplained-disk-use.ts'
import { logDebris } from '#judge/rules/logs/log-debris.ts'
import type { ContextExample } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const state = (rule: NodeRule | ContextRule, example: ContextExample) =>
  outcomeFor(rule, example).state

describe('rules on what holds the disk', () => {
  it.each([
    { rule: unexplainedDiskUse, held: { 'not-explained': 10 }, is: 'fail' },
    { rule: unexplainedDiskUse, held: { 'not-explained': 9.9 }, is: 'pass' },
    { rule: unexplainedDiskUse, held: { unread: 50 }, is: 'pass' },
    { rule: logDebris, held: { 'log-debris': 0.5, 'orphaned-pods': 0.5 }, is: 'fail' },
    { rule: logDebris, held: { 'log-debris': 0.9 }, is: 'pass' },
    { rule: idleImages, held: { 'images-unused': 19, 'images-pinned': 30 }, is: 'pass' },
  ])('$rule.id with $held: $is', ({ rule, held, is }) => {
    expect(state(rule, { held, runtime: { images: [] } })).toBe(is)
  })

  it.each([
    { brokenLinks: 10, is: 'fail' },
    { brokenLinks: 9, is: 'pass' },
    { brokenLinks: undefined, is: 'pass' },
  ])('log-debris with $brokenLinks broken links: $is', ({ brokenLinks, is }) => {
    const host = { diskUse: { folders: [], snapshots: [], brokenLinks, missed: 0 } }
    expect(state(logDebris, { host })).toBe(is)
  })

  it('are unknown where the mode reads nodes by SSM, and did not read this one', () => {
    const lost = { host: null, runtime: null }
    for (const rule of [unexplainedDiskUse, logDebris, idleImages]) {
      expect(state(rule, { ...lost, mode: 'both' })).toBe('unknown')
      expect(state(rule, { ...lost, mode: 'proxy' })).toBe('notApplicable')
    }
  })

  it('do not apply where the node did not measure', () => {
    for (const rule of [unexplainedDiskUse, logDebris, idleImages])
      expect(state(rule, {})).toBe('notApplicable')
    const host = { diskUse: { folders: [], missed: 0 } }
    expect(state(unexplainedDiskUse, { held: { 'not-explained': 50 }, host })).toBe('notApplicable')
  })

  it.each([1, undefined])('are unknown where %s parts of the measurement failed', missed => {
    const host = { diskUse: { folders: [], snapshots: [], missed } }
    expect(state(unexplainedDiskUse, { held: {}, host })).toBe('unknown')
  })
})
